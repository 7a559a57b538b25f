"""A result that somebody edited is refused in a line that names the file and the field."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from biasgraph.commands import main
from biasgraph.data.result import load
from biasgraph.errors import InputError
from tests.answer_tables import librarian_table

Document = dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a small result."""
    folder = tmp_path_factory.mktemp("made")
    librarian_table(images=40).to_csv(folder / "librarian.csv", index=False)
    arguments = [
        "--bootstrap",
        "100",
        "--annotate",
        "openbias",
        "--quiet",
        "-o",
        str(folder / "run"),
    ]
    assert main(["build", "--answers", str(folder / "librarian.csv"), *arguments]) == 0
    return {path.name: path.read_bytes() for path in (folder / "run").iterdir() if path.is_file()}


@pytest.fixture
def run(made: dict[str, bytes], tmp_path: Path) -> Path:
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def edited(run: Path, change: Callable[[Document], object]) -> None:
    path = run / "graph.json"
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document))


def put(*place: Any) -> Callable[[Document], object]:
    """Puts the last of these where the others lead."""

    def change(document: Any) -> None:
        *path, key, value = place
        for step in path:
            document = document[step]
        document[key] = value

    return change


def without(*place: Any) -> Callable[[Document], object]:
    def change(document: Any) -> None:
        *path, key = place
        for step in path:
            document = document[step]
        del document[key]

    return change


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (put("nodes", []), "nodes"),
        (put("nodes", 0, "id", 7), r"nodes\.0\.id"),
        (put("nodes", 0, "w1", "0.5"), r"nodes\.0\.w1"),
        (put("nodes", 0, "ideal", [1.0]), r"nodes\.0: .*do not fit its attributes"),
        (put("nodes", 0, "initial", "counts", [10**20]), r"nodes\.0\.initial"),
        (put("nodes", 0, "w1_ci", [0.1]), r"nodes\.0\.w1_ci"),
        (put("nodes", 0, "w1_ci", [0.1, 2**64]), r"nodes\.0\.w1_ci.*too large"),
        (put("nodes", 0, "out_strength", 2**53 + 1), r"nodes\.0\.out_strength: .*too large"),
        (
            put("nodes", 0, "distribution_ci", [[0.1, 0.2]]),
            r"nodes\.0: .*do not fit its attributes",
        ),
        (put("nodes", 0, "distribution_bounds", []), r"nodes\.0: .*do not fit its attributes"),
        (put("nodes", 0, "reference", [1]), r"nodes\.0: .*do not fit its attributes"),
        (put("nodes", 0, "cost", [[0.0], [0.0]]), r"nodes\.0: .*do not fit its attributes"),
        (put("nodes", 0, "flags", {}), r"nodes\.0\.flags"),
        (without("nodes", 0, "diagonal"), r"nodes\.0\.diagonal"),
        (put("nodes", 0, "findings", "openbias", "show", 0, "kind", "x"), r"findings\.openbias"),
        (put("nodes", 0, "findings", "openbias", "show", 0, "kind", {}), r"findings\.openbias"),
        (without("nodes", 0, "findings", "openbias", "title"), r"findings\.openbias\.title"),
        (put("links", 0, "source", "nobody"), "leads to no node"),
        (put("links", 0, "table", [[1]]), r"links\.0: .*does not fit its rows"),
        (put("links", 0, "is", None), r"links\.0\.is"),
        (put("graph", "toy", 3), r"graph\.toy"),
        (put("graph", "prompt", None), r"graph: .*one prompt or several"),
        (put("graph", "settings", "alpha", 7), r"graph\.settings: .*alpha"),
        (put("graph", "settings", "unheard", 7), r"graph\.settings: .*unheard"),
        (put("graph", "settings", "x\ud800", 7), "half a character"),
        (put("graph", "settings", 1.5), r"graph\.settings: .*not an object"),
        (put("graph", "settings", "bootstrap", 10**12), r"graph\.settings: .*resamples"),
        (without("graph", "settings", "bootstrap"), r"graph\.settings: .*lacks bootstrap"),
        (without("graph", "settings", "mix"), r"graph\.settings: .*lacks mix"),
        (put("graph", "settings", "looks", True), r"graph\.settings"),
        (put("graph", "settings", "looks", [2, 1]), r"graph\.settings: .*looks"),
        (put("graph", "settings", "looks", ["x"]), r"graph\.settings"),
        (put("graph", "settings", "decide", 3), r"graph\.settings: .*decide"),
        (put("graph", "amplification", "noise_floor", {}), r"graph\.amplification\.noise_floor"),
        (put("graph", "versions", []), r"graph\.versions"),
        (put("graph", "agreement", {"axes": 1}), r"graph\.agreement\.toy"),
    ],
)
def test_a_field_that_does_not_fit_is_named(
    run: Path, change: Callable[[Document], object], field: str
) -> None:
    edited(run, change)
    with pytest.raises(InputError, match=rf"graph\.json is damaged: .*{field}") as refused:
        load(run)
    assert "\n" not in str(refused.value)


