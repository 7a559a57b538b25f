"""Whether an axis's distribution differs between the arms of another (BiasConnect sec. 3.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, chdtri, chndtrinc

from biasgraph.causal.resampling import resample
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import Counts, Floats, reduce_table

FEWEST_RESAMPLES = 9_999
ENOUGH_HITS = 400  # a p-value from this many exceedances has a relative error of 5 %
POWER = 0.8
BLOCK = 1_000_000  # cells of null tables held at once


@dataclass(frozen=True)
class Independence:
    """One chi-square test on the reduced table.

    Attributes:
        statistic: Chi-square, at least 0.
        dof: Its degrees of freedom.
        p: Its p-value.
        method: "asymptotic" or "monte_carlo", "cmh" or "cmh_monte_carlo" within prompts, or None
            where the table was degenerate.
        cramers_v: Strength of the association, 0 to 1.
        cramers_v_corrected: Bergsma's version.
        detectable_v: The smallest V that this table could have called significant.
        detectable_v_80: The true V that such a table finds with a power of 80 %.
        v_high: Upper bound of V at `AnalysisSettings.bound_level`; None where expected counts are
            low.
        expected_low: Whether some expected count is below 1, or over a fifth of them below 5.
    """

    statistic: float
    dof: int
    p: float
    method: str | None
    cramers_v: float | None = None
    cramers_v_corrected: float | None = None
    detectable_v: float | None = None
    detectable_v_80: float | None = None
    v_high: float | None = None
    expected_low: bool = False

    def numbers(self) -> dict[str, Any]:
        """All but `expected_low`, as a `PairRow` has them."""
        return {name: value for name, value in vars(self).items() if name != "expected_low"}


DEGENERATE = Independence(statistic=0.0, dof=0, p=1.0, method=None)


def independence(
    table: Counts,
    settings: AnalysisSettings,
    rng: np.random.Generator,
    alpha: float,
    hits: int = ENOUGH_HITS,
    *,
    thrifty: bool = False,
) -> Independence:
    """Chi-square test of rows (arms) against columns (answers) of a table of counts.

    Empty rows and columns are dropped; with fewer than two of either left the test is
    degenerate: statistic 0, p 1, V None. Where expected counts are low, p is drawn instead
    (`settings.fallback`), fine enough to fall clearly below alpha; then Yates does not apply.

    Args:
        table: (rows, columns) counts.
        settings: Of the analysis; fallback and yates count.
        rng: For drawing null tables.
        alpha: The level that p is compared with.
        hits: See `monte_carlo_p`.
        thrifty: Whether nothing else is drawn from rng afterwards; see `monte_carlo_p`.
    """
    table, _, _ = reduce_table(table)
    if min(table.shape) < 2:
        return DEGENERATE
    plain, expected = pearson(table)
    dof = (table.shape[0] - 1) * (table.shape[1] - 1)
    statistic, p, method = plain, float(chdtrc(dof, plain)), "asymptotic"
    low = expected_low(expected)
    # The paper does not say what it does with low counts. The asymptotic p is mostly conservative
    # there, but at alpha 1e-4 up to 1.7e-4 false edges were seen (STATISTICS (b)).
    if low and settings.fallback == "auto":
        method = "monte_carlo"
        p = monte_carlo_p(plain, null_statistics([table], rng), alpha, hits, thrifty=thrifty)
    elif settings.yates:
        from scipy.stats import chi2_contingency

        corrected = chi2_contingency(table, correction=True)
        statistic, p = float(corrected.statistic), float(corrected.pvalue)
    return with_strength(
        Independence(statistic, dof, p, method, expected_low=low),
        table,
        plain,
        alpha,
        settings.bound_level,
    )


def images_to_detect(v: float, detectable_v_80: float) -> float:
    """How many times as many images find V in 80 % of cases, where these find `detectable_v_80`.

    What a table shows of an association grows with V squared times its images.
    """
    return (detectable_v_80 / v) ** 2


def pearson(table: Counts) -> tuple[float, Floats]:
    """The plain chi-square statistic of a reduced table, and its expected counts.

    As scipy's `chi2_contingency` to the last bit, whose checks take ten times as long.
    """
    margins = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    expected = margins[0].astype(float) * margins[1] / table.sum()
    return float(((table - expected) ** 2 / expected).ravel().sum()), expected


def with_strength(
    test: Independence, table: Counts, pearson: float, alpha: float, bound_level: float
) -> Independence:
    """The test with how strong the association is, and what could be detected.

    Args:
        test: Of the table.
        table: Reduced.
        pearson: Its plain chi-square statistic, whichever one the test took.
        alpha: The level that p is compared with.
        bound_level: That of the upper bound of V.
    """
    critical, detectable = detectable_statistics(test.dof, alpha)
    scale = int(table.sum()) * (min(table.shape) - 1)
    return replace(
        test,
        cramers_v=math.sqrt(pearson / scale),
        cramers_v_corrected=cramers_v_corrected(pearson, table),
        detectable_v=math.sqrt(critical / scale),
        detectable_v_80=math.sqrt(detectable / scale),
        v_high=None if test.expected_low else _highest_v(pearson, table, scale, bound_level),
    )


def _highest_v(statistic: float, table: Counts, scale: int, level: float) -> float:
    """V of the largest noncentrality under which so small a statistic has this probability.

    A statistic below its mean without any effect, where answers vary less than chance has it, is
    taken at that mean: the bound would come down to 0.
    """
    rows, columns = table.shape
    dof = (rows - 1) * (columns - 1)
    noncentrality = float(chndtrinc(max(statistic, dof), dof, level))
    return min(1.0, math.sqrt(noncentrality / scale))


def highest_v_resampled(
    table: Counts, settings: AnalysisSettings, rng: np.random.Generator
) -> float | None:
    """The upper bound of V where expected counts are too low for the noncentral chi-square.

    The quantile of V in resamples, to which answers never seen may come (`resampling.PSEUDO`). V
    leans upwards, and more so in resamples: the bound errs on the high side. None where an arm has
    no answer.

    Args:
        table: (rows, columns) counts, empty columns kept.
        settings: Of the analysis; bootstrap and the level of the bound count.
        rng: For resampling.
    """
    if min(table.shape) < 2 or not table.sum(axis=1).all():
        return None
    drawn = resample(table[None], settings.bootstrap, rng)[:, 0].astype(float)
    expected = drawn.sum(axis=2, keepdims=True) * drawn.sum(axis=1, keepdims=True) / table.sum()
    statistics = ((drawn - expected) ** 2 / np.where(expected > 0, expected, 1)).sum(axis=(1, 2))
    # What was seen says how large V can be: answers that only resamples have would shrink it.
    scale = table.sum() * max(1, min(reduce_table(table)[0].shape) - 1)
    highest = np.quantile(np.sqrt(statistics / scale), 1 - settings.bound_level)
    return min(1.0, float(highest))


def expected_low(expected: Floats) -> bool:
    """Whether the asymptotic test should not be trusted with these expected counts."""
    return bool(expected.min() < 1 or (expected < 5).mean() > 0.2)


def cramers_v_corrected(statistic: float, table: Counts) -> float | None:
    """Bergsma's (2013) bias-corrected Cramér's V of a reduced table, in [0, 1]."""
    n = int(table.sum())
    rows, columns = table.shape
    phi = max(0.0, statistic / n - (rows - 1) * (columns - 1) / (n - 1))
    smaller = min(rows - (rows - 1) ** 2 / (n - 1), columns - (columns - 1) ** 2 / (n - 1)) - 1
    return min(1.0, math.sqrt(phi / smaller)) if smaller > 0 else None


@lru_cache(maxsize=1024)
def detectable_statistics(dof: int, alpha: float) -> tuple[float, float]:
    """The critical chi-square, and the noncentrality that exceeds it with a power of 80 %."""
    from scipy.optimize import brentq
    from scipy.stats import ncx2

    critical = float(chdtri(dof, alpha))
    if alpha >= POWER:  # even no effect is found as often
        return critical, 0.0

    def missing_power(noncentrality: float) -> float:
        return float(ncx2.sf(critical, dof, noncentrality)) - POWER

    return critical, float(brentq(missing_power, 1e-9, 10 * critical + 100))


def monte_carlo_p(
    observed: float,
    statistics: Callable[[int], Floats],
    alpha: float,
    hits: int = ENOUGH_HITS,
    *,
    thrifty: bool = False,
) -> float:
    """A valid p-value from statistics drawn under the null hypothesis.

    Up to R = max(9,999, 10 / alpha - 1) draws: p = (1 + #{drawn >= observed}) / (R + 1). As soon
    as h draws reach the observed statistic, the l-th being the last of them, it stops with
    p = h / l, which is valid too (Besag and Clifford 1991).

    Args:
        observed: The statistic.
        statistics: Draws as many as it is given under the null hypothesis.
        alpha: The level that p is compared with.
        hits: h, if more are not needed; 1 where p is wanted for nothing but this comparison.
        thrifty: Whether to draw hardly more than p needs. What is drawn of several tables, or from
            the same generator afterwards, would depend on how many that is.
    """
    # h is at least alpha (R + 1), so that stopping early never turns a decision at alpha.
    resamples = max(FEWEST_RESAMPLES, math.ceil(10 / alpha) - 1)
    enough = max(hits, math.ceil(alpha * (resamples + 1)))
    threshold = observed * (1 - 1e-9)  # equal tables differ by rounding
    drawn = reaching = 0
    batch = enough if thrifty else 1_000
    while drawn < resamples:
        size = min(batch, resamples - drawn)
        reached = np.flatnonzero(statistics(size) >= threshold)
        if reaching + len(reached) >= enough:
            return float(enough / (drawn + reached[enough - reaching - 1] + 1))
        reaching, drawn = reaching + len(reached), drawn + size
        if thrifty:  # about as many as are still needed, if they reach it as often as before
            likely = 50 + math.ceil(1.1 * drawn * (enough - reaching) / max(1, reaching))
            batch = min(likely, 2 * drawn, 20_000)
        else:
            batch = min(4 * batch, 20_000)
    return (1 + reaching) / (resamples + 1)


def null_statistics(tables: Sequence[Counts], rng: np.random.Generator) -> Callable[[int], Floats]:
    """A sampler of summed chi-square statistics of reduced tables with the given margins."""
    from scipy.stats import random_table

    nulls = []
    for table in tables:
        rows, columns, images = table.sum(axis=1), table.sum(axis=0), table.sum()
        weights = 1 / (np.outer(rows, columns).ravel() / images)
        nulls.append((random_table(rows, columns), weights, images))

    def draw(size: int) -> Floats:
        total = np.zeros(size)
        for null, weights, images in nulls:
            step = max(1, BLOCK // len(weights))
            for start in range(0, size, step):
                block = total[start : start + step]
                drawn = null.rvs(len(block), method="patefield", random_state=rng)
                block += (drawn.reshape(len(block), -1) ** 2) @ weights - images
        return total

    return draw


def adjust_p(
    p: Sequence[float], method: Literal["bh", "by"] = "bh", looks: int = 1
) -> npt.NDArray[np.float64]:
    """Benjamini-Hochberg ("bh") or Benjamini-Yekutieli ("by") adjusted p-values.

    Each stands for the best of so many looks at it: it is multiplied by them first (Bonferroni).
    """
    from scipy.stats import false_discovery_control

    if not p:
        return np.zeros(0)
    by_looks = np.minimum(1.0, looks * np.asarray(p))
    return np.asarray(false_discovery_control(by_looks, method=method))
