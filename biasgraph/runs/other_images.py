"""Images of prompts that stand in no table, beside a run's request, which stays as it is.

Their role is `other`: variations of a prompt, made to see what the model could do. They are kept in
the run as all images are, and made once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from biasgraph.prompts.counterfactuals import Prompt
from biasgraph.runs.local_engine import make_missing
from biasgraph.runs.wanted_images import prompt_rows, wanted_images

if TYPE_CHECKING:
    from biasgraph.models.base import ImageGenerator
    from biasgraph.runs.directory import Run
    from biasgraph.runs.ledger_rows import ImageRow
    from biasgraph.runs.progress import Progress


def imagine(
    run: Run,
    generator: ImageGenerator,
    initial: str,
    prompts: Sequence[Prompt],
    count: int,
    progress: Progress | None = None,
) -> list[ImageRow]:
    """Make `count` images in all, evenly spread over prompts that belong to an initial one.

    initial: its text. The role of the prompts is `other`. Returns the images, prompt by prompt.

    Raises:
        Interrupted: the user stopped it. InputError: the generator takes no such prompt.
        ModelError: the generator or the disk failed.
    """
    rows = prompt_rows([Prompt(initial, "initial"), *prompts])
    others = rows[1:]
    generator.check_prompts([row.text for row in others])
    ends = [count * place // len(others) for place in range(len(others) + 1)]
    shares = {row.id: ends[place + 1] - ends[place] for place, row in enumerate(others)}
    run.ledger.add_prompts(rows)
    wanted = [
        image
        for image in wanted_images(rows, max(shares.values()), run.seed, run.model)
        if image.number < shares.get(image.prompt, 0)
    ]

    def made() -> list[ImageRow]:
        found = {image.id: image for row in others for image in run.ledger.images_of(row.id)}
        return [found[image.id] for image in wanted if image.id in found]

    make_missing(run, generator, "other images", wanted, made, progress)
    return made()
