from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from biasgraph.causal import graph as graphs
from biasgraph.causal.baseline import Baseline
from biasgraph.causal.flags import FLAG_WORDS, STATUS_WORDS
from biasgraph.causal.pooling import analyze_global
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import GATED, UNKNOWN, CodedImages, Variable
from biasgraph.errors import InputError
from tests.causal.worlds import Records, audit, chain, codes, column, independent, variables

QUICK = AnalysisSettings(bootstrap=300, noise_draws=50)
PAPER = AnalysisSettings.resolve("paper", bootstrap=300, noise_draws=50)

NODE_FIELDS = {
    *("id", "metric", "attributes", "initial", "distribution_ci", "distribution_bounds", "ideal"),
    *("w1", "w1_ci", "w1_null", "near_ideal", "diagonal", "out_degree", "in_degree"),
    *("out_strength", "in_strength", "flags", "findings"),
}
PAIR_FIELDS = {
    *("source", "target", "metric", "statistic", "dof", "p", "p_adjusted", "method"),
    *("cramers_v", "cramers_v_corrected", "detectable_v", "w1_before", "w1_after", "is"),
    *("is_matched", "is_matched_ci_low", "is_matched_ci_high", "is_ci_low", "is_ci_high"),
    *("ci_percentile_low", "ci_percentile_high", "ci_basic_low", "ci_basic_high"),
    *("sign", "sign_probability", "shift_p", "shift_p_adjusted", "edge", "status", "flags"),
    *("v_high", "verdict", "moved", "share_before", "share_after"),
}
LINK_FIELDS = PAIR_FIELDS | {"table", "rows", "columns", "mediation", "weight"}


def analyze(images: CodedImages, settings: AnalysisSettings, *given: Baseline) -> Records:
    return Records.of(graphs.analyze(images, settings, *given))


def pair(analysis: Records, source: str, target: str) -> dict[str, Any]:
    return next(one for one in analysis.pairs if (one["source"], one["target"]) == (source, target))


def node(analysis: Records, name: str) -> dict[str, Any]:
    return next(one for one in analysis.nodes if one["id"] == name)


@pytest.fixture(scope="module")
def chained() -> Records:
    return analyze(chain(200, 4), QUICK)


def test_a_chain_has_the_edges_of_a_chain(chained: Records) -> None:
    found = {(link["source"], link["target"]) for link in chained.links}
    assert found == {("a", "b"), ("b", "c"), ("a", "c")}
    (direct,) = [link for link in chained.links if link["mediation"]]
    assert (direct["source"], direct["target"]) == ("a", "c")
    assert [check["through"] for check in direct["mediation"]] == ["b"]
    assert chained.graph["mediation_assumptions"]


def test_every_promised_field_is_there_on_every_row(chained: Records) -> None:
    for one in chained.nodes:
        assert set(one) >= NODE_FIELDS
    for one in chained.pairs:
        assert set(one) >= PAIR_FIELDS
        assert list(one) == list(chained.pairs[0])
    for link in chained.links:
        assert set(link) >= LINK_FIELDS
        assert link["weight"] == link["is"]
    assert {"max_influenced", "max_impact", "amplification"} <= set(chained.graph)
    assert {"value", "above_floor", "noise_floor"} <= set(chained.graph["amplification"])


def test_a_link_shows_the_table_that_was_tested(chained: Records) -> None:
    for link in chained.links:
        expected = chi2_contingency(np.array(link["table"]), correction=False)
        assert link["statistic"] == pytest.approx(expected.statistic)
        assert link["p"] == pytest.approx(expected.pvalue)
        assert len(link["table"]) == len(link["rows"])
        assert len(link["table"][0]) == len(link["columns"])
    assert chained.links[0]["rows"] == ["a0", "a1"]
    assert chained.links[0]["columns"] == ["b0", "b1"]


