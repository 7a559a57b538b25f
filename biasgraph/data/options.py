"""Options: fields of settings dataclasses that carry their help, range and default.

The command line, docs/cli.md and the signatures of Python functions are made of these fields.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from numbers import Integral, Real
from pathlib import Path
from textwrap import fill
from typing import Any, ClassVar, ParamSpec, TypeVar, cast, dataclass_transform

from biasgraph.errors import InputError, did_you_mean, printable

Made = TypeVar("Made")
Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

TEXT = "TEXT"
"""The metavar of options that take any text, the empty one too."""
BITS = 63
"""Of a whole number, at most: larger ones fit no column of a ledger."""

_KEY = "biasgraph.option"
_KINDS: Mapping[str, type] = {
    r"^int\b": int, r"^float\b": float, r"^bool\b": bool, r"\bPath\b": Path,
    r"\bSequence\[str\]": list,
}  # fmt: skip
"""What an annotation says of its option's kind, by a pattern; the first that fits counts."""


@dataclass(frozen=True)
class Option:
    """What a user is told of one option, and what values it takes.

    Attributes:
        help: One or more sentences for ``--help``.
        usual: What holds where the option is not given, in words, if the field's default does not
            say it.
        kind: str, int, float, bool, Path, or list for names between commas, or dict for what the
            command line has no option for; None reads it off the field's annotation.
        metavar: What stands for the value in ``--help``, such as ``SPEC``.
        choices: The only values; read off an annotation that begins with ``Literal``.
        low: The smallest value of a number; None for no bound.
        high: The largest value of a number; None for no bound.
        panel: The heading under which ``--help`` lists it.
        flags: Its names on the command line; empty for ``--`` and the field's name.
        repeat: Whether it may be given several times.
        argument: Whether it stands on the command line without a flag.
    """

    help: str
    usual: str = ""
    kind: type | None = None
    metavar: str | None = None
    choices: Sequence[str] = ()
    low: float | None = None
    high: float | None = None
    panel: str = ""
    flags: Sequence[str] = ()
    repeat: bool = False
    argument: bool = False

    def flag(self, name: str) -> str:
        """Its long name on the command line: ``--batch-size``."""
        usual = "--" + name.replace("_", "-")
        return next((flag for flag in self.flags if flag.startswith("--")), usual).partition("/")[0]

    def text(self, default: object = None) -> str:
        """The help, with what holds where the option is not given."""
        said = default is None or default is MISSING or default is False or default == ()
        usual = self.usual if said else str(default)
        return f"{self.help} Default: {usual}." if usual else self.help

    def read(self, name: str, value: object) -> object:
        """The value as settings hold it: names as a tuple, everything else as it is.

        Raises:
            InputError: The option does not take this value.
        """
        flag = self.flag(name)
        if self.kind is list and isinstance(value, str | Iterable):
            parts = value.split(",") if isinstance(value, str) else map(str, value)
            value = tuple(stripped for part in parts if (stripped := part.strip()))
        words = value.strip() if isinstance(value, str) else value
        if self.metavar != TEXT and isinstance(words, str | tuple) and not words:
            raise InputError(f"{flag} is empty: name something, or leave it out")
        if self.choices and isinstance(value, str) and value not in self.choices:
            raise InputError(
                f"invalid {flag} '{printable(value)}': choose from {', '.join(self.choices)}."
                f"{did_you_mean(value, self.choices)}"
            )
        if self.kind in (int, float):
            self._check_number(flag, value)
        return value

    def _check_number(self, flag: str, value: object) -> None:
        number, word = (Integral, "whole number") if self.kind is int else (Real, "number")
        if not isinstance(value, number) or isinstance(value, bool):
            raise InputError(f"{flag} must be a {word}, not {printable(repr(value))}")
        if self.kind is int and abs(value) >= 2**BITS:
            raise InputError(f"{flag} must be a whole number of at most {BITS} bits")
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        if not low <= float(value) <= high and (self.low, self.high) != (None, None):
            bounds = f"at least {low:g}" if self.high is None else f"from {low:g} to {high:g}"
            bounds = f"at most {high:g}" if self.low is None else bounds
            raise InputError(f"{flag} must be {bounds}, not {value}")
        if not math.isfinite(value):
            raise InputError(f"{flag} must be a number, not {value}")