MARKED = {
    "kind": "marked_text", "caption": "",
    "views": [{"label": "gender", "note": "", "words": [
        {"text": "a", "after": " ", "value": None, "low": None, "high": None,
         "note": "stop word", "mark": ""},
        {"text": "librarian", "after": "", "value": 1.0, "low": 0.5, "high": 1.5,
         "note": "", "mark": "first"},
    ]}],
}  # fmt: skip


def test_a_prompt_with_shaded_words_is_read_back(run: Path) -> None:
    edited(run, put("nodes", 0, "findings", "openbias", "show", 0, MARKED))
    assert load(run).document["nodes"][0]["findings"]["openbias"]["show"][0] == MARKED


@pytest.mark.parametrize(
    ("field", "value"),
    [("value", 2.0), ("value", None), ("mark", "second"), ("text", 7), ("high", 0.25)],
)
def test_a_shaded_word_that_makes_no_sense_is_refused(run: Path, field: str, value: object) -> None:
    damaged = copy.deepcopy(MARKED)
    put("views", 0, "words", 1, field, value)(damaged)
    edited(run, put("nodes", 0, "findings", "openbias", "show", 0, damaged))
    with pytest.raises(InputError, match=r"graph\.json is damaged: .*findings\.openbias"):
        load(run)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_not_finite_are_refused(run: Path, number: str) -> None:
    edited(run, put("graph", "versions", {"python": 12345.5}))
    path = run / "graph.json"
    path.write_text(path.read_text().replace("12345.5", number))
    with pytest.raises(InputError, match="is damaged"):
        load(run)


@pytest.mark.parametrize(
    ("name", "column", "cell"),
    [
        ("pairs.csv", "p", "often"),
        ("pairs.csv", "is", "inf"),
        ("pairs.csv", "dof", "1e400"),
        ("pairs.csv", "dof", "2.5"),
        ("pairs.csv", "dof", "1e300"),
        ("tables.csv", "count", "-1"),
        ("tables.csv", "count", "1e300"),
        ("tables.csv", "count", "many"),
    ],
)
def test_a_cell_that_is_no_sound_number_is_refused(
    run: Path, name: str, column: str, cell: str
) -> None:
    path = run / name
    heading, first, *rest = path.read_text().splitlines()
    cells = first.split(",")
    cells[heading.split(",").index(column)] = cell
    path.write_text("\n".join([heading, ",".join(cells), *rest, ""]))
    with pytest.raises(InputError, match=f"{name} is damaged"):
        load(run)


def test_a_column_that_screens_need_is_missed(run: Path) -> None:
    path = run / "pairs.csv"
    path.write_text(path.read_text().replace("detectable_v_80", "other", 1))
    with pytest.raises(InputError, match=r"pairs\.csv is damaged: columns are missing"):
        load(run)


@pytest.mark.parametrize(
    "change", [lambda rows: rows[:-1], lambda rows: [*rows, rows[0]], lambda rows: rows[1:2] * 9]
)
def test_a_pair_that_is_missing_or_there_twice_is_refused(
    run: Path, change: Callable[[list[str]], list[str]]
) -> None:
    path = run / "pairs.csv"
    heading, *rows = path.read_text().splitlines()
    assert len(rows) == 9
    path.write_text("\n".join([heading, *change(rows), ""]))
    with pytest.raises(InputError, match=r"pairs\.csv is damaged: .*one row for each pair"):
        load(run)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_in_a_files_place_is_not_waited_for(run: Path) -> None:
    (run / "graph.json").unlink()
    os.mkfifo(run / "graph.json")
    with pytest.raises(InputError, match=r"cannot read .*graph\.json"):
        load(run)
