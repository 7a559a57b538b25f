"""The sentences that the terminal and the page share; most are read in test_terminal.py."""

from __future__ import annotations

import copy
from typing import Any

import pandas as pd
import pytest

import biasgraph
from biasgraph.report import verdict_words, words
from biasgraph.report.caveats import caveats
from biasgraph.report.lead import lead as lead_of
from biasgraph.report.power_words import say_needed
from tests.answer_tables import librarian_table

Json = dict[str, Any]


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    return biasgraph.analyze(librarian_table(), bootstrap=100)


def lead(document: Json, result: biasgraph.Result) -> str:
    return words.plain(" ".join(lead_of(document, result.pair_records())))


def all_of(pair: Json, document: Json) -> str:
    """A finding and what it rests on."""
    told = verdict_words.finding(pair, document), verdict_words.evidence(pair, document)
    return words.plain(" ".join(told))


def test_the_lead_says_what_most_images_show(result: biasgraph.Result) -> None:
    text = lead(result.document, result)
    assert text.startswith("Of 48 images of “a librarian”, the judge's answers say ")
    for node in result.document["nodes"]:
        if not node["near_ideal"]:
            share = max(node["initial"]["distribution"])
            most = node["attributes"][node["initial"]["distribution"].index(share)]
            assert f"{node['id']}: {words.percent(share)} {most}" in text
    assert (
        "In 1 of 6 pairs, what is asked of one axis decides another, and it is clear whether"
        in text
    )


