"""The graph as vis-network draws it: pyvis's data model with places of our own.

Widths, sizes and fills mean the same in every report, so that two can be held side by side.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from biasgraph.report import style, words
from biasgraph.report.circle_layout import positions

Record = Mapping[str, Any]

RADIUS = 260  # of the circle, in the units that the page zooms to its width
SPACE = 150  # at least, along the circle, between neighbours
LONGEST_LABEL = 22
SMALLEST, LARGEST, AREA_OF_ONE = 16.0, 44.0, 1800.0

OPTIONS: dict[str, Any] = {
    "autoResize": True,
    "physics": {"enabled": False},
    "layout": {"improvedLayout": False},
    "interaction": {
        "hover": True,
        "hoverConnectedEdges": False,
        "selectable": False,
        "selectConnectedEdges": False,
        "zoomView": False,
        "keyboard": {"enabled": False},
    },
    "nodes": {"shape": "dot"},
    "edges": {"smooth": {"enabled": True, "type": "curvedCW", "roundness": 0.16}},
}


def drawing(nodes: Sequence[Record], pairs: Sequence[Record]) -> dict[str, Any]:
    """What `drawGraph` of graph.js draws: {"nodes", "edges", "options"}, in JSON types.

    A node's id is the number of its axis, an edge's that of its pair.

    Args:
        nodes: Those of graph.json.
        pairs: Every ordered pair, by source and target in the order of the nodes, with `mediation`
            (empty where nothing was checked).
    """
    from pyvis.network import Network

    network = Network(directed=True, cdn_resources="in_line")
    network.options = OPTIONS
    radius = 0.0 if len(nodes) < 2 else max(RADIUS, SPACE * len(nodes) / math.tau)
    places = positions([node["id"] for node in nodes])
    for i, node in enumerate(nodes):
        x, y = places[node["id"]]
        network.add_node(
            i,
            label=words.label(node["id"], LONGEST_LABEL) or " ",
            detail=_detail(node),
            x=round(radius * x),
            y=round(-radius * y),
            size=round(node_size(node["out_strength"]), 2),
            distance=node["w1"],
        )
    for k, pair in enumerate(pairs):
        source, target = divmod(k, len(nodes))
        if source != target:
            network.add_edge(
                source,
                target,
                id=k,
                width=round(3 * style.width(pair["is"] or 0.0), 2),
                edge=pair["edge"],
                sign=pair["sign"] or "undetermined",
                mediated=style.mediated(pair),
                p=pair["p"],
                **{"is": pair["is"]},
            )
    drawn_nodes, drawn_edges, _, _, _, options = network.get_network_data()
    return {"nodes": drawn_nodes, "edges": drawn_edges, "options": json.loads(options)}


def node_size(strength: float) -> float:
    """The radius of an axis for the sum of |IS| over its outgoing edges; its area grows with it."""
    return min(math.sqrt(SMALLEST**2 + AREA_OF_ONE * strength), LARGEST)


def _detail(node: Record) -> str:
    most = words.majority(node)
    if most is None:
        return "no valid answers"
    return f"{words.name(most[0], LONGEST_LABEL)} {words.percent(most[1])}"
