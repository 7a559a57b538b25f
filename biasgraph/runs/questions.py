"""What is asked of an image about one axis, and how the replies become one answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, model_validator

from biasgraph.errors import ModelError, printable
from biasgraph.io.json_files import check
from biasgraph.models.base import Question
from biasgraph.prompts.counterfactuals import describe

if TYPE_CHECKING:
    from biasgraph.data.axes import Axis, AxisSet
    from biasgraph.models.base import Answer

YES_NO = ("yes", "no")
YES = 0
"""The choice that says yes in every yes/no question, the gate question among them."""

UNKNOWN = "unknown"
GATED = "gated"


@dataclass(frozen=True)
class Verdict:
    """An answer as the ledger keeps it.

    answer: an attribute, ``unknown`` or ``gated``; confidence: 0 to 1, None where the judge gives
    none; probabilities: of every choice of a multiple-choice question, of yes for every one of
    several yes/no questions; yes: how many of these said yes, None for multiple choice.
    """

    answer: str
    confidence: float | None
    probabilities: tuple[float, ...] = ()
    yes: int | None = None


class _AskedQuestion(BaseModel, strict=True):
    text: str
    choices: list[str] = Field(min_length=2)
    captions: list[str]


class _Wording(BaseModel, strict=True):
    questions: list[_AskedQuestion] = Field(min_length=1)
    attributes: list[str]
    default: str | None

    @model_validator(mode="after")
    def _fit(self) -> _Wording:
        answers = self.questions[0].choices if self.default is None else self.questions
        if len(answers) != len(self.attributes):
            raise ValueError("its attributes do not fit its questions")
        return self


@dataclass(frozen=True)
class AxisQuestion:
    """One multiple-choice question, or several yes/no questions with a default.

    attributes: what choice i of the one question stands for, or what a yes to question i says;
    default: what it says when nothing was answered yes, None for multiple choice.
    """

    axis: str
    questions: tuple[Question, ...]
    attributes: tuple[str, ...]
    default: str | None = None

    @classmethod
    def from_record(cls, axis: str, asked: Mapping[str, Any]) -> AxisQuestion:
        """The questions whose `wording` returned this, read back from JSON.

        Raises InputError where it did not.
        """
        check(_Wording, asked, f"what the ledger has about {printable(axis) or 'the gate'}")
        questions = (
            Question(one["text"], tuple(one["choices"]), tuple(one["captions"]))
            for one in asked["questions"]
        )
        return cls(axis, tuple(questions), tuple(asked["attributes"]), asked["default"])

    def wording(self) -> dict[str, Any]:
        """The very words, in JSON types: answers to other words cannot stand beside these."""
        return {
            "questions": [asdict(question) for question in self.questions],
            "attributes": list(self.attributes),
            "default": self.default,
        }

    def verdict(self, replies: Sequence[Answer]) -> Verdict:
        """The answer that `replies`, one for each question, come to.

        Of several yes/no questions the first yes counts; without a yes it is the default, unless
        a question was left unknown.
        """
        if self.default is None:
            reply = replies[0]
            answer = UNKNOWN if reply.choice is None else self.attributes[reply.choice]
            return Verdict(answer, confidence_of(reply), tuple(reply.probabilities))
        said_yes = [place for place, reply in enumerate(replies) if reply.choice == YES]
        probabilities = tuple(reply.probabilities[YES] for reply in replies if reply.probabilities)
        if said_yes:
            answer, deciding = self.attributes[said_yes[0]], [replies[said_yes[0]]]
        elif any(reply.choice is None for reply in replies):
            answer, deciding = UNKNOWN, [reply for reply in replies if reply.choice is None]
        else:
            answer, deciding = self.default, list(replies)
        confidence = min((c for c in map(confidence_of, deciding) if c is not None), default=None)
        return Verdict(answer, confidence, probabilities, len(said_yes))


def questions_about(axes: AxisSet) -> tuple[Question, list[AxisQuestion]]:
    """The gate question of an axis set, and what is asked about each of its axes.

    The caption of a choice is the counterfactual of "a photo of a person" that says it. A yes/no
    question stands between its attribute and the axis's default.
    """
    article = "an" if axes.subject[0] in "aeiou" else "a"
    gate = Question(
        axes.gate,
        YES_NO,
        axes.gate_captions
        or (f"a photo of {article} {axes.subject}", f"a photo without {article} {axes.subject}"),
    )
    return gate, [_about(axis, f"a photo of {article} [{axes.subject}]") for axis in axes.axes]


def count_questions(axes: AxisSet) -> int:
    """How many questions an image is asked about: the gate and those of each axis."""
    return 1 + sum(len(axis.questions) for axis in questions_about(axes)[1])


def _about(axis: Axis, subject: str) -> AxisQuestion:
    if axis.question is not None:
        captions = tuple(describe(axis, name, subject) for name in axis.names)
        question = Question(axis.question, axis.names, captions)
        return AxisQuestion(axis.name, (question,), axis.names)
    default = describe(axis, str(axis.default), subject)
    questions = tuple(
        Question(asked.text, YES_NO, (describe(axis, asked.attribute, subject), default))
        for asked in axis.yes_no
    )
    attributes = tuple(asked.attribute for asked in axis.yes_no)
    return AxisQuestion(axis.name, questions, attributes, axis.default)


def confidence_of(reply: Answer) -> float | None:
    """The reply's confidence, None from a judge that gives no probabilities."""
    return float(reply.confidence) if reply.probabilities else None


def check_reply(reply: Answer, question: Question, judge: str) -> None:
    """Raise ModelError when a reply cannot be one to this question."""
    count = len(question.choices)
    if reply.choice is not None and not 0 <= reply.choice < count:
        raise ModelError(f"{judge} chose answer {reply.choice} of {count} to '{question.text}'")
    if reply.probabilities and len(reply.probabilities) != count:
        raise ModelError(
            f"{judge} gave {len(reply.probabilities)} probabilities for {count} answers to "
            f"'{question.text}'"
        )
    if not all(math.isfinite(p) and 0 <= p <= 1 for p in reply.probabilities):
        raise ModelError(f"{judge} gave a probability outside 0 to 1 to '{question.text}'")