def test_where_no_link_was_found_the_lead_says_what_it_would_take(
    result: biasgraph.Result,
) -> None:
    document = copy.deepcopy(result.document) | {"links": []}
    pairs = [pair | {"edge": False, "verdict": "undecided"} for pair in result.pair_records()]
    hardest = max(pair["detectable_v_80"] for pair in words.between(pairs))
    images = -int(-48 * (hardest / 0.3) ** 2 // 1)
    text = words.plain(" ".join(lead_of(document, pairs)))
    assert images > 48
    assert text.endswith(
        "No link was found in any of 6 pairs. That is no proof of independence: to see a link of "
        f"V = 0.3 in 80 % of cases takes about {images} images of each prompt instead of 48."
    )
    document["graph"]["images"]["interventions"] -= 1
    assert f"takes about {(hardest / 0.3) ** 2:.1f} times as many" in str(
        say_needed(document, pairs)
    )
    document["graph"]["settings"]["min_v"] = 0.99
    assert say_needed(document, pairs) == (
        "Each of 6 pairs had a chance of at least 80 % to show a link of V = 0.99."
    )
    assert say_needed(document, [pair | {"status": "insufficient"} for pair in pairs]) is None


def test_the_lead_claims_no_direction_that_is_undetermined(result: biasgraph.Result) -> None:
    document = copy.deepcopy(result.document)
    document["links"][0]["sign"] = "undetermined"
    assert "decides another, but it is not clear whether" in lead(document, result)


def test_the_lead_of_a_run_too_small() -> None:
    few = biasgraph.analyze(librarian_table(images=8), bootstrap=100)
    text = lead(few.document, few)
    assert "The 8 images of “a librarian” are too few to say how far they are" in text
    assert "from the ideal; it takes 16." in text
    assert "No pair of axes could be tested." in text


def test_the_lead_counts_what_was_judged_and_tested() -> None:
    """Shares are of the valid answers, and only tested pairs can lack an edge."""
    table = librarian_table()
    table = table[table["axis"] != "age"].copy()
    lost = (table["role"] == "initial") & (table["target"] == "gender")
    table.loc[table.index[lost][:12], "answer"] = "unknown"
    found = biasgraph.analyze(table, bootstrap=100)
    text = lead(found.document, found)
    assert found.document["nodes"][0]["initial"]["n_valid"] == 36
    assert "(of those with a valid answer: 36 to 48)." in text
    assert "of 4 pairs" in text


@pytest.mark.parametrize(
    ("verdict", "sign", "expected", "never"),
    [
        ("towards", "towards", "gender moves clothing towards its ideal. IS ", "away"),
        ("away", "away", "gender moves clothing away from its ideal. IS ", "towards"),
        ("edge_undetermined", "undetermined", "gender decides clothing; the direction in which "
         "diversifying moves it lies within chance. IS ", "ideal:"),
        ("below_delta", "undetermined", "gender decides clothing, but diversifying changes the "
         "distance to the ideal by less than 0.05. IS ", "moves"),
        ("common_shift", "undetermined", "Whatever is asked of gender shifts clothing; no "
         "difference between the requests is shown. IS ", "moves"),
        (None, "undetermined", "the direction in which diversifying moves it lies within chance",
         "towards"),
    ],
)  # fmt: skip
def test_a_finding_comes_with_its_interval_p_images_and_ideal(
    result: biasgraph.Result, verdict: str | None, sign: str, expected: str, never: str
) -> None:
    [link] = result.document["links"]
    told = link | {"verdict": verdict, "sign": sign, "flags": []}
    text = all_of(told, result.document)
    assert expected in text
    assert never not in text.split("; ideal")[0]
    for number in ("is", "is_ci_low", "is_ci_high"):
        assert f"{link[number]:+.3f}" in text
    assert f"p = {words.p_value(link['p'])}" in text
    assert "96 counterfactual and 48 initial images with a valid answer; ideal: uniform." in text


def test_near_the_ideal_the_sensitivity_at_equal_sizes_is_quoted(result: biasgraph.Result) -> None:
    [link] = result.document["links"]
    text = all_of(link | {"flags": ["near_ideal"]}, result.document)
    assert f"IS at equal sample sizes {link['is_matched']:+.3f} [" in text
    assert f"{link['is_matched_ci_low']:+.3f}" in text
    assert f"IS {link['is']:+.3f}" not in text


def test_a_direction_that_rewordings_do_not_confirm_is_not_told(result: biasgraph.Result) -> None:
    [link] = result.document["links"]
    told = link | {
        "verdict": "edge_undetermined",
        "sign": "undetermined",
        "flags": ["wording"],
        "is_controlled": 0.01,
        "is_controlled_ci_low": -0.1,
        "is_controlled_ci_high": 0.12,
    }
    text = all_of(told, result.document)
    assert "within chance; neutral rewordings do not confirm a direction. IS " in text
    assert "(+0.010 [-0.100, +0.120] from neutral rewordings)" in text


def test_common_shifts_are_told_first_by_their_p() -> None:
    shifts: list[Json] = [
        {"source": "a", "target": "b", "verdict": "common_shift", "shift_p": 0.01},
        {"source": "a", "target": "c", "verdict": "common_shift", "shift_p": 0.001},
        {"source": "b", "target": "c", "verdict": "undecided", "shift_p": 0.0001},
    ]
    assert [pair["shift_p"] for pair in verdict_words.pick_shifts(shifts)] == [0.001, 0.01]


def test_findings_with_a_direction_come_first() -> None:
    links: list[Json] = [
        {"is": 0.9, "sign": "undetermined"},
        {"is": 0.1, "sign": "towards"},
        {"is": -0.3, "sign": "away"},
        {"is": 0.2, "sign": None},
    ]
    assert [link["is"] for link in verdict_words.strongest(links)] == [-0.3, 0.1, 0.9]


def test_every_pair_is_told(result: biasgraph.Result) -> None:
    told = {}
    for record in result.pair_records():
        link = next(
            (one for one in result.document["links"]
             if (one["source"], one["target"]) == (record["source"], record["target"])), {}
        )  # fmt: skip
        pair = record | link
        text = words.plain(verdict_words.about_pair(pair, result.document))
        told[pair["source"], pair["target"]] = text
    assert told["gender", "gender"].startswith("Images made for each attribute of gender")
    assert "Diversifying gender moves clothing" in told["gender", "clothing"]
    undecided = result.pair_records()
    open_, bounded = (
        words.plain(verdict_words.about_pair(pair | {"verdict": verdict, "v_high": 0.25}, document))
        for document in [result.document]
        for pair in undecided
        if (pair["source"], pair["target"]) == ("age", "gender")
        for verdict in ("undecided", "below_min_v")
    )
    assert "That does not prove them independent: V = " in open_
    assert "If there is a link, it is below V = 0.3: at most 0.25, with 95 %" in bounded


def test_a_pair_cut_by_its_sensitivity_alone(result: biasgraph.Result) -> None:
    document = copy.deepcopy(result.document)
    document["graph"]["edge_rule"] = {"alpha": 0.05, "fdr": None, "min_is": 0.5, "stratified": True}
    [link] = document["links"]
    cut = {**link, "edge": False, "flags": ["below_min_is"]}
    text = words.plain(verdict_words.about_pair(cut, document))
    assert "differs between the images made for gender" in text
    assert "but |IS| is below 0.5, so it is not an edge" in text
    del document["graph"]["edge_rule"]["min_is"]  # as earlier versions wrote it
    assert "but |IS| is below 0, so" in words.plain(verdict_words.about_pair(cut, document))
    assert words.edge_rule(document["graph"])["alpha"] == 0.05


def test_labels_show_what_hides_and_keep_joiners() -> None:
    assert words.label("a\u202eb\x07") == "a\\u202eb\\x07"
    woman = "\U0001f469\u200d\U0001f4bb"
    assert words.label(woman) == woman
    assert words.label("x" * 300, 10) == "xxxxxxxxx…"


def test_names_in_sentences_keep_their_direction_to_themselves() -> None:
    assert words.name("\u05d0\u2069\u05d1") == "\u2068\u05d0\\u2069\u05d1\u2069"
    assert words.plain(words.name("age")) == "age"


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ([0.2, 0.5], "2 pairs without an edge need not be independent: with this many images a "
         "link needs V = 0.20 to 0.50 to be detected in 80 % of cases."),
        ([0.9, 1.2], "a link needs V = 0.90 or more to be detected"),
        ([1.1], "1 pair without an edge need not be independent: with this many images not even "
         "V = 1 is detected in 80 % of cases."),
    ],
)  # fmt: skip
def test_no_link_is_stronger_than_one(limits: list[float], said: str) -> None:
    (sentence,) = verdict_words.describe_missed([{"detectable_v_80": limit} for limit in limits])
    assert said in sentence


