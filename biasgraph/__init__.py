"""biasgraph audits text-to-image models for bias and shows how the biases pull on each other.

>>> import biasgraph
>>> result = biasgraph.build("a librarian")        # doctest: +SKIP
>>> result.graph.edges(data="is")                  # doctest: +SKIP
>>> biasgraph.load("outputs/answers").pairs        # doctest: +SKIP

Nothing heavy is imported before it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasgraph.audits.api import analyze, build, compare
    from biasgraph.data.result import Result, load
    from biasgraph.errors import BiasgraphError, InputError, ModelError
    from biasgraph.report.saving import save

from biasgraph.io.version import __version__

__all__ = [
    "BiasgraphError",
    "InputError",
    "ModelError",
    "Result",
    "__version__",
    "analyze",
    "build",
    "compare",
    "load",
    "save",
]

_HOMES = {
    "analyze": "biasgraph.audits.api",
    "build": "biasgraph.audits.api",
    "compare": "biasgraph.audits.api",
    "Result": "biasgraph.data.result",
    "load": "biasgraph.data.result",
    "save": "biasgraph.report.saving",
    "BiasgraphError": "biasgraph.errors",
    "InputError": "biasgraph.errors",
    "ModelError": "biasgraph.errors",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'biasgraph' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
