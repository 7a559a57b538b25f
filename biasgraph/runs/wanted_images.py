"""Which images a run is to hold: ids, seeds, and pictures that are there already."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from biasgraph.errors import InputError, printable, show_path
from biasgraph.runs.ledger_rows import CONTROL, OTHER, GivenPicture, NewImage, PromptRow
from biasgraph.runs.storage import NEW_RUN

if TYPE_CHECKING:
    from biasgraph.prompts.counterfactuals import Prompt

PAIRED = "same seeds"
"""The attribute of a prompt of the role `other` whose images have its initial prompt's seeds."""
NAMED = 3
"""Pictures that a message names."""

Counts = int | Mapping[str, int]
"""How many images of each prompt, or of all alike; by their ids."""

Numbered = Mapping[str, Mapping[int, GivenPicture]]
"""prompt id -> number of the image -> the picture that is there."""


def digest(value: object) -> str:
    """The SHA-256 (hex) of JSON types."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def seed_for(run_seed: int, model_spec: str, prompt_text: str, index: int) -> int:
    """The seed of a prompt's image `index`, in [0, 2**63): from its inputs alone, by SHA-256."""
    return int(digest([run_seed, model_spec, prompt_text, index])[:16], 16) >> 1


def prompt_rows(plan: Sequence[Prompt]) -> list[PromptRow]:
    """An initial prompt and those that belong to it, with ids that depend on nothing else."""
    initial = plan[0]
    ids = [
        digest([initial.text, prompt.role, prompt.axis, prompt.attribute, prompt.text])[:12]
        for prompt in plan
    ]
    return [
        PromptRow(id, ids[0], prompt.text, prompt.role, prompt.axis, prompt.attribute)
        for id, prompt in zip(ids, plan, strict=True)
    ]


def wanted_images(
    prompts: Sequence[PromptRow], counts: Counts, seed: int, model: str
) -> list[NewImage]:
    """So many images of each prompt to be made: each prompt's first, each prompt's second ...

    Those of controls follow all others, whose batches are the same with and without them.
    """
    texts = {prompt.id: prompt.text for prompt in prompts}

    def seed_text(prompt: PromptRow) -> str:
        """Its text, or that of its initial prompt whose images its own are paired with.

        What else is worded as its initial prompt must not repeat that one's images.
        """
        if prompt.role == OTHER and prompt.attribute == PAIRED:
            return texts[prompt.initial]
        if prompt.id == prompt.initial or prompt.text != texts[prompt.initial]:
            return prompt.text
        return f"{prompt.text}\n{prompt.axis}: {prompt.attribute}"

    return [
        _image(prompt, number, seed_for(seed, model, seed_text(prompt), number))
        for prompt, number in _in_order(prompts, counts)
    ]


def given_images(prompts: Sequence[PromptRow], counts: Counts, given: Numbered) -> list[NewImage]:
    """At most so many images of each prompt that are there already, in the same order."""
    return [
        _image(prompt, number, picture.seed)
        for prompt, number in _in_order(prompts, counts)
        if (picture := given.get(prompt.id, {}).get(number)) is not None
    ]


def _in_order(prompts: Sequence[PromptRow], counts: Counts) -> Iterator[tuple[PromptRow, int]]:
    for controls in (False, True):
        own = [prompt for prompt in prompts if (prompt.role == CONTROL) is controls]
        each = {one.id: counts if isinstance(counts, int) else counts[one.id] for one in own}
        for number in range(max(each.values(), default=0)):
            yield from ((prompt, number) for prompt in own if number < each[prompt.id])


def number_pictures(
    now: Mapping[str, Sequence[GivenPicture]] | None, before: Numbered, count: int, directory: Path
) -> dict[str, dict[int, GivenPicture]]:
    """The first `count` pictures of each prompt with their numbers.

    before: those that the run in `directory` was given earlier; they keep their numbers, and new
    ones follow in their order. A picture is known by its seed, so that its file may be renamed.
    Raises InputError, naming them, for pictures that are not there any more.
    """
    pictures, gone = {}, []
    for prompt, there in (now or {}).items():
        recorded = {n: one for n, one in before.get(prompt, {}).items() if n < count}
        left = list(there)
        kept: dict[int, GivenPicture] = {}
        for number, picture in recorded.items():
            same = next((one for one in left if one.seed == picture.seed), None)
            if same is None:
                gone.append(picture.source)
                continue
            left.remove(same)
            kept[number] = same
        free = (number for number in range(count) if number not in recorded)
        pictures[prompt] = {**kept, **dict(zip(free, left, strict=False))}
    if gone:
        raise InputError(_gone(gone, directory))
    return pictures


def _gone(sources: Sequence[str], directory: Path) -> str:
    names = ", ".join(map(printable, sources[:NAMED]))
    more = f" and {len(sources) - NAMED:,} more" if len(sources) > NAMED else ""
    verb = "are" if len(sources) > 1 else "is"
    these = "them" if len(set(sources)) > 1 else "it"
    return (
        f"{show_path(directory)} cannot be resumed: {names}{more} {verb} missing, changed, or now "
        f"the same picture as another of its set, which counts once; put {these} back, or {NEW_RUN}"
    )


def image_id(prompt: str, number: int) -> str:
    """The id of image `number` of the prompt with this id."""
    return f"{prompt}-{number:04d}"


def _image(prompt: PromptRow, number: int, seed: int) -> NewImage:
    return NewImage(image_id(prompt.id, number), prompt.id, prompt.text, number, seed)
