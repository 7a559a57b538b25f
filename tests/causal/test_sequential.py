"""Looking at pairs until they are decided: what stops when, and at which levels."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biasgraph.causal.baseline import UNIFORM
from biasgraph.causal.graph import analyze
from biasgraph.causal.independence import highest_v_resampled
from biasgraph.causal.looks import LOOKS, looks_up_to
from biasgraph.causal.rows import PairRow
from biasgraph.causal.sequential import first_images, look_at
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Codes, Pool
from biasgraph.data.frames import pairs_frame, pairs_from_cells
from biasgraph.errors import InputError
from tests.causal.worlds import variables

FIXED = AnalysisSettings(bootstrap=200, noise_draws=0)
LOOKED = replace(FIXED, looks=(24, 48, 96))


def images(
    effect: float, n: int = 96, start: float = 0.2, rewordings: int = 0, seed: int = 0
) -> CodedImages:
    """Axes a and b of two attributes; a's arms show b1 at `start` and `start` + `effect`."""
    rng = np.random.default_rng(seed)

    def drawn(count: int, *shares: float) -> Codes:
        return (rng.random((count, 2)) < shares).astype(np.int16)

    arms = {(0, 0): drawn(n, 0.05, start), (0, 1): drawn(n, 0.95, start + effect)}
    arms |= {(1, 0): drawn(n, 0.5, 0.05), (1, 1): drawn(n, 0.5, 0.95)}
    controls = drawn(rewordings * n, 0.5, start)
    return CodedImages("a nurse", variables(2, 2), drawn(n, 0.5, start), arms, controls)


def pair(coded: CodedImages, settings: AnalysisSettings, ends: str = "ab") -> PairRow:
    """a -> b."""
    return next(row for row in analyze(coded, settings).pairs if row.source + row.target == ends)


def cut(coded: CodedImages, n: int) -> CodedImages:
    return first_images(Pool.of("", [coded]), n).prompts[0]


def test_the_looks_are_cut() -> None:
    assert looks_up_to(384) == LOOKS == (24, 48, 96, 192, 384)
    assert looks_up_to(100) == (24, 48, 96) and looks_up_to(24) == (24,)


def test_a_clear_edge_stops_at_the_first_look() -> None:
    row = pair(images(0.8, start=0.1), LOOKED)
    assert (row.edge, row.verdict, row.decided) == (True, "towards", True)
    assert (row.look, row.look_images, row.edge_look) == (1, 24, 1)


def test_no_edge_stops_when_it_is_bounded() -> None:
    row = pair(images(0.0, start=0.4, seed=3), LOOKED)
    assert not row.edge and row.decided and row.verdict in ("below_min_v", "common_shift")
    assert row.v_high is not None and row.v_high < LOOKED.min_v and row.edge_look is None
    assert isinstance(row.look, int) and row.look > 1  # 24 images bound no V below .3


def test_what_is_not_decided_stays_open() -> None:
    row = pair(images(0.25, start=0.4, n=24), LOOKED)
    assert (row.decided, row.look, row.look_images) == (False, 1, 24)
    assert row.verdict in ("undecided", "edge_undetermined")


def test_edges_are_enough_where_directions_are_not_asked_for() -> None:
    # Both arms leave the ideal by as much, to either side: their mixture stays on it.
    coded = images(0.7, start=0.15)
    coded = replace(coded, initial=images(0.0, start=0.5).initial)
    wanted = pair(coded, replace(LOOKED, delta=0.0))
    asked = pair(coded, replace(LOOKED, delta=0.0, decide="edges"))
    assert (wanted.edge, wanted.decided, wanted.look, wanted.edge_look) == (True, False, 3, 1)
    assert (asked.edge, asked.decided, asked.look, asked.edge_look) == (True, True, 1, 1)
    assert asked.verdict == "edge_undetermined"


def drawn_apart(seed: int) -> CodedImages:
    """Arms of a that differ in b, whose mixture is at the initial .7 of b1: the true IS is 0."""
    rng = np.random.default_rng(seed)

    def drawn(share: float) -> Codes:
        return (rng.random((96, 2)) < (0.5, share)).astype(np.int16)

    arms = {(0, 0): drawn(0.95), (0, 1): drawn(0.45)}
    return CodedImages(f"prompt {seed}", variables(2, 2), drawn(0.7), arms)


