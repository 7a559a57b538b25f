"""Every export is read back by another library with the numbers of graph.json."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import os
import re
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

import biasgraph
from biasgraph.data.findings import Finding, MarkedText, MarkedView, MarkedWord
from biasgraph.errors import InputError, MissingExtra
from biasgraph.report.export_formats import DEFAULT, FORMATS
from biasgraph.report.exports import LISTING, export, formats_in
from tests.answer_tables import AXES, librarian_table
from tests.hostile import HOSTILE

DOCS = Path(__file__).parents[2] / "docs" / "files.md"
NAMES = {
    "html": ["report.html"],
    "json": ["graph.json"],
    "graphml": ["graph.graphml"],
    "gexf": ["graph.gexf"],
    "csv": ["pairs.csv", "nodes.csv", "tables.csv"],
    "parquet": ["pairs.parquet", "nodes.parquet", "tables.parquet", "answers.parquet"],
    "pyvis": ["pyvis.html"],
    "dot": ["graph.dot"],
    "mermaid": ["graph.mmd"],
    "svg": ["graph.svg", "matrix.svg"],
    "png": ["graph.png", "matrix.png"],
    "card": ["card.md"],
    "cyclonedx": ["bom.cdx.json"],
    "everyevalever": ["UUID.json", "UUID_samples.jsonl"],
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> biasgraph.Result:
    made = biasgraph.analyze(librarian_table(model="sandbox:stereotyped"), bootstrap=100)
    folder = tmp_path_factory.mktemp("run")
    biasgraph.save(made, folder)
    return biasgraph.load(folder)


def parquet(raw: bytes) -> Any:
    return pyarrow.parquet.read_table(io.BytesIO(raw))


def content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


def test_every_format_writes_its_files(result: biasgraph.Result, tmp_path: Path) -> None:
    assert {*FORMATS} == {*NAMES}
    paths = export(result, list(FORMATS), tmp_path / "all").paths
    expected = [name for names in NAMES.values() for name in names]
    names = [
        re.sub(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID", path.name) for path in paths
    ]
    assert names == [*expected, LISTING]
    again = export(result, list(FORMATS), tmp_path / "again").paths
    assert content(tmp_path / "all") == content(tmp_path / "again"), "deterministic"
    toy = b"describe a toy"
    assert all(
        toy in b" ".join(path.read_bytes().split()) for path in again if path.suffix != ".png"
    )


@pytest.mark.slow(reason="every format again")
def test_shaded_words_are_in_the_way_of_no_format(result: biasgraph.Result, tmp_path: Path) -> None:
    word = MarkedWord(HOSTILE[0], " ", 1.0, 0.5, 1.5, "", "first")
    words = MarkedText([MarkedView("gender", [word, MarkedWord("a", note="stop word")])])
    found = Finding("Words", "About.", [words], {"threshold": 0.5}).to_json()
    document = deepcopy(result.document)
    document["graph"]["findings"]["words"] = document["nodes"][0]["findings"]["words"] = found
    marked = dataclasses.replace(result, document=document)
    export(marked, list(FORMATS), tmp_path)
    graph = json.loads((tmp_path / "graph.json").read_text())
    assert graph["nodes"][0]["findings"]["words"] == found
    nodes = pd.read_csv(tmp_path / "nodes.csv")
    assert nodes["findings.words.threshold"].tolist()[0] == 0.5
    assert not any(name.endswith((".title", ".about", ".show")) for name in nodes.columns)


@pytest.mark.slow(reason="every format again")
def test_of_many_prompts_the_global_graph_is_exported(tmp_path: Path) -> None:
    tables = [librarian_table(prompt=prompt, seed=len(prompt)) for prompt in ("a nurse", "a clerk")]
    made = biasgraph.analyze(pd.concat(tables), bootstrap=100)
    paths = export(made, list(FORMATS), tmp_path).paths
    graph = json.loads((tmp_path / "graph.json").read_bytes())["graph"]
    assert graph["kind"] == "global"
    reports = [path for path in paths if path.name == "report.html"]
    assert len(reports) == 3
    for prompt in graph["prompts"]:
        assert (tmp_path / prompt["directory"] / "report.html").is_file()
    assert b"Bias graph of 2 prompts" in (tmp_path / "graph.svg").read_bytes()
    assert b"p of at most 5e-05, tested within prompts; |IS| of at least 0.03" in b" ".join(
        (tmp_path / "graph.gexf").read_bytes().split()
    )
    pairs = parquet((tmp_path / "pairs.parquet").read_bytes()).to_pandas()
    assert pairs["n_prompts"].tolist() == made.pairs["n_prompts"].tolist()


def test_json_and_csv_are_those_of_the_run(result: biasgraph.Result, tmp_path: Path) -> None:
    export(result, ["json", "csv"], tmp_path / "out")
    assert result.directory is not None
    for name in ("graph.json", "pairs.csv", "nodes.csv", "tables.csv"):
        assert (tmp_path / "out" / name).read_bytes() == (result.directory / name).read_bytes()
    pairs = pd.read_csv(tmp_path / "out" / "pairs.csv").set_index(["source", "target"])
    for link in result.document["links"]:
        assert pairs.loc[(link["source"], link["target"]), "is"] == link["is"]


def test_a_column_of_numbers_that_parquet_has_no_type_for_is_text(
    result: biasgraph.Result,
) -> None:
    document = deepcopy(result.document)
    for node in document["nodes"]:
        node["own"] = 10**30
    files = FORMATS["parquet"].files(dataclasses.replace(result, document=document), 2)
    assert {*parquet(files["nodes.parquet"])["own"].to_pylist()} == {str(10**30)}


def test_parquet_has_a_sign_where_a_text_has_half_a_character(result: biasgraph.Result) -> None:
    document = deepcopy(result.document)
    first = document["nodes"][0]
    first["attributes"][0], first["own"] = "\ud800x", ["\udfff"]
    files = FORMATS["parquet"].files(dataclasses.replace(result, document=document), 2)
    nodes = parquet(files["nodes.parquet"]).to_pylist()
    assert nodes[0]["attributes"] == ["\ufffdx", *first["attributes"][1:]]
    assert json.loads(nodes[0]["own"]) == ["\ufffd"]


@pytest.mark.parametrize("read", [nx.read_graphml, nx.read_gexf])
def test_graphs_have_the_numbers_of_graph_json(result: biasgraph.Result, read: Any) -> None:
    kind = read.__name__.removeprefix("read_")
    back = read(io.BytesIO(FORMATS[kind].files(result, 2)[f"graph.{kind}"]))
    for node in result.document["nodes"]:
        assert back.nodes[node["id"]]["w1"] == node["w1"]
        assert json.loads(back.nodes[node["id"]]["initial_json"]) == node["initial"]
    for link in result.document["links"]:
        drawn = back.edges[link["source"], link["target"]]
        assert (drawn["weight"], drawn["is"], drawn["p"]) == (link["is"], link["is"], link["p"])
        assert (drawn["dof"], drawn["edge"]) == (link["dof"], True)
        assert json.loads(drawn["table_json"]) == link["table"]


def test_parquet_holds_what_graph_json_and_the_frames_hold(result: biasgraph.Result) -> None:
    files = FORMATS["parquet"].files(result, 2)
    pairs = parquet(files["pairs.parquet"]).to_pylist()
    for row, pair in zip(pairs, result.pair_records(), strict=True):
        flags = pair["flags"].split(";") if pair["flags"] else []
        assert row == {**pair, "flags": flags, "toy": result.document["graph"]["toy"]}
    nodes = parquet(files["nodes.parquet"]).to_pylist()
    for row, node in zip(nodes, result.document["nodes"], strict=True):
        for name in ("id", "attributes", "ideal", "w1", "w1_ci", "near_ideal", "flags"):
            assert row[name] == node[name], name
        assert row["initial.counts"] == node["initial"]["counts"]
        assert row["w1_null.q95"] == node["w1_null"]["q95"]
        assert row["distribution_ci"] == node["distribution_ci"]
    counts = parquet(files["tables.parquet"]).to_pandas()
    assert counts["count"].sum() == result.tables["count"].sum()
    assert counts["target"].tolist() == result.tables["target"].tolist()


def test_parquet_types_hang_on_no_data(result: biasgraph.Result) -> None:
    few = biasgraph.analyze(librarian_table(model="sandbox:stereotyped", images=5), bootstrap=100)
    full, empty = (FORMATS["parquet"].files(each, 2) for each in (result, few))
    for name, raw in full.items():
        assert parquet(raw).schema.equals(parquet(empty[name]).schema), name
    schema = parquet(full["nodes.parquet"]).schema
    types = {field.name: str(field.type) for field in schema}
    assert types["initial.counts"] == "list<element: int64>"
    assert types["near_ideal"] == "bool"
    assert types["w1"] == "double"
    assert str(parquet(full["pairs.parquet"]).schema.field("dof").type) == "int64"
    assert "null" not in types.values()
    graph = json.loads(schema.metadata[b"biasgraph"])
    assert graph == result.document["graph"]


def test_exported_answers_can_be_built_from(result: biasgraph.Result, tmp_path: Path) -> None:
    export(result, ["parquet"], tmp_path)
    again = biasgraph.analyze(tmp_path / "answers.parquet", bootstrap=100)
    np.testing.assert_array_equal(again.pairs["is"], result.pairs["is"])


@pytest.mark.slow(reason="every format of four graphs")
@pytest.mark.parametrize("prompt", ["nul\0", "%%{init: {}}%%\n---", "=1+1", "\u202eright"])
def test_hostile_texts_export_and_are_read_back(tmp_path: Path, prompt: str) -> None:
    words = iter(HOSTILE)
    axes = {next(words): [next(words) for _ in names] for names in AXES.values()}
    made = biasgraph.analyze(librarian_table(axes=axes, prompt=prompt, images=20), bootstrap=100)
    export(made, [name for name in FORMATS if name != "png"], tmp_path)
    assert json.loads((tmp_path / "graph.json").read_bytes())["nodes"][0]["id"] in axes
    for read in (nx.read_graphml, nx.read_gexf):
        assert list(read(tmp_path / f"graph.{read.__name__[5:]}")) == [*axes]
    frame = pyarrow.parquet.read_table(tmp_path / "nodes.parquet").to_pandas()
    assert frame["id"].tolist() == [*axes]
    assert frame["attributes"].map(list).tolist() == [*axes.values()]
    counts = pd.read_csv(tmp_path / "tables.csv", keep_default_na=False)
    assert counts["count"].sum() == made.tables["count"].sum()


def test_exports_replace_their_own_files_and_nothing_else(
    result: biasgraph.Result, tmp_path: Path
) -> None:
    export(result, ["dot"], tmp_path)
    (tmp_path / "graph.dot").write_text("old")
    (tmp_path / "notes.txt").write_text("mine")
    export(result, ["dot", "mermaid"], tmp_path)
    assert (tmp_path / "graph.dot").read_bytes().startswith(b"digraph")
    listing = json.loads((tmp_path / LISTING).read_bytes())
    assert listing["files"] == ["graph.dot", "graph.mmd"]
    assert listing["graph"] == result.document["graph"]
    (tmp_path / "graph.gexf").write_text("mine")
    before = content(tmp_path)
    with pytest.raises(InputError, match=r"graph\.gexf already exists and is not an export"):
        export(result, ["dot", "gexf", "json"], tmp_path)
    assert content(tmp_path) == before


def test_a_run_is_never_overwritten(result: biasgraph.Result, tmp_path: Path) -> None:
    other = biasgraph.analyze(librarian_table(seed=1), bootstrap=100)
    biasgraph.save(other, tmp_path)
    before = content(tmp_path)
    with pytest.raises(InputError, match=r"graph\.json already exists"):
        export(result, ["json"], tmp_path)
    assert content(tmp_path) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_in_the_place_of_a_listing_is_left_alone(
    result: biasgraph.Result, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / LISTING)
    with pytest.raises(InputError, match="is not a list of exports"):
        export(result, ["dot"], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [LISTING]


@pytest.mark.parametrize(
    "found", ["[]", "{", '{"schema": "other"}', '{"schema": "biasgraph-export/1"}']
)
def test_a_foreign_listing_is_left_alone(
    result: biasgraph.Result, tmp_path: Path, found: str
) -> None:
    (tmp_path / LISTING).write_text(found)
    with pytest.raises(InputError, match="is not a list of exports"):
        export(result, ["dot"], tmp_path)
    assert content(tmp_path) == {LISTING: found.encode()}


def test_the_exported_page_of_one_prompt_links_to_no_report(tmp_path: Path) -> None:
    both = pd.concat([librarian_table(), librarian_table(prompt="a nurse", seed=1)])
    biasgraph.save(biasgraph.analyze(both, bootstrap=100), tmp_path)
    one = next((tmp_path / "prompts").iterdir())
    assert b"../../report.html" in (one / "report.html").read_bytes()
    [page, _] = export(biasgraph.load(one), ["html"]).paths
    assert b"../../report.html" not in page.read_bytes()


def test_where_exports_go(result: biasgraph.Result, tmp_path: Path) -> None:
    assert result.directory is not None
    [path, _] = export(result, ["dot"]).paths
    assert path == result.directory / "export" / "graph.dot"
    unsaved = biasgraph.analyze(librarian_table(images=20), bootstrap=100)
    with pytest.raises(InputError, match="no directory of its own"):
        export(unsaved, ["dot"])
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is not a directory"):
        export(result, ["dot"], tmp_path / "file")


def test_formats_are_read_from_a_list() -> None:
    assert formats_in(" SVG,png,,svg ") == ["svg", "png"]
    assert {*DEFAULT, "parquet", "everyevalever"} == {*FORMATS}
    for text in ("", " , "):
        with pytest.raises(InputError, match="--to is empty"):
            formats_in(text)
    with pytest.raises(InputError, match=r"unknown format 'grapml'\. Did you mean 'graphml'\?"):
        formats_in("svg,grapml")


def test_without_pyarrow_one_line_says_what_to_install(
    result: biasgraph.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'biasgraph\[parquet\]'"):
        export(result, ["parquet"], tmp_path)
    assert content(tmp_path) == {}


def test_a_format_that_cannot_be_written_keeps_no_other_back(
    result: biasgraph.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = export(result, ["parquet", "dot", "folder"], tmp_path)
    assert [path.name for path in done.paths] == ["graph.dot", LISTING]
    assert {*content(tmp_path)} == {"graph.dot", LISTING}
    assert isinstance(done.refused["parquet"], MissingExtra)
    assert "has no images: it was made from an answers table" in str(done.refused["folder"])
    assert [*done.refused] == ["parquet", "folder"]
    assert json.loads((tmp_path / LISTING).read_bytes())["files"] == ["graph.dot"]


def test_the_documentation_names_every_file_and_key(result: biasgraph.Result) -> None:
    words = DOCS.read_text(encoding="utf-8")
    for name in [LISTING, *(each.split(".")[0] for each in itertools.chain(*NAMES.values()))]:
        assert name in words, name
    for kind in FORMATS:
        assert f"`{kind}`" in words, kind
