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
    capitalize_like,
    indefinite_article,
    is_plural,
    pluralize,
    singular_in,
    words,
)
from biasgraph.prompts.kinds import (
    COUNT_TAG,
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

_AGE = re.compile(
    r"\d+(-years?-old)?|years?|y\.?o\.?"
)  # the parts of "70-year-old" and "70 year old"


@dataclass(frozen=True)
class Sentence:
    """A prompt cut at its subject; the parts joined give the text.

    `is_tag`: the subject is a tag by itself among others: "1girl, red eyes, forest". `works`: the
    prompt's subject may be at work, whatever noun takes its place.
    """

    before: str
    determiner: str
    modifiers: str
    head: str
    complement: str
    after: str
    plural: bool
    is_tag: bool
    works: bool

    @classmethod
    def cut(cls, text: str, subject: Subject) -> Sentence:
        """Cut a prompt (without brackets) at its subject."""
        behind = text[subject.end :]
        complement = _complement_length(behind)
        alone = re.match(r"(:\s*[\d.]+)?[\s)]*(,|$)", behind)
        tag = bool(alone) and subject.start == subject.noun_start and text.count(",") > 1
        return cls(
            before=text[: subject.start],
            determiner=text[subject.start : subject.noun_start],
            modifiers=text[subject.noun_start : subject.head_start],
            head=text[subject.head_start : subject.end],
            complement=behind[:complement],
            after=behind[complement:],
            plural=subject.plural,
            is_tag=tag,
            works=not COUNT_TAG.fullmatch(subject.head) and not singular_in("idle", subject.head),
        )

    @property
    def shouted(self) -> bool:
        """Whether all is in capitals, and more than an abbreviation: "A CEO AT WORK"."""
        return self.text.isupper() and len(self.text.split()) > 1

    @property
    def _counted(self) -> re.Match[str] | None:
        return COUNT_TAG.fullmatch(self.head.lower())

    @property
    def noun(self) -> str:
        """The head without a number: girl of 1girl."""
        return self._counted[2] if self._counted else self.head

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
        phrase = attribute.phrase if sentence.works else attribute.idle or attribute.phrase
        if self.nouns:
            sentence = _with_noun(sentence, self.nouns[attribute.name])
        else:
            sentence = _insert(sentence, phrase, attribute.placement)
        after = self.vocabulary.set_pronouns(sentence.after, attribute.name, sentence.plural)
        return _with_article(replace(sentence, after=after))


def intervene(text: str, subject: Subject, axis: Axis) -> Intervention:
    """Take out of a prompt (without brackets) what it says of its subject along one axis."""
    return _take_out(Sentence.cut(text, subject), axis)


def intervene_jointly(text: str, subject: Subject, chosen: Sequence[tuple[Axis, Attribute]]) -> str:
    """Return the prompt (without brackets) with several axes set at once, in the order given."""
    sentence = Sentence.cut(text, subject)
    for axis, attribute in chosen:
        sentence = _take_out(sentence, axis).sentence(attribute)
    return sentence.text


def reword(text: str, subject: Subject, phrase: str, placement: str) -> str:
    """Return the prompt (without brackets) with a phrase put in and nothing taken out."""
    return _with_article(_insert(Sentence.cut(text, subject), phrase, placement)).text


def _take_out(sentence: Sentence, axis: Axis) -> Intervention:
    vocabulary = vocabulary_of(axis)
    modifiers, in_modifiers = vocabulary.strip_modifiers(sentence.modifiers, sentence.head)
    noun, nouns = vocabulary.counterparts(sentence.noun)
    carried = vocabulary.meaning(sentence.noun)
    if sentence.noun != sentence.head and not nouns:  # 1girl is of any age
        noun = carried = None
    strip = vocabulary.strip_tags if sentence.is_tag else vocabulary.strip_after
    after, in_after = strip(sentence.after)
    meanings = (
        in_modifiers,
        carried,
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
        bare = _capitalize(bare)
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
        name = token.text[0].isupper() and following[:1].isalpha() and not behind.isupper()
        clause = is_clause(token.lower) and not (name and tokens[i + 1].text[0].isupper())
        if not token.is_word or ends_phrase(token.lower) or clause or stops:
            break
        end = token.end
    return end


def _with_noun(sentence: Sentence, noun: str) -> Sentence:
    noun = pluralize(noun) if sentence.plural else noun
    if sentence.noun != sentence.head:
        return replace(sentence, head=sentence.head[: -len(sentence.noun)] + noun)
    return replace(sentence, head=capitalize_like(sentence.head, noun))


def _capitalize(sentence: Sentence) -> Sentence:
    if sentence.modifiers:
        modifiers = sentence.modifiers[0].upper() + sentence.modifiers[1:]
        return replace(sentence, modifiers=modifiers)
    return replace(sentence, head=sentence.head[0].upper() + sentence.head[1:])


def _insert(sentence: Sentence, phrase: str, placement: str) -> Sentence:
    """Put a phrase before or after the noun, or behind it as a tag where it is one itself."""
    if sentence.is_tag and (placement == "after" or sentence.noun != sentence.head):
        return _insert_tag(sentence, phrase)
    return (_insert_before if placement == "before" else _insert_after)(sentence, phrase)


def _insert_before(sentence: Sentence, phrase: str) -> Sentence:
    at = 0
    for token in tokenize(sentence.modifiers):
        if _is_owner(token.lower):
            at = token.end
    for token in tokenize(sentence.modifiers):
        if token.start < at:
            continue
        listed = token.lower in words("adjectives") or token.lower in words("adverbs")
        joins = token.lower in (",", "and")
        if not (listed or joins or is_adverb(token.lower) or _AGE.fullmatch(token.lower)):
            break
        at = token.end
    left, right = sentence.modifiers[:at], sentence.modifiers[at:].lstrip()
    phrase = _shout(phrase, sentence)
    if not left and sentence.starts_with_capital:
        phrase = phrase[0].upper() + phrase[1:]
        if right:
            right = _uncapitalize(right)
        else:
            sentence = replace(sentence, head=_uncapitalize(sentence.head))
    return replace(sentence, modifiers=f"{left} {phrase} {right}".lstrip())


def _is_owner(lower: str) -> bool:
    """Whether a word before a noun is the one it belongs to: a mayor's chauffeur."""
    owner = lower.removesuffix("'s")
    return owner != lower and kind_of(owner) == "person" and not is_plural(owner)


def _uncapitalize(text: str) -> str:
    """Take the capital of a sentence's start off a common word; a name keeps it."""
    word = tokenize(text)[0]
    known = kind_of(word.lower) != "unknown" or is_adjective(word.lower)
    common = (known or is_participle(word.lower)) and not singular_in("demonyms", word.lower)
    return text[0].lower() + text[1:] if common and word.text[1:].islower() else text


def _insert_after(sentence: Sentence, phrase: str) -> Sentence:
    phrase = _shout(agree(phrase, sentence.plural), sentence)
    first = phrase.split()[0].lower()
    match = re.match(r"\s+([\w-]+)", sentence.after)
    following = match[1].lower() if match else ""
    # "who is happy and who won", "who is happy and reading", "working indoors and reading", but
    # "working indoors who won".
    joined = is_clause(following) and (is_relative(first) or is_participle(first))
    joint = " and" if joined and (is_relative(first) or not is_relative(following)) else ""
    return replace(sentence, after=f" {phrase}{_shout(joint, sentence)}{sentence.after}")


def _insert_tag(sentence: Sentence, phrase: str) -> Sentence:
    """Put a phrase as a tag of its own behind the subject's tag: "1girl, in formal attire"."""
    tag = agree(re.sub(r"^(who|that) is ", "", phrase), sentence.plural)
    own, comma, rest = sentence.after.partition(",")
    end = own.rstrip()
    return replace(sentence, after=f"{end}, {_shout(tag, sentence)}{own[len(end) :]}{comma}{rest}")


def _shout(phrase: str, sentence: Sentence) -> str:
    """Put a phrase in capitals where the whole prompt is."""
    return phrase.upper() if sentence.shouted else phrase


def _with_article(sentence: Sentence) -> Sentence:
    match = re.search(r"\b(an?)(\s+)$", sentence.determiner, re.IGNORECASE)
    if match is None:
        return sentence
    shouted = sentence.shouted
    following = sentence.modifiers + sentence.head
    article = indefinite_article(following.lower() if shouted else following)
    article = article.upper() if shouted else capitalize_like(match[1][0], article)
    determiner = sentence.determiner[: match.start()] + article + match[2]
    return replace(sentence, determiner=determiner)
