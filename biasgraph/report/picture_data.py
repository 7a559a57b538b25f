"""What a page says of its pictures: prompts, seeds, files, and every answer of the judge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biasgraph.report import words
from biasgraph.report.thumbnails import Thumbnails, set_names

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.data.result import Result

Record = Mapping[str, Any]

LOST = UNKNOWN, GATED = "unknown", "gated"
LISTED = 20_000
"""Images of which a page lists every one; of a result that has more, only those that it shows."""
MADE_BY = ("model", "model_fingerprint", "vqa", "vqa_fingerprint", "seed")


def listed_images(answers: pd.DataFrame, thumbnails: Thumbnails) -> list[str]:
    """Those that the page shows, and behind them all others, where a page can list them."""
    shown = thumbnails.images
    if not thumbnails.pictures.rows:
        return shown
    every = list(dict.fromkeys([*shown, *answers["image"].astype(str)]))
    return every if len(every) <= LISTED else shown


def describe_unlisted(answers: pd.DataFrame, listed: int, *, several: bool) -> str | None:
    """What a page says of images that it does not list."""
    more = answers["image"].nunique() - listed
    if not listed or not more:
        return None
    where = "; the reports of the prompts list theirs" if several else ""
    return f"{more:,} of {more + listed:,} images are too many to list here{where}."


def picture_data(
    result: Result, thumbnails: Thumbnails, sets: Mapping[tuple[str, str], int]
) -> dict[str, Any]:
    """`images`, and what they refer to: `texts` and `run`.

    Each image has its `text` (a place in `texts`), its `set` (a place in the page's sets, None
    where it is in none of them), `seed`, `file` (the SHA-256 of the run's file, None where that is
    missing) and `answers`: of every axis an attribute's number, -1 for unknown, -2 for gated, None
    where nothing was answered.

    Args:
        result: What the page shows.
        thumbnails: Its pictures.
        sets: The place of the set of an axis and attribute.
    """
    ids = listed_images(result.answers, thumbnails)
    rows, hashes = thumbnails.pictures.rows, thumbnails.pictures.hashes(ids)
    texts = dict.fromkeys(rows[image].text if image in rows else "" for image in ids)
    place = {text: number for number, text in enumerate(texts)}
    answers = _answers(result, ids)
    asked = set_names(result.answers)
    images = [
        {
            "id": image,
            "text": place[row.text if row else ""],
            "set": sets.get(asked.get(image, ("", "?"))),
            "seed": str(row.seed) if row else None,
            "file": hashes.get(image),
            "answers": answers[image],
        }
        for image in ids
        for row in [rows.get(image)]
    ]
    return {
        "images": images,
        "texts": [words.label(text) for text in texts],
        "run": run_key(result.document["graph"]),
    }


def run_key(graph: Record) -> str:
    """What the pages of one run have in common, and those of another have not."""
    made = [graph.get(name) for name in MADE_BY]
    return hashlib.sha256(json.dumps(made).encode()).hexdigest()[:16]


def _answers(result: Result, ids: Sequence[str]) -> dict[str, list[int | None]]:
    frame, nodes = result.answers, result.document["nodes"]
    targets = {node["id"]: place for place, node in enumerate(nodes)}
    codes = [
        {UNKNOWN: -1, GATED: -2} | {a: i for i, a in enumerate(node["attributes"])}
        for node in nodes
    ]
    answers: dict[str, list[int | None]] = {image: [None] * len(nodes) for image in ids}
    rows = frame.loc[frame["image"].isin(ids), ["image", "target", "answer"]].astype(str)
    for image, target, answer in rows.itertuples(index=False):
        if target in targets:
            place = targets[target]
            answers[image][place] = codes[place].get(answer, -1)
    return answers
