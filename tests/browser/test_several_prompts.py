"""The report of several prompts leads to those of each, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from biasgraph.io.folder_names import folder_name
from tests.answer_tables import librarian_table
from tests.browser.conftest import Open, biasgraph

PROMPTS = ("a librarian", "a 100 % “nurse” #1?", "a cook")


def test_the_way_to_a_prompt_and_back(open_page: Open, tmp_path: Path) -> None:
    tables = [librarian_table(images=20, prompt=one, seed=i) for i, one in enumerate(PROMPTS)]
    pd.concat(tables).to_csv(tmp_path / "answers.csv", index=False)
    run = tmp_path / "out"
    options = ["--alpha", "0.01", "--bootstrap", "200", "--quiet", "-o", run]
    biasgraph("build", "--answers", tmp_path / "answers.csv", *options)
    biasgraph("report", run)
    document = json.loads((run / "graph.json").read_text())
    [link] = [one for one in document["links"] if one["source"] == "gender"]

    page = open_page(run / "report.html")
    assert page.locator("h1").inner_text() == "3 prompts"
    assert page.locator("#grid tbody th a").all_inner_texts() == list(PROMPTS)
    page.click("#matrix td .edge")
    prompts = page.locator("#detail .numbers > div", has=page.get_by_text("Prompts", exact=True))
    assert float(prompts.locator("data").get_attribute("value")) == link["n_prompts"] == 3
    mean = page.locator("#detail .numbers > div", has=page.get_by_text("Mean IS of the prompts"))
    values = [float(one.get_attribute("value")) for one in mean.locator("data").all()]
    assert values == [link["is_mean_prompt"], link["n_mean_prompts"]]
    page.locator("#detail .more summary").click()
    assert "Cochran-Mantel-Haenszel" in page.locator("#detail").inner_text()

    with page.expect_navigation():
        page.locator("#grid tbody th a").nth(1).click()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert PROMPTS[1] in page.locator("h1").inner_text()
    with page.expect_navigation():
        page.get_by_text("the graph of all prompts").click()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.locator("h1").inner_text() == "3 prompts"


@pytest.mark.slow(reason="a build of several prompts")
def test_pages_of_prompts_show_the_pictures_of_the_run(open_page: Open, tmp_path: Path) -> None:
    (tmp_path / "prompts.txt").write_text("a librarian\na nurse\n")
    run = tmp_path / "run"
    options = ["--images", "2", "--only", "gender", "--controls", "0", "--min-valid", "2"]
    options += ["--bootstrap", "100", "--annotate", "none", "--quiet", "-o", run]
    biasgraph("build", "--prompts", tmp_path / "prompts.txt", *options)
    page = run / "prompts" / folder_name("a nurse") / "report.html"
    assert b"data:image/png" not in page.read_bytes()
    shown = open_page(page).locator("img").first
    assert shown.get_attribute("src").startswith("../../images/")
    assert shown.evaluate("image => image.decode().then(() => image.naturalWidth)") == 64
    alone = tmp_path / "alone.html"
    biasgraph("report", page.parent, "-o", alone)
    assert b"data:image/png" in alone.read_bytes()
    assert b"../../images/" not in alone.read_bytes()
