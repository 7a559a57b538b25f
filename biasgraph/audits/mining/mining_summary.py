"""A search for prompts, told in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from biasgraph.data.findings import Banner, Cell, Facts, ScreenPart, Sentences, Table
from biasgraph.report.words import count_noun, notes, with_interval

Record = Mapping[str, Any]

CAPTION = (
    "Score: on fresh images, mean and 95 % interval over batches of as many images as in the "
    "search, no interval where all batches agree; each interval is for one prompt, and the first "
    "prompt is still a little over-optimistic. First: in the search, the best of many noisy "
    "scores."
)
STOPPED = {
    "max_images": "The search ended because --max-images was spent.",
    "prompts": "The search ended early: the language model had no further prompts.",
}


def summarize_mined(document: Record) -> Iterator[ScreenPart]:
    """What was searched, the worst prompts, and what to keep in mind.

    Args:
        document: What mined.json holds.
    """
    yield Banner(document["toy"])
    yield Facts(list(_origin(document)))
    yield _tabulate_mined(document)
    yield Sentences("To keep in mind", [*notes(document), *_remarks(document)])


def _origin(document: Record) -> Iterator[tuple[str, str]]:
    settings, images = document["settings"], document["n_images"]
    yield "Model", document["model"]
    yield "Mined for", document["objective"]["about"]
    scored = count_noun(len(document["candidates"]), "prompt")
    rounds = count_noun(len(document["iterations"]), "iteration")
    yield "Searched", f"{scored} in {rounds}, {settings['images']} images of each set"
    yield "Images", f"{sum(images.values()):,}, {images['fresh']:,} of them to score the best again"
    yield "Prompts by", document["proposed_by"]
    for role in ("vqa", "embedder"):
        if role in document:
            yield {"vqa": "Judge", "embedder": "Embedder"}[role], document[role]


def _tabulate_mined(document: Record) -> Table:
    rows: list[list[Cell]] = [
        [
            str(row["rank"]),
            row["prompt"],
            row["reason"]
            if row["score"] is None
            else with_interval(row["score"], row["low"], row["high"]),
            row["first_score"],
            "; ".join(one["text"] for one in row["evidence"].get("missed", ())[:2]),
        ]
        for row in document["mined"]
    ]
    columns = ["", "Prompt", "Score", "First", "Missed"]
    if not any(row[-1] for row in rows):
        rows, columns = [row[:-1] for row in rows], columns[:-1]
    return Table(columns, rows, CAPTION, numeric=(0, 2, 3))


def _remarks(document: Record) -> Iterator[str]:
    if document["stopped"] in STOPPED:
        yield STOPPED[document["stopped"]]
    if document["dropped"]:
        yield (
            f"{count_noun(len(document['dropped']), 'proposed prompt')} could not be used; "
            "mined.json says why."
        )
    if document["unseen_words"]:
        yield f"The generator never saw these words: {', '.join(document['unseen_words'])}."
