"""Parts: what screens, pages and figures are drawn from; and findings, told in parts.

A finding is what a method says about a node or the whole graph. It stands in graph.json under
`nodes[].findings.<method>` or `graph.findings.<method>` as {"title", "about", its named numbers and
lists ..., "show": [parts]}. Screens draw `show` and know no method; programs read the named ones.
What is undefined is None, with a reason where it is shown. All texts may be untrusted: whoever
draws them escapes them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

RESERVED = ("title", "about", "show")


@dataclass(frozen=True)
class Number:
    """A number.

    Attributes:
        label: What it is.
        value: None needs a reason.
        low: The lower end of its 95 % interval.
        high: The upper end.
        n: The number of images behind it.
        reason: Why it is undefined.
    """

    kind: ClassVar[str] = "number"
    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        _check_value(self.label, self.value, self.low, self.high)
        if self.value is None and not self.reason:
            raise ValueError(f"{self.label!r} is undefined and needs a reason")


@dataclass(frozen=True)
class Bar:
    """One bar or rank.

    Attributes:
        label: What it is of.
        value: How long it is.
        low: The lower end of its 95 % interval.
        high: The upper end.
        reference: What it is compared with.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    reference: float | None = None

    def __post_init__(self) -> None:
        _check_value(self.label, self.value, self.low, self.high)
        _check_value(self.label, self.reference)


Cell = str | float | None | Bar | tuple[str | Bar, ...]
"""A text, a number, None for what is undefined, a number with its interval (which pages draw on a
scale from 0 to 1), or several lines."""


@dataclass(frozen=True)
class Table:
    """Rows of cells, all as wide as the columns; nothing is drawn without rows.

    Attributes:
        numeric: Places of the columns that stand to the right and are never broken; of screens
            only, graph.json does not hold it.
    """

    kind: ClassVar[str] = "table"
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    numeric: Sequence[int] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row has {len(row)} cells for {len(self.columns)} columns")
            for cell in row:
                if isinstance(cell, float | int):
                    _check_value("a cell", cell)


@dataclass(frozen=True)
class Ranking:
    """Things in order, the first one first."""

    kind: ClassVar[str] = "ranking"
    items: Sequence[Bar]
    caption: str = ""


@dataclass(frozen=True)
class Bars:
    """Values side by side, each against its reference if it has one."""

    kind: ClassVar[str] = "bars"
    items: Sequence[Bar]
    caption: str = ""


@dataclass(frozen=True)
class ShownImage:
    """An image of the run by its id."""

    image: str
    caption: str = ""


@dataclass(frozen=True)
class Images:
    """Images that show what is meant."""

    kind: ClassVar[str] = "images"
    items: Sequence[ShownImage]
    caption: str = ""


@dataclass(frozen=True)
class Text:
    """A paragraph.

    Attributes:
        text: Its sentences.
        tone: "warning" where it limits what was said.
    """

    kind: ClassVar[str] = "text"
    text: str
    tone: Literal["plain", "warning"] = "plain"


@dataclass(frozen=True)
class MarkedWord:
    """A word of a prompt, shaded by its share.

    Attributes:
        text: The word as it stands in the prompt.
        after: What stands between it and the next word.
        value: Its share of what all words of the prompt have together, 0 to 1; None: not ranked.
        low: The lower end of the share's 95 % interval.
        high: The upper end; it may lie above 1.
        note: What else there is to say; of a word that is not ranked, the reason.
        mark: Whether it ranks first, or cannot be told from the first.
    """

    text: str
    after: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""
    mark: Literal["", "first", "tied"] = ""

    def __post_init__(self) -> None:
        _check_value(self.text, self.value, self.low, self.high)
        if self.value is None and (self.mark or not self.note):
            raise ValueError(f"{self.text!r} is not ranked: it needs a reason, and has no mark")
        if self.value is not None and not 0 <= self.value <= 1:
            raise ValueError(f"{self.text!r} has a share of {self.value}, not 0 to 1")


@dataclass(frozen=True)
class MarkedView:
    """A prompt's words, all of them and in order, as one measurement shades them.

    Attributes:
        label: Which, such as an axis and a method.
        words: The words.
        note: What they show in all, or why none is shaded.
    """

    label: str
    words: Sequence[MarkedWord]
    note: str = ""


