"""The page for labels, filled in by hand in a real browser, and what becomes of the labels."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from biasgraph.data.result import load
from biasgraph.io.writing import write_files
from tests.browser.conftest import biasgraph, browser_path, small_targets
from tests.shared_runs import copy_of

SAMPLE = 12


@pytest.fixture(scope="module")
def labelled(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run with a page of `SAMPLE` pictures."""
    copy = tmp_path_factory.mktemp("labelled") / "run"
    copy_of(run, copy)
    biasgraph("label", copy, "--sample", str(SAMPLE))
    return copy


def answers_of(run: Path) -> dict[tuple[str, str], str]:
    """(image, axis) -> what the run's judge said."""
    frame = load(run).answers.astype(str)
    rows = frame[["image", "target", "answer"]].itertuples(index=False)
    return {(image, axis): said for image, axis, said in rows}


def model_of(page: Any) -> dict[str, Any]:
    return dict(page.evaluate("window.biasgraph.model"))


def press(page: Any, question: dict[str, Any], answer: str) -> None:
    choices = question["choices"]
    page.keyboard.press(str(choices.index(answer) + 1) if answer in choices else "0")


def radio(page: Any, question: str, answer: str) -> Any:
    """The button of an answer, -1 being the one that cannot tell."""
    asked = model_of(page)["questions"]
    place = next(i for i, one in enumerate(asked) if one["text"].startswith(question))
    choices = asked[place]["choices"]
    value = choices.index(answer) if answer in choices else -1
    return page.locator("fieldset").nth(place).locator(f"input[value='{value}']")


def saved(page: Any, path: Path) -> list[dict[str, str]]:
    with page.expect_download() as download:
        page.get_by_role("button", name="Download labels.csv").click()
    assert download.value.suggested_filename == "labels.csv"
    download.value.save_as(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_labels_by_keyboard_come_back_as_agreement(
    labelled: Path, open_apart: Callable[..., Any], tmp_path: Path
) -> None:
    page = open_apart(labelled / "label.html")
    model, judge = model_of(page), answers_of(labelled)
    for place, image in enumerate(model["images"]):
        said = {axis: answer for (name, axis), answer in judge.items() if name == image["image"]}
        assert page.locator("#caption").inner_text() == f"Picture {place + 1} of {SAMPLE}"
        gated = "gated" in said.values()
        press(page, model["questions"][0], "no" if gated else "yes")
        for question in model["questions"][1:]:
            if not gated:
                press(page, question, said[question["axis"]])
        if place < SAMPLE - 1:
            page.keyboard.press("Enter")
    assert "All pictures are done" in page.locator("#done").inner_text()
    page.get_by_label("Your name or initials").fill("=Ada; B.")
    rows = saved(page, tmp_path / "labels.csv")
    assert {row["picture"] for row in rows} == {image["picture"] for image in model["images"]}
    assert {row["annotator"] for row in rows} == {"'=Ada; B."}  # no spreadsheet runs it

    biasgraph("agreement", labelled, "--with", tmp_path / "labels.csv", "--quiet")
    found = json.loads((labelled / "agreement.json").read_text("utf-8"))
    assert found["images"] == SAMPLE and found["reference"]["kind"] == "labels"
    for axis in found["axes"]:
        assert axis["accuracy"] == 1 and axis["kappa"] in (1, None)
        assert axis["n"] == SAMPLE
    assert any(axis["kappa"] == 1 for axis in found["axes"])
    section = open_apart(labelled / "report.html").locator("#agreement-section")
    assert section.is_visible() and "labels.csv" in section.inner_text()
    assert section.locator(".confusion").count() == len(found["axes"])


@pytest.mark.slow(reason="a page and a browser of its own; labels by keyboard stay")
def test_what_was_answered_is_there_after_a_reload(
    labelled: Path, open_apart: Callable[..., Any], tmp_path: Path
) -> None:
    page = open_apart(labelled / "label.html")
    gender = radio(page, "What is the gender", "female")
    radio(page, "Is there a person", "yes").check()
    gender.check()
    radio(page, "What is the age", "cannot tell").check()
    page.keyboard.press("Enter")
    wait_until_saved(page)
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.locator("#caption").inner_text() == f"Picture 2 of {SAMPLE}"
    page.keyboard.press("b")
    assert gender.is_checked()
    given = [(row["target"], row["answer"]) for row in saved(page, tmp_path / "labels.csv")]
    assert given == [("", "yes"), ("gender", "female"), ("age", "unknown")]


def beside(page: Any, path: Path) -> Any:
    """Another tab of the same browser."""
    tab = page.context.new_page()
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-ready]", state="attached")
    return tab


