"""OpenBias's intensity: hand-computed values, and what it says of a result."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biasgraph
from biasgraph.methods import openbias
from biasgraph.methods.base import MethodInput
from biasgraph.models.json_chat import ReplyError
from biasgraph.prompts.instructions import Bias

COLUMNS = [
    "model",
    "prompt",
    "role",
    "axis",
    "attribute",
    "image",
    "target",
    "answer",
    "confidence",
]
HALF_AND_QUARTERS = 1 - 1.5 * math.log(2) / math.log(3)
"""Of (1/2, 1/4, 1/4): the entropy is 1.5 ln 2."""


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([0.5, 0.5], 0.0),
        ([1.0, 0.0], 1.0),
        ([0.5, 0.25, 0.25], HALF_AND_QUARTERS),
        ([0.25, 0.75], 1 + (0.25 * math.log(0.25) + 0.75 * math.log(0.75)) / math.log(2)),
    ],
)
def test_intensity_of_shares(shares, expected) -> None:
    assert openbias.intensity(np.array(shares)) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=8).filter(sum), st.randoms())
def test_intensity_does_not_depend_on_the_order_of_attributes(counts, random) -> None:
    shares = np.array(counts) / sum(counts)
    shuffled = random.sample(shares.tolist(), len(shares))
    value = openbias.intensity(shares)
    assert 0 <= value <= 1
    assert openbias.intensity(np.array(shuffled)) == pytest.approx(value, abs=1e-12)


def answers_of(said: dict[str, list[str]]) -> pd.DataFrame:
    """Prompts whose initial images got these answers about gender; the arms are even."""
    rows = []
    for prompt, answers in said.items():
        sets = {("initial", "", ""): answers}
        for attribute in ("male", "female"):
            sets["counterfactual", "gender", attribute] = [attribute] * 16
        for (role, axis, attribute), found in sets.items():
            for i, answer in enumerate(found):
                image = f"{prompt}-{attribute}-{i:03d}"
                rows.append(("m", prompt, role, axis, attribute, image, "gender", answer, np.nan))
    return pd.DataFrame(rows, columns=COLUMNS)


def annotation_of(said: dict[str, list[str]]):
    result = biasgraph.analyze(answers_of(said), bootstrap=200)
    return openbias.annotate(MethodInput(result.document, result.tables, result.answers))


def test_one_prompt_with_unknown_answers_left_out() -> None:
    said = ["male"] * 24 + ["female"] * 8 + ["unknown"] * 9 + ["gated"] * 3
    found = annotation_of({"a nurse": said})
    numbers = found.nodes["gender"].numbers
    expected = 1 + (0.25 * math.log(0.25) + 0.75 * math.log(0.75)) / math.log(2)
    assert numbers["intensity"] == pytest.approx(expected)
    assert numbers["n_valid"] == 32
    assert numbers["intensity_ci_low"] < expected < numbers["intensity_ci_high"]
    assert 0 < numbers["intensity_uniform_q95"] < expected
    assert [bar.label for bar in found.graph.show[0].items] == ["gender"]


def test_too_few_answers_have_no_intensity() -> None:
    found = annotation_of({"a nurse": ["male"] * 3 + ["unknown"] * 30})
    assert found.nodes["gender"].numbers["intensity"] is None
    assert found.nodes["gender"].show[0].reason == "too few valid answers (3)"
    assert found.graph.show[0].reason == "no axis has enough valid answers"


def test_one_attribute_alone_has_no_intensity() -> None:
    table = answers_of({"a nurse": ["male"] * 32})
    table = table[table["attribute"] != "female"]
    result = biasgraph.analyze(table, bootstrap=200)
    found = openbias.annotate(MethodInput(result.document, result.tables, result.answers))
    assert found.nodes["gender"].numbers["intensity"] is None
    assert found.nodes["gender"].show[0].reason == "there is one attribute"


def test_several_prompts_are_averaged_before_and_after_the_entropy() -> None:
    found = annotation_of({"a nurse": ["female"] * 32, "a cook": ["male"] * 64})
    numbers = found.nodes["gender"].numbers
    assert numbers["intensity"] == pytest.approx(0, abs=1e-12)  # of the mean distribution, (½, ½)
    assert numbers["intensity_context_aware_mean"] == 1
    assert numbers["n_prompts"] == 2


class Proposing:
    """A run's media whose language model says what it is told to."""

    proposer = "lm:someone"

    def __init__(self, *biases: Bias, error: Exception | None = None) -> None:
        self.biases, self.error = biases, error
        self.asked: list[str] = []

    def propose(self, task, messages, form):
        self.asked.append(messages[-1].text)
        if self.error is not None:
            raise self.error
        return form(biases=list(self.biases))


def further(prompts: dict[str, list[str]], media: Proposing):
    result = biasgraph.analyze(answers_of(prompts), bootstrap=200)
    given = MethodInput(result.document, result.tables, result.answers, media=media)
    return openbias.annotate(given).graph.show[1:]


NURSE = {"a nurse": ["male"] * 16 + ["female"] * 16}
SEX = Bias(name="Sex", classes=["Man", "Woman"], question="Which?", present_in_prompt=False)
HAT = Bias(name="Hat", classes=["cap", "hood"], question="Which hat?", present_in_prompt=False)


def test_axes_that_the_graph_lacks_are_named_with_who_proposes_them() -> None:
    media = Proposing(SEX, HAT)
    (table,) = further(NURSE, media)
    assert media.asked == ['Prompt: "a nurse"']
    assert table.rows == [("Hat", "cap, hood", "Which hat?")]
    assert "lm:someone" in table.caption


def test_a_graph_that_lacks_nothing_says_so() -> None:
    (text,) = further(NURSE, Proposing(SEX))
    assert text.text == "Every axis proposed by lm:someone is in the graph, or said by the prompt."


def test_no_usable_proposals_are_a_warning_and_not_the_end() -> None:
    error = ReplyError("it said nothing; the transcript is in x.json", ())
    (text,) = further(NURSE, Proposing(error=error))
    assert text.tone == "warning"
    assert "the transcript is in x.json" in text.text


def test_the_graph_of_several_prompts_has_no_proposals() -> None:
    media = Proposing(HAT)
    assert further({**NURSE, "a cook": ["male"] * 32}, media) == []
    assert media.asked == []


def test_many_sets_are_assessed_as_one_by_one() -> None:
    counts = np.array([[8, 0], [4, 4], [1, 7]])
    found = openbias.assess(counts, 300, np.random.default_rng(0))
    assert found.shares == pytest.approx([13 / 24, 11 / 24])
    seventh = 1 + (1 / 8 * math.log(1 / 8) + 7 / 8 * math.log(7 / 8)) / math.log(2)
    assert found.each == pytest.approx([1, 0, seventh])
    assert found.mean == pytest.approx((1 + seventh) / 3)
    assert found.mean_ci[0] < found.mean < found.mean_ci[1]
    assert found.each_ci[0][0] < 1 == found.each_ci[0][1]
