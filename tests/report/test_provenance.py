"""How a result was made, in words."""

from __future__ import annotations

from typing import Any

from biasgraph.report.provenance import graph_provenance


def test_settings_that_hold_nothing_are_none() -> None:
    graph: dict[str, Any] = {
        "axes": None,
        "settings": {"looks": [], "delta": 0.05, "alpha": None},
        "versions": {"python": "3.11"},
    }
    assert graph_provenance(graph) == {
        "Made with": [],
        "Settings": [["looks", "none"], ["delta", "0.05"]],
        "Versions": [["python", "3.11"]],
    }
    graph["settings"] = {"looks": [24, 48]}
    assert graph_provenance(graph)["Settings"] == [["looks", "24, 48"]]
