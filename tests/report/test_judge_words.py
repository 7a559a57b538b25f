"""What screens say of a judge's agreement, also where names are hostile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasgraph.audits.agreement.agreement_summary import summarize_agreement
from biasgraph.causal.agreement import Agreement
from biasgraph.report import judge_words, words
from tests.screens import screen_of

EVIL = "\u202eage\x1b[31m[bold]<b>"


def axis(name: str, table: list[list[int]], uneven_p: float | None = 0.5) -> dict[str, Any]:
    counts = np.array(table)
    fields = Agreement(counts).fields(100, np.random.default_rng(0))
    attributes = [f"{name}-{i}" for i in range(len(counts) - 2)]
    about = {"axis": name, "attributes": attributes, "table": table, "uneven_p": uneven_p}
    return {**about, **fields}


GOOD = [[40, 1, 0, 0], [2, 37, 0, 0], [0, 0, 0, 0], [0, 0, 0, 5]]
POOR = [[12, 8, 6, 0], [9, 11, 4, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
ONE = [[20, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


def record(*axes: dict[str, Any], name: str = "labels.csv", kind: str = "labels") -> dict[str, Any]:
    return {
        "toy": None,
        "judge": "clip:x",
        "reference": {"name": name, "kind": kind},
        "images": 85,
        "images_in_all": 1296,
        "axes": list(axes),
        "notes": [],
    }


def graph(agreement: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    return {"vqa": "clip:x", "agreement": agreement, "correction": None, "people": False, **more}


def told(about: dict[str, Any]) -> str:
    return words.plain(" ".join(judge_words.caveats_of_graph(about)))


def test_a_judge_that_nobody_checked_is_named_so() -> None:
    assert told(graph(None)).startswith("This judge has not been validated")
    assert told({"vqa": None}).startswith("This judge has not been validated")  # an older graph
    assert judge_words.describe_validation(graph(None)) == "no"


def test_labels_of_a_model_are_a_judge_that_nobody_checked() -> None:
    answered = graph(None, vqa="human:read.csv", people=False, annotators=1)
    assert judge_words.judge(answered) == "labels of a model: read.csv (1 annotator)"
    assert told(answered).startswith("This judge has not been validated")
    assert judge_words.describe_validation(answered) == "no"
    assert "the judge, a model, gave" in judge_words.about_labels([answered])


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        (
            {"vqa": "human:a@b.csv@12345678", "vqa_fingerprint": "12345678" * 8, "annotators": 3},
            "labels of people: a@b.csv (3 annotators)",
        ),
        ({"vqa": "human:crowd", "annotators": 1}, "labels of people: crowd (1 annotator)"),
        ({"vqa": "human:crowd", "annotators": None}, "labels of people: crowd"),
        ({"vqa": "human"}, "labels of people"),
    ],
)
def test_people_are_no_judge_that_nobody_checked(about: dict[str, Any], expected: str) -> None:
    answered = graph(None, people=True, **about)
    assert words.plain(judge_words.judge(answered)) == expected
    assert told(answered).startswith(f"The answers are {expected}; how far other people")
    assert "validated" not in told(answered) and judge_words.describe_validation(answered) is None
    for graphs, who in (
        ([answered], "people"),
        ([answered, graph(None)], "people and a model"),
        ([graph(None)], "the judge, a model,"),
        ([graph(None, vqa=None)], "a judge that is not recorded"),
        ([answered, graph(None, vqa=None)], "people and a judge that is not recorded"),
    ):
        gave = f"Categories are labels that {who} gave to pictures;"
        assert gave in judge_words.about_labels(graphs)


def test_the_lowest_and_the_highest_kappa_are_told() -> None:
    text = told(graph(record(axis("gender", GOOD), axis("age", POOR))))
    assert "the labels in labels.csv, on 85 of 1,296 images, is from 0.15" in text
    assert "for age to 0.92" in text and text.index("for gender") > text.index("for age")
    assert "age: kappa is below 0.6" in text
    assert "of the judge where the reference has one: age 20%" in text


def test_what_is_not_defined_says_why() -> None:
    text = told(graph(record(axis("gender", ONE))))
    assert "too few answers vary" in text and "kappa is not defined" in text
    assert "fewer than 30 images" in text


def test_errors_that_differ_between_images_are_told() -> None:
    text = told(graph(record(axis("gender", GOOD, uneven_p=1e-5), axis("age", GOOD))))
    assert "error rate differs between initial and counterfactual images" in text
    assert "gender (p = 1.0e-05)" in text and "age (p" not in text


def test_what_a_correction_rests_on_is_told() -> None:
    correction = {"source": "labels.csv", "axes": ["age"], "left_out": {"gender": "nobody knows"}}
    text = told(graph(record(axis("age", GOOD)), correction=correction))
    assert "rest on labels.csv" in text and "gender is not corrected: nobody knows." in text


@pytest.mark.parametrize("kind", ["judge", "labels", "answers"])
def test_hostile_names_stay_text(kind: str) -> None:
    about = record(axis(EVIL, GOOD), name=EVIL, kind=kind)
    shown = screen_of(summarize_agreement({**about, "judge": EVIL, "notes": [EVIL]}), 120)
    for text in (shown, told(graph({**about, "notes": [EVIL]}))):
        assert "\u202e" not in text and "\x1b" not in text
        assert "\\u202e" in text and "[bold]" in text
