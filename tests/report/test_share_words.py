"""Findings in pictures: every sentence of the sandbox's graph, taken apart and counted again."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasgraph
from biasgraph.report import verdict_words, words
from biasgraph.report.graph_summary import ReportInput, summarize
from biasgraph.report.lead import lead
from biasgraph.report.share_words import in_pictures
from tests.answer_tables import librarian_table
from tests.hostile import NAME
from tests.shared_runs import copy_run

Json = dict[str, Any]
SHARE = r"(\d+)\u00a0% \[(\d+), (\d+)\]"
MIXED = re.compile(rf"Asking for (.+) takes images called (.+) \((.+)\) from {SHARE} to {SHARE}\.")
ARMS = re.compile(
    rf"Of the images that ask for (.+) \((.+)\), {SHARE} are called (.+) \((.+)\); of those that "
    rf"ask for (.+), {SHARE}\."
)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("run") / "librarian"
    copy_run(
        directory, "build", "--prompt", "a librarian", "--images", "12", "--only",
        "gender,age,clothing,emotion", "--controls", "0", "--min-valid", "4", "--bootstrap", "200",
        "--alpha", "0.05", "--quiet",
    )  # fmt: skip
    return directory


def percents(*shares: float) -> tuple[str, ...]:
    return tuple(f"{share * 100:.0f}" for share in shares)


def counted_again(link: Json, document: Json) -> None:
    """Hold a link's sentence against the counts of graph.json."""
    text = words.plain(in_pictures(link, document) or "")
    nodes = {node["id"]: node for node in document["nodes"]}
    table, target = np.array(link["table"]), nodes[link["target"]]
    shares = table / table.sum(axis=1, keepdims=True)
    initial = dict(zip(target["attributes"], target["initial"]["distribution"], strict=True))
    if link["sign"] in ("towards", "away"):
        found = MIXED.fullmatch(text)
        assert found, text
        asked, called, axis, *numbers = found.groups()
        attributes = nodes[link["source"]]["attributes"]
        if len(attributes) > 3:
            assert asked == f"all {len(attributes)} of {link['source']} equally"
        else:
            assert asked == f"{words.join_words(attributes)} equally"
        after = dict(zip(link["columns"], shares.mean(axis=0), strict=True))
        change = {one: abs(after.get(one, 0.0) - share) for one, share in initial.items()}
        assert change[called] == pytest.approx(max(change.values()))
        assert axis == link["target"]
        before_after = percents(initial[called], after.get(called, 0.0))
        assert (numbers[0], numbers[3]) == before_after
    else:
        found = ARMS.fullmatch(text)
        assert found, text
        high, source, most, *ends, called, axis, low, least, low_end, high_end = found.groups()
        column = shares[:, link["columns"].index(called)]
        assert np.ptp(column) == np.ptp(shares, axis=0).max()
        assert (source, axis) == (link["source"], link["target"])
        told = column[link["rows"].index(high)], column[link["rows"].index(low)]
        assert (most, least) == percents(*told)
        assert told == (column.max(), column.min())
        numbers = [most, *ends, least, low_end, high_end]
    for share, low_text, high_text in (numbers[:3], numbers[3:]):
        assert 0 <= int(low_text) <= int(share) <= int(high_text) <= 100


def test_every_sentence_about_pictures_follows_from_graph_json(sandbox: Path) -> None:
    document = json.loads((sandbox / "graph.json").read_text())
    assert document["links"]
    for link in document["links"]:
        for sign in ("towards", "undetermined"):  # both sentences of every edge
            counted_again(link | {"sign": sign}, document)


def test_lead_page_and_terminal_say_the_same_sentence(sandbox: Path) -> None:
    result = biasgraph.load(sandbox)
    first = verdict_words.strongest(result.document["links"])[0]
    sentence = in_pictures(first, result.document)
    assert sentence and sentence in list(lead(result.document, result.pair_records()))
    assert verdict_words.finding(first, result.document).startswith(f"{sentence} ")
    parts = summarize(ReportInput(result.document, result.pair_records()))
    assert any(sentence in getattr(part, "rows", ()) for part in parts)


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    return biasgraph.analyze(librarian_table(), bootstrap=100)


def test_a_common_shift_tells_the_mixture_of_all_arms(result: biasgraph.Result) -> None:
    pair = next(one for one in result.pair_records() if one["source"] == "age" != one["target"])
    told = pair | {"verdict": "common_shift", "sign": "undetermined", "flags": []}
    text = words.plain(verdict_words.finding(told, result.document))
    assert MIXED.match(text)
    assert text.endswith("no difference between the requests is shown.")
    some = in_pictures(told | {"flags": ["missing_arms"]}, result.document)
    assert "Asking for some of age equally" in words.plain(some or "")


def test_arms_that_are_pooled_are_not_said_to_weigh_alike() -> None:
    pooled = biasgraph.analyze(librarian_table(), bootstrap=100, mix="pooled")
    [link] = pooled.document["links"]
    assert "equally" not in str(in_pictures(link | {"sign": "towards"}, pooled.document))


def test_runs_analysed_before_there_were_shares_keep_their_claim(result: biasgraph.Result) -> None:
    [link] = result.document["links"]
    old = {name: value for name, value in link.items() if name != "moved"}
    assert in_pictures(old, result.document) is None
    text = words.plain(verdict_words.finding(old, result.document))
    assert text == "Diversifying gender moves clothing towards its ideal."


def test_names_cannot_turn_a_sentence_around(result: biasgraph.Result) -> None:
    document = copy.deepcopy(result.document)
    [link] = document["links"]
    hostile = link | {"moved": NAME, "rows": [NAME, *link["rows"][1:]], "columns": [NAME] * 9}
    for sign in ("towards", "undetermined"):
        text = in_pictures(hostile | {"sign": sign}, document)
        assert text and words.visible(text) == text
