"""Axis sets: what is varied in a prompt, what is asked about an image, and how answers compare."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from biasgraph.errors import InputError, describe_missing, did_you_mean, printable
from biasgraph.io import resources
from biasgraph.io.json_files import describe_problem
from biasgraph.io.yaml_files import Location, Problem, YamlDocument, parse_yaml, read_yaml

RESERVED_ANSWERS = ("unknown", "gated")  # they have a meaning of their own in the answers table
_WORDS = ("name", "phrase", "idle")


def _visible_only(text: str) -> str:
    if printable(text) != text:
        raise ValueError("must be one line without control characters or invisible marks")
    return text


def _at_most(characters: int) -> StringConstraints:
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=characters)


ShortText = Annotated[str, _at_most(100), AfterValidator(_visible_only)]
_Long = Annotated[str, _at_most(500), AfterValidator(_visible_only)]
PromptText = Annotated[str, _at_most(2_000), AfterValidator(_visible_only)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Attribute(_Record):
    """One value of an axis: its name as an answer and its wording in a prompt."""

    name: ShortText
    phrase: ShortText
    """The wording a counterfactual prompt gets: "middle-aged", "in formal attire"."""
    placement: Literal["before", "after"]
    """Whether the phrase stands before or after the subject's noun."""
    idle: ShortText | None = None
    """The wording for a subject that does not work, where the phrase needs a worker: "indoors"."""
    synonyms: tuple[ShortText, ...] = Field(default=(), max_length=200)
    """Other words that, where they stand in a prompt, mean this attribute."""
    prompt: PromptText | None = None
    """The counterfactual as a whole, where no phrase beside the noun says it: "a nurse" for "a
    librarian". It goes with the set's `prompt` only."""


class YesNo(_Record):
    """A yes/no question; "yes" means its attribute."""

    attribute: ShortText
    text: _Long


class Axis(_Record):
    """A bias axis. It is asked about with one multiple-choice question or several yes/no ones.

    `cost` is the k x k ground metric of a "cost" axis: symmetric, not negative, 0 on the diagonal.
    An "ordinal" axis lists its attributes in their order. `default` is the attribute of an image
    for which no yes/no question is answered with yes. `others` are words that speak of the axis
    but mean none of its attributes ("angry"); an intervention replaces them too.
    """

    name: ShortText
    attributes: tuple[Attribute, ...] = Field(max_length=50)
    metric: Literal["nominal", "ordinal", "cost"] = "nominal"
    cost: tuple[tuple[float, ...], ...] | None = None
    question: _Long | None = None
    yes_no: tuple[YesNo, ...] = Field(default=(), max_length=50)
    default: ShortText | None = None
    others: tuple[ShortText, ...] = Field(default=(), max_length=200)

    @model_validator(mode="after")
    def _consistent(self) -> Axis:
        _refuse(_axis_problems(self.model_dump()))
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in their order."""
        return tuple(attribute.name for attribute in self.attributes)

    def attribute(self, name: str) -> Attribute:
        """Return one attribute by its name; InputError where the axis lacks it."""
        return _find(self.attributes, name, f"axis '{self.name}' has no attribute")


class Rewording(_Record):
    """A phrase that says nothing of any axis, put where counterfactuals have theirs: "certain"."""

    phrase: ShortText
    placement: Literal["before", "after"]


class AxisSet(_Record):
    """Axes that belong together, with the question that says whether an image shows a subject.

    `gate_captions` are what a judge that compares images with texts is given for yes and for no;
    without them they are made of the subject ("a photo without a person"). `prompt` is what the
    set was proposed for, where an attribute gives a whole prompt. `alpha` is the threshold of edges
    that suits the set, for builds that name none. `controls` reword a prompt neutrally.
    """

    name: ShortText
    subject: Literal["person", "animal", "object", "scene"]
    gate: _Long
    gate_captions: tuple[_Long, _Long] | None = None
    prompt: PromptText | None = None
    alpha: float | None = Field(default=None, gt=0, lt=1)
    controls: tuple[Rewording, ...] = Field(default=(), max_length=20)
    axes: tuple[Axis, ...] = Field(max_length=50)

    @model_validator(mode="after")
    def _consistent(self) -> AxisSet:
        _refuse(_set_problems(self.model_dump()))
        return self

    def axis(self, name: str) -> Axis:
        """Return one axis by its name; InputError where the set lacks it."""
        return _find(self.axes, name, f"axis set '{self.name}' has no axis")

    def only(self, names: Iterable[str]) -> AxisSet:
        """Return the set with only the named axes, in the set's order; InputError as in `axis`."""
        kept = {self.axis(name).name for name in names}
        if not kept:
            raise InputError(f"no axis of axis set '{self.name}' is named")
        axes = tuple(axis for axis in self.axes if axis.name in kept)
        return self.model_copy(update={"axes": axes})

    def digest(self) -> str:
        """Return the SHA-256 (hex) of the set's canonical JSON: equal sets, equal digests.

        `idle` and `controls` do not count: a run records its prompts themselves.
        """
        idle: dict[str, Any] = {"axes": {"__all__": {"attributes": {"__all__": {"idle"}}}}}
        worded = {**idle, "controls": True}
        record = self.model_dump(mode="json", exclude_defaults=True, exclude=worded)
        text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()


