"""What models do for OpenBias: propose biases, make images of captions, answer the questions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from biasgraph.errors import InputError
from biasgraph.methods.bias_knowledge import TASK, KnownBias, conversation
from biasgraph.methods.bias_wording import captions_of
from biasgraph.models.base import Question
from biasgraph.models.json_chat import ReplyError
from biasgraph.models.registry import traits_of
from biasgraph.prompts.instructions import Bias, Biases
from biasgraph.runs.progress import Progress, showing
from biasgraph.runs.questions import AxisQuestion
from biasgraph.runs.transcripts import answer

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from biasgraph.models.base import LanguageModel

IN_A_ROW = 3
"""So many captions without a usable reply, one after the other, and nobody else is asked for."""


@dataclass(frozen=True)
class Proposals:
    """What a language model proposed: caption -> biases; and why there are none, by caption."""

    biases: Mapping[str, Sequence[Bias]]
    without: Mapping[str, str] = field(default_factory=dict)


def propose(
    directory: Path, model: LanguageModel, captions: Sequence[str], progress: Progress | None
) -> Proposals:
    """Have biases proposed for each caption; what the run in `directory` has is not asked again.

    A caption without a usable reply is passed over, and so is one that the sandbox's rules cannot
    read.

    Raises:
        ReplyError: `IN_A_ROW` captions one after the other, or all, had no usable reply.
        Interrupted: the user stopped it.
        BiasgraphError: what the model or the disk raises.
    """
    found: dict[str, Sequence[Bias]] = {}
    without: dict[str, str] = {}
    failed: list[ReplyError] = []
    with showing(progress, "Proposals", total=len(captions), done=0) as work:
        for caption in captions:
            try:
                found[caption] = answer(
                    directory, TASK, model, conversation(caption), Biases
                ).biases
                failed = []
            except ReplyError as error:
                without[caption] = error.in_run
                failed.append(error)
                if len(failed) == min(IN_A_ROW, len(captions)):
                    for one in failed:
                        one.forget()
                    raise
            except InputError as error:
                if not traits_of(model.spec).toy:
                    raise
                without[caption] = str(error)
            work.advance(1)
    return Proposals(found, without)


@dataclass(frozen=True)
class Inquiry:
    """All questions about all biases, each with the captions whose images it is asked about.

    targets: bias name -> caption -> what the question is called in the ledger. A question with
    other words or classes has another name there, so that a run may grow.
    """

    biases: Sequence[KnownBias]
    targets: Mapping[str, Mapping[str, str]]
    questions: Sequence[AxisQuestion]
    about: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, biases: Sequence[KnownBias]) -> Inquiry:
        """The questions (t, q) of every bias's D_b (eq. 1) with all of its classes (eq. 3)."""
        targets: dict[str, dict[str, str]] = {}
        questions: dict[str, AxisQuestion] = {}
        about: dict[str, list[str]] = {}
        for bias in biases:
            shown = captions_of(bias.name, bias.classes)
            own = targets.setdefault(bias.name, {})
            for caption, text in bias.questions.items():
                question = Question(text, bias.classes, shown)
                target = _target(bias.name, question)
                own[caption] = target
                questions.setdefault(target, AxisQuestion(target, (question,), bias.classes))
                about.setdefault(caption, []).append(target)
        place = {target: number for number, target in enumerate(questions)}
        ordered = {text: sorted(asked, key=place.__getitem__) for text, asked in about.items()}
        return cls(biases, targets, list(questions.values()), ordered)

    def answers(self, table: pd.DataFrame) -> Iterator[tuple[KnownBias, pd.DataFrame]]:
        """For each bias the rows of a run's answers table that are about it."""
        import pandas as pd

        by_target = dict(iter(table.groupby("target", sort=False)))
        for bias in self.biases:
            asked = self.targets[bias.name]
            names = [name for name in dict.fromkeys(asked.values()) if name in by_target]
            rows = pd.concat([by_target[name] for name in names]) if names else table.iloc[:0]
            # Those whose question is the one that is asked about their caption.
            yield bias, rows[(rows["prompt"].map(asked) == rows["target"]).to_numpy()]


def _target(bias: str, question: Question) -> str:
    words = json.dumps([question.text, question.choices, question.captions])
    return f"{bias} {hashlib.sha256(words.encode()).hexdigest()[:8]}"
