"""Setting one axis in a prompt: what it says of the axis is taken out, then a phrase is put in.

A counterfactual depends on the prompt only through what is left when the axis is taken out, so an
intervention on an intervened prompt gives the same text as one on the prompt itself.

Where a phrase goes: before the noun, after the determiners and the adjectives that English puts
first ("a famous *young* social worker"); after the noun, right behind it and its "of ..." ("a nurse
*who is happy* in Paris", "a teacher of physics *who is happy*"), joined by "and" to a clause of its
kind that follows ("who is happy and who won", "working indoors and reading"). A noun that carries
the attribute itself is exchanged ("woman" for "man").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from biasgraph.data.axes import Attribute, Axis
from biasgraph.prompts.grammar import (
    capitalized_like,
    indefinite_article,
    pluralize,
    singular_in,
    words,
)
from biasgraph.prompts.kinds import (
    determiner_number,
    ends_phrase,
    is_adjective,
    is_adverb,
    is_clause,
    is_participle,
    is_relative,
    kind_of,
)
from biasgraph.prompts.subject import Subject
from biasgraph.prompts.tokens import tokenize
from biasgraph.prompts.vocabulary import Vocabulary, agree, vocabulary_of

_AGE = re.compile(r"\d+(-years?-old)?|years?")  # the parts of "70-year-old" and "70 year old"


@dataclass(frozen=True)
class Sentence:
    """A prompt cut at its subject; the parts joined give the text."""

    before: str
    determiner: str
    modifiers: str
    head: str
    complement: str
    after: str
    plural: bool

    @classmethod
    def cut(cls, text: str, subject: Subject) -> Sentence:
        """Cut a prompt (without brackets) at its subject."""
        behind = text[subject.end :]
        complement = _complement_length(behind)
        return cls(
            before=text[: subject.start],
            determiner=text[subject.start : subject.noun_start],
            modifiers=text[subject.noun_start : subject.head_start],
            head=text[subject.head_start : subject.end],
            complement=behind[:complement],
            after=behind[complement:],
            plural=subject.plural,
        )

    @property
    def text(self) -> str:
        """The parts joined."""
        subject = self.determiner + self.modifiers + self.head
        return self.before + subject + self.complement + self.after

    @property
    def starts_with_capital(self) -> bool:
        """Whether a modifier or the head is the prompt's first word and has a capital for it."""
        first = not self.determiner and not any(map(str.isalnum, self.before))
        return first and (self.modifiers + self.head)[:1].isupper()


@dataclass(frozen=True)
class Intervention:
    """A prompt ready to be set along one axis.

    `fixed` is the attribute that the prompt fixes, or its word for the axis where that means none
    of the attributes, or None.
    """

    vocabulary: Vocabulary
    bare: Sentence
    nouns: Mapping[str, str]
    fixed: str | None

    def text(self, attribute: Attribute) -> str:
        """Return the counterfactual prompt for one attribute of the axis."""
        return self.sentence(attribute).text

    def sentence(self, attribute: Attribute) -> Sentence:
        """The counterfactual prompt, cut at its subject."""
        sentence = self.bare
        if self.nouns:
            sentence = _with_noun(sentence, self.nouns[attribute.name])
        elif attribute.placement == "before":
            sentence = _insert_before(sentence, attribute.phrase)
        else:
            sentence = _insert_after(sentence, attribute.phrase)
        after = self.vocabulary.set_pronouns(sentence.after, attribute.name, sentence.plural)
        return _with_article(replace(sentence, after=after))


def intervene(text: str, subject: Subject, axis: Axis) -> Intervention:
    """Take out of a prompt (without brackets) what it says of its subject along one axis."""
    return _taken_out(Sentence.cut(text, subject), axis)


def intervene_jointly(text: str, subject: Subject, chosen: Sequence[tuple[Axis, Attribute]]) -> str:
    """Return the prompt (without brackets) with several axes set at once, in the order given."""
    sentence = Sentence.cut(text, subject)
    for axis, attribute in chosen:
        sentence = _taken_out(sentence, axis).sentence(attribute)
    return sentence.text


