"""What a method is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from biasgraph.causal.tables import Counts

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.data.axes import AxisSet
    from biasgraph.data.findings import Finding
    from biasgraph.models.base import Message
    from biasgraph.models.json_replies import Schema
    from biasgraph.prompts.counterfactuals import Prompt


class Media(Protocol):
    """What models tell of the pictures behind a graph; each thing is asked once and kept."""

    @property
    def embedder(self) -> str | None:
        """The spec of the model that embeds; None where there is none."""
        ...

    @property
    def describer(self) -> str | None:
        """The spec of the judge that answers open questions; None where none can."""
        ...

    def embedded_images(self, ids: Sequence[str]) -> np.ndarray:
        """(n, d) float32 unit vectors."""
        ...

    def embedded_texts(self, texts: Sequence[str]) -> np.ndarray:
        """(n, d) float32 unit vectors in the space of the images."""
        ...

    def described(self, ids: Sequence[str], question: str) -> list[str]:
        """What the describer says to an open question about each image."""
        ...

    def shown(self, ids: Sequence[str]) -> list[str]:
        """Those of the images that nobody withheld."""
        ...

    def proposing(self, llm: str | None) -> Media:
        """The same with the language model of this spec, which was loaded, to propose."""
        ...

    @property
    def proposer(self) -> str | None:
        """Who proposes, for people; None where no language model is named."""
        ...

    def proposed(self, task: str, messages: Sequence[Message], form: type[Schema]) -> Schema:
        """What a language model replies to a conversation; it is asked once."""
        ...

    def imagined(self, prompt: str, texts: Sequence[Prompt], count: int) -> np.ndarray:
        """(n, d) float32 unit vectors of `count` images made from texts that vary a prompt.

        They are spread evenly over the texts; those that a service withheld are left out.
        """
        ...


@dataclass(frozen=True)
class MethodInput:
    """A graph, of one prompt or of several, with the tables behind it.

    document: as graph.json holds it; tables: prompt, axis, attribute, target, answer, count;
    answers: the answers about its images; axes: as declared, None where they were read off a
    table; media: the pictures, None where there is no run; options: what a user chose for the
    method, in JSON types; typed: prompts as they were typed, where that is with brackets.
    """

    document: Mapping[str, Any]
    tables: pd.DataFrame
    answers: pd.DataFrame
    axes: AxisSet | None = None
    media: Media | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    typed: Mapping[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the analysis."""
        settings: Mapping[str, Any] = self.document["graph"]["settings"]
        return settings

    @property
    def name(self) -> str:
        """What the graph's random draws are named after: its prompt."""
        return str(self.document["graph"]["prompt"])

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

    def initial_images(self, prompt: str) -> list[str]:
        """The ids of a prompt's own images, sorted."""
        frame = self.answers
        initial = (frame["axis"].isna() | (frame["axis"] == "")) & (frame["prompt"] == prompt)
        return sorted(frame.loc[initial.to_numpy(), "image"].astype(str).unique())


@dataclass(frozen=True)
class Annotation:
    """Findings of one method: about the graph, and about axes by name."""

    graph: Finding | None = None
    nodes: Mapping[str, Finding] = field(default_factory=dict)
