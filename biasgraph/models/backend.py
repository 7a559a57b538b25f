"""What a backend is: a family of models under one name, and what each can be asked to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

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


FLAGS = ("toy", "pictures_given", "people")


@dataclass(frozen=True)
class Role:
    """What a backend can be asked to be.

    Attributes:
        loader: ``module:function`` or a function, called with a `Spec` and `ModelOptions`; it
            returns a model of the role's protocol (`biasgraph.models.base`) without loading
            weights, and raises InputError for a name that cannot be.
        example: A spec that a user could type.
        reads: The names of the options that it heeds.
    """

    loader: str | Loader
    example: str
    reads: Sequence[str] = ()


@dataclass(frozen=True)
class Backend:
    """A family of models under one name.

    Attributes:
        about: One line for a list.
        roles: What its models can be asked to be.
        packages: Modules that it imports and biasgraph does not require.
        extra: What brings them: ``pip install 'biasgraph[extra]'``.
        needs: What else a user must have, in a few words.
        obstacle: ``module:function`` or a function, without arguments, which says in a line why
            the backend cannot work on this machine now, or None; it loads nothing heavy.
        toy: Its models know a toy world only: every result that shows them says that.
        pictures_given: Its images exist already; it makes none of prompts.
        people: Its answers were given by people.
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

    Raises:
        ModelError: Its own check fails.
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
    return cast("Callable[..., Any]", getattr(import_module(module), name))


def summarize_error(error: BaseException) -> str:
    """An error of somebody else's code in a line of at most 300 characters."""
    return printable(" ".join(f"{type(error).__name__}: {error}".split()))[:300]
