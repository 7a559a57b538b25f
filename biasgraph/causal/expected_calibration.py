"""How far a classifier's confidence is from how often it is right."""

from __future__ import annotations

import numpy as np

from biasgraph.causal.tables import Floats

BINS = 10


def expected_calibration_error(
    probabilities: Floats, labels: np.ndarray, bins: int = BINS
) -> float:
    """The expected calibration error, 0 to 1 (Guo et al. 2017, eq. 3): 0 where 80 % means 80 %.

    Few examples make it larger than it is for many.

    Args:
        probabilities: (n, k) of n >= 1 examples; rows sum to 1.
        labels: (n,) the right classes.
        bins: Of equal width over confidences from 0 to 1.
    """
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == labels
    place = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    gaps = np.bincount(place, confidence - right, minlength=bins)
    return float(np.abs(gaps).sum() / len(labels))
