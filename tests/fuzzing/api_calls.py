"""What people do in Python and in notebooks, as commands of the fuzzer."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import biasgraph
from biasgraph.errors import BiasgraphError

API = "python"
"""Such a command begins with it; the name of what is done follows, and its arguments."""


def carry_out(arguments: Sequence[str]) -> int:
    """Do it, and print what a notebook would show; returns an exit code as the command line's."""
    try:
        print(_CALLS[arguments[0]](*arguments[1:]))
    except BiasgraphError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _show(run: str) -> str:
    result = biasgraph.load(run)
    image = str(result.answers["image"].iloc[0])
    frames = (result.nodes, result.edges, result.findings, result.by_prompt, result.pairs)
    shown = [repr(result), result._repr_html_(), *map(len, frames), len(result.graph)]
    shown.append(result.plot())
    try:
        shown.append(result.image(image).size)
    except BiasgraphError as error:  # there are none of a table
        shown.append(error)
    return ascii(shown)


def _save(run: str, target: str) -> str:
    return ascii(biasgraph.save(biasgraph.load(run), target))


def _compare(one: str, other: str) -> str:
    compared = biasgraph.compare([one, other])
    return ascii([repr(compared), getattr(compared, "_repr_html_", str)()])


def _analyze(table: str) -> str:
    return ascii(biasgraph.analyze(table, bootstrap=100, min_valid=2))


_CALLS = {"show": _show, "save": _save, "compare": _compare, "analyze": _analyze}
