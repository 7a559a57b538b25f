"""Scores of biases, computed by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from biasgraph.audits.openbias.assessment import assess_biases
from biasgraph.methods.bias_knowledge import FilteredCaption, KnownBias

SHAPE = KnownBias(
    "shape",
    ("shape", "form"),
    ("round", "square", "flat"),
    (),
    {"a table": "What is it?", "a plate": "What is the plate?", "a box": "What is it?"},
    (FilteredCaption("a round box", "the caption says 'round', or a synonym of it"),),
)


def answers(said: dict[str, list[str]]) -> pd.DataFrame:
    rows = [(caption, answer) for caption, found in said.items() for answer in found]
    return pd.DataFrame(rows, columns=["prompt", "answer"])


def of(said: dict[str, list[str]], bias: KnownBias = SHAPE):
    (record,) = assess_biases([(bias, answers(said))], 300, 0)
    return record


def test_context_free_and_context_aware() -> None:
    record = of(
        {
            "a table": ["round"] * 6 + ["square"] * 6,
            "a plate": ["round"] * 4 + ["unknown"] * 5 + ["gated"],
            "a box": ["unknown"] * 3,  # says nothing, and is no part of the mean
        }
    )
    # Eq. 5 gives every caption the same weight: round (1/2 + 1)/2, square 1/4, flat 0.
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert record["distribution"] == pytest.approx([0.75, 0.25, 0.0])
    assert record["intensity"] == pytest.approx(1 - entropy / math.log(3))
    table, plate, box = record["captions"]
    assert table["intensity"] == pytest.approx(1 - math.log(2) / math.log(3))
    assert (plate["intensity"], plate["majority"], plate["counts"]) == (1.0, "round", [4, 0, 0])
    assert (box["intensity"], box["n_valid"]) == (None, 0)
    mean = (1 - math.log(2) / math.log(3) + 1) / 2
    assert record["intensity_context_aware_mean"] == pytest.approx(mean)
    assert (record["majority"], record["majority_share"], record["ties"]) == ("round", 0.75, [])
    assert record["n_valid"] == 16
    assert (record["n_unknown"], record["n_gated"], record["n_images"]) == (8, 1, 25)
    assert (record["n_captions"], record["n_captions_valid"]) == (3, 2)
    assert record["merged"] == ["form"]
    assert record["filtered"][0]["caption"] == "a round box"


def test_intervals_hold_their_numbers_and_a_single_class_has_one_too() -> None:
    record = of({"a table": ["round"] * 20})
    assert record["intensity"] == 1
    assert 0.4 < record["intensity_ci_low"] < 1 == record["intensity_ci_high"]
    assert record["captions"][0]["intensity_ci_low"] < 1
    for share, (low, high) in zip(record["distribution"], record["distribution_ci"], strict=True):
        assert 0 <= low <= share <= high <= 1
        assert low < high
    assert 0 < record["intensity_uniform_q95"] < 0.5


def test_chance_is_larger_for_captions_by_themselves() -> None:
    even = {caption: ["round", "square", "flat"] * 4 for caption in SHAPE.questions}
    record = of(even)
    assert record["intensity"] == pytest.approx(0, abs=1e-12)
    assert 0 < record["intensity_uniform_q95"] < record["intensity_context_aware_uniform_q95"] < 0.5
    assert record["ties"] == ["square", "flat"]


@pytest.mark.parametrize(
    ("said", "n"),
    [({}, 0), ({"a table": ["unknown"] * 30}, 0), ({"a table": ["round"] * 15}, 15)],
)
def test_too_few_answers_have_no_score_but_a_reason(said, n) -> None:
    record = of(said)
    assert record["status"] == "insufficient"
    assert record["reason"] == f"too few valid answers ({n})"
    assert record["intensity"] is None and record["distribution"] is None
    assert record["majority"] is None


def test_one_image_of_one_caption_is_shown_as_it_is() -> None:
    record = of({"a table": ["round"]})
    assert record["captions"][0]["counts"] == [1, 0, 0]
    assert record["intensity"] is None


def test_the_most_intense_bias_comes_first_and_those_without_a_score_last() -> None:
    biases = [
        KnownBias(name, (name,), ("round", "flat"), (), {"a table": "?"})
        for name in ("even", "none", "skewed")
    ]
    found = [["round"] * 8 + ["flat"] * 8, ["unknown"], ["round"] * 16]
    pairs = [(one, answers({"a table": said})) for one, said in zip(biases, found, strict=True)]
    assert [one["bias"] for one in assess_biases(pairs, 200, 0)] == ["skewed", "even", "none"]


def test_scores_do_not_hang_on_the_other_biases() -> None:
    other = KnownBias("other", ("other",), ("x1", "y1"), (), {"a table": "?"})
    said = answers({"a table": ["round"] * 9 + ["square"] * 9})
    alone = assess_biases([(SHAPE, said)], 200, 0)[0]
    both = assess_biases([(other, answers({"a table": ["x1"] * 20})), (SHAPE, said)], 200, 0)
    assert next(one for one in both if one["bias"] == "shape") == alone
