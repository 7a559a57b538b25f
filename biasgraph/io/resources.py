"""The only reader of ``templates/``: the package biasgraph.templates, or a checkout's folder."""

from __future__ import annotations

import functools
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")


@functools.cache
def _root() -> Traversable:
    try:
        return resources.files("biasgraph.templates")
    except ModuleNotFoundError:  # a bare checkout: nothing is installed
        return Path(__file__).resolve().parents[2] / "templates"


def _at(parts: tuple[str, ...]) -> Traversable:
    for part in parts:
        if not part or part.startswith(".") or not _SAFE.issuperset(part):
            raise FileNotFoundError(f"no such template: {'/'.join(parts)!r}")
    return _root().joinpath(*parts)


@functools.cache
def read_text(*parts: str) -> str:
    """Return the text of one shipped file: ``read_text("axes", "occupation.yaml")``.

    Raises:
        FileNotFoundError: the file does not exist; a part with a path separator or a leading dot
            names nothing, so that user input cannot leave the folder.
    """
    return _at(parts).read_text(encoding="utf-8")


def names(folder: str, suffix: str) -> list[str]:
    """Return the sorted names, without `suffix`, of the shipped files of one folder."""
    files = (entry.name for entry in _at((folder,)).iterdir())
    return sorted(name.removesuffix(suffix) for name in files if name.endswith(suffix))


@functools.cache
def read_yaml(*parts: str) -> Any:
    """Return the data of one shipped YAML file; not to be changed.

    Raises:
        FileNotFoundError: as `read_text`.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster where it is
    return yaml.load(read_text(*parts), Loader=loader)  # noqa: S506


@functools.cache
def lines(*parts: str) -> tuple[str, ...]:
    """Return the lines of a shipped list, without comments (``#``) and blank lines."""
    stripped = (line.partition("#")[0].strip() for line in read_text(*parts).splitlines())
    return tuple(line for line in stripped if line)
