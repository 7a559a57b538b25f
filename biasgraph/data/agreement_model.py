"""What agreement.json must hold to be used again, and graph.json where it repeats it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from biasgraph.io.json_files import StrictModel

MOST = 10**9
"""Images in a cell; more would be a mistake."""

Count = Annotated[int, Field(ge=0, le=MOST)]
Number = Annotated[float, Field(ge=-MOST, le=MOST, allow_inf_nan=False)] | None
Interval = Annotated[list[Number], Field(min_length=2, max_length=2)] | None


class _Reference(StrictModel):
    name: str
    kind: Literal["judge", "labels", "answers"]
    by_people: bool = False
    sample: Literal["corrections"] | None = None


class _Rater(StrictModel):
    name: str
    kind: Literal["people", "judge", "answers"]


class _Pair(StrictModel):
    raters: Annotated[list[Count], Field(min_length=2, max_length=2)]
    n: Count
    n_valid: Count
    kappa: Number
    kappa_ci: Interval
    kappa_with_unknown: Number
    kappa_with_unknown_ci: Interval


class _Alpha(StrictModel):
    among: Literal["people", "all"]
    raters: Count
    unknown: bool
    metric: Literal["nominal", "ordinal"]
    images: Count
    ratings: Count
    value: Number
    ci: Interval
    reason: str | None


class _Axis(StrictModel):
    axis: str
    attributes: list[str]
    table: list[list[Count]]
    n: Count
    n_valid: Count
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


class AgreementDocument(StrictModel):
    """The whole of it."""

    toy: str | None
    model: str | None
    judge: str | None
    judge_fingerprint: str | None
    reference: _Reference
    images: Count
    images_in_all: Count
    people: bool = False
    annotators: Count | None = None
    raters: list[_Rater] = Field(default_factory=list)
    axes: list[_Axis]
    notes: list[str]

    @model_validator(mode="after")
    def _check_raters(self) -> AgreementDocument:
        for axis in self.axes:
            if any(place >= len(self.raters) for pair in axis.kappas for place in pair.raters):
                raise ValueError(f"{axis.axis} has a kappa of a rater that is not named")
        return self
