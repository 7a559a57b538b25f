"""Comparisons of results: what is refused by name, what is left out, and what the files say."""

from __future__ import annotations

import functools
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biasgraph
from biasgraph.audits.api import compare
from biasgraph.audits.compare.comparable import comparable
from biasgraph.audits.compare.comparison import Comparison, compare_results
from biasgraph.audits.compare.gates import Gate
from biasgraph.causal.comparing import CLASSES
from biasgraph.data.result import Result
from biasgraph.errors import InputError
from biasgraph.io.csv_files import CsvFile
from tests.answer_tables import AXES, librarian_table, with_controls
from tests.hostile import HOSTILE
from tests.sampled import sampled


def result(table: pd.DataFrame | None = None, **options: Any) -> Result:
    if table is None and not options:
        return usual()
    answers = librarian_table() if table is None else table
    return biasgraph.analyze(answers, **({"bootstrap": 200} | options))


@functools.cache
def usual() -> Result:
    return biasgraph.analyze(librarian_table(), bootstrap=200)


@functools.cache
def global_result(prompts: str = "abc", seed: int = 0, **options: Any) -> Result:
    parts = [
        librarian_table(prompt=prompt, seed=10 * seed + i, **options)
        for i, prompt in enumerate(prompts)
    ]
    return result(pd.concat(parts, ignore_index=True))


def judged(one: Result, **graph: Any) -> Result:
    """The same result with other facts in its graph."""
    return replace(one, document={**one.document, "graph": {**one.document["graph"], **graph}})


def both_results() -> list[Result]:
    return [result(), result(librarian_table(seed=5, model="shop:v2"))]


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare_results(both_results())


def test_a_comparison_holds_what_the_runs_hold(comparison: Comparison) -> None:
    document = comparison.document
    json.dumps(document, allow_nan=False)
    assert document["schema"] == "biasgraph-compare/1"
    assert [run["name"] for run in document["runs"]] == ["shop:v1", "shop:v2"]
    [found] = document["comparisons"]
    assert len(found["pairs"]) == 6
    for place, (run, own_result) in enumerate(zip(comparison.runs, both_results(), strict=True)):
        reported = {(p["source"], p["target"]): p for p in own_result.pair_records()}
        field = ("is_baseline", "is_run")[place]
        edge = ("edge_baseline", "edge_run")[place]
        for pair in found["pairs"]:
            own = reported[pair["source"], pair["target"]]
            assert pair[field] == pytest.approx(own["is"])
            assert pair[edge] == own["edge"]
        distances = {d["axis"]: d for d in document["distances"] if d["run"] == run.name}
        for node in own_result.document["nodes"]:
            assert distances[node["id"]]["w1"] == pytest.approx(node["w1"])
        total = document["amplification"][place]
        own_total = own_result.document["graph"]["amplification"]
        assert total["value"] == pytest.approx(own_total["value"])
        assert document["runs"][place]["edges"] == len(own_result.document["links"])
    assert sum(found["classes"].values()) == 6
    assert {pair["class"] for pair in found["pairs"]} <= {*CLASSES}


def test_a_run_against_itself_shows_nothing() -> None:
    one = result()
    [found] = compare_results([one, one], gates=[Gate.parse("new-edges>0")]).document["comparisons"]
    assert found["classes"]["changed"] == 0
    assert {pair["difference"] for pair in found["pairs"]} == {0.0}
    assert {d["growth"] for d in found["distances"]} == {0.0}
    assert found["amplification"]["growth"] == 0
    assert found["new_edges"]["count"] == 0


def test_a_new_edge_is_counted_when_it_changed() -> None:
    flat = librarian_table(seed=1)
    rows = (flat["target"] == "clothing") & (flat["axis"] == "gender")
    flat.loc[rows, "answer"] = "formal"
    [found] = compare_results([result(flat), result()]).document["comparisons"]
    pair = next(p for p in found["pairs"] if (p["source"], p["target"]) == ("gender", "clothing"))
    assert (pair["class"], pair["edge_baseline"], pair["edge_run"]) == ("changed", False, True)
    assert found["new_edges"]["count"] == 1


