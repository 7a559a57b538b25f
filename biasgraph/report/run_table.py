"""Runs under a folder, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biasgraph.data.findings import ScreenPart, Sentences, Table
from biasgraph.report import words

Record = Mapping[str, Any]


def summarize(rows: Sequence[Record], limit: int | None = None) -> Iterator[ScreenPart]:
    """The runs, those built last first; then what cannot be read.

    Args:
        rows: `RunRow.to_json` of each.
        limit: Of the runs in the table; those that cannot be read are all named.
    """
    every = [row for row in rows if row["state"] != "broken"]
    whole = every[:limit]
    earlier = len(every) - len(whole)
    caption = [
        f"Add --all to see {words.count_noun(earlier, 'earlier run')}." if earlier else "",
        "Toy: the built-in models, which say nothing about real ones."
        if any(row["toy"] for row in whole)
        else "",
    ]
    yield Table(
        ("Run", "Model, judge", "Images", "Edges", "Furthest from its ideal", "Built"),
        [_cells(row) for row in whole],
        " ".join(filter(None, caption)),
        numeric=(2, 3),
    )
    yield Sentences(
        "Broken",
        [
            f"{words.name(row['directory'], 60)}: {words.name(row['problem'], 120)}"
            for row in rows
            if row["state"] == "broken"
        ],
    )


def _cells(row: Record) -> tuple[Any, ...]:
    kind = row["kind"] if row["state"] == "finished" else f"{row['kind']}, {row['state']}"
    if row["prompts"] is None:
        about = words.name(kind)
    elif row["prompt"] is None:
        about = words.count_noun(row["prompts"], "prompt")
    else:
        about = f"“{words.name(row['prompt'])}”"
    skewed = explain_no_axis(row)
    if row["axis"] is not None and row["share"] is not None:
        most = f"{words.percent(row['share'])} {words.name(row['attribute'])}"
        skewed = f"{words.name(row['axis'])}: {most}"
    model = words.name(row["model"] or "?") + (" (toy)" if row["toy"] else "")
    judge = words.name(row["judge"] or "judge not recorded")
    return (
        (words.name(row["directory"], 60), about), (model, judge),
        row["images"], row["edges"], skewed, words.name((row["date"] or "")[:10]),
    )  # fmt: skip


def explain_no_axis(row: Record) -> str | None:
    """Why a run names no axis as furthest from its ideal; None where it does, or has no graph."""
    if row["axis"] is not None or row["measured"] is None:
        return None
    return "none clearly away" if row["measured"] else "undecidable: too few images"
