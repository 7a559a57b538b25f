"""What each token of a prompt contributes to a judge's answers about its images, kept in the run.

An image is made once more, followed step by step; what came of it stands in the ledger, so that it
is never done again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from biasgraph.errors import InputError, printable
from biasgraph.models.base import DifferentiableJudge, TraceableGenerator
from biasgraph.models.devices import Portions
from biasgraph.models.token_scores import TokenScores, score_tokens
from biasgraph.runs.progress import showing

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
        every: Examine each so many-th step.
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
            row.id: {axis: _read(own[row.key]) for axis, own in known.items()} for row in images
        }

    def _read_known(self, about: AxisQuestion) -> dict[int, str]:
        return self.run.ledger.texts(self.judge.spec, self._identify(about))

    def _identify(self, about: AxisQuestion) -> str:
        """What tells these numbers from others, in the place of a question's words."""
        what = {"gradients": VERSION, "every": self.every, "released": self.released}
        return json.dumps({**what, "model": self.judge.fingerprint, "asked": about.asked()})

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


def _read(said: str) -> dict[str, TokenScores]:
    record: dict[str, Any] = json.loads(said)
    return {kind: TokenScores.of_record(one) for kind, one in record.items()}
