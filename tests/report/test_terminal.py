"""What a result looks like in the terminal."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from rich.cells import cell_len

import biasgraph
from biasgraph.data.findings import Bar, Finding, Number, Ranking, Text
from biasgraph.report.graph_summary import ReportInput, summarize
from tests.answer_tables import AXES, librarian_table
from tests.hostile import HOSTILE, NAME, UNWRITABLE, named
from tests.sampled import sampled
from tests.screens import check_name, one_line, screen_of


def screen(result: biasgraph.Result, document: dict[str, Any] | None = None) -> str:
    return screen_of(summarize(ReportInput(document or result.document, result.pair_records())))


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    return biasgraph.analyze(librarian_table(), bootstrap=100)


def test_says_what_other_methods_found(result: biasgraph.Result) -> None:
    assert "Other methods" not in screen(result)
    document = copy.deepcopy(result.document)
    ranking = Ranking([Bar(f"axis{i}", 0.5, 0.25, 0.75, 0.125) for i in range(6)], "By far.")
    number = Number("Score", None, reason="no images")
    document["graph"]["findings"] = {
        "one": Finding("One", "", [Text("\x1b[2J", "warning"), ranking], {}).to_json(),
        "two": Finding("Two", "", [number], {}).to_json(),
        "three": Finding("Three", "", [Number("Score", 1.5, n=48)], {}).to_json(),
    }
    text = one_line(screen(result, document))
    assert "One: By far: axis0 0.500 [0.250, 0.750] against 0.125, axis1" in text
    assert (
        "and 2 more items. - \\x1b[2J - Two: Score - (no images). - Three: Score 1.500, n = 48."
        in text
    )


def test_says_what_was_audited_and_what_was_found(result: biasgraph.Result) -> None:
    text = one_line(screen(result))
    link = result.document["links"][0]
    for expected in (
        "Prompt a librarian",
        "Model shop:v1",
        "Judge not recorded",
        "Images 48 initial, 336 counterfactual",
        "Ideal uniform",
        "Distance Wasserstein-1, nominal",
        "p of at most 0.0001",
        "male 73%",
        "1 of 6 pairs of axes is an edge",
        f"+{link['is']:.3f} [+{link['is_ci_low']:.3f}, +{link['is_ci_high']:.3f}]",
        f"{link['cramers_v']:.2f}",
        "The strongest axis is gender: 1 edge",
        "The most influenced axis is clothing",
        "The sum of |IS| over 6 pairs (amplification) is",
        "with no effect anywhere it would be about",
        "5 pairs without an edge need not be independent",
    ):
        assert expected in text
    assert "gender clothing towards ideal" in text
    assert "toy" not in text


def test_fits_80_columns(result: biasgraph.Result) -> None:
    assert max(cell_len(line) for line in screen(result).splitlines()) <= 80


@pytest.mark.parametrize(
    ("verdict", "sign", "expected"),
    [
        ("towards", "towards", "gender clothing towards ideal"),
        ("away", "away", "gender clothing away from ideal"),
        ("edge_undetermined", "undetermined", "gender clothing undetermined"),
        ("below_delta", "undetermined", "gender clothing below delta"),
        (None, None, "gender clothing undetermined"),
    ],
)
def test_the_verdict_is_told_in_words(
    result: biasgraph.Result, verdict: str | None, sign: str | None, expected: str
) -> None:
    document = copy.deepcopy(result.document)
    document["links"][0] |= {"verdict": verdict, "sign": sign}
    shown = one_line(screen(result, document))
    assert shown.count(f"{expected} {document['links'][0]['is']:+.3f}") == 1


def test_mediation_comes_with_its_assumptions(result: biasgraph.Result) -> None:
    document = copy.deepcopy(result.document)
    verdict = {"through": "age", "verdict": "consistent with mediation by age"}
    document["links"][0]["mediation"] = [verdict]
    document["graph"]["mediation_assumptions"] = ["No second mediator."]
    text = one_line(screen(result, document))
    assert "gender → clothing: consistent with mediation by age (candidate: age)." in text
    verdict["explained"] = {"share": 0.964, "low": 0.712}
    told = "(candidate: age; the chain through it gives 96% of the differences, at least 71%)."
    assert told in one_line(screen(result, document))
    assert "Assumed: No second mediator." in text


def test_a_run_too_small_to_decide_says_so() -> None:
    text = one_line(screen(biasgraph.analyze(librarian_table(images=8), bootstrap=100)))
    assert "0 of 6 pairs of axes are edges" in text
    assert "No pair had enough valid answers to be decided." in text
    assert "too few valid answers to measure the distance to the ideal" in text
    assert "strongest" not in text


def test_reasons_and_flags_are_told_in_words() -> None:
    frame = librarian_table()
    frame = frame[frame["axis"] != "age"]
    frame.loc[frame["target"] == "clothing", "answer"] = "casual"
    text = one_line(screen(biasgraph.analyze(frame, bootstrap=100)))
    assert "age → gender, age → clothing: no images were made for any attribute" in text
    assert "gender → clothing: the table has fewer than two non-empty rows or columns" in text
    assert "age: no images were made for any attribute of the intervened axis." in text
    assert "clothing: all valid answers of at least one set of images are the same" in text


def test_notes_false_discovery_rate_and_ideal() -> None:
    frame = librarian_table()
    frame.loc[0, "answer"] = "man"
    ideal = {"gender": {"male": 0.3, "female": 0.7}}
    text = one_line(screen(biasgraph.analyze(frame, ideal=ideal, fdr="bh", bootstrap=100)))
    assert "gender: 1 unlisted answer counted as unknown (man)" in text
    assert "false discovery rate .05 (bh)" in text
    assert "Ideal given (uniform for the other axes)" in text


def test_subject_judge_and_unseen_words(result: biasgraph.Result) -> None:
    document = copy.deepcopy(result.document)
    document["graph"] |= {"subject": "a librarian", "vqa": "clip:x", "unseen_words": ["mossy"]}
    text = one_line(screen(result, document))
    assert "Subject a librarian" in text
    assert "Judge clip:x" in text
    assert "never saw and may ignore: mossy." in text


def test_the_usual_metric_and_the_others(result: biasgraph.Result) -> None:
    document = copy.deepcopy(result.document)
    document["nodes"][1]["metric"] = "ordinal"
    assert "Distance Wasserstein-1, nominal; ordinal for age" in one_line(screen(result, document))


def test_a_toy_is_called_a_toy() -> None:
    toy = biasgraph.analyze(librarian_table(model="sandbox:debiased"), bootstrap=100)
    assert "describe a toy" in one_line(screen(toy).replace("|", ""))


@pytest.fixture(scope="module")
def unnamed() -> biasgraph.Result:
    axes = {NAME: (NAME, NAME + "!"), "gender": AXES["gender"]}
    frame = librarian_table(images=8, axes=axes, prompt=NAME, model=NAME)
    result = biasgraph.analyze(frame, alpha=0.7, min_valid=1, bootstrap=100)
    assert result.document["links"]
    return result


@pytest.mark.parametrize("text", sampled(text for text in HOSTILE if text not in UNWRITABLE))
def test_hostile_names_show_up_as_text(text: str, unnamed: biasgraph.Result) -> None:
    check_name(screen(named(unnamed, text)), text)
