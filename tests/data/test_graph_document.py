"""graph.json and graph.graphml are read back by networkx as they were."""

from __future__ import annotations

import io
import json
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biasgraph
from biasgraph.data.graph_document import graph_of, to_graphml
from biasgraph.io.json_files import to_json
from tests.answer_tables import librarian_table
from tests.hostile import HOSTILE

NOT_IN_XML = {*map(chr, range(32)), "\ufffe", "\uffff", *map(chr, range(0xD800, 0xE000))}
NOT_IN_XML -= {"\t", "\n"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return biasgraph.analyze(librarian_table(), bootstrap=100).document


def read_back(raw: bytes) -> nx.DiGraph[str]:
    graph = nx.read_graphml(io.BytesIO(raw))
    assert isinstance(graph, nx.DiGraph)
    return graph


def nested(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as they were before GraphML."""
    return {
        name.removesuffix("_json"): json.loads(value) if name.endswith("_json") else value
        for name, value in fields.items()
    }


def in_xml(text: str) -> str:
    return "".join("\ufffd" if character in NOT_IN_XML else character for character in text)


def defined(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: in_xml(value) if isinstance(value, str) else value
        for name, value in fields.items()
        if value is not None
    }


def small(names: list[str], fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema": "biasgraph/1",
        "directed": True,
        "multigraph": False,
        "graph": fields,
        "nodes": [{"id": name, **fields} for name in names],
        "links": [
            {"source": source, "target": target, "weight": 0.5, **fields}
            for source in names
            for target in names
        ],
    }


def test_json_is_read_by_networkx(document: dict[str, Any]) -> None:
    data = json.loads(to_json(document))
    assert data == document
    graph = nx.node_link_graph(data, edges="links")
    assert isinstance(graph, nx.DiGraph)
    assert graph.edges["gender", "clothing"]["weight"] == document["links"][0]["is"]
    assert graph.nodes["age"]["attributes"] == ["young", "middle", "old"]
    assert graph.graph["prompt"] == "a librarian"


def test_making_a_graph_leaves_the_document_alone(document: dict[str, Any]) -> None:
    before = json.dumps(document)
    graph = graph_of(document)
    graph.remove_node("gender")
    to_graphml(document)
    assert json.dumps(document) == before


def test_graphml_holds_the_same_graph(document: dict[str, Any]) -> None:
    graph, back = graph_of(document), read_back(to_graphml(document))
    assert list(back) == list(graph)
    for node, fields in graph.nodes(data=True):
        assert nested(back.nodes[node]) == {"label": node, **defined(fields)}
    assert list(back.edges) == list(graph.edges)
    for source, target, fields in graph.edges(data=True):
        assert nested(back.edges[source, target]) == defined(fields)
    ours = nested({k: v for k, v in back.graph.items() if not k.endswith("_default")})
    assert ours == defined(graph.graph)


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.dictionaries(st.sampled_from(["w1", "is", "flags", "status"]), VALUES)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4, unique_by=in_xml), FIELDS)
@settings(deadline=None)
def test_any_graph_survives_graphml(names: list[str], fields: dict[str, Any]) -> None:
    back = read_back(to_graphml(small(names, fields)))
    assert list(back) == [in_xml(name) for name in names]
    assert back.number_of_edges() == len(names) ** 2
    for name in back:
        assert nested(back.nodes[name]) == {"label": name, **defined(fields)}


def test_hostile_names_survive_graphml() -> None:
    names = list({in_xml(text): text for text in HOSTILE}.values())
    back = read_back(to_graphml(small(names, {})))
    assert list(back) == [in_xml(name) for name in names]


def test_names_that_xml_makes_equal_stay_apart() -> None:
    names = ["a\x01", "a\x02", "a\ufffd (2)"]
    back = read_back(to_graphml(small(names, {})))
    assert len({*back}) == 3
    assert [back.nodes[name]["label"] for name in back] == ["a\ufffd", "a\ufffd", "a\ufffd (2)"]
    assert back.number_of_edges() == 9


def test_whole_and_broken_numbers_get_one_type() -> None:
    data = small(["a", "b"], {})
    data["nodes"][0]["w1"], data["nodes"][1]["w1"] = 0, 0.5
    raw = to_graphml(data).decode()
    assert raw.count('attr.name="w1"') == 1
