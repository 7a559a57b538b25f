"""Backends of other packages, installed by pip: the one of docs/models.md, and broken ones."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.plug_ins import add_package as add_package_to

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "models.md"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip installed the package that docs/models.md shows."""
    source = tmp_path_factory.mktemp("source")
    files = re.findall(r"`([\w.]+)`:\n\n```\w+\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert [name for name, _ in files] == ["pyproject.toml", "biasgraph_paint.py"]
    for name, text in files:
        (source / name).write_text(text, encoding="utf-8")
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--target", target, source]
    subprocess.run([*pip, *offline], check=True, capture_output=True)
    return target


@pytest.fixture
def run(installed: Path, tmp_path: Path) -> Run:
    """Run the command line in an empty directory, where the package is installed."""

    def run_process(*arguments: str, plug_ins: Path | None = None):
        path = os.pathsep.join(str(part) for part in (plug_ins, installed) if part)
        return subprocess.run(
            [sys.executable, ROOT / "cli.py", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "error"},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )

    return run_process


def _backends(done: subprocess.CompletedProcess[str]) -> list[dict]:
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["backends"]


_package = partial(add_package_to, "biasgraph.models")


def test_the_documented_plug_in_is_listed_and_audited(run: Run, tmp_path: Path) -> None:
    paint = next(entry for entry in _backends(run("models", "--json")) if entry["name"] == "paint")
    assert (paint["package"], paint["version"], paint["works"]) == ("biasgraph-paint", "1.0", True)
    assert [(role["option"], role["example"]) for role in paint["roles"]] == [
        ("--model", "paint:120"),
        ("--vqa", "paint"),
    ]
    audit = ["build", "--prompt", "a librarian", "--vqa", "paint", "--images", "4", "-o", "out"]
    axes = ["--only", "gender,age", "--model"]
    assert run(*audit, *axes, "paint:120").returncode == 0
    graph = json.loads((tmp_path / "out" / "graph.json").read_text("utf-8"))["graph"]
    assert (graph["model"], graph["vqa"]) == ("paint:120", "paint")
    assert graph["versions"]["biasgraph-paint"] == "1.0"
    other = run(*audit, *axes, "paint:90")
    assert other.returncode == 2
    assert "paint:120" in other.stderr and "--fresh" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--model", "paint:bright"], 2, "name a brightness, as in paint:120"),
        (["--model", "pain:120"], 2, "Did you mean 'paint'?"),
        (["--embedder", "paint"], 2, "paint has no embedder"),
        (
            ["--model", "paint:120", "--guidance", "3"],
            2,
            "--guidance has no effect on paint:120",
        ),
        (["--model", "paint:120", "--steps", "3"], 0, "an image of 32x32 pixels"),
    ],
)
def test_its_specs_are_checked_like_any_others(
    run: Run, arguments: list[str], code: int, said: str
) -> None:
    done = run("models", *arguments)
    assert done.returncode == code
    text = done.stderr if code else done.stdout
    assert said in text
    assert len(text.splitlines()) == 1


@pytest.mark.slow(reason="runs of its own; the documented one stays")
def test_broken_plug_ins_are_shown_and_disturb_no_other(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    _package(broken, "raises", {"bad": "raises:X"}, "raise RuntimeError('no\\nluck \\x1b[31m')")
    _package(broken, "leaves", {"gone": "leaves:X"}, "raise SystemExit(7)")
    _package(broken, "nothing", {"none": "nothing:X", "lost": "nothing:Y"}, "X = 3\n")
    _package(broken, "rival", {"paint": "rival:X", "sandbox": "rival:X"}, "X = 4\n")
    _package(
        broken,
        "roles",
        {
            "typo": "roles:TYPO",
            "dots": "roles:DOTS",
            "late": "roles:LATE",
            "wall": "roles:WALL",
            "deaf": "roles:DEAF",
            "flag": "roles:FLAG",
        },
        "from biasgraph.models.registry import Backend, Role\n"
        "TYPO = Backend('', {'genrator': Role('a:b', 'typo:1')})\n"
        "DOTS = Backend('', {'judge': Role('a.b', 'dots:1')})\n"
        "LATE = Backend('', {'judge': Role('no_such_module:b', 'late:1')})\n"
        "DEAF = Backend('', {'judge': Role('a:b', 'deaf:1', ['stepps'])})\n"
        "FLAG = Backend('', {'judge': Role('a:b', 'flag:1')}, toy='yes')\n"
        "WALL = Backend('', {'judge': Role('a:b', 'wall:1')}, obstacle=lambda: 'no key')\n",
    )
    entries = _backends(run("models", "--json", plug_ins=broken))
    why = {entry["name"]: entry["obstacle"] or "" for entry in entries if not entry["works"]}
    found = {entry["package"]: entry for entry in entries}
    assert "raises does not load: RuntimeError: no luck \\x1b[31m" in why["bad"]
    assert "SystemExit: 7" in why["gone"]
    assert "is not a biasgraph.models.backend.Backend" in why["none"]
    assert "AttributeError" in why["lost"]
    assert "unknown role 'genrator'" in why["typo"]
    assert "neither a function nor 'module:function'" in why["dots"]
    assert "reads an unknown option 'stepps'" in why["deaf"]
    assert "its flag toy is neither True nor False" in why["flag"]
    assert why["wall"] == "no key"
    assert "same name" in why["paint"]
    assert "takes precedence" in why["sandbox"]
    assert any(entry["name"] == "sandbox" and entry["works"] for entry in entries)
    assert found["biasgraph-paint"]["works"] is False

    listed = run("models", plug_ins=broken)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "\x1b" not in listed.stdout
    for option, spec, code, said in (
        ("--vqa", "late:1", 1, "cannot load 'late:1': ModuleNotFoundError"),
        ("--vqa", "bad:1", 1, "does not load: RuntimeError: no luck"),
        ("--vqa", "paint", 1, "both call a plug-in paint"),
        ("--llm", "sandbox", 0, "sandbox works"),
    ):
        done = run("models", option, spec, plug_ins=broken)
        assert done.returncode == code
        text = done.stderr if code else done.stdout
        assert said in text
        assert "Traceback" not in text and len(text.splitlines()) == 1
