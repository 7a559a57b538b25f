"""Pictures of a report in a real browser: strips, one picture large, and corrections."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from biasgraph.data.result import load
from biasgraph.report import page as page_module
from biasgraph.report.page import report_html
from tests import forked, judged_run
from tests.browser.conftest import Open, biasgraph, fits, wait_for_focus

Json = dict[str, Any]

ASKED, SAID = 0, 1


pytestmark = pytest.mark.slow(reason="pages with pictures; the report's is tried in test_report.py")


@pytest.fixture(scope="module")
def document(run: Path) -> Json:
    document: Json = json.loads((run / "graph.json").read_text())
    return document


@pytest.fixture(scope="module")
def answers(run: Path) -> dict[str, dict[str, str]]:
    """image -> target -> what the judge said."""
    said: dict[str, dict[str, str]] = {}
    with (run / "answers.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            said.setdefault(row["image"], {})[row["target"]] = row["answer"]
    return said


@pytest.fixture
def page(open_page: Open, run: Path) -> Any:
    return open_page(run / "report.html")


def shown_image(page: Any, button: Any) -> Json:
    """What the page knows of a button's image."""
    number = int(button.get_attribute("data-image"))
    image: Json = page.evaluate(f"biasgraph.model.images[{number}]")
    return image


def close_picture(page: Any, selector: str) -> None:
    """Press Escape, after which the picture that was seen last has the focus."""
    page.keyboard.press("Escape")
    page.locator("dialog.viewer").wait_for(state="hidden")
    wait_for_focus(page, selector)


def pick(page: Any, document: Json, link: Json) -> None:
    ids = [node["id"] for node in document["nodes"]]
    k = ids.index(link["source"]) * len(ids) + ids.index(link["target"])
    page.evaluate(f"biasgraph.page.pick({{pair: {k}}})")


def test_an_arrow_begins_with_a_strip_of_every_arm(
    page: Any, document: Json, answers: dict[str, dict[str, str]]
) -> None:
    link = document["links"][0]
    pick(page, document, link)
    [source] = [node for node in document["nodes"] if node["id"] == link["source"]]
    rows = page.locator("#detail .film-row")
    arms = [f"asked for {attribute}" for attribute in source["attributes"]]
    assert rows.locator("h3").all_inner_texts() == ["initial images", *arms]
    last = rows.last.bounding_box()["y"]
    assert last < page.locator("#detail .contingency").bounding_box()["y"]
    for row in rows.all():
        pictures = row.locator(".picture")
        assert pictures.count() == 12
        sides = pictures.first.locator("img").bounding_box()
        assert 120 <= sides["width"] == sides["height"] <= 160
        wide, seen = row.locator(".film").evaluate("one => [one.scrollWidth, one.clientWidth]")
        assert wide > seen, "scrolled sideways"
        for picture in pictures.all():
            said = answers[shown_image(page, picture)["id"]]
            assert picture.locator(".picture-note").inner_text() == said[link["target"]]
            words = picture.locator("img").get_attribute("alt")
            assert words.partition(". The judge says ")[2] == ", ".join(
                f"{node['id']}: {said[node['id']]}" for node in document["nodes"]
            )
        notes = row.locator(".picture-note").all_inner_texts()
        most = max(set(notes), key=notes.count)
        share = f"{most} {100 * notes.count(most) / 12:.0f}"
        assert share in row.locator(".stack").get_attribute("aria-label").replace("\xa0", " ")
    assert fits(page)


def test_a_click_opens_the_stored_picture_with_every_answer(
    page: Any, document: Json, run: Path, answers: dict[str, dict[str, str]]
) -> None:
    pick(page, document, document["links"][0])
    button = page.locator("#detail .film-row").nth(1).locator(".picture").nth(1)
    image = shown_image(page, button)
    button.click()
    viewer = page.locator("dialog.viewer")
    large = viewer.locator("img")
    page.wait_for_function("() => document.querySelector('dialog img').src.startsWith('file:')")
    assert large.evaluate("one => one.decode().then(() => one.naturalWidth)") == 64
    name = large.get_attribute("src")
    assert (run / name).is_file()
    assert name == f"images/{image['file']}.png"
    facts = dict(
        zip(
            viewer.locator("dt").all_inner_texts(),
            viewer.locator("dd").all_inner_texts(),
            strict=True,
        )
    )
    assert (facts["Prompt"], facts["Model"]) == (
        page.evaluate(f"biasgraph.model.texts[{image['text']}]"),
        document["graph"]["model"],
    )
    assert facts["Seed"] == image["seed"]
    assert facts["Set"] == f"{document['links'][0]['source']}: " + page.locator(
        "#detail .film-row h3"
    ).nth(1).inner_text().removeprefix("asked for ")
    rows = viewer.locator("tbody tr")
    assert {
        row.locator("th").inner_text(): row.locator("td").first.inner_text() for row in rows.all()
    } == answers[image["id"]]
    page.keyboard.press("ArrowRight")
    assert "3 of 12" in viewer.locator("h2").inner_text()
    third = page.locator("#detail .film-row").nth(1).locator(".picture").nth(2)
    close_picture(page, f".film .picture[data-image='{third.get_attribute('data-image')}']")
    assert page.locator("#detail").is_visible(), "Escape closed the picture alone"


