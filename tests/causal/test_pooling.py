"""The graph of several prompts: supp. A.8 by hand, and what pooling hides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from biasgraph.causal import graph as graphs
from biasgraph.causal import resampling
from biasgraph.causal.baseline import UNIFORM, Baseline
from biasgraph.causal.mediation import ASSUMPTIONS
from biasgraph.causal.pooling import analyze_global
from biasgraph.causal.rows import PairRow
from biasgraph.causal.sensitivity import TargetDraws, measure_sensitivity
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Counts
from biasgraph.causal.transport import Ideal
from biasgraph.errors import InputError
from tests.causal.worlds import Records, audit, chain, codes, column, variables

QUICK = AnalysisSettings(bootstrap=200, noise_draws=50)
PAPER = AnalysisSettings.resolve("paper", bootstrap=200, noise_draws=50)
FAST = AnalysisSettings(bootstrap=100, noise_draws=0)


def prompt(
    name: str,
    before: Sequence[int],
    arms: Sequence[Sequence[int]],
    own: Sequence[int] = (24, 24),
) -> CodedImages:
    """Interventions on a (two attributes) set it and give b the counts `arms`; b has none."""
    sets = {
        (0, a): codes([[sum(one) * (a == 0), sum(one) * (a == 1)], one])
        for a, one in enumerate(arms)
    }
    return audit(codes([own, before]), sets, variables(2, len(before)), name)


def pooled(
    prompts: Sequence[CodedImages],
    settings: AnalysisSettings = QUICK,
    baseline: Baseline = UNIFORM,
) -> Records:
    analyses = [graphs.analyze(prompt, settings, baseline) for prompt in prompts]
    return Records.of(analyze_global(prompts, analyses, settings, baseline))


def analyze(images: CodedImages, settings: AnalysisSettings) -> Records:
    return Records.of(graphs.analyze(images, settings))


def pair(found: Records, source: str = "a", target: str = "b") -> dict[str, Any]:
    return next(p for p in found.pairs if (p["source"], p["target"]) == (source, target))


def random_prompts(count: int = 4, seed: int = 0) -> list[CodedImages]:
    return [chain(n=60 + 10 * i, seed=seed + i, noise=0.1 + 0.05 * i) for i in range(count)]


def named(prompts: Sequence[CodedImages]) -> list[CodedImages]:
    return [replace(images, prompt=f"prompt {i}") for i, images in enumerate(prompts)]


def test_global_counts_are_the_sums_over_the_prompts() -> None:
    prompts = named(random_prompts())
    for images in prompts:
        images.arms[(0, 1)][:7, 2] = -1
        images.initial[:3, 1] = -2
    found = pooled(prompts, AnalysisSettings(bootstrap=100, global_min_is=0.0))
    assert found.links

    def summed(axis: str, attribute: str, target: str, answer: str) -> int:
        where = {"axis": axis, "attribute": attribute, "target": target, "answer": answer}
        rows = [row for row in found.tables if where.items() <= row.items()]
        assert {row["prompt"] for row in rows} == {images.prompt for images in prompts}
        return sum(row["count"] for row in rows)

    for node in found.nodes:
        initial = node["initial"]
        expected = [
            summed("", "", node["id"], a) for a in (*node["attributes"], "unknown", "gated")
        ]
        assert [*initial["counts"], initial["n_unknown"], initial["n_gated"]] == expected
    for link in found.links:
        for row, counts in zip(link["rows"], link["table"], strict=True):
            for answer, count in zip(link["columns"], counts, strict=True):
                assert count == summed(link["source"], row, link["target"], answer)
    assert len(found.tables) == sum(len(analyze(images, FAST).tables) for images in prompts)


def test_the_paper_preset_is_supplement_a_8() -> None:
    prompts = named(random_prompts())
    found = pooled(prompts, PAPER)
    for x in range(3):
        for y in set(range(3)) - {x}:
            table = sum(
                np.array([np.bincount(p.arms[(x, a)][:, y], minlength=2) for a in range(2)])
                for p in prompts
            )
            before = sum(np.bincount(p.initial[:, y], minlength=2) for p in prompts)
            after = np.asarray(table).sum(axis=0)
            distance = [np.abs(n / n.sum() - 0.5).mean() for n in (np.asarray(before), after)]
            one = pair(found, "abc"[x], "abc"[y])
            oracle = chi2_contingency(table, correction=False)
            assert one["p"] == pytest.approx(oracle.pvalue)
            assert one["method"] == "asymptotic"
            assert one["is"] == pytest.approx(distance[0] - distance[1])
            assert one["edge"] == (oracle.pvalue <= 5e-5 and abs(one["is"]) >= 0.03)
    assert 0 < len(found.links) < 6
    assert found.graph["edge_rule"] == {
        "alpha": 5e-5, "fdr": None, "min_is": 0.03, "stratified": False,
    }  # fmt: skip


def test_opposite_skews_cancel_in_the_sum_but_not_in_the_mean() -> None:
    prompts = [
        prompt("a nurse", [43, 5], [[40, 8], [8, 40]]),
        prompt("a cook", [5, 43], [[40, 8], [8, 40]]),
    ]
    each = [pair(analyze(images, QUICK))["is"] for images in prompts]
    one = pair(pooled(prompts))
    assert one["p"] < 1e-10
    assert one["is"] == pytest.approx(0, abs=1e-12)
    assert one["is_mean_prompt"] == pytest.approx(np.mean(each))
    assert one["is_mean_prompt"] > 0.35
    assert not one["edge"]
    assert one["n_prompts"] == 2


def test_a_sum_that_moves_against_every_prompt_is_flagged() -> None:
    """Both prompts come closer to balance, one from each side; their sum was balanced already."""
    arms = [[40, 8], [20, 28]]
    found = pooled([prompt("a nurse", [40, 8], arms), prompt("a cook", [8, 40], arms)])
    one = pair(found)
    assert one["is"] == pytest.approx(-0.125)
    assert one["is_mean_prompt"] == pytest.approx(40 / 48 - 30 / 48)
    assert "opposite_mean" in one["flags"]
    assert one["edge"] and "opposite_mean" in found.links[0]["flags"]
    alike = pair(pooled([prompt(f"p{i}", [40, 8], arms) for i in range(2)]))
    assert "opposite_mean" not in alike["flags"]


def test_prompts_are_summed_alike_however_many_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the one that is held has no interventions, or too few answers to match."""
    arms = [[40, 8], [20, 28]]
    prompts = [
        prompt("a nurse", [0, 0], [[0, 0], [0, 0]], (0, 0)),
        prompt("a cook", [40, 8], arms),
        prompt("a pilot", [1, 0], [[9, 1], [3, 8]], (1, 0)),
        prompt("a ghost", [40, 8], [[0, 0], [0, 0]]),
    ]
    together = pair(pooled(prompts))
    monkeypatch.setattr(resampling, "HELD", 1)
    each = pair(pooled(prompts))
    assert each.pop("flags") == together.pop("flags") and together["is_matched"] is not None
    assert each == pytest.approx(together, abs=1e-12)


