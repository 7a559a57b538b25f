"""graph.json and graph.graphml.

XML formats know no lists, objects or null: a nested value becomes a JSON text under its name with
`_json` behind it (`initial_json`), and what is undefined is left out.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx

Document = dict[str, Any]
Scalar = str | float | int | bool

_NOT_IN_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 forbids, and the carriage return, which an XML reader turns into a line feed."""


def graph_of(document: Document) -> nx.DiGraph[str]:
    """The graph of a document: attributes of nodes and edges are the document's fields."""
    import networkx as nx

    return nx.DiGraph(nx.node_link_graph(document, edges="links"))


def to_graphml(document: Document) -> bytes:
    """The graph for Gephi, Cytoscape, yEd: nested values as JSON texts, `weight` on edges.

    Characters that XML cannot hold become U+FFFD. Should two axes get the same name by that, the
    later one gets a number behind it; `label` always holds the name.
    """
    import networkx as nx

    buffer = io.BytesIO()
    nx.write_graphml_xml(flatten(document), buffer, infer_numeric_types=True)
    return buffer.getvalue()


def flatten(document: Document) -> nx.DiGraph[str]:
    """The graph as XML formats can hold it: texts and numbers only, in letters that XML has.

    The axes keep their order; should two get the same name, the later one gets a number behind it.
    """
    import networkx as nx

    graph = graph_of(document)
    flat: nx.DiGraph[str] = nx.DiGraph()
    flat.graph.update(_flat(graph.graph))
    ids: dict[str, str] = {}
    for node, fields in graph.nodes(data=True):
        ids[node] = _find_unused(xml_text(node), set(ids.values()))
        flat.add_node(ids[node], label=xml_text(node), **_flat(fields))
    for source, target, fields in graph.edges(data=True):
        flat.add_edge(ids[source], ids[target], **_flat(fields))
    return flat


def _find_unused(name: str, taken: set[str]) -> str:
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name} ({number})", number + 1
    return candidate


def _flat(fields: Mapping[str, Any]) -> dict[str, Scalar]:
    flat: dict[str, Scalar] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping | list):
            flat[f"{name}_json"] = json.dumps(value)
        elif isinstance(value, str):
            flat[name] = xml_text(value)
        elif value is not None:
            flat[name] = value
    return flat


def xml_text(text: str) -> str:
    """`text` with U+FFFD for each character that XML cannot hold."""
    return _NOT_IN_XML.sub("\ufffd", text)
