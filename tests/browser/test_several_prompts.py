"""The report of several prompts leads to those of each, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

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

    page.locator("#grid tbody th a").nth(1).click()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert PROMPTS[1] in page.locator("h1").inner_text()
    page.get_by_text("the graph of all prompts").click()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.locator("h1").inner_text() == "3 prompts"
