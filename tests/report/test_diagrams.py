"""graph.dot is read back by pydot and drawn by Graphviz; graph.mmd holds no syntax in its names."""

from __future__ import annotations

import re
import shutil
import subprocess
import warnings
from typing import Any
from xml.etree import ElementTree

import pydot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biasgraph
from biasgraph.report import style
from biasgraph.report.diagrams import to_dot, to_mermaid
from tests.answer_tables import librarian_table
from tests.hostile import HOSTILE
from tests.report.pictured import renamed

SVG = "{http://www.w3.org/2000/svg}"
CODE = re.compile(r"#(\d+);")
NODE = re.compile(r'  (n\d+)\(\["([\w .#;]*)"\]\)')
EDGE = re.compile(r'  (n\d+) -->\|"([\w .#;]*)"\| (n\d+)')
STYLE = re.compile(r"  (style n\d+ fill:#[0-9a-f]{6},[\w:#,]+|linkStyle \d+ [\w:#,. -]+)")
COMMENT = re.compile(r"  %% [^%{}]*")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return biasgraph.analyze(librarian_table(model="sandbox:stereotyped"), bootstrap=100).document


def read_dot(raw: bytes) -> pydot.Dot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # pydot asks pyparsing in an old way
        graphs = pydot.graph_from_dot_data(raw.decode())
    assert graphs is not None
    [graph] = graphs
    return graph


def text(quoted: str) -> str:
    """What Graphviz shows for a quoted label."""
    inner = re.sub(r"\\(.)", lambda found: found[1].replace("n", "\n"), quoted[1:-1])
    return inner.replace("&amp;", "&")


def numbers(attributes: dict[str, str], names: tuple[str, ...]) -> dict[str, float]:
    return {name: float(text(attributes[name])) for name in names if name in attributes}


def check_dot(document: dict[str, Any]) -> None:
    graph = read_dot(to_dot(document))
    nodes = {node.get_name(): node.get_attributes() for node in graph.get_nodes()}
    ids = {}
    for number, node in enumerate(document["nodes"]):
        ids[node["id"]] = f"n{number}"
        drawn = nodes[f"n{number}"]
        assert text(drawn["label"]) == style.clip(node["id"])
        expected = {name: node[name] for name in ("w1", "out_strength") if node[name] is not None}
        assert numbers(drawn, ("w1", "out_strength")) == expected
    edges = graph.get_edges()
    assert len(edges) == len(document["links"])
    for edge, link in zip(edges, document["links"], strict=True):
        assert (edge.get_source(), edge.get_destination()) == (
            ids[link["source"]],
            ids[link["target"]],
        )
        names = ("is", "is_ci_low", "is_ci_high", "p", "cramers_v")
        drawn = edge.get_attributes()
        assert numbers(drawn, names) == {name: link[name] for name in names}
        assert text(drawn["label"]) == f"{link['is']:+.3f}"
        assert text(drawn["style"]) == style.dash(link)


def test_dot_holds_the_same_graph(document: dict[str, Any]) -> None:
    check_dot(document)
    raw = to_dot(document).decode().replace("\\n", " ")
    assert document["graph"]["toy"] in raw
    assert "48 initial, 336 counterfactual" in raw


@pytest.mark.slow(reason="Graphviz reads a graph for every payload")
def test_dot_survives_hostile_names(document: dict[str, Any]) -> None:
    check_dot(renamed(document, HOSTILE))


@pytest.mark.slow(reason="starts Graphviz for every example; that of hostile names stays")
@given(st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True))
@settings(deadline=None, max_examples=40)
def test_dot_survives_any_names(document: dict[str, Any], names: list[str]) -> None:
    check_dot(renamed(document, names))


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz: apt install graphviz")
def test_graphviz_draws_every_name_as_it_is(document: dict[str, Any]) -> None:
    names = [name for name in HOSTILE if style.clip(name).isprintable()]
    drawn = subprocess.run(
        ["dot", "-Tsvg"], input=to_dot(renamed(document, names)), capture_output=True, timeout=60
    )
    assert drawn.returncode == 0
    assert b"rror" not in drawn.stderr
    root = ElementTree.fromstring(drawn.stdout)  # noqa: S314
    shown = {
        group.findtext(f"{SVG}title"): "".join(each.text or "" for each in group.iter(f"{SVG}text"))
        for group in root.iter(f"{SVG}g")
        if group.get("class") == "node"
    }
    for number, name in enumerate(names):
        assert shown[f"n{number}"].replace("\xa0", " ") == style.clip(name).replace("\xa0", " ")


def decoded(label: str) -> str:
    return CODE.sub(lambda found: chr(int(found[1])), label)


def check_mermaid(document: dict[str, Any]) -> None:
    first, title, last, kind, *lines = to_mermaid(document).decode().removesuffix("\n").split("\n")
    assert (first, last, kind) == ("---", "---", "flowchart LR")
    assert re.fullmatch(r'title: "(?:[^"\\]|\\.)*"', title)
    labels, edges = [], []
    for line in lines:
        node, edge = NODE.fullmatch(line), EDGE.fullmatch(line)
        if node:
            assert node[1] == f"n{len(labels)}"
            labels.append(decoded(node[2]))
        elif edge:
            edges.append((edge[1], edge[3], decoded(edge[2])))
        else:
            assert STYLE.fullmatch(line) or COMMENT.fullmatch(line), line
    ids = {node["id"]: f"n{number}" for number, node in enumerate(document["nodes"])}
    assert labels == [style.clip(node["id"]) for node in document["nodes"]]
    assert edges == [
        (ids[link["source"]], ids[link["target"]], f"{link['is']:+.3f}")
        for link in document["links"]
    ]


def test_mermaid_holds_the_same_graph(document: dict[str, Any]) -> None:
    check_mermaid(document)
    assert document["graph"]["toy"] in to_mermaid(document).decode().split("\n")[1]


def test_mermaid_survives_hostile_names(document: dict[str, Any]) -> None:
    check_mermaid(renamed(document, HOSTILE))
    check_mermaid(renamed(document, ['%%{init: {"theme": "x"}}%%\n---\nclick n0 "x"', "end"]))


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True))
@settings(deadline=None, max_examples=40)
def test_mermaid_survives_any_names(document: dict[str, Any], names: list[str]) -> None:
    check_mermaid(renamed(document, names))