def test_the_graph_opens_in_networkx(chained: Records) -> None:
    document = json.loads(json.dumps(chained.document, allow_nan=False))
    graph = nx.node_link_graph(document, edges="links")
    assert isinstance(graph, nx.DiGraph)
    assert set(graph.nodes) == {"a", "b", "c"} and graph.number_of_edges() == 3
    assert graph.edges["a", "b"]["weight"] == pytest.approx(pair(chained, "a", "b")["is"])
    assert graph.graph["max_impact"]["axis"] == "a"
    for name, degree in graph.out_degree():
        assert node(chained, name)["out_degree"] == degree
    for name, degree in graph.in_degree():
        assert node(chained, name)["in_degree"] == degree
    strengths = {
        name: sum(abs(data["is"]) for _, _, data in graph.out_edges(name, data=True))
        for name in graph
    }
    assert {name: node(chained, name)["out_strength"] for name in graph} == pytest.approx(strengths)


def test_the_weight_of_an_edge_away_from_the_ideal_is_negative() -> None:
    found = analyze(chain(200, 4), QUICK, Baseline({"c": {"c0": 1.0}}))
    (link,) = [one for one in found.links if (one["source"], one["target"]) == ("b", "c")]
    assert link["weight"] == link["is"] < 0
    assert node(found, "c")["in_strength"] > 0


def test_all_pairs_are_rows_and_the_diagonal_is_a_manipulation_check(chained: Records) -> None:
    assert len(chained.pairs) == 9
    for name in "abc":
        row = pair(chained, name, name)
        assert row["edge"] is False and row["p_adjusted"] is None
        assert row["cramers_v"] == pytest.approx(1)
        assert node(chained, name)["diagonal"] == {
            "p": row["p"],
            "cramers_v": row["cramers_v"],
            "accuracy": 1.0,
        }
    assert chained.graph["amplification"]["pairs"] == 6


def test_independent_axes_have_no_edges() -> None:
    found = analyze(independent([2, 3, 4]), QUICK)
    assert found.links == []
    assert found.graph["max_impact"] is None and found.graph["max_influenced"] is None
    assert found.graph["mediation_assumptions"] == []
    assert all(one["out_strength"] == 0.0 for one in found.nodes)


def test_the_same_answers_and_seed_give_the_same_analysis() -> None:
    images = independent([2, 3, 4], lost=0.1)
    first, second = analyze(images, QUICK), analyze(images, QUICK)
    assert json.dumps(first.document) == json.dumps(second.document)
    assert first.pairs == second.pairs
    other = analyze(images, replace(QUICK, seed=1))
    assert pair(other, "a", "b")["is"] == pair(first, "a", "b")["is"]
    assert pair(other, "a", "b")["is_ci_low"] != pair(first, "a", "b")["is_ci_low"]


def test_an_axis_more_changes_no_number_of_the_others() -> None:
    images = independent([2, 3, 4])
    fewer = CodedImages(
        images.prompt,
        images.variables[:2],
        images.initial[:, :2],
        {arm: one[:, :2] for arm, one in images.arms.items() if arm[0] < 2},
    )
    whole, part = analyze(images, QUICK), analyze(fewer, QUICK)
    for one in part.pairs:
        other = pair(whole, one["source"], one["target"])
        family = {"p_adjusted": 0, "shift_p_adjusted": 0}  # over more pairs
        assert {**one, **family} == {**other, **family}


@pytest.mark.slow(reason="hundreds of random tables")
@given(
    st.integers(0, 2**32),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.integers(0, 40),
    st.floats(0, 1),
)
@settings(max_examples=40)
def test_whatever_the_answers_the_result_is_plain_and_explained(
    seed: int, sizes: list[int], n: int, lost: float
) -> None:
    images = independent(sizes, n=n, seed=seed, lost=lost)
    for options in (QUICK, PAPER):
        found = analyze(images, options)
        json.dumps([found.document, found.pairs, found.tables], allow_nan=False)
        assert len(found.pairs) == len(sizes) ** 2
        for one in [*found.pairs, *found.nodes]:
            assert one["status"] in STATUS_WORDS
            assert set(one["flags"]) <= set(FLAG_WORDS)
        assert set(found.graph["flags"]) <= set(FLAG_WORDS)
        for one in found.pairs:
            assert (one["is"] is None) == (one["status"] == "insufficient")
            assert (one["cramers_v"] is None) <= (one["status"] != "ok")
            if one["edge"]:
                assert one["p"] <= options.alpha and one["source"] != one["target"]
        total = sum(one["count"] for one in found.tables)
        assert total == len(sizes) * n * (1 + sum(sizes))


