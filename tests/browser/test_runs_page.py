"""The page of all runs in a real browser with the network off: sorted, filtered, followed."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

import biasgraph as package
from biasgraph.audits.run_server import RunServer
from biasgraph.commands import main
from tests.answer_tables import librarian_table
from tests.browser.conftest import DARK, Open, broken_words, contrast, fits
from tests.hostile import HOSTILE, UNWRITABLE

LONG = "diffusers:stable-research/stable-diffusion_sandbox"

pytestmark = pytest.mark.slow(reason="a page of its own; the report's is tried in test_report.py")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page beside a folder of three whole runs, an unfinished and a broken one."""
    folder = tmp_path_factory.mktemp("view")
    runs = folder / "my runs #1"
    prompts = {"a": "a nurse", "deep/b & c": "a librarian", "z": "a cook"}
    for seed, (name, prompt) in enumerate(prompts.items()):
        table = librarian_table(images=20 + 10 * seed, prompt=prompt, seed=seed)
        package.build(answers=table, output=runs / name, bootstrap=100)
    for name in ("unfinished", "broken"):
        (runs / name).mkdir()
    (runs / "broken" / "graph.json").write_text("{}")
    record = {"generator": {"spec": LONG}, "judges": {}, "builds": []}
    (runs / "unfinished" / "run.json").write_text(json.dumps(record))
    assert main(["view", str(runs), "--static", str(folder / "pages" / "runs.html")]) == 0
    return folder / "pages" / "runs.html"


def names(page: Any) -> list[str]:
    return list(page.locator("#runs tbody tr:visible th").all_inner_texts())


def head(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name)


def test_heads_sort_by_mouse_and_keyboard(page: Any) -> None:
    head(page, "About").click()
    abouts = page.locator("#runs tbody tr .about bdi").all_inner_texts()
    assert abouts[:3] == ["“a cook”", "“a librarian”", "“a nurse”"]
    head(page, "Images").focus()
    page.keyboard.press("Enter")
    assert names(page)[:3] == ["z", "deep/b & c", "a"]  # the most first
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    page.keyboard.press("Enter")
    assert names(page)[:3] == ["a", "deep/b & c", "z"]  # the undefined stay last
    assert page.locator("th[aria-sort]").inner_text().startswith("Images")
    assert page.evaluate("document.activeElement.textContent") == "Images"


def test_the_filter_takes_words_and_a_state(page: Any) -> None:
    page.get_by_label("Filter").fill("LIBRARIAN shop")
    assert names(page) == ["deep/b & c"]
    assert page.locator("#shown").inner_text() == "1 of 5"
    page.get_by_label("Filter").fill("")
    page.get_by_label("State").select_option("broken")
    assert names(page) == ["broken"]
    assert "graph.json is damaged" in page.locator("#runs tbody tr:visible").inner_text()
    page.get_by_label("Filter").fill("nothing of that")
    assert page.get_by_text("No run fits.").is_visible()


def test_every_link_opens_a_report(page: Any) -> None:
    for place in range(3):
        row = page.locator("#runs tbody tr:has(a)").nth(place)
        said = row.locator(".about").inner_text().strip("“”")
        with page.expect_navigation():
            row.get_by_role("link").click()
        assert said in page.locator("h1").inner_text()
        page.go_back()


def test_without_scripts_all_is_there(scriptless: Any, file: Path) -> None:
    scriptless.goto(file.as_uri())
    assert len(names(scriptless)) == 5
    assert not scriptless.locator("#filter").is_visible()
    first = scriptless.locator("#runs tbody tr:has(a)").first
    said = first.locator(".about").inner_text().strip("“”")
    with scriptless.expect_navigation():
        first.get_by_role("link").click()
    assert said in scriptless.locator("h1").inner_text()


@pytest.mark.parametrize("width", [1440, 768, 390])
def test_the_page_fits_and_the_table_scrolls(open_page: Open, file: Path, width: int) -> None:
    page = open_page(file, width=width)
    assert fits(page)
    first = page.locator("#runs tbody th").first.bounding_box()
    page.locator(".scroll").evaluate("one => { one.scrollLeft = 10000 }")
    assert page.locator("#runs tbody th").first.bounding_box()["x"] == first["x"]
    assert LONG in page.locator("#runs").inner_text()
    assert broken_words(page, "#runs bdi") == []
    assert fits(page)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=DARK)])
