"""A rerun with nothing new reads the result back; anything new computes it again."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import biasgraph
from biasgraph.audits import analysis
from biasgraph.commands import main

BUILD = {
    "images": 4,
    "only": ("gender", "age"),
    "annotate": "tibet",
    "bootstrap": 100,
    "min_valid": 1,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("reuse") / "run"
    biasgraph.build("a librarian", output=directory, **BUILD)
    return directory


@pytest.fixture
def analyses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of each analysis that is done."""
    done: list[str] = []
    compute = analysis.analyze_answers

    def count(*args, **options):
        done.append("analysis")
        return compute(*args, **options)

    monkeypatch.setattr(analysis, "analyze_answers", count)
    return done


def test_the_same_again_is_read_back(run: Path, analyses: list[str]) -> None:
    before = {
        path.name: path.read_bytes() for path in run.iterdir() if path.suffix in (".json", ".csv")
    }
    result = biasgraph.build("a librarian", output=run, **BUILD)
    assert analyses == []
    assert result.files() == biasgraph.load(run).files()
    after = {name: (run / name).read_bytes() for name in before}
    assert after == before


def test_another_gate_computes_nothing(run: Path, analyses: list[str]) -> None:
    before = {name: (run / name).read_bytes() for name in ("graph.json", "report.html")}
    for gates in (("gender>0.49",), ("each:gender>0.4", "age>0.5")):
        biasgraph.build("a librarian", output=run, **BUILD, gates=gates)
    assert analyses == []
    assert {name: (run / name).read_bytes() for name in before} == before


def test_another_setting_is_computed(run: Path, analyses: list[str]) -> None:
    for alpha in (0.2, 0.2):
        result = biasgraph.build("a librarian", output=run, **{**BUILD, "alpha": alpha})
        assert result.document["graph"]["settings"]["alpha"] == 0.2
    assert analyses == ["analysis"]
    biasgraph.build("a librarian", output=run, **BUILD)
    assert analyses == ["analysis"] * 2


@pytest.mark.slow(reason="builds of the sandbox; the same again stays")
def test_a_finding_more_is_read_back(run: Path, analyses: list[str]) -> None:
    assert main(["robustness", str(run), "--draws", "2", "-q"]) == 0
    before = (run / "graph.json").read_bytes()
    result = biasgraph.build("a librarian", output=run, **BUILD)
    assert analyses == []
    assert "robustness" in result.document["graph"]["findings"]
    assert (run / "graph.json").read_bytes() == before
    biasgraph.build("a librarian", output=run, **{**BUILD, "alpha": 0.3})
    assert "robustness" not in biasgraph.load(run).document["graph"]["findings"]
    biasgraph.build("a librarian", output=run, **BUILD)
    analyses.clear()


@pytest.mark.slow(reason="builds of the sandbox; the same again stays")
def test_a_finding_more_hides_no_change(run: Path, analyses: list[str]) -> None:
    (run / "pairs.csv").write_bytes((run / "pairs.csv").read_bytes() + b"\n")
    assert main(["robustness", str(run), "--draws", "2", "-q"]) == 0
    biasgraph.build("a librarian", output=run, **BUILD)
    assert analyses == ["analysis"]


@pytest.mark.parametrize("name", ["graph.json", "pairs.csv"])
def test_what_somebody_changed_is_computed_again(run: Path, analyses: list[str], name: str) -> None:
    good = (run / name).read_bytes()
    (run / name).write_bytes(good + b"\n")
    biasgraph.build("a librarian", output=run, **BUILD)
    assert analyses == ["analysis"]
    assert (run / name).read_bytes() == good


def test_a_run_without_its_digests_is_computed_again(run: Path, analyses: list[str]) -> None:
    (run / "inputs.json").unlink()
    biasgraph.build("a librarian", output=run, **BUILD)
    assert analyses == ["analysis"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_in_the_place_of_the_digests_is_not_waited_for(
    run: Path, analyses: list[str]
) -> None:
    (run / "inputs.json").unlink()
    os.mkfifo(run / "inputs.json")
    biasgraph.build("a librarian", output=run, **BUILD)
    assert analyses == ["analysis"]
    assert (run / "inputs.json").is_file()


def test_other_code_computes_again(
    run: Path, analyses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("biasgraph.audits.build.stamp_installation", lambda: ["edited"])
    biasgraph.build("a librarian", output=run, **BUILD)
    assert analyses == ["analysis"]


def test_a_rerun_loads_neither_statistics_nor_pandas(run: Path) -> None:
    arguments = ["build", "--prompt", "a librarian", "--images", "4", "--only", "gender,age"]
    arguments += ["--annotate", "tibet", "--bootstrap", "100", "--min-valid", "1"]
    again = [*arguments, "--fail-if", "each:gender>0.49", "-o", str(run)]
    libraries = {"scipy.stats", "matplotlib", "torch", "jinja2", "pandas", "pyarrow"}
    code = (
        "import sys; from biasgraph.commands import main\n"
        f"main({[*again, '-q']!r}); print(sorted({libraries | {'scipy'}!r} & sys.modules.keys()))\n"
        f"main({again!r}); print(sorted({libraries!r} & sys.modules.keys()))"
    )
    assert main([*arguments, "-q", "-o", str(run)]) == 0
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    quiet, *told, loud = done.stdout.splitlines()
    assert (quiet, loud) == ("[]", "[]")
    assert any("librarian" in line for line in told)


@pytest.mark.parametrize("name", ["pairs.csv", "tables.csv", "answers.csv"])
def test_what_is_read_back_is_what_its_files_held(run: Path, name: str) -> None:
    result = biasgraph.build("a librarian", output=run, **BUILD)
    good, whole = (run / name).read_bytes(), biasgraph.load(run)
    (run / name).write_bytes(b"")
    assert result.pair_records() == whole.pair_records()
    assert pickle.loads(pickle.dumps(result)).files() == whole.files()  # noqa: S301
    (run / name).write_bytes(good)
