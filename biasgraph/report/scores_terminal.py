"""A ranking of prompts by MineTheGap's score, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from biasgraph.errors import printable
from biasgraph.methods.minethegap import combined
from biasgraph.report import words
from biasgraph.report.screen import captioned, facts, plain, show_list, show_toy

Record = Mapping[str, Any]

CAPTION = (
    "Score: how well the images span the variations of their prompt (MineTheGap, eq. 1); lower is "
    "more biased. Missed: the variation that no image comes near."
)
NULL = " Null: the score of as many images made from the variations themselves."


def show(console: Console, document: Record) -> None:
    """Print where the scores come from, the ranking, and how it agrees with a reference."""
    show_toy(console, document["toy"])
    console.print(facts(_facts(document)))
    console.print(_ranking(document))
    console.print()
    notes = [*document["notes"], *_remarks(document)]
    show_list(console, "To keep in mind", map(plain, notes))


def _facts(document: Record) -> list[tuple[str, str]]:
    settings, prompts = document["settings"], len(document["prompts"])
    each = "" if prompts == 1 else "each of "
    if settings.get("vary"):
        number = max((row["n_variations"] for row in document["prompts"]), default=0)
        source = f"{number:,}: {combined(settings['vary'])}"
    else:
        source = f"{settings['variations']} proposed by {document['proposed_by']}"
    rows = [
        ("Model", document["model"]),
        ("Images", f"{settings['images']} of {each}{words.counted(prompts, 'prompt')}"),
        ("Variations", source),
        ("Embedder", document["embedder"]),
    ]
    if document["truth"]:
        rows.append(("Reference", _agreement(document["truth"])))
    return rows


def _agreement(truth: Record) -> str:
    about = f"{truth['source']}, {words.counted(truth['n'], 'prompt')}"
    if truth["rho"] is None:
        return f"{about}: Spearman's rho is undefined, {truth['reason']}"
    interval = "" if truth["low"] is None else f" [{truth['low']:.2f}, {truth['high']:.2f}]"
    reason = f" ({truth['reason']})" if truth["reason"] else ""
    return f"{about}: Spearman's rho {truth['rho']:.2f}{interval}{reason}"


def _ranking(document: Record) -> Table:
    null, truth = document["settings"]["null"], document["truth"]
    table = captioned(CAPTION + (NULL if null else ""))
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Prompt")
    table.add_column("Score", justify="right", no_wrap=True)
    if null:
        table.add_column("Null", justify="right", no_wrap=True)
    if truth:
        table.add_column("Reference", justify="right", no_wrap=True)
    table.add_column("Missed")
    for row in document["prompts"]:
        missed = row["reason"] or (row["missed"][0]["text"] if row["missed"] else "")
        cells = [str(row["rank"] or ""), printable(row["prompt"]), _number(row["score"])]
        cells += [_number(row.get("score_null"))] if null else []
        cells += [_number(row["truth"])] if truth else []
        table.add_row(*map(Text, [*cells, printable(missed)]))
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _remarks(document: Record) -> list[str]:
    found = []
    if document["unseen_words"]:
        unseen = ", ".join(document["unseen_words"])
        found.append(f"The generator never saw these words: {unseen}.")
    if document["truth"] and document["truth"]["not_in_table"]:
        names = ", ".join(document["truth"]["not_in_table"][:5])
        count = len(document["truth"]["not_in_table"])
        more = f" and {count - 5:,} more" if count > 5 else ""
        found.append(f"Not in {document['truth']['source']}: {names}{more}.")
    return found
