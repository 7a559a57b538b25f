"""JSON of runs: written, and read whole and held against a model, or refused with its place."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from biasgraph.errors import InputError, printable, show_path
from biasgraph.io.text_files import read_bytes, refuse_pipe

DEEPEST = 50
"""Brackets within brackets; what biasgraph writes has a dozen."""


class StrictModel(BaseModel):
    """What is read of a JSON file: nothing is converted, and there may be other fields."""

    model_config = ConfigDict(strict=True, frozen=True, protected_namespaces=())


Model = TypeVar("Model", bound=BaseModel)


def to_json(document: Mapping[str, Any]) -> bytes:
    """The content of a file that holds a document of JSON types, such as graph.json."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
    return (text + "\n").encode("utf-8", "replace")


def read_model(model: type[Model], path: Path, what: str) -> Model:
    """A JSON file that is there, as a model.

    Args:
        model: What it must fit.
        path: Of the file.
        what: What it holds, for errors: "the mined prompts in".

    Raises:
        InputError: It cannot be read, or is damaged.
    """
    refuse_pipe(path)
    data = parse_json(read_bytes(path, what), show_path(path))
    check(model, data, show_path(path))
    return model.model_validate(data)


def read_own(model: type[Model], path: Path, command: str, what: str) -> Model:
    """The JSON file that a command left in its directory; arguments and errors as `read_model`'s.

    Raises:
        InputError: There is none, too.
    """
    if not os.path.exists(path):  # of a folder that nobody may look into, too
        raise InputError(
            f"{show_path(path.parent)} is not a run of `biasgraph {command}`: it contains no "
            f"{path.name}"
        )
    return read_model(model, path, what)


def read_text(model: type[Model], text: str, source: str) -> Model:
    """JSON that a run keeps in a database, as a model; source: what the database is called.

    Raises:
        InputError: It is damaged.
    """
    data = parse_json(text.encode("utf-8", "surrogatepass"), source)
    check(model, data, source)
    return model.model_validate(data)


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
            raise InputError(f"{source} is damaged: it contains a number that is not finite")
        level = [part for value in level for part in _parts(value)]
        if not level:
            return data
    raise InputError(f"{source} is damaged: it is nested too deeply")


def check(model: type[BaseModel], data: object, source: str) -> None:
    """Raise InputError, naming the first field that does not fit, unless `data` fits a model."""
    try:
        model.model_validate(data)
    except UnicodeEncodeError:  # a validator's own words quote the value
        raise InputError(f"{source} is damaged: it contains half a character") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        what = ": ".join(filter(None, [where, describe_problem(first)]))
        raise InputError(f"{source} is damaged: {printable(what)}") from None


def describe_problem(problem: Mapping[str, Any]) -> str:
    """What a model refuses, of one of `ValidationError.errors()`; its own checks as they say it."""
    return str(problem["msg"]).removeprefix("Value error, ")


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _parts(value: object) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
