"""Answers that go wrong: where to, how often, and what that does to a graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from biasgraph.causal.judge_errors import RATES, WorseJudge, destinations
from biasgraph.causal.robustness import Auditor
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import GATED, UNKNOWN, CodedImages, Counts, Variable
from biasgraph.causal.transport import Ideal, resolve_ideals
from tests.causal.worlds import chain, codes, variables

QUICK = AnalysisSettings(bootstrap=100, noise_draws=0)


def worse(
    images: CodedImages,
    draws: int = 2,
    labelled: dict[str, Counts] | None = None,
    settings: AnalysisSettings = QUICK,
    ideals: list[Ideal] | None = None,
) -> WorseJudge:
    ideals = ideals or resolve_ideals(images.variables, None, None, None)
    auditor = Auditor(images.prompt, ideals, settings, settings.prompt_rule)
    return WorseJudge(auditor, [images], auditor.claims([images]), draws, 0, labelled or {})


def wrong(work: WorseJudge, rate: float, kind: str) -> CodedImages:
    rng = np.random.default_rng(1)
    return work.with_errors(work.run[0], rate, kind, rng)  # type: ignore[arg-type]


def test_wrong_answers_go_where_the_judge_sends_them() -> None:
    (gender,) = variables(3)
    counts = np.array([[8, 1, 3], [0, 9, 0], [5, 0, 5]])
    table = destinations(gender, counts, 3)
    assert table.tolist() == [[0, 0.25, 0.75], [0.5, 0, 0.5], [1, 0, 0]]
    assert destinations(gender, None, 3).tolist() == [[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]
    assert destinations(gender, None, 2).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    (alone,) = variables(1)
    assert destinations(alone, None, 1).tolist() == [[0]]


def test_so_many_answers_change_and_no_others() -> None:
    each = variables(2, 4)
    initial = codes([[10_000, 10_000], [5_000] * 4])
    initial[:100, 0], initial[:50, 1] = UNKNOWN, GATED
    images = CodedImages("p", each, initial, {(0, 0): initial.copy()})
    work = worse(images, labelled={"b": np.eye(4, dtype=int)[::-1]})
    for kind in ("another", "unknown"):
        found = wrong(work, 0.2, kind).initial
        changed = found != initial
        assert not changed[:50].any()
        assert not changed[:100, 0].any()
        assert changed[100:].mean(axis=0) == pytest.approx([0.2, 0.2], abs=0.01)
        hit = changed[:, 1]
        if kind == "unknown":
            assert (found[changed] == UNKNOWN).all()
        else:
            assert (found[hit, 1] == 3 - initial[hit, 1]).all()


def test_unknown_may_be_a_class() -> None:
    each = (Variable("a", ("x", "y", "unknown")), Variable("b", ("u", "v", "unknown")))
    initial = codes([[500, 400, 100], [400, 500, 100]])
    images = CodedImages("p", each, initial, {(0, 0): initial})
    work = worse(images, settings=replace(QUICK, unknown="class"))
    other, unknown = (wrong(work, 0.3, kind).initial for kind in ("another", "unknown"))
    assert ((other == 2) == (initial == 2)).all()
    assert (unknown[initial != unknown] == 2).all()
    assert (unknown == 2).mean() == pytest.approx(0.1 + 0.9 * 0.3, abs=0.05)


def test_even_errors_shrink_sensitivity_as_the_formula_says() -> None:
    each = variables(3, 3, 3)
    initial = codes([[700, 200, 100], [600, 300, 100], [500, 400, 100]])
    arms = {(x, i): (initial + i * (x + 1)) % 3 for x in range(3) for i in range(2)}
    work = worse(CodedImages("p", each, initial, arms))
    assert np.ptp(work.whole.sensitivity) > 0.1
    for rate in RATES:
        assert work.expected_slope(rate) == pytest.approx(1 - rate * 3 / 2)


def test_simulated_errors_shrink_sensitivity_as_expected() -> None:
    work = worse(chain(8_000, 3), draws=2)
    rows = {(row["kind"], row["rate"]): row for row in work.rows(lambda: None)}
    assert len(rows) == 2 * len(RATES)
    for (kind, _), row in rows.items():
        assert row["slope"]["mean"] == pytest.approx(row["slope_expected"], abs=0.06)
        assert row["slope"]["draws"] == row["draws"] == 2
        assert kind == "another" or row["slope_expected"] == 1


def test_more_errors_change_more() -> None:
    calls: list[None] = []
    work = worse(chain(60, 3), draws=4)
    rows = [row for row in work.rows(lambda: calls.append(None)) if row["kind"] == "another"]
    assert len(calls) == work.audits == 4 * 2 * len(RATES)
    assert rows[0]["is_change"]["mean"] < rows[-1]["is_change"]["mean"]
    assert rows[0]["missed"]["mean"] < rows[-1]["missed"]["mean"]


@pytest.mark.slow(reason="hundreds of draws")
def test_seeds_repeat() -> None:
    one, same = (worse(chain(60, 3)).rows(lambda: None) for _ in range(2))
    other = replace(worse(chain(60, 3)), seed=1).rows(lambda: None)
    assert one == same != other
