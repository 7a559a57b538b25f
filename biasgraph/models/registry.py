"""From a spec, ``backend:name[@revision]``, to a model.  Backends load when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from biasgraph.errors import InputError, did_you_mean, printable

if TYPE_CHECKING:
    from biasgraph.models.base import ImageGenerator, VisualQA

GENERATORS = {"sandbox": "biasgraph.sandbox.models:generator"}
JUDGES = {"sandbox": "biasgraph.sandbox.models:judge"}
"""Backend -> ``module:function``; the function takes (name, spec) and returns a model."""


def backend_of(spec: str) -> str:
    """``sandbox:stereotyped`` -> ``sandbox``."""
    return spec.partition(":")[0]


def load_generator(spec: str) -> ImageGenerator:
    """The generator a spec names; its weights load with the first image.

    Raises:
        InputError: no such backend or name.
    """
    model: ImageGenerator = _load(spec, GENERATORS, "--model", "sandbox:stereotyped")
    return model


def load_judge(spec: str) -> VisualQA:
    """The judge a spec names; its weights load with the first question.

    Raises:
        InputError: no such backend or name.
    """
    model: VisualQA = _load(spec, JUDGES, "--vqa", "sandbox")
    return model


def _load(spec: str, backends: dict[str, str], option: str, example: str) -> Any:
    backend, _, name = spec.partition(":")
    if backend not in backends:
        known = ", ".join(sorted(backends))
        raise InputError(
            f"{option} '{printable(spec)}': no backend '{printable(backend)}' (there is: {known}; "
            f"for example {example}).{did_you_mean(backend, backends)}"
        )
    module, function = backends[backend].split(":")
    return getattr(import_module(module), function)(name, spec)
