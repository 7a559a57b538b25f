"""Images of prompts that stand in no table, beside a run's request, which stays as it is.

Variations of a prompt, made to see what the model could do; prompts short of a word, whose images
are made from the seeds of the prompt's own; the prompts that a search comes upon. They are kept in
the run as all images are, and made once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from biasgraph.errors import InputError
from biasgraph.prompts.counterfactuals import Prompt
from biasgraph.runs.engines import IN_PROCESS, Engine
from biasgraph.runs.ledger_rows import OTHER
from biasgraph.runs.local_engine import make_missing
from biasgraph.runs.wanted_images import PAIRED, prompt_rows, wanted_images

if TYPE_CHECKING:
    from biasgraph.models.base import ImageGenerator
    from biasgraph.runs.directory import Run
    from biasgraph.runs.ledger_rows import ImageRow, NewImage, PromptRow
    from biasgraph.runs.progress import Progress


def imagine(
    run: Run,
    generator: ImageGenerator,
    initial: str,
    prompts: Sequence[Prompt],
    count: int,
    progress: Progress | None = None,
    engine: Engine = IN_PROCESS,
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

    def find_made() -> list[ImageRow]:
        found = {image.id: image for row in others for image in run.ledger.images_of(row.id)}
        return [found[image.id] for image in wanted if image.id in found]

    make_missing(run, generator, "other images", wanted, find_made, progress, engine)
    return find_made()


def pair_texts(texts: Mapping[str, Sequence[str]]) -> list[list[Prompt]]:
    """Initial prompts with the texts that belong to each, whose images have its own seeds."""
    return [
        [Prompt(initial, "initial")]
        + [Prompt(text, OTHER, "", PAIRED) for text in dict.fromkeys(others)]
        for initial, others in texts.items()
    ]


@dataclass(frozen=True)
class OtherImages:
    """Images of initial prompts and of the prompts that belong to them.

    Attributes:
        run: The run that keeps them.
        rows: Initial prompt -> the prompts as the run has them, the initial one first.
        wanted: The images, each prompt's first, each prompt's second ...
    """

    run: Run
    rows: Mapping[str, Sequence[PromptRow]]
    wanted: Sequence[NewImage]

    @classmethod
    def of(
        cls, run: Run, plans: Sequence[Sequence[Prompt]], count: int, first: int = 0
    ) -> OtherImages:
        """Images `first` to `first + count - 1` of each prompt; an initial one leads its plan."""
        rows = {plan[0].text: prompt_rows(plan) for plan in plans}
        every = [row for own in rows.values() for row in own]
        images = wanted_images(every, first + count, run.seed, run.model)
        return cls(run, rows, [image for image in images if image.number >= first])

    def make(
        self,
        generator: ImageGenerator,
        progress: Progress | None = None,
        engine: Engine = IN_PROCESS,
    ) -> None:
        """Make those that the run lacks, in batches that mix prompts and texts; as `imagine`."""
        every = [row for own in self.rows.values() for row in own]
        generator.check_prompts([row.text for row in every])
        self.run.ledger.add_prompts(every)
        make_missing(self.run, generator, "images", self.wanted, self.there, progress, engine)

    def there(self) -> list[ImageRow]:
        """Those that are made."""
        prompts = [row.id for own in self.rows.values() for row in own]
        found = {image.id: image for id in prompts for image in self.run.ledger.images_of(id)}
        return [found[image.id] for image in self.wanted if image.id in found]

    def by_text(self) -> dict[str, dict[str, list[ImageRow]]]:
        """Initial prompt -> text, the prompt itself among them -> its images by number."""
        of: dict[str, list[ImageRow]] = {}
        for image in self.there():
            of.setdefault(image.id.rpartition("-")[0], []).append(image)
        return {
            initial: {row.text: of.get(row.id, []) for row in own}
            for initial, own in self.rows.items()
        }


def readable(
    texts: Sequence[str], check: Callable[[Sequence[str]], object]
) -> tuple[list[str], dict[str, str]]:
    """The texts that a generator takes whole, and the others with what it says of them."""
    taken: list[str] = []
    refused: dict[str, str] = {}
    for text in texts:
        try:
            check([text])
        except InputError as error:
            refused[text] = str(error)
        else:
            taken.append(text)
    return taken, refused
