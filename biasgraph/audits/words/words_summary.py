"""Word influence told in parts: one prompt with its words shaded, or many and their words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from biasgraph.data.findings import (
    Banner,
    Cell,
    Facts,
    ScreenPart,
    Sentences,
    Table,
    Text,
)
from biasgraph.data.word_influence import WordInfluence
from biasgraph.methods.gradbias import KEEP, MEASURED
from biasgraph.methods.word_findings import marked_text
from biasgraph.report.words import count_noun, name, notes, with_interval
from biasgraph.runs.progress import duration

Record = Mapping[str, Any]

MOST_WORDS, MOST_NAMED = 20, 40
"""Words over all prompts, and words that stand out, that the screen lists; words.json has all."""
OVER = (
    "Share: a word's part of the influence of all ranked words of a prompt, mean over the prompts "
    "that have it, with its 95 % interval. Influence: its mean. Out: in how many of them it stands "
    "out from chance."
)
NUMBERS = {
    "gradient": (
        "Influence by gradient: how much the judge's answers about the steps' images depend on the "
        "word, with its 95 % interval over images; it ranks words and has no unit."
    ),
    "removal": (
        "Influence by removal: how far the shares of answers change in all, from 0 to 2, with its "
        "95 % interval. Only a word that stands out moves them further than chance does."
    ),
}
NONE = "In no prompt does a word stand out from chance."


def summarize_words(document: Record) -> Iterator[ScreenPart]:
    """Where the influences come from, the words, and what to keep in mind.

    Args:
        document: What words.json holds.
    """
    influences = [WordInfluence.of_record(record) for record in document["influences"]]
    yield Banner(document["toy"])
    yield Facts(list(_origin(document)))
    if len(document["prompts"]) == 1:
        yield marked_text(influences)
        yield from _numbers(influences)
        for left in document["removals"]:
            yield Sentences("Without a word", list(_short(left)))
    else:
        yield _over(document)
        named = list(_name_influences(influences))
        more = len(named) - MOST_NAMED
        rest = [f"and {more:,} more, in words.json"] if more > 0 else []
        yield Sentences("Words that stand out", [*named[:MOST_NAMED], *rest] or [NONE])
    yield Sentences("To keep in mind", [*notes(document), *_remarks(document)])


def summarize_plan(document: Record) -> Iterator[ScreenPart]:
    """What `biasgraph words` would make and ask."""
    rows: list[list[Cell]] = [
        [prompt["prompt"], left["word"], left["prompt"] or "", left["note"]]
        for prompt in document["removals"]
        for left in prompt["without"]
    ]
    seconds = document["seconds"]
    pace = "unknown" if seconds is None else f"about {duration(seconds)} on two CPU cores"
    if rows:
        yield Table(("Prompt", "Word", "Without it", ""), rows)
    yield Facts(
        [
            ("Axes", ", ".join(document["axes"])),
            ("Images", f"{document['images']:,}, of which only missing ones are made"),
            ("Questions", f"{document['questions']:,}"),
            ("Time", pace),
            ("Directory", document["directory"]),
        ]
    )
    yield Sentences("To keep in mind", list(notes(document)))
    yield Text("Nothing was done.")


def _origin(document: Record) -> Iterator[tuple[str, str]]:
    settings, prompts = document["settings"], document["prompts"]
    yield "Model", document["model"]
    yield "Judge", document["vqa"]
    if len(prompts) == 1:
        yield "Prompt", prompts[0]
    else:
        yield "Prompts", f"{len(prompts):,}"
    yield "Axes", ", ".join(settings["axis"])
    for measured in MEASURED[settings["by"]]:
        count = next(one["images"] for one in document["influences"] if one["method"] == measured)
        of = "of each prompt, followed step by step"
        if measured == "removal":
            of = "of each prompt, and of the prompt without each word, from the same seeds"
        yield f"Images, by {measured}", f"{count:,} {of}"


def _numbers(influences: list[WordInfluence]) -> Iterator[Table]:
    for method, caption in NUMBERS.items():
        rows: list[list[Cell]] = [
            [
                one.axis,
                word.word,
                with_interval(word.score, word.low, word.high),
                word.images,
                "stands out" if word.stands_out else "tied with the first" if word.tied else "",
            ]
            for one in influences
            for word in one.ranked
            if one.method == method
        ]
        counted_in = "Pairs" if method == "removal" else "Images"
        yield Table(("Axis", "Word", "Influence", counted_in, ""), rows, caption, numeric=(3,))


def _short(removals: Record) -> Iterator[str]:
    for left in removals["without"]:
        note = f" ({left['note']})" if left["note"] else ""
        if left["prompt"]:
            yield f"{name(left['word'])}: {name(left['prompt'], 200)}{note}"
        else:
            yield f"{name(left['word'])} cannot be left out{note}"


def _over(document: Record) -> Table:
    methods = {row["method"] for row in document["over_prompts"]}
    rows: list[list[Cell]] = [
        [
            row["axis"] if len(methods) == 1 else f"{row['axis']}, by {row['method']}",
            row["word"],
            with_interval(row["share"], row["low"], row["high"]),
            with_interval(row["score"], row["score_low"], row["score_high"]),
            row["n_prompts"],
            row["n_stands_out"],
        ]
        for row in _most(document["over_prompts"])
    ]
    return Table(
        ("Axis", "Word", "Share", "Influence", "Prompts", "Out"), rows, OVER, numeric=(4, 5)
    )


def _most(rows: list[Record]) -> Iterator[Record]:
    """The first words of each axis, as many as the screen has room for."""
    axes = list(dict.fromkeys((row["axis"], row["method"]) for row in rows))
    for axis, method in axes:
        own = [row for row in rows if (row["axis"], row["method"]) == (axis, method)]
        yield from own[: max(3, MOST_WORDS // len(axes))]


def _name_influences(influences: list[WordInfluence]) -> Iterator[str]:
    for one in influences:
        if one.named:
            told = ", ".join(f"{name(word.word)} ({word.score:.2f})" for word in one.named)
            yield f"{name(one.prompt, 80)}: {one.axis}, by {one.method}: {told}"


def _remarks(document: Record) -> Iterator[str]:
    if document["unseen_words"]:
        yield f"The generator never saw these words: {', '.join(document['unseen_words'])}."
    removals = [one for one in document["influences"] if one["method"] == "removal"]
    short = {
        (one["prompt"], word["word"])
        for one in removals
        for word in one["words"]
        if word["images"] is not None and word["images"] < one["images"]
    }
    if short:
        yield (
            "Pairs without an answer on both sides were left out for "
            f"{count_noun(len(short), 'word')}."
        )
    yield KEEP[document["settings"]["by"]]
