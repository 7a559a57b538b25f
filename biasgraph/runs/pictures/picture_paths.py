"""Where pictures lie in a folder that biasgraph lays out, and the manifest that says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from biasgraph.io.csv_files import to_csv
from biasgraph.io.folder_names import folder_name, slug
from biasgraph.runs.pictures.layouts import CONTROL, INITIAL, key_of
from biasgraph.runs.wanted_images import image_id, prompt_rows, wanted_images

if TYPE_CHECKING:
    from biasgraph.prompts.counterfactuals import PromptPlan

Cells = Mapping[str, str | int]
SEED_BITS = 31
"""Web interfaces take seeds of so many bits; a run's own have 63."""


class Places:
    """Gives pictures their paths: ``initial/0000.png``, ``gender/male/0000.png``.

    Neutral rewordings lie in ``control/a-certain-nurse/0000.png``.
    Of several initial prompts, each has a folder of its own.
    """

    def __init__(self, prompts: Sequence[str]) -> None:
        self._several = len(prompts) > 1
        self._names: dict[tuple[str, ...], str] = {}
        self._counts: dict[str, int] = {}

    def next(self, prompt: str, axis: str, attribute: str, control: str = "") -> str:
        """The path of the next picture of a set; axis and attribute are empty for the initial.

        control: the text of a neutral rewording.
        """
        parts: list[tuple[str, ...]] = [(prompt,)] if self._several else []
        if control:
            parts += [(prompt, CONTROL, ""), (prompt, "", control)]
        else:
            parts += [(prompt, axis), (prompt, axis, attribute)] if axis else [(prompt, "")]
        folder = "/".join(self._name(part) for part in parts)
        number = self._counts.get(folder, 0)
        self._counts[folder] = number + 1
        return f"{folder}/{number:04d}.png"

    def _name(self, path: tuple[str, ...]) -> str:
        """A folder's name: what it stands for, with a hash where two would be called the same."""
        if path not in self._names:
            text = path[-1] or (CONTROL if len(path) > 2 else INITIAL)
            name = slug(text)
            siblings = {
                key_of(one)
                for other, one in self._names.items()
                if other[:-1] == path[:-1] and len(other) == len(path)
            }
            reserved = {INITIAL, CONTROL} if path[-1] else set()
            self._names[path] = folder_name(text) if key_of(name) in siblings | reserved else name
        return self._names[path]


def manifest_of(
    plans: Sequence[PromptPlan], images: int, seed: int, only: Mapping[str, range] | None = None
) -> bytes:
    """A manifest of what has to be made: a row for each picture of each prompt, with a seed.

    only: prompt id -> the numbers of its pictures, of at most `images`, where not all are wanted.
    """
    places = Places([plan.initial.text for plan in plans])
    rows: list[Cells] = []
    for plan in plans:
        prompts = prompt_rows(plan.prompts)
        seeds = {image.id: image.seed for image in wanted_images(prompts, images, seed, "")}
        for prompt in prompts:
            reworded = prompt.text if prompt.role == CONTROL else ""
            place = plan.initial.text, prompt.axis, prompt.attribute, reworded
            wanted = range(images) if only is None else only.get(prompt.id, range(0))
            for number in range(images):
                path = places.next(*place)
                if number not in wanted:
                    continue
                rows.append(
                    {
                        "path": path,
                        "role": prompt.role,
                        "axis": prompt.axis,
                        "attribute": prompt.attribute,
                        "prompt": prompt.text,
                        "initial": plan.initial.text,
                        "seed": seeds[image_id(prompt.id, number)] >> (63 - SEED_BITS),
                    }
                )
    return table_of(rows, several=len(plans) > 1)


def table_of(rows: Iterable[Cells], *, several: bool) -> bytes:
    """A manifest as CSV.

    Args:
        rows: its cells by column.
        several: whether it has the column that tells initial prompts apart.
    """
    import pandas as pd

    frame = pd.DataFrame.from_records(list(rows))
    return to_csv(frame if several else frame.drop(columns="initial"))
