"""Axes read off counterfactual prompts: what each says otherwise than the prompt is an attribute.

As a language model writes them (TIBET, supp. 8.1). An attribute gets a phrase where setting it in
the prompt gives the counterfactual word for word, and the whole counterfactual where it does not.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from biasgraph.data.axes import Attribute, Axis, AxisSet, load_axis_set
from biasgraph.errors import printable
from biasgraph.prompts.intervention import intervene
from biasgraph.prompts.subject import Subject, find_subject, strip_brackets
from biasgraph.prompts.suited_axes import SETS, kind_of_subject
from biasgraph.prompts.tibet_questions import closed_question

ALPHA = 0.05
"""The threshold of edges for axes as diverse as these (BiasConnect, supp. A.4)."""
LONGEST = 90
"""Characters of a name that is cut out of a prompt."""
MOST = 50
"""Attributes of an axis."""
_ARTICLES = frozenset(["a", "an", "the"])
_FILLERS = _ARTICLES | {"of", "with"}
_OPENINGS = _FILLERS | {"in", "who", "that", "which", "is", "are", "being"}
"""Words that a name does without: "who is happy" is called happy."""

Placement = Literal["before", "after"]


@dataclass(frozen=True)
class Difference:
    """What a counterfactual says that its prompt does not.

    Attributes:
        phrase: the words.
        placement: on which side of the subject's noun.
        replaced: the prompt's words in its place, empty where it was only put in.
    """

    phrase: str
    placement: Placement
    replaced: str


def find_difference(initial: str, text: str, head: int) -> Difference:
    """What `text` says otherwise than `initial`.

    Args:
        initial: the prompt.
        text: its counterfactual.
        head: how many words of the prompt stand before the subject's noun.
    """
    old, new = initial.split(), text.split()
    matcher = difflib.SequenceMatcher(
        None, [_plain(word) for word in old], [_plain(word) for word in new], autojunk=False
    )
    parts = [_slid(*block[1:], new) for block in matcher.get_opcodes() if block[0] != "equal"]
    said = _join_words([word for _, _, start, end in parts for word in new[start:end]])
    gone = _join_words([word for start, end, _, _ in parts for word in old[start:end]])
    before = all(start <= head for start, *_ in parts)
    phrase = printable(said or text.strip())[:LONGEST].strip()
    return Difference(phrase, "before" if before else "after", printable(gone)[:LONGEST].strip())


def _slid(
    start: int, end: int, new_start: int, new_end: int, new: Sequence[str]
) -> tuple[int, int, int, int]:
    """A block of words that were put in, as far to the left as it can be.

    Of "formal attire in" behind "in" it makes "in formal attire".
    """
    while start == end and start and _plain(new[new_start - 1]) == _plain(new[new_end - 1]):
        start, end, new_start, new_end = start - 1, end - 1, new_start - 1, new_end - 1
    return start, end, new_start, new_end


def trim_phrase(phrase: str, openings: Collection[str] = _FILLERS) -> str:
    """A phrase without the small words at its ends."""
    words = phrase.split()
    while len(words) > 1 and words[0].lower() in openings:
        words = words[1:]
    while len(words) > 1 and words[-1].lower() in _FILLERS:
        words = words[:-1]
    return " ".join(words)


def make_distinct(names: Sequence[str]) -> list[str]:
    """Names that differ, whatever the case, and mean nothing of their own."""
    taken, given = {"unknown", "gated"}, []
    for name in names:
        number, candidate = 1, name
        while candidate.casefold() in taken:
            number += 1
            candidate = f"{name} ({number})"
        taken.add(candidate.casefold())
        given.append(candidate)
    return given


def bare_axis_name(name: str) -> str:
    """An axis's name without what all have: "Gender_Bias" is about gender."""
    words = re.split(r"[\W_]+", name.lower())
    return "-".join(word for word in words if word not in ("", "bias", "biases"))