def test_the_order_of_axes_and_attributes_does_not_matter() -> None:
    one = librarian_table()
    second = result(one.sort_values(["axis", "attribute"], kind="stable"))
    nodes = second.document["nodes"]
    assert [node["id"] for node in nodes] == ["age", "clothing", "gender"]
    assert nodes[0]["attributes"] == ["middle", "old", "young"]
    [found] = compare_results([result(one), second]).document["comparisons"]
    assert {pair["difference"] for pair in found["pairs"]} == {0.0}
    assert {d["growth"] for d in found["distances"]} == {0.0}


def test_controls_of_other_orders_are_aligned() -> None:
    one = with_controls(librarian_table())
    second = one.sort_values(["role", "axis", "attribute", "answer"], kind="stable")
    runs, _ = comparable([result(one), result(second)], common=False)
    first, other = (run.images[0].controls for run in runs)
    assert first.shape == (24, 3)
    assert (first == other).all()


def test_unequal_numbers_of_images_are_compared_at_the_smaller() -> None:
    small, large = result(librarian_table(images=40)), result(librarian_table(images=160))
    document = compare_results([small, large]).document
    [found] = document["comparisons"]
    assert all(pair["at_common_size"] for pair in found["pairs"])
    assert {pair["n_initial"] for pair in found["pairs"]} == {40}
    assert {d["n"] for d in document["distances"]} == {40}
    own = {(p["source"], p["target"]): p["is"] for p in small.pair_records()}
    for pair in found["pairs"]:
        assert pair["is_baseline"] == pytest.approx(own[pair["source"], pair["target"]])


def test_too_few_answers_leave_nulls_with_reasons() -> None:
    few = result(librarian_table(images=8))
    document = compare_results(
        [few, result()], gates=[Gate.parse("worse:age>9"), Gate.parse("amplification>9")]
    ).document
    json.dumps(document, allow_nan=False)
    [found] = document["comparisons"]
    assert {pair["reason"] for pair in found["pairs"]} == {"too few valid answers"}
    assert found["classes"]["not comparable"] == 6
    assert found["new_edges"]["count"] is None
    assert all(d["w1"] is None and d["reason"] for d in document["distances"])
    assert all(one["in"]["value"] is None and one["reason"] for one in document["strengths"])
    assert [gate["failed"] for gate in document["gates"]] == [True, True]


@pytest.mark.slow(reason="graphs of several prompts")
def test_several_prompts_are_compared_in_their_sum() -> None:
    first, second = global_result(), global_result(seed=1)
    document = compare_results([first, second]).document
    assert document["kind"] == "global"
    assert document["prompts"] == ["a", "b", "c"]
    own = {(p["source"], p["target"]): p for p in second.pair_records()}
    for pair in document["comparisons"][0]["pairs"]:
        assert pair["is_run"] == pytest.approx(own[pair["source"], pair["target"]]["is"])
        assert pair["n_initial"] == 144


