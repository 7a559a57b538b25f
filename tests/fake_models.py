"""A generator and a judge that take no time and can be told apart: plain classes, as any backend.

A picture shows its prompt and seed in its pixels; the judge answers from the pixels alone.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image
from pydantic import BaseModel

from biasgraph.models.base import Answer, Picture, Question
from biasgraph.prompts.instructions import Texts
from biasgraph.runs.questions import AxisQuestion

GATE = Question("Is there a person?", ("yes", "no"), ("a person", "nobody"))
GENDER = AxisQuestion("gender", (Question("Gender?", ("m", "f"), ("m", "f")),), ("male", "female"))
AGE = AxisQuestion(
    "age", (Question("Age?", ("y", "m", "o"), ("y", "m", "o")),), ("young", "middle", "old")
)
DISABILITY = AxisQuestion(
    "disability",
    (
        Question("Blind?", ("yes", "no"), ("blind", "not")),
        Question("Wheelchair?", ("yes", "no"), ("wheelchair", "none")),
    ),
    ("blind", "wheelchair"),
    default="fit",
)
QUESTIONS = (GENDER, AGE, DISABILITY)
TARGETS = tuple(question.axis for question in QUESTIONS)


@dataclass(frozen=True)
class Prompt:
    text: str
    role: str = "initial"
    axis: str = ""
    attribute: str = ""


def plan_of(text: str, axes: Sequence[AxisQuestion] = QUESTIONS) -> list[Prompt]:
    """An initial prompt and one counterfactual for each attribute."""
    values = {
        axis.axis: [*axis.attributes, *([axis.default] * bool(axis.default))] for axis in axes
    }
    return [
        Prompt(text),
        *(
            Prompt(f"{text}, {attribute}", "counterfactual", axis, attribute)
            for axis, attributes in values.items()
            for attribute in attributes
        ),
    ]


@dataclass
class FakeGenerator:
    """Remembers every batch in `batches`; with `log`, also writes one line a batch to a file."""

    spec: str = "fake:painter"
    fingerprint: str = "1" * 16
    batch_size: int = 4
    settings: dict[str, object] = field(default_factory=lambda: {"steps": 8})
    log: Path | None = None
    seconds: float = 0.0
    style: str = ""
    batches: list[list[tuple[str, int]]] = field(default_factory=list)

    def check_prompts(self, prompts: Sequence[str]) -> None: ...

    def unseen_words(self, prompts: Sequence[str]) -> list[str]:
        return []

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        self.batches.append(list(zip(prompts, seeds, strict=True)))
        time.sleep(self.seconds)
        pictures = [Picture(self._draw(*item)) for item in self.batches[-1]]
        _write_line(self.log, self.batches[-1])
        return pictures

    def _draw(self, prompt: str, seed: int) -> Image.Image:
        content = hashlib.sha256(f"{self.style}{prompt}{seed}".encode()).digest()
        return Image.frombytes("RGB", (4, 2), content[:24])


@dataclass
class FakeJudge:
    """Says no to the gate for about 1 image in 16 and leaves 1 answer in 16 unknown."""

    spec: str = "fake:judge"
    fingerprint: str = "2" * 16
    batch_size: int = 5
    settings: dict[str, object] = field(default_factory=lambda: {"threshold": 0.5})
    log: Path | None = None
    seconds: float = 0.0
    calls: list[tuple[list[bytes], list[str]]] = field(default_factory=list)

    def answer(
        self, images: Sequence[Image.Image], questions: Sequence[Question]
    ) -> list[list[Answer]]:
        pixels = [image.tobytes() for image in images]
        self.calls.append((pixels, [question.text for question in questions]))
        time.sleep(self.seconds)
        answers = [[_reply(content, question) for question in questions] for content in pixels]
        _write_line(self.log, [content.hex() for content in pixels])
        return answers


def _reply(content: bytes, question: Question) -> Answer:
    number = hashlib.sha256(content + question.text.encode()).digest()
    count = len(question.choices)
    chosen = int(number[0] < 16) if question == GATE else number[0] % count
    share = 0.6 + number[1] / 1000
    probabilities = [(1 - share) / (count - 1)] * count
    probabilities[chosen] = share
    return Answer(None if number[2] < 16 else chosen, tuple(probabilities))


def _write_line(log: Path | None, items: object) -> None:
    if log is not None:
        with log.open("a") as file:
            file.write(json.dumps(items) + "\n")


class Variations(BaseModel):
    """A form of replies: a list of texts."""

    variations: Texts