_Named = TypeVar("_Named", Attribute, Axis)


def _find(records: Sequence[_Named], name: str, lacking: str) -> _Named:
    names = [record.name for record in records]
    if name not in names:
        raise InputError(describe_missing(lacking, name, names))
    return records[names.index(name)]


def load_axis_set(spec: str) -> AxisSet:
    """Read a shipped axis set by its name, or a user's by the path of its YAML file.

    What ends in .yaml or .yml or holds a path separator is a path. Raises InputError: an unknown
    name, a file that cannot be read, or every problem of its content, each with its line.
    """
    return _once(spec) if spec in shipped_axis_sets() else _validate(axis_document(spec))


_once = functools.cache(lambda name: _validate(axis_document(name)))


def shipped_axis_sets() -> list[str]:
    """The names of the axis sets that ship with biasgraph."""
    return resources.names("axes", ".yaml")


def axis_document(spec: str) -> YamlDocument:
    """The YAML behind an axis set, which knows its lines; InputError as in `load_axis_set`."""
    path = Path(spec)
    if path.suffix.lower() in (".yaml", ".yml") or path.name != spec:
        return read_yaml(path, "axis set")
    shipped = shipped_axis_sets()
    if spec not in shipped:
        raise InputError(
            f"unknown axis set '{printable(spec[:100])}'.{did_you_mean(spec[:100], shipped)} "
            f"Shipped: {', '.join(shipped)}; for your own, give its path, ending in .yaml"
        )
    return parse_yaml(resources.read_text("axes", f"{spec}.yaml"), spec, "axis set")


def _validate(document: YamlDocument) -> AxisSet:
    try:
        return AxisSet.model_validate(document.data)
    except ValidationError as error:
        # The models' own consistency checks stop at the first wrong field; here they run on the
        # raw data, so that all problems are reported at once.
        problems = [*_shape_problems(error), *_set_problems(document.data)]
        named = [(at, _where(document.data, at) + text) for at, text in problems]
        document.refuse(named, "axis set")
        raise


def _shape_problems(error: ValidationError) -> Iterator[Problem]:
    for detail in error.errors(include_url=False):
        location, kind = detail["loc"], detail["type"]
        if kind == "inconsistent":
            continue
        key = printable(str(location[-1]))[:100] if location else ""
        known = re.findall("'([^']+)'", detail.get("ctx", {}).get("expected", ""))
        said = str(detail["input"])[:100]
        problems = {
            "extra_forbidden": f"unknown key '{key}'.{did_you_mean(key, _keys(location))}",
            "missing": f"'{key}' is missing",
            "model_type": f"expected an entry with the keys {', '.join(_keys((*location, '')))}",
            "string_type": f"'{key}' must be text (quote what YAML takes for another type)",
            "tuple_type": f"'{key}' must be a list, as in [one, two]",
            "literal_error": f"'{key}' must be {' or '.join(known)}, not '{printable(said)}'."
            f"{did_you_mean(said, known)}",
        }
        yield location, problems.get(kind, f"'{key}': {printable(describe_problem(detail))}")


