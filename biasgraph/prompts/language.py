"""Whether a text is English: by its letters, its small words, and the words that no list knows."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence

from biasgraph.io import resources
from biasgraph.prompts import lexicon
from biasgraph.prompts.grammar import words

_SCRIPTS = {"CJK": "Chinese characters", "HANGUL": "Korean script", "HIRAGANA": "Japanese script"}


def other_script(text: str) -> str | None:
    """The name of the script that a third of the letters are of, unless it is Latin."""
    letters = [char for char in text if char.isalpha()]
    other = [char for char in letters if not unicodedata.name(char, "LATIN").startswith("LATIN")]
    if len(other) * 3 < len(letters) or not other:
        return None
    script = unicodedata.name(other[0]).split()[0]
    return _SCRIPTS.get(script, f"{script.capitalize()} script")


def is_foreign(lower: Sequence[str]) -> bool:
    """Whether a phrase is in another language that is written in Latin letters."""
    spoken = [word for word in lower if word.replace("'", "").replace("-", "").isalpha()]
    inner = spoken[:-1] if len(spoken) > 1 and lexicon.noun_senses(spoken[-1]) else spoken
    small = sum(word in words("foreign") or word[:2] in ("d'", "l'") for word in inner)
    strange = sum(not is_word(word) for word in spoken)
    accented = sum(not is_word(word) and not word.isascii() for word in inner)
    if lower[:1] == ["la"]:  # "in LA" is English
        return True
    if small and accented:
        return True
    if small >= 2 or (small and len(spoken) <= 3) or (small and strange):
        return small * 5 >= len(spoken) or strange * 2 >= len(spoken)
    return len(spoken) >= 3 and strange * 2 >= len(spoken)


def is_word(lower: str) -> bool:
    """Whether any list, or WordNet, has a word or its parts."""
    parts = [part for part in lower.replace("'s", "").replace("'", "").split("-") if part]
    return all(
        part in _read_words() or len(part) == 1 or lexicon.is_known(part) or lexicon.compound(part)
        for part in parts
    )


@functools.cache
def _read_words() -> frozenset[str]:
    names = [
        name for name in resources.names("words", ".txt") if name not in ("foreign", "articles")
    ]
    return frozenset().union(*map(words, names))
