"""found.html opened in a real browser with the network off, with its script and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from biasgraph.report.search_page import search_html
from tests.browser.conftest import DARK, Open, check_shot, contrast, fits, unnamed_images
from tests.found import Json, found_document, found_pictures
from tests.hostile import HOSTILE, UNWRITABLE

PAYLOADS = [text for text in HOSTILE if text not in UNWRITABLE]


pytestmark = pytest.mark.slow(reason="a page of its own; the report's is tried in test_report.py")


@pytest.fixture(scope="module")
def document() -> Json:
    return found_document(n_prompts=8)


@pytest.fixture(scope="module")
def file(document: Json, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("found")
    pictures = found_pictures(document, folder / "images")
    (folder / "found.html").write_bytes(search_html(document, pictures))
    return folder / "found.html"


def unfold(page: Any) -> None:
    closed = page.locator("details:is(.cell, .fold):not([open]) > summary")
    for _ in range(closed.count()):
        closed.first.click()


def test_the_largest_lambda_is_open_and_the_others_open_by_keyboard(page: Any) -> None:
    cells = page.locator("#prompts .cell")
    names = [name.strip() for name in cells.locator("h3").all_inner_texts()]
    assert names[:4] == ["search, λ = 300", "search, λ = 100", "search, λ = 10",
                         "language model alone"]  # fmt: skip
    opened = [cell.get_attribute("open") is not None for cell in cells.all()]
    assert opened == [True] + [False] * 6
    cells.nth(1).locator("summary").first.focus()
    assert not cells.nth(1).locator(".found").first.is_visible()
    page.keyboard.press("Enter")
    assert cells.nth(1).locator(".found").first.is_visible()


def test_pictures_open_larger_and_close(page: Any) -> None:
    shot = page.locator(".shot").nth(1)
    small = shot.locator("img").bounding_box()
    assert small["width"] < 100
    shot.locator("summary").focus()
    page.keyboard.press("Enter")
    assert shot.locator("img").bounding_box()["width"] > 300
    assert "Image 2 of “A photo of a person" in shot.locator(".shot-note").inner_text()
    page.keyboard.press("Escape")
    assert shot.locator("img").bounding_box()["width"] == small["width"]
    assert page.locator("#prompts .cell").first.get_attribute("open") is not None
    unfold(page)
    assert unnamed_images(page) == 0


def test_every_point_and_bar_is_drawn_inside_its_drawing(page: Any, document: Json) -> None:
    unfold(page)
    outside = page.evaluate(
        """[...document.querySelectorAll(".chart .mark, .chart text, .word-bar path")]
          .filter((one) => {
            const box = one.getBoundingClientRect();
            const sheet = one.closest("svg").getBoundingClientRect();
            return box.left < sheet.left - 1 || box.right > sheet.right + 1
              || box.top < sheet.top - 1 || box.bottom > sheet.bottom + 1;
          }).map((one) => one.outerHTML)"""
    )
    assert outside == []
    charts = page.locator(".drawings .chart")
    assert charts.first.locator(".mark").count() == len(document["cells"])
    assert charts.nth(1).locator(".mark").count() == len(document["cells"]) - 1  # PEZ has no share


def test_without_scripts(scriptless: Any, file: Path) -> None:
    page = scriptless
    page.set_viewport_size({"width": 1000, "height": 800})
    page.goto(file.as_uri())
    check_shot(page.locator(".shot").first)
    unfold(page)
    assert page.locator(".found:visible").count() == page.locator(".found").count() > 40


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=DARK)])
def test_the_page_fits_its_window(open_page: Open, file: Path, width: int, scheme: str) -> None:
    page = open_page(file, width=width, scheme=scheme)
    assert fits(page)
    unfold(page)
    assert fits(page)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=DARK)])
def test_marks_lines_and_words_have_contrast(open_page: Open, file: Path, scheme: str) -> None:
    """3 to 1 for what is drawn and 4.5 to 1 for text (WCAG 2.2 AA), on the section's ground."""
    page = open_page(file, scheme=scheme)
    for selector, look, least in (
        (".lm .mark", "fill", 3), (".search .mark", "fill", 3), (".lm-biased .mark", "fill", 3),
        (".pez .mark", "fill", 3), (".curated .mark", "fill", 3), (".interval", "stroke", 3),
        (".ideal", "stroke", 3), (".injected path", "stroke", 3), (".dampened path", "stroke", 3),
        (".cell-name", "fill", 4.5), (".chart text", "fill", 4.5), (".scores dt", "color", 4.5),
        (".rank", "color", 4.5), (".cell > summary small", "color", 4.5),
    ):  # fmt: skip
        assert contrast(page, selector, look) >= least, selector


def test_hostile_prompts_do_nothing(open_page: Open, tmp_path: Path) -> None:
    document = found_document(n_prompts=12, images=1, prompts=PAYLOADS[:36])
    spare = iter(PAYLOADS[36:])
    for row in document["prompts"]:
        if row["cell"] in (1, 5, 6, 7):
            row |= {"prompt": next(spare, PAYLOADS[0]), "names": PAYLOADS[:3]}
    for one, payload in zip(document["words"], PAYLOADS, strict=False):
        one["word"] = payload
    for target, payload in zip(document["targets"], PAYLOADS[:2], strict=True):
        target["attribute"] = payload
    document |= {"notes": PAYLOADS, "unseen_words": PAYLOADS, "model": PAYLOADS[1]}
    pictures = found_pictures(document, tmp_path / "images", size=64)
    (tmp_path / "found.html").write_bytes(search_html(document, pictures))
    page = open_page(tmp_path / "found.html", width=700)
    unfold(page)
    assert page.locator("iframe, object, embed, svg[onload], img[src='x'], form").count() == 0
    assert page.locator("script").count() == 3  # data, dom.js, shots.js
    assert fits(page)
