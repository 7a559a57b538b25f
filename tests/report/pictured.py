"""Documents with many looks, for the tests of pictures and exports."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from biasgraph.causal.mediation import CONSISTENT

SIGNS = ("towards", "away", "undetermined", None)


def renamed(document: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """A document of so many axes, each an edge to the next one and every second one back.

    Signs, mediation and undefined distances take turns; the prompt is the first name.
    """
    changed = copy.deepcopy(document)
    nodes, [link, *_] = changed["nodes"], changed["links"]
    changed["nodes"] = [
        {**nodes[place % len(nodes)], "id": name} for place, name in enumerate(names)
    ]
    for node in changed["nodes"][::5]:
        node["w1"] = None
    pairs = [(place, (place + 1) % len(names)) for place in range(len(names))]
    pairs += [(target, source) for source, target in pairs[::2]]
    changed["links"] = [
        {**link, "source": names[source], "target": names[target], **_look(number)}
        for number, (source, target) in enumerate(dict.fromkeys(pairs))
        if source != target
    ]
    changed["graph"]["prompt"] = names[0]
    return changed


def _look(number: int) -> dict[str, Any]:
    value = (-1) ** number * (number % 7) / 10
    mediation = [{"through": "age", "verdict": CONSISTENT.format(z="age")}]
    return {
        "sign": SIGNS[number % 4],
        "mediation": mediation if number % 3 == 0 else [],
        "is": value,
        "weight": value,
    }
