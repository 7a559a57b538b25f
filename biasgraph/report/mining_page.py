"""mined.html: what a search for prompts found, as one page that works with the network off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasgraph.data import findings as parts
from biasgraph.report import html, mining_drawing, mining_words, words
from biasgraph.report.mining_evidence import bias_categories, other_evidence, shares
from biasgraph.report.provenance import provenance
from biasgraph.report.shots import Gallery, Shot
from biasgraph.report.thumbnails import PER_SET, Pictures, Thumbnails

Record = Mapping[str, Any]

PAGE = "mined.html"
PER_VARIATION = 4
"""Images of a missed variation that the page shows."""
MOST_ROWS = 2000
"""Of a table; mined.json has all."""


@dataclass(frozen=True)
class Variation:
    """A missed concept, how near the nearest images come, and images made from it."""

    text: str
    similarity: str
    shots: Sequence[Shot]


@dataclass(frozen=True)
class MinedPromptView:
    """A mined prompt as the page shows it."""

    rank: int
    prompt: str
    score: str
    reason: str
    basis: str
    first: str
    shots: Sequence[Shot]
    more: str
    missed: Sequence[Variation]
    shares: parts.Bars | None
    evidence: Sequence[parts.ScreenPart]


def mining_html(document: Record, pictures: Pictures | None = None) -> bytes:
    """The page of one search; it needs no script, its script only eases the arrow keys.

    Args:
        document: What mined.json holds.
        pictures: The images that it names; none are shown without.
    """
    pictures = pictures or Pictures()
    ids = [image for row in document["mined"] for image in _describe_row(row)]
    thumbnails = Thumbnails(others=ids, pictures=pictures)
    gallery = Gallery.of(thumbnails)
    mined = [_describe_mined(row, document, gallery) for row in document["mined"]]
    return html.render(
        "mining.html",
        model={},
        scripts=["mining.js", "shots.js"],
        styles=["parts.css", "drawings.css", "mining.css"],
        drawn=False,
        files=gallery.linked,
        title=words.plain(mining_words.title(document)),
        facts=list(mining_words.facts(document)),
        toy=document["toy"],
        unseen_words=document["unseen_words"],
        lead=list(mining_words.lead(document)),
        meaning=mining_words.meaning(document),
        extreme=mining_words.extreme(document),
        origins=mining_drawing.ORIGINS,
        words_width=mining_drawing.WORDS,
        population=mining_drawing.population(document),
        candidates=_candidates(document),
        trajectory=mining_drawing.trajectory(document),
        best=_best(document),
        mined=mined,
        about_pictures=gallery.note,
        categories=bias_categories(document),
        dropped=_tabulate_dropped(document),
        notes=parts.Sentences("To keep in mind", list(words.notes(document))),
        made=provenance(document, ("model", "vqa", "embedder")),
    )


def _least_aligned(row: Record) -> dict[str, float]:
    return {one["image"]: one["similarity"] for one in row["evidence"].get("least_aligned") or ()}


def _own(row: Record) -> list[str]:
    """The images of a mined prompt that are shown: the least aligned first."""
    least = [image for image in _least_aligned(row) if image in row["images"]]
    return list(dict.fromkeys([*least, *row["images"]]))[: max(PER_SET, len(least))]


def _describe_row(row: Record) -> Iterator[str]:
    yield from _own(row)
    for variation in row["variation_images"]:
        yield from variation["images"][:PER_VARIATION]


def _describe_mined(row: Record, document: Record, gallery: Gallery) -> MinedPromptView:
    own, first = _own(row), row["first_score"]
    counts = {one["number"]: one["n_images"] for one in document["candidates"]}
    shots = gallery.shots(own, row["prompt"], _least_aligned(row))
    more = len(row["images"]) - len(shots)
    left = words.count_noun(more, "more image" if shots else "image")
    basis = words.count_noun(row["n_images"], "fresh image")
    if row["n_batches"]:
        basis += f" in {words.count_noun(row['n_batches'], 'batch', 'batches')}"
    if row["score"] is not None and row["reason"]:
        basis += f"; {words.label(row['reason'], 300)}"
    of_first = words.count_noun(counts.get(row["candidate"], 0), "image")
    return MinedPromptView(
        row["rank"],
        words.label(row["prompt"], 300),
        words.with_interval(row["score"], row["low"], row["high"]),
        "" if row["score"] is not None else words.label(row["reason"] or "not known why", 300),
        basis,
        "" if first is None else f"{first:.3f}, from {of_first}",
        shots,
        f"The run holds {left}." if more else "",
        _list_missed(row, gallery),
        shares(row),
        list(other_evidence(row)),
    )


def _list_missed(row: Record, gallery: Gallery) -> list[Variation]:
    """Every missed concept, the images of its variation beside it."""
    images = {one["text"]: one["images"] for one in row["variation_images"]}
    nearness = {one["text"]: one["similarity"] for one in row["evidence"].get("missed") or ()}
    return [
        Variation(
            words.label(text, 200),
            "" if nearness.get(text) is None else f"{nearness[text]:.3f}",
            gallery.shots(images.get(text, [])[:PER_VARIATION], text),
        )
        for text in dict.fromkeys([*nearness, *images])
    ]


def _candidates(document: Record) -> parts.Table:
    prompts = {one["number"]: one["prompt"] for one in document["candidates"]}
    rows: list[list[parts.Cell]] = [
        [
            str(one["number"]),
            words.label(one["prompt"], 300),
            one["iteration"],
            one["origin"],
            words.label(prompts.get(one["parent"], "-"), 300),
            one["score"] if one["score"] is not None else words.label(one["reason"] or "-", 120),
            one["n_images"],
            "selected" if one["selected"] else "",
        ]
        for one in document["candidates"][:MOST_ROWS]
    ]
    columns = ("No.", "Prompt", "Iteration", "Origin", "Parent", "Score", "Images", "Selected")
    return parts.Table(columns, rows, _cut(document["candidates"]), numeric=(2, 6))


def _best(document: Record) -> parts.Table:
    """The best so far after every iteration, and what as many random prompts with a score give."""
    chance = mining_drawing.expected_best(document)
    best = mining_words.extreme(document).capitalize()
    scores = Counter(one["iteration"] for one in document["candidates"] if one["score"] is not None)
    scored = 0  # so far; the random prompts are those with a score, too
    rows: list[list[parts.Cell]] = []
    for one in document["iterations"]:
        scored += scores[one["iteration"]]
        random = chance[scored - 1] if 0 < scored <= len(chance) else None
        prompt = words.label(one["best_prompt"] or "-", 300)
        rows.append(
            [
                str(one["iteration"]),
                one["n_prompts"],
                one["n_images"],
                one["best_score"],
                random,
                prompt,
            ]
        )
    columns = ("Iteration", "Prompts", "Images", f"{best} so far", "As many random", "Prompt")
    return parts.Table(columns, rows, numeric=(1, 2, 3, 4))


def _tabulate_dropped(document: Record) -> parts.Table:
    rows: list[list[parts.Cell]] = [
        [str(place), words.label(one["prompt"], 300), one["iteration"], one["origin"],
         words.label(one["reason"], 300)]
        for place, one in enumerate(document["dropped"][:MOST_ROWS], start=1)
    ]  # fmt: skip
    columns = ("", "Prompt", "Iteration", "Origin", "Reason")
    return parts.Table(columns, rows, _cut(document["dropped"]), numeric=(2,))


def _cut(rows: Sequence[Record]) -> str:
    more = len(rows) - MOST_ROWS
    return f"The first {MOST_ROWS:,}; mined.json has {more:,} more." if more > 0 else ""
