"""Where batches are computed: in this process, or wherever another engine sends them.

An engine computes and nothing else. What comes of a batch is recorded here, by whoever ordered it,
so that one process alone writes a run.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from biasgraph.errors import ModelError
from biasgraph.models.backend import GENERATOR, JUDGE, import_function
from biasgraph.models.image_files import reduce_to_kept
from biasgraph.runs.image_store import EncodedPicture
from biasgraph.runs.questions import check_reply

if TYPE_CHECKING:
    from biasgraph.models.base import Answer, ImageGenerator, Question, VisualQA
    from biasgraph.models.inference_options import ModelOptions
    from biasgraph.runs.progress import ShownWork

Outcome = TypeVar("Outcome")
Model = TypeVar("Model", contravariant=True)
Came = TypeVar("Came", covariant=True)


class Call(Protocol[Model, Came]):
    """What a model is to compute in one go; it may travel to another machine."""

    role: ClassVar[str]

    def compute(self, model: Model) -> Came:
        """What comes of it. Raises ModelError where the model does not keep to its protocol."""


@dataclass(frozen=True)
class Drawing:
    """Images to be made: one for each text, with the seed of the same place."""

    texts: Sequence[str]
    seeds: Sequence[int]
    role: ClassVar[str] = GENERATOR

    def compute(self, model: ImageGenerator) -> list[EncodedPicture]:
        """The pictures, encoded as a run keeps them."""
        pictures = model.generate(self.texts, self.seeds)
        if len(pictures) != len(self.texts):
            raise ModelError(
                f"{model.spec} was asked for {len(self.texts)} images and gave {len(pictures)}"
            )
        return [EncodedPicture.of(picture) for picture in pictures]


@dataclass(frozen=True)
class Asking:
    """Questions about pictures, which are the bytes of their files."""

    files: Sequence[bytes]
    questions: Sequence[Question]
    role: ClassVar[str] = JUDGE

    def compute(self, model: VisualQA) -> list[list[Answer]]:
        """The answers about each picture, one for each question."""
        from PIL import Image

        pictures = [Image.open(io.BytesIO(file), formats=["PNG"]) for file in self.files]
        replies = model.answer([reduce_to_kept(picture) for picture in pictures], self.questions)
        if [len(row) for row in replies] != [len(self.questions)] * len(pictures):
            raise ModelError(
                f"{model.spec} was asked {len(self.questions)} questions about "
                f"{len(pictures)} images and gave another number of answers"
            )
        for row in replies:
            for reply, question in zip(row, self.questions, strict=True):
                check_reply(reply, question, model.spec)
        return replies


@dataclass(frozen=True)
class Task(Generic[Outcome]):
    """A batch: what is computed, by whom, and what is done with the outcome.

    Attributes:
        model: The generator or the judge as this process has it.
        call: What it is to compute.
        record: Keeps the outcome; returns how many items that brings the work forward.
    """

    model: Any
    call: Call[Any, Outcome]
    record: Callable[[Outcome], int]

    def unseen(self) -> Task[Outcome]:
        """The same, in work that is about other items."""

        def record(outcome: Outcome) -> int:
            self.record(outcome)
            return 0

        return replace(self, record=record)


class Engine(Protocol):
    """Computes tasks.

    Attributes:
        several: Whether it computes several at a time, so that a judge should be given its first
            images while the last ones are made.
    """

    several: bool

    def run(self, tasks: Iterable[Task[Any]], shown: ShownWork) -> int:
        """Compute and record all tasks; returns the sum of what `Task.record` returned.

        A task is taken from `tasks` when there is room for it: what was recorded by then may
        decide what comes.

        Raises:
            Interrupted: The user stopped it; what was computed by then is recorded.
            ModelError: A model failed, or what computes it.
        """

    def close(self) -> None:
        """Give back what was started for it; nothing where nothing was."""


class InProcess:
    """Computes one task after the other, here."""

    several = False

    def run(self, tasks: Iterable[Task[Any]], shown: ShownWork) -> int:
        """As `Engine.run`; stops after the batch in flight."""
        total = 0
        for task in tasks:
            count = task.record(task.call.compute(task.model))
            total += count
            shown.advance(count)
        return total

    def close(self) -> None:
        """Nothing was started."""


IN_PROCESS = InProcess()
RAY = "biasgraph.runs.ray_engine:RayEngine"


def engine_of(options: ModelOptions) -> Engine:
    """The engine that options name; it starts with the first task.

    Raises:
        MissingExtra: What it needs is not installed.
    """
    if options.cluster is None:
        return IN_PROCESS
    engine: Engine = import_function(RAY)(options)
    return engine