def test_words_have_contrast(open_page: Open, file: Path, scheme: str) -> None:
    page = open_page(file, scheme=scheme)
    for selector in ("#runs a", "#runs small", ".state", "[data-state=broken] .state"):
        assert contrast(page, selector, "color") >= 4.5, selector


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models over four dates, and a run by another judge."""
    folder = tmp_path_factory.mktemp("history")
    for seed, judge in enumerate(["a", "a", "a", "a", "b"]):
        model = f"shop:{'a long name ' * 6}v{seed % 2}"
        table = librarian_table(images=24, seed=seed, model=model).assign(judge=f"vlm:{judge}")
        package.build(answers=table, output=folder / str(seed), bootstrap=100)
        os.utime(folder / str(seed) / "graph.json", (1.7e9 + 1e6 * seed,) * 2)
    assert main(["view", str(folder), "--static", str(folder / "runs.html")]) == 0
    return folder / "runs.html"


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=DARK)])
@pytest.mark.parametrize("width", [1440, 768, 390])
def test_a_history_can_be_read(open_page: Open, history: Path, width: int, scheme: str) -> None:
    """It fits, nothing in a drawing is cut or smaller than 10 px, and marks have contrast."""
    page = open_page(history, width=width, scheme=scheme)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert fits(page)
    assert page.locator("svg.trend").count() == 6  # two of each axis
    cut = page.locator("svg.trend text").evaluate_all(
        """all => all.filter((text) => {
          const box = text.getBoundingClientRect();
          const frame = text.closest("svg").getBoundingClientRect();
          const scale = frame.width / 360;
          return box.left < frame.left || box.right > frame.right || 11.5 * scale < 10;
        }).map((text) => text.textContent)"""
    )
    assert cut == []
    for selector, look, least in (
        (".look-0 .trend-line", "stroke", 3), (".look-1 .trend-mark", "fill", 3),
        (".goal", "stroke", 3), ("svg.trend text", "fill", 4.5),
    ):  # fmt: skip
        assert contrast(page, selector, look) >= least, selector
    text = page.locator("#history").inner_text()
    assert "another judge, vlm:b instead of vlm:a" in text


def test_no_line_leads_to_another_judge(open_page: Open, history: Path) -> None:
    page = open_page(history)
    for line in page.locator("svg.trend .trend-line").all():
        assert line.get_attribute("d").count("L") == 1  # two runs of each model
    page.locator("#history .fold summary").first.click()
    with page.expect_navigation():
        page.locator("#history table a").first.click()
    assert "a librarian" in page.locator("h1").inner_text()


def test_hostile_runs_do_nothing(open_page: Open, tmp_path: Path) -> None:
    payloads = [text for text in HOSTILE if text not in UNWRITABLE]
    package.build(answers=librarian_table(images=20), output=tmp_path / "first", bootstrap=100)
    document = json.loads((tmp_path / "first" / "graph.json").read_bytes())
    for number, payload in enumerate(payloads):
        run = tmp_path / str(number)
        shutil.copytree(tmp_path / "first", run)
        document["graph"] |= {"prompt": payload, "model": payload, "vqa": payload}
        document["graph"]["ideal"]["source"] = payload
        for node in document["nodes"]:
            node["id"], node["attributes"] = payload, [payload] * len(node["attributes"])
        (run / "graph.json").write_text(json.dumps(document), "utf-8")
        shutil.copytree(run, tmp_path / f"{number} again")
    assert main(["view", str(tmp_path), "--static", str(tmp_path / "page.html")]) == 0
    page = open_page(tmp_path / "page.html", width=700)
    page.get_by_label("Filter").fill("<script>")
    head(page, "Model").click()
    assert page.locator("iframe, object, embed, svg[onload], img").count() == 0
    assert page.locator("script").count() == 3  # data, dom.js, runs.js
    assert fits(page)


def test_the_served_page_opens_reports_and_their_pictures(run: Path, chromium: Any) -> None:
    """The pictures of a report come from the run; a page reads none of another's."""
    with RunServer(run.parent) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        page = chromium.new_page()
        failed: list[str] = []
        page.on("requestfailed", lambda request: failed.append(request.url))
        page.on("pageerror", lambda error: failed.append(str(error)))
        page.on("console", lambda message: failed.append(message.text))
        page.goto(server.address)
        page.get_by_label("Filter").fill("librarian")
        page.keyboard.press("Enter")
        with page.expect_navigation():
            page.locator("#runs a").first.click()
        page.wait_for_selector("html[data-ready]", state="attached")
        picture = next((run / "images").iterdir()).name
        loads = """src => new Promise((done) => {
          const image = new Image();
          image.onload = () => done(image.naturalWidth);
          image.onerror = () => done(0);
          image.src = src;
        })"""
        assert page.evaluate(loads, f"images/{picture}") > 0
        assert failed == []
        assert page.evaluate("window.origin") == "null"
        assert page.evaluate("fetch('..').then(() => 'read', () => 'refused')") == "refused"
        page.close()
        server.shutdown()
        thread.join()
