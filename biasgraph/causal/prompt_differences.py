"""What prompts show one by one where their sum may hide it (STATISTICS (k), 7).

Nurses who are women and engineers who are men sum to a balanced set of images. The mean of the
prompts' own distances says how far the images of a prompt are from the ideal, and a chi-square test
whether the prompts differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from biasgraph.causal.independence import adjust_p, independence
from biasgraph.causal.intervals import ROUNDING, Interval
from biasgraph.causal.matching import gap_scale, gap_terms, hypergeometric
from biasgraph.causal.nodes import NULL_DRAWS
from biasgraph.causal.resampling import PSEUDO, resample
from biasgraph.causal.rows import Ends, NodeRow, NullBand, PromptsTest, flag
from biasgraph.causal.settings import FDR_LEVEL, TAIL, AnalysisSettings, generator
from biasgraph.causal.tables import Counts, Floats
from biasgraph.causal.transport import Ideal

CLEAR = 0.03  # what one would look at, as supp. A.8 does with |IS|
CANCEL_LEVEL = 0.025  # over all axes of a graph


def compare_prompts(
    name: str,
    nodes: Sequence[NodeRow],
    prompts: Mapping[str, Sequence[NodeRow]],
    settings: AnalysisSettings,
) -> list[NodeRow]:
    """The nodes of a sum with what its prompts say one by one, and whether that cancels in it.

    `prompts_cancel` is flagged where the mean of the prompts' distances exceeds that of the sum by
    `CLEAR` at least and `cancel_p`, times the number of axes, is at most `CANCEL_LEVEL`.

    Args:
        name: What the random draws are named after.
        nodes: Of the sum.
        prompts: The nodes of each prompt's own graph, in the same order.
        settings: Of the analysis.
    """
    tests, compared = [], []
    for y, node in enumerate(nodes):
        # By their texts, so that the order in which the prompts came changes no random draw.
        each = {prompt: own[y] for prompt, own in sorted(prompts.items())}
        tests.append(_test(name, each, settings, FDR_LEVEL / len(nodes)))
        node = _with_mean(name, node, each, settings)
        compared.append(_flag_cancelling(node, len(nodes)))
    p = adjust_p([float(test.p or 0.0) for test in tests])
    return [
        replace(node, prompts_test=replace(test, p_adjusted=float(value)))
        for node, test, value in zip(compared, tests, p, strict=True)
    ]


def _flag_cancelling(node: NodeRow, axes: int) -> NodeRow:
    """The node with `prompts_cancel`, if that is so."""
    mean, p = node.w1_mean_prompt, node.cancel_p
    if not isinstance(mean, float) or not isinstance(p, float) or node.w1 is None:
        return node
    cancel = mean - node.w1 >= CLEAR and p * axes <= CANCEL_LEVEL
    return flag(node, "prompts_cancel") if cancel else node


def _test(
    name: str, each: Mapping[str, NodeRow], settings: AnalysisSettings, alpha: float
) -> PromptsTest:
    table = np.array([own.initial.counts for own in each.values()], dtype=np.int64)
    axis = next(iter(each.values())).id
    test = independence(table, settings, generator(settings.seed, name, "prompts", axis), alpha)
    return PromptsTest(
        n_prompts=int(table.any(axis=1).sum()),
        statistic=test.statistic,
        dof=test.dof,
        p=test.p,
        method=test.method,
        cramers_v=test.cramers_v,
        cramers_v_corrected=test.cramers_v_corrected,
    )


@dataclass(frozen=True)
class _Own:
    """One prompt's valid answers about an axis, and their ideal."""

    counts: Counts
    ideal: Ideal
    rng: np.random.Generator

    @property
    def n(self) -> int:
        return int(self.counts.sum())


def _with_mean(
    name: str, node: NodeRow, each: Mapping[str, NodeRow], settings: AnalysisSettings
) -> NodeRow:
    """The node with the mean of the prompts' own distances, where any has one."""
    measured = {prompt: own for prompt, own in each.items() if own.w1 is not None}
    node = replace(
        node,
        n_mean_prompts=len(measured),
        w1_mean_prompt=None,
        w1_mean_prompt_ci=None,
        w1_mean_prompt_null=NullBand(),
        cancel_p=None,
    )
    if not measured:
        return node
    owns = [
        _Own(
            np.array(own.initial.counts),
            _ideal_of(own),
            generator(settings.seed, name, "mean", node.id, prompt),
        )
        for prompt, own in measured.items()
    ]
    mean = float(np.mean([own.w1 for own in measured.values()]))
    null, replicates = _null(owns), _Replicates.of(owns, settings.bootstrap)
    return replace(
        node,
        w1_mean_prompt=mean,
        w1_mean_prompt_ci=replicates.interval(mean),
        w1_mean_prompt_null=NullBand(mean=float(null.mean()), q95=float(np.quantile(null, 0.95))),
        cancel_p=replicates.cancel_p if len(owns) > 1 else None,
    )


def _ideal_of(node: NodeRow) -> Ideal:
    """What a node was compared with."""
    cost = np.array(node.cost) if isinstance(node.cost, tuple) else None
    reference = np.array(node.reference) if isinstance(node.reference, tuple) else None
    return Ideal(node.metric, np.array(node.ideal), cost, reference)


