"""An answers table of several prompts: one graph of their sum, and one of each."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.cells import cell_len

import biasgraph
from biasgraph.errors import InputError, ModelError, printable
from biasgraph.io.folder_names import folder_name
from biasgraph.io.writing import remove_stale, write_files
from biasgraph.report.graph_summary import ReportInput, summarize
from biasgraph.report.saving import write
from tests.answer_tables import AXES, librarian_table
from tests.hostile import HOSTILE, UNWRITABLE
from tests.screens import one_line, screen_of

NAMES = {
    "answers.csv", "tables.csv", "pairs.csv", "nodes.csv", "graph.json", "graph.graphml",
    "report.html",
}  # fmt: skip


def answers(*prompts: str, **given: Any) -> pd.DataFrame:
    frames = [librarian_table(prompt=p, seed=i, **given) for i, p in enumerate(prompts)]
    return pd.concat(frames, ignore_index=True)


def built(output: Path, *prompts: str, **given: Any) -> biasgraph.Result:
    return biasgraph.build(answers=answers(*prompts), output=output, bootstrap=100, **given)


def screen(result: biasgraph.Result, document: dict[str, Any] | None = None) -> str:
    return screen_of(summarize(ReportInput(document or result.document, result.pair_records())))


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    return biasgraph.analyze(answers("a librarian", "a nurse", "a cook"), bootstrap=100)


def test_the_result_is_the_global_graph_with_that_of_each_prompt(result: biasgraph.Result) -> None:
    graph = result.document["graph"]
    assert (graph["kind"], graph["prompt"], graph["subject"]) == ("global", None, None)
    assert [part.document["graph"]["prompt"] for part in result.prompts] == [
        "a librarian", "a nurse", "a cook",
    ]  # fmt: skip
    for part, listed in zip(result.prompts, graph["prompts"], strict=True):
        own = part.document["graph"]
        assert own["kind"] == "prompt" and "prompts" not in own
        assert listed == {
            "prompt": own["prompt"],
            "subject": None,
            "directory": f"prompts/{folder_name(own['prompt'])}",
            "images": {"initial": 48, "interventions": 7 * 48},
            "edges": len(part.document["links"]),
        }
        assert {*part.answers["prompt"]} == {own["prompt"]} == {*part.tables["prompt"]}
        assert "n_prompts" not in part.pairs
    assert (result.pairs["n_prompts"] == 3).all()
    assert str(result.pairs["n_prompts"].dtype) == "Int64"
    assert repr(result) == "<Result of 3 prompts: 3 axes, 1 edge>"


def test_global_counts_are_the_sums_of_tables_csv(result: biasgraph.Result) -> None:
    each = pd.concat([part.tables for part in result.prompts])
    keys = ["axis", "attribute", "target", "answer"]
    sums = result.tables.groupby(keys)["count"].sum()
    pd.testing.assert_series_equal(each.groupby(keys)["count"].sum(), sums)
    link = result.document["links"][0]
    assert link["table"] == [
        [int(sums[link["source"], row, link["target"], column]) for column in link["columns"]]
        for row in link["rows"]
    ]
    pairs = pd.concat([part.pairs for part in result.prompts])
    means = pairs.groupby(["source", "target"])["is"].mean()
    found = result.pairs.set_index(["source", "target"])["is_mean_prompt"]
    pd.testing.assert_series_equal(
        found, means, check_names=False, check_like=True, check_index_type=False
    )


def test_the_documentation_names_every_field(result: biasgraph.Result) -> None:
    text = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
    graph = result.document["graph"]
    for field in [*result.pairs.columns, *graph, *graph["prompts"][0], *graph["edge_rule"]]:
        assert f"`{field}`" in text, field


def test_a_prompt_alone_and_among_others_has_the_same_graph(result: biasgraph.Result) -> None:
    alone = biasgraph.analyze(answers("a librarian"), bootstrap=100)
    among = result.prompts[0]
    assert alone.document == among.document
    assert alone.files() == among.files()


def test_all_files_are_written_and_read_back(tmp_path: Path) -> None:
    result = built(tmp_path / "out", "a librarian", "a nurse")
    folders = [f"prompts/{folder_name(prompt)}" for prompt in ("a librarian", "a nurse")]
    each = ("graph.json", "nodes.csv", "pairs.csv", "report.html")
    expected = NAMES | {f"{folder}/{name}" for folder in folders for name in each}
    expected |= {"prompts.csv"}
    assert {*result.files()} == {name for name in expected if not name.endswith("report.html")}
    root = tmp_path / "out"
    found = {str(p.relative_to(root).as_posix()) for p in root.rglob("*") if p.is_file()}
    assert found == expected
    back = biasgraph.load(root)
    assert back.files() == result.files()
    assert [part.directory for part in back.prompts] == [root / folder for folder in folders]
    assert [part.directory for part in result.prompts] == [root / folder for folder in folders]
    alone = biasgraph.load(root / folders[1])
    assert alone.document == result.prompts[1].document
    assert alone.files() == result.prompts[1].files()
    again = biasgraph.build(answers=root / "answers.csv", output=root, bootstrap=100)
    assert again.files() == result.files()


@pytest.mark.slow(reason="a build of its own")
def test_tables_that_earlier_versions_wrote_for_each_prompt_go(tmp_path: Path) -> None:
    built(tmp_path, "a librarian", "a nurse")
    nurse = tmp_path / "prompts" / folder_name("a nurse")
    own = biasgraph.load(nurse)
    for name in ("answers.csv", "tables.csv", "graph.graphml"):
        (nurse / name).write_bytes(own.files()[name])
    assert biasgraph.load(nurse).files() == own.files()
    biasgraph.build(answers=tmp_path / "answers.csv", output=tmp_path, bootstrap=100)
    assert {path.name for path in nurse.iterdir()} == {
        "graph.json", "nodes.csv", "pairs.csv", "report.html"
    }  # fmt: skip


@pytest.mark.parametrize("name", ["answers.csv", "tables.csv"])
def test_a_table_without_a_prompts_rows_is_damage(tmp_path: Path, name: str) -> None:
    built(tmp_path, "a librarian", "a nurse")
    table = tmp_path / name
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text("".join(line for line in lines if "a nurse" not in line), encoding="utf-8")
    with pytest.raises(InputError, match="has no rows about the prompt of prompts/a-nurse"):
        biasgraph.load(tmp_path)
    if name == "answers.csv":
        with pytest.raises(InputError, match="no answers about 'a nurse'"):
            biasgraph.load(tmp_path / "prompts" / folder_name("a nurse"))


@pytest.mark.slow(reason="two builds")
def test_prompts_that_are_no_longer_there_leave_no_files(tmp_path: Path) -> None:
    built(tmp_path / "out", "a librarian", "a nurse", "a cook")
    nurse = tmp_path / "out" / "prompts" / folder_name("a nurse")
    cook = tmp_path / "out" / "prompts" / folder_name("a cook")
    (cook / "mine.txt").write_text("mine")
    (tmp_path / "out" / "prompts" / "note.txt").write_text("mine")
    built(tmp_path / "out", "a librarian", "a clerk")
    assert not nurse.exists()
    assert [path.name for path in cook.iterdir()] == ["mine.txt"]
    assert {part.directory for part in biasgraph.load(tmp_path / "out").prompts} == {
        tmp_path / "out" / "prompts" / folder_name(prompt) for prompt in ("a librarian", "a clerk")
    }
    built(tmp_path / "out", "a librarian")
    assert biasgraph.load(tmp_path / "out").prompts == ()
    left = {path.name for path in (tmp_path / "out" / "prompts").iterdir()}
    assert left == {cook.name, "note.txt"}


def test_one_prompt_after_many_leaves_no_folder(tmp_path: Path) -> None:
    built(tmp_path / "out", "a librarian", "a nurse")
    built(tmp_path / "out", "a librarian")
    assert not (tmp_path / "out" / "prompts").exists()
    remove_stale(tmp_path / "nowhere", ["a"], [])


def test_nothing_is_written_when_one_folder_cannot_be(tmp_path: Path) -> None:
    result = biasgraph.analyze(answers("a librarian", "a nurse"), bootstrap=100)
    (tmp_path / "out" / "prompts").mkdir(parents=True)
    blocked = tmp_path / "out" / "prompts" / folder_name("a nurse")
    blocked.write_text("in the way")
    with pytest.raises(ModelError, match="cannot write to"):
        write(result, tmp_path / "out")
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == [blocked]


def test_writing_below_leaves_nothing_behind_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(ModelError, match="free some space"):
        write_files(tmp_path / "new", {"a/b/c.csv": b"", "a/d.csv": b"", "e.csv": b""})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow(reason="three builds")
@pytest.mark.parametrize("folder", ["prompts/../../elsewhere", "/etc", "prompts/.."])
def test_folders_that_lead_elsewhere_are_damage(tmp_path: Path, folder: str) -> None:
    built(tmp_path / "out", "a librarian", "a nurse")
    path = tmp_path / "out" / "graph.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["graph"]["prompts"][0]["directory"] = folder
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="is damaged: its prompt folders are invalid"):
        biasgraph.load(tmp_path / "out")


@pytest.mark.slow(reason="four builds")
@pytest.mark.parametrize("prompts", [[{}], [3], "text", 7])
def test_prompts_of_another_form_are_named(tmp_path: Path, prompts: Any) -> None:
    built(tmp_path / "out", "a librarian", "a nurse")
    path = tmp_path / "out" / "graph.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["graph"]["prompts"] = prompts
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"graph\.json is damaged: graph\.prompts"):
        biasgraph.load(tmp_path / "out")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    built(tmp_path / "out", "a librarian", "a nurse")
    folder = tmp_path / "out" / "prompts" / folder_name("a nurse")
    (folder / "graph.json").unlink()
    with pytest.raises(InputError, match=f"{folder.name} holds no result"):
        biasgraph.load(tmp_path / "out")


@pytest.mark.slow(reason="a build of its own")
def test_options_reach_the_global_graph() -> None:
    frame = answers("a librarian", "a nurse")

    def edges(**given: Any) -> int:
        return len(biasgraph.analyze(frame, bootstrap=100, **given).document["links"])

    assert edges(min_is=0.9) == 0 < edges(min_is=0.0)
    pooled = biasgraph.analyze(frame, bootstrap=100, global_test="pooled")
    assert {*pooled.pairs["method"]} <= {"asymptotic", "monte_carlo"}
    strict = biasgraph.analyze(frame, bootstrap=100, alpha=1e-6).document["graph"]
    assert strict["edge_rule"]["alpha"] == 1e-6
    paper = biasgraph.analyze(frame, bootstrap=100, preset="paper").document["graph"]["edge_rule"]
    assert paper == {"alpha": 5e-5, "fdr": None, "min_is": 0.03, "stratified": False}


def test_notes_say_that_they_are_about_all_prompts() -> None:
    frame = answers("a librarian", "a nurse")
    frame.loc[0, "answer"] = "man"
    result = biasgraph.analyze(frame, bootstrap=100)
    assert "1 unlisted answer counted as unknown (man)" in result.document["graph"]["notes"][0]
    assert "Mediation is checked within each prompt" in result.document["graph"]["notes"][-1]
    [note] = result.prompts[1].document["graph"]["notes"]
    assert note.endswith("counted as unknown (man) (in the answers about all prompts)")


def test_the_terminal_shows_the_sum_and_each_prompt(result: biasgraph.Result) -> None:
    text = one_line(screen(result))
    link = result.document["links"][0]
    for expected in (
        "Prompts 3: a librarian, a nurse, a cook; their counts are summed",
        "Images 144 initial, 1,008 counterfactual",
        "p of at most 5e-05, tested within prompts; |IS| of at least 0.03 (nominal)",
        f"{link['is_mean_prompt']:+.3f} mean of 3",
        "opposite effects cancel in the sum, not there",
        "Mediation is checked within each prompt",
    ):
        assert expected in text
    for part in result.prompts:
        graph = part.document["graph"]
        line = f"{graph['prompt']} {graph['edges']}"
        assert f"{line} {folder_name(graph['prompt'])}" in text
    assert max(cell_len(line) for line in screen(result).splitlines()) <= 80


@pytest.mark.parametrize("fdr", [None, "bh"])
def test_pairs_below_the_cut_are_not_called_missed(fdr: str | None) -> None:
    frame = answers("a librarian", "a nurse")
    cut = biasgraph.analyze(frame, bootstrap=100, min_is=0.9, fdr=fdr)
    text = one_line(screen(cut))
    assert "0 of 6 pairs of axes are edges" in text
    assert (
        "gender → clothing: the answers differ between the interventions, but |IS| is below 0.9: "
        "not an edge."
    ) in text
    assert "5 pairs without an edge need not be independent" in text


def test_undefined_means_are_dashes(result: biasgraph.Result) -> None:
    document = copy.deepcopy(result.document)
    document["links"][0]["is_mean_prompt"] = None
    text = one_line(screen(result, document))
    assert "- mean of 3" in text


def test_hostile_prompts_go_through_every_file(tmp_path: Path) -> None:
    prompts = [text for text in HOSTILE if text not in UNWRITABLE][::8]
    axes = {"gender": AXES["gender"]}
    frame = answers(*prompts, images=1, axes=axes)
    result = biasgraph.build(
        answers=frame, output=tmp_path / "out", bootstrap=100, min_valid=1, metric="nominal"
    )
    back = biasgraph.load(tmp_path / "out")
    assert back.document == result.document
    assert back.files() == result.files()
    assert [part.document["graph"]["prompt"] for part in back.prompts] == prompts
    folders = {path for path in (tmp_path / "out" / "prompts").iterdir()}
    assert len(folders) == len(prompts)
    assert {path.parent for path in folders} == {tmp_path / "out" / "prompts"}
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
    lines = screen(result).splitlines()
    assert all(line == printable(line) for line in lines)
    assert max(cell_len(line) for line in lines) <= 80
