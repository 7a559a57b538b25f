"""Markdown as a parser of CommonMark and GitHub's tables reads it."""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def shape(page: str) -> list[str]:
    """What a page consists of, without its texts."""
    kinds = [token.type for token in _flat(PARSER.parse(page))]
    return [kind for kind in kinds if kind not in ("text", "text_special")]


def text(page: str) -> str:
    """What a reader sees of a page."""
    blocks = [token for token in PARSER.parse(page) if token.type in ("inline", "fence")]
    return "\n".join(_text(block) for block in blocks)


def tables(page: str) -> list[list[list[str]]]:
    """The cells of every table, its heading first."""
    found: list[list[list[str]]] = []
    inside = False
    for token in PARSER.parse(page):
        if token.type in ("table_open", "table_close"):
            inside = token.type == "table_open"
            found += [[]] if inside else []
        elif token.type == "tr_open":
            found[-1].append([])
        elif inside and token.type == "inline":
            found[-1][-1].append(_text(token))
    return found


def _flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _flat(token.children or [])


def _text(token: Token) -> str:
    if token.type == "fence":
        return token.content
    return "".join(part.content for part in token.children or [])
