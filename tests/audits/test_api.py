"""The Python interface, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest

import biasgraph
from biasgraph.data.axes import load_axis_set
from tests.answer_tables import librarian_table

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


@pytest.mark.parametrize("arguments", [["--help"], ["build", "--help"], ["--version"], ["bild"]])
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
    assert repr(one) == "<Result of 'a librarian': 1 axes, 0 edges>"


def test_save(tmp_path: Path) -> None:
    result = biasgraph.analyze(librarian_table(images=2), bootstrap=100)
    paths = biasgraph.save(result, tmp_path / "new" / "out")
    assert {path.name for path in paths} == {*result.files(), "report.html"}
    biasgraph.save(result, tmp_path / "new" / "out")
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(biasgraph.InputError, match="not empty"):
        biasgraph.save(result, tmp_path)


def test_an_unknown_option_is_an_input_error() -> None:
    with pytest.raises(biasgraph.InputError, match=r"unknown option 'alhpa'. Did you mean 'alpha'"):
        biasgraph.analyze(librarian_table(images=2), alhpa=0.05)


def test_a_frame_is_left_as_it_was() -> None:
    frame = librarian_table(images=3)
    before = frame.copy()
    biasgraph.analyze(frame, bootstrap=100)
    pd.testing.assert_frame_equal(frame, before)
