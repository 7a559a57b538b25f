"""Methods of other packages: the example, installed by pip, and broken ones."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from biasgraph.commands import main
from biasgraph.errors import InputError, ModelError
from biasgraph.methods import registry
from tests.plug_ins import add_package as add_package_to

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "biasgraph-brightness"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip installed the example."""
    folder = tmp_path_factory.mktemp("example")
    source = folder / "source"
    source.mkdir()
    for path in EXAMPLE.iterdir():
        (source / path.name).write_bytes(path.read_bytes())
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--target", folder / "site"]
    subprocess.run([*pip, *offline, source], check=True, capture_output=True)
    return folder / "site"


@pytest.fixture
def example(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example among the installed packages."""
    monkeypatch.syspath_prepend(installed)


@pytest.mark.slow(reason="installs a package; that of models/test_plug_ins.py stays")
@pytest.mark.usefixtures("example")
def test_the_example_is_listed_used_and_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str) -> str:
        assert main([*arguments]) == 0
        return " ".join(capsys.readouterr().out.split())

    listed = run("annotate", "--help")
    assert "how bright the images of each attribute are" in listed
    assert "--brightness-white" in listed
    result = tmp_path / "r"
    build = ["build", "--prompt", "a nurse", "--images", "4", "--only", "gender"]
    build += ["--bootstrap", "100", "-o", str(result)]
    run(*build, "--annotate", "none", "-q")
    told = run("annotate", str(result), "brightness", "--brightness-white", "100")
    assert "Brightness: Mean grey level" in told
    document = json.loads((result / "graph.json").read_bytes())
    graph, [node] = document["graph"], document["nodes"]
    assert graph["methods"] == {"brightness": {"brightness_white": 100}}
    assert graph["findings"]["brightness"]["mean"] > 0
    assert graph["versions"]["biasgraph-brightness"] == "1.0"
    finding = node["findings"]["brightness"]
    assert any(finding["levels"])
    [row] = csv.DictReader((result / "nodes.csv").read_text("utf-8").splitlines())
    assert float(row["findings.brightness.spread"]) == finding["spread"]
    assert finding["about"] in (result / "report.html").read_text("utf-8")
    run(*build, "-q")
    again = json.loads((result / "graph.json").read_bytes())["graph"]
    assert again["findings"]["brightness"] == graph["findings"]["brightness"]
    assert list(again["methods"]) == [*registry.usual_methods(), "brightness"], "its choice is kept"


@pytest.mark.usefixtures("example")
def test_its_declaration_is_checked_like_any_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(registry.find_methods()) == [*registry.METHODS, "brightness"]
    assert registry.parse_methods("brightness,tibet") == ("brightness", "tibet")
    assert registry.method_options()["brightness_white"].low == 1
    with pytest.raises(InputError, match="Did you mean 'brightness'"):
        registry.parse_methods("brightnes")
    build = ["build", "--prompt", "a nurse", "-q", "-o", str(tmp_path / "r")]
    for more, said in (
        (["--brightness-white", "0"], "1<=x<=255"),
        (["--annotate", "tibet", "--brightness-white", "9"], "has no effect without brightness"),
    ):
        assert main([*build, *more]) == 2
        assert said in capsys.readouterr().err
    table = tmp_path / "a.csv"
    table.write_text("model,prompt,role,axis,attribute,image,target,answer\n")
    assert main(["build", "--answers", str(table), "--annotate", "brightness", "-q"]) == 2
    assert "brightness needs images, and an answers table has none" in capsys.readouterr().err


add_package = partial(add_package_to, "biasgraph.methods")


DECLARED = """
import numpy as np
from biasgraph.data.findings import Finding, Text
from biasgraph.data.options import Option
from biasgraph.methods.base import Annotation
from biasgraph.methods.registry import Method
DOTS = Method("", "dots.annotate")
NEEDY = Method("", "a:b", needs=["money"])
BLUNT = Method("", "a:b", options={"seed": Option("A seed.")})
BARE = Method("", "a:b", options={"bare_x": "A text."})
TORN = Method("", "a:b", instead=["vary"])
HOOK = Method("", "a:b", check=lambda plan: None)
LATE = Method("", "no_such_module:annotate")
FAILS = Method("", "declared:fail")
EMPTY = Method("", "declared:nothing")
SEES = Method("", "declared:nothing", needs=["describer"])
STEEP = Method("", "declared:nothing", needs=["gradients"])
LATIN = Method("", "a:b")
LOST = Method("", "declared:get_lost")
FLOATS = Method("", "declared:use_numpy")

def fail(given):
    raise ValueError("no\\nluck \\x1b[31m")

def nothing(given):
    return None

def get_lost(given):
    return Annotation(nodes={"moon": Finding("Lost", "", [])})

def use_numpy(given):
    numbers, lists = {"f": np.float32(0.5)}, {"i": [np.int64(1)]}
    return Annotation(Finding("Floats", "", [Text("x")], numbers, lists))
"""
BROKEN = {
    "bad": "raises does not load: RuntimeError: no luck",
    "gone": "SystemExit: 7",
    "none_of_it": "is not a biasgraph.methods.registry.Method",
    "twice": "both call a plug-in twice",
    "dots": "its function is not 'module:function'",
    "hook": "its check is not 'module:function'",
    "needy": "unknown need 'money'",
    "blunt": "its option 'seed' must be called 'blunt_...'",
    "bare": "its option bare_x is not a biasgraph.data.options.Option",
    "torn": "'vary' in `instead` is not an option of it",
    "Latin": "invalid name 'Latin'",
}


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages whose methods are declared wrongly, or fail."""
    folder = tmp_path / "packages"
    folder.mkdir()
    add_package(folder, "raises", {"bad": "raises:X"}, "raise RuntimeError('no luck')")
    add_package(folder, "leaves", {"gone": "leaves:X"}, "raise SystemExit(7)")
    add_package(folder, "three", {"none_of_it": "three:X", "twice": "three:X"}, "X = 3\n")
    names = ("dots", "needy", "blunt", "bare", "torn", "hook", "late", "fails", "empty", "sees",
             "steep", "lost", "floats")  # fmt: skip
    entries = {name: f"declared:{name.upper()}" for name in names}
    entries |= {"twice": "declared:LATE", "Latin": "declared:LATIN", "tibet": "declared:LATE"}
    add_package(folder, "declared", entries, DECLARED)
    monkeypatch.syspath_prepend(folder)


@pytest.mark.slow(reason="a build and seven annotations; the example stays")
@pytest.mark.usefixtures("broken")
def test_broken_plug_ins_are_named_and_disturb_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert registry.find_methods().keys().isdisjoint(BROKEN)
    assert registry.get_method("tibet") is registry.METHODS["tibet"], "biasgraph's own goes first"
    for name, said in BROKEN.items():
        with pytest.raises(ModelError) as caught:
            registry.get_method(name)
        assert said in str(caught.value)
    with pytest.raises(ModelError, match="the plug-in torn of declared: "):
        registry.get_method("torn")
    run_directory = tmp_path / "r"
    build = ["build", "--prompt", "a nurse", "--images", "2", "--only", "gender", "-q"]
    build += ["--vqa", "sandbox:judge2", "--annotate", "none"]
    assert main([*build, "-o", str(run_directory)]) == 0
    capsys.readouterr()
    for name, code, said in (
        ("late", 1, "the plug-in late failed: ModuleNotFoundError"),
        ("fails", 1, "the plug-in fails failed: ValueError: no luck \\x1b[31m"),
        ("empty", 1, "the plug-in empty did not return an Annotation"),
        ("lost", 1, "the plug-in lost has a finding about an unknown axis 'moon'"),
        ("sees", 2, "sees needs a judge that answers in its own words"),
        ("steep", 2, "steep needs gradients, and sandbox:judge2 gives no gradients"),
        ("bad", 1, "the plug-in bad of raises does not load"),
    ):
        assert main(["annotate", str(run_directory), name, "-q"]) == code
        error = capsys.readouterr().err
        assert said in error
        assert len(error.splitlines()) == 1
    assert main(["annotate", str(run_directory), "floats", "-q"]) == 0
    graph = json.loads((run_directory / "graph.json").read_bytes())["graph"]
    assert graph["findings"]["floats"]["f"] == 0.5
