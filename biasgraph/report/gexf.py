"""graph.gexf, for Gephi: the graph with its fields, and with the look and places of a figure."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from biasgraph.data.graph_document import Document, Scalar, flatten, graph_of, xml_text
from biasgraph.io.version import __version__
from biasgraph.report import style
from biasgraph.report.circle_layout import positions


def to_gexf(document: Document) -> bytes:
    """GEXF 1.2; nested values are JSON texts as in GraphML, `weight` is IS.

    GEXF has no fields of the graph itself: what was audited stands in words in its description.
    """
    from networkx.readwrite.gexf import GEXFWriter

    graph = flatten(document)
    _unite_types([fields for _, fields in graph.nodes(data=True)])
    _unite_types([fields for _, _, fields in graph.edges(data=True)])
    exact = graph_of(document)
    places = positions(list(exact))
    for name, axis in zip(graph, exact, strict=True):
        graph.nodes[name]["viz"] = _node_look(exact.nodes[axis], places[axis])
    for ends, exact_ends in zip(graph.edges, exact.edges, strict=True):
        link = exact.edges[exact_ends]
        graph.edges[ends].update(label=style.show_sign(link["is"]), viz=_edge_look(link))
    graph.graph.clear()  # `name` and `mode` among them would become attributes of the XML
    writer = GEXFWriter(graph, prettyprint=True, version="1.2draft")
    _describe(writer.xml, document)
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def _unite_types(records: Sequence[dict[str, Scalar]]) -> None:
    """One type for each field: GEXF declares it once, and networkx takes it from the first."""
    for name in {name for fields in records for name in fields}:
        types = {type(fields[name]) for fields in records if name in fields}
        if len(types) > 1:
            common = float if types == {int, float} else str
            for fields in records:
                if name in fields:
                    fields[name] = common(fields[name])


def _node_look(node: Mapping[str, Any], place: tuple[float, float]) -> dict[str, Any]:
    x, y = place
    size = 10 + 20 * math.sqrt(node["out_strength"] or 0)
    return {
        "color": _channels(style.fill(node["w1"])),
        "size": round(size, 3),
        "position": {"x": round(300 * x, 3), "y": round(300 * y, 3), "z": 0.0},
    }


def _edge_look(link: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "color": _channels(style.sign_style(link).colour),
        "thickness": round(style.width(link["is"]), 3),
        "shape": style.dash(link),
    }


def _channels(colour: str) -> dict[str, float]:
    return {**dict(zip("rgb", style.channels(colour), strict=True)), "a": 1.0}


def _describe(xml: Element, document: Document) -> None:
    [meta] = xml.iter("meta")
    [graph] = xml.iter("graph")
    [creator] = meta
    del meta.attrib["lastmodifieddate"]  # the same graph gives the same file on any day
    del graph.attrib["name"]  # no GEXF schema knows it
    creator.text = f"biasgraph {__version__}"
    words = " ".join(filter(None, [style.caption(document), document["graph"]["toy"]]))
    SubElement(meta, "description").text = xml_text(words)
