"""A ranking of prompts by MineTheGap's score, told in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from biasgraph.data.findings import Banner, Cell, Facts, ScreenPart, Sentences, Table
from biasgraph.methods.minethegap import describe_variations
from biasgraph.report import words

Record = Mapping[str, Any]

CAPTION = (
    "Score: how well the images span the variations of their prompt (MineTheGap, eq. 1); lower is "
    "more biased. Missed: the variation that no image comes near."
)
NULL = " Null: the score of as many images made from the variations themselves."


def summarize_scores(document: Record) -> list[ScreenPart]:
    """Where the scores come from, the ranking, and how it agrees with a reference.

    Args:
        document: What scores.json holds.
    """
    return [
        Banner(document["toy"]),
        Facts(list(_origin(document))),
        _ranking(document),
        Sentences("To keep in mind", [*words.notes(document), *_remarks(document)]),
    ]


def _origin(document: Record) -> Iterator[tuple[str, str]]:
    settings, prompts = document["settings"], len(document["prompts"])
    each = "" if prompts == 1 else "each of "
    yield "Model", document["model"]
    yield "Images", f"{settings['images']} of {each}{words.count_noun(prompts, 'prompt')}"
    if settings.get("vary"):
        number = max((row["n_variations"] for row in document["prompts"]), default=0)
        yield "Variations", f"{number:,}: {describe_variations(settings['vary'])}"
    else:
        yield "Variations", f"{settings['variations']} proposed by {document['proposed_by']}"
    yield "Embedder", document["embedder"]
    if document["truth"]:
        yield "Reference", _agreement(document["truth"])


def _agreement(truth: Record) -> str:
    about = f"{truth['source']}, {words.count_noun(truth['n'], 'prompt')}"
    if truth["rho"] is None:
        return f"{about}: Spearman's rho is undefined, {truth['reason']}"
    interval = "" if truth["low"] is None else f" [{truth['low']:.2f}, {truth['high']:.2f}]"
    reason = f" ({truth['reason']})" if truth["reason"] else ""
    return f"{about}: Spearman's rho {truth['rho']:.2f}{interval}{reason}"


def _ranking(document: Record) -> Table:
    numbers = {"Score": "score"}
    if document["settings"]["null"]:
        numbers["Null"] = "score_null"
    if document["truth"]:
        numbers["Reference"] = "truth"
    rows: list[list[Cell]] = [
        [
            str(row["rank"] or ""),
            row["prompt"],
            *(row.get(field) for field in numbers.values()),
            row["reason"] or (row["missed"][0]["text"] if row["missed"] else ""),
        ]
        for row in document["prompts"]
    ]
    columns = ("", "Prompt", *numbers, "Missed")
    caption = CAPTION + (NULL if "Null" in numbers else "")
    return Table(columns, rows, caption, numeric=(0, *range(2, len(columns) - 1)))


def _remarks(document: Record) -> Iterator[str]:
    if document["unseen_words"]:
        yield f"The generator never saw these words: {', '.join(document['unseen_words'])}."
    missing = document["truth"]["not_in_table"] if document["truth"] else []
    if missing:
        yield f"Not in {document['truth']['source']}: {words.list_first(missing, 'prompts')}."
