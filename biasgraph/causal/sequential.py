"""Images only where they still decide something: pairs of axes are looked at until decided.

At every look, fixed before the first image, each open pair is tested and measured in its first
images at levels that are divided by the number of looks (`AnalysisSettings.shared`): by the union
bound whatever is claimed holds over all looks. It costs next to nothing against exact boundaries
and also holds for p-values drawn by Monte Carlo and for the test within prompts. A pair stays as
it was when it was decided: its row is the one of that look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from biasgraph.causal.baseline import Baseline
from biasgraph.causal.pairs import Pairs
from biasgraph.causal.rows import PairRow, flag
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Codes, Pool
from biasgraph.causal.unknown_answers import treat_unknown
from biasgraph.causal.verdicts import judge

Place = tuple[int, int]
"""Indices of a source and a target."""


def first_images(pool: Pool, images: int) -> Pool:
    """The pool of the first so many images of each prompt, and of each of its rewordings."""
    return Pool.of(pool.name, [_first_of(one, images) for one in pool.prompts])


def _first_of(prompt: CodedImages, images: int) -> CodedImages:
    before, controls = len(prompt.initial), prompt.controls
    if before and len(controls) and len(controls) % before == 0:  # as many of each rewording
        each = controls.reshape(-1, before, controls.shape[1])[:, :images]
        controls = each.reshape(-1, controls.shape[1])
    arms: Mapping[Place, Codes] = {arm: codes[:images] for arm, codes in prompt.arms.items()}
    return replace(prompt, initial=prompt.initial[:images], arms=arms, controls=controls)


@dataclass(frozen=True)
class Looked:
    """What became of every pair.

    Attributes:
        rows: By source and target, the diagonal included.
        looks: How many were taken.
    """

    rows: list[PairRow]
    looks: int

    @property
    def open(self) -> list[PairRow]:
        """The pairs that further images could decide."""
        return [
            row for row in self.rows if row.decided is False and "no_intervention" not in row.flags
        ]

    @property
    def open_sources(self) -> list[str]:
        """The axes whose images open pairs wait for."""
        return list(dict.fromkeys(row.source for row in self.open))

    def next_images(self, looks: Sequence[int]) -> dict[str, int]:
        """Axis -> images of its prompts at the next look that an open pair waits for."""
        taken = {row.source: row.look if isinstance(row.look, int) else 0 for row in self.open}
        return {source: looks[look] for source, look in taken.items() if look < len(looks)}


def look_at(
    prompts: Sequence[CodedImages], settings: AnalysisSettings, baseline: Baseline, *, several: bool
) -> Looked:
    """What the pairs of one prompt's graph, or of the graph of several, have come to.

    Args:
        prompts: The coded images there are, of every prompt.
        settings: Of the analysis.
        baseline: What the distributions are compared with.
        several: Whether the graph is that of the prompts' sum.
    """
    counted = [treat_unknown(images, settings, baseline.axes) for images in prompts]
    ideals = baseline.ideals(counted[0].variables, settings.metric)
    pool, rule = Pool.of(counted[0].prompt, counted), settings.prompt_rule
    if several:
        pool, rule = Pool.summed(counted), settings.global_rule
    _, pairs = Pairs.prepared(pool, ideals, settings, rule)
    return until_decided(pairs)


def until_decided(pairs: Pairs) -> Looked:
    """Look at every pair until it is decided, or there are no images for another look.

    Args:
        pairs: Of all images there are; those of the settings' looks that a pair needs are taken
            from them, each prompt's first.
    """
    settings, pool = pairs.settings, pairs.pool
    indices = range(len(pool.variables))
    open_pairs = [place for place in permutations(indices, 2) if pool.total.arms_of(place[0])]
    rows: dict[Place, PairRow] = {}
    taken = 0
    for look, images in enumerate(settings.looks, 1):
        ready = [place for place in open_pairs if _has_images(pool, place[0], images)]
        if not ready:
            break
        taken = look
        _, now = Pairs.prepared(first_images(pool, images), pairs.ideals, settings, pairs.rule)
        for place, row in _look(now, ready, rows).items():
            differs = row.edge or "below_min_is" in row.flags
            before = rows.get(place)
            edge_look = before.edge_look if before else None
            rows[place] = replace(
                row,
                look=look,
                look_images=images,
                edge_look=edge_look or (look if differs else None),
                decided=is_decided(row, settings),
            )
        open_pairs = [place for place in open_pairs if not _decided(rows.get(place))]
    every = [rows.get((x, y)) or _unlooked(pairs, x, y) for x in indices for y in indices]
    return Looked(pairs.mark_weak(every), taken)


def _decided(row: PairRow | None) -> bool:
    return row is not None and row.decided is True


def _has_images(pool: Pool, x: int, images: int) -> bool:
    """Whether each prompt has so many, and each of its interventions on x."""
    return all(
        min(len(one.initial), *(len(one.arms[arm]) for arm in one.arms_of(x))) >= images
        for one in pool.prompts
        if one.arms_of(x)
    )


def _look(
    pairs: Pairs, places: Sequence[Place], before: Mapping[Place, PairRow]
) -> dict[Place, PairRow]:
    """The pairs at these places, in the images of `pairs`, judged.

    p and shifts are adjusted over them and the pairs that stopped. Arms that differed at an earlier
    look do.
    """
    now = {place: pairs.row(*place) for place in places}
    known = {(row.source, row.target) for row in before.values() if row.edge_look}
    every = {**before, **now}
    judged = judge(pairs.decide(list(every.values()), known), pairs.settings, pairs.rule)
    found = dict(zip(every, judged, strict=True))
    return {place: flag(found[place], "adaptive") for place in places}


def is_decided(row: PairRow, settings: AnalysisSettings) -> bool:
    """Whether a pair needs no further images.

    One that is no edge is decided once V is bounded below `min_v`; an edge at once, or, where its
    direction is wanted (`settings.decide`), with a direction or |IS| bounded below `delta`.
    """
    if row.edge and settings.decide == "edges":
        return True
    if row.edge or "below_min_is" in row.flags:
        return row.verdict in ("towards", "away", "below_delta")
    return row.verdict is not None and row.v_high is not None and row.v_high < settings.min_v


def _unlooked(pairs: Pairs, x: int, y: int) -> PairRow:
    """A pair without a look: an axis's own, or one with too few images for the first look."""
    row = pairs.row(x, y)
    if x == y:
        return judge([row], pairs.settings, pairs.rule)[0]
    row = replace(row, decided=False, look=None, look_images=None, edge_look=None)
    return row if row.is_ is None else replace(row, verdict="undecided")
