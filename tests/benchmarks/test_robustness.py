"""The robustness benchmark's own arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.robustness import (
    LARGE,
    _mean,
    _pairs,
    _ratio,
    attenuation,
    markdown,
    planned,
    shrunk,
    summarise,
)
from biasgraph.causal.robustness import Claims


def claims(*sensitivities: float, edges: int = 0) -> Claims:
    size = len(sensitivities)
    edge = np.arange(size) < edges
    pairs = tuple((f"a{i}", "b") for i in range(size))
    verdict = np.where(edge, "towards", "undecided")
    return Claims(pairs, np.array(sensitivities), np.full(size, 0.5), edge, verdict)


def test_audits_are_compared_two_by_two() -> None:
    audits = [
        claims(0.1, 0.2, 0.3, edges=1),
        claims(0.1, 0.2, 0.4),
        claims(0.0, 0.0, 0.1),
        claims(0.0, 0.0, 0.1),
    ]
    first, second = _pairs(audits)
    assert (first["edges"], first["changed"]) == (1, 1)
    assert first["square"] == pytest.approx(0.01 / 3)
    assert second["square"] == 0


def test_means_and_ratios_with_intervals() -> None:
    assert _mean([1.0, None, 3.0])["value"] == 2
    assert _mean([None])["value"] is None
    ratio = _ratio([[4.0, 1.0], [4.0, 1.0]], root=True)
    assert (ratio["value"], ratio["low"], ratio["high"], ratio["n"]) == (2, 2, 2, 2)
    assert _ratio([[3.0, 1.0], [1.0, 3.0], [np.nan, 1.0]], root=False)["value"] == 1


def test_a_summary_of_invented_records() -> None:
    fields = ("edges", "changed", "verdicts", "is_change", "slope", "rank")
    pair = dict.fromkeys(fields, 1.0) | {"square": 0.04}
    kinds = ("apart 24", "anew 24", "apart 48", "anew 48", "nested 40", "nested 32")
    errors = [
        {"rate": rate, "kind": kind, "slope_expected": 1 - rate, **dict.fromkeys(fields, 0.5)}
        for kind in ("another", "unknown")
        for rate in (0.05, 0.1, 0.2, 0.3, 0.4)
    ]
    records = [
        {"audit": case.name(), "pairs": {kind: [pair] for kind in kinds}, "errors": errors}
        for case in planned(1)
    ]
    summary = summarise(records)
    assert summary["ratios"]["48"]["square"]["value"] == pytest.approx(1)
    text = markdown(summary)
    assert "subsets of one run, no image shared" in text
    assert "| 40% | another | .600 [.600, .600] |" in text


def test_errors_shrink_many_images_as_expected() -> None:
    (case, *_) = planned(1)
    rows = [row for row in attenuation(case) if row["images"] == LARGE[-1]]
    for row in rows:
        assert row["slope"] == pytest.approx(row["expected"], abs=0.1)
    found = shrunk(rows)
    assert [row["slope"]["n"] for row in found if row["images"] == LARGE[-1]] == [1] * 5