def derived_axes(
    prompt: str, counterfactuals: Mapping[str, Sequence[str]], name: str
) -> tuple[AxisSet | None, tuple[str, ...]]:
    """An axis for each list of counterfactuals of a prompt, and what was left out.

    An axis with fewer than two counterfactuals of its own has nothing to compare. Where the
    counterfactuals replace a word of the prompt ("a nurse" for "a librarian"), this word is an
    attribute too.

    Args:
        prompt: may have brackets.
        counterfactuals: axis -> prompts.
        name: of the axis set.

    Returns:
        The axis set, None where no axis offers a choice; and a line for each thing left out.

    Raises:
        InputError: as `find_subject` does.
    """
    clean, _ = strip_brackets(prompt)
    subject = find_subject(prompt)
    model = load_axis_set(SETS.get(kind_of_subject(prompt), "object"))
    axes: list[Axis] = []
    notes: list[str] = []
    titles = make_distinct([_axis_name(axis) for axis in counterfactuals])
    for title, texts in zip(titles, counterfactuals.values(), strict=True):
        own = _different_texts(clean, texts)
        question = closed_question(title, model.subject)
        axis = _axis(title, question, clean, subject, own) if own else None
        if axis is None:
            notes.append(f"axis '{title}' left out: it offers no choice")
            continue
        if (left_out := len(texts) - len(axis.attributes)) > 0:
            notes.append(
                f"axis '{title}': {left_out} of {len(texts)} counterfactuals left out because they "
                "repeat another one or the prompt"
            )
        axes.append(axis)
    if not axes:
        return None, tuple(notes)
    whole = any(attribute.prompt for axis in axes for attribute in axis.attributes)
    axis_set = AxisSet(
        name=name,
        subject=model.subject,
        gate=model.gate,
        gate_captions=model.gate_captions,
        prompt=clean if whole else None,
        alpha=ALPHA,
        axes=tuple(axes),
    )
    return axis_set, tuple(notes)


def _different_texts(prompt: str, texts: Sequence[str]) -> list[str]:
    """The counterfactuals in the prompt's punctuation, once each, and without the prompt itself."""
    texts_by_key: dict[str, str] = {}
    for text in texts:
        like = _like(prompt, printable(" ".join(text.split())))
        if like and like.casefold() != prompt.casefold():
            texts_by_key.setdefault(like.casefold(), like)
    return list(texts_by_key.values())


def _like(prompt: str, text: str) -> str:
    """A counterfactual with the full stop and the capital that its prompt has.

    No more may differ than what it is about.
    """
    if not prompt.rstrip().endswith("."):
        text = text.rstrip(".").rstrip()
    first, other = prompt.split()[0], (text.split() or [""])[0]
    articles = {first.lower(), other.lower()} <= {"a", "an"}
    if articles or first.lower() == other.lower():
        text = (first[0] if first[0].lower() == other[0].lower() else other[0]) + text[1:]
    return text


def _axis_name(name: str) -> str:
    words = printable(bare_axis_name(name).replace("-", " "))[:LONGEST].strip()
    return words or printable(name.replace(",", " "))[:LONGEST].strip() or "axis"


def _axis(
    title: str, question: str, prompt: str, subject: Subject, texts: Sequence[str]
) -> Axis | None:
    """The axis of some counterfactuals; None for words that no axis can have."""
    texts = texts[:MOST]
    head = len(prompt[: subject.head_start].split())
    said = [find_difference(prompt, text, head) for text in texts]
    own = _own_word(said)
    if own and len(texts) < MOST:
        texts, said = [*texts, prompt], [*said, Difference(own, "before", "")]
    phrases = make_distinct([difference.phrase for difference in said])
    names = make_distinct([trim_phrase(phrase, _OPENINGS) for phrase in phrases])
    others = {phrase.casefold() for phrase in phrases}
    try:
        attributes = [
            Attribute(
                name=name,
                phrase=phrase,
                placement=difference.placement,
                synonyms=() if name.casefold() in others else (name,),
            )
            for name, phrase, difference in zip(names, phrases, said, strict=True)
        ]
        axis = Axis(name=title, attributes=tuple(attributes), question=question)
        intervention = intervene(prompt, subject, axis)
        whole = [
            attribute
            if intervention.text(attribute) == text
            else attribute.model_copy(update={"prompt": text})
            for attribute, text in zip(attributes, texts, strict=True)
        ]
        return Axis.model_validate({**dict(axis), "attributes": tuple(map(dict, whole))})
    except ValidationError:
        return None


def _own_word(said: Sequence[Difference]) -> str:
    """The word that at least half of the counterfactuals put another one in the place of."""
    replaced = [difference.replaced for difference in said]
    counts = Counter(word.casefold() for word in replaced if word)
    if not counts:
        return ""
    word, times = counts.most_common(1)[0]
    phrases = [difference.phrase for difference in said]
    phrases += [trim_phrase(phrase, _OPENINGS) for phrase in phrases]
    if 2 * times < len(replaced) or word in map(str.casefold, phrases):
        return ""
    return next(own for own in replaced if own.casefold() == word)


def _join_words(words: Sequence[str]) -> str:
    words = [word.strip(".,;:!?") for word in words]
    while words and words[0].lower() in _ARTICLES:
        words = words[1:]
    if len(words) > 1 and words[-1].lower() == "and":  # it joins the phrase to one that was there
        words = words[:-1]
    return " ".join(words).strip()


def _plain(word: str) -> str:
    return word.strip(".,;:!?").casefold()
