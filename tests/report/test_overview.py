"""The end of a build: what there is to know first, in 30 lines, and where the rest is."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biasgraph
from biasgraph.audits.build import build
from biasgraph.audits.build_options import BuildOptions
from biasgraph.commands import main
from biasgraph.data.findings import Text
from biasgraph.report import overview, words
from biasgraph.report.graph_summary import SECTIONS, ReportInput
from biasgraph.report.lead import say_links
from tests.answer_tables import AXES, librarian_table
from tests.shared_runs import copy_run

ONE = ("--prompt", "a librarian", "--images", "6", "--alpha", "0.05")
MANY = ("--prompts", "occupations", "--images", "2", "--alpha", "0.2", "--min-is", "0.1")
ALL = pytest.mark.slow(reason="26 graphs; three stay")
QUICK = ("--min-valid", "1", "--bootstrap", "100", "--controls", "0")


@pytest.fixture(scope="module", params=[3])
def tables(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of so many prompts and 8 axes."""
    folder = tmp_path_factory.mktemp("tables")
    axes = {f"axis number {i}": (f"first of {i}", f"second of {i}") for i in range(5)} | AXES
    frames = [
        librarian_table(images=16, axes=axes, prompt=f"occupation number {i}", seed=i)
        for i in range(request.param)
    ]
    pd.concat(frames).to_csv(folder / "answers.csv", index=False)
    quick = ("--bootstrap", "100", "--alpha", "0.2", "--min-valid", "8")
    table = str(folder / "answers.csv")
    assert main(["build", "--answers", table, "-o", str(folder / "run"), *quick, "-q"]) == 0
    return folder / "run"