@pytest.mark.parametrize("prompts", [1, 3])
def test_without_interventions_one_sentence_says_that_no_pair_is_tested(prompts: int) -> None:
    tables = [librarian_table(prompt=f"a librarian {i}", seed=i) for i in range(prompts)]
    table = pd.concat(tables)
    found = biasgraph.analyze(table[table["role"] == "initial"], bootstrap=100)
    document, pairs = found.document, found.pair_records()
    sentence = "No counterfactual images were given, so no pair of axes can be tested."
    text = lead(document, found)
    assert text.startswith(f"Of {48 * prompts} images of ") and text.endswith(sentence)
    assert not list(verdict_words.describe_undetermined(document, pairs))
    said = " ".join(caveats(document))
    assert "pair" not in said and "intervened" not in said and "amplification" not in said
    for part in found.prompts:
        assert lead(part.document, part).endswith(sentence)


def test_enough_images_with_too_few_answers_are_not_called_too_few() -> None:
    table = librarian_table(images=20).query("role == 'initial'")
    table.loc[~table["image"].str.contains(r"-[0-4]$"), "answer"] = "unknown"
    result = biasgraph.analyze(table, bootstrap=100)
    assert "Of the 20 images of “a librarian” too few have a valid answer" in lead(
        result.document, result
    )
    [undecided] = verdict_words.describe_undecided(result.document, result.pair_records())
    assert undecided.endswith("to measure the distance to the ideal (it takes 16).")


def test_notes_are_sentences_of_visible_characters() -> None:
    told = list(words.notes({"notes": ["a\x1b]52;x", "It ends.", "b" * 500]}))
    assert told[:2] == ["a\\x1b]52;x.", "It ends."]
    assert told[2] == "b" * 399 + "…"
