"""What a worker of Ray does: it loads the models that batches ask for, and computes."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgraph.errors import BiasgraphError, InputError, ModelError, printable
from biasgraph.models.backend import GENERATOR, summarize_error
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import load_generator, load_judge
from biasgraph.runs.record import PACKAGES, Record, identity, installed_versions

if TYPE_CHECKING:
    from biasgraph.runs.engines import Call


@dataclass(frozen=True)
class Terms:
    """What a worker has to be like.

    Attributes:
        versions: Of the packages that decide about pixels and numbers.
        threads: With which models compute.
        directory: Where relative paths begin.
    """

    versions: Mapping[str, str]
    threads: int
    directory: str

    @classmethod
    def here(cls, threads: int) -> Terms:
        """As it is on this machine."""
        return cls(_versions(), threads, os.getcwd())


@dataclass(frozen=True)
class Greeting:
    """Where a worker is, and why it cannot work; "" where it can."""

    node: str
    problem: str


@dataclass(frozen=True)
class Failure:
    """What a model failed with, in words: what else an error holds stays where it is."""

    message: str
    input: bool

    def error(self, line: str) -> BiasgraphError:
        """An error of the same kind."""
        return InputError(line) if self.input else ModelError(line)


class BatchWorker:
    """Computes batches with models of its own."""

    def __init__(self, options: Mapping[str, Any], terms: Terms) -> None:
        """Work under these terms: a worker that Ray starts again comes this way, too."""
        os.environ["OMP_NUM_THREADS"] = str(min(terms.threads, os.cpu_count() or 1))
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        with suppress(OSError):
            os.chdir(terms.directory)
        self._options, self._terms = options, terms
        self._models: dict[tuple[str, str], Any] = {}

    def hello(self) -> Greeting:
        """Where it is, and whether its packages are those of the terms."""
        own = _versions()
        for package, version in self._terms.versions.items():
            if own.get(package) != version:
                there = own.get(package, "none")
                problem = f"it has {package} {there}, and this machine {version}: install the same"
                return Greeting(socket.gethostname(), problem)
        return Greeting(socket.gethostname(), "")

    def compute(self, wanted: Record, call: Call[Any, Any]) -> object:
        """What comes of a batch, or a `Failure`.

        wanted: the identity (`record.identity`) of the model that is to compute it.
        """
        try:
            return call.compute(self._model(wanted, call.role))
        except BiasgraphError as error:
            return Failure(str(error), isinstance(error, InputError))
        except Exception as error:
            return Failure(f"this is a bug in biasgraph: {summarize_error(error)}", False)

    def _model(self, wanted: Record, role: str) -> Any:
        spec = wanted["spec"]
        model = self._models.get((role, spec))
        if model is None:
            load = load_generator if role == GENERATOR else load_judge
            model = load(spec, ModelOptions.from_record(self._options))
            _refuse_another(wanted, identity(model))
            self._models[role, spec] = model
        return model


def _refuse_another(wanted: Record, own: Record) -> None:
    """Raise ModelError for a model that is another one here, or would run in another way."""
    name = printable(wanted["spec"])
    if own["fingerprint"] != wanted["fingerprint"]:
        raise ModelError(f"{name} has other weights there than on this machine")
    for setting, value in wanted["settings"].items():
        if own["settings"].get(setting) != value:
            raise ModelError(
                f"{name} would run with {setting} {printable(str(own['settings'].get(setting)))}, "
                f"and on this machine with {printable(str(value))}"
            )


def _versions() -> dict[str, str]:
    """Of the packages, less what says which devices they were built for (2.13.0+cpu)."""
    installed = installed_versions()
    return {name: installed[name].partition("+")[0] for name in PACKAGES if name in installed}