def _keys(location: Location) -> list[str]:
    """The keys known at the place of an unknown one."""
    parents = [step for step in location[:-1] if isinstance(step, str)]
    records: dict[str, type[_Record]] = {"axes": Axis, "attributes": Attribute, "yes_no": YesNo}
    records["controls"] = Rewording
    return list(records.get(parents[-1] if parents else "", AxisSet).model_fields)


def _where(data: object, location: Location) -> str:
    """Name the axis that a location lies in: "axis 'age': "."""
    if location[:1] != ("axes",) or len(location) < 2:
        return ""
    index = location[1]
    axis = _list(_dict(data).get("axes"))[index : index + 1] if isinstance(index, int) else []
    name = _dict(axis[0]).get("name") if axis else None
    return f"axis '{printable(name)[:100]}': " if isinstance(name, str) else f"axis {index}: "


# The checks below take data as YAML gives it, of any shape, and skip what has the wrong type: that
# is reported by pydantic.


def _refuse(problems: Iterable[Problem]) -> None:
    for _, text in problems:
        raise PydanticCustomError("inconsistent", "{text}", {"text": text})


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _texts(values: Iterable[object]) -> list[tuple[int, str]]:
    """The values that are text, with their positions."""
    return [(i, value.strip()) for i, value in enumerate(values) if isinstance(value, str)]


def _set_problems(data: object) -> Iterator[Problem]:
    axes = _list(_dict(data).get("axes"))
    if "axes" in _dict(data) and not axes:
        yield ("axes",), "needs at least one axis"
    yield from _find_repeated("axis", axes, ("axes",))
    if _dict(data).get("prompt") is None:
        yield from _whole_prompts(axes)
    yield from _control_problems(_list(_dict(data).get("controls")), axes)
    for index, axis in enumerate(axes):
        for location, text in _axis_problems(axis):
            yield ("axes", index, *location), text


def _whole_prompts(axes: Sequence[object]) -> Iterator[Problem]:
    for index, axis in enumerate(axes):
        for place, attribute in enumerate(_list(_dict(axis).get("attributes"))):
            if _dict(attribute).get("prompt") is not None:
                at = ("axes", index, "attributes", place, "prompt")
                yield at, "a whole prompt needs the set's own 'prompt', which it is written for"


def _control_problems(controls: Sequence[object], axes: Sequence[object]) -> Iterator[Problem]:
    yield from _find_repeated("control", controls, ("controls",), "phrase")
    for index, phrase in _texts(_dict(control).get("phrase") for control in controls):
        if said := find_axis_word(phrase, axes):
            text = "control '{}' says '{}', a word of axis '{}'".format(phrase[:100], *said)
            yield ("controls", index, "phrase"), printable(text)


def find_axis_word(phrase: str, axes: Sequence[object]) -> tuple[str, str] | None:
    """The first word of an axis that a phrase holds, and that axis; axes as YAML has them."""
    for axis in map(_dict, axes):
        words = [*_list(axis.get("others"))]
        for attribute in map(_dict, _list(axis.get("attributes"))):
            words += [*map(attribute.get, _WORDS), *_list(attribute.get("synonyms"))]
        for _, word in _texts(words):
            if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", phrase, re.IGNORECASE):
                return word, str(axis.get("name"))
    return None


