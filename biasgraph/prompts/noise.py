"""What prompts say to a program, not about the picture: weights, flags, networks, breaks.

"(word:1.2)", "[blurry:sharp:0.3]", "<lora:x:0.8>", "BREAK", "::2", "--ar 16:9". Masked for the
reading; the text itself stays as it is.
"""

from __future__ import annotations

import re

_EDIT = r"\[[^\[\]]*(?::\s*\d*\.?\d+\s*|\|[^\[\]]*)\]|(?<=, )\[\[[^\[\]]*\]\]"
_SEPARATING = re.compile(
    rf"{_EDIT}|\b(?:score|source|rating)[_:]\w+|https?://\S+|<[^<>]*>|\bBREAK\b|::(?:-?\d*\.?\d+)?|\||(?<!\S)--(?=[a-z]).*$"
)
_OPENING = re.compile(r"\s*/imagine\b(?:\s*prompt\s*:)?\s*")
_WEIGHT = re.compile(r":\s*[-+]?\d*\.?\d+\s*(?=\))")
_GROUP = re.compile(r"(?<!\\)\(+([^()]*)(?<!\\)\)+")


def mask_edits(text: str) -> str:
    """Blank out "[from:to:when]" and "[a|b]", so that other brackets are the user's."""
    return re.sub(_EDIT, lambda match: " " * len(match[0]), text)


def mask_noise(text: str) -> str:
    """The prompt with blanks and commas in the place of what is no English; as long as before."""
    text = _OPENING.sub(_blank, text, count=1) if text.lstrip().startswith("/imagine") else text
    text = _SEPARATING.sub(lambda match: "," + " " * (len(match[0]) - 1), text)
    while group := _GROUP.search(text):  # innermost groups first
        text = text[: group.start()] + _ungroup(group) + text[group.end() :]
    return re.sub(r"[{}_]", " ", text)


def _ungroup(match: re.Match[str]) -> str:
    """A group without its signs, where they are there for its weight or around a whole tag."""
    group, before, after = match[0], match.string[: match.start()], match.string[match.end() :]
    alone = re.search(r"(^|[,(])\s*$", before) and re.match(r"\s*([,)]|$)", after)
    if not (alone or group.startswith("((") or _WEIGHT.search(group)):
        return group.replace("(", "\u2039").replace(")", "\u203a")  # an aside: its signs stay signs
    return re.sub(r"[()]", " ", _WEIGHT.sub(_blank, group))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