@dataclass(frozen=True)
class MarkedText:
    """Prompts with their words shaded; pages show one of the views and switch between them."""

    kind: ClassVar[str] = "marked_text"
    views: Sequence[MarkedView]
    caption: str = ""


Part = Number | Table | Ranking | Bars | Images | Text | MarkedText
"""What findings are told in."""


@dataclass(frozen=True)
class Banner:
    """What limits everything that follows, such as that these are results of a toy, if it does."""

    kind: ClassVar[str] = "banner"
    text: str | None


@dataclass(frozen=True)
class Heading:
    """The title of what follows."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Facts:
    """Titles, each with its words."""

    kind: ClassVar[str] = "facts"
    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Sentences:
    """A list of sentences below its title; neither is drawn where there are none."""

    kind: ClassVar[str] = "sentences"
    title: str
    rows: Sequence[str]


@dataclass(frozen=True)
class Details:
    """A part that pages fold away and the terminal leaves out."""

    kind: ClassVar[str] = "details"
    title: str
    part: Part


ScreenPart = Part | Banner | Heading | Facts | Sentences | Details
"""What screens and pages are told in."""

Entry = float | int | None | tuple[float, float]
"""A number of a list: undefined, or an interval."""


def is_empty(part: ScreenPart) -> bool:
    """Whether there is nothing to draw."""
    if isinstance(part, Banner):
        return not part.text
    if isinstance(part, MarkedText):
        return not part.views
    return isinstance(part, Table | Sentences | Facts) and not part.rows


@dataclass(frozen=True)
class Finding:
    """What one method found.

    Attributes:
        title: What the method is called.
        about: What it measures, in a sentence.
        show: What screens show.
        numbers: What programs read, by name.
        lists: The same where there is one for each attribute, in the attributes' order.

    Raises:
        ValueError: a name is taken, or, as in every part, a number is not finite.
    """

    title: str
    about: str
    show: Sequence[Part]
    numbers: Mapping[str, float | int | None] = field(default_factory=dict)
    lists: Mapping[str, Sequence[Entry]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (*self.numbers, *self.lists):
            if name in RESERVED:
                raise ValueError(f"a number of a finding cannot be named {name!r}")
            if name in self.numbers and name in self.lists:
                raise ValueError(f"{name!r} names a number and a list")
        for name, value in self.numbers.items():
            _check_value(name, value)
        for name, entries in self.lists.items():
            for entry in entries:
                if isinstance(entry, tuple):
                    _check_value(name, None, *entry)
                else:
                    _check_value(name, entry)

    def to_json(self) -> dict[str, Any]:
        """The finding as graph.json holds it."""
        parts = [{"kind": part.kind, **asdict(part)} for part in self.show]
        for part in parts:
            part.pop("numeric", None)
        named = {"title": self.title, "about": self.about, **self.numbers, **self.lists}
        return {name: _in_lists(value) for name, value in {**named, "show": parts}.items()}


def image_ids(document: Mapping[str, Any]) -> Iterator[str]:
    """The images that the findings of a graph show."""
    for owner in (document["graph"], *document["nodes"]):
        for finding in owner["findings"].values():
            for part in finding["show"]:
                if part["kind"] == Images.kind:
                    yield from (str(item["image"]) for item in part["items"])


def _in_lists(value: Any) -> Any:
    """The same as JSON gives it back: tuples are lists, and numpy's numbers Python's."""
    if isinstance(value, Mapping):
        return {name: _in_lists(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_in_lists(entry) for entry in value]
    return value.item() if hasattr(value, "item") else value  # numpy's


def _check_value(
    label: str, value: float | None, low: float | None = None, high: float | None = None
) -> None:
    for number in (value, low, high):
        if number is not None and not math.isfinite(number):
            raise ValueError(f"{label!r} is {number}; what is undefined is None")
    if (low is None) != (high is None):
        raise ValueError(f"the interval of {label!r} has one end")
    if low is not None and high is not None and low > high:
        raise ValueError(f"the interval of {label!r} ends before it begins")
