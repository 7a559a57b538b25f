"""From an answers table to a saved result."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from biasgraph.audits.build import build
from biasgraph.audits.build_options import BuildOptions
from biasgraph.data.result import Result, load
from biasgraph.errors import InputError, ModelError
from tests.answer_tables import librarian_table, with_controls
from tests.hostile import HOSTILE, UNWRITABLE

FILES = {
    "answers.csv", "tables.csv", "pairs.csv", "nodes.csv", "graph.json", "graph.graphml",
    "report.html",
}  # fmt: skip


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "librarian.csv"
    librarian_table(images=20).to_csv(path, index=False)
    return path


def run(table: Path, output: Path, **options: Any) -> Result:
    return build(BuildOptions(answers=table, output=output, bootstrap=100, **options))


def test_a_table_becomes_a_directory(table: Path, tmp_path: Path) -> None:
    result = run(table, tmp_path / "out")
    assert result.directory == tmp_path / "out"
    assert {path.name for path in result.directory.iterdir()} == FILES
    graph = result.document["graph"]
    assert graph["prompt"] == "a librarian"
    assert graph["model"] == "shop:v1"
    assert graph["subject"] is graph["vqa"] is graph["axes"] is graph["toy"] is None
    assert graph["ideal"] == {"source": "uniform", "axes": []}
    assert graph["settings"]["bootstrap"] == 100
    assert "numpy" in graph["versions"]
    assert graph["notes"] == []


def test_a_table_with_controls_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    with_controls(librarian_table(images=20)).to_csv(path, index=False)
    one = run(path, tmp_path / "one")
    again = run(tmp_path / "one" / "answers.csv", tmp_path / "again")
    assert again.files() == one.files() == load(tmp_path / "one").files()
    assert {*one.answers["role"]} == {"initial", "counterfactual", "control"}


def test_the_same_table_gives_the_same_files(table: Path, tmp_path: Path) -> None:
    one, other = run(table, tmp_path / "one"), run(table, tmp_path / "other")
    assert one.files() == other.files()
    again = run(tmp_path / "one" / "answers.csv", tmp_path / "again")
    assert again.files() == one.files()


def test_a_table_of_peoples_answers_says_so_everywhere(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    pd.read_csv(table, dtype=str).assign(judge="human:crowd").to_csv(path, index=False)
    result = run(path, tmp_path / "out")
    graph = result.document["graph"]
    assert (graph["vqa"], graph["people"], graph["annotators"]) == ("human:crowd", True, None)
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "labels of people: crowd" in page and "labels that people gave to pictures" in page
    assert "has not been validated" not in page and "the judge, a model" not in page
    again = run(tmp_path / "out" / "answers.csv", tmp_path / "again")
    assert again.files() == result.files()
    assert run(table, tmp_path / "unsaid").document["graph"]["people"] is False


def test_a_second_build_writes_the_new_result(table: Path, tmp_path: Path) -> None:
    run(table, tmp_path / "out")
    run(table, tmp_path / "out", alpha=0.05)
    assert load(tmp_path / "out").document["graph"]["settings"]["alpha"] == 0.05


def test_the_directory_by_default(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    build(BuildOptions(answers=table, bootstrap=100))
    assert {path.name for path in (tmp_path / "outputs" / "librarian").iterdir()} == FILES


def test_a_frame_without_output_is_not_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = build(BuildOptions(answers=librarian_table(images=3), bootstrap=100))
    assert result.directory is None
    assert list(tmp_path.iterdir()) == []


def test_shipped_axes_and_some_of_them(table: Path, tmp_path: Path) -> None:
    frame = librarian_table(images=3, axes={"gender": ("male", "female")})
    frame.to_csv(table, index=False)
    result = run(table, tmp_path / "out", axes="occupation", only=("gender",))
    assert [node["id"] for node in result.document["nodes"]] == ["gender"]
    assert result.document["graph"]["axes"]["name"] == "occupation"
    assert len(result.document["graph"]["axes"]["digest"]) == 64


def test_only_some_axes_are_saved(table: Path, tmp_path: Path) -> None:
    result = run(table, tmp_path / "out", only=("age", "gender"))
    assert [node["id"] for node in result.document["nodes"]] == ["gender", "age"]
    assert {*load(tmp_path / "out").answers["target"]} == {"gender", "age"}


def test_an_ideal_file(table: Path, tmp_path: Path) -> None:
    ideal = tmp_path / "ideal.yaml"
    ideal.write_text("gender: {male: 0.25, female: 0.75}\n")
    result = run(table, tmp_path / "out", ideal=ideal)
    assert result.graph.nodes["gender"]["ideal"] == [0.25, 0.75]
    assert result.document["graph"]["ideal"] == {"source": "ideal.yaml", "axes": ["gender"]}


def test_an_ideal_for_unknown_answers(table: Path, tmp_path: Path) -> None:
    ideal = tmp_path / "ideal.yaml"
    ideal.write_text("gender: {male: 0.5, female: 0.4, unknown: 0.1}\n")
    result = run(table, tmp_path / "out", ideal=ideal, unknown="class", only=("gender",))
    assert result.graph.nodes["gender"]["attributes"] == ["male", "female", "unknown"]
    with pytest.raises(InputError, match=r"line 1: .*unknown attribute: unknown"):
        run(table, tmp_path / "out", ideal=ideal)


def test_bad_input_leaves_nothing_behind(table: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        run(table, tmp_path / "out", axes="occupation")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mine.txt", "already exists and is not the result of an answers table"),
        ("run.json", "already exists and is not the result of an answers table"),
    ],
)
def test_a_directory_of_somebody_else(table: Path, tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("{}")
    with pytest.raises(InputError, match=message):
        run(table, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [name]


def test_the_table_itself_is_never_overwritten(table: Path) -> None:
    with pytest.raises(InputError, match="choose another -o"):
        run(table, table.parent)
    with pytest.raises(InputError, match=r"csv already exists and is not the result"):
        run(table, table)


def test_an_output_that_cannot_be_written(table: Path) -> None:
    with pytest.raises(ModelError, match="cannot write to"):
        run(table, table / "below")


def test_a_result_is_loaded_as_it_was_saved(table: Path, tmp_path: Path) -> None:
    result = run(table, tmp_path / "out")
    back = load(tmp_path / "out")
    assert back.document == result.document
    for one, other in ((back.pairs, result.pairs), (back.tables, result.tables)):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
    pd.testing.assert_frame_equal(back.nodes, result.nodes, check_exact=True)
    pd.testing.assert_frame_equal(back.answers.astype(object), result.answers.astype(object))
    assert back.pair_records() == result.pair_records()
    assert back.files() == result.files()


def test_hostile_names_go_through_every_file(tmp_path: Path) -> None:
    texts = [text for text in HOSTILE if text not in UNWRITABLE and not text.startswith(".")]
    axes = {texts[0]: texts[::2], texts[1]: texts[1::2]}
    frame = librarian_table(images=1, axes=axes, prompt=texts[2], model=texts[3])
    output = tmp_path / texts[4].replace("/", "")
    result = build(BuildOptions(answers=frame, output=output, bootstrap=100))
    assert result.directory is not None
    assert [node["attributes"] for node in result.document["nodes"]] == [*axes.values()]
    back = load(result.directory)
    assert back.document == result.document
    assert back.files() == result.files()
    assert {*back.tables["answer"]} == {*texts, "unknown", "gated"}
    for name in ("tables.csv", "answers.csv", "pairs.csv", "nodes.csv"):
        text = result.files()[name].decode()
        cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
        assert not [cell for cell in cells if cell[:1] in ("=", "+", "@", "\t", "\r", "\n")], name


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("graph.json", None, "holds no result"),
        ("graph.json", "{", "is damaged: it is not JSON"),
        ("graph.json", "[" * 100_000, "is damaged: it is not JSON"),
        ("graph.json", "[]", "is not a biasgraph graph"),
        ("graph.json", '{"schema": "other/1"}', "is not a biasgraph graph"),
        ("graph.json", '{"schema": "biasgraph/2"}', "schema version 2; .* install a newer one"),
        ("pairs.csv", None, "cannot read .*pairs.csv"),
        ("pairs.csv", "a,b\n1,2\n", "pairs.csv is damaged: columns are missing"),
        ("pairs.csv", "source,target,metric\na,b,nominal\n", "pairs.csv is damaged: columns are"),
        ("tables.csv", "prompt,axis,attribute,target,answer,count\na,b,c,d,e,2x\n", "is damaged"),
        ("tables.csv", "prompt\nx\n", "tables.csv is damaged: columns are missing"),
        ("answers.csv", "", "answers.csv is empty"),
    ],
)
def test_a_damaged_result(
    table: Path, tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    run(table, tmp_path / "out")
    (tmp_path / "out" / name).unlink()
    if content is not None:
        (tmp_path / "out" / name).write_text(content)
    with pytest.raises(InputError, match=message):
        load(tmp_path / "out")


def test_an_unfinished_run(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(InputError, match="is unfinished: rerun its build command to resume"):
        load(tmp_path)


def test_a_run_of_another_command(tmp_path: Path) -> None:
    for name in ("run.json", "words.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match="has no graph: it holds what `biasgraph words` wrote"):
        load(tmp_path)


def test_no_such_result(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere does not exist"):
        load(tmp_path / "nowhere")


def test_json_without_surprises(table: Path, tmp_path: Path) -> None:
    result = run(table, tmp_path / "out")
    assert result.directory is not None

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    text = (result.directory / "graph.json").read_text(encoding="utf-8")
    assert json.loads(text, parse_constant=refuse)["schema"] == "biasgraph/1"
