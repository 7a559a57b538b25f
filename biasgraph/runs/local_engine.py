"""Does a run's work in this process: makes the images that are missing, asks what is unanswered.

Both may be cut short at any moment and called again: what is recorded is never redone, and the
batches that follow are the ones that would have followed.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from biasgraph.errors import ModelError, printable
from biasgraph.models.image_files import reduce_to_kept
from biasgraph.runs.batches import Batch, batches_to_do
from biasgraph.runs.ledger_rows import GATE, Answered, AnswerRow, ImageRow, NewImage
from biasgraph.runs.progress import Progress, showing
from biasgraph.runs.questions import GATED, AxisQuestion, Verdict, check_reply

if TYPE_CHECKING:
    from PIL.Image import Image

    from biasgraph.models.base import Answer, ImageGenerator, Picture, Question, VisualQA
    from biasgraph.runs.directory import Run

NO = "no"


class DamagedImageWarning(UserWarning):
    """An image file was damaged and its remake is another picture."""


def generate(run: Run, generator: ImageGenerator, *, progress: Progress | None = None) -> int:
    """Make every requested image that the run does not have; returns how many were made.

    Files that are missing or damaged are made again from their recorded seeds; an image that
    comes out as another picture loses its answers and is named in a DamagedImageWarning. The
    generator is not touched when there is nothing to do.

    Raises Interrupted after the batch in flight when the user asks to stop; ModelError when the
    generator or the disk fails. Whatever is recorded by then is kept.
    """
    images = run.wanted_images()
    return make_missing(run, generator, "images", images, run.ledger.images, progress)


def make_missing(
    run: Run,
    generator: ImageGenerator,
    work: str,
    wanted: Sequence[NewImage],
    there: Callable[[], Sequence[ImageRow]],
    progress: Progress | None,
) -> int:
    """As `generate`, for any `wanted` images; `there` looks up those of them that are made."""
    damaged = run.damaged_images(there())
    if damaged:
        with showing(progress, "Damaged images", total=len(damaged), done=0) as shown:
            for images in _make_again(run, generator, damaged):
                shown.advance(len(images))
    made = {image.id: image.plan for image in there()}
    if len(made) < len(wanted):
        size = generator.batch_size
        plan = run.plan(work, [size, [image.id for image in wanted]])
        items = [image for image in wanted if made.get(image.id, plan) == plan]
        with showing(progress, work.capitalize(), total=len(wanted), done=len(made)) as shown:
            for batch in batches_to_do(items, size, is_done=lambda image: image.id in made):
                run.add_images(batch.kept(_draw(generator, batch.items)), plan=plan)
                shown.advance(len(batch.missing))
    return len(damaged) + len(wanted) - len(made)


def declare(
    run: Run, judge: VisualQA, questions: Sequence[AxisQuestion], gate: Question | None
) -> dict[str, int]:
    """Record what the judge is asked; returns the ledger's key of every target's question.

    `ask` does it too. Called before `Run.request` and `generate`, it refuses other words than
    those used before (InputError) while nothing has been changed or made in vain.
    """
    asked = {target: axis.asked() for target, axis in _by_target(questions, gate).items()}
    return run.add_questions(judge.spec, asked)


def ask(
    run: Run,
    judge: VisualQA,
    questions: Sequence[AxisQuestion],
    gate: Question | None,
    *,
    generator: ImageGenerator,
    progress: Progress | None = None,
    only: Collection[str] | None = None,
    about: Mapping[str, Sequence[str]] | None = None,
    at_most: int | None = None,
    beside: Callable[[], Sequence[ImageRow]] | None = None,
) -> int:
    """Ask the judge what it has not answered about the requested images; returns how many images.

    only: the ids of those to ask about; all unless given. about: what to ask, as targets, about
    the images of each prompt by its text, where that differs; everything unless given.
    at_most: images of a batch, where that is fewer than the judge's own. beside: looks up other
    images, which are asked about instead of the requested ones.

    The gate question goes with the others in one call; an image it says no to is ``gated`` on
    every axis; without one, every image is asked about. Pictures are read back from disk: one that
    is missing or damaged is made again by `generator`. The judge is not touched when there is
    nothing to ask.

    Raises as `declare` and `generate` do.
    """
    keys = declare(run, judge, questions, gate)
    by_target = _by_target(questions, gate)
    asking = _Asking(run, judge, generator, by_target, keys, only, about, at_most, beside)
    asked = 0
    # An image that had to be drawn anew on the way has lost all its answers: look once more.
    while work := asking.work():
        with showing(progress, "Answers", total=work.total, done=work.done) as shown:
            for targets, batch in work.batches:
                answers = asking.answers(targets, batch, work.missing)
                run.ledger.add_answers([row for rows in answers for row in rows], plan=work.plan)
                asked += len(answers)
                shown.advance(len(answers))
    return asked


@dataclass(frozen=True)
class _Work:
    """Batches of images to ask about, each with the targets that are open for all of them.

    missing: image key -> the targets that are to be recorded; an edited ledger may have others of
    the same batch.
    """

    plan: int
    total: int
    done: int
    batches: list[tuple[tuple[str, ...], Batch[ImageRow]]]
    missing: Mapping[int, Collection[str]]


@dataclass(frozen=True)
class _Asking:
    run: Run
    judge: VisualQA
    generator: ImageGenerator
    questions: Mapping[str, AxisQuestion]
    keys: Mapping[str, int]
    only: Collection[str] | None
    about: Mapping[str, Sequence[str]] | None
    at_most: int | None
    beside: Callable[[], Sequence[ImageRow]] | None

    def work(self) -> _Work | None:
        """What is left to ask; None when nothing is."""
        only, ledger = self.only, self.run.ledger
        answered = ledger.answered(self.judge.spec)
        there = self.beside or ledger.images
        images = [image for image in there() if only is None or image.id in only]
        missing = {
            image.key: set(self._targets(image)) - answered.get(image.key, {}).keys()
            for image in images
        }
        if not any(missing.values()):
            return None
        size = min(self.judge.batch_size, self.at_most or self.judge.batch_size)
        what = [size, list(self.questions), [image.id for image in images]]
        if self.about is not None:
            what.append([self._targets(image) for image in images])
        work = f"answers of {self.judge.spec}" + (" beside" if self.beside else "")
        plan = self.run.plan(work, what)
        gated: list[AnswerRow] = []
        groups: dict[tuple[str, ...], list[ImageRow]] = {}
        for image in images:
            before = {
                target: answer
                for target, answer in answered.get(image.key, {}).items()
                if answer.plan != plan
            }
            gate = before.get(GATE) if image.withheld is None else Answered(plan, NO, None)
            if gate is not None and gate.answer == NO:
                gated += [
                    AnswerRow(
                        image.key,
                        self.keys[target],
                        NO if target == GATE else GATED,
                        gate.confidence,
                    )
                    for target in missing[image.key]
                ]
                continue
            open_targets = tuple(target for target in self._targets(image) if target not in before)
            if open_targets:
                groups.setdefault(open_targets, []).append(image)
        if gated:
            ledger.add_answers(gated, plan=plan)
        batches = [
            (targets, batch)
            for targets, group in groups.items()
            for batch in batches_to_do(group, size, is_done=lambda image: not missing[image.key])
        ]
        left = sum(len(batch.missing) for _, batch in batches)
        return _Work(plan, len(images), len(images) - left, batches, missing)

    def _targets(self, image: ImageRow) -> list[str]:
        """What is to be asked about an image, in the order of the questions."""
        if self.about is None:
            return list(self.questions)
        gate = [GATE] if GATE in self.questions else []
        return [*gate, *self.about.get(image.text, ())]

    def answers(
        self,
        targets: Sequence[str],
        batch: Batch[ImageRow],
        missing: Mapping[int, Collection[str]],
    ) -> list[list[AnswerRow]]:
        """The `missing` answers about each image missing in `batch`, asked in one call.

        One that had to be drawn anew and is another picture now is left out: what it has lost
        may be more than `targets`.
        """
        questions = [
            question for target in targets for question in self.questions[target].questions
        ]
        pictures, changed = self._pictures(batch.items)
        replies = self.judge.answer([pictures[image.key] for image in batch.items], questions)
        if [len(row) for row in replies] != [len(questions)] * len(batch.items):
            raise ModelError(
                f"{self.judge.spec} was asked {len(questions)} questions about "
                f"{len(batch.items)} images and gave another number of answers"
            )
        for row in replies:
            for reply, question in zip(row, questions, strict=True):
                check_reply(reply, question, self.judge.spec)
        return [
            self._rows(image, targets, said, missing[image.key])
            for image, said in batch.kept(replies)
            if image.key not in changed
        ]

    def _pictures(self, images: Sequence[ImageRow]) -> tuple[dict[int, Image], set[int]]:
        """The pictures by image key, and the keys of those that are others than recorded."""
        pictures: dict[int, Image] = {}
        damaged: dict[int, ImageRow] = {}
        changed: set[int] = set()
        for image in dict.fromkeys(images):
            picture = self.run.read_image(image)
            if picture is None:
                damaged[image.key] = image
            else:
                pictures[image.key] = reduce_to_kept(picture)
        for again in _make_again(self.run, self.generator, list(damaged.values())):
            for image in again:
                picture = self.run.read_image(image)
                if picture is None:
                    path = printable(str(self.run.image_path(image)))
                    raise ModelError(f"{path} does not read back as it was written")
                pictures[image.key] = reduce_to_kept(picture)
                before = damaged[image.key]
                if (image.file.sha256, image.withheld) != (before.file.sha256, before.withheld):
                    changed.add(image.key)
        return pictures, changed

    def _rows(
        self,
        image: ImageRow,
        targets: Sequence[str],
        replies: Sequence[Answer],
        missing: Collection[str],
    ) -> list[AnswerRow]:
        verdicts: dict[str, Verdict] = {}
        left = iter(replies)
        for target in targets:
            question = self.questions[target]
            verdicts[target] = question.verdict(list(islice(left, len(question.questions))))
        gate = verdicts.get(GATE)
        if gate is not None and gate.answer == NO:
            gated = Verdict(GATED, gate.confidence)
            verdicts = {target: gate if target == GATE else gated for target in targets}
        return [
            AnswerRow(
                image.key,
                self.keys[target],
                verdict.answer,
                verdict.confidence,
                json.dumps([round(float(p), 6) for p in verdict.probabilities])
                if verdict.probabilities
                else None,
                verdict.yes,
            )
            for target, verdict in verdicts.items()
            if target in missing
        ]


def _by_target(questions: Sequence[AxisQuestion], gate: Question | None) -> dict[str, AxisQuestion]:
    """The gate question, if there is one, first: one more question with the answers yes and no."""
    first = [] if gate is None else [AxisQuestion(GATE, (gate,), ("yes", NO))]
    return {question.axis: question for question in (*first, *questions)}


def _draw(generator: ImageGenerator, items: Sequence[NewImage | ImageRow]) -> list[Picture]:
    pictures = generator.generate([item.text for item in items], [item.seed for item in items])
    if len(pictures) != len(items):
        raise ModelError(
            f"{generator.spec} was asked for {len(items)} images and gave {len(pictures)}"
        )
    return pictures


def _make_again(
    run: Run, generator: ImageGenerator, damaged: Sequence[ImageRow]
) -> Iterator[list[ImageRow]]:
    """Make damaged images again, batch by batch; yields them with the files they have now."""
    if not damaged:
        return
    before = {image.key: image.file for image in damaged}
    for batch in batches_to_do(damaged, generator.batch_size, is_done=lambda _: False):
        images = run.replace_images(batch.kept(_draw(generator, batch.items)))
        for image in images:
            if image.file.sha256 != before[image.key].sha256:
                warnings.warn(
                    f"image {image.id} was damaged and its remake is another picture; "
                    "it is asked about again",
                    DamagedImageWarning,
                    stacklevel=2,
                )
        yield images
