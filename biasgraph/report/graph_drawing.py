"""The graph as graph.js draws it: places, sizes, widths and the bends of its edges.

Widths, sizes and fills mean the same in every report, so that two can be held side by side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from biasgraph.report import style, words
from biasgraph.report.circle_layout import bends, positions

Record = Mapping[str, Any]

RADIUS = 260
"""Of the circle, in the units of sizes and widths; the page scales them to its width."""
LONGEST_LABEL = 22
SMALLEST, LARGEST, AREA_OF_ONE = 16.0, 44.0, 1800.0
FILLED = 0.37  # of the way between neighbours, at most, is the radius of an axis
ROOMY = 12  # between more axes than this, edges are thinner
CLEARANCE, APART = 8, 22


def drawing(nodes: Sequence[Record], pairs: Sequence[Record]) -> dict[str, Any]:
    """What `drawGraph` of graph.js draws: {"nodes", "edges", "bends", "radius"}, in JSON types.

    A node's id is the number of its axis, an edge's that of its pair; `bends` are those of
    circle_layout.

    Args:
        nodes: Those of graph.json.
        pairs: Every ordered pair, by source and target in the order of the nodes, with `mediation`
            (empty where nothing was checked).
    """
    count = max(len(nodes), 1)
    radius = 0 if len(nodes) < 2 else RADIUS
    shrunk = min(1.0, FILLED * math.tau * RADIUS / count / LARGEST)
    thinned = min(1.0, math.sqrt(ROOMY / count))
    places = positions([node["id"] for node in nodes])
    sizes = [shrunk * node_size(node["out_strength"]) for node in nodes]
    clearance = max(sizes, default=0.0) + CLEARANCE * shrunk
    return {
        "radius": RADIUS,
        "bends": [round(one, 3) for one in bends(
            len(nodes), clearance / RADIUS, APART * thinned / RADIUS
        )],
        "nodes": [
            {
                "id": i,
                "name": words.label(node["id"]),
                "label": words.label(node["id"], LONGEST_LABEL) or " ",
                "detail": _detail(node),
                "x": round(radius * places[node["id"]][0], 2),
                "y": round(-radius * places[node["id"]][1], 2),
                "size": round(size, 2),
                "distance": node["w1"],
            }
            for i, (node, size) in enumerate(zip(nodes, sizes, strict=True))
        ],
        "edges": [
            {
                "id": k,
                "from": k // count,
                "to": k % count,
                "width": round(3 * thinned * style.width(pair["is"] or 0.0), 2),
                "edge": pair["edge"],
                "sign": pair["sign"] or "undetermined",
                "mediated": style.is_mediated(pair),
                "is": pair["is"],
                "p": pair["p"],
            }
            for k, pair in enumerate(pairs)
            if k // count != k % count
        ],
    }  # fmt: skip


def node_size(strength: float) -> float:
    """The radius of an axis for the sum of |IS| over its outgoing edges; its area grows with it."""
    return min(math.sqrt(SMALLEST**2 + AREA_OF_ONE * strength), LARGEST)


def _detail(node: Record) -> str:
    most = words.majority(node)
    if most is None:
        return "no valid answers"
    return f"{words.name(most[0], LONGEST_LABEL)} {words.percent(most[1])}"
