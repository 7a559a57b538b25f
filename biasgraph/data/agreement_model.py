"""What agreement.json must hold to be used again, and graph.json where it repeats it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, model_validator

MOST = 10**9
"""Images in a cell; more would be a mistake."""

Number = Annotated[float, Field(allow_inf_nan=False)] | None
Interval = tuple[Number, Number] | None


class _Reference(BaseModel):
    name: str
    kind: Literal["judge", "labels", "answers"]
    by_people: bool = False
    sample: Literal["corrections"] | None = None


class _Rater(BaseModel):
    name: str
    kind: Literal["people", "judge", "answers"]


class _Pair(BaseModel):
    raters: tuple[int, int]
    n: int
    n_valid: int
    kappa: Number
    kappa_ci: Interval
    kappa_with_unknown: Number
    kappa_with_unknown_ci: Interval


class _Alpha(BaseModel):
    among: Literal["people", "all"]
    raters: int
    unknown: bool
    metric: Literal["nominal", "ordinal"]
    images: int
    ratings: int
    value: Number
    ci: Interval
    reason: str | None


class _Axis(BaseModel):
    axis: str
    attributes: list[str]
    table: list[list[Annotated[int, Field(ge=0, le=MOST, strict=True)]]]
    n: int
    n_valid: int
    coverage: Number
    accuracy: Number
    accuracy_ci: Interval
    f1: Number
    f1_ci: Interval
    kappa: Number
    kappa_ci: Interval
    kl_reference_judge: Number
    kl_judge_reference: Number
    tv: Number
    uneven_p: Number
    flags: list[str]
    kappa_reason: str | None = None
    kappa_with_unknown: Number = None
    kappa_with_unknown_ci: Interval = None
    kappa_with_unknown_reason: str | None = None
    kappas: list[_Pair] = Field(default_factory=list)
    alphas: list[_Alpha] = Field(default_factory=list)

    @model_validator(mode="after")
    def _square(self) -> _Axis:
        size = len(self.attributes) + 2
        if [len(row) for row in self.table] != [size] * size:
            raise ValueError(f"the table of {self.axis} must be {size} x {size}")
        return self


class AgreementDocument(BaseModel):
    """The whole of it."""

    toy: str | None
    model: str | None
    judge: str | None
    judge_fingerprint: str | None
    reference: _Reference
    images: int
    images_in_all: int
    people: bool = False
    annotators: int | None = None
    raters: list[_Rater] = Field(default_factory=list)
    axes: list[_Axis]
    notes: list[str]
