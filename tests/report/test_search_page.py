"""found.html as text: what it says, and that texts of language models do nothing in it."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest
from markupsafe import escape

from biasgraph.report import search_words
from biasgraph.report.search_page import PICTURES, search_html
from biasgraph.report.words import label
from tests.found import Json, found_document, found_pictures
from tests.hostile import HOSTILE, UNWRITABLE
from tests.sampled import sampled
from tests.screens import page_words

PAYLOADS = [text for text in HOSTILE if text not in UNWRITABLE]


def shown(document: Json) -> str:
    return page_words(search_html(document))


def percent(share: Json) -> str:
    ends = f"[{100 * share['low']:.0f}, {100 * share['high']:.0f}]"
    return f"{100 * share['mean']:.0f} % {ends}"


def test_the_headline_has_the_numbers_of_the_largest_lambda() -> None:
    document = found_document()
    cell, alone = document["cells"][3], document["cells"][0]
    headline = "Prompts that never name gender or age (λ = 300): "
    for share, before, gain in zip(cell["shares"], alone["shares"], cell["gains"], strict=True):
        points = [round(100 * gain[end]) for end in ("difference", "low", "high")]
        headline += (
            f"{percent(share)} {share['attribute']}, where the same language model alone gets "
            f"{percent(before)} ({points[0]:+d} [{points[1]:+d}, {points[2]:+d}] points); "
        )
    headline = f"{headline[:-2]}. Means over 18 prompts, 180 images. Their perplexity is 241, "
    text = shown(document)
    assert f"{headline}that of the language model alone 36.6." in text
    assert document["toy"] in text and "unfair" not in text


def test_a_gain_that_may_be_chance_and_prompts_that_name_the_axis_are_said() -> None:
    document = found_document()
    cell = document["cells"][3]
    cell["gains"][0] |= {"difference": 0.004, "low": -0.1, "high": 0.11}
    cell["naming"]["n"] = 3
    text = shown(document)
    assert "Prompts of which 3 of 19 name gender or age (λ = 300)" in text
    assert "(0 [-10, +11] points, which may be chance)" in text


def test_the_table_has_every_cell_and_says_what_passes_are() -> None:
    document = found_document()
    document["cells"][5]["passes"] = 20 * 555
    document["cells"][0]["passes"] = 0
    text = shown(document)
    for cell in document["cells"]:
        share = cell["shares"][0]
        assert f"{search_words.cell_name(cell)} {cell['n_prompts']} {percent(share)}" in text
    assert re.search(r"language model alone 20 51 .* 0 of 20 0 search, λ = 10 ", text)
    assert "17 of 20 555 with gradients" in text
    assert "PEZ follows each of its passes back for a gradient" in text


def test_prompts_stand_best_first_with_counts_the_probe_and_perplexity() -> None:
    document = found_document(undefined=False)
    text = shown(document).partition("The prompts")[2].partition("The words")[0]
    assert text.index("search, λ = 300") < text.index("search, λ = 100") < text.index(" PEZ ")
    best = max(
        (row for row in document["prompts"] if row["cell"] == 4),
        key=lambda row: (sum(row["shares"].values()), -row["number"]),
    )
    counts = [
        f"{axis_of} {round(10 * best['shares'][axis])} of 10; by the probe "
        f"{best['probabilities'][axis]:.2f}"
        for axis, axis_of in (("gender", "male"), ("age", "old"))
    ]
    first = f"1 “ {best['prompt']} ” {' '.join(counts)} perplexity {best['perplexity']:.0f}"
    assert first in text
    own = text[text.index("search, λ = 300") : text.index("search, λ = 100")]
    counted = [int(one) for one in re.findall(r"male (\d+) of 10; by", own)]
    other = [int(one) for one in re.findall(r"old (\d+) of 10; by", own)]
    sums = [a + b for a, b in zip(counted, other, strict=True)]
    assert sums == sorted(sums, reverse=True) and len(sums) > 5
    assert "names gender" in text[text.index(" PEZ ") :]


def test_what_is_undefined_says_why() -> None:
    document = found_document()
    document["cells"][3]["shares"][0] |= {"mean": None, "low": None, "high": None, "reason": "why"}
    document["cells"][3]["gains"][0] |= {"difference": None, "low": None, "high": None}
    text = shown(document)
    assert "(λ = 300): no share (why) male; 71 %" in text
    assert "no share (no image has an answer)" in text
    assert "unknown (people wrote them)" in text
    assert "the judge answered about none of its images" in text
    assert "A search failed: no text that could be used" in text


def test_nothing_searched_for() -> None:
    text = shown(found_document(methods=["lm", "curated"]))
    assert "There was no search" in text
    assert "The words" not in text and "given prompts" in text


def test_no_answers_no_perplexity_no_prompt() -> None:
    document = found_document(n_prompts=1)
    for row in document["prompts"]:
        row |= {"prompt": None, "probabilities": None, "perplexity": None, "shares": {},
                "images": [], "n_images": 0, "names": [], "reason": "nothing new"}  # fmt: skip
    for cell in document["cells"]:
        cell |= {"n_prompts": 0, "naming": {"n": 0, "of": 0}, "passes": None}
        for one in (*cell["shares"], cell["perplexity"]):
            one |= {"mean": None, "low": None, "high": None, "reason": "no prompt"}
        for one in cell["gains"]:
            one |= {"difference": None, "low": None, "high": None, "reason": "no prompt"}
    text = shown(document | {"words": []})
    assert "No share of male is known." in text and "No word has a delta." in text
    assert text.count("A search failed: nothing new") == 7


def test_words_of_every_search_and_target() -> None:
    document = found_document()
    text = shown(document).partition("The words")[2].partition("How it was made")[0]
    for weight in (10, 100, 300):
        for attribute in ("male", "old"):
            assert f"λ = {weight}, {attribute}" in text
    own = [one for one in document["words"] if (one["cell"], one["axis"]) == (4, "gender")]
    counts = {kind: sum(one["kind"] == kind for one in own) for kind in search_words.KINDS}
    assert f"{counts['injected']} injected (only in the found prompts)" in text
    assert f"{counts['deleted']} deleted (no longer in the found prompts)" in text
    for one in own:
        delta = "-" if one["delta"] is None else f"{one['delta']:+.2f}"
        numbers = f"{one['found']} {one['baseline']} {delta} {one['n_with']} {one['n_without']}"
        assert f"{one['word']} {one['kind']} {numbers}" in text


def test_how_it_was_made_is_told() -> None:
    text = shown(found_document()).partition("How it was made")[2]
    for said in (
        "gender, accuracy 0.970 [0.930, 0.990], 128 images of held-out prompts", "scoring race",
        "lambdas 10.0, 100.0, 300.0", "lm fingerprint sha256:aaaaaaaaaaaaaaaa",
        "perplexity fingerprint sha256:bbbbbbbbbbbbbbbb", "Two prompts were cut.",
        "never saw these words: tailor", "Attributes are labels that a judge gave to pictures",
    ):  # fmt: skip
        assert said in text


def test_pictures_are_there_once_of_the_best_prompts_of_every_cell(tmp_path: Path) -> None:
    document = found_document()
    pictures = found_pictures(document, tmp_path / "images", size=64)
    page = search_html(document, pictures).decode()
    each = PICTURES // 7 // 10
    assert page.count("<img ") == page.count('class="pixels" src="data:image/png')
    assert page.count("<img ") == 7 * each * 10
    parts = page.split('<details class="cell"')[1:8]
    assert [part.count("<img ") for part in parts] == [each * 10] * 7
    assert f"{20 - each} more without pictures here" in page


def test_a_missing_picture_is_said(tmp_path: Path) -> None:
    document = found_document(n_prompts=3, images=2)
    pictures = found_pictures(document, tmp_path / "images", size=300)
    page = search_html(document, pictures).decode()
    assert page.count('src="data:image/jpeg') == page.count("<img ") == (7 * 3 - 1) * 2
    gone = document["prompts"][0]["images"][0]
    pictures.store.path(pictures.rows[gone].file.sha256).unlink()
    page = search_html(document, pictures).decode()
    assert "1 picture is left out: the file is missing from the run, or damaged." in page
    assert page.count("not in the run") == 1


def test_without_pictures_there_is_no_place_for_them() -> None:
    text = shown(found_document(n_prompts=2))
    assert "not in the run" not in text and "left out" not in text
    assert "The run holds 10 images." in text


def test_the_same_document_gives_the_same_page(tmp_path: Path) -> None:
    document = found_document(n_prompts=2, images=2)
    pictures = found_pictures(document, tmp_path / "images", size=64)
    assert search_html(document, pictures) == search_html(document, pictures)


@functools.cache
def harmless() -> str:
    """The body of a page without payloads."""
    return search_html(found_document(n_prompts=2)).decode().partition("<body>")[2]


@pytest.mark.parametrize("payload", sampled(PAYLOADS))
def test_hostile_prompts_stay_text(payload: str) -> None:
    document = found_document(n_prompts=2, prompts=[payload] * 6)
    for row in document["prompts"]:
        row |= {"names": [payload], "reason": payload}
    for one in document["words"]:
        one["word"] = payload
    for cell in document["cells"]:
        cell["perplexity"] |= {"mean": None, "low": None, "high": None, "reason": payload}
    document |= {"notes": [payload], "model": payload, "lm": payload, "unseen_words": [payload]}
    document["settings"]["opening"] = payload
    for target in document["targets"]:
        target["attribute"] = payload
    body = search_html(document).decode().partition("<body>")[2]
    plain = harmless()
    for tag in ("<script", "<iframe", "<svg/", "<img", "<a href='", "<b>", "<!--", "<![CDATA"):
        assert body.count(tag) == plain.count(tag), tag
    assert f"“<bdi>{escape(label(payload, 300))}</bdi>”" in body