def effect(n: int = 48, lost: int = 0) -> CodedImages:
    """a sets b outright; `lost` answers about b are unknown when a is a1."""

    def arm(a: int, b: int) -> np.ndarray:
        return column(a, b, repeat=n).reshape(2, n).T.copy()

    arms = {(0, 0): arm(0, 0), (0, 1): arm(1, 1), (1, 0): arm(0, 0), (1, 1): arm(0, 1)}
    arms[(0, 1)][:lost, 1] = UNKNOWN
    return audit(codes([[n, 0], [n // 2, n - n // 2]]), arms, variables(2, 2))


def moved() -> CodedImages:
    """a moves b from 48 of 48 towards its ideal."""
    images = effect()
    images.initial[:, 1] = 0
    return images


def test_an_edge_needs_p_at_most_alpha() -> None:
    image = effect()
    exact = pair(analyze(image, QUICK), "a", "b")
    assert exact["edge"] is True
    at_p = replace(QUICK, alpha=exact["p"], fallback="off")
    assert pair(analyze(image, at_p), "a", "b")["edge"] is True  # kept unless p exceeds alpha
    below = replace(QUICK, alpha=exact["p"] * 0.99, fallback="off")
    assert pair(analyze(image, below), "a", "b")["edge"] is False


def test_a_false_discovery_rate_may_decide_instead() -> None:
    # Each axis follows the other faintly: p = .041 both ways.
    arms = {
        (0, 0): codes([[48, 0], [30, 18]]),
        (0, 1): codes([[0, 48], [20, 28]]),
        (1, 0): codes([[30, 18], [48, 0]]),
        (1, 1): codes([[20, 28], [0, 48]]),
    }
    images = audit(codes([[24, 24], [24, 24]]), arms, variables(2, 2))
    plain = analyze(images, QUICK)
    bh = analyze(images, replace(QUICK, fdr="bh"))
    by = analyze(images, replace(QUICK, fdr="by"))
    assert (len(plain.links), len(bh.links), len(by.links)) == (0, 2, 0)
    for one in (plain, bh, by):  # always Benjamini-Hochberg: both p are the same, so it is p
        assert pair(one, "a", "b")["p_adjusted"] == pytest.approx(pair(one, "a", "b")["p"])


def test_degenerate_pairs_count_in_the_family_with_p_one() -> None:
    images = effect()
    frozen = {arm: one.copy() for arm, one in images.arms.items()}
    for value in (0, 1):
        frozen[(1, value)][:, 0] = 0
    found = analyze(audit(images.initial, frozen, images.variables), QUICK)
    still = pair(found, "b", "a")
    assert (still["status"], still["statistic"], still["p"]) == ("degenerate", 0, 1)
    assert still["cramers_v"] is None and still["method"] is None and still["edge"] is False
    assert still["is"] is not None  # the mean did or did not move, test or no test
    strong = pair(found, "a", "b")
    assert strong["p_adjusted"] == pytest.approx(2 * strong["p"])


def test_too_few_valid_answers_are_insufficient_and_never_an_edge() -> None:
    found = analyze(effect(lost=33), QUICK)  # 15 left in one arm
    row = pair(found, "a", "b")
    assert row["status"] == "insufficient" and row["edge"] is False
    assert row["p"] < 1e-4 and row["cramers_v"] == pytest.approx(1)
    for name in ("is", "w1_before", "w1_after", "is_matched", "sign", "sign_probability"):
        assert row[name] is None
    assert "differential_loss" in row["flags"]
    amplification = found.graph["amplification"]
    assert (amplification["pairs"], amplification["pairs_defined"]) == (2, 1)
    assert found.graph["flags"] == ["incomplete_sum"]
    assert found.links == []


def test_sixteen_are_enough_and_fewer_than_32_are_flagged() -> None:
    found = analyze(effect(lost=32), QUICK)
    assert pair(found, "a", "b")["status"] == "ok"
    assert "small_sample" in pair(found, "a", "b")["flags"]
    assert "unequal_arms" in pair(found, "a", "b")["flags"]
    assert "small_sample" not in pair(found, "b", "a")["flags"]
    assert "small_sample" not in pair(analyze(effect(lost=16), QUICK), "a", "b")["flags"]


def test_losing_answers_evenly_is_no_differential_loss() -> None:
    images = effect()
    for arm in ((0, 0), (0, 1)):
        images.arms[arm][:10, 1] = UNKNOWN
    assert "differential_loss" not in pair(analyze(images, QUICK), "a", "b")["flags"]
    images.arms[(0, 1)][10:17, 1] = UNKNOWN  # 10 and 17 of 48: p = .10
    assert "differential_loss" not in pair(analyze(images, QUICK), "a", "b")["flags"]
    gated = effect()
    gated.arms[(0, 1)][:10] = GATED
    found = analyze(gated, QUICK)
    assert "differential_loss" in pair(found, "a", "b")["flags"]
    assert "differential_loss" in node(found, "a")["flags"]
    assert "differential_loss" not in node(found, "b")["flags"]


def test_a_weak_manipulation_marks_all_that_leaves_the_axis() -> None:
    images = effect()
    for value in (0, 1):
        images.arms[(0, value)][:, 0] = np.arange(48) % 2  # naming a does not show a
    found = analyze(images, QUICK)
    assert node(found, "a")["diagonal"]["cramers_v"] == 0
    assert node(found, "a")["diagonal"]["accuracy"] == 0.5
    assert "weak_intervention" in node(found, "a")["flags"]
    assert "weak_intervention" in pair(found, "a", "b")["flags"]
    assert "weak_intervention" not in pair(found, "a", "a")["flags"]
    assert "weak_intervention" not in pair(found, "b", "a")["flags"]
    always = {arm: one.copy() for arm, one in images.arms.items()}
    for value in (0, 1):
        always[(0, value)][:, 0] = 0
    stuck = analyze(audit(images.initial, always, images.variables), QUICK)
    assert "weak_intervention" in node(stuck, "a")["flags"]


def test_a_manipulation_that_nobody_saw_is_not_called_weak() -> None:
    images = effect()
    for codes_of in (images.initial, *images.arms.values()):
        codes_of[:, 0] = UNKNOWN
    found = analyze(images, QUICK)
    assert pair(found, "a", "a")["status"] == "insufficient"
    assert "weak_intervention" not in node(found, "a")["flags"]
    assert "weak_intervention" not in pair(found, "a", "b")["flags"]


def test_a_significant_but_faint_manipulation_is_weak() -> None:
    n = 2000
    arms = {
        (0, 0): codes([[1100, 900], [1000, 1000]]),
        (0, 1): codes([[900, 1100], [1000, 1000]]),
        (1, 0): codes([[1000, 1000], [n, 0]]),
        (1, 1): codes([[1000, 1000], [0, n]]),
    }
    found = analyze(audit(codes([[1000, 1000]] * 2), arms, variables(2, 2)), QUICK)
    assert node(found, "a")["diagonal"]["p"] < 1e-4
    assert node(found, "a")["diagonal"]["cramers_v"] < 0.3
    assert "weak_intervention" in node(found, "a")["flags"]
    assert "weak_intervention" not in node(found, "b")["flags"]


def test_a_clear_but_insignificant_manipulation_is_weak() -> None:
    arms = {
        (0, 0): codes([[11, 5], [8, 8]]),
        (0, 1): codes([[5, 11], [8, 8]]),
        (1, 0): codes([[8, 8], [16, 0]]),
        (1, 1): codes([[8, 8], [0, 16]]),
    }
    found = analyze(audit(codes([[8, 8]] * 2), arms, variables(2, 2)), QUICK)
    assert node(found, "a")["diagonal"]["cramers_v"] > 0.3
    assert node(found, "a")["diagonal"]["p"] > 1e-4
    assert "weak_intervention" in node(found, "a")["flags"]
    assert "weak_intervention" not in node(found, "b")["flags"]


def test_shift_p_compares_the_initial_images_with_all_of_the_arms() -> None:
    images = effect()
    row = pair(analyze(images, QUICK), "a", "b")
    assert row["shift_p"] == pytest.approx(1.0)  # the arms differ, their mean did not move
    row = pair(analyze(moved(), QUICK), "a", "b")
    expected = chi2_contingency([[48, 0], [48, 48]], correction=False).pvalue
    assert row["shift_p"] == pytest.approx(expected)


def test_an_axis_without_interventions_is_a_target_only() -> None:
    images = effect()
    arms = {arm: one for arm, one in images.arms.items() if arm[0] == 0}
    found = analyze(audit(images.initial, arms, images.variables), QUICK)
    for target in "ab":
        row = pair(found, "b", target)
        assert row["status"] == "insufficient" and row["flags"] == ["no_intervention"]
        assert row["p"] is None and row["p_adjusted"] is None and row["statistic"] is None
    assert node(found, "b")["diagonal"] == {"p": None, "cramers_v": None, "accuracy": None}
    assert "no_intervention" in node(found, "b")["flags"]
    alone = pair(found, "a", "b")
    assert alone["edge"] is True and alone["p_adjusted"] == alone["p"]
    assert found.graph["images"] == {"initial": 48, "interventions": 96}


def test_initial_images_alone_are_measured_and_their_pairs_left() -> None:
    images = effect()
    found = analyze(audit(images.initial, {}, images.variables), QUICK)
    assert found.graph["flags"] == ["no_interventions"]
    measured = ("w1", "w1_ci", "w1_null", "near_ideal", "distribution_ci", "status")
    for one, other in zip(found.nodes, analyze(images, QUICK).nodes, strict=True):
        assert {name: one[name] for name in measured} == {name: other[name] for name in measured}
    assert {one["status"] for one in found.pairs} == {"insufficient"} and not found.links


def test_an_attribute_without_images_is_said() -> None:
    images = effect()
    arms = {arm: one for arm, one in images.arms.items() if arm != (0, 1)}
    found = analyze(audit(images.initial, arms, images.variables), QUICK)
    row = pair(found, "a", "b")
    assert "missing_arms" in row["flags"] and row["status"] == "degenerate"
    assert "missing_arms" in node(found, "a")["flags"]


def test_all_unknown_is_insufficient_everywhere() -> None:
    images = effect()
    for one in (images.initial, *images.arms.values()):
        one[:] = UNKNOWN
    found = analyze(images, QUICK)
    assert {one["status"] for one in [*found.pairs, *found.nodes]} == {"insufficient"}
    assert found.graph["flags"] == ["incomplete_sum", "nothing_decided"]
    assert found.graph["amplification"]["value"] is None
    assert all(one["shift_p"] is None for one in found.pairs)
    assert all(one["diagonal"]["accuracy"] is None for one in found.nodes)


@pytest.mark.parametrize("options", [QUICK, PAPER])
def test_one_image_in_each_set(options: AnalysisSettings) -> None:
    found = analyze(effect(n=1), options)
    assert found.links == []
    status = "insufficient" if options is QUICK else "ok"
    assert pair(found, "a", "b")["status"] == status
    assert node(found, "a")["initial"]["n_total"] == 1


def test_no_variable_and_no_image_is_an_empty_graph() -> None:
    found = analyze(CodedImages("p", (), np.zeros((0, 0), dtype=np.int16), {}), QUICK)
    assert (found.nodes, found.pairs, found.links, found.tables) == ([], [], [], [])
    assert found.graph["amplification"]["value"] is None


def test_an_axis_that_nobody_could_name_has_no_attributes() -> None:
    images = CodedImages(
        "p",
        (*variables(2), Variable("mood", ())),
        np.concatenate([column(0, 1, repeat=24), np.full((48, 1), UNKNOWN, dtype=np.int16)], 1),
        {
            (0, a): np.concatenate([column(a, repeat=48), column(UNKNOWN, repeat=48)], axis=1)
            for a in (0, 1)
        },
    )
    found = analyze(images, QUICK)
    assert node(found, "mood")["initial"]["counts"] == []
    assert node(found, "mood")["initial"]["n_unknown"] == 48
    assert pair(found, "a", "mood")["status"] == "insufficient"


def test_the_paper_preset_reads_the_paper_literally() -> None:
    images = effect(n=12)
    found = analyze(images, PAPER)
    row = pair(found, "a", "b")
    expected = chi2_contingency([[12, 0], [0, 12]], correction=False)
    assert row["method"] == "asymptotic" and row["p"] == pytest.approx(expected.pvalue)
    assert row["metric"] == "values" and row["edge"] is True
    assert "values_metric" in found.graph["flags"]
    assert found.graph["settings"]["preset"] == "paper"
    with pytest.raises(InputError, match="not uniform"):
        analyze(images, PAPER, Baseline({"b": {"b0": 0.9, "b1": 0.1}}))


def test_metrics_of_different_axes_are_named_when_they_mix() -> None:
    images = effect()
    first, second = images.variables
    ordered = replace(images, variables=(first, replace(second, metric="ordinal")))
    found = analyze(ordered, QUICK)
    assert found.graph["amplification"]["metrics"] == ["nominal", "ordinal"]
    assert "mixed_metrics" in found.graph["flags"]
    assert pair(found, "a", "b")["metric"] == "ordinal"
    assert node(found, "b")["metric"] == "ordinal"
    one = analyze(ordered, replace(QUICK, metric="nominal"))
    assert one.graph["flags"] == [] and one.graph["amplification"]["metrics"] == ["nominal"]


def test_a_cost_matrix_reaches_the_graph() -> None:
    images = effect()
    cost = np.array([[0, 5.0], [5.0, 0]])
    priced = replace(
        images, variables=tuple(replace(v, metric="cost", cost=cost) for v in images.variables)
    )
    plain, dear = analyze(images, QUICK), analyze(priced, QUICK)
    for one in plain.pairs:
        other = pair(dear, one["source"], one["target"])
        assert other["is"] == pytest.approx(5 * one["is"])
        assert other["is_ci_low"] == pytest.approx(5 * one["is_ci_low"])


def test_another_ideal_moves_the_direction() -> None:
    arms = {(0, a): codes([[48, 0], [40, 8]]) + np.array([a, 0]) for a in (0, 1)}
    arms = {arm: one.astype(np.int16) for arm, one in arms.items()}
    images = audit(codes([[24, 24], [24, 24]]), arms, variables(2, 2))
    uniform = analyze(images, QUICK)
    skewed = analyze(images, QUICK, Baseline({"b": {"b0": 1.0}}))
    assert pair(uniform, "a", "b")["sign"] == "away"
    assert pair(skewed, "a", "b")["sign"] == "towards"
    assert pair(skewed, "a", "b")["is"] == pytest.approx(-pair(uniform, "a", "b")["is"])
    assert node(skewed, "b")["ideal"] == [1.0, 0.0]
    seen = analyze(images, QUICK, Baseline(counts={"b": {"b0": 40, "b1": 0}}))
    assert pair(seen, "a", "b")["is"] == pair(skewed, "a", "b")["is"]


def some_unknown() -> CodedImages:
    images = effect()
    images.initial[:12, 1] = UNKNOWN
    return images


IDEAL = {"a": {"a0": 0.5, "a1": 0.5}, "b": {"b0": 0.5, "b1": 0.4, "unknown": 0.1}}


def test_unknown_answers_may_be_a_class_of_their_own() -> None:
    found = analyze(some_unknown(), replace(QUICK, unknown="class"), Baseline(IDEAL))
    b = node(found, "b")
    assert b["attributes"] == ["b0", "b1", "unknown"]
    assert b["initial"]["counts"] == [12, 24, 12] and b["initial"]["n_unknown"] == 0
    assert b["w1"] == pytest.approx(0.5 * (0.25 + 0.1 + 0.15))
    left_out = node(analyze(some_unknown(), QUICK), "b")
    assert left_out["initial"]["counts"] == [12, 24] and left_out["initial"]["n_unknown"] == 12
    answers = {row["answer"] for row in found.tables if row["target"] == "b"}
    assert answers == {"b0", "b1", "unknown", "gated"}
    assert len(found.tables) == len(analyze(some_unknown(), QUICK).tables)


def test_unknown_answers_may_be_refused() -> None:
    error = replace(QUICK, unknown="error")
    with pytest.raises(InputError, match="12 answers about b are unknown"):
        analyze(some_unknown(), error)
    assert analyze(effect(), error).pairs == analyze(effect(), QUICK).pairs


def test_unknown_as_a_class_needs_an_ideal_and_a_metric_that_knows_it() -> None:
    by_class = replace(QUICK, unknown="class")
    with pytest.raises(InputError, match="a has none"):
        analyze(some_unknown(), by_class)
    images = some_unknown()
    ordered = replace(
        images, variables=(images.variables[0], replace(images.variables[1], metric="ordinal"))
    )
    with pytest.raises(InputError, match="ordinal of b has no place for unknown"):
        analyze(ordered, by_class, Baseline(IDEAL))
    first = Variable("a", ("a0", "unknown"))
    named = replace(images, variables=(first, images.variables[1]))
    with pytest.raises(InputError, match="already has an attribute named unknown"):
        analyze(named, by_class, Baseline(IDEAL))


def test_every_flag_can_come_up() -> None:
    raised: set[str] = set()
    analyses = [
        analyze(effect(), QUICK),
        analyze(effect(n=24), QUICK),
        analyze(effect(n=1), QUICK),
        analyze(effect(lost=20), QUICK),
        analyze(independent([2, 3, 4], n=48), QUICK),
        analyze(independent([3, 6], n=3, seed=1), PAPER),
        analyze(
            audit(column(0, 1, repeat=24), {(0, 0): column(0, repeat=48)}, variables(2)), QUICK
        ),
        analyze(audit(column(0, 1, repeat=24), {}, variables(2)), QUICK),
        analyze(
            replace(
                effect(),
                variables=(variables(2)[0], Variable("b", ("b0", "b1"), "ordinal")),
            ),
            QUICK,
        ),
    ]
    images = effect()
    for value in (0, 1):
        images.arms[(0, value)][:, 0] = 0
    analyses.append(analyze(images, QUICK))
    unequal = effect(n=2)
    unequal.arms[(0, 0)][0, 1] = UNKNOWN
    three = audit(
        codes([[2, 0, 0], [2, 0]]),
        {(0, a): codes([[1 + (a == 2) * 4, 0, 0], [1 + (a == 2) * 4, 0]]) for a in range(3)},
        variables(3, 2),
    )
    analyses += [analyze(unequal, PAPER), analyze(three, PAPER)]
    analyses.append(analyze(replace(moved(), controls=codes([[24, 24], [24, 24]])), QUICK))
    few = replace(effect(), prompt="a nurse", arms={})
    both = [graphs.analyze(effect(), QUICK)] * 2
    analyses.append(Records.of(analyze_global([effect(), few], both, QUICK)))
    clear = [pair for pair in analyses[-1].pairs if abs(pair["is"] or 0) > 0.03]
    against = [replace(pair, is_=-clear[0]["is"]) for pair in both[0].pairs]
    both = [replace(both[0], pairs=against)] * 2
    analyses.append(Records.of(analyze_global([effect(), few], both, QUICK)))
    opposite = [
        audit(codes([shares]), {}, variables(2), f"prompt {shares}")
        for shares in ((47, 1), (1, 47))
    ]
    own = [graphs.analyze(images, QUICK) for images in opposite]
    analyses.append(Records.of(analyze_global(opposite, own, QUICK)))
    analyses.append(analyze(effect(), replace(QUICK, looks=(24, 48))))
    for one in analyses:
        raised.update(one.graph["flags"])
        for row in [*one.nodes, *one.pairs]:
            raised.update(row["flags"])
    # The caller knows the prompt, and which pictures are the same.
    assert raised == set(FLAG_WORDS) - {"fixed_by_prompt", "shared_images"}
