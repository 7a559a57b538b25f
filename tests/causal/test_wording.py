"""Neutral rewordings: what wording alone does, and which directions go beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from biasgraph.causal.graph import analyze
from biasgraph.causal.pooling import analyze_global
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Pool
from biasgraph.causal.transport import resolve_ideals
from biasgraph.causal.wording import CONTROLLED, Wording
from tests.causal.worlds import Records, audit, codes, variables

QUICK = AnalysisSettings(bootstrap=400, noise_draws=0)
FIELDS = {"is_controlled", "is_controlled_ci_low", "is_controlled_ci_high"} | {
    "sign_controlled",
    "shift_p_controlled",
}
TOWARDS = [46, 2], [[40, 8], [12, 36]]


def images(
    before: Sequence[int],
    arms: Sequence[Sequence[int]],
    controls: Sequence[int] | None = None,
    prompt: str = "a librarian",
) -> CodedImages:
    """Interventions on a set it and give b these counts; so do neutral rewordings."""

    def own(n: int) -> list[int]:
        return [n - n // 2, n // 2]

    sets = {
        (0, a): codes([[sum(one) * (a == 0), sum(one) * (a == 1)], one])
        for a, one in enumerate(arms)
    }
    made = audit(codes([own(sum(before)), before]), sets, variables(2, len(before)), prompt)
    return (
        made if controls is None else replace(made, controls=codes([own(sum(controls)), controls]))
    )


def records(made: CodedImages, settings: AnalysisSettings = QUICK) -> Records:
    return Records.of(analyze(made, settings))


def pair(found: Records, source: str = "a", target: str = "b") -> dict[str, Any]:
    return next(one for one in found.pairs if (one["source"], one["target"]) == (source, target))


def test_without_rewordings_there_is_nothing_about_them() -> None:
    found = records(images(*TOWARDS))
    assert set(CONTROLLED) == FIELDS
    assert not FIELDS & set(pair(found))
    assert all("control" not in node for node in found.nodes)
    assert pair(found)["sign"] == pair(found)["verdict"] == "towards"


def test_rewordings_that_do_nothing_confirm_a_direction() -> None:
    row = pair(records(images(*TOWARDS, [46, 2])))
    assert row["sign"] == row["sign_controlled"] == row["verdict"] == "towards"
    assert "wording" not in row["flags"]
    assert row["is_controlled"] == pytest.approx(row["is"])
    assert 0 < row["is_controlled_ci_low"] < row["is"] < row["is_controlled_ci_high"]
    expected = chi2_contingency([[46, 2], [52, 44]], correction=False).pvalue
    assert row["shift_p_controlled"] == row["shift_p"] == pytest.approx(expected)


def test_rewordings_that_do_as_much_leave_nothing_to_claim() -> None:
    row = pair(records(images(*TOWARDS, [26, 22])))
    assert row["is"] == pytest.approx(46 / 48 - 52 / 96)
    assert row["is_controlled"] == pytest.approx(26 / 48 - 52 / 96)
    assert row["sign_controlled"] == row["sign"] == "undetermined"
    assert "wording" in row["flags"] and row["edge"]
    assert row["verdict"] == "edge_undetermined"


def test_a_direction_that_turns_is_not_claimed() -> None:
    """The arms are nearer to balance than the initial images, and farther than rewordings."""
    row = pair(records(images([47, 1], [[44, 4], [20, 28]], [12, 36])))
    assert row["is"] > 0 and row["sign_controlled"] == "undetermined"
    away = pair(records(images([47, 1], [[47, 1], [33, 15]], [24, 24])))
    assert away["is"] > 0 and away["is_controlled"] < 0
    assert away["sign_controlled"] == "away"
    assert away["sign"] in (None, "undetermined")
    assert away["verdict"] not in ("towards", "away")


def test_a_common_shift_is_confirmed_as_an_edge_is() -> None:
    given = [30, 18], [[44, 4], [46, 2]]
    confirmed = pair(records(images(*given, [30, 18])))
    assert (confirmed["verdict"], confirmed["sign"]) == ("common_shift", "away")
    assert confirmed["sign_controlled"] == "away" and "wording" not in confirmed["flags"]
    other = pair(records(images(*given, [45, 3])))
    assert (other["verdict"], other["sign"]) == ("common_shift", "undetermined")
    assert "wording" in other["flags"]


def test_too_few_rewordings_confirm_nothing() -> None:
    few = pair(records(images(*TOWARDS, [14, 1])))
    assert {few[name] for name in FIELDS} == {None}
    assert few["sign"] == "undetermined" and "wording" in few["flags"]
    enough = pair(records(images(*TOWARDS, [15, 1])))
    assert None not in {enough[name] for name in FIELDS}
    assert enough["sign"] == "towards"


def test_a_pair_without_a_direction_is_not_flagged() -> None:
    row = pair(records(images([24, 24], [[25, 23], [24, 24]], [46, 2])))
    assert row["sign"] is None and "wording" not in row["flags"]
    assert row["is_controlled"] > 0.3


def test_the_node_says_how_far_wording_moves_it() -> None:
    found = records(images(*TOWARDS, [36, 12]))
    node = next(one for one in found.nodes if one["id"] == "b")
    control = node["control"]
    assert (control["counts"], control["n_valid"]) == ([36, 12], 48)
    assert control["w1"] == pytest.approx(0.25)
    assert control["is"] == pytest.approx(node["w1"] - 0.25)
    assert control["is_ci_low"] < control["is"] < control["is_ci_high"]
    expected = chi2_contingency([[46, 2], [36, 12]], correction=False).pvalue
    assert control["shift_p"] == pytest.approx(expected)
    (few,) = [one for one in records(images(*TOWARDS, [15, 0])).nodes if one["id"] == "b"]
    assert few["control"]["counts"] == [15, 0]
    for name in ("w1", "is", "is_ci_low", "is_ci_high", "shift_p"):
        assert few["control"][name] is None


def test_the_literal_sign_is_confirmed_by_the_literal_sign() -> None:
    paper = AnalysisSettings.resolve("paper", bootstrap=200, noise_draws=0)
    row = pair(records(images(*TOWARDS, [27, 21]), paper))
    assert row["sign"] == row["sign_controlled"] == "towards"
    row = pair(records(images(*TOWARDS, [25, 23]), paper))
    assert (row["sign"], row["sign_controlled"]) == ("undetermined", "away")


def test_rewordings_change_no_other_number() -> None:
    without, given = records(images(*TOWARDS)), records(images(*TOWARDS, [26, 22]))
    said = FIELDS | {"sign", "verdict", "flags"}
    for one, other in zip(without.pairs, given.pairs, strict=True):
        assert {k: v for k, v in one.items() if k not in said} == {
            k: v for k, v in other.items() if k not in said
        }


def test_every_pair_has_the_same_fields() -> None:
    made = images(*TOWARDS, [46, 2])
    rows = records(made).pairs  # b has no interventions
    assert {name for row in rows for name in row} == set(rows[-1])


def several(*made: CodedImages) -> dict[str, Any]:
    analyses = [analyze(one, QUICK) for one in made]
    return pair(Records.of(analyze_global(made, analyses, QUICK)))


def test_several_prompts_are_compared_each_with_its_own_rewordings() -> None:
    one = images([44, 4], [[44, 4], [44, 4]], [44, 4], "a nurse")
    other = images([4, 44], [[4, 44], [4, 44]], [4, 44], "a cook")
    row = several(one, other)
    assert row["is_controlled"] == pytest.approx(0)
    assert row["shift_p_controlled"] == pytest.approx(1)


def test_prompts_without_rewordings_are_left_out() -> None:
    """Nothing happens in either prompt, and they differ."""
    one = images([44, 4], [[44, 4], [44, 4]], [44, 4], "a nurse")
    other = images([4, 44], [[4, 44], [4, 44]], prompt="a cook")
    assert several(one, other)["is_controlled"] == pytest.approx(0)


def test_what_naming_anything_does_is_hardly_ever_confirmed() -> None:
    """Any words move the target from .9 to .75; what is asked for does nothing."""
    rng, audits = np.random.default_rng(0), 150
    fast = replace(QUICK, bootstrap=200)
    plain = claimed = 0
    for _ in range(audits):
        before, *sets = (rng.multinomial(48, [p, 1 - p]).tolist() for p in [0.9, *[0.75] * 3])
        made = images(before, sets[:2], sets[2])
        pool = Pool.of("p", [made])
        ideal = resolve_ideals(made.variables, None, None, None)[1]
        found = Wording(pool, fast, stratified=False).about_pair(0, 1, ideal)
        claimed += found["sign_controlled"] != "undetermined"
        plain += found["shift_p_controlled"] <= 0.05
    margin = 2 * np.sqrt(0.05 * 0.95 / audits)
    assert claimed / audits <= 0.05 + margin
    assert plain / audits <= 0.05 + margin


def test_an_axis_that_wording_alone_moves_is_flagged() -> None:
    own, moved = records(images(*TOWARDS, [26, 22])).nodes
    assert "moved_by_wording" in moved["flags"] and "moved_by_wording" not in own["flags"]
    expected = chi2_contingency([[46, 2], [26, 22]], correction=False).pvalue
    assert moved["control"]["shift_p"] == pytest.approx(expected)
    assert moved["control"]["is"] == pytest.approx(46 / 48 - 26 / 48)
    assert "moved_by_wording" not in records(images(*TOWARDS, [45, 3])).nodes[1]["flags"]
