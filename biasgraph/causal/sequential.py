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
from biasgraph.causal.e_process import e_bh, log_e_values
from biasgraph.causal.pairs import Pairs
from biasgraph.causal.rows import PairRow, flag
from biasgraph.causal.settings import FDR_LEVEL, AnalysisSettings, EdgeRule
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
class LookResult:
    """What became of every pair of two axes.

    Attributes:
        rows: By source and target.
        looks: How many were taken.
    """

    rows: list[PairRow]
    looks: int

    @property
    def open(self) -> list[PairRow]:
        """The pairs that further images could decide."""
        return [row for row in self.rows if row.decided is False]

    @property
    def open_sources(self) -> list[str]:
        """The axes whose images open pairs wait for."""
        return list(dict.fromkeys(row.source for row in self.open))

    def next_images(self, looks: Sequence[int]) -> dict[str, int]:
        """Axis -> images of its prompts at the next look that an open pair waits for."""
        taken = {row.source: row.look if isinstance(row.look, int) else 0 for row in self.open}
        return {source: looks[look] for source, look in taken.items() if look < len(looks)}


def look_at(
    prompts: Sequence[CodedImages],
    settings: AnalysisSettings,
    baseline: Baseline,
    *,
    several: bool,
    before: LookResult | None = None,
) -> LookResult:
    """What the pairs of one prompt's graph, or of the graph of several, have come to.

    Args:
        prompts: The coded images there are, of every prompt.
        settings: Of the analysis.
        baseline: What the distributions are compared with.
        several: Whether the graph is that of the prompts' sum.
        before: See `until_decided`.
    """
    counted = [treat_unknown(images, settings, baseline.axes) for images in prompts]
    ideals = baseline.ideals(counted[0].variables, settings.metric)
    pool, rule = Pool.of(counted[0].prompt, counted), settings.prompt_rule
    if several:
        pool, rule = Pool.sum(counted), settings.global_rule
    _, pairs = Pairs.prepare(pool, ideals, settings, rule)
    return until_decided(pairs, before)


def until_decided(pairs: Pairs, before: LookResult | None = None) -> LookResult:
    """Look at every pair until it is decided, or there are no images for another look.

    Args:
        pairs: Of all images there are; those of the settings' looks that a pair needs are taken
            from them, each prompt's first.
        before: The looks that were taken when there were fewer images, and need not be again.
    """
    settings, pool = pairs.settings, pairs.pool
    indices = range(len(pool.variables))
    taken, known = (before.looks, before.rows) if before else (0, [])
    every = zip(permutations(indices, 2), known, strict=False)
    rows = {place: row for place, row in every if isinstance(row.look, int)}
    open_pairs = [
        place
        for place in permutations(indices, 2)
        if pool.total.arms_of(place[0]) and not _is_decided(rows.get(place))
    ]
    for look, images in enumerate(settings.looks[taken:], taken + 1):
        ready = [place for place in open_pairs if _has_images(pool, place[0], images)]
        if not ready:
            break
        taken = look
        _, now = Pairs.prepare(first_images(pool, images), pairs.ideals, settings, pairs.rule)
        for place, row in _look(now, ready, rows).items():
            differs = row.edge or "below_min_is" in row.flags
            earlier = rows.get(place)
            edge_look = earlier.edge_look if earlier else None
            rows[place] = replace(
                row,
                look=look,
                look_images=images,
                edge_look=edge_look or (look if differs else None),
                decided=is_decided(row, settings, pairs.rule),
            )
        open_pairs = [place for place in open_pairs if not _is_decided(rows.get(place))]
    places = permutations(indices, 2)
    return LookResult([rows.get(place) or _skip_look(pairs, *place) for place in places], taken)


def rows_until_decided(pairs: Pairs) -> list[PairRow]:
    """Every ordered pair as it stopped, and each axis's own, in all images.

    Args:
        pairs: As for `until_decided`.
    """
    names = [variable.name for variable in pairs.pool.variables]
    found = {(row.source, row.target): row for row in until_decided(pairs).rows}
    for x, name in enumerate(names):
        found[name, name] = judge([pairs.row(x, x)], pairs.settings, pairs.rule)[0]
    return pairs.mark_weak([found[source, target] for source in names for target in names])


def _is_decided(row: PairRow | None) -> bool:
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
    if pairs.rule.fdr is not None:
        now = {place: _with_evidence(pairs, row, place, before) for place, row in now.items()}
    every = {**before, **now}
    if pairs.rule.fdr is not None:
        known |= _by_evidence(list(every.values()))
    judged = judge(pairs.decide(list(every.values()), known), pairs.settings, pairs.rule)
    found = dict(zip(every, judged, strict=True))
    return {place: flag(found[place], "adaptive") for place in places}


def _with_evidence(
    pairs: Pairs, row: PairRow, place: Place, before: Mapping[Place, PairRow]
) -> PairRow:
    """The row with its e-value, which stays as it was when it made the pair an edge.

    So the e-values of edges never fall again, and whatever e-BH has rejected it rejects in the end.
    """
    earlier = before.get(place)
    if earlier is not None and earlier.edge_look:
        return replace(row, log_e=earlier.log_e)
    values = log_e_values(pairs.pool.prompts, *place)
    return replace(row, log_e=float(values[-1]) if len(values) else None)


def _by_evidence(rows: Sequence[PairRow]) -> set[tuple[str, str]]:
    """The pairs whose arms differ by their e-values, at a false discovery rate of .05."""
    tested = [row for row in rows if isinstance(row.log_e, float)]
    rejected = e_bh([float(str(row.log_e)) for row in tested], FDR_LEVEL)
    return {(row.source, row.target) for row, found in zip(tested, rejected, strict=True) if found}


def is_decided(row: PairRow, settings: AnalysisSettings, rule: EdgeRule) -> bool:
    """Whether a pair needs no further images.

    One that is no edge is decided once V is bounded below `min_v`; an edge with a direction or |IS|
    bounded below `delta`, or, where its direction is not wanted (`settings.decide`), once |IS| is
    bounded above the rule's `min_is`: the first look at which it seems to be would be no test.
    """
    if row.edge and settings.decide == "edges":
        return _is_beyond(row, rule.min_is)
    if row.edge or "below_min_is" in row.flags:
        return row.verdict in ("towards", "away", "below_delta")
    return row.verdict is not None and row.v_high is not None and row.v_high < settings.min_v


def _is_beyond(row: PairRow, least: float) -> bool:
    """Whether the interval of IS lies above `least`, or below its negative; always for 0."""
    low, high = row.is_ci_low, row.is_ci_high
    if not least:
        return True
    return low is not None and high is not None and (low > least or high < -least)


def _skip_look(pairs: Pairs, x: int, y: int) -> PairRow:
    """A pair with too few images for the first look, or without any intervention."""
    row = pairs.row(x, y)
    waits = False if pairs.pool.total.arms_of(x) else None
    row = replace(row, decided=waits, look=None, look_images=None, edge_look=None)
    return row if row.is_ is None else replace(row, verdict="undecided")