@pytest.fixture(scope="module", params=["one", "many"])
def sandbox(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the sandbox about its 8 axes: of one prompt, and of 26."""
    run = tmp_path_factory.mktemp("sandbox") / request.param
    copy_run(run, "build", *(ONE if request.param == "one" else MANY), *QUICK)
    return run


def shown(
    run: Path,
    columns: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *sections: str,
) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    asked = ["--section", ",".join(sections)] if sections else []
    assert main(["show", str(run), *asked]) == 0
    return capsys.readouterr().out


def wrapped_cells(text: str) -> list[str]:
    """The lines of tables that only go on with a cell of the line above: no number in a row."""
    wrapped, inside = [], False
    for line in text.splitlines():
        if set(line.strip()) == {"─"}:
            inside = True
        elif not line.strip() or line.startswith(("IS:", "The ", "V,", "Mean:", "Pairs by")):
            inside = False
        elif inside and line.startswith(" ") and not re.search(r"mean of|corr\.|\d\.\d", line):
            wrapped.append(line)
    return wrapped


@pytest.mark.parametrize("tables", [3, pytest.param(26, marks=ALL)], indirect=True)
@pytest.mark.parametrize("columns", [80, 100, 160])
def test_the_end_of_many_prompts_has_30_lines_at_most(
    tables: Path,
    columns: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = shown(tables, columns, monkeypatch, capsys)
    assert 15 < len(text.splitlines()) <= 30
    assert max(map(len, text.splitlines()[:-1])) <= columns
    assert linked_words(tables) in " ".join(text.split())
    assert "--section all" in " ".join(text.split())


@pytest.mark.slow(reason="builds of the sandbox; the tables of several prompts are as long")
@pytest.mark.parametrize("columns", [80, 100, 160])
def test_the_end_of_a_build_has_30_lines_at_most(
    sandbox: Path,
    columns: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = shown(sandbox, columns, monkeypatch, capsys)
    assert 15 < len(text.splitlines()) <= 30
    assert linked_words(sandbox) in " ".join(text.split())
    assert text.startswith("These results describe a toy")
    assert text.splitlines()[-1].startswith("Open ")


@pytest.mark.slow(reason="builds of the sandbox")
@pytest.mark.parametrize("columns", [100, 160])
def test_no_cell_of_any_section_wraps(
    sandbox: Path,
    columns: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = shown(sandbox, columns, monkeypatch, capsys, "all")
    assert text.count("─" * 20) and wrapped_cells(text) == []
    assert max(map(len, text.splitlines()[:-1])) <= columns


def linked_words(run: Path) -> str:
    result = biasgraph.load(run)
    return words.plain(say_links(result.document, result.pair_records()))


def test_wrapped_cells_are_seen(
    tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wrapped_cells(shown(tables, 50, monkeypatch, capsys, "all"))
    assert not wrapped_cells(shown(tables, 100, monkeypatch, capsys, "all"))


@pytest.mark.slow(reason="a run of 26 prompts")
def test_a_section_is_shown_alone_and_all_of_them_together(
    tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    marks = {
        "settings": "Wasserstein-1",
        "axes": "Most images show",
        "prompts": "Files in prompts/",
        "findings": "of 56 pairs of axes are edges",
        "pairs": "without an edge",
        "images": "Nobody in it",
        "caveats": "To keep in mind",
    }
    assert {*marks} | {"methods"} == {*SECTIONS}
    for name, mark in marks.items():
        text = shown(tables, 100, monkeypatch, capsys, name)
        assert [other for other, one in marks.items() if one in text] == [name], mark
    everything = shown(tables, 100, monkeypatch, capsys, "all")
    assert all(mark in everything for mark in marks.values())
    nothing = "methods: nothing to show"
    assert nothing in shown(tables, 100, monkeypatch, capsys, "methods")
    assert nothing not in everything
    assert main(["show", str(tables), "--section", "axis"]) == 2
    assert "unknown section 'axis'. Did you mean axes?" in " ".join(
        capsys.readouterr().err.replace("'axes'", "axes").split()
    )
    assert main(["show", str(tables), "--section", ","]) == 2


def test_an_edge_without_a_direction_is_listed_once(
    tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    links = json.loads((tables / "graph.json").read_text("utf-8"))["links"]
    unclear = [link for link in links if link["sign"] == "undetermined"]
    assert unclear
    text = shown(tables, 100, monkeypatch, capsys, "findings", "pairs")
    for link in unclear:
        row = rf"^{link['source']} +{link['target']} +(undetermined|below delta)"
        assert len(re.findall(row, text, re.M)) == 1
        assert f"{link['source']} → {link['target']}:" not in text


@pytest.mark.slow(reason="a graph of its own")
def test_hostile_and_long_names_fit(capsys: pytest.CaptureFixture[str]) -> None:
    axes = {f"{i} {'long name ' * 6}": ("a" * 60, "b" * 60) for i in range(14)}
    result = biasgraph.analyze(
        librarian_table(images=8, axes=axes, prompt="x" * 400),
        min_valid=1,
        bootstrap=100,
        alpha=0.5,
    )
    told = ReportInput(result.document, result.pair_records())
    sizes = [len(parts) for parts in overview.overviews(told, None)]
    assert len(sizes) == len(overview.SIZES)
    from biasgraph.commands.output import Output

    Output(as_json=False, quiet=False).present_result(result)
    assert len(capsys.readouterr().out.splitlines()) <= 30


def test_pairs_below_the_cut_are_no_missing_links() -> None:
    result = biasgraph.analyze(librarian_table(), bootstrap=100)
    document: dict[str, Any] = copy.deepcopy(result.document) | {"links": []}
    document["graph"]["edge_rule"]["min_is"] = 0.9
    pairs = [
        pair | {"edge": False, "verdict": "undecided", "flags": "below_min_is" * bool(pair["edge"])}
        for pair in result.pair_records()
    ]
    [cut] = [pair for pair in words.between(pairs) if pair["flags"]]
    assert cut["p"] < 1e-9
    assert say_links(document, pairs).startswith(
        "In 1 of 6 pairs, the answers differ with what is asked, but the measured |IS| is below "
        "0.9, so they are no edges. No link was found in any of the others. That is no proof of "
        "independence"
    )


class Recorder:
    """Progress that remembers what began."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.done: dict[str, int] = {}

    def start(self, description: str, *, total: int, done: int) -> None:
        self.begun.append(description)
        self.done[description] = done

    def advance(self, count: int) -> None:
        self.done[self.begun[-1]] += count

    def detail(self, text: str) -> None:
        pass

    def finish(self) -> None:
        pass

    def note(self, message: str) -> None:
        pass


@pytest.mark.slow(reason="a run of 26 prompts")
def test_many_prompts_are_one_bar(tmp_path: Path) -> None:
    (tmp_path / "prompts.txt").write_text("a librarian\na nurse\na cook\n", "utf-8")
    recorder = Recorder()
    options = BuildOptions(
        prompts=str(tmp_path / "prompts.txt"), images=2, only=("gender", "clothing"),
        controls=0, min_valid=1, bootstrap=100, output=tmp_path / "run",
    )  # fmt: skip
    build(options, recorder)
    assert recorder.begun == ["Images", "Answers", "Graphs", "Findings"]
    assert recorder.done == {"Images": 30, "Answers": 30, "Graphs": 4, "Findings": 4}
    prompts = biasgraph.load(tmp_path / "run").prompts
    assert all(part.document["graph"]["findings"] for part in prompts)


def test_a_table_that_names_neither_model_nor_judge_says_so_once() -> None:
    table = librarian_table().query("role == 'initial'")
    result = biasgraph.analyze(table[["prompt", "image", "target", "answer"]], bootstrap=100)
    about = overview.overviews(ReportInput(result.document, result.pair_records()), None)
    [first] = [part.text for part in next(about) if isinstance(part, Text) and "48" in part.text]
    assert words.plain(first).startswith(
        "“a librarian” by a model that is not recorded; judge: not recorded. 48 initial"
    )