REFUSED = [
    ({"ideal": {"age": {"young": 0.5, "middle": 0.25, "old": 0.25}}}, "the ideals of age differ"),
    ({"metric": "values"}, "the metrics of gender differ: nominal in"),
    ({"mix": "pooled"}, "the settings of mix differ: equal in"),
    ({"min_valid": 2}, "the settings of min_valid differ: 16 in"),
    ({"alpha": 0.05}, r"the settings of edges \(alpha\) differ"),
    ({"fdr": "bh"}, r"the settings of edges \(fdr\) differ"),
    ({"yates": True}, "the settings of yates differ"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
@pytest.mark.parametrize("common", sampled([False, True]))
def test_other_ideals_metrics_and_settings_are_refused(
    options: dict[str, Any], message: str, common: bool
) -> None:
    with pytest.raises(InputError, match=message):
        compare_results([result(), result(**options)], common=common)


@pytest.mark.parametrize("common", [False, True])
def test_other_judges_are_refused(common: bool) -> None:
    one = judged(result(), vqa="clip:a", vqa_fingerprint="1")
    with pytest.raises(InputError, match="the judges differ: clip:a in shop:v1"):
        compare_results([one, judged(result(), vqa="clip:b")], common=common)
    with pytest.raises(InputError, match="the judge clip:a has other weights"):
        compare_results([one, judged(result(), vqa="clip:a", vqa_fingerprint="2")], common=common)
    notes = compare_results([one, result()], common=common).document["notes"]
    assert any("No judge is recorded in shop:v1" in note for note in notes)


def test_runs_that_people_labelled_are_compared_with_a_note() -> None:
    one, other = (
        judged(result(), vqa=f"human:{name}.csv@12345678", vqa_fingerprint=name, people=True)
        for name in ("a", "b")
    )
    notes = compare_results([one, other]).document["notes"]
    assert any("People answered, in different files (human:a.csv@12345678, " in n for n in notes)
    with pytest.raises(InputError, match="the judges differ"):
        compare_results([one, judged(result(), vqa="clip:b")])


def test_every_difference_has_its_own_line() -> None:
    with pytest.raises(InputError) as error:
        compare_results([result(), result(mix="pooled", yates=True, metric="values")])
    assert len(str(error.value).splitlines()) == 3 + 2  # a metric for each axis


def test_one_prompt_and_several_are_refused() -> None:
    with pytest.raises(InputError, match=r"is the graph of one prompt and .* several prompts"):
        compare_results([result(), global_result()], common=True)


def test_other_axes_are_refused_or_left_out() -> None:
    more = librarian_table(axes={**AXES, "mood": ("calm", "glad")})
    with pytest.raises(InputError, match="shop:v1 #1 lacks the axes mood"):
        compare_results([result(), result(more)])
    first = result(librarian_table(seed=3))
    document = compare_results([result(more), first], common=True).document
    assert [axis["id"] for axis in document["axes"]] == ["gender", "age", "clothing"]
    assert document["notes"] == [
        "Left out: shop:v1 #2 lacks the axes mood",
        "No judge is recorded in shop:v1 #1, shop:v1 #2: whether the same judge answered "
        "everywhere cannot be checked",
    ]
    own = {(p["source"], p["target"]): p["is"] for p in first.pair_records()}
    for pair in document["comparisons"][0]["pairs"]:
        assert pair["is_run"] == pytest.approx(own[pair["source"], pair["target"]])
    with pytest.raises(InputError, match="an axis that is not compared"):
        compare_results([result(more), first], common=True, gates=[Gate.parse("worse:mood>0")])


def test_other_attributes_make_another_axis() -> None:
    other = librarian_table(axes={**AXES, "age": ("young", "old")})
    with pytest.raises(InputError, match="age has the attributes young, middle, old in"):
        compare_results([result(), result(other)])
    document = compare_results([result(), result(other)], common=True).document
    assert [axis["id"] for axis in document["axes"]] == ["gender", "clothing"]
    nothing = librarian_table(axes={"mood": ("calm", "glad")})
    with pytest.raises(InputError, match="no axis in common"):
        compare_results([result(), result(nothing)], common=True)


@pytest.mark.slow(reason="builds of several prompts")
def test_other_prompts_are_refused_or_left_out() -> None:
    with pytest.raises(InputError, match=r"lacks 1 prompt \(d\)"):
        compare_results([global_result("abcd"), global_result("abc")])
    document = compare_results([global_result("abcd"), global_result("cba")], common=True).document
    assert document["prompts"] == ["a", "b", "c"]
    only = global_result("abc")
    own = {(p["source"], p["target"]): p for p in only.pair_records()}
    for pair in document["comparisons"][0]["pairs"]:
        reported = own[pair["source"], pair["target"]]
        assert pair["is_baseline"] == pytest.approx(reported["is"])
        assert pair["edge_baseline"] == reported["edge"]
    with pytest.raises(InputError, match="no prompt in common"):
        compare_results([global_result("ab"), global_result("cd")], common=True)


def test_single_prompts_may_differ_and_are_named() -> None:
    nurse = librarian_table(prompt="a nurse", seed=4)
    notes = compare_results([result(), result(nurse)]).document["notes"]
    assert any("different prompts: a librarian, a nurse" in note for note in notes)


def test_three_runs_are_compared_with_the_first() -> None:
    runs = [result(librarian_table(seed=seed, model=f"shop:v{seed}")) for seed in range(3)]
    document = compare_results(runs).document
    assert [one["run"] for one in document["comparisons"]] == ["shop:v1", "shop:v2"]
    for axis in AXES:
        rows = [d for d in document["distances"] if d["axis"] == axis]
        assert sum(row["probability_closest"] for row in rows) == pytest.approx(1)


def test_directories_are_read_named_and_written(tmp_path: Path) -> None:
    biasgraph.save(result(), tmp_path / "old")
    biasgraph.save(result(librarian_table(seed=1)), tmp_path / "new")
    folders = [tmp_path / "old", tmp_path / "new", tmp_path / "new"]
    found = compare(folders, gates=["worse:age>0.9"])
    names = ["shop:v1 (old)", "shop:v1 (new) #1", "shop:v1 (new) #2"]
    assert [run["name"] for run in found.document["runs"]] == names
    found.save(tmp_path / "out")
    found.save(tmp_path / "out")  # over its own
    document = json.loads((tmp_path / "out" / "compare.json").read_bytes())
    assert document == json.loads(json.dumps(found.document))
    assert compare(folders, gates=["worse:age>0.9"]).document == found.document
    frame = CsvFile((tmp_path / "out" / "compare.csv").read_bytes(), "compare.csv", ()).frame()
    rows = [pair for one in document["comparisons"] for pair in one["pairs"]]
    assert len(frame) == len(rows) == 12
    plain = pd.read_csv(io.BytesIO((tmp_path / "out" / "compare.csv").read_bytes()))
    assert plain["difference"].tolist() == [row["difference"] for row in rows]
    assert plain["difference_ci_low"].tolist() == [row["difference_ci"][0] for row in rows]
    assert plain["class"].tolist() == [row["class"] for row in rows]
    with pytest.raises(InputError, match="is not the directory of a comparison"):
        found.save(tmp_path / "old")
    with pytest.raises(InputError, match="at least one other"):
        compare([tmp_path / "old"])
    with pytest.raises(InputError, match="not a finite number"):
        compare([tmp_path / "nowhere", tmp_path / "old"], gates=["worse:age>x"])


def test_the_sandbox_says_that_it_is_a_toy() -> None:
    toy = judged(result(), toy="a toy")
    found = compare_results([result(), toy])
    assert found.document["toy"] == "a toy"
    assert set(found.rows()["toy"]) == {"a toy"}


@pytest.mark.slow(reason="graphs of 24 names")
def test_hostile_names_come_back_from_the_files(tmp_path: Path) -> None:
    words = [text for text in HOSTILE if text not in ("unknown", "gated")][:24]
    axes = {words[3 * i]: tuple(words[3 * i + 1 : 3 * i + 3]) for i in range(8)}
    table = librarian_table(images=20, axes=axes, prompt=HOSTILE[40], model=HOSTILE[60])
    compare_results([result(table), result(table)]).save(tmp_path / "out")
    document = json.loads((tmp_path / "out" / "compare.json").read_bytes())
    frame = CsvFile((tmp_path / "out" / "compare.csv").read_bytes(), "compare.csv", ()).frame()
    assert {axis["id"] for axis in document["axes"]} == set(axes)
    assert set(frame["source"]) == set(axes)
