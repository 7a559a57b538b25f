"""Word influence as parts of findings: prompts with their words shaded, a table of all words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from biasgraph.data.findings import Cell, MarkedText, MarkedView, MarkedWord, Table
from biasgraph.data.word_influence import WordInfluence, WordScore

CAPTION = (
    "Each word's share of the influence of all ranked words; score: its influence, with its 95 % "
    "interval. Chance alone gives every word some."
)
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
    """The words by rank, each with its score and what is said of it, then those without a rank."""
    several = len({influence.prompt for influence in influences}) > 1
    rows = [
        (_label(influence, several=several), *row)
        for influence in influences
        for row in (*_rank_rows(influence), *_unrank_rows(influence))
    ]
    columns = ("axis", "word", "rank", "share", "score", "")
    return Table(columns, rows, "Score: the word's influence, with its 95 % interval.", (2, 3, 4))


def _rank_rows(influence: WordInfluence) -> Iterator[tuple[Cell, ...]]:
    for word in influence.ranked:
        share = "" if word.share is None else f"{word.share:.3f}"
        said = _describe_word(word, influence, tied="tied with the first")
        yield word.word, str(word.rank), share, _score(word), said


def _unrank_rows(influence: WordInfluence) -> Iterator[tuple[Cell, ...]]:
    """The words that have no rank, those of the same reason together."""
    words: dict[str, list[str]] = {}
    for word in influence.words:
        if word.rank is None:
            words.setdefault(_describe_word(word, influence), []).append(word.word)
    for reason, texts in words.items():
        yield " ".join(dict.fromkeys(texts)), "", "", "", reason


def _score(word: WordScore) -> str:
    """A score with its interval."""
    if word.score is None or word.low is None:
        return "" if word.score is None else f"{word.score:.3g}"
    return f"{word.score:.3g} [{word.low:.3g}, {word.high:.3g}]"


def _label(influence: WordInfluence, *, several: bool) -> str:
    label = f"{influence.axis}, by {influence.method}"
    return f"{influence.prompt}: {label}" if several else label


def _view(influence: WordInfluence, *, several: bool) -> MarkedView:
    starts = [*(word.start for word in influence.words), len(influence.prompt)]
    words = [
        _mark_word(word, influence, influence.prompt[word.end : end])
        for word, end in zip(influence.words, starts[1:], strict=True)
    ]
    if before := influence.prompt[: starts[0]].strip():
        words.insert(0, MarkedWord(before, " ", note="no word"))
    return MarkedView(_label(influence, several=several), words, _note(influence))


def _mark_word(word: WordScore, influence: WordInfluence, after: str) -> MarkedWord:
    said = _describe_word(word, influence)
    if word.share is None:
        return MarkedWord(word.word, after, note=said if word.rank is None and said else UNDEFINED)
    note = ", ".join(filter(None, (f"rank {word.rank}", f"score {_score(word)}", said)))
    mark: Literal["", "first", "tied"] = "first" if word.rank == 1 else "tied" if word.tied else ""
    return MarkedWord(word.word, after, word.share, note=note, mark=mark)


def _describe_word(word: WordScore, influence: WordInfluence, tied: str = "") -> str:
    """What a word's numbers leave open: why it has no rank, or whether it stands out."""
    if word.rank is None:
        return word.reason or influence.reason
    out = "stands out from chance" if word.stands_out else "within chance"
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
