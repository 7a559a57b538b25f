"""agreement.json: what it must hold to be used again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from biasgraph.errors import InputError, printable, shown
from biasgraph.io.text_files import read_bytes

SCHEMA_NAME = "biasgraph-agreement"
SCHEMA = f"{SCHEMA_NAME}/1"

MOST = 10**9
"""Images in a cell; more would be a mistake."""

Record = dict[str, Any]
Number = Annotated[float, Field(allow_inf_nan=False)] | None
Interval = tuple[Number, Number] | None


class _Reference(BaseModel):
    name: str
    kind: Literal["judge", "labels", "answers"]


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

    @model_validator(mode="after")
    def _square(self) -> _Axis:
        size = len(self.attributes) + 2
        if [len(row) for row in self.table] != [size] * size:
            raise ValueError(f"the table of {self.axis} must be {size} x {size}")
        return self


class _Agreement(BaseModel):
    toy: str | None
    model: str | None
    judge: str | None
    judge_fingerprint: str | None
    reference: _Reference
    images: int
    images_in_all: int
    axes: list[_Axis]
    notes: list[str]


def read(path: Path) -> Record:
    """The agreement in a file.

    Raises InputError: it is none, is damaged, or was made by a newer biasgraph.
    """
    try:
        record = json.loads(read_bytes(path))
    except (ValueError, RecursionError):
        raise InputError(f"{shown(path)} is damaged: it is not JSON") from None
    schema = str(record.get("schema")) if isinstance(record, dict) else ""
    if schema.partition("/")[0] != SCHEMA_NAME:
        raise InputError(f"{shown(path)} is no agreement of biasgraph's")
    if schema != SCHEMA:
        raise InputError(
            f"{shown(path)} has schema {printable(schema)}; this biasgraph reads {SCHEMA}: "
            "install a newer one"
        )
    try:
        _Agreement.model_validate(record)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise InputError(
            f"{shown(path)} is damaged: {printable(where)}: {printable(first['msg'])}"
        ) from None
    return dict(record)


def is_agreement(path: Path) -> bool:
    """Whether a file holds an agreement; people's labels, of all files, stand beside it."""
    try:
        read(path)
    except InputError:
        return False
    return True


def to_json(agreement: Record) -> bytes:
    """The contents of agreement.json."""
    text = json.dumps(agreement, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    return text.encode("utf-8", "replace")
