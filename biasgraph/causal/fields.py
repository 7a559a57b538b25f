"""What a field of a row is: its meaning, unit, range and source, and its column in tables."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, fields
from enum import Enum
from types import UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

_KEY = "biasgraph.measure"


class Unset(Enum):
    """The value of a field that some rows lack: not even a null stands in its place."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


@dataclass(frozen=True)
class Measure:
    """What a field holds.

    Attributes:
        about: What it means.
        unit: What it counts, or is measured in.
        range: The values it may have.
        source: Where it is defined: a paper, or a section of docs/statistics.md.
    """

    about: str
    unit: str
    range: str
    source: str


def measure(about: str, *, unit: str, range: str, source: str = "Nodes", **default: Any) -> Any:
    """A field of a row with its `Measure`; default: as for `dataclasses.field`."""
    return field(**default, metadata={_KEY: Measure(about, unit, range, source)})


class GraphRow:
    """A frozen dataclass that is a record of graph.json and a row of tables."""

    def record(self) -> dict[str, Any]:
        """The row in plain JSON types by key; what is `UNSET` is left out."""
        values = ((part.name.rstrip("_"), getattr(self, part.name)) for part in fields(self))  # type: ignore[arg-type]
        return {name: _plain(value) for name, value in values if value is not UNSET}


Row = TypeVar("Row", bound=GraphRow)


def change(row: Row, **values: Any) -> Row:
    """The row with other values, as `dataclasses.replace` makes it, in a fifth of the time."""
    changed = copy(row)
    if unknown := values.keys() - changed.__dict__:
        raise TypeError(f"a row has no {', '.join(sorted(unknown))}")
    changed.__dict__.update(values)
    return changed


def _plain(value: Any) -> Any:
    if isinstance(value, GraphRow):
        return value.record()
    if isinstance(value, Mapping):
        return dict(value)
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Column:
    """A column of a table of rows.

    Attributes:
        measure: What it holds.
        type: Arrow's name of its type ("double", "list<string>"); None where only its values tell.
    """

    measure: Measure
    type: str | None


def columns(row: type[GraphRow], prefix: str = "") -> dict[str, Column]:
    """The columns of a kind of row by name; those of nested records have dotted names."""
    hints = get_type_hints(row)
    found: dict[str, Column] = {}
    for part in fields(row):  # type: ignore[arg-type]
        name, hint = prefix + part.name.rstrip("_"), _without_none(hints[part.name])
        if isinstance(hint, type) and issubclass(hint, GraphRow):
            found |= columns(hint, f"{name}.")
        else:
            found[name] = Column(part.metadata[_KEY], _arrow_type(hint))
    return found


def _without_none(hint: Any) -> Any:
    if get_origin(hint) not in (Union, UnionType):
        return hint
    return next(part for part in get_args(hint) if part not in (type(None), Unset))


def _arrow_type(hint: Any) -> str | None:
    if get_origin(hint) is tuple:
        inner = _arrow_type(get_args(hint)[0])
        return inner and f"list<{inner}>"
    if get_origin(hint) is Literal:
        return "string"
    return {str: "string", bool: "bool", int: "int64", float: "double"}.get(hint)
