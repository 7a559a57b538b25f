"""A result that somebody edited is refused in a line that names the file and the field."""

from __future__ import annotations

import copy
import json
import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from biasgraph.commands import main
from biasgraph.data.result import load
from biasgraph.errors import InputError
from biasgraph.io.writing import write_files
from biasgraph.report.export_formats import FORMATS
from biasgraph.report.page import report_files
from tests.answer_tables import librarian_table

Document = dict[str, Any]


def files_of(table: pd.DataFrame, folder: Path) -> dict[str, bytes]:
    """The files of a build from a table, beside it."""
    table.to_csv(folder / "answers.csv", index=False)
    arguments = ["--bootstrap", "100", "--annotate", "openbias", "--quiet", "-o"]
    assert main(["build", "--answers", f"{folder}/answers.csv", *arguments, f"{folder}/run"]) == 0
    run = folder / "run"
    paths = [path for path in run.rglob("*") if path.is_file()]
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a small result."""
    return files_of(librarian_table(images=40), tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def of_prompts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Those of a small result of two prompts."""
    prompts = ("a nurse", "a clerk")
    tables = [librarian_table(images=40, prompt=prompt, seed=len(prompt)) for prompt in prompts]
    return files_of(pd.concat(tables), tmp_path_factory.mktemp("of_prompts"))


@pytest.fixture
def run(made: dict[str, bytes], tmp_path: Path) -> Path:
    write_files(tmp_path, made)
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
        (without("links", 0, "share_after_ci_high"), r"links\.0: .*lacks share_after_ci_high$"),
        (put("links", 0, "share_before", None), r"links\.0: .*moved needs its shares"),
        (put("links", 0, "is_corrected", 0.1), r"links\.0: .*lacks .*_low, is_corrected_ci_high$"),
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


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (without("nodes", 0, "w1_mean_prompt"), r"nodes\.0: .*it lacks w1_mean_prompt$"),
        (without("nodes", 0, "w1_mean_prompt_null"), r"nodes\.0: .*it lacks w1_mean_prompt_null$"),
        (without("nodes", 0, "prompts_test"), r"nodes\.0: .*it lacks prompts_test$"),
        (put("nodes", 0, "w1_mean_prompt_null", "q95", None), r"nodes\.0: .*needs w1_mean_prompt"),
        (put("nodes", 0, "out_strength", -1), r"nodes\.0\.out_strength"),
        (without("links", 0, "is_mean_prompt"), r"links\.0: .*it lacks is_mean_prompt$"),
        (
            put("nodes", 0, "attributes", 0, "\ud800"),
            r"attributes\.0: .*half a character",
        ),
    ],
)
def test_what_nodes_say_of_prompts_belongs_together(
    of_prompts: dict[str, bytes], tmp_path: Path, change: Callable[[Document], object], field: str
) -> None:
    write_files(tmp_path, of_prompts)
    edited(tmp_path, change)
    with pytest.raises(InputError, match=rf"graph\.json is damaged: .*{field}"):
        load(tmp_path)


ODD: list[Any] = [
    None, True, [], {}, "x", 1.5, -1, 10**30, [None], {"a": 1}, ["x"], "\ud800", 0, [[1]], 1e308
]  # fmt: skip


def places(value: Any, *path: Any) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Where the values in a document are: of the parts of a list, the first that has a field."""
    found = {tuple("#" if isinstance(step, int) else step for step in path): path}
    parts = dict(enumerate(value)) if isinstance(value, list) else value
    for step, part in parts.items() if isinstance(parts, dict) else ():
        found = places(part, *path, step) | found
    return found


@pytest.mark.slow(reason="reads a thousand broken graphs")
@pytest.mark.parametrize("name", ["made", "of_prompts"])
def test_any_value_that_is_missing_or_odd_is_refused_or_read(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """No reader of a graph ends in a traceback, whatever field is changed."""
    write_files(tmp_path, request.getfixturevalue(name))
    read_everything(tmp_path)
    sound = (tmp_path / "graph.json").read_bytes()
    rng, counts = random.Random(1), Counter[str]()
    for path in [path for path in places(json.loads(sound)).values() if path]:
        for change in [without(*path), *(put(*path, value) for value in rng.sample(ODD, 2))]:
            (tmp_path / "graph.json").write_bytes(sound)
            edited(tmp_path, change)
            try:
                read_everything(tmp_path)
                counts["read"] += 1
            except InputError as error:
                assert "\x1b" not in str(error)
                counts["refused"] += 1
    print(dict(counts))
    assert min(counts["read"], counts["refused"]) > 100


def read_everything(folder: Path) -> None:
    result = load(folder)
    assert repr(result) and result._repr_html_()
    for frame in (result.nodes, result.edges, result.findings, result.by_prompt, result.graph):
        assert len(frame) >= 0
    assert list(report_files(result, images=False))
    for name in {*FORMATS} - {"html", "pyvis", "png", "svg"}:
        assert [*FORMATS[name].files(result, 2)]


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