@pytest.mark.slow(reason="hundreds of draws")
def test_the_cut_and_the_level() -> None:
    prompts = [prompt(f"p{i}", [30, 18], [[40, 8], [16, 32]]) for i in range(6)]
    one = pair(pooled(prompts))
    assert abs(one["is"]) == pytest.approx(0.125 - 1 / 12)
    assert one["edge"] and pair(pooled(prompts, PAPER))["edge"]
    strict = AnalysisSettings.resolve(global_min_is=0.05, bootstrap=100)
    assert not pair(pooled(prompts, strict))["edge"]
    assert "below_min_is" in pair(pooled(prompts, strict))["flags"]
    exactly = AnalysisSettings.resolve(global_min_is=1 / 24, bootstrap=100)
    assert pair(pooled(prompts, exactly))["edge"]
    level = AnalysisSettings.resolve(alpha=1e-6, bootstrap=100)
    few = [prompt("one", [30, 18], [[34, 14], [16, 32]])]
    assert 1e-6 < pair(pooled(few))["p"] < 5e-4
    assert not pair(pooled(few, level))["edge"]
    rate = AnalysisSettings.resolve(fdr="bh", bootstrap=100)
    assert pair(pooled(few, rate))["edge"]
    cut = pair(pooled(few, AnalysisSettings(fdr="bh", global_min_is=0.2, bootstrap=100)))
    assert not cut["edge"] and "below_min_is" in cut["flags"]


def test_the_cut_is_named_by_the_rate_that_decides() -> None:
    """p_adjusted is Benjamini-Hochberg's also where Benjamini-Yekutieli's decides."""
    one = prompt("one", [30, 18], [[27, 21], [16, 32]])
    back = {(1, b): codes([[24, 24], [48 * (1 - b), 48 * b]]) for b in (0, 1)}
    both = replace(one, arms={**one.arms, **back})  # two pairs are tested
    bh, by = (
        pair(pooled([both], AnalysisSettings(fdr=fdr, global_min_is=0.2, bootstrap=100)))
        for fdr in ("bh", "by")
    )
    assert bh["p_adjusted"] == by["p_adjusted"] == 2 * by["p"]
    assert by["p_adjusted"] <= 0.05 < 1.5 * by["p_adjusted"]
    assert "below_min_is" in bh["flags"]
    assert "below_min_is" not in by["flags"]


