"""Parts as Markdown (GitHub's), in which no prompt, name or number can be syntax."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from biasgraph.data import findings
from biasgraph.errors import printable
from biasgraph.report import words

_INTERVAL = r"\[[-+\d., ]+\](?![\[(:])"
"""An interval that is no link: it stays as it is, to be read in the file, too."""
_ACTIVE = re.compile(
    rf"(?P<interval>{_INTERVAL})"
    r"|[\\`*_\[\]<>&|~$@]|:(?=\S)|(?<=[wW])\.|^[-+](?=[-+\s]|$)|^#|^\d+(?=[.)](?:\s|$))"
)
"""What may begin markup, a link, an entity, an emoji, a mention or a formula."""


def to_markdown(parts: Iterable[findings.ScreenPart]) -> str:
    """Parts, an empty line between them; those that only pages draw are left out."""
    drawn = (
        _DRAWN[part.kind](part)
        for part in parts
        if part.kind in _DRAWN and not findings.is_empty(part)
    )
    return "\n\n".join(drawn)


def escape_text(text: str) -> str:
    """Untrusted text in one line that Markdown shows as it is; what is invisible is made visible.

    The marks around names that sentences have are left out: pages of code hosts warn of them.
    """
    return _ACTIVE.sub(_escape, printable(words.plain(text)))


def _escape(found: re.Match[str]) -> str:
    sign = found[0]
    if found["interval"]:
        return sign
    return f"{sign}\\" if sign.isdigit() else f"\\{sign}"


def _banner(part: findings.Banner) -> str:
    return f"> **{escape_text(part.text or '')}**"


def _heading(part: findings.Heading) -> str:
    return f"## {escape_text(part.text)}"


def _text(part: findings.Text) -> str:
    return escape_text(part.text)


def _facts(part: findings.Facts) -> str:
    return "\n".join(
        f"- **{escape_text(title)}:** {escape_text(text)}" for title, text in part.rows
    )


def _sentences(part: findings.Sentences) -> str:
    rows = "\n".join(f"- {escape_text(row)}" for row in part.rows)
    return f"**{escape_text(part.title)}**\n\n{rows}" if part.title else rows


def _table(table: findings.Table) -> str:
    rules = ("---:" if place in table.numeric else "---" for place in range(len(table.columns)))
    rows = [map(escape_text, table.columns), rules, *(map(_cell, row) for row in table.rows)]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{lines}\n\n{escape_text(table.caption)}" if table.caption else lines


def _cell(cell: findings.Cell) -> str:
    if isinstance(cell, tuple):
        return "; ".join(map(_cell, cell))
    return escape_text(words.cell_words(cell))


_DRAWN: dict[str, Callable[[Any], str]] = {
    "banner": _banner,
    "heading": _heading,
    "text": _text,
    "facts": _facts,
    "sentences": _sentences,
    "table": _table,
}


def image(alt: str, file: str) -> str:
    """A picture in a file beside the page."""
    return f"![{escape_text(alt)}]({file})"


def code(line: str) -> str:
    """A line of code as it is."""
    return f"```\n{line}\n```"


def title_page(title: str, parts: Sequence[str]) -> str:
    """A page: its title and what stands below it, without what is empty."""
    return "\n\n".join([f"# {escape_text(title)}", *filter(None, parts)]) + "\n"
