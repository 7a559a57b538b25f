"""JSON of runs: read whole and held against a model, or refused in a line that says where."""

from __future__ import annotations

import json
import math
from typing import Any

from pydantic import BaseModel, ValidationError

from biasgraph.errors import InputError, printable

DEEPEST = 50
"""Brackets within brackets; what biasgraph writes has a dozen."""


def parse_json(raw: bytes, source: str) -> Any:
    """The data of a JSON file.

    Args:
        raw: Its content.
        source: What it is called, printable.

    Raises:
        InputError: It is not JSON, is nested too deeply, or holds a number that is not finite.
    """
    try:
        data = json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise InputError(f"{source} is damaged: it is not JSON") from None
    level = [data]
    for _ in range(DEEPEST):
        if any(isinstance(value, float) and not math.isfinite(value) for value in level):
            raise InputError(f"{source} is damaged: it holds a number that is not finite")
        level = [part for value in level for part in _parts(value)]
        if not level:
            return data
    raise InputError(f"{source} is damaged: it is nested too deeply")


def check(model: type[BaseModel], data: object, source: str) -> None:
    """Raise InputError, naming the first field that does not fit, unless `data` fits a model."""
    try:
        model.model_validate(data)
    except UnicodeEncodeError:  # a validator's own words quote the value
        raise InputError(f"{source} is damaged: it holds half of a character") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        what = ": ".join(filter(None, [where, first["msg"]]))
        raise InputError(f"{source} is damaged: {printable(what)}") from None


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _parts(value: object) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
