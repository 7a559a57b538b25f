"""What a method is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.causal.tables import Counts

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.findings import Finding


@dataclass(frozen=True)
class Subject:
    """A graph, of one prompt or of several, with the tables behind it.

    document: as graph.json holds it; tables: prompt, axis, attribute, target, answer, count;
    answers: the answers about its images.
    """

    document: Mapping[str, Any]
    tables: pd.DataFrame
    answers: pd.DataFrame

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the analysis."""
        settings: Mapping[str, Any] = self.document["graph"]["settings"]
        return settings

    @property
    def prompts(self) -> list[str]:
        """The initial prompts, in their order."""
        return [str(prompt) for prompt in self.tables["prompt"].unique()]

    def initial_counts(self, node: Mapping[str, Any]) -> Counts:
        """(prompts, k) valid answers about an axis in the initial images of every prompt."""
        frame = self.tables
        initial = frame[frame["axis"].isna() | (frame["axis"] == "")]
        about = initial[initial["target"] == node["id"]]
        counted = about.groupby(["prompt", "answer"], sort=False)["count"].sum()
        return np.array(
            [
                [int(counted.get((prompt, attribute), 0)) for attribute in node["attributes"]]
                for prompt in self.prompts
            ],
            dtype=np.int64,
        ).reshape(len(self.prompts), len(node["attributes"]))


@dataclass(frozen=True)
class Annotation:
    """Findings of one method: about the graph, and about axes by name."""

    graph: Finding | None = None
    nodes: Mapping[str, Finding] = field(default_factory=dict)