def option(
    help: str,
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    kw_only: bool = True,
    **about: Any,
) -> Any:
    """A field of a settings dataclass that is an option; see `Option`.

    Args:
        help: One or more sentences for ``--help``.
        default: Its value where it is not given; a field without one is required.
        default_factory: What makes that value, as in `dataclasses.field`.
        kw_only: False where Python users may give it by position.
        **about: Other fields of `Option`.
    """
    given = {"default": default, "default_factory": default_factory}
    given = {name: value for name, value in given.items() if value is not MISSING}
    return field(**given, kw_only=kw_only, metadata={_KEY: Option(help, **about)})


def optional(help: str, **about: Any) -> Any:
    """`option` for one that is None where it is not given.

    No field specifier of `settings`, so that type checkers take what it returns for a default.
    """
    return option(help, default=None, **about)


def reuse(
    settings: type[Settings],
    name: str,
    *,
    default: Any = MISSING,
    kw_only: bool = True,
    **changed: Any,
) -> Any:
    """The option `name` of other settings as a field, with another default or what is changed."""
    declared = replace(options_of(settings)[name], **changed)
    given = {} if default is MISSING else {"default": default}
    return field(**given, kw_only=kw_only, metadata={_KEY: declared})


class Settings:
    """What settings dataclasses derive from: every value is checked against its option."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __post_init__(self) -> None:
        for declared in fields(self):
            value = getattr(self, declared.name)
            if _KEY in declared.metadata and value is not None and value is not declared.default:
                read = declared.metadata[_KEY].read(declared.name, value)
                object.__setattr__(self, declared.name, read)


@dataclass_transform(
    kw_only_default=True, frozen_default=True, eq_default=False, field_specifiers=(option, reuse)
)
def settings(panel: str = "") -> Callable[[type[Made]], type[Made]]:
    """Make a class a settings dataclass: frozen, by keyword; panel: where `Option` names none."""

    def decorate(cls: type[Made]) -> type[Made]:
        for name, annotation in cls.__annotations__.items():
            declared = vars(cls).get(name)
            if isinstance(declared, Field) and _KEY in declared.metadata:
                whole = _complete(declared.metadata[_KEY], annotation, panel)
                declared.metadata = {_KEY: whole}  # type: ignore[assignment]
        return dataclass(frozen=True, kw_only=True, eq=False)(cls)

    return decorate


def _complete(declared: Option, annotation: str, panel: str) -> Option:
    """The option with what the annotation of its field says: ``int | None``, ``Literal[...]``."""
    kinds = (kind for pattern, kind in _KINDS.items() if re.search(pattern, annotation))
    kind = declared.kind or next(kinds, str)
    kind = str if kind is list and declared.repeat else kind
    literal = re.match(r"Literal\[(.+?)\]", annotation)
    choices = ast.literal_eval(f"({literal[1]},)") if literal else declared.choices
    return replace(declared, kind=kind, choices=choices, panel=declared.panel or panel)


def options_of(settings: type[Settings]) -> dict[str, Option]:
    """The options of a settings dataclass by the names of its fields."""
    return {
        declared.name: declared.metadata[_KEY]
        for declared in fields(settings)
        if _KEY in declared.metadata
    }


def takes(
    settings: Callable[Parameters, Made],
) -> Callable[[Callable[[Made], Returned]], Callable[Parameters, Returned]]:
    """Let a function of settings be called with their fields; its signature and docs are theirs.

    The function raises InputError, with a hint, for an option that does not exist.
    """

    def decorate(function: Callable[[Made], Returned]) -> Callable[Parameters, Returned]:
        signature = inspect.signature(settings)
        known = signature.parameters

        @functools.wraps(function)
        def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
            for name in kwargs:
                if name not in known:
                    raise InputError(
                        f"unknown option '{printable(name)}'.{did_you_mean(name, known)}"
                    )
            return function(settings(*args, **kwargs))

        call.__doc__ = _with_arguments(
            inspect.getdoc(function) or "", cast(type[Settings], settings)
        )
        returned = inspect.signature(function).return_annotation
        call.__signature__ = signature.replace(return_annotation=returned)  # type: ignore[attr-defined]
        return call

    return decorate


def _with_arguments(text: str, settings: type[Settings]) -> str:
    """A docstring with the options as its arguments, before what is returned and raised."""
    declared = settings.__dataclass_fields__
    arguments = [
        fill(
            f"{name}: {about.text(declared[name].default)}",
            96,
            initial_indent="    ",
            subsequent_indent="        ",
        )
        for name, about in options_of(settings).items()
    ]
    summary, mark, rest = text.partition("\n\nReturns:")
    return "\n".join([f"{summary}\n\nArgs:", *arguments]) + mark + rest
