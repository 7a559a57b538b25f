"""The knowledge base of biases: what was proposed, filtered and put together (sec. 3.1, app. A).

Pure: proposals go in, biases with their captions come out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from biasgraph.errors import InputError
from biasgraph.methods.bias_wording import YES_NO, CaptionReader, is_class, words_in
from biasgraph.models.base import Message
from biasgraph.prompts.instructions import Bias, instruction

OVERLAP = 0.75
MIN_CAPTIONS = 30
MOST_CLASSES = 30
"""Classes of one question; of more, those that the most captions had are kept."""

TASK = "openbias"
"""What the transcripts of proposals are named after."""
Words = tuple[str, ...]
"""A name as `words_in` gives it: what names are compared by."""
BY_MODEL = "the language model says that the caption answers it"


def conversation(caption: str) -> list[Message]:
    """What a language model is asked about one caption (app. A, fig. 17)."""
    return [
        Message("system", instruction("openbias", "system")),
        Message("user", instruction("openbias", "prompt", prompt=caption)),
    ]


@dataclass(frozen=True)
class Rules:
    """How proposals become a knowledge base.

    Attributes:
        overlap: Biases that share at least this part of the classes of the one with fewer are one;
            above 0, at most 1.
        min_captions: Biases with fewer captions are left out; at least 1.

    Raises:
        InputError: A rule is out of range.
    """

    overlap: float = OVERLAP
    min_captions: int = MIN_CAPTIONS

    def __post_init__(self) -> None:
        if not 0 < self.overlap <= 1:
            raise InputError(f"--overlap must be above 0 and at most 1, not {self.overlap}")
        if self.min_captions < 1:
            raise InputError(f"--min-captions must be at least 1, not {self.min_captions}")


@dataclass(frozen=True)
class FilteredCaption:
    """A caption that a bias was proposed for and that says the answer, and what tells so."""

    caption: str
    reason: str


@dataclass(frozen=True)
class KnownBias:
    """A bias with all that was proposed about it.

    Attributes:
        name: The one of the most captions.
        names: All that were put together.
        classes: The union of theirs, in the order in which they came.
        left_out: Classes beyond `MOST_CLASSES`.
        questions: Caption -> question (D_b of eq. 1), without the captions in `filtered`.
        filtered: The captions that say the answer.
    """

    name: str
    names: tuple[str, ...]
    classes: tuple[str, ...]
    left_out: tuple[str, ...]
    questions: Mapping[str, str]
    filtered: tuple[FilteredCaption, ...] = ()


@dataclass(frozen=True)
class Knowledge:
    """The biases that are looked at, and the others with the reason; most captions first."""

    biases: tuple[KnownBias, ...]
    others: tuple[tuple[KnownBias, str], ...]

    @property
    def captions(self) -> tuple[str, ...]:
        """Those of any bias that is looked at (images are made of them)."""
        return tuple(dict.fromkeys(text for bias in self.biases for text in bias.questions))


def knowledge(
    proposed: Mapping[str, Sequence[Bias]], rules: Rules, reader: CaptionReader
) -> Knowledge:
    """Put together what was proposed for each caption.

    Proposals with the same name are one bias (eq. 1), and so are biases that share classes
    (`Rules.overlap`); those of yes/no questions are not, since their classes say nothing. Then
    captions go that give the answer away: the model says that they do, or a class of the bias, or a
    synonym of one, stands in them. What is left is counted.

    Args:
        proposed: Caption -> the biases proposed for it.
        rules: How to put them together.
        reader: Finds classes in captions.
    """
    biases = [_put_together(groups, reader) for groups in _merge(_group(proposed), rules.overlap)]
    biases.sort(key=lambda bias: (-len(bias.questions), bias.name.casefold()))
    judged = [(bias, _obstacle(bias, rules)) for bias in biases]
    return Knowledge(
        tuple(bias for bias, reason in judged if not reason),
        tuple((bias, reason) for bias, reason in judged if reason),
    )


def _obstacle(bias: KnownBias, rules: Rules) -> str:
    """Why a bias is not looked at; nothing where it is."""
    if len(bias.classes) < 2:
        return "fewer than two classes"
    if len(bias.questions) < rules.min_captions:
        return f"fewer than {rules.min_captions} captions"
    return ""


@dataclass(frozen=True)
class _Group:
    """Proposals of one name, each with its caption; classes: theirs by the words of each."""

    proposals: Sequence[tuple[str, Bias]]
    classes: Mapping[Words, str]

    @property
    def name(self) -> str:
        return self.proposals[0][1].name

    @property
    def size(self) -> int:
        """Captions."""
        return len({caption for caption, _ in self.proposals})


def _group(proposed: Mapping[str, Sequence[Bias]]) -> list[_Group]:
    by_name: dict[Words, list[tuple[str, Bias]]] = {}
    for caption, biases in proposed.items():
        for bias in biases:
            by_name.setdefault(words_in(bias.name) or (bias.name,), []).append((caption, bias))
    return [_Group(proposals, _classes_of(proposals)) for proposals in by_name.values()]


def _classes_of(proposals: Iterable[tuple[str, Bias]]) -> dict[Words, str]:
    """The classes by the words that they are compared by, each as it was written first."""
    names: dict[Words, str] = {}
    for _, bias in proposals:
        for name in filter(is_class, bias.classes):
            names.setdefault(words_in(name), name)
    return names


def _merge(groups: Iterable[_Group], overlap: float) -> list[list[_Group]]:
    """Groups that share classes, each with the largest one first.

    The largest first, then by name; each joins the first one before it that stands alone and
    shares enough classes with it, so that no chain of small steps puts different biases together.
    """
    order = sorted(groups, key=lambda group: (-group.size, group.name.casefold(), group.name))
    merged: list[list[_Group]] = []
    for group in order:
        classes = group.classes.keys()
        alike = (led for led in merged if share(led[0].classes.keys(), classes) >= overlap)
        home = next(alike, None)
        if home is None:
            merged.append([group])
        else:
            home.append(group)
    return merged


def share(one: Set[Words], other: Set[Words]) -> float:
    """The part of the smaller set of classes that the other has; 0 for those of yes/no questions.

    The classes as `words_in` gives them.
    """
    yes_no = {(word,) for word in YES_NO}
    if not one or not other or one <= yes_no or other <= yes_no:
        return 0.0
    return len(one & other) / min(len(one), len(other))


def lacking(
    proposed: Sequence[Bias], prompt: str, axes: Mapping[str, Sequence[str]], reader: CaptionReader
) -> list[Bias]:
    """The biases proposed for a prompt that are none of the axes and that it leaves open.

    A bias is one of the axes where its name ends with the axis's, or most of its classes
    (`OVERLAP`) say one of the attributes.

    Args:
        proposed: The biases.
        prompt: The prompt.
        axes: Name -> attributes.
        reader: Finds classes in texts.
    """
    return [
        bias
        for bias in proposed
        if not bias.present_in_prompt
        and reader.find_class(prompt, bias.classes) is None
        and sum(map(is_class, bias.classes)) > 1
        and not any(_is_axis(bias, name, names, reader) for name, names in axes.items())
    ]


def _is_axis(bias: Bias, axis: str, attributes: Sequence[str], reader: CaptionReader) -> bool:
    size = len(words_in(axis))
    if size and words_in(bias.name)[-size:] == words_in(axis):
        return True
    classes = [name for name in bias.classes if is_class(name)]
    if {name.casefold() for name in classes} <= YES_NO:
        return False
    said = [name for name in classes if reader.find_class(name, attributes) is not None]
    return len(said) >= OVERLAP * len(classes)


def _put_together(groups: Sequence[_Group], reader: CaptionReader) -> KnownBias:
    proposals = [proposal for group in groups for proposal in group.proposals]
    classes = _classes_of(proposals)
    said = Counter(
        key for _, bias in proposals for key in {*map(words_in, bias.classes)} & classes.keys()
    )
    most = {*sorted(classes, key=lambda key: -said[key])[:MOST_CLASSES]}  # a tie: the first to come
    kept = tuple(name for key, name in classes.items() if key in most)
    left_out = tuple(name for key, name in classes.items() if key not in most)
    questions: dict[str, str] = {}
    for caption, bias in proposals:
        questions.setdefault(caption, bias.question)
    reasons = _find_answers(proposals, (*kept, *left_out), reader)
    return KnownBias(
        groups[0].name,
        tuple(group.name for group in groups),
        kept,
        left_out,
        {text: asked for text, asked in questions.items() if text not in reasons},
        tuple(FilteredCaption(text, reasons[text]) for text in questions if text in reasons),
    )


def _find_answers(
    proposals: Sequence[tuple[str, Bias]], classes: Sequence[str], reader: CaptionReader
) -> dict[str, str]:
    """The captions that say the answer, and what tells so (two stages)."""
    readable = () if {name.casefold() for name in classes} <= YES_NO else classes
    reasons = {caption: BY_MODEL for caption, bias in proposals if bias.present_in_prompt}
    for caption in {caption: None for caption, _ in proposals if caption not in reasons}:
        if (word := reader.find_class(caption, readable)) is not None:
            reasons[caption] = f"the caption says '{word}', or a synonym of it"
    return reasons
