"""From a spec, ``backend:name[@revision]``, to a model.  Backends load when they are asked for.

A package of somebody else's adds a backend through the entry-point group ``biasgraph.models``:
the entry's name is the backend's, and its object is a `Backend`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from biasgraph.errors import InputError, MissingExtra, ModelError, did_you_mean, printable
from biasgraph.models.options import ModelOptions, Spec, option

if TYPE_CHECKING:
    from pathlib import Path

    from biasgraph.models.base import Embedder, ImageGenerator, LanguageModel, VisualQA

GROUP = "biasgraph.models"
GENERATOR, JUDGE, EMBEDDER, LANGUAGE_MODEL = "generator", "judge", "embedder", "language model"
ROLES = (GENERATOR, JUDGE, EMBEDDER, LANGUAGE_MODEL)
OPTION = {GENERATOR: "--model", JUDGE: "--vqa", EMBEDDER: "--embedder", LANGUAGE_MODEL: "--llm"}

Loader = Callable[[Spec, ModelOptions], Any]


@dataclass(frozen=True)
class Role:
    """What a backend can be asked to be.

    loader: ``module:function``, called with a `Spec` and `ModelOptions`; it returns a model of
    the role's protocol (`biasgraph.models.base`) without loading weights, and raises InputError
    for a name that cannot be.
    example: a spec that a user could type. reads: the names of the options that it heeds.
    """

    loader: str | Loader
    example: str
    reads: Sequence[str] = ()


@dataclass(frozen=True)
class Backend:
    """A family of models under one name.

    about: one line for a list. packages: modules it imports that biasgraph does not require, and
    extra: what brings them (``pip install 'biasgraph[extra]'``).
    """

    about: str
    roles: Mapping[str, Role]
    packages: Sequence[str] = ()
    extra: str = ""
    named: Sequence[str] = field(default=())
    """The names there are, where there is a fixed list."""

    def missing(self) -> list[str]:
        """Its packages that are not installed."""
        return [package for package in self.packages if find_spec(package) is None]


BACKENDS: dict[str, Backend] = {
    "sandbox": Backend(
        about="toy models that ship with biasgraph, with planted biases",
        roles={
            GENERATOR: Role("biasgraph.sandbox.models:generator", "sandbox:stereotyped"),
            JUDGE: Role("biasgraph.sandbox.models:judge", "sandbox"),
        },
    ),
    "human": Backend(
        about="answers that people gave, from a CSV file (biasgraph label)",
        roles={JUDGE: Role("biasgraph.models.human:judge", "human:labels.csv")},
    ),
}


def plug_ins() -> Iterator[metadata.EntryPoint]:
    """The backends that other installed packages offer, not yet loaded."""
    yield from metadata.entry_points(group=GROUP)


def backend_of(spec: str) -> str:
    """``sandbox:stereotyped`` -> ``sandbox``."""
    return Spec(spec).backend


def load_generator(
    spec: str, options: ModelOptions | None = None, journal: Path | None = None
) -> ImageGenerator:
    """The generator a spec names; its weights load with the first image.

    journal: a folder of the run for what a paid backend must not lose.

    Raises:
        InputError: no such backend or name.
        ModelError: what the backend needs is not installed or cannot be reached.
    """
    model: ImageGenerator = _load(Spec(spec, journal), GENERATOR, options)
    return model


def load_judge(
    spec: str, options: ModelOptions | None = None, journal: Path | None = None
) -> VisualQA:
    """The judge a spec names; its weights load with the first question. Raises as above."""
    model: VisualQA = _load(Spec(spec, journal), JUDGE, options)
    return model


def load_embedder(spec: str, options: ModelOptions | None = None) -> Embedder:
    """The embedder a spec names; its weights load with the first text. Raises as above."""
    model: Embedder = _load(Spec(spec), EMBEDDER, options)
    return model


def load_language_model(
    spec: str, options: ModelOptions | None = None, journal: Path | None = None
) -> LanguageModel:
    """The language model a spec names; its weights load with the first turn. Raises as above."""
    model: LanguageModel = _load(Spec(spec, journal), LANGUAGE_MODEL, options)
    return model


def refuse_unread(options: ModelOptions, used: Mapping[str, str]) -> None:
    """Raise InputError for an option that none of the models heeds.

    used: role -> spec.
    """
    read = {
        name
        for role, spec in used.items()
        for name in find_backend(Spec(spec), role).roles[role].reads
    }
    for name in options.record():
        if name not in read:
            models = " and ".join(printable(spec) for spec in used.values())
            raise InputError(f"{option(name)} means nothing to {models}: leave it out")


def find_backend(spec: Spec, role: str) -> Backend:
    """The backend that a spec names. Raises InputError unless there is one with this role."""
    wanted = OPTION[role]
    able = [name for name, backend in BACKENDS.items() if role in backend.roles]
    backend = BACKENDS.get(spec.backend) or _plug_in(spec.backend)
    if backend is None:
        example = BACKENDS[able[0]].roles[role].example if able else "one of a plug-in"
        names = sorted({*able, *(entry.name for entry in plug_ins())})
        raise InputError(
            f"{wanted} '{printable(spec.text)}': no backend '{printable(spec.backend)}' "
            f"(there is: {', '.join(printable(name) for name in names)}; for example {example})."
            f"{did_you_mean(spec.backend, names)}"
        )
    if role not in backend.roles:
        raise InputError(
            f"{wanted} '{printable(spec.text)}': {printable(spec.backend)} has no {role} "
            f"(these have: {', '.join(sorted(able))})"
        )
    return backend


def _plug_in(name: str) -> Backend | None:
    for entry in plug_ins():
        if entry.name == name:
            return load_plug_in(entry)
    return None


def load_plug_in(entry: metadata.EntryPoint) -> Backend:
    """The backend that a package offers; ModelError, naming the package, where it is broken."""
    package = entry.dist.name if entry.dist else entry.value
    try:
        backend = entry.load()
    except Exception as error:  # somebody else's code
        raise ModelError(
            f"the plug-in {printable(entry.name)} of {printable(package)} does not load: "
            f"{printable(str(error))}"
        ) from error
    if not isinstance(backend, Backend):
        raise ModelError(
            f"the plug-in {printable(entry.name)} of {printable(package)} is no "
            "biasgraph.models.registry.Backend"
        )
    return backend


def _load(spec: Spec, role: str, options: ModelOptions | None) -> Any:
    backend = find_backend(spec, role)
    if backend.missing():
        raise MissingExtra(f"{spec.backend} models", backend.extra)
    loader = backend.roles[role].loader
    if isinstance(loader, str):
        module, function = loader.split(":")
        loader = getattr(import_module(module), function)
    return loader(spec, options or ModelOptions())