def test_pictures_by_keyboard(page: Any, document: Json) -> None:
    first = page.locator("#seen .picture").first
    first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.dataset.image") == page.locator(
        "#seen .picture"
    ).last.get_attribute("data-image")
    assert page.locator("#seen .picture[tabindex='0']").count() == 1, "one stop of the Tab key"
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    viewer = page.locator("dialog.viewer")
    assert viewer.locator("h2").inner_text() == "initial images · 1 of 8"
    assert viewer.get_by_role("button", name="Back").is_disabled()
    viewer.locator("select").first.focus()
    page.keyboard.press("ArrowRight")
    assert "1 of 8" in viewer.locator("h2").inner_text(), "a list keeps its keys"
    close_picture(page, "#seen .picture:first-child")


def test_a_page_apart_from_its_run_opens_what_it_holds(
    open_page: Open, run: Path, tmp_path: Path
) -> None:
    biasgraph("report", run, "-o", tmp_path / "apart.html")
    page = open_page(tmp_path / "apart.html", width=390)
    page.locator("#seen .picture").first.click()
    large = page.locator("dialog.viewer img")
    assert large.get_attribute("src").startswith("data:image/png")
    assert large.evaluate("one => one.decode().then(() => one.naturalWidth)") == 64
    assert fits(page)


def test_pictures_without_room_are_links_that_load_when_seen(
    open_page: Open, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_module, "PAGE", 0)
    (run / "links.html").write_bytes(report_html(load(run)))
    page = open_page(run / "links.html")
    first = page.locator("#seen .picture img").first
    assert first.get_attribute("src").startswith("images/")
    assert first.get_attribute("loading") == "lazy"
    assert first.evaluate("one => one.decode().then(() => one.naturalWidth)") == 64
    first.click()
    assert page.locator("dialog.viewer img").get_attribute("src").startswith("images/")


def correct(page: Any, picture: int, axis: str, answer: str) -> str:
    """Say what is right about the judge's answer; returns the image's id."""
    button = page.locator("#seen .picture").nth(picture)
    button.click()
    page.get_by_label(f"What is right about {axis}").select_option(label=answer)
    close_picture(page, f"#seen .picture:nth-child({picture + 1})")
    return str(shown_image(page, button)["id"])


def test_corrections_come_to_agreement_and_are_no_sample(
    open_apart: Open, run: Path, tmp_path: Path, answers: dict[str, dict[str, str]]
) -> None:
    page = open_apart(run / "report.html")
    page.locator("#seen .picture").first.click()
    assert page.locator("dialog .corrections button").is_disabled()
    close_picture(page, "#seen .picture:first-child")
    one = correct(page, 0, "gender", "cannot tell")
    label = next(age for age in ("young", "middle", "old") if age != answers[one]["age"])
    correct(page, 0, "age", label)
    two = correct(page, 3, "gender", "nobody in the image")
    correct(page, 3, "emotion", "cannot tell")
    correct(page, 3, "emotion", "as the judge says")
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    page.locator("#seen .picture").first.click()
    status = page.locator("dialog .corrections [role='status']")
    assert status.inner_text().startswith("3 corrections, kept in this browser")
    with page.expect_download() as waiting:
        page.locator("dialog .corrections button").click()
    assert waiting.value.suggested_filename == "corrections.csv"
    file = tmp_path / "corrections.csv"
    waiting.value.save_as(file)
    close_picture(page, "#seen .picture:first-child")
    with file.open(newline="", encoding="utf-8-sig") as opened:
        rows = list(csv.DictReader(opened))
    assert {(row["image"], row["target"], row["answer"], row["judge_said"]) for row in rows} == {
        (one, "gender", "unknown", answers[one]["gender"]),
        (one, "age", label, answers[one]["age"]),
        (two, "gender", "gated", answers[two]["gender"]),
    }
    assert {row["sample"] for row in rows} == {"corrections"}
    said = forked.biasgraph("agreement", str(run), "--with", str(file), "--json")
    assert said.returncode == 0, said.stderr
    record = json.loads(said.stdout)
    assert record["reference"]["sample"] == "corrections"
    counts = {axis["axis"]: axis["n"] for axis in record["axes"]}
    assert (counts["gender"], counts["age"], sum(counts.values())) == (2, 1, 3)
    assert all(axis["kappa"] is axis["accuracy"] is None for axis in record["axes"])
    assert not (run / "agreement.json").exists(), "a run is not validated by its corrections"
    shown = forked.biasgraph("agreement", str(run), "--with", str(file))
    assert "picked because the judge looked wrong" in " ".join(shown.stdout.split())