def test_several_prompts_stop_at_an_edge_only_where_is_is_bounded_beyond_the_cut() -> None:
    """|IS| >= --min-is in some image of some look is no test: chance passes it sooner or later."""
    settings = replace(LOOKED, decide="edges")

    def row(look: AnalysisSettings, seed: int) -> PairRow:
        prompts = [drawn_apart(4 * seed + one) for one in range(4)]
        return look_at(prompts, look, UNIFORM, several=True).rows[0]

    rows = [row(settings, seed) for seed in range(12)]
    fixed = [row(replace(settings, looks=(96,)), seed) for seed in range(12)]
    assert {one.edge_look for one in rows} == {1}
    assert [one.edge for one in rows] == [one.edge for one in fixed]  # judged at the last look
    stopped = [one for one in rows if one.decided and one.edge]
    assert all(abs(one.is_ or 0) > settings.global_min_is for one in stopped) and len(stopped) < 2
    clear = [replace(images(0.8, start=0.1, seed=seed), prompt=f"{seed}") for seed in range(4)]
    found = look_at(clear, settings, UNIFORM, several=True).rows[0]
    assert (found.edge, found.decided, found.look) == (True, True, 1)
    assert min(abs(found.is_ci_low or 0), abs(found.is_ci_high or 0)) > settings.global_min_is


def test_what_cannot_be_decided_is_not_called_open() -> None:
    coded = images(0.8, start=0.1)
    arms = {arm: codes for arm, codes in coded.arms.items() if arm[0] == 0}
    found = analyze(replace(coded, arms=arms), LOOKED).pairs
    decided = {row.source + row.target: row.record().get("decided", "none") for row in found}
    assert decided == {"aa": "none", "ab": True, "ba": None, "bb": "none"}
    frame = pairs_frame(found)
    assert [*frame["decided"].astype(object)] == [pd.NA, True, pd.NA, pd.NA]
    cells = pd.read_csv(io.StringIO(frame.to_csv(index=False)), dtype=str, keep_default_na=False)
    assert [*cells["decided"]] == ["", "True", "", ""]
    assert pairs_from_cells(cells)["decided"].equals(frame["decided"])


def test_a_row_is_that_of_its_look_and_images_made_later_change_nothing() -> None:
    coded = images(0.8, start=0.1)
    row = pair(coded, LOOKED)
    assert row == pair(cut(coded, 24), LOOKED)
    fixed = pair(cut(coded, 24), FIXED)
    assert (row.is_, row.p, row.cramers_v) == (fixed.is_, fixed.p, fixed.cramers_v)


def test_intervals_and_bounds_share_their_errors_over_the_looks() -> None:
    coded = cut(images(0.4, start=0.3), 24)
    row, fixed = pair(coded, LOOKED), pair(coded, FIXED)
    for low, high in (("is_ci_low", "is_ci_high"), ("is_matched_ci_low", "is_matched_ci_high")):
        assert getattr(row, low) < getattr(fixed, low)
        assert getattr(row, high) > getattr(fixed, high)
    assert row.v_high is not None and fixed.v_high is not None and row.v_high > fixed.v_high
    assert "adaptive" in row.flags and "adaptive" not in fixed.flags
    assert LOOKED.prompt_rule.alpha == pytest.approx(FIXED.alpha / 3)
    assert LOOKED.shift_alpha == LOOKED.bound_level == pytest.approx(0.05 / 3)


def test_every_graph_says_that_it_was_looked_at() -> None:
    found = analyze(images(0.8, start=0.1), LOOKED)
    assert "adaptive" in found.graph["flags"]
    assert found.graph["settings"]["looks"] == [24, 48, 96]
    link = next(link for link in found.links if link.target == "b")
    assert sum(map(sum, link.table)) == 2 * 24  # the table that was tested
    own = next(row for row in found.pairs if row.source == row.target == "a")
    assert "decided" not in own.record() and own.cramers_v is not None


def test_images_that_a_source_lacks_leave_its_pairs_where_they_were() -> None:
    whole = images(0.25, start=0.4, seed=5)
    arms = {arm: codes[: 48 if arm[0] == 0 else 96] for arm, codes in whole.arms.items()}
    assert pair(replace(whole, arms=arms), LOOKED).look == 2
    none = {arm: codes[:20] for arm, codes in whole.arms.items()}
    row = pair(replace(whole, arms=none), LOOKED)
    assert (row.decided, row.look, row.verdict, row.edge) == (False, None, "undecided", False)


