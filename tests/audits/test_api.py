"""The Python interface, and what importing it costs."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_type_hints

import networkx as nx
import pandas as pd
import pytest

import biasgraph
from biasgraph.audits.api import BuildPlan
from biasgraph.audits.build_options import BuildOptions
from biasgraph.data.axes import load_axis_set
from biasgraph.models import registry
from biasgraph.models.backend import GENERATOR, JUDGE, Backend, Role
from biasgraph.models.base import Picture
from tests.answer_tables import librarian_table
from tests.fake_models import FakeGenerator, FakeJudge

ROOT = Path(__file__).parents[2]
HEAVY = (
    "torch", "diffusers", "transformers", "ot", "pandas", "numpy", "scipy", "networkx",
    "matplotlib", "PIL", "pydantic",
)  # fmt: skip


def loaded_after(code: str) -> set[str]:
    """The heavy modules that a fresh interpreter holds after running `code`."""
    script = f"{code}\nimport sys\nprint(*({ {*HEAVY}!r} & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return {*done.stdout.splitlines()[-1].split()}


def test_importing_loads_nothing_heavy() -> None:
    assert loaded_after("import biasgraph; biasgraph.__version__; dir(biasgraph)") == set()


@pytest.mark.parametrize(
    "arguments", [["--help"], ["build", "--help"], ["plan", "--help"], ["--version"], ["bild"]]
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    assert loaded_after(f"from biasgraph.commands import main; main({arguments!r})") == set()


def test_analysing_answers_loads_no_model_library() -> None:
    code = (
        "import biasgraph\n"
        "from tests.answer_tables import librarian_table\n"
        "biasgraph.analyze(librarian_table(images=2)).files()"
    )
    assert not loaded_after(code) & {"torch", "diffusers", "transformers", "ot", "PIL"}


def test_everything_promised_is_there() -> None:
    for name in biasgraph.__all__:
        assert getattr(biasgraph, name) is not None
    assert {*biasgraph.__all__} <= {*dir(biasgraph)}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = biasgraph.nothing  # type: ignore[attr-defined]


def test_build_and_load(tmp_path: Path) -> None:
    librarian_table(images=20).to_csv(tmp_path / "answers.csv", index=False)
    result = biasgraph.build(
        answers=tmp_path / "answers.csv", output=tmp_path / "out", bootstrap=100
    )
    assert isinstance(result.graph, nx.DiGraph)
    assert [*result.graph] == result.nodes["id"].tolist() == ["gender", "age", "clothing"]
    for frame in (result.pairs, result.nodes, result.tables, result.answers):
        assert isinstance(frame, pd.DataFrame)
    assert biasgraph.load(tmp_path / "out").files() == result.files()


def test_analyze_takes_frames_files_and_axis_sets(tmp_path: Path) -> None:
    frame = librarian_table(images=4, axes={"gender": ("male", "female")})
    frame.to_parquet(tmp_path / "answers.parquet")
    one = biasgraph.analyze(frame, "occupation", bootstrap=100)
    file = tmp_path / "answers.parquet"
    other = biasgraph.analyze(file, load_axis_set("occupation"), bootstrap=100)
    assert one.files() == other.files()
    assert one.directory is None
    assert repr(one) == "<Result of 'a librarian': 1 axis, 0 edges>"


def test_save(tmp_path: Path) -> None:
    result = biasgraph.analyze(librarian_table(images=2), bootstrap=100)
    paths = biasgraph.save(result, tmp_path / "new" / "out")
    assert {path.name for path in paths} == {*result.files(), "report.html"}
    biasgraph.save(result, tmp_path / "new" / "out")
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(biasgraph.InputError, match="already exists"):
        biasgraph.save(result, tmp_path)


def test_an_unknown_option_is_an_input_error() -> None:
    with pytest.raises(biasgraph.InputError, match=r"unknown option 'alhpa'. Did you mean 'alpha'"):
        biasgraph.analyze(librarian_table(images=2), alhpa=0.05)


def test_a_frame_is_left_as_it_was() -> None:
    frame = librarian_table(images=3)
    before = frame.copy()
    biasgraph.analyze(frame, bootstrap=100)
    pd.testing.assert_frame_equal(frame, before)


def test_comparing_is_what_the_command_does(tmp_path: Path) -> None:
    runs = [str(tmp_path / name) for name in ("a", "b")]
    for run in runs:
        biasgraph.save(biasgraph.analyze(librarian_table(images=20), bootstrap=100), run)
    comparison = biasgraph.compare(runs, gates=["new-edges>0"], seed=3)
    assert [gate["failed"] for gate in comparison.document["gates"]] == [False]
    with pytest.raises(biasgraph.InputError, match="unknown option 'gate'"):
        biasgraph.compare(runs, gate=["new-edges>0"])  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("function", "first"),
    [
        (biasgraph.build, ["prompt", "prompts", "answers"]),
        (biasgraph.analyze, ["answers", "axes", "only"]),
        (biasgraph.compare, ["runs", "common", "gates"]),
    ],
)
def test_signatures_show_every_option(function, first: list[str]) -> None:
    parameters = inspect.signature(function).parameters
    assert [*parameters][: len(first)] == first
    assert not any(parameter.kind.name.startswith("VAR") for parameter in parameters.values())
    told = pydoc.render_doc(function, renderer=pydoc.plaintext)
    assert [name for name in parameters if f"\n        {name}: " not in told] == []
    if function is biasgraph.build:
        assert parameters.keys() == BuildOptions.__dataclass_fields__.keys()


TYPED = """
import biasgraph

