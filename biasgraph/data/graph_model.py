"""What graph.json must hold to be read: rows as `biasgraph.causal.rows` declares them."""

# mypy: disable-error-code="valid-type"

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    create_model,
    model_validator,
)

from biasgraph.causal.fields import UNSET, GraphRow, Unset
from biasgraph.causal.rows import LATER_FIELDS, SHARE_FIELDS, LinkRow, NodeRow
from biasgraph.causal.settings import LATER_SETTINGS, AnalysisSettings
from biasgraph.data.agreement_model import AgreementDocument
from biasgraph.data.findings import Part
from biasgraph.errors import BiasgraphError, list_words
from biasgraph.io.text_files import has_half_character

MOST = 10**12
"""Images, edges, resamples; more would be a mistake."""
DRAWS = 10**7
"""Resamples that a command that reads a graph can be made to draw."""
DRAWN = ("bootstrap", "noise_draws")

STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True, protected_namespaces=())

EXACT = 2**53
"""Whole numbers up to here are numbers with a fraction, too; what is larger is written `1e+16`."""


def _exact(number: Any) -> Any:
    if isinstance(number, int) and abs(number) > EXACT:
        raise ValueError("a whole number too large for the field")
    return number


def _refuse_halves(text: str) -> str:
    if has_half_character(text):
        raise ValueError("it contains half a character")
    return text


Text = Annotated[str, AfterValidator(_refuse_halves)]
Whole = Annotated[int, Field(ge=-MOST, le=MOST)]
Number = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(_exact)]
Ends = Annotated[list[Number], Field(min_length=2, max_length=2)]


class _Strict(BaseModel):
    model_config = STRICT


def _row(row: type[GraphRow]) -> type[_Strict]:
    """A model of the records of a kind of row; what may be `UNSET` may be left out."""
    hints = get_type_hints(row)
    declared: dict[str, Any] = {}
    for part in fields(row):  # type: ignore[arg-type]
        default = None if part.default is UNSET or part.name in LATER_FIELDS else ...
        about = Field(default, alias=part.name.rstrip("_"))
        declared[f"{part.name.rstrip('_')}_field"] = (_type(hints[part.name]), about)
    return create_model(row.__name__, __base__=_Strict, **declared)


def _type(hint: Any) -> Any:
    """The type of a field as JSON has it."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return Union[tuple(_type(part) for part in inner if part is not Unset)]  # noqa: UP007
    if origin is tuple:
        return list.__class_getitem__(_type(inner[0])) if inner[-1] is ... else Ends
    if origin is not None and origin is not Literal:
        return dict[str, Any]
    if isinstance(hint, type) and issubclass(hint, GraphRow):
        return _row(hint)
    return {int: Whole, float: Number, str: Text}.get(hint, hint)


def _part(record: Any) -> Any:
    """A part of a finding, as JSON has it."""
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in _parts():
        raise ValueError("a part of no known kind")
    _parts()[kind].validate_json(json.dumps(record), strict=True)
    return record


@cache
def _parts() -> dict[str, TypeAdapter[Any]]:
    return {part.kind: TypeAdapter(part) for part in get_args(Part)}


BY_ATTRIBUTE = (
    "counts", "distribution", "distribution_ci", "distribution_bounds", "ideal", "cost", "reference"
)  # fmt: skip
"""Fields of rows that have a value for each attribute of the axis."""


def _by_attribute(row: Any) -> list[list[Any]]:
    """What `BY_ATTRIBUTE` names of a row's model, where it is there."""
    found = [getattr(row, f"{name}_field", None) for name in BY_ATTRIBUTE]
    return [values for values in found if values is not None]


def _has_all(row: BaseModel, names: Sequence[str]) -> bool:
    """Whether a row has fields that are written together; ValueError where it has some."""
    lost = [name for name in names if f"{name}_field" not in row.model_fields_set]
    if 0 < len(lost) < len(names):
        raise ValueError(f"of {list_words(names)} it lacks {list_words(lost)}")
    return not lost


class _Finding(_Strict):
    title: str
    about: str
    show: list[Annotated[dict[str, Any], BeforeValidator(_part)]]


OF_PROMPTS = ("w1_mean_prompt", "w1_mean_prompt_ci", "w1_mean_prompt_null", "prompts_test")
"""What the nodes of a graph of several prompts have besides."""


class _Node(_row(NodeRow)):  # type: ignore[misc]
    id: Text
    attributes: Annotated[list[Text], Field(min_length=1)]
    initial: dict[str, Any]
    ideal: list[Number]
    w1: Number | None
    near_ideal: bool | None
    out_strength: Annotated[Number, Field(ge=0)]
    findings: dict[str, _Finding]

    @model_validator(mode="after")
    def _fits(self) -> _Node:
        size = len(self.attributes)
        parts = [
            getattr(self, f"{name}_field", None) for name in ("initial", "corrected", "control")
        ]
        lists = [values for part in (self, *parts) for values in _by_attribute(part)]
        lists += getattr(self, "cost_field", None) or []
        if any(len(values) != size for values in lists):
            raise ValueError("its counts, shares or ideal do not fit its attributes")
        if self.w1 is None and self.near_ideal is not None:
            raise ValueError("near_ideal needs w1")
        self._check_prompts()
        return self

    def _check_prompts(self) -> None:
        if not _has_all(self, OF_PROMPTS):
            return
        measured = self.w1_mean_prompt_field is not None
        if measured and self.w1_mean_prompt_null_field.q95_field is None:
            raise ValueError("w1_mean_prompt needs w1_mean_prompt_null.q95")


