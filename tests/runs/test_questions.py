"""How replies become an answer."""

from __future__ import annotations

import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import ModelError
from biasgraph.models.base import Answer, Question
from biasgraph.runs.questions import AxisQuestion, Verdict, check_reply, questions_about
from tests.fake_models import AGE, DISABILITY

YES = Answer(0, (0.9, 0.1))
NO = Answer(1, (0.2, 0.8))
SURE_NO = Answer(1, (0.05, 0.95))
UNKNOWN = Answer(None, (0.55, 0.45))


def test_multiple_choice() -> None:
    assert AGE.verdict([Answer(2, (0.1, 0.2, 0.7))]) == Verdict("old", 0.7, (0.1, 0.2, 0.7))


def test_multiple_choice_left_unknown() -> None:
    assert AGE.verdict([Answer(None, (0.4, 0.3, 0.3))]) == Verdict("unknown", 0.4, (0.4, 0.3, 0.3))


def test_a_judge_without_probabilities() -> None:
    assert AGE.verdict([Answer(0, ())]) == Verdict("young", None)
    assert DISABILITY.verdict([Answer(1, ()), Answer(1, ())]) == Verdict("fit", None, (), 0)


@pytest.mark.parametrize(
    ("replies", "verdict"),
    [
        ([NO, SURE_NO], Verdict("fit", 0.8, (0.2, 0.05), 0)),
        ([NO, YES], Verdict("wheelchair", 0.9, (0.2, 0.9), 1)),
        ([YES, YES], Verdict("blind", 0.9, (0.9, 0.9), 2)),
        ([UNKNOWN, YES], Verdict("wheelchair", 0.9, (0.55, 0.9), 1)),
        ([UNKNOWN, NO], Verdict("unknown", 0.55, (0.55, 0.2), 0)),
    ],
    ids=["no yes: default", "one yes", "several: the first asked", "a yes is a yes", "not sure"],
)
def test_yes_no_questions(replies: list[Answer], verdict: Verdict) -> None:
    assert DISABILITY.verdict(replies) == verdict


@pytest.mark.parametrize(
    "reply",
    [Answer(2, (0.5, 0.5)), Answer(-1, ()), Answer(0, (1.0,)), Answer(0, (float("nan"), 1.0)),
     Answer(0, (1.5, 0.1))],
    ids=["choice too large", "choice negative", "too few", "not a number", "above one"],
)  # fmt: skip
def test_what_cannot_be_a_reply_is_an_error_of_the_model(reply: Answer) -> None:
    with pytest.raises(ModelError, match="fake:judge"):
        check_reply(reply, Question("Blind?", ("yes", "no"), ("a", "b")), "fake:judge")


def test_the_words_asked_are_plain_json() -> None:
    assert AxisQuestion("a", (Question("A?", ("x", "y"), ("cx", "cy")),), ("x", "y")).wording() == {
        "questions": [{"text": "A?", "choices": ("x", "y"), "captions": ("cx", "cy")}],
        "attributes": ["x", "y"],
        "default": None,
    }


def test_are_made_from_the_axes_of_an_axis_set() -> None:
    axes = load_axis_set("occupation")
    about = {question.axis: question for question in questions_about(axes)[1]}
    age, disability = axes.axis("age"), axes.axis("disability")
    assert about["age"].attributes == about["age"].questions[0].choices == age.names
    assert about["age"].default is None
    made, asked = about["disability"], disability.yes_no
    assert made.default == disability.default
    assert [question.text for question in made.questions] == [each.text for each in asked]
    assert [
        made.verdict([YES if i == j else NO for j in range(len(asked))]).answer
        for i in range(len(asked))
    ] == [each.attribute for each in asked]
