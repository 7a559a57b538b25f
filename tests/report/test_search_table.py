"""found.csv: a row for each prompt."""

from __future__ import annotations

import csv
import io

import pandas as pd

from biasgraph.io.csv_files import to_csv
from biasgraph.report.search_table import found_frame
from tests.found import Json, found_document


def rows(document: Json) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(found_frame(document)).decode("utf-8-sig"))))


def test_every_prompt_is_a_row() -> None:
    document = found_document()
    found = rows(document)
    assert [row["number"] for row in found] == [str(one["number"]) for one in document["prompts"]]
    for row, one in zip(found, document["prompts"], strict=True):
        assert row["prompt"] == (one["prompt"] or "")
        assert row["names"] == "; ".join(one["names"])
        share = one["shares"]["age"]
        assert row["share age"] == ("" if share is None else str(share))
    assert found[25]["method"] == "search" and found[25]["lambda"] == "10.0"
    assert found[0]["toy"] == document["toy"]
    assert "toy" not in rows(found_document(toy=None))[0]


def test_what_is_undefined_is_missing() -> None:
    frame = found_frame(found_document())
    failed = frame[frame["reason"] == "no text that could be used"]
    assert len(failed) == 1
    for name in ("prompt", "score", "share gender", "probability gender", "perplexity"):
        assert pd.isna(failed.iloc[0][name])


def test_a_prompt_that_a_spreadsheet_would_run_is_text() -> None:
    [text] = {row["prompt"] for row in rows(found_document(prompts=["=cmd|' /C calc'!A0"]))
              if "calc" in row["prompt"]}  # fmt: skip
    assert text.startswith("'=")


def test_nothing_found_has_its_columns() -> None:
    document = found_document() | {"prompts": []}
    assert list(found_frame(document).columns)[:5] == [
        "number", "cell", "method", "lambda", "prompt",
    ]  # fmt: skip
    assert rows(document) == []