def test_a_browser_that_keeps_nothing_loses_no_correction(open_apart: Open, run: Path) -> None:
    page = open_apart(run / "report.html")
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    for place, axis in ((0, "gender"), (0, "age"), (3, "gender")):
        correct(page, place, axis, "cannot tell")
    page.locator("#seen .picture").first.click()
    status = page.locator("dialog .corrections [role='status']").inner_text()
    assert status.startswith("3 corrections, not kept by this browser")


def test_a_damaged_store_stops_no_page(open_apart: Open, run: Path) -> None:
    page = open_apart(run / "report.html")
    correct(page, 0, "gender", "cannot tell")
    page.evaluate("for (const key of Object.keys(localStorage)) localStorage[key] = '[[\"x\",1]]'")
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    page.locator("#seen .picture").first.click()
    assert page.locator("dialog .corrections button").is_disabled()


def unfold_pictures(page: Any) -> Any:
    """Open the browser of all pictures; returns where it says how many there are."""
    page.locator("#browser summary").click()
    page.locator("#browser .picture").first.wait_for()
    return page.locator("#browser details [role='status']")


def option(page: Any, select: int, words: str) -> str:
    """Choose in a filter, ASKED or SAID; returns how many pictures that leaves."""
    page.locator("#browser select").nth(select).select_option(label=words)
    return str(page.locator("#browser details [role='status']").inner_text())


def test_all_pictures_by_what_was_asked_and_what_was_said(
    page: Any, run: Path, answers: dict[str, dict[str, str]]
) -> None:
    with (run / "answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    male = {row["image"] for row in rows if row["attribute"] == "male"}
    initial = {row["image"] for row in rows if row["role"] == "initial"}
    status = unfold_pictures(page)
    whole = f"{len(answers)} of {len(answers)} pictures"
    assert status.inner_text() == whole
    pictures = page.locator("#browser .picture")
    assert pictures.count() < len(answers), "drawn when they are scrolled to"
    for label, asked in (("gender: male", male), ("initial images", initial)):
        assert option(page, ASKED, label) == f"{len(asked)} of {len(answers)} pictures"
        said = [image for image in asked if answers[image]["gender"] == "female"]
        told = option(page, SAID, "gender: female")
        assert told == f"{len(said)} of {len(answers)} pictures"
        shown = {shown_image(page, one)["id"] for one in pictures.all()}
        assert shown == set(said)
        option(page, SAID, "anything")
    option(page, ASKED, "anything")
    for words, answer in (("unknown", "unknown"), ("nobody in the image", "gated")):
        kept = [image for image, said in answers.items() if answer in said.values()]
        told = option(page, SAID, f"{words}, about any axis")
        assert told == f"{len(kept)} of {len(answers)} pictures"
    option(page, SAID, "anything")
    pictures.first.click()
    heading = page.locator("dialog.viewer h2")
    assert heading.inner_text() == f"all pictures · 1 of {len(answers)}"
    for _ in range(70):
        page.keyboard.press("ArrowRight")
    close_picture(page, "#browser .picture:nth-child(71)")  # the one that was seen last


def test_a_folder_of_pictures_has_them_too(open_page: Open, run: Path, tmp_path: Path) -> None:
    folder, audit = tmp_path / "some pictures", tmp_path / "audit"
    biasgraph("export", run, "--to", "folder", "-o", folder)
    options = ["--only", "gender,age", "--min-valid", "4", "--bootstrap", "100", "--quiet"]
    biasgraph("build", "--model", f"folder:{folder}", "--vqa", "sandbox", "-o", audit, *options)
    page = open_page(audit / "report.html", width=390, scheme="dark")
    told = unfold_pictures(page).inner_text()
    expected = load(audit).answers["image"].nunique()
    assert told == f"{expected} of {expected} pictures"
    page.locator("#browser .picture").last.click()
    page.wait_for_function("() => document.querySelector('dialog img').src.startsWith('file:')")
    assert fits(page)


def test_hostile_prompts_and_answers_stay_text(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = "<img src=x onerror=alert(1)>\u202e"
    monkeypatch.setattr(judged_run, "PROMPT", prompt)
    directory = judged_run.judged_run(tmp_path / 'a "run" & more', images=4)
    (directory / "report.html").write_bytes(report_html(load(directory)))
    page = open_page(directory / "report.html")
    page.locator("#seen .picture").first.click()
    page.wait_for_function("() => document.querySelector('dialog img').src.startsWith('file:')")
    prompt_shown = page.locator("dialog dd").first.inner_text()
    assert prompt_shown == "<img src=x onerror=alert(1)>\\u202e"
    assert page.locator("img[src='x']").count() == 0
