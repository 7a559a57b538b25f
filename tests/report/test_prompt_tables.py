"""What is said of prompts one by one, in the terminal, on the page and in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasgraph
from biasgraph.report import words
from biasgraph.report.caveats import caveats
from biasgraph.report.exports import csv_files, export
from biasgraph.report.graph_summary import ReportInput, summarize
from biasgraph.report.lead import describe_seen
from biasgraph.report.page import report_html
from tests.hostile import MARKUP
from tests.report.test_page import model_of
from tests.sampled import sampled
from tests.screens import one_line, screen_of

SHARES = {"a nurse": 0.04, "an engineer": 0.96, "a secretary": 0.02, "a pilot": 0.98}


def initial_table(shares: dict[str, float], images: int = 48, seed: int = 0) -> pd.DataFrame:
    """Four columns: how many are male differs between prompts, clothing and age do not."""
    rng = np.random.default_rng(seed)
    rows = []
    for prompt, share in shares.items():
        males = round(share * images)
        for i in range(images):
            answers = {
                "gender": "male" if i < males else "female",
                "age": rng.choice(["young", "middle", "old"], p=[0.8, 0.1, 0.1]),
                "clothing": ["formal", "casual"][i % 2],
                "mood": ["glad", "sad"][(i // 2) % 2],
            }
            rows += [(prompt, f"{prompt}-{i}", axis, answer) for axis, answer in answers.items()]
    return pd.DataFrame(rows, columns=["prompt", "image", "target", "answer"])


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    return biasgraph.analyze(initial_table(SHARES), bootstrap=200)


def screen(result: biasgraph.Result) -> str:
    prompts = [part.document for part in result.prompts]
    parts = summarize(ReportInput(result.document, result.pair_records(), prompts))
    return one_line(screen_of(parts))


def node(result: biasgraph.Result, axis: str) -> dict[str, Any]:
    return next(one for one in result.document["nodes"] if one["id"] == axis)


def test_the_lead_quotes_the_mean_where_the_sum_hides_it(result: biasgraph.Result) -> None:
    gender = node(result, "gender")
    assert gender["near_ideal"] and "prompts_cancel" in gender["flags"]
    first, second = map(words.plain, describe_seen(result.document))
    mean = words.with_ci(gender["w1_mean_prompt"], gender["w1_mean_prompt_ci"])
    assert first.startswith("One by one, the 4 prompts are further from the ideal than their sum")
    assert f"gender, on average {mean} (their sum: {gender['w1']:.3f})." in first
    assert second.startswith("Of 192 images of 4 prompts, the judge's answers say age: 7")
    assert "male" not in second


def test_one_sided_prompts_are_never_called_indistinguishable() -> None:
    only = initial_table(SHARES).query("target == 'gender'")
    found = biasgraph.analyze(only, bootstrap=200)
    told = [*describe_seen(found.document), *caveats(found.document)]
    assert not any("cannot be" in sentence for sentence in told)
    assert words.plain(told[0]).startswith("One by one, the 4 prompts are further")
    even = biasgraph.analyze(
        initial_table(dict.fromkeys(SHARES, 0.5)).query("target == 'gender'"), bootstrap=200
    )
    assert "cannot be distinguished from the ideal on any axis" in " ".join(
        describe_seen(even.document)
    )


def test_the_terminal_says_whether_prompts_differ_and_how(result: biasgraph.Result) -> None:
    text = screen(result)
    gender = node(result, "gender")
    assert "One by one, the 4 prompts" in text and "Prompt by prompt" in text
    mean = words.with_ci(gender["w1_mean_prompt"], gender["w1_mean_prompt_ci"])
    v = gender["prompts_test"]["cramers_v_corrected"]
    p = words.p_value(gender["prompts_test"]["p_adjusted"])
    null = gender["w1_mean_prompt_null"]["q95"]
    assert f"gender {mean} to {null:.3f} {gender['w1']:.3f} {v:.2f} {p}" in text
    assert "a nurse female 96%" in text
    assert "The 3 axes on which the prompts differ most; prompts.csv has all." in text
    assert "No counterfactual images were given, so no pair of axes can be tested." in text
    assert text.count("pair") == 1


def test_one_prompt_is_told_as_ever() -> None:
    [part, *_] = biasgraph.analyze(initial_table(SHARES), bootstrap=200).prompts
    text = screen(part)
    assert "One by one" not in text and "Prompt by prompt" not in text
    assert part.by_prompt.empty and "prompts.csv" not in part.files()


def test_every_prompt_and_axis_is_a_row(result: biasgraph.Result, tmp_path: Path) -> None:
    frame = result.by_prompt
    assert frame.shape[0] == 4 * 4
    nurse = frame[(frame["prompt"] == "a nurse") & (frame["axis"] == "gender")].iloc[0]
    own = next(one for one in result.prompts[0].document["nodes"] if one["id"] == "gender")
    assert nurse["attributes"] == ["male", "female"] and nurse["initial.counts"] == [2, 46]
    for name in ("w1", "w1_ci", "distribution_ci", "near_ideal", "status"):
        assert nurse[name] == own[name]
    biasgraph.save(result, tmp_path)
    cells = pd.read_csv(tmp_path / "prompts.csv")
    assert cells.columns.tolist() == frame.columns.tolist()
    assert json.loads(cells["initial.counts"][0]) == [2, 46]
    assert biasgraph.load(tmp_path).by_prompt.equals(frame)
    assert csv_files(result)["prompts.csv"] == (tmp_path / "prompts.csv").read_bytes()


def test_a_result_of_one_prompt_leaves_no_table_of_prompts(
    result: biasgraph.Result, tmp_path: Path
) -> None:
    biasgraph.save(result, tmp_path)
    biasgraph.save(biasgraph.analyze(initial_table({"a nurse": 0.1}), bootstrap=100), tmp_path)
    assert not (tmp_path / "prompts.csv").exists()


def test_parquet_has_the_prompts(result: biasgraph.Result, tmp_path: Path) -> None:
    export(result, ["parquet"], tmp_path)
    frame = pd.read_parquet(tmp_path / "prompts.parquet")
    assert frame["initial.counts"][0].tolist() == [2, 46]
    assert frame["w1"].dtype == np.float64 and frame["initial.n_valid"].dtype == np.int64


def test_the_page_has_a_table_for_each_axis(result: biasgraph.Result) -> None:
    page = report_html(result)
    found = model_of(page)["prompts"]
    titles = [title for _, title in found["tables"]]
    assert len(titles) == 4 and all("; mean distance of a prompt " in title for title in titles)
    assert words.plain(titles[0]).startswith("gender: prompts against")
    place = [one["id"] for one in result.document["nodes"]].index("gender")
    assert found["tables"][0][0] == place and found["sum"][place]["counts"] == [96, 96]
    counts = {row["label"]: row["cells"][place]["counts"] for row in found["rows"]}
    assert counts["a nurse"] == [2, 46] and counts["an engineer"] == [46, 2]
    assert "No counterfactual images were given" in page.decode()
    assert "No edge was found" not in page.decode()
    [part, *_] = result.prompts
    assert model_of(report_html(part))["prompts"] is None


@pytest.mark.parametrize("name", sampled(MARKUP))
def test_hostile_prompts_and_axes_are_harmless(name: str) -> None:
    table = initial_table({"a nurse": 0.1, "a pilot": 0.9}, images=20)
    table = table[table["target"] == "gender"].replace({"a nurse": name, "gender": f"x{name}"})
    found = biasgraph.analyze(table, bootstrap=100)
    assert "\x1b" not in screen(found)
    page = report_html(found)
    [[_, title]] = model_of(page)["prompts"]["tables"]
    assert "mean distance of a prompt" in title and "\x1b" not in title
    if "<" in name and name != "a & b < c > d":
        assert name not in page.decode()
