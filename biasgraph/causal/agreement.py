"""How far two judges agree about one axis (OpenBias tables 1 and 2).

One of them is taken for the truth, the reference; the other is the judge whose answers are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgraph.causal.intervals import middle, wilson
from biasgraph.causal.tables import GATED, Codes, Counts, Floats

FEW = 30  # images with two valid answers, below which agreement is hardly known
UNEVEN = 0.05  # p below which errors count as different where the intervention is

NO_IMAGE = "no image has answers from both"
NO_SAMPLE = "the images are not a sample"
ESTIMATES = (
    "coverage", "accuracy", "accuracy_ci", "f1", "f1_ci", "kappa", "kappa_ci",
    "kappa_with_unknown", "kappa_with_unknown_ci", "kl_reference_judge", "kl_judge_reference", "tv",
)  # fmt: skip
ONE_ANSWER = "both sides always gave one and the same answer"


def cross_table(truth: Codes, answers: Codes, size: int) -> Counts:
    """(k + 2, k + 2) counts[truth, answer]; unknown is the last but one, gated the last.

    Args:
        truth: (images,) codes of the reference.
        answers: (images,) codes of the judge.
        size: The number k of the axis's attributes.
    """
    places = np.array([size + 1, size, *range(size)])  # of GATED, UNKNOWN, 0, 1 ...
    table = np.zeros((size + 2, size + 2), dtype=np.int64)
    np.add.at(table, (places[truth - GATED], places[answers - GATED]), 1)
    return table


@dataclass(frozen=True)
class Agreement:
    """The agreement about one axis.

    Attributes:
        table: (k + 2, k + 2) counts[truth, answer] of the images that both answered; unknown is
            the last but one, gated the last.
    """

    table: Counts

    @property
    def counts(self) -> Counts:
        """(k, k) counts[truth, answer] of the images with two valid answers."""
        return self.table[:-2, :-2]

    def fields(self, replicates: int, rng: np.random.Generator) -> dict[str, Any]:
        """Every number with its interval, in JSON types; what is undefined is None.

        accuracy, f1 and kappa are of the images to which both gave a valid answer;
        kappa_with_unknown of all that both answered, unknown and gated being two answers like any
        other; coverage is the share of those with a valid true answer to which the judge gave one
        too. The interval of accuracy is Wilson's, the others resample images `replicates` times;
        kappa_reason says why a kappa is None. kl_* (nats) and tv
        compare the distributions of all valid answers of either; kl is None, too, where it is
        infinite: where one side never gave an answer that the other did.

        Args:
            replicates: How often to resample for the intervals of f1 and kappa.
            rng: For resampling.
        """
        counts = self.counts
        valid, answered = int(counts.sum()), int(self.table[:-2].sum())
        right = int(np.trace(counts))
        draws = _resample(counts, replicates, rng)
        flags = {"few_images": valid < FEW, "zero_width": _is_same(counts) and valid}
        truth, seen = self.table[:-2].sum(axis=1), self.table[:, :-2].sum(axis=0)
        return {
            "n": int(self.table.sum()),
            "n_valid": valid,
            "coverage": valid / answered if answered else None,
            "accuracy": right / valid if valid else None,
            "accuracy_ci": wilson(right, valid).tolist() if valid else None,
            "f1": _number(macro_f1(counts)),
            "f1_ci": percentiles(macro_f1(draws)),
            **_kappa("kappa", counts, draws),
            **_kappa("kappa_with_unknown", self.table, _resample(self.table, replicates, rng)),
            "kl_reference_judge": _number(divergence(truth, seen)),
            "kl_judge_reference": _number(divergence(seen, truth)),
            "tv": _number(total_variation(truth, seen)),
            "flags": [name for name, holds in flags.items() if holds],
        }

    def count_only(self) -> dict[str, Any]:
        """`fields` of images that are no sample: how many there are, and nothing estimated."""
        return {
            "n": int(self.table.sum()),
            "n_valid": int(self.counts.sum()),
            **dict.fromkeys(ESTIMATES),
            "kappa_reason": NO_SAMPLE,
            "kappa_with_unknown_reason": NO_SAMPLE,
            "flags": [],
        }

    def kappas(self, replicates: int, rng: np.random.Generator) -> dict[str, Any]:
        """Only n, n_valid and the two kappas, as `fields` has them."""
        counts = self.counts
        return {
            "n": int(self.table.sum()),
            "n_valid": int(counts.sum()),
            **_kappa("kappa", counts, _resample(counts, replicates, rng)),
            **_kappa("kappa_with_unknown", self.table, _resample(self.table, replicates, rng)),
        }


def _is_same(counts: Counts) -> bool:
    return int(np.trace(counts)) in (0, int(counts.sum()))


def _resample(counts: Counts, replicates: int, rng: np.random.Generator) -> Counts:
    """(B, k, k) multinomial resamples of a table; B is 0 for an empty one."""
    n = int(counts.sum())
    # Resampling what never varied would say nothing of its error, as for every other number.
    more = 1 if _is_same(counts) else 0
    shares = (counts + more / counts.size) / max(n + more, 1)
    draws = rng.multinomial(n, shares.ravel(), size=replicates if n else 0)
    return draws.reshape(-1, *counts.shape)


def _kappa(name: str, counts: Counts, draws: Counts) -> dict[str, Any]:
    """Cohen's kappa under a name, its interval, and why it is None."""
    value = _number(cohens_kappa(counts))
    reason = None if value is not None else ONE_ANSWER if counts.sum() else NO_IMAGE
    ends = None if value is None else percentiles(cohens_kappa(draws))
    return {name: value, f"{name}_ci": ends, f"{name}_reason": reason}


