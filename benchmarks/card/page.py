"""Fills the marked parts of docs/sandbox.md."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PART = re.compile(
    r"(?P<begin><!-- begin (?P<name>[a-z0-9-]+) -->\n).*?(?P<end><!-- end (?P=name) -->)", re.S
)


def filled(page: str, parts: Mapping[str, str]) -> str:
    """The page with the text between ``<!-- begin NAME -->`` and ``<!-- end NAME -->`` replaced.

    A marked part without a text is left as it is.

    Raises:
        KeyError: a text has no place on the page.
    """
    homeless = set(parts) - set(marked(page))
    if homeless:
        raise KeyError(f"no place for {', '.join(sorted(homeless))}")

    def part(match: re.Match[str]) -> str:
        if match["name"] not in parts:
            return match[0]
        return f"{match['begin']}{parts[match['name']].rstrip()}\n{match['end']}"

    return _PART.sub(part, page)


def marked(page: str) -> dict[str, str]:
    """The texts between the markers, by name."""
    return {
        match["name"]: match[0][len(match["begin"]) : -len(match["end"])]
        for match in _PART.finditer(page)
    }