def _taken_out(sentence: Sentence, axis: Axis) -> Intervention:
    vocabulary = vocabulary_of(axis)
    modifiers, in_modifiers = vocabulary.strip_modifiers(sentence.modifiers, sentence.head)
    noun, nouns = vocabulary.counterparts(sentence.head)
    after, in_after = vocabulary.strip_after(sentence.after)
    meanings = (
        in_modifiers,
        vocabulary.meaning(sentence.head),
        in_after,
        vocabulary.pronoun_meaning(sentence.after, sentence.plural),
    )
    bare = replace(sentence, modifiers=modifiers, after=after)
    if not bare.complement:  # it may have stood behind what was taken out
        end = _complement_length(after)
        bare = replace(bare, complement=after[:end], after=after[end:])
    if noun:
        bare = _with_noun(bare, noun)
    if sentence.starts_with_capital:
        bare = _capitalized(bare)
    fixed = next((meaning for meaning in meanings if meaning is not None), None)
    return Intervention(vocabulary, bare, nouns, fixed)


def _complement_length(behind: str) -> int:
    """The length of what belongs to the noun more closely than any phrase put behind it.

    "of physics", "from Ghana".
    """
    tokens = tokenize(behind)
    if len(tokens) < 2 or behind[: tokens[0].start].strip():
        return 0
    if tokens[0].lower != "of" and not (tokens[0].lower == "from" and tokens[1].text[0].isupper()):
        return 0
    end = 0
    for i, token in enumerate(tokens[1:], start=1):
        following = tokens[i + 1].lower if i + 1 < len(tokens) else ""
        joins = token.lower in ("and", "or")
        stops = joins and (is_clause(following) or determiner_number(following) or not following)
        if not token.is_word or ends_phrase(token.lower) or is_clause(token.lower) or stops:
            break
        end = token.end
    return end


def _with_noun(sentence: Sentence, noun: str) -> Sentence:
    noun = pluralize(noun) if sentence.plural else noun
    return replace(sentence, head=capitalized_like(sentence.head, noun))


def _capitalized(sentence: Sentence) -> Sentence:
    if sentence.modifiers:
        modifiers = sentence.modifiers[0].upper() + sentence.modifiers[1:]
        return replace(sentence, modifiers=modifiers)
    return replace(sentence, head=sentence.head[0].upper() + sentence.head[1:])


def _insert_before(sentence: Sentence, phrase: str) -> Sentence:
    at = 0
    for token in tokenize(sentence.modifiers):
        listed = token.lower in words("adjectives") or token.lower in words("adverbs")
        joins = token.lower in (",", "and")
        if not (listed or joins or is_adverb(token.lower) or _AGE.fullmatch(token.lower)):
            break
        at = token.end
    left, right = sentence.modifiers[:at], sentence.modifiers[at:].lstrip()
    phrase = _shouted(phrase, sentence)
    if not left and sentence.starts_with_capital:
        phrase = phrase[0].upper() + phrase[1:]
        if right:
            right = _uncapitalized(right)
        else:
            sentence = replace(sentence, head=_uncapitalized(sentence.head))
    return replace(sentence, modifiers=f"{left} {phrase} {right}".lstrip())


def _uncapitalized(text: str) -> str:
    """Take the capital of a sentence's start off a common word; a name keeps it."""
    word = tokenize(text)[0]
    known = kind_of(word.lower) != "unknown" or is_adjective(word.lower)
    common = (known or is_participle(word.lower)) and not singular_in("demonyms", word.lower)
    return text[0].lower() + text[1:] if common and word.text[1:].islower() else text


def _insert_after(sentence: Sentence, phrase: str) -> Sentence:
    phrase = _shouted(agree(phrase, sentence.plural), sentence)
    first = phrase.split()[0].lower()
    match = re.match(r"\s+([\w-]+)", sentence.after)
    following = match[1].lower() if match else ""
    # "who is happy and who won", "who is happy and reading", "working indoors and reading", but
    # "working indoors who won".
    joined = is_clause(following) and (is_relative(first) or is_participle(first))
    joint = " and" if joined and (is_relative(first) or not is_relative(following)) else ""
    return replace(sentence, after=f" {phrase}{_shouted(joint, sentence)}{sentence.after}")


def _shouted(phrase: str, sentence: Sentence) -> str:
    """Put a phrase in capitals where the whole prompt is."""
    return phrase.upper() if sentence.text.isupper() else phrase


def _with_article(sentence: Sentence) -> Sentence:
    match = re.search(r"\b(an?)(\s+)$", sentence.determiner, re.IGNORECASE)
    if match is None:
        return sentence
    shouted = sentence.text.isupper()
    following = sentence.modifiers + sentence.head
    article = indefinite_article(following.lower() if shouted else following)
    article = article.upper() if shouted else capitalized_like(match[1][0], article)
    determiner = sentence.determiner[: match.start()] + article + match[2]
    return replace(sentence, determiner=determiner)
