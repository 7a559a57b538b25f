"""graph.gexf is read back by networkx as it was, and has the structure of GEXF 1.2."""

from __future__ import annotations

import io
import json
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biasgraph
from biasgraph.data.graph_document import graph_of
from biasgraph.report import style
from biasgraph.report.gexf import to_gexf
from tests.answer_tables import librarian_table
from tests.data.test_graph_document import defined, in_xml, nested
from tests.hostile import HOSTILE
from tests.report.pictured import renamed

NAMESPACE = "{http://www.gexf.net/1.2draft}"
VIZ = "{http://www.gexf.net/1.2draft/viz}"
# From the schema that the format's authors publish: element -> attributes, children.
STRUCTURE: dict[str, tuple[set[str], set[str]]] = {
    "gexf": ({"version"}, {"meta", "graph"}),
    "meta": (set(), {"creator", "description"}),
    "creator": (set(), set()),
    "description": (set(), set()),
    "graph": ({"defaultedgetype", "mode"}, {"attributes", "nodes", "edges"}),
    "attributes": ({"class", "mode"}, {"attribute"}),
    "attribute": ({"id", "title", "type"}, set()),
    "nodes": (set(), {"node"}),
    "node": ({"id", "label"}, {"attvalues", "color", "size", "position"}),
    "edges": (set(), {"edge"}),
    "edge": (
        {"id", "source", "target", "label", "weight"},
        {"attvalues", "color", "thickness", "shape"},
    ),
    "attvalues": (set(), {"attvalue"}),
    "attvalue": ({"for", "value"}, set()),
    "color": ({"r", "g", "b", "a"}, set()),
    "size": ({"value"}, set()),
    "position": ({"x", "y", "z"}, set()),
    "thickness": ({"value"}, set()),
    "shape": ({"value"}, set()),
}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return biasgraph.analyze(librarian_table(model="sandbox:stereotyped"), bootstrap=100).document


def read_back(raw: bytes) -> nx.DiGraph[str]:
    graph = nx.read_gexf(io.BytesIO(raw))
    assert isinstance(graph, nx.DiGraph)
    return graph


def local(element: ElementTree.Element) -> str:
    return element.tag.removeprefix(NAMESPACE).removeprefix(VIZ)


def check_structure(raw: bytes) -> None:
    titles = {}
    for element in ElementTree.fromstring(raw).iter():  # noqa: S314
        attributes, children = STRUCTURE[local(element)]
        assert {name for name in element.attrib if not name.startswith("{")} <= attributes
        assert {local(child) for child in element} <= children
        if local(element) == "attributes":
            titles[element.get("class")] = [child.get("title") for child in element]
        if local(element) == "color":
            assert all(0 <= int(element.attrib[channel]) <= 255 for channel in "rgb")
        if local(element) == "shape":
            assert element.get("value") in {"solid", "dotted", "dashed", "double"}
    for each in titles.values():
        assert len({*each}) == len(each), "every field is declared once, with one type"


def test_gexf_holds_the_same_graph(document: dict[str, Any]) -> None:
    raw = to_gexf(document)
    check_structure(raw)
    graph, back = graph_of(document), read_back(raw)
    assert list(back) == list(graph)
    for node, fields in graph.nodes(data=True):
        ours = {k: v for k, v in back.nodes[node].items() if k != "viz"}
        assert nested(ours) == {"label": node, **defined(fields)}
        for name, value in fields.items():
            if isinstance(value, bool | int | float):
                assert type(ours[name]) is type(value), name
    assert list(back.edges) == list(graph.edges)
    for source, target, fields in graph.edges(data=True):
        ours = {k: v for k, v in back.edges[source, target].items() if k not in ("viz", "id")}
        assert nested(ours) == {"label": style.show_sign(fields["is"]), **defined(fields)}


def test_gexf_says_what_it_shows_and_that_it_is_a_toy(document: dict[str, Any]) -> None:
    root = ElementTree.fromstring(to_gexf(document))  # noqa: S314
    description = root.findtext(f"{NAMESPACE}meta/{NAMESPACE}description")
    assert description is not None
    assert style.caption(document) in description
    assert document["graph"]["toy"] in description
    first = read_back(to_gexf(document)).nodes["gender"]["viz"]
    assert (first["position"]["x"], first["position"]["y"]) == (0, 300)


def test_a_field_of_several_types_gets_one(document: dict[str, Any]) -> None:
    mixed = renamed(document, ["a", "b", "c"])
    for node, odd, number in zip(mixed["nodes"], [1, "x", True], [1, 0.5, 2], strict=True):
        node["odd"], node["number"] = odd, number
    mixed["nodes"][0]["w1"] = 0
    raw = to_gexf(mixed)
    check_structure(raw)
    back = read_back(raw)
    assert [back.nodes[name]["odd"] for name in "abc"] == ["1", "x", "True"]
    assert [back.nodes[name]["number"] for name in "abc"] == [1.0, 0.5, 2.0]


def test_every_edge_has_its_own_look(document: dict[str, Any]) -> None:
    pictured = renamed(document, ["a", "b", "c", "d", "e"])
    root = ElementTree.fromstring(to_gexf(pictured))  # noqa: S314
    drawn = {
        (edge.get("source"), edge.get("target")): edge for edge in root.iter(f"{NAMESPACE}edge")
    }
    assert len(drawn) == len(pictured["links"])
    for link in pictured["links"]:
        edge = drawn[link["source"], link["target"]]
        [colour], [shape] = edge.iter(f"{VIZ}color"), edge.iter(f"{VIZ}shape")
        expected = style.channels(style.sign_style(link).colour)
        assert tuple(int(colour.attrib[channel]) for channel in "rgb") == expected
        assert shape.get("value") == style.dash(link)
        assert float(edge.attrib["weight"]) == link["is"]


def test_making_gexf_leaves_the_document_alone(document: dict[str, Any]) -> None:
    before = json.dumps(document)
    assert to_gexf(document) == to_gexf(document)
    assert json.dumps(document) == before


def check_names(document: dict[str, Any], names: list[str]) -> None:
    raw = to_gexf(renamed(document, names))
    check_structure(raw)
    back = read_back(raw)
    assert list(back) == [in_xml(name) for name in names]
    assert [back.nodes[name]["label"] for name in back] == [in_xml(name) for name in names]


def test_hostile_names_survive_gexf(document: dict[str, Any]) -> None:
    check_names(document, list({in_xml(text): text for text in HOSTILE}.values()))


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5, unique_by=in_xml))
@settings(deadline=None, max_examples=40)
def test_any_names_survive_gexf(document: dict[str, Any], names: list[str]) -> None:
    check_names(document, names)
