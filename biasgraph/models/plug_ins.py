"""What other installed packages add, through entry-point groups: backends, and methods."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import TypeVar

from biasgraph.errors import BiasgraphError, ModelError, printable
from biasgraph.models.backend import FLAGS, GROUP, ROLES, Backend, summarize_error
from biasgraph.models.inference_options import MODEL_OPTIONS

GROUPS = (GROUP, "biasgraph.methods")
"""All entry-point groups that biasgraph reads."""

Declared = TypeVar("Declared")


def plug_ins(group: str = GROUP) -> metadata.EntryPoints:
    """The entries that other installed packages have in a group, not yet loaded."""
    return _plug_ins(group, tuple(sys.path))


@functools.lru_cache(maxsize=16)
def _plug_ins(group: str, _path: tuple[str, ...]) -> metadata.EntryPoints:
    """Those of all packages on a path; what is installed meanwhile waits for the next start."""
    return metadata.entry_points(group=group)


def find_plug_in(name: str) -> Backend | None:
    """The backend that a package offers under a name; see `find_declared`."""
    return find_declared(GROUP, name, load_plug_in)


def load_plug_in(entry: metadata.EntryPoint) -> Backend:
    """The backend that an entry names; see `load_declared`."""
    return load_declared(entry, Backend, _problem_of)


def find_declared(
    group: str, name: str, load: Callable[[metadata.EntryPoint], Declared]
) -> Declared | None:
    """What a package declares under a name in a group; None where none does.

    Raises:
        ModelError: It is broken, or two packages declare it.
    """
    entries = [entry for entry in plug_ins(group) if entry.name == name]
    if len(entries) > 1:
        packages = " and ".join(sorted({printable(package_of(entry)) for entry in entries}))
        raise ModelError(f"{packages} both call a plug-in {printable(name)}; uninstall one")
    return load(entries[0]) if entries else None


def load_declared(
    entry: metadata.EntryPoint,
    kind: type[Declared],
    problem_of: Callable[[str, Declared], str],
) -> Declared:
    """The declaration that an entry names.

    Args:
        entry: The entry of a package.
        kind: What the declaration must be an instance of.
        problem_of: Says what is wrong with a declaration of a name; "" where nothing is.

    Raises:
        ModelError: It is broken; the message names the package.
    """
    plug_in = f"the plug-in {printable(entry.name)} of {printable(package_of(entry))}"
    with blame(f"{plug_in} does not load"):
        declared = entry.load()
    if not isinstance(declared, kind):
        raise ModelError(f"{plug_in} is not a {kind.__module__}.{kind.__name__}")
    if problem := problem_of(entry.name, declared):
        raise ModelError(f"{plug_in}: {problem}")
    return declared


@contextmanager
def blame(what: str) -> Iterator[None]:
    """Turn whatever somebody else's code raises into a ModelError that begins with `what`."""
    try:
        yield
    except BiasgraphError:
        raise
    except (Exception, SystemExit) as error:
        raise ModelError(f"{what}: {summarize_error(error)}") from error


def package_of(entry: metadata.EntryPoint) -> str:
    """The package that offers a plug-in."""
    return entry.dist.name if entry.dist else entry.value


def names_function(text: object) -> bool:
    """Whether a text has the form ``module:function``."""
    return isinstance(text, str) and text.count(":") == 1


def _problem_of(_name: str, backend: Backend) -> str:
    for flag in FLAGS:
        if not isinstance(getattr(backend, flag), bool):
            return f"its flag {flag} is neither True nor False"
    for role, entered in backend.roles.items():
        if role not in ROLES:
            return f"unknown role '{printable(str(role))}' (there are {', '.join(ROLES)})"
        loader = getattr(entered, "loader", None)
        if not callable(loader) and not names_function(loader):
            return f"the loader of its {role} is neither a function nor 'module:function'"
        for name in getattr(entered, "reads", ()):
            if name not in MODEL_OPTIONS:
                return f"its {role} reads an unknown option '{printable(str(name))}'"
    return ""
