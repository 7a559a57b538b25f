"""What a method is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from biasgraph.causal.tables import Counts
from biasgraph.data.findings import Bar, Finding
from biasgraph.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from PIL.Image import Image

    from biasgraph.data.axes import AxisSet
    from biasgraph.models.base import Message
    from biasgraph.models.json_replies import Schema
    from biasgraph.models.token_scores import TokenScores
    from biasgraph.prompts.counterfactuals import Prompt


class Media(Protocol):
    """What models tell of the pictures behind a graph; each thing is asked once and kept."""

    @property
    def embedder(self) -> str | None:
        """The spec of the model that embeds; None where there is none."""

    @property
    def describer(self) -> str | None:
        """The spec of the judge that answers open questions; None where none can."""

    def picture(self, image: str) -> Image:
        """The pixels of an image, RGB."""

    def embed_images(self, ids: Sequence[str]) -> np.ndarray:
        """(n, d) float32 unit vectors."""

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        """(n, d) float32 unit vectors in the space of the images."""

    def describe(self, ids: Sequence[str], question: str) -> list[str]:
        """What the describer says to an open question about each image."""

    def find_shown(self, ids: Sequence[str]) -> list[str]:
        """Those of the images that nobody withheld."""

    @property
    def proposer(self) -> str | None:
        """Who proposes, for people; None where no language model is named."""

    def propose(self, task: str, messages: Sequence[Message], form: type[Schema]) -> Schema:
        """What a language model replies to a conversation; it is asked once."""

    def imagine(self, prompt: str, texts: Sequence[Prompt], count: int) -> np.ndarray:
        """(n, d) float32 unit vectors of `count` images made from texts that vary a prompt.

        They are spread evenly over the texts; those that a service withheld are left out.
        """

    def make_images(
        self, plans: Sequence[Sequence[Prompt]], count: int, first: int = 0
    ) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """Make images of prompts that stand in no table.

        Args:
            plans: Initial prompts, each with the prompts that belong to it.
            count: Images of each prompt.
            first: The number of the first of them.

        Returns:
            Initial prompt -> text, the prompt itself among them -> the ids of its images by number,
            withheld ones included.
        """

    def judge_images(
        self, plans: Sequence[Sequence[Prompt]], axes: AxisSet, count: int, first: int = 0
    ) -> Judged:
        """What the judge says of such images.

        Args:
            plans: As for `make_images`.
            axes: What is asked, with the set's gate question.
            count: As for `make_images`.
            first: As for `make_images`.

        Returns:
            Initial prompt -> text, the prompt itself among them -> axis -> its answers by number:
            an attribute, "unknown" or "gated", which withheld images are.
        """

    def judge_pairs(self, texts: Mapping[str, Sequence[str]], axes: AxisSet, count: int) -> Judged:
        """What the judge says of `count` images of prompts, and of texts that belong to them.

        Image i of a prompt and image i of each of its texts come from one seed.

        Args:
            texts: Prompt -> texts, such as the prompt without one of its words.
            axes: As for `judge_images`.
            count: Images of the prompt, and of each text.

        Returns:
            As `judge_images`.
        """

    def token_scores(
        self,
        prompts: Sequence[str],
        axes: AxisSet,
        count: int,
        *,
        every: int = 1,
        released: bool = False,
    ) -> Mapping[str, Sequence[Mapping[str, Mapping[str, TokenScores]]]]:
        """What each token of a prompt contributes to the judge's answers about its images.

        Args:
            prompts: Initial prompts.
            axes: What is asked.
            count: Images of each prompt; withheld ones are left out.
            every: Examine every N-th step.
            released: As the authors' code does (`models.token_scores.score_tokens`).

        Returns:
            By prompt, for each image by axis and by what the loss is about.
        """


Judged = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]
"""Prompt -> text -> axis -> the answers about its images in their order."""


@dataclass(frozen=True)
class MethodPlan:
    """What is known before any image is made.

    Attributes:
        axes: The axis set of the run.
        prompts: The initial prompts as typed.
        generator: The generator's spec.
        images: How many images the initial prompts have in all.
        options: What a user chose for the method, in JSON types.
        why_no_gradients: Why generator or judge give none; "" where both do, or it is not known.
    """

    axes: AxisSet
    prompts: Sequence[str]
    generator: str
    images: int
    options: Mapping[str, Any] = field(default_factory=dict)
    why_no_gradients: str = ""


@dataclass(frozen=True)
class MethodInput:
    """A graph, of one prompt or of several, with the tables behind it.

    Attributes:
        document: As graph.json holds it.
        tables: Columns prompt, axis, attribute, target, answer, count.
        answers: The answers about its images.
        axes: As declared; None where they were read off a table.
        media: The images; None where there is no run.
        options: What a user chose for the method, in JSON types.
        typed: Prompts as they were typed, where that is with brackets.
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

    def run(self) -> tuple[AxisSet, Media]:
        """The axis set and the images of the run. Raises InputError where there is no run."""
        if self.axes is None or self.media is None:
            raise InputError("an answers table has no images")
        return self.axes, self.media

    def initial_counts(self, node: Mapping[str, Any]) -> Counts:
        """(prompts, k) valid answers about an axis in the initial images of every prompt."""
        initial = initial_rows(self.tables)
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
        initial = initial_rows(self.answers)
        own = (initial["prompt"] == prompt).to_numpy()
        return sorted(initial.loc[own, "image"].astype(str).unique())


def initial_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of tables or answers that are about initial images."""
    return frame[(frame["role"] == "initial").to_numpy()]


@dataclass(frozen=True)
class Annotation:
    """Findings of one method: about the graph, and about axes by name.

    Attributes:
        graph: Of the whole graph; None for none.
        nodes: By the names of axes.
    """

    graph: Finding | None = None
    nodes: Mapping[str, Finding] = field(default_factory=dict)


def rank_axes(findings: Mapping[str, Finding], score: str, reference: str) -> list[Bar]:
    """The axes that have a score, the highest first, each with its interval.

    Args:
        findings: By the names of axes.
        score: The name of the number; its ends are ``_ci_low`` and ``_ci_high``.
        reference: The name of the number that it is compared with.
    """
    bars = [
        Bar(
            axis,
            *(numbers[name] for name in (score, f"{score}_ci_low", f"{score}_ci_high", reference)),
        )
        for axis, finding in findings.items()
        if (numbers := finding.numbers)[score] is not None
    ]
    return sorted(bars, key=lambda bar: (-(bar.value or 0.0), bar.label))
