"""Which pictures of a run to look at where looking at all would be too much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgraph.causal.settings import generator
from biasgraph.runs.ledger_rows import CONTROL

if TYPE_CHECKING:
    from biasgraph.runs.directory import Run
    from biasgraph.runs.ledger_rows import ImageRow


def sample(run: Run, judge: str, number: int, seed: int) -> list[ImageRow]:
    """`number` pictures, evenly from the initial images, controls and every intervention's.

    They are drawn in rounds, each of which takes one of every set in random order, so that a
    larger sample begins with the smaller one. Withheld pictures are left out.
    """
    table = run.answers(judge).drop_duplicates("image")
    table.loc[table["role"] == CONTROL, "attribute"] = CONTROL  # a set beside the initial images
    columns = (table[name].astype(str) for name in ("image", "prompt", "axis", "attribute"))
    place = {image: (prompt, *arm) for image, prompt, *arm in zip(*columns, strict=True)}
    sets: dict[tuple[str, ...], list[ImageRow]] = {}
    for image in run.ledger.images():
        if image.withheld is None and image.id in place:
            sets.setdefault(place[image.id], []).append(image)
    orders = [
        [images[i] for i in generator(seed, "label", *name).permutation(len(images))]
        for name, images in sorted(sets.items())
    ]
    chosen: list[ImageRow] = []
    for turn in range(max(map(len, orders), default=0)):
        left = [images[turn] for images in orders if turn < len(images)]
        order = generator(seed, "label", str(turn)).permutation(len(left))
        chosen += [left[i] for i in order]
    return chosen[:number]
