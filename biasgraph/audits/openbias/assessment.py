"""What the answers say of each bias (secs. 3.2-3.3), in JSON types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.causal.settings import generator
from biasgraph.methods.bias_knowledge import Filtered, KnownBias
from biasgraph.methods.openbias import Assessment, assess
from biasgraph.runs.questions import GATED, UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

Record = dict[str, Any]

MIN_VALID = 16
"""Fewest valid answers about a bias (STATISTICS.md, a)."""


def assessed(
    found: Iterable[tuple[KnownBias, pd.DataFrame]], replicates: int, seed: int
) -> list[Record]:
    """A record for each bias with its answers, the most intense first, those without one last."""
    records = [_record(bias, answers, replicates, seed) for bias, answers in found]
    return sorted(
        records,
        key=lambda one: (
            one["intensity"] is None,
            -(one["intensity"] or 0),
            one["bias"].casefold(),
        ),
    )


def described(bias: KnownBias) -> Record:
    """What was proposed about a bias."""
    return {
        "bias": bias.name,
        "merged": list(bias.names[1:]),
        "classes": list(bias.classes),
        "classes_left_out": list(bias.left_out),
        "n_captions": len(bias.questions),
        "filtered": [_filtered(one) for one in bias.filtered],
    }


def _filtered(one: Filtered) -> Record:
    return {"caption": one.caption, "reason": one.reason}


def _record(bias: KnownBias, answers: pd.DataFrame, replicates: int, seed: int) -> Record:
    texts = list(bias.questions)
    counts = _counts(answers, texts, bias.classes)
    valid = counts.sum(axis=1) > 0
    n = int(counts.sum())
    said = answers["answer"].astype(str)
    record = described(bias) | {
        "n_captions_valid": int(valid.sum()),
        "n_images": len(answers),
        "n_unknown": int((said == UNKNOWN).sum()),
        "n_gated": int((said == GATED).sum()),
        "n_valid": n,
        "counts": counts.sum(axis=0).tolist(),
    }
    if not n:
        return (
            record | _undefined(len(bias.classes), n) | {"captions": _captions(bias, counts, None)}
        )
    rng = generator(seed, "openbias", bias.name, *bias.classes)
    score = assess(counts[valid], replicates, rng)
    whole = _whole(score, bias.classes) if n >= MIN_VALID else _undefined(len(bias.classes), n)
    return record | whole | {"captions": _captions(bias, counts, score)}


def _whole(score: Assessment, classes: Sequence[str]) -> Record:
    low, high = score.intensity_ci
    mean_low, mean_high = score.mean_ci
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
        "distribution": score.shares.tolist(),
        "distribution_ci": [list(ends) for ends in score.shares_ci],
        **_majority(score.shares.tolist(), classes),
    }


def _undefined(k: int, n: int) -> Record:
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


def _majority(shares: Sequence[float], classes: Sequence[str]) -> Record:
    """The most frequent class, the direction of the bias; ties: others that are as frequent."""
    most = max(shares)
    first, *ties = (
        name for name, share in zip(classes, shares, strict=True) if share > most - 1e-12
    )
    return {"majority": first, "majority_share": most, "ties": ties}


def _captions(bias: KnownBias, counts: np.ndarray, score: Assessment | None) -> list[Record]:
    """The context-aware distribution of each caption (eq. 4), in their order."""
    place = iter(range(len(counts)))
    records = []
    for (text, question), row in zip(bias.questions.items(), counts, strict=True):
        n = int(row.sum())
        record: Record = {
            "caption": text, "question": question, "n_valid": n, "counts": row.tolist(),
            "intensity": None, "intensity_ci_low": None, "intensity_ci_high": None,
            "majority": None,
        }  # fmt: skip
        if n and score is not None:
            at = next(place)
            low, high = score.each_ci[at]
            record |= {
                "intensity": float(score.each[at]),
                "intensity_ci_low": low,
                "intensity_ci_high": high,
                "majority": bias.classes[int(row.argmax())],
            }
        records.append(record)
    return records


def _counts(answers: pd.DataFrame, texts: Sequence[str], classes: Sequence[str]) -> np.ndarray:
    """(captions, classes) valid answers."""
    found: Mapping[Any, int] = (
        answers.astype({"prompt": str, "answer": str})
        .groupby(["prompt", "answer"])
        .size()
        .to_dict()
    )
    return np.array(
        [[found.get((text, name), 0) for name in classes] for text in texts], dtype=np.int64
    ).reshape(len(texts), len(classes))
