"""Whether diversifying moves a distribution at all: the second witness of a direction."""

from __future__ import annotations

import numpy as np

from biasgraph.causal.independence import ENOUGH_HITS, Independence, independence
from biasgraph.causal.matching import draw_subsets
from biasgraph.causal.sensitivity import weigh_alike
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.stratified import stratified_independence
from biasgraph.causal.tables import Counts

CUTS = 9


def compare_strata(
    strata: Counts,
    settings: AnalysisSettings,
    rng: np.random.Generator,
    alpha: float,
    *,
    stratified: bool,
    hits: int = ENOUGH_HITS,
    thrifty: bool = False,
) -> Independence:
    """Rows against columns of (prompts, rows, columns) counts, within prompts or summed."""
    if stratified:
        return stratified_independence(strata, settings, rng, alpha, hits)
    return independence(strata.sum(axis=0), settings, rng, alpha, hits, thrifty=thrifty)


def shift_p(
    start: Counts,
    arms: Counts,
    settings: AnalysisSettings,
    rng: np.random.Generator,
    *,
    stratified: bool,
    thrifty: bool = False,
) -> float | None:
    """The p of a set of images against the mixture of an intervention's arms.

    Args:
        start: (P, k) answers about P prompts.
        arms: (P, J, k) answers of the intervention. Where the mixture gives unequal ones equal
            weight, equally many of each are drawn, since their summed answers are of another
            mixture: CUTS times, and the median is taken, so that no single draw decides.
        settings: Of the analysis.
        rng: For drawing arms and null tables.
        stratified: Whether to test within prompts.
        thrifty: Whether nothing else is drawn from rng afterwards.
    """
    tried = [arms]
    if settings.mix == "equal" and not weigh_alike(arms.sum(axis=(0, 2))):
        tried = [_cut_to_one_size(arms, rng) for _ in range(CUTS)]
        start = start * (tried[0].sum(axis=(1, 2)) > 0)[:, None]
    both = [np.stack([start, one.sum(axis=1)], axis=1) for one in tried]
    if (both[0].sum(axis=(0, 2)) == 0).any():
        return None
    level, thrifty = settings.shift_alpha, thrifty and len(both) == 1
    found = [
        compare_strata(one, settings, rng, level, stratified=stratified, thrifty=thrifty).p
        for one in both
    ]
    return float(np.median(found))


def _cut_to_one_size(arms: Counts, rng: np.random.Generator) -> Counts:
    """Equally many answers of each arm (P, J, k), drawn within each of P prompts."""
    sizes = arms.sum(axis=-1)
    kept = np.repeat(sizes.min(axis=1, keepdims=True), arms.shape[1], axis=1)
    subsets = [draw_subsets(of[None], take, rng)[0] for of, take in zip(arms, kept, strict=True)]
    return np.stack(subsets)
