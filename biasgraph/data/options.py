"""Options: fields of settings dataclasses that carry their help, range and default.

The command line, docs/cli.md and Python signatures are made of these fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

_KEY = "biasgraph.option"


@dataclass(frozen=True)
class Option:
    """What a user is told of one option, and what values it takes.

    Attributes:
        help: One or more sentences for ``--help``; says the default where it is not obvious.
        metavar: What stands for the value in ``--help``, such as ``SPEC``.
        choices: The only values, if there are only a few.
        low: The smallest value of a number; None for no bound.
        high: The largest value of a number; None for no bound.
        panel: The heading under which ``--help`` lists it.
        flags: Its names on the command line; empty for ``--`` and the field's name.
        repeat: Whether it may be given several times.
    """

    help: str
    metavar: str | None = None
    choices: Sequence[str] = ()
    low: float | None = None
    high: float | None = None
    panel: str = ""
    flags: Sequence[str] = ()
    repeat: bool = False


def option(default: Any, help: str, **about: Any) -> Any:
    """A field of a settings dataclass that is an option; about: the fields of `Option`."""
    positional = about.pop("positional", False)
    default = {} if default is MISSING else {"default": default}
    return field(**default, kw_only=not positional, metadata={_KEY: Option(help, **about)})


def options_of(settings: type) -> Mapping[str, Option]:
    """The options of a settings dataclass by the names of its fields."""
    return {one.name: one.metadata[_KEY] for one in fields(settings) if _KEY in one.metadata}