MEAN_FIELDS = ("n_prompts", "n_mean_prompts", "is_mean_prompt")
"""What the links of a graph of several prompts have besides."""
TOGETHER = (
    SHARE_FIELDS,
    ("is_corrected", "is_corrected_ci_low", "is_corrected_ci_high"),
    ("is_controlled", "is_controlled_ci_low", "is_controlled_ci_high"),
    ("decided", "look"),
    MEAN_FIELDS,
)
"""Fields of a link that are there together, or not at all."""


class _Link(_row(LinkRow)):  # type: ignore[misc]
    source: Text
    target: Text
    w1_before: Number
    w1_after: Number
    sensitivity: Number = Field(alias="is")
    rows: list[Text]
    columns: list[Text]
    table: list[list[Whole]]
    mediation: list[dict[str, Any]]

    @model_validator(mode="after")
    def _fits(self) -> _Link:
        if [len(row) for row in self.table] != [len(self.columns)] * len(self.rows):
            raise ValueError("its table does not fit its rows and columns")
        for names in TOGETHER:
            _has_all(self, names)
        shares = [getattr(self, f"{name}_field", None) for name in SHARE_FIELDS]
        if shares[0] is not None and None in shares:
            raise ValueError("moved needs its shares")
        for check in self.mediation:
            if not isinstance(check.get("verdict"), str) or not isinstance(
                check.get("through"), str
            ):
                raise ValueError("mediation lacks a verdict, or what it is through")
        return self


class _Images(_Strict):
    initial: Whole
    interventions: Whole
    controls: Whole = 0


class _Strongest(_Strict):
    axis: str
    edges: Whole
    strength: Number
    tied: list[str]


class _Floor(_Strict):
    mean: Number | None
    q95: Number | None

    @model_validator(mode="after")
    def _both(self) -> _Floor:
        if (self.mean is None) != (self.q95 is None):
            raise ValueError("one of its numbers is missing")
        return self


class _Amplification(_Strict):
    value: Number | None
    above_floor: Number | None = None
    noise_floor: _Floor
    pairs: Whole
    pairs_defined: Whole
    metrics: list[str]


class _EdgeRule(_Strict):
    alpha: Number
    fdr: Literal["bh", "by"] | None
    min_is: Number = 0.0
    stratified: bool = False


class _AxisSet(_Strict):
    name: str
    digest: str


class _Ideal(_Strict):
    source: str
    axes: list[str]


class _Correction(_Strict):
    source: str
    axes: list[str]
    left_out: dict[str, str]


class _Adaptive(_Strict):
    ended: Literal["decided", "max_images", "budget", "pictures"]
    looks: Whole
    images: Whole
    fixed: Whole
    open: list[Annotated[list[str], Field(min_length=2, max_length=2)]]


class _Prompt(_Strict):
    prompt: str
    subject: str | None = None
    directory: str
    images: _Images
    edges: Whole


def _settings(record: Any) -> Any:
    if not isinstance(record, dict):
        raise ValueError("not an object")
    try:
        settings = AnalysisSettings.of_record(record)
        looks, decide = tuple(record.get("looks", ())), record.get("decide", settings.decide)
        replace(settings, looks=looks, decide=decide)
    except (TypeError, BiasgraphError) as error:
        raise ValueError(str(error)) from None
    names = (part.name for part in fields(AnalysisSettings) if part.name not in LATER_SETTINGS)
    if lacking := [name for name in names if name not in record]:
        raise ValueError(f"lacks {list_words(lacking)}")
    if max(getattr(settings, name) for name in DRAWN) > DRAWS:
        raise ValueError(f"more than {DRAWS:,} resamples")
    return record


class _Graph(_Strict):
    kind: Literal["prompt", "global"] = "prompt"
    prompt: str | None
    prompts: list[_Prompt] | None = None
    subject: str | None
    model: str
    vqa: str | None
    toy: Text | None
    model_fingerprint: str | None = None
    vqa_fingerprint: str | None = None
    people: bool = False
    annotators: Whole | None = None
    seed: int | None = None
    typed: str | None = None
    unseen_words: list[str] | None = None
    fixed_by_prompt: dict[str, str]
    notes: list[str]
    flags: list[str]
    axes: _AxisSet | None
    ideal: _Ideal
    agreement: AgreementDocument | None = None
    correction: _Correction | None = None
    edge_rule: _EdgeRule | None = None
    adaptive: _Adaptive | None = None
    settings: Annotated[dict[str, Any], BeforeValidator(_settings)]
    images: _Images
    edges: Whole
    max_influenced: _Strongest | None
    max_impact: _Strongest | None
    amplification: _Amplification
    mediation_assumptions: list[str]
    versions: dict[str, str]
    findings: dict[str, _Finding]
    methods: dict[str, dict[str, Any]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_or_several(self) -> _Graph:
        if (self.prompt is None) != (self.prompts is not None):
            raise ValueError("it must be about one prompt or several")
        return self


class GraphDocument(_Strict):
    """The whole of it."""

    graph: _Graph
    nodes: Annotated[list[_Node], Field(min_length=1)]
    links: list[_Link]

    @model_validator(mode="after")
    def _check_links(self) -> GraphDocument:
        names = [node.id for node in self.nodes]
        if len(names) > len({*names}):
            raise ValueError("two nodes have the same id")
        ends = [(link.source, link.target) for link in self.links]
        if not {end for pair in ends for end in pair} <= {*names} or len(ends) > len({*ends}):
            raise ValueError("a link is there twice, or leads to no node")
        if self.graph.prompts and not all(_has_all(link, MEAN_FIELDS) for link in self.links):
            raise ValueError(f"a link lacks {list_words(MEAN_FIELDS)}")
        return self
