"""Bias categories of mined prompts: proposed by a language model, matched in what is missed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from biasgraph.audits.mining.categories import bias_categories
from biasgraph.audits.mining.mining import mine
from biasgraph.audits.mining.mining_options import MineOptions
from biasgraph.errors import ModelError, printable
from biasgraph.models.base import Message
from biasgraph.models.registry import load_language_model
from tests.audits.mining.test_mining import SMALL
from tests.audits.mining.test_prompt_writer import Scripted

Json = dict[str, Any]
PLACES = {"name": "Places", "terms": ["kitchen", "Snowy Field"]}
PEOPLE = {"name": "People", "terms": ["elderly", "nurse"]}


def row(prompt: str, *missed: str) -> Json:
    return {
        "prompt": prompt,
        "evidence": {"missed": [{"text": text, "similarity": 0.2} for text in missed]},
    }


def reply(*categories: Json) -> str:
    return json.dumps({"categories": categories})


def test_a_prompt_is_in_the_categories_whose_terms_it_misses(tmp_path: Path) -> None:
    mined = [
        row("a nurse", "an ELDERLY nurse", "a nurse, in a kitchen"),
        row("a dog", "a dog in a snowy, wide field", "a dog in kitchens"),
        row("a cat", "a cat in a snowy field at night"),
        row("a chef in a kitchen", "an old chef in a kitchen"),
        row("an elderly man", "a nurse beside an elderly man"),
    ]
    model = Scripted([reply(PLACES, PEOPLE)])
    found = bias_categories(mined, model, tmp_path)
    assert found["of_prompts"] == {
        "a nurse": ["Places", "People"],
        "a dog": [],
        "a cat": ["Places"],
        "a chef in a kitchen": [],
        "an elderly man": ["People"],
    }
    assert found["categories"] == [PLACES, PEOPLE]
    assert found["proposed_by"] == "scripted:one" and found["reason"] == ""
    (asked,) = model.heard
    assert "at most 15" in asked and "- a nurse: an ELDERLY nurse; a nurse, in a kitchen\n" in asked
    assert bias_categories(mined, model, tmp_path) == found
    assert len(model.heard) == 1  # the transcript is read


@pytest.mark.parametrize(
    "said",
    [
        "Certainly! Here are some.",
        reply(),
        reply({"name": "x", "terms": []}),
        reply(*({"name": f"{n}", "terms": ["a"]} for n in range(16))),
        reply(PLACES, {"name": "places", "terms": ["park"]}),
        reply({"name": "x", "terms": ["a"] * 101}),
        reply({"name": "x" * 101, "terms": ["a"]}),
        reply({"name": "x\x1b[31m", "terms": ["a"]}),
    ],
)
def test_replies_that_do_not_fit_leave_a_reason(said: str, tmp_path: Path) -> None:
    model = Scripted([said])
    found = bias_categories([row("a nurse", "an old nurse")], model, tmp_path)
    assert found["categories"] == [] and found["of_prompts"] == {}
    assert found["proposed_by"] is None
    assert found["reason"].startswith("scripted:one gave no usable reply in 3 attempts")
    assert "the transcript is in transcripts/mine-categories-" in found["reason"]
    assert printable(found["reason"]) == found["reason"] and str(tmp_path) not in found["reason"]
    assert len(model.heard) == 3


def test_a_reply_that_is_corrected_is_used(tmp_path: Path) -> None:
    model = Scripted(["no", reply(PEOPLE)])
    found = bias_categories([row("a man", "an elderly man")], model, tmp_path)
    assert found["of_prompts"] == {"a man": ["People"]}


def test_a_model_that_fails_leaves_a_reason(tmp_path: Path) -> None:
    model = Scripted([ModelError("the server is gone")])
    found = bias_categories([row("a man", "an elderly man")], model, tmp_path)
    assert found["reason"] == "the server is gone" and found["proposed_by"] is None


def test_a_term_without_words_is_in_nothing(tmp_path: Path) -> None:
    model = Scripted([reply({"name": "x", "terms": ["&", "?!"]})])
    found = bias_categories([row("a man", "an elderly man & a dog?!")], model, tmp_path)
    assert found["of_prompts"] == {"a man": []}


def test_rules_are_no_language_model(tmp_path: Path) -> None:
    rules = load_language_model("sandbox")
    found = bias_categories([row("a man", "an elderly man")], rules, tmp_path)
    assert found["reason"].startswith("sandbox (") and found["reason"].endswith("language model")
    assert not [*tmp_path.iterdir()]


def test_what_misses_nothing_has_no_categories(tmp_path: Path) -> None:
    model = Scripted([reply(PEOPLE)])
    found = bias_categories([{"prompt": "a man", "evidence": {}}], model, tmp_path)
    assert found["reason"] == "the evidence names no missed concepts" and not model.heard


@dataclass
class Speaker(Scripted):
    """Writes the sandbox's prompts and variations, and says something of its own of categories."""

    def reply(self, messages: Sequence[Message], schema: object = None) -> str:
        if any("bias categories" in message.text for message in messages):
            return super().reply(messages, schema)
        return load_language_model("sandbox").reply(messages)


@pytest.mark.slow(reason="two searches; the tests above call the model alone")
@pytest.mark.parametrize("said", [reply({"name": "Everyone", "terms": ["man", "woman"]}), "no"])
def test_the_result_of_a_search_has_them(said: str, tmp_path: Path) -> None:
    small = MineOptions(**SMALL | {"iterations": 1, "population": 4}, output=tmp_path / "run")
    found = mine(small, language_model=Speaker([said])).document
    page = (tmp_path / "run" / "mined.html").read_text("utf-8")
    assert json.loads((tmp_path / "run" / "mined.json").read_bytes()) == found
    if said == "no":
        assert found["mined"] and "no usable reply" in found["categories"]["reason"]
        assert "None: scripted:one gave no usable reply" in page
    else:
        assert {*found["categories"]["of_prompts"]} == {one["prompt"] for one in found["mined"]}
        assert "Everyone" in page