def accuracy(counts: Counts) -> Floats:
    """Share (...) of counts (..., k, k) on the diagonal; not a number without any counts."""
    with np.errstate(invalid="ignore"):
        return np.asarray(
            np.trace(counts, axis1=-2, axis2=-1) / counts.sum(axis=(-2, -1)), dtype=float
        )


def macro_f1(counts: Counts) -> Floats:
    """Mean F1 (...) over the attributes that either side named, of counts (..., k, k).

    An attribute that only one side named has an F1 of 0, as in scikit-learn; one that neither did
    has none. Not a number without any counts.
    """
    hits = np.diagonal(counts, axis1=-2, axis2=-1)
    named = counts.sum(axis=-1) + counts.sum(axis=-2)
    with np.errstate(invalid="ignore"):
        each = np.where(named > 0, 2 * hits / np.maximum(named, 1), 0.0)
        return np.asarray(each.sum(axis=-1) / (named > 0).sum(axis=-1))


def cohens_kappa(counts: Counts) -> Floats:
    """Agreement (...) beyond chance, (p_o - p_e) / (1 - p_e), of counts (..., k, k).

    Not a number where both sides always gave one and the same answer: chance explains it all.
    """
    total = counts.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore"):
        chance = (counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1) / total**2
        observed = np.trace(counts, axis1=-2, axis2=-1) / total
        beyond = np.where(chance < 1, 1 - chance, np.nan)
        return np.asarray((observed - chance) / beyond)


def divergence(p: Counts, q: Counts) -> float:
    """Kullback-Leibler divergence of q from p in nats, from counts (k,); inf, or nan for none."""
    if not (p.sum() and q.sum()):
        return float("nan")
    there = p > 0
    with np.errstate(divide="ignore"):
        ratios = np.log((p[there] / p.sum()) / (q[there] / q.sum()))
    return float((p[there] / p.sum() * ratios).sum())


def total_variation(p: Counts, q: Counts) -> float:
    """Half the sum of |p - q| of the shares of counts (k,), in 0 to 1; nan without counts."""
    if not (p.sum() and q.sum()):
        return float("nan")
    return float(0.5 * np.abs(p / p.sum() - q / q.sum()).sum())


def uneven_errors(one: Counts, other: Counts) -> float | None:
    """Fisher's p of equal accuracy in two groups of images (k, k); None where one is empty."""
    from scipy.stats import fisher_exact

    right = np.array([[np.trace(c), c.sum() - np.trace(c)] for c in (one, other)])
    return float(fisher_exact(right)[1]) if right.any(axis=1).all() else None


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def percentiles(draws: Floats) -> list[float] | None:
    """The 95 % percentile interval of replicates (B,), undefined ones left out; None for none."""
    return list(middle(draws)) if np.isfinite(draws).any() else None
