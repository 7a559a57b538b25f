"""mined.html as text: what it says, and that texts of language models do nothing in it."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from biasgraph.report.mining_drawing import best_so_far
from biasgraph.report.mining_page import mining_html
from biasgraph.report.words import label
from tests.hostile import HOSTILE, UNWRITABLE
from tests.mined import mined_document, mined_pictures
from tests.sampled import sampled
from tests.screens import page_words

PAYLOADS = [text for text in HOSTILE if text not in UNWRITABLE]


def shown(document: dict[str, Any]) -> str:
    return page_words(mining_html(document))


def test_the_worst_prompt_stands_first_with_its_interval() -> None:
    document = mined_document()
    worst, text = document["mined"][0], shown(document)
    number = f"{worst['score']:.3f} [{worst['low']:.3f}, {worst['high']:.3f}]"
    assert f"Scored again on 45 fresh images, the worst is “{worst['prompt']}”: {number}" in text
    assert "the lower the score, the fewer of the prompt's meanings the images span" in text
    assert document["toy"] in text and "unfair" not in text


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        ("axis:age", "the higher the score, the further age is from its ideal"),
        ("edge:age,sex", "the lower the score, the more diversifying age moves sex away from its"),
        ("somebody's own", "the lower the score, the worse"),
    ],
)
def test_the_direction_is_said_in_words(objective: str, words: str) -> None:
    assert words in shown(mined_document(objective=objective, iterations=2))


def test_both_scores_stand_beside_each_other_and_say_what_they_are() -> None:
    document = mined_document()
    text = shown(document)
    for row in document["mined"]:
        assert f"{row['first_score']:.3f}, from 15 images over-optimistic: the best of many" in text
        assert f"{row['score']:.3f} [{row['low']:.3f}, {row['high']:.3f}] 45 fresh images" in text


def test_what_is_undefined_says_why() -> None:
    document = mined_document(iterations=2)
    for row in document["mined"]:
        row |= {"score": None, "low": None, "high": None, "reason": "no image was made"}
    document["categories"] = {
        "proposed_by": None, "reason": "no language model", "categories": [], "of_prompts": {},
    }  # fmt: skip
    document["random"] = {"n_prompts": 0, "expected_best": []}
    text = shown(document)
    assert "No prompt has a score on fresh images." in text
    assert text.count("not defined: no image was made") == len(document["mined"])
    assert "None: no language model" in text
    assert "There were no random prompts with a score." in text


def test_a_score_without_an_interval_says_why() -> None:
    document = mined_document(iterations=2)
    document["mined"][0] |= {"low": None, "high": None, "reason": "no interval: all are alike"}
    text = shown(document)
    score = f"{document['mined'][0]['score']:.3f}"
    assert f"fresh score {score} 45 fresh images in 3 batches; no interval: all are alike" in text
    assert f"{score}; the lower the score" in text


def test_a_search_that_found_nothing_has_a_page() -> None:
    document = mined_document(iterations=1, mined=0)
    document |= {"candidates": [], "iterations": [], "stopped": "prompts"}
    text = shown(document)
    assert "No prompt has a score." in text and "no new prompts were left" in text


def test_evidence_is_drawn_by_its_kind() -> None:
    document = mined_document(objective="axis:age", iterations=2)
    document["mined"][0]["evidence"] |= {
        "pairs": [{"from": "age", "n": 3}, {"from": "place", "why": "few"}], "nested": {"a": [1]},
    }  # fmt: skip
    text = shown(document)
    assert "Shares of the fresh images; mark: the ideal. young 0.900" in text
    assert "distance before 0.400" in text and 'nested {"a": [1]}' in text
    assert "from n why age 3 - place - few" in text


def test_tables_hold_every_candidate_and_what_was_dropped() -> None:
    document = mined_document()
    text = shown(document)
    for one in document["candidates"]:
        assert f" {one['number']} {one['prompt']} {one['iteration']} {one['origin']} " in text
    assert "the same words as “reading a nurse”" in text
    assert "375 5,625" in text  # the last iteration's prompts and images


def test_as_many_random_prompts_are_as_many_as_have_a_score() -> None:
    document = mined_document(iterations=2)
    for one in document["candidates"][:5]:
        one["score"] = None
    curve = [1 - 0.01 * number for number in range(30)]
    document["random"] = {"n_prompts": 30, "expected_best": curve}
    scored = len(best_so_far(document))
    first = sum(one["score"] is not None for one in document["candidates"][:15])
    assert first < 15 and scored < 30
    text = shown(document)
    for row, count in zip(document["iterations"], (first, scored), strict=True):
        counts = f"{row['n_prompts']} {row['n_images']} {row['best_score']:.3f}"
        assert f"{counts} {curve[count - 1]:.3f} {row['best_prompt']}" in text


def test_categories_count_the_mined_prompts() -> None:
    text = shown(mined_document(mined=4))
    assert re.search(r"age 4 of 4 .*clothing 3 of 4 .*place.* 2 of 4", text)


def test_pictures_are_there_once_and_the_least_aligned_come_first(tmp_path: Path) -> None:
    document = mined_document(iterations=3, mined=2)
    pictures = mined_pictures(document, tmp_path / "images", size=300)
    page = mining_html(document, pictures).decode()
    assert page.count("<img ") == page.count('src="data:image/jpeg') == 2 * (12 + 4 * 4)
    first = page.partition('id="mined-1"')[2].partition("</article>")[0]
    marks = re.findall(r'<details class="shot( least)?"', first)
    assert marks[:4] == [" least"] * 3 + [""] and marks.count(" least") == 3
    assert "The run holds 3 more images." in first
    gone = document["mined"][0]["images"][0]
    pictures.store.path(pictures.rows[gone].file.sha256).unlink()
    page = mining_html(document, pictures).decode()
    assert "1 picture is left out: the file is missing from the run, or damaged." in page


def test_without_pictures_there_is_no_place_for_them() -> None:
    text = shown(mined_document(iterations=1))
    for words in ("not in the run", "left out", "Its fresh images"):
        assert words not in text
    assert "The run holds 15 images." in text


def test_small_pictures_keep_every_pixel(tmp_path: Path) -> None:
    document = mined_document(iterations=1, mined=1)
    page = mining_html(document, mined_pictures(document, tmp_path / "images", size=64)).decode()
    assert page.count('class="pixels" src="data:image/png') == page.count("<img ") == 28


def test_the_same_document_gives_the_same_page(tmp_path: Path) -> None:
    document = mined_document(iterations=2)
    pictures = mined_pictures(document, tmp_path / "images", size=64)
    assert mining_html(document, pictures) == mining_html(document, pictures)


@functools.cache
def harmless() -> str:
    """The body of a page without payloads."""
    page = mining_html(mined_document(iterations=1, mined=3)).decode()
    return page.partition("<body>")[2]


@pytest.mark.parametrize("payload", sampled(PAYLOADS))
def test_hostile_prompts_stay_text(payload: str) -> None:
    document = mined_document(iterations=1, mined=3, prompts=[payload])
    row = document["mined"][0]
    row |= {"prompt": payload, "reason": payload}
    row["evidence"] = {
        "missed": [{"text": payload, "similarity": 0.1}],
        payload: [{payload: payload}], "x": {payload: payload},
    }  # fmt: skip
    row["variation_images"] = [{"text": payload, "images": [payload]}]
    document["categories"]["categories"] = [{"name": payload, "terms": [payload]}]
    document |= {"notes": [payload], "model": payload, "unseen_words": [payload]}
    document["settings"]["vary"] = [payload]
    page = mining_html(document).decode()
    body = page.partition("<body>")[2]
    plain = harmless()
    for tag in ("<script", "<iframe", "<svg/", "<img", "<a href='", "<b>", "<!--", "<![CDATA"):
        assert body.count(tag) == plain.count(tag), tag
    assert f"“<bdi>{escape(label(payload, 300))}</bdi>”" in body
