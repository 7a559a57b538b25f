"""What a method may say, as graph.json holds it."""

from __future__ import annotations

import json
import math

import pytest

from biasgraph.data.findings import (
    Bar,
    Bars,
    Finding,
    Images,
    MarkedText,
    MarkedView,
    MarkedWord,
    Number,
    Ranking,
    ShownImage,
    Table,
    Text,
    image_ids,
)

FINDING = Finding(
    "Context-free score",
    "How uneven the answers are, 0 to 1.",
    [
        Number("score", 0.42, 0.3, 0.55, 48),
        Number("other", None, reason="no captions"),
        Table(("word", "delta"), [("old", 0.2), ("young", None)], "Words"),
        Ranking([Bar("first", 0.9, 0.8, 1.0), Bar("second", 0.2)]),
        Bars([Bar("male", 0.1, 0.05, 0.2, 0.5)]),
        Images([ShownImage("image-1", "least aligned"), ShownImage("image-2")]),
        Text("A limit.", tone="warning"),
        MarkedText(
            [
                MarkedView(
                    "gender",
                    [
                        MarkedWord("a", " ", note="stop word"),
                        MarkedWord("nurse", "", 1.0, 0.5, 1.5, "", "first"),
                    ],
                )
            ],
        ),
    ],
    {"score": 0.42, "other": None},
    {"each": [0.25, None], "each_ci": [(0.1, 0.4), None]},
)


def test_named_numbers_stand_beside_what_is_shown() -> None:
    found = FINDING.to_json()
    assert (found["title"], found["score"], found["other"]) == ("Context-free score", 0.42, None)
    assert (found["each"], found["each_ci"]) == ([0.25, None], [[0.1, 0.4], None])
    kinds = [part["kind"] for part in found["show"]]
    assert kinds == [
        "number",
        "number",
        "table",
        "ranking",
        "bars",
        "images",
        "text",
        "marked_text",
    ]
    assert found["show"][0] == {
        "kind": "number", "label": "score", "value": 0.42, "low": 0.3, "high": 0.55, "n": 48,
        "reason": "",
    }  # fmt: skip
    assert found["show"][4]["items"] == [
        {"label": "male", "value": 0.1, "low": 0.05, "high": 0.2, "reference": 0.5}
    ]
    [view] = found["show"][7]["views"]
    assert (view["label"], view["note"]) == ("gender", "")
    assert view["words"][1] == {
        "text": "nurse", "after": "", "value": 1.0, "low": 0.5, "high": 1.5, "note": "",
        "mark": "first",
    }  # fmt: skip


def test_it_is_json() -> None:
    found = FINDING.to_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_images_of_all_findings() -> None:
    document = {
        "graph": {"findings": {"a": FINDING.to_json()}},
        "nodes": [{"findings": {}}, {"findings": {"b": FINDING.to_json()}}],
    }
    assert list(image_ids(document)) == ["image-1", "image-2", "image-1", "image-2"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Number("x", math.nan), "undefined is None"),
        (lambda: Number("x", None), "needs a reason"),
        (lambda: Number("x", 0.5, 0.1), "one end"),
        (lambda: Number("x", 0.5, 0.9, 0.1), "ends before it begins"),
        (lambda: Table(["a", "b"], [["only one"]]), "1 cells for 2 columns"),
        (lambda: Table(["a"], [[math.inf]]), "a cell"),
        (lambda: MarkedWord("x"), "needs a reason"),
        (lambda: MarkedWord("x", note="stop word", mark="first"), "has no mark"),
        (lambda: MarkedWord("x", value=1.25), "a share of 1.25"),
        (lambda: MarkedWord("x", value=0.5, low=0.1), "one end"),
        (lambda: MarkedWord("x", value=math.nan), "undefined is None"),
        (lambda: Bar("x", 0.1, reference=math.inf), "'x' is inf"),
        (lambda: Finding("t", "a", [], {"show": 1}), "named 'show'"),
        (lambda: Finding("t", "a", [], {"score": math.nan}), "'score' is nan"),
        (lambda: Finding("t", "a", [], {}, {"about": []}), "named 'about'"),
        (lambda: Finding("t", "a", [], {"x": 1}, {"x": [1]}), "a number and a list"),
        (lambda: Finding("t", "a", [], {}, {"x": [0.1, math.nan]}), "'x' is nan"),
        (lambda: Finding("t", "a", [], {}, {"x": [(0.1, math.inf)]}), "'x' is inf"),
        (lambda: Finding("t", "a", [], {}, {"x": [(0.4, 0.1)]}), "ends before it begins"),
    ],
)
def test_numbers_that_look_like_results_are_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