def _axis_problems(data: object) -> Iterator[Problem]:
    axis = _dict(data)
    attributes = _list(axis.get("attributes"))
    names = [_dict(attribute).get("name") for attribute in attributes]
    if "attributes" in axis and len(attributes) < 2:
        yield ("attributes",), "needs at least two attributes"
    yield from _find_repeated("attribute", attributes, ("attributes",))
    yield from _shared_words(attributes, _list(axis.get("others")))
    for index, name in _texts(names):
        if name.casefold() in RESERVED_ANSWERS:
            yield ("attributes", index, "name"), f"attribute '{name}' is reserved as an answer"
    yield from _question_problems(axis, [name for _, name in _texts(names)])
    if axis.get("metric") == "cost" and axis.get("cost") is None:
        yield ("metric",), "metric 'cost' needs a cost matrix under 'cost'"
    if axis.get("cost") is not None:
        if axis.get("metric") != "cost":
            yield ("cost",), "a cost matrix needs 'metric: cost'"
        yield from _cost_problems(_list(axis["cost"]), len(attributes))


def _find_repeated(
    what: str, records: Sequence[object], location: Location, key: str = "name"
) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, name in _texts(_dict(record).get(key) for record in records):
        if name.casefold() in seen:
            yield (*location, index, key), f"{what} '{printable(name)[:100]}' is named twice"
        seen.add(name.casefold())


def _shared_words(attributes: Sequence[object], others: Sequence[object]) -> Iterator[Problem]:
    """A word that means two attributes cannot tell which of them a prompt fixes."""
    owner: dict[str, int] = {}
    for index, attribute in enumerate(map(_dict, attributes)):
        words = [*map(attribute.get, _WORDS[1:]), *_list(attribute.get("synonyms"))]
        for _, word in _texts(words):
            if owner.setdefault(word.casefold(), index) != index:
                text = f"'{printable(word)[:100]}' is a word of two attributes"
                yield ("attributes", index), text
    for index, word in _texts(others):
        if word.casefold() in owner:
            yield ("others", index), f"'{printable(word)[:100]}' is a word of an attribute, too"


def _question_problems(axis: dict[str, Any], names: Sequence[str]) -> Iterator[Problem]:
    parts = _list(axis.get("yes_no"))
    if bool(parts) == (axis.get("question") is not None):
        yield (), "needs either one 'question' or several under 'yes_no'"
    if parts and axis.get("default") is None:
        yield ("yes_no",), "needs a 'default', the attribute when no question is answered with yes"
    if not parts and axis.get("default") is not None:
        yield ("default",), "'default' applies only to 'yes_no' questions"
    asked = _texts(_dict(part).get("attribute") for part in parts)
    answers: list[tuple[Location, str]] = [(("yes_no", i, "attribute"), name) for i, name in asked]
    answers += [(("default",), name) for _, name in _texts([axis.get("default")])]
    for location, name in answers:
        if name not in names:
            yield location, f"no attribute '{printable(name)[:100]}'.{did_you_mean(name, names)}"
    for name in names if parts else ():
        if [answer for _, answer in answers].count(name) != 1:
            text = f"attribute '{printable(name)[:100]}' needs exactly one yes/no question"
            yield ("yes_no",), f"{text}, or to be the 'default'"


def _cost_problems(rows: Sequence[object], size: int) -> Iterator[Problem]:
    matrix = [_list(row) for row in rows]
    if len(matrix) != size or any(len(row) != size for row in matrix):
        shape = f"{len(matrix)} rows of {', '.join(sorted({str(len(row)) for row in matrix}))}"
        yield ("cost",), f"the cost matrix must be square, {size} x {size} (it has {shape})"
        return
    for i, row in enumerate(matrix):
        for j, value in enumerate(row):
            if not isinstance(value, int | float):
                continue
            if not math.isfinite(value) or value < 0:
                yield ("cost", i, j), f"cost [{i + 1}][{j + 1}] must be a number of 0 or more"
            elif i == j and value != 0:
                yield ("cost", i, j), f"cost [{i + 1}][{i + 1}] must be 0: nothing moves"
            elif i > j and value != matrix[j][i]:
                text = f"the cost matrix must be symmetric: [{i + 1}][{j + 1}] is {value}, "
                yield ("cost", i, j), f"{text}[{j + 1}][{i + 1}] is {printable(str(matrix[j][i]))}"