result: biasgraph.Result = biasgraph.build("a librarian", images=96)
plan = biasgraph.build("a librarian", images=96, dry_run=True)
reveal_type(plan["images"])
biasgraph.analyze("answers.csv", "occupation", alpha=0.01).graph
biasgraph.compare(["a", "b"], common=True).document
"""
MISTYPED = """
import biasgraph

biasgraph.build("a librarian", imagez=96)
biasgraph.build("a librarian", images="96")
biasgraph.analyze("answers.csv", metric="nominl")
biasgraph.compare(["a", "b"], gate=[])
biasgraph.analyze()
"""


def check_types(code: str, tmp_path: Path) -> list[str]:
    """The errors and notes of mypy --strict about a user's code."""
    (tmp_path / "user.py").write_text(code)
    done = subprocess.run(
        [
            sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context",
            "--cache-dir", ROOT / ".mypy_cache", "--config-file", ROOT / "setup.cfg",
            tmp_path / "user.py",
        ],
        cwd=ROOT, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    return [line.partition("user.py:")[2] for line in done.stdout.splitlines()]


@pytest.mark.slow(reason="runs mypy on programs that use the package")
def test_types_show_mistakes_before_anything_runs(tmp_path: Path) -> None:
    assert check_types(TYPED, tmp_path) == ['6: note: Revealed type is "int"']
    lines = check_types(MISTYPED, tmp_path)
    assert {line.partition(":")[0] for line in lines if "error" in line} == {*"45678"}
    assert 'Unexpected keyword argument "imagez"' in lines[0]


class Untouchable(FakeGenerator):
    """A generator that makes nothing."""

    seconds_per_image = None

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        raise AssertionError("a dry run generates nothing")


class Silent(FakeJudge):
    """A judge that answers nothing."""

    seconds_per_image = None

    def answer(self, images, questions):
        raise AssertionError("a dry run asks nothing")


def test_a_dry_run_only_plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    roles = {
        GENERATOR: Role(lambda spec, options: Untouchable(), "fake:painter"),
        JUDGE: Role(lambda spec, options: Silent(), "fake:judge"),
    }
    monkeypatch.setitem(registry.BACKENDS, "fake", Backend("a fake", roles))
    options = {"model": "fake:painter", "vqa": "fake:judge", "output": tmp_path / "run"}
    plan = biasgraph.build("a nurse", images=3, only="gender", dry_run=True, **options)
    assert (plan["prompts"], plan["images"], plan["answers"]) == (5, 15, 15)
    assert plan["plans"][0]["counterfactuals"] == ["a male nurse", "a female nurse"]
    assert plan["plans"][0]["controls"] == ["a certain nurse", "a nurse who is here"]
    assert plan.keys() == get_type_hints(BuildPlan).keys() - {"reference"}
    assert not (tmp_path / "run").exists()
    with pytest.raises(AssertionError, match="generates nothing"):
        biasgraph.build("a nurse", images=3, only="gender", **options)
