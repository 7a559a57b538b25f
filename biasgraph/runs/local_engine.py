"""Does a run's work: makes the images that are missing, asks what is unanswered.

Where batches are computed is an engine's affair (`runs.engines`). All may be cut short at any
moment and called again: what is recorded is never redone, and the batches that follow are the ones
that would have followed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from biasgraph.runs.asking import Inquiry, Round
from biasgraph.runs.batches import Batch, batches_to_do
from biasgraph.runs.engines import IN_PROCESS, Drawing, Engine, Task
from biasgraph.runs.ledger_rows import GATE, ImageRow, NewImage
from biasgraph.runs.progress import Progress, ShownWork, showing
from biasgraph.runs.questions import YES_NO, AxisQuestion

if TYPE_CHECKING:
    from biasgraph.models.base import ImageGenerator, Question, VisualQA
    from biasgraph.runs.directory import Run
    from biasgraph.runs.image_store import EncodedPicture

Tasks = Iterator[Task[Any]]


class DamagedImageWarning(UserWarning):
    """An image file was damaged and its remake is another picture."""


def complete(
    run: Run,
    generator: ImageGenerator,
    judge: VisualQA | None,
    questions: Sequence[AxisQuestion],
    gate: Question | None,
    *,
    engine: Engine = IN_PROCESS,
    progress: Progress | None = None,
    about: Mapping[str, Sequence[str]] | None = None,
    at_most: int | None = None,
) -> None:
    """Make every requested image that the run lacks, and ask what is not answered.

    An engine that computes several batches at a time is given questions about the first images
    while the last ones are made. Raises as `generate` and `ask`, which describe the arguments.
    """
    if judge is None or not questions:
        generate(run, generator, engine=engine, progress=progress)
        return
    following = None
    if engine.several:
        inquiry = _inquiry(run, judge, questions, gate, generator, engine, about, at_most, False)
        following = Round(inquiry, run.wanted_images())
    generate(run, generator, engine=engine, progress=progress, following=following)
    ask(
        run, judge, questions, gate, generator=generator, engine=engine, progress=progress,
        about=about, at_most=at_most,
    )  # fmt: skip


def generate(
    run: Run,
    generator: ImageGenerator,
    *,
    engine: Engine = IN_PROCESS,
    progress: Progress | None = None,
    following: Round | None = None,
) -> int:
    """Make every requested image that the run does not have; returns how many were made.

    Files that are missing or damaged are made again from their recorded seeds; an image that
    comes out as another picture loses its answers and is named in a DamagedImageWarning. The
    generator is not touched when there is nothing to do.

    following: what is asked about the images as they are recorded.

    Raises Interrupted after the batches in flight when the user asks to stop; ModelError when the
    generator or the disk fails. Whatever is recorded by then is kept.
    """
    wanted, there = run.wanted_images(), run.ledger.images
    return make_missing(run, generator, "images", wanted, there, progress, engine, following)


def make_missing(
    run: Run,
    generator: ImageGenerator,
    work: str,
    wanted: Sequence[NewImage],
    there: Callable[[], Sequence[ImageRow]],
    progress: Progress | None,
    engine: Engine,
    following: Round | None = None,
) -> int:
    """As `generate`, for any `wanted` images; `there` looks up those of them that are made."""
    damaged = run.damaged_images(there())
    if damaged:
        with showing(progress, "Damaged images", total=len(damaged), done=0) as shown:
            make_again(run, generator, engine, damaged, shown, shows=True)
    made = {image.id: image for image in there()}
    if len(made) < len(wanted):
        size = generator.batch_size
        plan = run.plan(work, [size, [image.id for image in wanted]])
        items = [image for image in wanted if image.id not in made or made[image.id].plan == plan]
        batches = batches_to_do(items, size, is_done=lambda image: image.id in made)
        if following is not None:
            following.know(made.values())
        with showing(progress, work.capitalize(), total=len(wanted), done=len(made)) as shown:
            engine.run(_draw(run, generator, batches, plan, following, shown), shown)
    return len(damaged) + len(wanted) - len(made)


def _draw(
    run: Run,
    generator: ImageGenerator,
    batches: Sequence[Batch[NewImage]],
    plan: int,
    following: Round | None,
    shown: ShownWork,
) -> Tasks:
    """Images to be made, and between them what can be asked about those that are there."""

    def record(batch: Batch[NewImage], pictures: Sequence[EncodedPicture]) -> int:
        rows = run.add_images(batch.keep(pictures), plan=plan)
        if following is not None:
            following.know(rows)
        return len(rows)

    for batch in batches:
        if following is not None:
            for task in following.tasks(shown, last=False):
                yield task.unseen()
        yield Task(generator, _drawing(batch.items), partial(record, batch))


def declare(
    run: Run, judge: VisualQA, questions: Sequence[AxisQuestion], gate: Question | None
) -> dict[str, int]:
    """Record what the judge is asked; returns the ledger's key of every target's question.

    `ask` does it too. Called before `Run.request` and `generate`, it refuses other words than
    those used before (InputError) while nothing has been changed or made in vain.
    """
    asked = {target: axis.wording() for target, axis in _by_target(questions, gate).items()}
    return run.add_questions(judge.spec, asked)


def ask(
    run: Run,
    judge: VisualQA,
    questions: Sequence[AxisQuestion],
    gate: Question | None,
    *,
    generator: ImageGenerator,
    engine: Engine = IN_PROCESS,
    progress: Progress | None = None,
    only: Collection[str] | None = None,
    about: Mapping[str, Sequence[str]] | None = None,
    at_most: int | None = None,
    beside: Callable[[], Sequence[ImageRow]] | None = None,
) -> int:
    """Ask the judge what it has not answered about the requested images; returns how many images.

    engine: where it is computed. only: the ids of those to ask about; all unless given. about: what
    to ask, as targets, about the images of each prompt by its text, where that differs; everything
    unless given. at_most: images of a batch, where that is fewer than the judge's own. beside:
    looks up other images, which are asked about instead of the requested ones.

    The gate question goes with the others in one call; an image it says no to is ``gated`` on
    every axis; without one, every image is asked about. Pictures are read back from disk: one that
    is missing or damaged is made again by `generator`. The judge is not touched when there is
    nothing to ask.

    Raises as `declare` and `generate` do.
    """
    inquiry = _inquiry(
        run, judge, questions, gate, generator, engine, about, at_most, beside is not None
    )
    there = beside or run.ledger.images
    asked = 0
    # An image that had to be drawn anew on the way has lost all its answers: look once more.
    while True:
        images = [image for image in there() if only is None or image.id in only]
        work = Round(inquiry, images)
        work.know(images)
        if not work.lacks():
            return asked
        with showing(progress, "Answers", total=len(images), done=work.done()) as shown:
            asked += engine.run(work.tasks(shown, last=True), shown)


def _inquiry(
    run: Run,
    judge: VisualQA,
    questions: Sequence[AxisQuestion],
    gate: Question | None,
    generator: ImageGenerator,
    engine: Engine,
    about: Mapping[str, Sequence[str]] | None,
    at_most: int | None,
    beside: bool,
) -> Inquiry:
    keys = declare(run, judge, questions, gate)
    again = partial(make_again, run, generator, engine)
    return Inquiry(run, judge, _by_target(questions, gate), keys, about, at_most, beside, again)


def _by_target(questions: Sequence[AxisQuestion], gate: Question | None) -> dict[str, AxisQuestion]:
    """The gate question, if there is one, first: one more question with the answers yes and no."""
    first = [] if gate is None else [AxisQuestion(GATE, (gate,), YES_NO)]
    return {question.axis: question for question in (*first, *questions)}


def _drawing(items: Sequence[NewImage | ImageRow]) -> Drawing:
    return Drawing([item.text for item in items], [item.seed for item in items])


def make_again(
    run: Run,
    generator: ImageGenerator,
    engine: Engine,
    damaged: Sequence[ImageRow],
    shown: ShownWork,
    *,
    shows: bool = False,
) -> list[ImageRow]:
    """Make damaged images again; returns them with the files they have now.

    shows: whether `shown` counts them.
    """
    before = {image.key: image.file for image in damaged}
    now: list[ImageRow] = []

    def record(batch: Batch[ImageRow], pictures: Sequence[EncodedPicture]) -> int:
        images = run.replace_images(batch.keep(pictures))
        for image in images:
            if image.file.sha256 != before[image.key].sha256:
                warnings.warn(
                    f"image {image.id} was damaged and its remake is another picture; "
                    "it is asked about again",
                    DamagedImageWarning,
                    stacklevel=2,
                )
        now.extend(images)
        return len(images) if shows else 0

    batches = batches_to_do(damaged, generator.batch_size, is_done=lambda _: False)
    engine.run(
        (Task(generator, _drawing(batch.items), partial(record, batch)) for batch in batches), shown
    )
    return now
