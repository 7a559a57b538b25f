"""Options and arguments of commands, made from the fields of settings dataclasses."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection
from dataclasses import MISSING
from pathlib import Path
from typing import Any

import rich_click as click

from biasgraph.audits.panels import METHODS, OUTPUT
from biasgraph.data.options import Option, Settings, options_of
from biasgraph.errors import printable
from biasgraph.methods.registry import find_methods, method_options
from biasgraph.models.inference_options import MODELS

_KEY = "biasgraph.methods"

LAST = ("", OUTPUT, MODELS)
"""The panels that ``--help`` shows below all others."""


class FilePath(click.Path):
    """A path as `pathlib` has it; "" is refused, which `Path` takes for the working directory."""

    def __init__(self, **options: Any) -> None:
        super().__init__(path_type=Path, **options)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path. Raises click.BadParameter for an empty one."""
        if value == "":
            self.fail("it is empty", param, ctx)
        return super().convert(value, param, ctx)


class CommandWithMethods(click.RichCommand):
    """A command that also takes the options of all methods, plug-ins' included.

    ``METHODS`` in its docstring stands for their names.
    """

    @property
    def help(self) -> str | None:
        """The docstring, with the methods that there are."""
        listed = "; ".join(f"{name}: {method.about}" for name, method in find_methods().items())
        return self._help and self._help.replace("METHODS", listed)

    @help.setter
    def help(self, text: str | None) -> None:
        self._help = text

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's own parameters, and one for each option of a method."""
        if _KEY not in ctx.meta:
            ctx.meta[_KEY] = [
                _parameter(name, about, panel=METHODS) for name, about in method_options().items()
            ]
        return [*super().get_params(ctx), *ctx.meta[_KEY]]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Gather the methods' options under one name."""
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            extra = re.match(r"Got unexpected extra arguments? \((.*)\)$", error.message, re.S)
            if extra is None or all(parameter.name != "prompt" for parameter in self.params):
                raise
            meant = printable(extra[1][:80])
            raise click.UsageError(
                f"unexpected argument '{meant}'. Did you mean --prompt '{meant}'?", ctx
            ) from None
        names = [parameter.name for parameter in ctx.meta[_KEY]]
        ctx.params["method_options"] = {name: ctx.params.pop(name, None) for name in names}
        return rest


def options_from(
    settings: type[Settings], name: str = "options", only: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options and arguments that a settings dataclass declares.

    Args:
        settings: The dataclass, an object of which the command gets.
        name: The command's parameter that takes it.
        only: The names of the fields to offer; empty for all.
    """
    declared, fields = options_of(settings), settings.__dataclass_fields__
    gathered = {key for key, about in declared.items() if about.kind is dict}
    plain = [key for key in declared if key not in gathered and key in (only or declared)]
    names = gathered.union(plain)
    parameters = [_parameter(key, declared[key], fields[key].default) for key in plain]
    parameters.sort(key=_place)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def call(**values: Any) -> None:
            given = {key: values.pop(key) for key in names & values.keys()}
            given = {key: value for key, value in given.items() if value is not None}
            command(**values, **{name: settings(**given)})

        # Click reads parameters from here, the last one first, as decorators are applied.
        vars(call)["__click_params__"] = [
            *getattr(command, "__click_params__", ()),
            *reversed(parameters),
        ]
        return call

    return decorate


def _place(parameter: click.Parameter) -> tuple[int, bool]:
    """Where ``--help`` lists it: panels as they come, required options first."""
    panel = getattr(parameter, "panel", None)
    return LAST.index(panel) if panel in LAST else 0, not parameter.required


def _parameter(
    name: str, about: Option, default: object = None, panel: str = ""
) -> click.Parameter:
    required = default is MISSING
    if about.argument:
        return click.RichArgument(
            [name],
            type=_type_of(about),
            metavar=about.metavar,
            nargs=-1 if about.repeat else 1,
            required=required,
        )
    # A flag without an opposite is off; one with an opposite may be neither given nor denied.
    off = None if any("/" in flag for flag in about.flags) else False
    switch: dict[str, Any] = {"is_flag": True, "default": off} if about.kind is bool else {}
    return click.RichOption(
        [*(about.flags or [about.flag(name)]), name],
        type=_type_of(about),
        metavar=about.metavar,
        **switch,
        multiple=about.repeat,
        required=required,
        panel=about.panel or panel or None,
        help=about.text(default),
    )


def _type_of(about: Option) -> Any:
    """What click reads a value as."""
    if about.choices:
        return click.Choice([*about.choices])
    if about.kind in (int, float) and (about.low, about.high) != (None, None):
        ranges: dict[type, Any] = {int: click.IntRange, float: click.FloatRange}
        return ranges[about.kind](about.low, about.high)
    if about.kind is Path:
        return FilePath()
    return about.kind if about.kind in (int, float, bool) else str


run_argument = click.argument("run", type=FilePath(), metavar="RUN")
"""``RUN``, the directory of a result."""


def output_option(
    help: str, metavar: str = "DIR", **about: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """``-o`` as `target`, for a command whose settings declare none."""
    kind = FilePath(dir_okay=metavar != "FILE")
    return click.option(
        "-o", "--output", "target", type=kind, metavar=metavar, panel=OUTPUT, help=help, **about
    )