def test_one_prompt_is_its_own_sum() -> None:
    images = named(random_prompts(1))
    settings = AnalysisSettings(noise_draws=50)
    alone, found = analyze(images[0], settings), pooled(images, settings)
    n = 120
    for one in found.pairs:
        same = pair(alone, one["source"], one["target"])
        assert one["is"] == one["is_mean_prompt"] == same["is"]
        assert one["is_matched"] == same["is_matched"]
        assert (one["n_prompts"], one["dof"]) == (1, same["dof"])
        assert one["statistic"] == pytest.approx((n - 1) / n * same["statistic"])
        assert one["cramers_v"] == pytest.approx(same["cramers_v"])
        assert one["is_ci_low"] == pytest.approx(same["is_ci_low"], abs=0.03)
    assert found.graph["images"] == alone.graph["images"]
    assert (alone.graph["kind"], found.graph["kind"]) == ("prompt", "global")


def test_what_the_graph_says_of_its_prompts() -> None:
    prompts = named(random_prompts(3))
    analyses = [graphs.analyze(images, QUICK) for images in prompts]
    graph = analyze_global(prompts, analyses, QUICK).graph
    assert graph["prompt"] is None
    assert [one["prompt"] for one in graph["prompts"]] == ["prompt 0", "prompt 1", "prompt 2"]
    assert [one["edges"] for one in graph["prompts"]] == [len(one.links) for one in analyses]
    assert graph["prompts"][1]["images"] == {"initial": 70, "interventions": 6 * 70}
    assert graph["images"] == {"initial": 210, "interventions": 6 * 210}
    assert graph["max_impact"]["axis"] in "ab"


def test_mediation_is_left_to_the_prompts() -> None:
    prompts = named([chain(n=200, seed=i) for i in range(2)])
    assert any(link["mediation"] for link in analyze(prompts[0], QUICK).links)
    found = pooled(prompts)
    assert {(link["source"], link["target"]) for link in found.links} >= {("a", "b"), ("b", "c")}
    assert [link["mediation"] for link in found.links] == [[]] * len(found.links)
    assert found.graph["mediation_assumptions"] == [] != list(ASSUMPTIONS)


def test_the_order_of_the_prompts_changes_nothing() -> None:
    prompts = named(random_prompts(3))
    one, other = pooled(prompts), pooled(prompts[::-1])
    assert (one.nodes, one.pairs, one.links) == (other.nodes, other.pairs, other.links)
    assert one.graph["prompts"] == other.graph["prompts"][::-1]


def test_resampling_keeps_to_each_prompt() -> None:
    """Prompts whose images all look alike vary hardly but between prompts, and these are given."""
    alike = [[48, 0], [48, 0]], [[0, 48], [0, 48]]
    prompts = [prompt(f"p{i}", alike[i % 2][0], alike[i % 2]) for i in range(4)]
    one = pair(pooled(prompts))
    assert one["w1_before"] == one["w1_after"] == 0
    assert one["status"] == "degenerate"
    assert one["ci_percentile_high"] - one["ci_percentile_low"] < 0.05


@pytest.mark.slow(reason="hundreds of draws")
def test_matching_is_unbiased_when_prompts_differ_and_nothing_happens() -> None:
    """Matching the sums would not be: a subset of them varies more than the prompts' own images."""
    random = np.random.default_rng(0)
    ideal = Ideal("nominal", np.array([0.5, 0.5]))

    def matched(counts: Counts) -> float:
        draws = TargetDraws.of(counts[:, 0], ideal, 100, random)
        row = PairRow(source="a", target="b", metric="nominal")
        found = measure_sensitivity(row, counts[:, 0], counts[:, 1:], ideal, draws, FAST, random)
        return float(found.is_matched)

    within, summed = [], []
    for _ in range(300):
        counts = np.stack([random.multinomial(24, p, size=3) for p in ([0.9, 0.1], [0.1, 0.9])])
        within.append(matched(counts))
        summed.append(matched(counts.sum(axis=0, keepdims=True)))
    assert np.mean(within) == pytest.approx(0, abs=0.005)
    assert np.mean(summed) < -0.009


@pytest.mark.slow(reason="hundreds of draws")
def test_losing_half_an_arm_in_some_prompts_is_no_effect() -> None:
    """Prompts differ, and six of them lose half the images of one arm (STATISTICS (g))."""
    prompts = [
        prompt(
            f"p{i}", [44, 4] if i < 6 else [12, 36], [[22, 2], [44, 4]] if i < 6 else [[12, 36]] * 2
        )
        for i in range(26)
    ]
    assert pair(pooled(prompts, PAPER))["p"] < 0.01
    one = pair(pooled(prompts))
    assert one["p"] > 0.8
    assert one["is"] != pytest.approx(0, abs=0.003)
    assert one["is_matched"] == pytest.approx(0, abs=1e-3)
    assert one["sign"] is None


