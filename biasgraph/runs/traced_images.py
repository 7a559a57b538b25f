"""What each token of a prompt contributes to a judge's answers about its images, kept in the run.

An image is made once more, followed step by step; what came of it stands in the ledger, so that it
is never done again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, cast

from pydantic import Field, RootModel, model_validator

from biasgraph.errors import InputError, printable, show_path
from biasgraph.io.json_files import StrictModel, read_text
from biasgraph.models.base import DifferentiableJudge, TraceableGenerator
from biasgraph.models.devices import Portions
from biasgraph.models.token_scores import (
    LIKELIEST,
    RANDOM,
    RELEASED,
    SCORES,
    TokenScores,
    score_tokens,
)
from biasgraph.runs.progress import showing
from biasgraph.runs.storage import LEDGER

if TYPE_CHECKING:
    from biasgraph.models.base import ImageGenerator, VisualQA
    from biasgraph.runs.directory import Run
    from biasgraph.runs.ledger_rows import ImageRow
    from biasgraph.runs.progress import Progress
    from biasgraph.runs.questions import AxisQuestion

VERSION = 1
"""To be raised whenever the numbers change."""

FIRST, MOST = 4, 16
"""Images whose steps are followed together: to begin with, and at most."""

Place = Annotated[int, Field(ge=0, le=10**6)]
Score = Annotated[float, Field(allow_inf_nan=False)]

ByAxis = Mapping[str, Mapping[str, TokenScores]]
"""Axis -> what the loss is about -> the scores."""


def why_no_gradients(generator: ImageGenerator, judge: VisualQA | None) -> str:
    """Which of the models gives no gradients, and which do; "" where both do."""
    if not isinstance(generator, TraceableGenerator):
        return (
            f"{printable(generator.spec)} gives no gradients to its prompt: pipelines of "
            "diffusers: and the sandbox do"
        )
    if not isinstance(judge, DifferentiableJudge):
        name = "nobody" if judge is None else printable(judge.spec)
        return (
            f"{name} gives no gradients to its pictures: judges of clip: and vlm: do, and the bare "
            "sandbox"
        )
    return ""


@dataclass(frozen=True)
class TracedImages:
    """Images of a run whose prompts' tokens are scored.

    Attributes:
        run: Keeps what is found.
        generator: The run's own.
        judge: Answers with gradients.
        questions: Of the axes.
        every: Examine every N-th step.
        released: Score as the authors' code does (`models.token_scores.score_tokens`).
    """

    run: Run
    generator: ImageGenerator
    judge: VisualQA
    questions: Sequence[AxisQuestion]
    every: int
    released: bool

    def scores(
        self, images: Sequence[ImageRow], progress: Progress | None = None
    ) -> dict[str, ByAxis]:
        """By an image's id; only what the run lacks is computed.

        Raises:
            InputError: A model gives no gradients.
            ModelError: A model failed.
            Interrupted: The user stopped it.
        """
        if why := why_no_gradients(self.generator, self.judge):
            raise InputError(why)
        known = {about.axis: self._read_known(about) for about in self.questions}
        missing = [row for row in images if any(row.key not in own for own in known.values())]
        if missing:
            with showing(
                progress, "Gradients", total=len(images), done=len(images) - len(missing)
            ) as shown:

                def work(rows: Sequence[ImageRow]) -> Sequence[None]:
                    self._score(rows, known)
                    shown.advance(len(rows))
                    return [None] * len(rows)

                what = f"the gradients of an image of {printable(self.generator.spec)}"
                most = min(self.generator.batch_size, MOST)
                Portions(what, min(FIRST, most), most).run(missing, work)
        return {
            row.id: {axis: self._read(own[row.key]) for axis, own in known.items()}
            for row in images
        }

    def _read_known(self, about: AxisQuestion) -> dict[int, str]:
        return self.run.ledger.texts(self.judge.spec, self._identify(about))

    def _identify(self, about: AxisQuestion) -> str:
        """What tells these numbers from others, in the place of a question's words."""
        what = {"gradients": VERSION, "every": self.every, "released": self.released}
        return json.dumps({**what, "model": self.judge.fingerprint, "asked": about.wording()})

    def _score(self, rows: Sequence[ImageRow], known: dict[str, dict[int, str]]) -> None:
        """Score images, and keep the numbers."""
        judge = self.judge
        generator = cast("TraceableGenerator", self.generator)
        trace = generator.trace([row.text for row in rows], [row.seed for row in rows])
        axes = {about.axis: about.questions for about in self.questions}
        found = score_tokens(
            trace,
            cast("DifferentiableJudge", judge),
            axes,
            every=self.every,
            released=self.released,
        )
        for about in self.questions:
            own = known[about.axis]
            said = [
                (row.key, json.dumps({kind: one.record() for kind, one in by[about.axis].items()}))
                for row, by in zip(rows, found, strict=True)
                if row.key not in own
            ]
            self.run.ledger.add_texts(judge.spec, self._identify(about), said)
            own.update(said)

    def _read(self, said: str) -> dict[str, TokenScores]:
        """The numbers of an image; raises InputError unless they are of every reading."""
        source = show_path(self.run.directory / LEDGER)
        record = read_text(_AnswerScores, said, source).root
        if not all(own.fits(self.released) for own in record.values()):
            raise InputError(f"{source} is damaged: scores of words are missing")
        return {
            kind: TokenScores.of_record(own.model_dump(mode="json")) for kind, own in record.items()
        }


class _Scores(StrictModel):
    spans: dict[str, list[Annotated[list[Place], Field(min_length=2, max_length=2)]]]
    scores: dict[str, dict[str, list[Score]]]

    def fits(self, released: bool) -> bool:
        """Whether there is a score of every token by every reading."""
        due = {reading for reading in SCORES if (reading == RELEASED) == released}
        return due == {*self.scores} and all(
            len(values) == len(self.spans.get(name, ()))
            for own in self.scores.values()
            for name, values in own.items()
        )


class _AnswerScores(RootModel[dict[Literal["likeliest", "random"], _Scores]]):
    """What the ledger keeps of an image and an axis, by the answer that the loss is about."""

    @model_validator(mode="after")
    def _both(self) -> _AnswerScores:
        if {*self.root} != {LIKELIEST, RANDOM}:
            raise ValueError("scores are missing")
        return self
