"""mined.html opened in a real browser with the network off, with its script and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from biasgraph.report.mining_page import mining_html
from tests.browser.conftest import DARK, Open, check_shot, contrast, fits, unnamed_images
from tests.hostile import HOSTILE, UNWRITABLE
from tests.mined import Json, mined_document, mined_pictures

PAYLOADS = [text for text in HOSTILE if text not in UNWRITABLE]


pytestmark = pytest.mark.slow(reason="a page of its own; the report's is tried in test_report.py")


@pytest.fixture(scope="module")
def document() -> Json:
    return mined_document()


@pytest.fixture(scope="module")
def file(document: Json, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mined")
    pictures = mined_pictures(document, folder / "images")
    (folder / "mined.html").write_bytes(mining_html(document, pictures))
    return folder / "mined.html"


def place_of(page: Any, locator: Any) -> tuple[float, float]:
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_hover_shows_prompt_score_and_parent(page: Any, document: Json) -> None:
    child = next(one for one in document["candidates"] if one["origin"] == "mutation")
    parent = document["candidates"][child["parent"] - 1]
    assert not page.locator(".point-words:visible").count()
    point = page.locator(f".point[data-number='{child['number']}'] .touch")
    page.mouse.move(*place_of(page, point))
    [shown] = page.locator(".point-words:visible").all_inner_texts()
    for text in (child["prompt"], f"{child['score']:.3f}", parent["prompt"]):
        assert text in shown


def test_the_arrow_keys_reach_every_point(page: Any, document: Json) -> None:
    page.get_by_role("link", name="Past the points").focus()
    page.keyboard.press("Tab")  # to the population, which may be scrolled
    page.keyboard.press("Tab")
    reached = []
    for _ in document["candidates"]:
        reached.append(page.evaluate("Number(document.activeElement.dataset.number)"))
        page.keyboard.press("ArrowRight")
    assert sorted(reached) == [one["number"] for one in document["candidates"]]
    [shown] = page.locator(".point-words:visible").all_inner_texts()
    assert document["candidates"][reached[-1] - 1]["prompt"] in shown
    page.keyboard.press("Home")
    assert page.evaluate("Number(document.activeElement.dataset.number)") == reached[0]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_the_middle_of_every_point_is_its_own(page: Any) -> None:
    page.locator("#population").scroll_into_view_if_needed()
    hidden = page.evaluate(
        """[...document.querySelectorAll(".point")].filter((point) => {
          const box = point.querySelector(".mark").getBoundingClientRect();
          const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
          return !hit || hit.closest(".point") !== point;
        }).length"""
    )
    assert hidden == 0


def test_pictures_open_larger_and_close(page: Any) -> None:
    shot = page.locator(".shot").nth(1)
    small = shot.locator("img").bounding_box()
    assert small["width"] < 100
    shot.locator("summary").focus()
    page.keyboard.press("Enter")
    assert shot.locator("img").bounding_box()["width"] > 300
    assert "least aligned: 0.210" in shot.locator(".shot-note").inner_text()
    page.keyboard.press("Escape")
    assert shot.locator("img").bounding_box()["width"] == small["width"]
    shot.locator("img").click()
    assert shot.locator(".shot-note").is_visible()
    page.mouse.click(5, 5)
    assert shot.locator(".shot-note").is_hidden()
    assert unnamed_images(page) == 0


def test_without_scripts(scriptless: Any, file: Path, document: Json) -> None:
    page = scriptless
    page.set_viewport_size({"width": 1000, "height": 800})
    page.goto(file.as_uri())
    page.get_by_role("link", name="Past the points").focus()
    for _ in range(3):
        page.keyboard.press("Tab")
    [shown] = page.locator(".point-words:visible").all_inner_texts()
    assert "score" in shown
    check_shot(page.locator(".shot").first)
    page.locator(".fold > summary").first.click()
    assert page.locator(".fold tbody tr:visible").count() == len(document["candidates"])


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=DARK)])
def test_a_narrow_screen_scrolls_the_drawing_alone(
    open_page: Open, file: Path, scheme: str
) -> None:
    page = open_page(file, width=360, scheme=scheme)
    assert fits(page)
    for fold in page.locator("details.fold > summary").all():
        fold.click()
    assert fits(page)
    last = page.locator(".point").last
    last.focus()
    box = last.locator(".point-words").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 360
    assert fits(page)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=DARK)])
def test_marks_lines_and_words_have_contrast(open_page: Open, file: Path, scheme: str) -> None:
    """3 to 1 for what is drawn and 4.5 to 1 for text (WCAG 2.2 AA), on the section's ground."""
    page = open_page(file, scheme=scheme)
    for selector, look, least in (
        (".initial .mark", "fill", 3), (".random .mark", "fill", 3), (".mutation .mark", "fill", 3),
        (".ring", "stroke", 3), ("path.mining", "stroke", 3), ("path.chance", "stroke", 3),
        (".chart text", "fill", 4.5), (".scores dt", "color", 4.5), (".rank", "color", 4.5),
    ):  # fmt: skip
        assert contrast(page, selector, look) >= least, selector


def test_hostile_prompts_do_nothing(open_page: Open, tmp_path: Path) -> None:
    document = mined_document(prompts=PAYLOADS, mined=3)
    for row, payload in zip(document["mined"], PAYLOADS, strict=False):
        row["prompt"] = payload
        row["evidence"]["missed"] = [{"text": text, "similarity": 0.1} for text in PAYLOADS[:40]]
        row["evidence"] |= {payload: payload, "rows": [{text: text} for text in PAYLOADS[:20]]}
        row["variation_images"] = [{"text": payload, "images": row["images"]}]
    document |= {"notes": PAYLOADS, "unseen_words": PAYLOADS, "model": PAYLOADS[1]}
    pictures = mined_pictures(document, tmp_path / "images", size=64)
    (tmp_path / "mined.html").write_bytes(mining_html(document, pictures))
    page = open_page(tmp_path / "mined.html", width=700)
    for number in range(1, len(PAYLOADS), 20):
        page.mouse.move(*place_of(page, page.locator(f".point[data-number='{number}'] .touch")))
    for fold in page.locator("details.fold > summary").all():
        fold.click()
    assert page.locator("iframe, object, embed, svg[onload], img[src='x'], form").count() == 0
    assert page.locator("script").count() == 4  # data, dom.js, mining.js, shots.js
    assert fits(page)
