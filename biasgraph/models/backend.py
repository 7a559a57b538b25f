"""What a backend is: a family of models under one name, and what each can be asked to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from biasgraph.errors import ModelError, printable
from biasgraph.models.inference_options import ModelOptions, Spec

GROUP = "biasgraph.models"
GENERATOR, JUDGE, EMBEDDER, LANGUAGE_MODEL = "generator", "judge", "embedder", "language model"
ROLES = (GENERATOR, JUDGE, EMBEDDER, LANGUAGE_MODEL)
OPTION = {GENERATOR: "--model", JUDGE: "--vqa", EMBEDDER: "--embedder", LANGUAGE_MODEL: "--llm"}
WANTED_EMBEDDER = (
    "--embedder: a model that puts images and texts into one space, for example "
    "clip:openai/clip-vit-large-patch14"
)
"""What a user who named no embedder is asked for.

By CLIP the ranks of MineTheGap's authors agree best with the truth (sec. 4.2).
"""

Loader = Callable[[Spec, ModelOptions], Any]
Obstacle = Callable[[], str | None]


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
    extra: what brings them (``pip install 'biasgraph[extra]'``). needs: what else a user must
    have, in a few words. obstacle: ``module:function`` without arguments, which says in a line why
    the backend cannot work on this machine now, or None; it is asked for a list and loads nothing
    heavy. toy: its models know a toy world only, and what they show says so; pictures_given: its
    images are there already and it makes none; people: its answers were given by people.
    """

    about: str
    roles: Mapping[str, Role]
    packages: Sequence[str] = ()
    extra: str = ""
    needs: str = ""
    obstacle: str | Obstacle | None = None
    toy: bool = False
    pictures_given: bool = False
    people: bool = False

    def missing(self) -> list[str]:
        """Its packages that are not installed."""
        return [name for name in self.packages if find_spec(name.partition(".")[0]) is None]


def obstacle_of(backend: Backend) -> str | None:
    """Why a backend cannot work on this machine now, in a line; None where nothing is known.

    Raises ModelError for one that cannot even tell.
    """
    if backend.missing():
        what = f"'biasgraph[{backend.extra}]'" if backend.extra else " ".join(backend.missing())
        return f"not installed: {', '.join(backend.missing())}; pip install {what}"
    if backend.obstacle is None:
        return None
    try:
        obstacle = import_function(backend.obstacle)()
    except Exception as error:  # it may be somebody else's code
        raise ModelError(f"cannot tell whether it works: {summarize_error(error)}") from error
    return None if obstacle is None else str(obstacle)


def import_function(function: str | Callable[..., Any]) -> Callable[..., Any]:
    """A function, or the one that ``module:function`` names."""
    if not isinstance(function, str):
        return function
    module, _, name = function.partition(":")
    called: Callable[..., Any] = getattr(import_module(module), name)
    return called


def summarize_error(error: BaseException) -> str:
    return printable(" ".join(f"{type(error).__name__}: {error}".split()))[:300]