WRITE = """() => new Promise((done) => {
  const opening = indexedDB.open("biasgraph-labels");
  opening.onsuccess = () => {
    const write = opening.result.transaction("biasgraph-labels", "readwrite");
    write.objectStore("biasgraph-labels").count();
    write.oncomplete = () => done(opening.result.close());
  };
})"""


def wait_until_saved(page: Any) -> None:
    """Until a write after all of the page's is done."""
    page.evaluate(WRITE)
    page.locator("#saved", has_text=re.compile("^Saved")).wait_for()


@pytest.mark.slow(reason="a page and a browser of its own; labels by keyboard stay")
def test_a_page_with_other_questions_begins_anew(
    labelled: Path, open_apart: Callable[..., Any], tmp_path: Path
) -> None:
    paths = {axis: tmp_path / f"{axis}.html" for axis in ("gender", "age")}
    for axis, path in paths.items():
        biasgraph("label", labelled, "--sample", "6", "--only", axis, "-o", path)
    page = open_apart(paths["gender"])
    for _ in range(3):
        radio(page, "Is there a person", "yes").check()
        radio(page, "What is the gender", "female").check()
        page.keyboard.press("Enter")
    assert page.locator("#done").inner_text() == "3 of 6 done"
    wait_until_saved(page)
    other = beside(page, paths["age"])
    assert other.locator("#done").inner_text() == "0 of 6 done"
    assert other.get_by_role("button", name="Download labels.csv").is_disabled()
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.locator("#done").inner_text() == "3 of 6 done"


@pytest.mark.slow(reason="a page and a browser of its own; labels by keyboard stay")
def test_two_tabs_add_to_each_other(
    labelled: Path, open_apart: Callable[..., Any], tmp_path: Path
) -> None:
    left = open_apart(labelled / "label.html")
    right = beside(left, labelled / "label.html")
    radio(left, "Is there a person", "yes").check()
    radio(left, "What is the gender", "female").check()
    wait_until_saved(left)
    right.keyboard.press("Enter")
    radio(right, "Is there a person", "no").check()
    wait_until_saved(right)
    left.get_by_text("3 answers", exact=True).wait_for()
    right.get_by_text("3 answers", exact=True).wait_for()
    left.reload()
    left.wait_for_selector("html[data-ready]", state="attached")
    given = [(row["target"], row["answer"]) for row in saved(left, tmp_path / "labels.csv")]
    assert given == [("", "yes"), ("gender", "female"), ("", "no")]


