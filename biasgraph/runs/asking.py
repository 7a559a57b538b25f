"""One round of questions about a run's images: cut into batches as the images become known."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from biasgraph.errors import ModelError, printable
from biasgraph.runs.batches import Batch, batches_to_do
from biasgraph.runs.engines import Asking, Task
from biasgraph.runs.ledger_rows import GATE, AnswerRow, ImageRow, NewImage, RecordedAnswer
from biasgraph.runs.questions import GATED, AxisQuestion, Verdict

if TYPE_CHECKING:
    from biasgraph.models.base import Answer, VisualQA
    from biasgraph.runs.directory import Run
    from biasgraph.runs.progress import ShownWork

NO = "no"

MakeAgain = Callable[[Sequence[ImageRow], "ShownWork"], Iterable[ImageRow]]
"""Makes damaged images again; returns them with the files that they have now."""
Tasks = Iterator[Task[Any]]


@dataclass(frozen=True)
class Inquiry:
    """Who is asked what.

    Attributes:
        run: Keeps the answers.
        judge: Answers.
        questions: By target, the gate first.
        keys: Of the questions in the ledger, by target.
        about: What to ask about the images of each prompt, by its text; None for everything.
        at_most: Images of a batch, where that is fewer than the judge's own.
        beside: Whether it is about other images than the requested ones.
        make_again: See `MakeAgain`.
    """

    run: Run
    judge: VisualQA
    questions: Mapping[str, AxisQuestion]
    keys: Mapping[str, int]
    about: Mapping[str, Sequence[str]] | None
    at_most: int | None
    beside: bool
    make_again: MakeAgain

    def targets(self, image: NewImage | ImageRow) -> list[str]:
        """What is to be asked about an image, in the order of the questions."""
        if self.about is None:
            return list(self.questions)
        gate = [GATE] if GATE in self.questions else []
        return [*gate, *self.about.get(image.text, ())]


class Round:
    """Each of some images is asked about once, in their order.

    Its batches depend on nothing but the images and their order: neither on what is known when.
    """

    def __init__(self, inquiry: Inquiry, images: Sequence[NewImage | ImageRow]) -> None:
        self._inquiry, self._images = inquiry, images
        self._answered = inquiry.run.ledger.read_answered(inquiry.judge.spec)
        self._known: dict[str, ImageRow] = {}
        self._place = 0
        self._groups: dict[tuple[str, ...], list[ImageRow]] = {}

    def know(self, images: Iterable[ImageRow]) -> None:
        """These of its images are made by now."""
        self._known.update((image.id, image) for image in images)

    def lacks(self) -> bool:
        """Whether any of the images that are known lacks an answer."""
        return any(map(self._missing, self._known.values()))

    def done(self) -> int:
        """How many of the images that are known need not be asked about."""
        known = self._known.values()
        return sum(not self._missing(one) or self._no(one) is not None for one in known)

    def tasks(self, shown: ShownWork, *, last: bool) -> Tasks:
        """What can be asked now: full batches of known images with no unknown one before them.

        last: what is left fills a last batch, too.
        """
        images = list(self._next())
        self._record_gated(images)
        for image in images:
            if self._no(image) is not None:
                continue
            before = self._answered.get(image.key, {})
            targets = tuple(
                target
                for target in self._inquiry.targets(image)
                if target not in before or before[target].plan == self._plan
            )
            if targets:
                group = self._groups.setdefault(targets, [])
                group.append(image)
                if len(group) == self._size:
                    yield from self._cut(targets, shown)
        if last:
            for targets in list(self._groups):
                yield from self._cut(targets, shown)

    def _next(self) -> Iterator[ImageRow]:
        while self._place < len(self._images):
            image = self._known.pop(self._images[self._place].id, None)
            if image is None:
                return
            self._place += 1
            yield image

    @cached_property
    def _size(self) -> int:
        own = self._inquiry.judge.batch_size
        return min(own, self._inquiry.at_most or own)

    @cached_property
    def _plan(self) -> int:
        asked = self._inquiry
        what = [self._size, list(asked.questions), [image.id for image in self._images]]
        if asked.about is not None:
            what.append([asked.targets(image) for image in self._images])
        work = f"answers of {asked.judge.spec}" + (" beside" if asked.beside else "")
        return asked.run.plan(work, what)

    def _missing(self, image: ImageRow) -> list[str]:
        """The targets that are to be recorded; an edited ledger may have others of its batch."""
        answered = self._answered.get(image.key, {})
        return [target for target in self._inquiry.targets(image) if target not in answered]

    def _no(self, image: ImageRow) -> RecordedAnswer | None:
        """Why an image is not asked about: withheld, or another plan's gate question said no."""
        if image.withheld is not None:
            return RecordedAnswer(self._plan, NO, None)
        gate = self._answered.get(image.key, {}).get(GATE)
        said_no = gate is not None and gate.answer == NO and gate.plan != self._plan
        return gate if said_no else None

    def _record_gated(self, images: Sequence[ImageRow]) -> None:
        keys = self._inquiry.keys
        rows = [
            AnswerRow(
                image.key, keys[target], NO if target == GATE else GATED, gate.confidence
            )
            for image in images
            if (missing := self._missing(image)) and (gate := self._no(image)) is not None
            for target in missing
        ]  # fmt: skip
        if rows:
            self._inquiry.run.ledger.add_answers(rows, plan=self._plan)

    def _cut(self, targets: tuple[str, ...], shown: ShownWork) -> Tasks:
        """The batches of what is gathered about some targets."""
        group = self._groups.pop(targets)
        for batch in batches_to_do(group, self._size, is_done=lambda one: not self._missing(one)):
            yield self._task(targets, batch, shown)

    def _task(
        self, targets: Sequence[str], batch: Batch[ImageRow], shown: ShownWork
    ) -> Task[list[list[Answer]]]:
        """What is missing about the images of a batch, asked in one call.

        One that had to be drawn anew and is another picture now is left out: what it has lost
        may be more than `targets`.
        """
        inquiry = self._inquiry
        questions = [one for target in targets for one in inquiry.questions[target].questions]
        files, changed = self._files(batch.items, shown)

        def record(replies: Sequence[Sequence[Answer]]) -> int:
            rows = [
                self._rows(image, targets, said)
                for image, said in batch.keep(replies)
                if image.key not in changed
            ]
            inquiry.run.ledger.add_answers([row for own in rows for row in own], plan=self._plan)
            return len(rows)

        asking = Asking([files[image.key] for image in batch.items], questions)
        return Task(inquiry.judge, asking, record)

    def _files(
        self, images: Sequence[ImageRow], shown: ShownWork
    ) -> tuple[dict[int, bytes], set[int]]:
        """The files by image key, and the keys of those that are others than recorded."""
        run = self._inquiry.run
        files: dict[int, bytes] = {}
        damaged: dict[int, ImageRow] = {}
        changed: set[int] = set()
        for image in dict.fromkeys(images):
            file = run.read_file(image)
            if file is None:
                damaged[image.key] = image
            else:
                files[image.key] = file
        if not damaged:
            return files, changed
        for image in self._inquiry.make_again(list(damaged.values()), shown):
            file = run.read_file(image)
            if file is None:
                path = printable(str(run.image_path(image)))
                raise ModelError(f"{path} does not read back as it was written")
            files[image.key] = file
            before = damaged[image.key]
            if (image.file.sha256, image.withheld) != (before.file.sha256, before.withheld):
                changed.add(image.key)
        return files, changed

    def _rows(
        self, image: ImageRow, targets: Sequence[str], replies: Sequence[Answer]
    ) -> list[AnswerRow]:
        inquiry, missing = self._inquiry, set(self._missing(image))
        verdicts: dict[str, Verdict] = {}
        left = iter(replies)
        for target in targets:
            question = inquiry.questions[target]
            verdicts[target] = question.verdict(list(islice(left, len(question.questions))))
        gate = verdicts.get(GATE)
        if gate is not None and gate.answer == NO:
            gated = Verdict(GATED, gate.confidence)
            verdicts = {target: gate if target == GATE else gated for target in targets}
        return [
            AnswerRow(
                image.key,
                inquiry.keys[target],
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