def _null(owns: Sequence[_Own]) -> Floats:
    """(B,) mean distances of the prompts when each follows its ideal."""
    mean = np.zeros(NULL_DRAWS)
    references: dict[tuple[int, ...], Floats] = {}
    for own in owns:
        target = own.ideal.shares
        if own.ideal.reference is not None:  # prompts with the same one share its errors
            counted = tuple(own.ideal.reference.tolist())
            target = references.setdefault(counted, own.ideal.draws(NULL_DRAWS, own.rng))
        drawn = own.rng.multinomial(own.n, own.ideal.shares, size=NULL_DRAWS) / own.n
        mean += own.ideal.distance(drawn, target) / len(owns)
    return mean


@dataclass(frozen=True)
class _Replicates:
    """What images resampled within prompts come to, in the mean of the prompts.

    Attributes:
        distances: (B,) the mean distance.
        low: What does not lean upwards in its place (see `unleaning`).
        low_drawn: (B,) the same.
        gap: The same, with prompts weighed as in their sum, less the distance of that sum.
        gap_drawn: (B,) the same.
        highest: The largest mean distance that there is.
        moved: How far counted ideals may be from what they were counted in.
    """

    distances: Floats
    low: float
    low_drawn: Floats
    gap: float
    gap_drawn: Floats
    highest: float
    moved: float

    @classmethod
    def of(cls, owns: Sequence[_Own], replicates: int) -> _Replicates:
        """Resample each prompt's images by themselves."""
        total, k = sum(own.n for own in owns), len(owns[0].counts)
        # Behind what was observed, (1,), stand the resamples (B,), of each number.
        distances, low, weighed = np.zeros((3, 1 + replicates))
        shares, ideal = np.zeros((1 + replicates, k)), np.zeros(k)
        highest = moved = 0.0
        for own in owns:
            drawn = resample(own.counts[None], replicates, own.rng, PSEUDO / len(owns))[:, 0]
            references = own.ideal.draws(replicates, own.rng)
            counts = np.concatenate([own.counts[None], drawn])
            own_low = _low(own, counts)
            distances += own.ideal.distance(counts / own.n) / len(owns)
            low += own_low / len(owns)
            weighed += own_low * own.n / total
            shares, ideal = shares + counts / total, ideal + own.ideal.shares * own.n / total
            highest += own.ideal.farthest / len(owns)
            moved += float(np.quantile(own.ideal.distance(references), 0.95)) / len(owns)
        gap = weighed - owns[0].ideal.distance(shares, ideal)
        point = (float(low[0]), low[1:], float(gap[0]), gap[1:])
        return cls(distances[1:], *point, highest, moved)

    def interval(self, mean: float) -> Ends:
        """95 % interval of the mean of the prompts' distances.

        A distance leans upwards, and averaging over prompts leaves that as it is while the spread
        shrinks: where prompts are near the ideal, no bootstrap interval of the mean covers. The
        upper end is that of the hull. The lower end also reaches down to `low` less its own spread.
        """
        below, above = Interval.of(mean, self.distances).hull
        below = min(below, self.low - float(ndtri(1 - TAIL)) * float(self.low_drawn.std()))
        return max(0.0, below - self.moved), min(self.highest, above + self.moved)

    @property
    def cancel_p(self) -> float | None:
        """The one-sided p of the prompts being no further from the ideal than their sum.

        The sum's distance leans upwards and `low` does not, so the gap between them leans
        downwards: it is above 0 by more than its spread only where something cancels. Few images
        make its distribution skewed, so the replicates themselves have to agree.
        """
        spread = float(self.gap_drawn.std())
        if spread < ROUNDING:
            return None
        return max(float(ndtr(-self.gap / spread)), float((self.gap_drawn <= 0).mean()))


def _low(own: _Own, counts: Counts) -> Floats:
    """(B,) what does not lean upwards, of answers (B, k): those observed, then their resamples."""
    if own.ideal.metric != "cost":
        return unleaning(counts, own.n, own.ideal)
    # A cost matrix knows no sides; W1 leans by no more than resamples are from what was observed.
    shares = counts / own.n
    away = float(own.ideal.distance(shares[1:], shares[0]).mean())
    return np.asarray(own.ideal.distance(shares) - away)


def unleaning(counts: Counts, n: int, ideal: Ideal) -> Floats:
    """(B,) estimates of W1 to the ideal whose expectation is at most the true distance.

    One half of the images says on which side of its ideal a share lies, the other half how far: the
    mean over all ways of halving. Its expectation is exact at the ideal, where that of W1 is most
    too large, and it equals W1 where no half is in doubt. Not for a cost matrix.

    Args:
        counts: (B, k) answers of n images.
        n: How many images.
        ideal: What to measure the distance to.
    """
    gaps, shares = (gap_terms(one, ideal.metric) for one in (counts, ideal.shares))
    scale = gap_scale(ideal.metric, len(ideal.shares))
    each = [_cross_gaps(gaps[:, i], n, float(shares[i])) for i in range(gaps.shape[1])]
    return np.asarray(scale * np.sum(each, axis=0)) + np.zeros(len(counts))


def _cross_gaps(successes: Counts, n: int, target: float) -> Floats:
    """(B,) means over halves of the sign of one's gap to the target times the other's gap."""
    half = n // 2
    if not half:
        return np.zeros(len(successes))
    found, row = np.unique(successes, return_inverse=True)
    h = np.arange(half + 1)
    gap = h / half - target
    side = np.where(np.abs(gap) < ROUNDING, 0.0, np.sign(gap))
    other = (found[:, None] - h) / (n - half) - target
    return np.asarray((hypergeometric(found, n, half, h) * side * other).sum(axis=1)[row])
