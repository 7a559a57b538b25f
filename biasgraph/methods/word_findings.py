"""Word influence as parts of findings: prompts with their words shaded, a table of all words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from biasgraph.data.findings import Cell, MarkedText, MarkedView, MarkedWord, Table
from biasgraph.data.word_influence import WordInfluence, WordScore

CAPTION = (
    "Each word's share of the influence of all ranked words; score: its influence, with its 95 % "
    "interval. Chance alone gives every word some."
)
COLUMNS = ("word", "share", "score", "from", "to", "rank", "")
NUMERIC = ("share", "score", "from", "to", "rank")
UNDEFINED = "no word has an influence"


def marked_text(influences: Sequence[WordInfluence], caption: str = CAPTION) -> MarkedText:
    """A view for each prompt, axis and method, named after those of them that differ.

    Args:
        influences: In the order of the views.
        caption: What stands below.
    """
    several = len({influence.prompt for influence in influences}) > 1
    return MarkedText([_view(one, several=several) for one in influences], caption)


def word_table(influences: Sequence[WordInfluence]) -> Table:
    """All words of all prompts: share, score with its 95 % interval, and rank, or why none."""
    several = len({influence.prompt for influence in influences}) > 1
    named = ("prompt", "axis", "by") if several else ("axis", "by")
    columns = (*named, *COLUMNS)
    rows: list[tuple[Cell, ...]] = []
    for influence in influences:
        of = (influence.prompt,) if several else ()
        rows += [
            (
                *of, influence.axis, influence.method,
                word.word, word.share, word.score, word.low, word.high, word.rank,
                _said(word, influence, tied="tied with the first"),
            )
            for word in influence.words
        ]  # fmt: skip
    caption = "Score: how much the word carries the axis's bias, with its 95 % interval."
    return Table(columns, rows, caption, [columns.index(name) for name in NUMERIC])


def _view(influence: WordInfluence, *, several: bool) -> MarkedView:
    label = f"{influence.axis}, by {influence.method}"
    if several:
        label = f"{influence.prompt}: {label}"
    starts = [*(word.start for word in influence.words), len(influence.prompt)]
    words = [
        _marked(word, influence, influence.prompt[word.end : end])
        for word, end in zip(influence.words, starts[1:], strict=True)
    ]
    if before := influence.prompt[: starts[0]].strip():
        words.insert(0, MarkedWord(before, " ", note="no word"))
    return MarkedView(label, words, _note(influence))


def _marked(word: WordScore, influence: WordInfluence, after: str) -> MarkedWord:
    said = _said(word, influence)
    if word.share is None:
        return MarkedWord(word.word, after, note=said if word.rank is None and said else UNDEFINED)
    interval = "" if word.low is None else f" [{word.low:.3g}, {word.high:.3g}]"
    score = "" if word.score is None else f"score {word.score:.3g}{interval}"
    rank = "" if word.rank is None else f"rank {word.rank}"
    note = ", ".join(filter(None, (rank, score, said)))
    mark: Literal["", "first", "tied"] = "first" if word.rank == 1 else "tied" if word.tied else ""
    return MarkedWord(word.word, after, word.share, note=note, mark=mark)


def _said(word: WordScore, influence: WordInfluence, tied: str = "") -> str:
    """What a word's numbers leave open: why it has no rank, or whether it stands out."""
    if word.rank is None:
        return word.reason or influence.reason
    out = "stands out from chance" if word.stands_out else "within what chance gives"
    said = (tied if word.tied and word.rank != 1 else "", out)
    return ", ".join(filter(None, said if influence.threshold is not None else said[:1]))


def _note(influence: WordInfluence) -> str:
    """What the view shows in all."""
    images = f"{influence.images:,} {'image' if influence.images == 1 else 'images'}"
    if influence.reason:
        return f"No word is ranked: {influence.reason}."
    if influence.threshold is None:
        return f"Of {images}."
    named = ", ".join(dict.fromkeys(word.word for word in influence.named))
    chance = f"in 95 % of cases no score is above {influence.threshold:.3g} by chance"
    told = f"Stands out from chance: {named}" if named else "No word stands out from chance"
    return f"{told} ({chance}; {images})."
