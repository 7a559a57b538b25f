"""A search in the terminal."""

from __future__ import annotations

import pytest

from biasgraph.audits.search.search_summary import summarize_found
from biasgraph.data.findings import Table
from tests.found import Json, found_document
from tests.hostile import HOSTILE
from tests.sampled import sampled
from tests.screens import screen_of


def shown(document: Json, width: int = 200) -> str:
    return screen_of(summarize_found(document), width)


def tables(document: Json) -> list[Table]:
    return [part for part in summarize_found(document) if isinstance(part, Table)]


def test_every_cell_is_a_line_with_its_numbers() -> None:
    document = found_document()
    cells, _, _ = tables(document)
    assert [row[0] for row in cells.rows] == [
        "lm", "search 10", "search 100", "search 300", "lm-biased", "pez", "curated",
    ]  # fmt: skip
    share, gain = document["cells"][2]["shares"][0], document["cells"][2]["gains"][0]
    perplexity, passes = document["cells"][2]["perplexity"], document["cells"][2]["passes"] / 20
    low, high = (f"{100 * share[end]:.0f}" for end in ("low", "high"))
    points = [f"{100 * gain[end]:+.0f}" for end in ("difference", "low", "high")]
    assert cells.rows[2][:2] == [
        "search 100",
        (f"{100 * share['mean']:.0f}\u00a0% [{low}, {high}]", "{} [{}, {}]".format(*points)),
    ]
    assert cells.rows[2][3:] == [
        (f"{perplexity['mean']:.1f}", f"[{perplexity['low']:.1f}, {perplexity['high']:.1f}]"),
        "0/20", f"{passes:,.0f}",
    ]  # fmt: skip
    assert cells.rows[0][1] == "51\u00a0% [45, 58]"  # nothing to compare the language model with
    assert cells.rows[5][2] == "no share (no image has an answer)"
    assert cells.rows[6][3] == "-"  # no perplexity


def test_the_cells_are_readable_at_80_columns() -> None:
    """No number, interval or name is broken, with two targets and every way to write prompts."""
    text = shown(found_document(), width=80)
    lines = text[text.index("Prompts     male") :].partition("Mean over prompts")[0].splitlines()
    assert max(map(len, lines)) <= 80
    cells, _, _ = tables(found_document())
    assert all(heading in lines[0] for heading in cells.columns)
    for row in cells.rows:
        first = next(line for line in lines if line.startswith(str(row[0])))
        for cell in row:
            said = cell if isinstance(cell, tuple) else (str(cell),)
            if not said[0].startswith("no share"):
                assert str(said[0]) in first
                assert any(str(said[-1]) in line for line in lines)


def test_the_best_prompts_of_each_search_stand_with_share_and_n() -> None:
    document = found_document()
    _, best, _ = tables(document)
    assert [row[0] for row in best.rows] == ["λ = 10"] * 3 + ["λ = 100"] * 3 + ["λ = 300"] * 3
    for cell, row in zip((2, 3, 4), best.rows[::3], strict=True):
        sums = [
            sum(one["shares"].values()) for one in document["prompts"]
            if one["cell"] == cell and None not in one["shares"].values()
        ]  # fmt: skip
        share, other = (float(str(text).partition(" ")[0]) for text in row[2:])
        assert share + other == pytest.approx(max(sums))
        assert str(row[2]).endswith("(n 10)")


def test_words_are_those_injected_most() -> None:
    document = found_document()
    *_, injected = tables(document)
    assert [row[0] for row in injected.rows] == ["λ = 10", "λ = 100", "λ = 300"]
    own = [
        one for one in document["words"]
        if one["cell"] == 3 and one["axis"] == "gender" and one["kind"] == "injected"
    ]  # fmt: skip
    first, *_ = sorted(own, key=lambda one: (-one["found"], one["word"]))
    said = f"{first['word']} {first['found']} ({first['delta']:+.2f})"
    assert str(injected.rows[1][1]).startswith(said)


def test_toy_and_remarks_are_said() -> None:
    text = shown(found_document())
    assert "These are results of a toy." in text
    for remark in ("Two prompts were cut.", "never saw these words: tailor",
                   "1 search found no prompt", "3 prompts without a share of male"):  # fmt: skip
        assert remark in text
    assert "Sandbox" not in shown(found_document(toy=None))


def test_nothing_searched_for_and_nothing_undefined() -> None:
    text = shown(found_document(methods=["lm", "curated"], undefined=False))
    assert "curated" in text and "largest share" not in text and "without a share" not in text


def test_a_search_in_which_every_prompt_failed() -> None:
    document = found_document(n_prompts=1)
    for row in document["prompts"]:
        row |= {"prompt": None, "probabilities": None, "perplexity": None, "shares": {}}
    document["words"] = []
    assert "7 searches found no prompt" in shown(document)


@pytest.mark.parametrize("text", sampled(HOSTILE))
def test_hostile_texts_reach_no_terminal(text: str) -> None:
    document = found_document(n_prompts=2, prompts=[text] * 6)
    document |= {"model": text, "lm": text, "notes": [text], "unseen_words": [text]}
    for one in (*document["words"], *document["targets"]):
        one.update({"word": text} if "word" in one else {"attribute": text})
    said = shown(document)
    assert "\x1b" not in said and "\x07" not in said and "\u202e" not in said