@pytest.mark.slow(reason="a page and a browser of its own; labels by keyboard stay")
def test_answers_survive_a_killed_browser(chromium: Any, labelled: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile"

    def open_again() -> Any:
        context = chromium.browser_type.launch_persistent_context(
            profile, executable_path=browser_path(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = context.pages[0]
        page.goto((labelled / "label.html").as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    page = open_again()
    radio(page, "Is there a person", "yes").check()
    radio(page, "What is the gender", "female").check()
    wait_until_saved(page)
    browser = int(os.readlink(profile / "SingletonLock").rpartition("-")[2])
    os.kill(browser, signal.SIGKILL)
    (profile / "SingletonLock").unlink(missing_ok=True)
    page = open_again()
    assert page.locator("#how-many").inner_text() == "2 answers"
    page.context.close()


@pytest.mark.slow(reason="a page and a browser of its own; labels by keyboard stay")
def test_a_browser_that_keeps_nothing_says_so(
    labelled: Path, open_apart: Callable[..., Any]
) -> None:
    page = open_apart(labelled / "label.html")
    page.add_init_script("delete Object.getPrototypeOf(window).indexedDB; delete window.indexedDB")
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.locator("#saved").inner_text() == "Not saved"
    assert "download the labels before you close it" in page.locator("#kept").inner_text()
    radio(page, "Is there a person", "yes").check()
    assert page.locator("#how-many").inner_text() == "1 answer"


@pytest.mark.slow(reason="a page and a browser of its own; labels by keyboard stay")
def test_an_empty_picture_asks_nothing_more(
    labelled: Path, open_apart: Callable[..., Any], tmp_path: Path
) -> None:
    page = open_apart(labelled / "label.html")
    age = radio(page, "What is the age", "old")
    age.check()
    radio(page, "Is there a person", "no").check()
    assert age.is_disabled() and not age.is_checked()
    assert page.locator("#done").inner_text() == f"1 of {SAMPLE} done"
    rows = saved(page, tmp_path / "labels.csv")
    assert [(row["target"], row["answer"]) for row in rows] == [("", "no")]
    radio(page, "Is there a person", "yes").check()
    assert age.is_checked()  # a slip costs nothing


@pytest.mark.slow(reason="a page and a browser of its own; labels by keyboard stay")
def test_it_can_be_walked_without_a_mouse(labelled: Path, open_apart: Callable[..., Any]) -> None:
    page = open_apart(labelled / "label.html")
    names = []
    for _ in range(14):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate("document.activeElement.closest('fieldset')?.querySelector('legend')"
                          "?.textContent || document.activeElement.textContent.trim()")
        )  # fmt: skip
    assert names[0] == "To the questions"
    asked = next(name for name in dict.fromkeys(names) if "?" in name)
    assert asked.startswith("Is there a person")
    assert any(name.startswith("Next") for name in names)
    radio(page, "What is the gender", "male").focus()
    page.keyboard.press("Space")
    radio(page, "What is the gender", "male").focus()
    page.keyboard.press("ArrowRight")
    assert radio(page, "What is the gender", "female").is_checked()


@pytest.mark.slow(reason="a page and a browser of its own; labels by keyboard stay")
def test_every_picture_has_a_name_and_every_answer_a_question(
    labelled: Path, open_apart: Callable[..., Any]
) -> None:
    page = open_apart(labelled / "label.html", width=390, scheme="dark")
    page.locator("details").first.evaluate("one => { one.open = true }")
    assert small_targets(page) == []
    assert page.locator("#picture").get_attribute("alt") == "Picture 1"
    fields = page.locator("fieldset")
    assert all(fields.nth(i).locator("legend").inner_text() for i in range(fields.count()))
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("#places button, .places button").count() == SAMPLE


@pytest.mark.slow(reason="a page and a browser of its own; labels by keyboard stay")
def test_hostile_questions_stay_text(
    labelled: Path, open_apart: Callable[..., Any], tmp_path: Path
) -> None:
    page = (labelled / "label.html").read_text("utf-8")
    evil = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\\u202e"
    quoted = json.dumps(evil)[1:-1].replace("<", "\\u003c").replace(">", "\\u003e")
    start = page.index('"labels":["male"') + len('"labels":["')
    changed = page[:start] + quoted + page[start + len("male"):]  # fmt: skip
    write_files(tmp_path, {"label.html": changed.encode()})
    opened = open_apart(tmp_path / "label.html")
    assert "<img src=x onerror" in opened.locator("#questions").inner_text()
    assert opened.locator("#questions img").count() == 0
