"""Parts as they look in the terminal, readable at 80 columns.

Prompts, axes and attributes are untrusted: they are shown as plain text, never as markup, and
control characters in them are made visible.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from biasgraph.data import findings
from biasgraph.errors import printable
from biasgraph.report import words


def show(console: Console, parts: Iterable[findings.ScreenPart]) -> None:
    """Print parts, each with an empty line behind it unless it is the title of the next."""
    for part in parts:
        if part.kind in _DRAWN and not findings.is_empty(part):
            console.print(_DRAWN[part.kind](part))
            if not isinstance(part, findings.Heading):
                console.print()


def show_shortened(
    console: Console, ways: Iterable[Iterable[findings.ScreenPart]], lines: int
) -> None:
    """Print the first of several ways to tell the same that takes so many lines, or the last."""
    text = ""
    for way in ways:
        with console.capture() as capture:
            show(console, way)
        text = capture.get()
        if text.count("\n") <= lines:
            break
    console.file.write(text)


def plain(text: str, style: str = "") -> Text:
    """Untrusted text, without the marks that sentences have around names; no markup."""
    return Text(printable(words.plain(text)), style)


def _table(table: findings.Table) -> RenderableType:
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    for place, heading in enumerate(table.columns):
        widest = max(line.cell_len for row in rows for line in row[place].split())
        drawn.add_column(
            plain(heading),
            justify="right" if place in table.numeric else "left",
            no_wrap=place in table.numeric and cell_len(heading) <= widest,
            overflow="fold",
        )
    for row in rows:
        drawn.add_row(*row)
    return Group(drawn, plain(table.caption, "italic")) if table.caption else drawn


def _cell(cell: findings.Cell) -> Text:
    if isinstance(cell, tuple):
        return Text("\n").join(map(_cell, cell))
    return plain(words.cell_words(cell))


def _number(part: findings.Number) -> Text:
    value = words.with_interval(part.value, part.low, part.high)
    behind = "" if part.n is None else f", n = {part.n:,}"
    return plain(f"{part.label}: {value if part.value is not None else part.reason}{behind}")


def _ranking(part: findings.Ranking | findings.Bars) -> RenderableType:
    rows = [(bar.label, bar, bar.reference) for bar in part.items]
    return _table(findings.Table(("", "Value", "Against"), rows, part.caption, (1, 2)))


def _marked_text(part: findings.MarkedText) -> RenderableType:
    lines = [line for view in part.views for line in _view(view)]
    return Group(*lines, *([plain(part.caption, "italic")] if part.caption else []))


def _view(view: findings.MarkedView) -> Iterator[Text]:
    """A prompt with the shares behind its words, and below it the words that are not ranked."""
    if view.label:
        yield plain(view.label, "bold")
    line, unranked = Text(), dict[str, list[str]]()
    for word in view.words:
        line.append_text(_word(word)).append_text(plain(re.sub(r"\s+", " ", word.after)))
        if word.value is None:
            unranked.setdefault(word.note, []).append(word.text)
    yield line
    for note, texts in unranked.items():
        yield plain(f"not ranked, {note}: {', '.join(dict.fromkeys(texts))}", "dim")
    if view.note:
        yield plain(view.note)


def _word(word: findings.MarkedWord) -> Text:
    if word.value is None:
        return plain(word.text)
    from biasgraph.report import style  # it imports scipy, which reading a result back does without

    share = f"{100 * word.value:.0f}%"
    shade = f"black on {style.blend('#ffffff', style.FAR, word.value)}"
    behind = f" [{', '.join(filter(None, (share, word.mark)))}]"
    return plain(word.text, shade).append(behind, "bold" if word.mark else "")


def _facts(part: findings.Facts) -> Table:
    grid = Table.grid(padding=(0, 2))
    for title, text in part.rows:
        grid.add_row(plain(title, "bold"), plain(text))
    return grid


def _sentences(part: findings.Sentences) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    for row in part.rows:
        grid.add_row("-", plain(row))
    return Group(plain(part.title, "bold"), grid) if part.title else grid


_DRAWN: dict[str, Callable[[Any], RenderableType]] = {
    "banner": lambda part: plain(part.text, "yellow"),
    "heading": lambda part: plain(part.text, "bold"),
    "facts": _facts,
    "sentences": _sentences,
    "text": lambda part: plain(part.text, "yellow" if part.tone == "warning" else ""),
    "table": _table,
    "number": _number,
    "ranking": _ranking,
    "bars": _ranking,
    "marked_text": _marked_text,
}
"""Of each kind of part, what draws it; pictures and details are for pages alone."""
