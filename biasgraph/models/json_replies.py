"""Reading JSON out of what a language model replied: fences, prose around it, thoughts before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from biasgraph.errors import printable
from biasgraph.io.json_files import describe_problem

Schema = TypeVar("Schema", bound=BaseModel)

LONGEST_REPLY = 200_000  # characters
STARTS = 200
"""Brackets at which a JSON value is looked for: prose full of brackets must not take for ever."""
PROBLEMS = 5
THOUGHTS = ("<think>", "</think>")
"""Between these reasoning models put their thoughts, which may hold drafts of the answer."""


class Unreadable(ValueError):
    """A reply that does not hold what was asked for; its message says why, to the model too."""


def read_reply(reply: str, schema: type[Schema]) -> Schema:
    """What a reply holds, checked against a schema.

    The longest JSON value of the reply that fits is taken; the rest is prose. A bare list is taken
    for the one field of a schema that has one.

    Raises:
        Unreadable: There is no such value; for the longest one it says what is wrong.
    """
    values = sorted(_values(reply), key=lambda sized: -sized[0])
    problem: Unreadable | None = None
    for _, value in values:
        try:
            return _fit(value, schema)
        except Unreadable as error:
            problem = problem or error
    raise problem or Unreadable("there is no JSON in it")


def _values(reply: str) -> Iterator[tuple[int, Any]]:
    """The JSON objects and arrays in a text that lie in no other, each with its length.

    Raises Unreadable where there is none, but something like one.
    """
    if len(reply) > LONGEST_REPLY:
        raise Unreadable(f"it has {len(reply):,} characters; at most {LONGEST_REPLY:,} are read")
    text = strip_thoughts(reply)
    if not text and reply.strip():
        raise Unreadable("it ends before its thoughts do")
    decoder = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeats)
    problem, found, at = "", False, 0
    for _ in range(STARTS):
        starts = [start for mark in "{[" if (start := text.find(mark, at)) >= 0]
        if not starts:
            break
        start = min(starts)
        try:
            value, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            problem = problem or f"its JSON is broken: {error.msg} (line {error.lineno})"
            if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
                problem = "its JSON ends too early"
                break  # what lies inside is only a part of the answer
            at = start + 1
        except RecursionError:
            problem = "its JSON is nested too deeply"
            break
        except ValueError as error:  # a constant, a key twice, a number of 5,000 digits
            problem = problem or f"its JSON is broken: {error}"
            at = start + 1
        else:
            found, at = True, end
            yield end - start, value
    if not found and problem:
        raise Unreadable(problem)


def strip_thoughts(reply: str) -> str:
    """What stands behind a reply's thoughts; nothing where they do not end."""
    begin, end = THOUGHTS
    answer = reply.rpartition(end)[2]
    return "" if answer.lstrip().startswith(begin) else answer


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key '{shorten(twice, 60)}' appears twice in an object")
    return record


def _fit(value: Any, schema: type[Schema]) -> Schema:
    if isinstance(value, list) and len(schema.model_fields) == 1 and "root" not in _names(schema):
        value = {_names(schema)[0]: value}
    try:
        # By way of JSON: a strict schema takes a list for a tuple there, and text is UTF-8.
        return schema.model_validate_json(json.dumps(value))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        more = f"; and {len(problems) - PROBLEMS} more" if len(problems) > PROBLEMS else ""
        raise Unreadable("; ".join(map(_describe, problems[:PROBLEMS])) + more) from error


def _names(schema: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in schema.model_fields.items()]


def _describe(detail: Any) -> str:
    place = ".".join(shorten(str(step), 60) for step in detail["loc"])
    message = shorten(describe_problem(detail), 200)
    return f"{place}: {message}" if place else message


def shorten(text: str, length: int) -> str:
    """The beginning of a text in printable characters."""
    return printable(text[:length]) + ("..." if len(text) > length else "")
