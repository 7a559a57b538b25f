"""The record of word influence."""

from __future__ import annotations

import json

from biasgraph.data.word_influence import WordInfluence, WordScore


def influence() -> WordInfluence:
    return WordInfluence(
        prompt="a chef in a kitchen",
        axis="gender",
        method="removal",
        words=(
            WordScore(word="a", start=0, end=1, reason="stop word"),
            WordScore(word="chef", start=2, end=6, score=0.1, low=0.0, high=0.3, share=0.2, rank=2),
            WordScore(
                word="kitchen", start=12, end=19, score=0.4, low=0.2, high=0.6, share=0.8, rank=1,
                stands_out=True,
            ),
        ),
        threshold=0.3,
        images=48,
        settings={"images": 48},
    )  # fmt: skip


def test_ranked_words_come_first_first_and_named_ones_stand_out() -> None:
    found = influence()
    assert [word.word for word in found.ranked] == ["kitchen", "chef"]
    assert [word.word for word in found.named] == ["kitchen"]


def test_a_record_is_json_and_comes_back() -> None:
    found = influence()
    record = json.loads(json.dumps(found.record(), allow_nan=False))
    assert record["words"][0]["score"] is None and record["words"][0]["reason"] == "stop word"
    assert WordInfluence.of_record(record) == found
