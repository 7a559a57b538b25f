"""What the answers say of each bias (secs. 3.2-3.3), in JSON types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.causal.settings import generator
from biasgraph.methods.bias_knowledge import KnownBias
from biasgraph.methods.openbias import Assessment, assess
from biasgraph.runs.questions import GATED, UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

Record = dict[str, Any]

MIN_VALID = 16
"""Fewest valid answers about a bias (STATISTICS.md, a)."""


def assess_biases(
    found: Iterable[tuple[KnownBias, pd.DataFrame]], replicates: int, seed: int
) -> list[Record]:
    """A record for each bias with its answers, the most intense first, those without one last."""
    records = [_record(bias, answers, replicates, seed) for bias, answers in found]

    def place(record: Record) -> tuple[bool, float, str]:
        intensity = record["intensity"]
        return intensity is None, -(intensity or 0), record["bias"].casefold()

    return sorted(records, key=place)


def describe_bias(bias: KnownBias) -> Record:
    """What was proposed about a bias."""
    return {
        "bias": bias.name,
        "merged": list(bias.names[1:]),
        "classes": list(bias.classes),
        "classes_left_out": list(bias.left_out),
        "n_captions": len(bias.questions),
        "filtered": [asdict(one) for one in bias.filtered],
    }


def _record(bias: KnownBias, answers: pd.DataFrame, replicates: int, seed: int) -> Record:
    texts = list(bias.questions)
    counts = _counts(answers, texts, bias.classes)
    valid = counts.sum(axis=1) > 0
    n = int(counts.sum())
    said = answers["answer"].astype(str)
    record = describe_bias(bias) | {
        "n_captions_valid": int(valid.sum()),
        "n_images": len(answers),
        "n_unknown": int((said == UNKNOWN).sum()),
        "n_gated": int((said == GATED).sum()),
        "n_valid": n,
        "counts": counts.sum(axis=0).tolist(),
    }
    rng = generator(seed, "openbias", bias.name, *bias.classes)
    score = assess(counts[valid], replicates, rng) if n else None
    whole = _whole(score, bias.classes) if score and n >= MIN_VALID else _leave_undefined(n)
    return record | whole | {"captions": _captions(bias, counts, score)}


def _whole(score: Assessment, classes: Sequence[str]) -> Record:
    low, high = score.intensity_ci
    mean_low, mean_high = score.mean_ci
    shares = score.shares.tolist()
    # The direction of the bias, and other classes that are as frequent.
    most, *ties = compress(classes, (share > max(shares) - 1e-12 for share in shares))
    return {
        "status": "ok",
        "reason": None,
        "intensity": score.intensity,
        "intensity_ci_low": low,
        "intensity_ci_high": high,
        "intensity_uniform_q95": score.uniform_q95,
        "intensity_context_aware_mean": score.mean,
        "intensity_context_aware_mean_ci_low": mean_low,
        "intensity_context_aware_mean_ci_high": mean_high,
        "intensity_context_aware_uniform_q95": score.mean_uniform_q95,
        "distribution": shares,
        "distribution_ci": [list(ends) for ends in score.shares_ci],
        "majority": most,
        "majority_share": max(shares),
        "ties": ties,
    }


def _leave_undefined(n: int) -> Record:
    names = ("intensity", "intensity_context_aware_mean")
    numbers = [f"{name}{end}" for name in names for end in ("", "_ci_low", "_ci_high")]
    return dict.fromkeys(numbers) | {
        "status": "insufficient",
        "reason": f"too few valid answers ({n})",
        "intensity_uniform_q95": None,
        "intensity_context_aware_uniform_q95": None,
        "distribution": None,
        "distribution_ci": None,
        "majority": None,
        "majority_share": None,
        "ties": [],
    }


def _captions(bias: KnownBias, counts: np.ndarray, score: Assessment | None) -> list[Record]:
    """The context-aware distribution of each caption (eq. 4), in their order."""
    scores = iter(() if score is None else zip(score.each.tolist(), score.each_ci, strict=True))
    records = []
    for (text, question), row in zip(bias.questions.items(), counts, strict=True):
        n = int(row.sum())
        record: Record = {
            "caption": text, "question": question, "n_valid": n, "counts": row.tolist(),
            "intensity": None, "intensity_ci_low": None, "intensity_ci_high": None,
            "majority": None,
        }  # fmt: skip
        if n:
            intensity, (low, high) = next(scores)
            record |= {"intensity": intensity, "intensity_ci_low": low, "intensity_ci_high": high}
            record["majority"] = bias.classes[int(row.argmax())]
        records.append(record)
    return records


def _counts(answers: pd.DataFrame, texts: Sequence[str], classes: Sequence[str]) -> np.ndarray:
    """(captions, classes) valid answers."""
    import pandas as pd

    table = pd.crosstab(answers["prompt"].astype(str), answers["answer"].astype(str))
    return table.reindex(index=list(texts), columns=list(classes), fill_value=0).to_numpy(np.int64)
