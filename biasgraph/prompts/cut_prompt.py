"""A prompt with words left out or exchanged, its articles, capitals and signs mended."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from biasgraph.prompts.grammar import capitalize_like, indefinite_article
from biasgraph.prompts.tokens import PromptToken

ARTICLES = ("a", "an")
_EMPTY_GROUP = re.compile(r"\(\s*(:\s*[-+]?[\d.]+\s*)?\)")
_TIDYING = (
    (_EMPTY_GROUP, " "),
    (re.compile(r"\s+"), " "),
    (re.compile(r" (?=[,.;:!?)])"), ""),
    (re.compile(r"\( "), "("),
    (re.compile(r"([,;:])(?:\s*[,;:])+(?=\s|$)"), r"\1"),
    (re.compile(r",(?=[.!?;])"), ""),
    (re.compile(r"^[\s,;:.]+|[\s,;:]+$"), ""),
)


def cut_prompt(
    text: str, tokens: Sequence[PromptToken], dropped: Set[int], put: Mapping[int, str]
) -> str:
    """The prompt without some of its words, and with others in the place of some.

    Args:
        text: The prompt.
        tokens: Its words and signs.
        dropped: Indices of the words that go.
        put: Index -> what stands there instead.
    """
    said = [
        put.get(i, "" if i in dropped else text[token.start : token.end])
        for i, token in enumerate(tokens)
    ]
    shouted = text.isupper() and len(tokens) > 1
    if shouted:
        said = [words.upper() for words in said]
    for i, token in enumerate(tokens[:-1]):
        if token.lower in ARTICLES and said[i] and (i + 1 in dropped or i + 1 in put):
            following = next(filter(None, said[i + 1 :]), "")
            article = indefinite_article(following.lower() if shouted else following)
            said[i] = article.upper() if shouted else capitalize_like(token.text[0], article)
    parts, end = [], 0
    for token, words in zip(tokens, said, strict=True):
        parts += [text[end : token.start], words]
        end = token.end
    cut = _tidy("".join([*parts, text[end:]]))
    first = next((i for i, token in enumerate(tokens) if token.is_word), 0)
    if tokens and not said[first] and tokens[first].text[:1].isupper() and not shouted:
        return cut[:1].upper() + cut[1:]
    return cut


def _tidy(text: str) -> str:
    """Clean up spaces, commas and brackets that hold nothing any more."""
    before = None
    while text != before:
        before = text
        for pattern, instead in _TIDYING:
            text = pattern.sub(instead, text)
    return text