def test_rewordings_are_cut_one_by_one() -> None:
    coded = images(0.3, n=96, rewordings=2)
    kept = cut(coded, 24).controls
    assert np.array_equal(kept, np.concatenate([coded.controls[:24], coded.controls[96:120]]))


def test_once_an_edge_always_an_edge() -> None:
    """A direction is still looked for after a look at which the arms differ less clearly."""
    clear, alike = images(0.7, start=0.15, n=24, seed=2), images(0.0, start=0.5, n=72, seed=1)
    arms = {arm: np.concatenate([codes, alike.arms[arm]]) for arm, codes in clear.arms.items()}
    coded = replace(clear, initial=np.concatenate([alike.initial, alike.initial[:24]]), arms=arms)
    settings = replace(LOOKED, delta=0.0)
    first, last = pair(cut(coded, 24), settings), pair(coded, settings)
    assert first.edge and not first.decided
    assert last.p is not None and last.p > settings.prompt_rule.alpha  # by itself it is no edge now
    assert (last.edge, last.edge_look, last.look) == (True, 1, 3)


@pytest.mark.parametrize("looks", [(48, 24), (24, 24), (0, 24)])
def test_looks_that_do_not_rise_are_refused(looks: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="looks must be rising numbers of images"):
        AnalysisSettings(looks=looks)


def test_what_is_computed_from_a_run_later_takes_its_images_as_they_are() -> None:
    record = analyze(images(0.8), LOOKED).graph["settings"]
    assert AnalysisSettings.of_record(record) == FIXED


def test_rare_answers_bound_v_by_resampling() -> None:
    table = np.array([[24, 0], [24, 0], [23, 1]])

    def bound(counts: object) -> float | None:
        return highest_v_resampled(np.array(counts), LOOKED, np.random.default_rng(0))

    few, many = bound(table), bound(table * 16)
    assert few is not None and many is not None and many < few < 1 and many < 0.3
    alike = bound([[96, 0], [96, 0]])
    assert alike is not None and 0 < alike < 0.3
    assert bound([[5, 5], [0, 0]]) is None


def test_answers_never_seen_are_reckoned_with() -> None:
    """Where one arm alone shows a rare answer, and 24 images may well have none of it."""
    rng = np.random.default_rng(7)
    shares = np.array([0.1, 0.0, 0.0, 0.0])
    mean = shares.mean()
    v = np.sqrt(((shares - mean) ** 2).mean() / (mean * (1 - mean)))
    covered = []
    for _ in range(300):
        rare = rng.binomial(24, shares)
        high = highest_v_resampled(np.stack([24 - rare, rare], axis=1), LOOKED, rng)
        covered.append(high is not None and high >= v)
    assert np.mean(covered) >= 0.95


def test_under_a_false_discovery_rate_evidence_decides_on_edges() -> None:
    settings = replace(LOOKED, fdr="bh")
    clear = pair(images(0.8, start=0.1), settings)
    assert (clear.edge, clear.look, clear.verdict) == (True, 1, "towards")
    assert isinstance(clear.log_e, float) and clear.log_e > np.log(2 / 0.05)
    none = pair(images(0.0, start=0.4, seed=3), settings)
    assert not none.edge and isinstance(none.log_e, float) and none.log_e < 0
    assert "log_e" not in pair(images(0.8, start=0.1), LOOKED).record()


def test_evidence_stays_as_it_made_the_edge() -> None:
    clear, alike = images(0.7, start=0.15, n=24, seed=2), images(0.0, start=0.5, n=72, seed=1)
    arms = {arm: np.concatenate([codes, alike.arms[arm]]) for arm, codes in clear.arms.items()}
    coded = replace(clear, initial=np.concatenate([alike.initial, alike.initial[:24]]), arms=arms)
    settings = replace(LOOKED, delta=0.0, fdr="bh")
    first, last = pair(cut(coded, 24), settings), pair(coded, settings)
    assert first.edge and last.edge and (last.edge_look, last.look) == (1, 3)
    assert last.log_e == first.log_e


def test_looks_that_were_taken_need_not_be_again() -> None:
    coded = images(0.25, start=0.4, seed=5)
    first = look_at([cut(coded, 24)], LOOKED, UNIFORM, several=False)
    assert first.looks == 1 and first.open_sources == ["a", "b"]
    again = look_at([coded], LOOKED, UNIFORM, several=False, before=first)
    assert again == look_at([coded], LOOKED, UNIFORM, several=False)
    assert first.next_images(LOOKED.looks) == {"a": 48, "b": 48}
