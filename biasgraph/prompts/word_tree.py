"""The order of a prompt's words from its subject outward, breadth first (GradBias sec. 4.2.2).

With spaCy (the extra `spacy`) and an English pipeline the tree is its parse, hung up at the
subject. Without, what this package knows of noun phrases stands in: around the subject's noun, its
modifiers and the nouns and participles of the other phrases, and around these their modifiers.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasgraph.errors import InputError, ModelError, printable
from biasgraph.prompts.grammar import words
from biasgraph.prompts.kinds import is_participle
from biasgraph.prompts.prompt_words import PromptWord, split_words
from biasgraph.prompts.subject import Subject, find_subject

PHRASES = "noun phrases, without a parser"
_SUBJECTS = frozenset(("nsubj", "nsubjpass", "csubj"))


@dataclass(frozen=True)
class WordOrder:
    """In which order words are visited.

    Attributes:
        places: One a word: 0 is visited first.
        source: What told the order: a parser with its version, or `PHRASES`.
    """

    places: tuple[int, ...]
    source: str


def tree_order(
    prompt: str, ranked: Sequence[PromptWord], subject: Subject | None = None
) -> WordOrder:
    """Words in the order of the dependency tree, from the subject outward, breadth first.

    Args:
        prompt: Without brackets.
        ranked: Of `split_words`: those that are to be put in order.
        subject: The prompt's, where brackets name it; found by rules otherwise, and else by the
            parser.

    Raises:
        ModelError: A pipeline of spaCy is installed and does not load.
    """
    if subject is None:
        try:
            subject = find_subject(prompt)
        except InputError:
            subject = None
    parser = _parser()
    if parser is None:
        visited = _by_phrase(prompt, subject)
    else:
        visited = [
            (token.idx, token.idx + len(token)) for token in _by_parse(parser(prompt), subject)
        ]
    found = [_place(word, visited) for word in ranked]
    order = sorted(range(len(ranked)), key=lambda i: (found[i], ranked[i].start))
    places = tuple(order.index(i) for i in range(len(ranked)))
    return WordOrder(places, PHRASES if parser is None else _name_model(parser.meta))


def _place(word: PromptWord, visited: Sequence[tuple[int, int]]) -> int:
    """Where the first token of a word stands among those that were visited."""
    over = (i for i, (start, end) in enumerate(visited) if start < word.end and word.start < end)
    return min(over, default=len(visited))


# spaCy


@functools.cache
def _parser() -> Any:
    """The first English pipeline that spaCy finds, small ones first; None where there is none."""
    try:
        import spacy
    except ImportError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of another version: that stands in the result
        for name in sorted(spacy.util.get_installed_models(), key=_size):
            if not name.startswith("en_"):
                continue
            try:
                pipeline = spacy.load(name, exclude=["ner", "lemmatizer"])
            except Exception as error:  # a package of somebody else's
                raise ModelError(
                    f"spaCy's pipeline {printable(name)} does not load: "
                    f"{printable(' '.join(str(error).split()))[:200]}"
                ) from error
            if "parser" in pipeline.pipe_names:
                return pipeline
    return None


def _size(name: str) -> tuple[int, str]:
    sizes = ("_sm", "_md", "_lg", "_trf")
    return next((i for i, end in enumerate(sizes) if name.endswith(end)), len(sizes)), name


def _name_model(meta: Mapping[str, Any]) -> str:
    import spacy

    return f"spaCy {spacy.__version__}, {meta['lang']}_{meta['name']} {meta['version']}"


def _by_parse(document: Any, subject: Subject | None) -> Iterator[Any]:
    """The tokens of each sentence from its subject outward, the prompt's subject's first."""
    roots = []
    for sentence in document.sents:
        inside = [token for token in sentence if subject and _covers(subject, token)]
        named = [token for token in sentence if token.dep_ in _SUBJECTS]
        own = [token for token in named if token.head.i == sentence.root.i]
        roots.append((not inside, (inside or own or named or [sentence.root])[-1]))
    for _, root in sorted(roots, key=lambda one: one[0]):
        seen, level = {root.i}, [root]
        while level:
            yield from level
            near = [
                other
                for token in level
                for other in sorted((*token.children, token.head), key=lambda one: int(one.i))
            ]
            level = []
            for token in near:
                if token.i not in seen:
                    seen.add(token.i)
                    level.append(token)


def _covers(subject: Subject, token: Any) -> bool:
    """Whether a token is of the subject's head noun."""
    return bool(subject.head_start < token.idx + len(token) and token.idx < subject.end)


# Without it


def _by_phrase(prompt: str, subject: Subject | None) -> list[tuple[int, int]]:
    """The words of a prompt by their distance from the subject's noun, then as they stand."""
    phrases = list(_phrases(prompt, subject))
    first = next((phrase for phrase in phrases if subject and phrase[-1].end == subject.end), None)
    far = []
    for phrase in phrases:
        own = phrase is (first or phrases[0])
        acts = not own and is_participle(phrase[0].text.lower())
        head = phrase[0] if acts else phrase[-1]
        for word in phrase:
            inner = acts and word is not phrase[-1]  # what describes the participle's object
            distance = (not own) + (word is not head) * (1 + inner)
            far.append((distance, word.start, word.end))
    return [(start, end) for _, start, end in sorted(far)]


def _phrases(prompt: str, subject: Subject | None) -> Iterator[list[PromptWord]]:
    """Content words that follow each other; the subject ends its phrase."""
    phrase: list[PromptWord] = []
    for word in split_words(prompt):
        sign = not any(map(str.isalnum, word.text))
        if phrase and (sign or word.text.lower() in words("stop_words")):
            yield phrase
            phrase = []
        elif not sign and word.text.lower() not in words("stop_words"):
            phrase.append(word)
        if phrase and subject and word.end == subject.end:
            yield phrase
            phrase = []
    if phrase:
        yield phrase
