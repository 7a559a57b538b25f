"""Backends that other installed packages offer, through the entry-point group of `GROUP`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

from biasgraph.errors import ModelError, printable
from biasgraph.models.backend import GROUP, ROLES, Backend, summarize_error
from biasgraph.models.inference_options import MODEL_OPTIONS


def plug_ins() -> Iterator[metadata.EntryPoint]:
    """The backends that other installed packages offer, not yet loaded."""
    yield from metadata.entry_points(group=GROUP)


def find_plug_in(name: str) -> Backend | None:
    """The backend that a package offers under a name; None where there is none.

    Raises ModelError where it is broken, or where two packages have it.
    """
    entries = [entry for entry in plug_ins() if entry.name == name]
    if len(entries) > 1:
        packages = " and ".join(sorted({printable(package_of(entry)) for entry in entries}))
        raise ModelError(f"{packages} both call a plug-in {printable(name)}: uninstall one")
    return load_plug_in(entries[0]) if entries else None


def package_of(entry: metadata.EntryPoint) -> str:
    """The package that offers a plug-in."""
    return entry.dist.name if entry.dist else entry.value


def load_plug_in(entry: metadata.EntryPoint) -> Backend:
    """The backend that a package offers; ModelError, naming the package, where it is broken."""
    said = f"the plug-in {printable(entry.name)} of {printable(package_of(entry))}"
    try:
        backend = entry.load()
    except (Exception, SystemExit) as error:  # somebody else's code
        raise ModelError(f"{said} does not load: {summarize_error(error)}") from error
    if not isinstance(backend, Backend):
        raise ModelError(f"{said} is no biasgraph.models.registry.Backend")
    for role, entered in backend.roles.items():
        if role not in ROLES:
            raise ModelError(
                f"{said} has a role '{printable(str(role))}', and there is {', '.join(ROLES)}"
            )
        loader = getattr(entered, "loader", None)
        if not callable(loader) and not (isinstance(loader, str) and loader.count(":") == 1):
            raise ModelError(
                f"{said}: the loader of its {role} is neither a function nor 'module:function'"
            )
        for name in getattr(entered, "reads", ()):
            if name not in MODEL_OPTIONS:
                raise ModelError(f"{said}: its {role} reads '{printable(str(name))}', no option")
    return backend