def test_prompts_without_answers() -> None:
    full = prompt("full", [30, 18], [[40, 8], [8, 40]])
    arms = dict(full.arms)
    lost = audit(full.initial, {(0, 0): arms[(0, 0)]}, full.variables, "one arm")
    none = audit(full.initial, {}, full.variables, "no arms")
    found = pooled([full, lost, none])
    one = pair(found)
    assert one["n_prompts"] == 2
    assert one["is_mean_prompt"] == pytest.approx(
        np.mean([pair(analyze(images, QUICK))["is"] for images in (full, lost)])
    )
    assert "uneven_prompts" in one["flags"]
    assert pair(found, "b", "a")["status"] == "insufficient"
    assert pair(found, "b", "a")["n_prompts"] == 0
    assert pair(found, "b", "a")["is_mean_prompt"] is None
    assert found.graph["amplification"]["noise_floor"]["mean"] is not None
    unanswered = audit(column(*[-1] * 20).repeat(2, axis=1), {}, full.variables, "unknown")
    assert pair(pooled([full, unanswered]))["n_prompts"] == 1
    nothing = pooled([none, unanswered])
    assert nothing.graph["flags"] == ["no_interventions"]


def test_answers_lost_in_some_prompts_are_flagged() -> None:
    """Nothing happens, but half the prompts lose half of their counterfactual images."""
    whole = [prompt(f"w{i}", [40, 8], [[40, 8]] * 2) for i in range(3)]
    halved = [prompt(f"h{i}", [8, 40], [[4, 20]] * 2) for i in range(3)]
    one = pair(pooled([*whole, *halved]))
    assert one["is"] == pytest.approx(-1 / 9)
    assert one["is_matched"] == pytest.approx(0, abs=0.01)
    assert one["sign"] is None
    assert "uneven_prompts" in one["flags"]
    assert "uneven_prompts" not in pair(pooled(whole))["flags"]


def test_too_small_for_each_prompt_may_be_enough_together() -> None:
    prompts = [prompt(f"p{i}", [6, 2], [[7, 1], [1, 7]], own=(4, 4)) for i in range(8)]
    one = pair(pooled(prompts))
    assert one["status"] == "ok" and one["is"] is not None
    assert one["is_mean_prompt"] is None
    assert (one["n_prompts"], one["n_mean_prompts"]) == (8, 0)
    large = prompt("large", [30, 18], [[40, 8], [8, 40]])
    one = pair(pooled([*prompts, large]))
    assert one["is_mean_prompt"] == pair(analyze(large, QUICK))["is"]
    assert (one["n_prompts"], one["n_mean_prompts"]) == (9, 1)


def test_the_noise_floor_is_drawn_within_each_prompt() -> None:
    """Prompts of one kind of image each have no noise, however much they differ."""
    own = [[48 * (1 - i), 48 * i] for i in (0, 1)]
    flat = [prompt(f"p{i}", counts, [counts] * 2) for i, counts in enumerate(own)]
    floor = pooled(flat).graph["amplification"]["noise_floor"]
    assert floor == {"mean": 0, "q95": 0}
    one = np.concatenate([images.initial for images in flat])
    arms = {arm: np.concatenate([images.arms[arm] for images in flat]) for arm in flat[0].arms}
    mixed = audit(one, arms, flat[0].variables)  # as if they were of one prompt
    floor = analyze(mixed, QUICK).graph["amplification"]["noise_floor"]
    assert floor["mean"] > 0.01


def test_unknown_as_a_class_and_reference_counts() -> None:
    prompts = [prompt(f"p{i}", [30, 18], [[40, 8], [8, 40]]) for i in range(3)]
    prompts[0].initial[:4, 1] = -1
    settings = AnalysisSettings(unknown="class", bootstrap=100)
    ideal = {
        "a": {"a0": 0.5, "a1": 0.5, "unknown": 0.0},
        "b": {"b0": 0.4, "b1": 0.4, "unknown": 0.2},
    }
    found = pooled(prompts, settings, Baseline(ideal))
    assert found.nodes[1]["initial"]["counts"][2] == 4
    assert {row["answer"] for row in found.tables if row["target"] == "b"} == {
        "b0", "b1", "unknown", "gated",
    }  # fmt: skip
    counts = {"b": {"b0": 40, "b1": 60}}
    uncertain = pooled(prompts, QUICK, Baseline(counts=counts))
    assert uncertain.nodes[1]["ideal"] == [0.4, 0.6]
    with pytest.raises(InputError, match="no_axis"):
        pooled(prompts, QUICK, Baseline({"no_axis": {}}))
