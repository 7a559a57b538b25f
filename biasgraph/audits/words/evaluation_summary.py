"""Rankings of words held against removal, told in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from biasgraph.audits.words.ranked_words import LEAST
from biasgraph.data.findings import Banner, Bar, Cell, Facts, ScreenPart, Sentences, Table, Text
from biasgraph.report.words import count_noun, name, notes
from biasgraph.runs.progress import duration

Record = Mapping[str, Any]

TOPS = (
    "How often the truth's first word is among the first k of a ranking, with its 95 % interval "
    "over prompts; where several have the same influence, any of them (GradBias, table 3). Pairs "
    "with fewer than two ranked words (Top-2 and Top-3: four) do not count."
)
TIES = (
    "Top-1 by what counts as right. Within chance: any word that the images cannot tell from the "
    "truth's first; pairs in which that is every word do not count. Strictly: the first alone."
)
AHEAD = "Top-1: how much more often than another ranking on the same pairs, with 95 % intervals."
BY_LEAST = "Top-1 where the largest influence of a pair's words, by removal, is at least this much."
NOISY = (
    "The truth is sampled, too: where two words matter almost equally, more images may swap them, "
    "so that not even a perfect ranking reaches 1."
)


def summarize_evaluation(document: Record) -> Iterator[ScreenPart]:
    """What was held against what, how often each ranking is right, what to keep in mind.

    Args:
        document: What evaluation.json holds.
    """
    yield Banner(document["toy"])
    yield Facts(list(_origin(document)))
    methods = dict.fromkeys(row["method"] for row in document["accuracy"])
    found = {
        (row["least"], row["method"], row["top"], row["ties"]): row for row in document["accuracy"]
    }
    tops: list[list[Cell]] = []
    ties: list[list[Cell]] = []
    ahead: list[list[Cell]] = []
    by_least: list[list[Cell]] = []
    for method in methods:
        first, *more = (found[0.0, method, top, "equal"] for top in (1, 2, 3))
        strictly, chance = (found[0.0, method, 1, counted] for counted in ("first", "tied"))
        tops.append([method, *map(_accuracy, (first, *more)), first["pairs"]])
        ties.append([method, _accuracy(strictly), _accuracy(chance), chance["pairs"]])
        ahead.append([method, _ahead(first, "random"), _ahead(first, "tree")])
        wide = [found[least, method, 1, "equal"] for least in LEAST[1:]]
        cells = ((_accuracy(row), row["pairs"]) for row in wide)
        by_least.append([method, *(cell for two in cells for cell in two)])
    yield Table(("Ranking", "Top-1", "Top-2", "Top-3", "Pairs"), tops, TOPS, numeric=(4,))
    yield Table(("Ranking", "Strictly", "Within chance", "Pairs"), ties, TIES, numeric=(3,))
    yield Table(("Ranking", "Than random", "Than the tree"), ahead, AHEAD)
    columns = [title for least in LEAST[1:] for title in (f"At least {least:g}", "Pairs")]
    yield Table(("Ranking", *columns), by_least, BY_LEAST, numeric=(2, 4))
    yield Sentences("To keep in mind", [*notes(document), *_remarks(document)])


def summarize_plan(document: Record) -> Iterator[ScreenPart]:
    """What `biasgraph words evaluate` would make and ask."""
    seconds = document["seconds"]
    pace = "unknown" if seconds is None else f"about {duration(seconds)} on two CPU cores"
    yield Facts(
        [
            ("Prompts", f"{len(document['removals']):,}"),
            ("Axes", ", ".join(document["axes"])),
            ("Images", f"{document['images']:,}, of which only missing ones are made"),
            ("Followed", f"{count_noun(document['followed'], 'image')}, step by step"),
            ("Questions", f"{document['questions']:,}, to the judge of the truth"),
            ("Time", f"{pace}, without gradients"),
            ("Directory", document["directory"]),
        ]
    )
    yield Sentences("To keep in mind", list(notes(document)))
    yield Text("Nothing was done.")


def bars(document: Record) -> Iterator[tuple[str, list[Bar]]]:
    """The panels of the figure: Top-1 on all pairs, and where a word matters more."""
    for least in LEAST[:2]:
        rows = [
            row
            for row in document["accuracy"]
            if (row["least"], row["top"], row["ties"]) == (least, 1, "equal")
        ]
        pairs = max((row["pairs"] for row in rows), default=0)
        which = f"largest influence at least {least:g}" if least else "all pairs"
        yield (
            f"Top-1, {which} ({count_noun(pairs, 'pair')} of prompt and axis)",
            [Bar(row["method"], row["accuracy"], row["low"], row["high"]) for row in rows],
        )


def caption(document: Record) -> str:
    """What stands below the figure."""
    return (
        "How often a ranking of a prompt's words begins with the word whose removal changes the "
        "answers most. Generator: {model}; gradients by {vqa}; "
        "the truth by {truth_vqa}."
    ).format(**document)


def _origin(document: Record) -> Iterator[tuple[str, str]]:
    settings, counts = document["settings"], document["counts"]
    followed = count_noun(settings["gradient_images"], "image")
    left_out = count_noun(settings["images"], "image")
    yield "Generator", name(document["model"])
    yield "Gradients", f"{name(document['vqa'])}, {followed} of each prompt"
    of = "of each prompt, and of the prompt without each word, from the same seeds"
    yield "The truth", f"{name(document['truth_vqa'])}, {left_out} {of}"
    for method, source in document["sources"].items():
        yield method.capitalize(), name(source)
    yield "Prompts", f"{counts['prompts']:,}"
    yield "Pairs", f"{counts['pairs']:,} of prompt and axis"
    yield "Axes", ", ".join(map(name, settings["axis"]))


def _accuracy(row: Record) -> Cell:
    return _lines(row["accuracy"], row["low"], row["high"])


def _ahead(row: Record, other: str) -> Cell:
    value, low, high = (row[f"ahead_of_{other}{end}"] for end in ("", "_low", "_high"))
    return _lines(value, low, high, "+")


def _lines(value: float | None, low: float | None, high: float | None, sign: str = "") -> Cell:
    """A number above its interval, as far as they are defined."""
    if value is None:
        return None
    ends = () if low is None or high is None else (f"[{low:{sign}.2f}, {high:{sign}.2f}]",)
    return (f"{value:{sign}.2f}", *ends)


def _remarks(document: Record) -> Iterator[str]:
    if document["unseen_words"]:
        yield f"The generator never saw these words: {', '.join(document['unseen_words'])}."
    counts = document["counts"]
    quiet, prompts = counts["pairs_nothing_stands_out"], counts["prompts_nothing_stands_out"]
    if quiet:
        yield (
            f"In {count_noun(quiet, 'pair')} no word stands out from chance by removal"
            + (f", in {count_noun(prompts, 'prompt')} along no axis" if prompts else "")
            + ": there is hardly any truth to compare with."
        )
    few = counts["pairs_without_words"] + counts["pairs_with_one_word"]
    if few:
        yield f"In {count_noun(few, 'pair')} fewer than two words are ranked; they do not count."
    yield NOISY
