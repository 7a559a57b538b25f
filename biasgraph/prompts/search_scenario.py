"""What BGPS asks a language model for while prompts are searched that expose a bias (app. C)."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasgraph.errors import printable
from biasgraph.io import resources
from biasgraph.prompts.instruction_files import read_own, texts_in
from biasgraph.prompts.instructions import fill

OCCUPATION = "occupation"
_FILE = "bgps.yaml"
_WHAT = "search scenario"
_OTHER = "other"
_PLACES = {
    "instruction": ("unnamed",),
    "biased": ("unnamed", "attributes"),
    "opening": (),
}
"""The keys of a scenario's file, and the places that each text needs."""


@dataclass(frozen=True)
class SearchScenario:
    """The instructions of one scenario, and how its prompts begin.

    Attributes:
        name: ``occupation``, ``context``, ``place``, ``object``, ``activity``, or that of a user's
            file.
        request: The instruction, with the place ``{unnamed}`` for what prompts are not to mention;
            there may be ``{characters}``.
        biased_request: That of the language model told to bias, with ``{attributes}`` besides;
            there may be ``{neutral}``.
        opening: The first words of every prompt.
    """

    name: str
    request: str
    biased_request: str
    opening: str

    @classmethod
    def of(cls, spec: str = OCCUPATION) -> SearchScenario:
        """A shipped scenario by its name, or a user's by the path of its YAML file.

        What has a suffix or holds a path separator is a path. The file has the keys
        ``instruction``, ``biased`` and ``opening``.

        Raises:
            InputError: An unknown name, a file that cannot be read, or every problem of its
                content, each with its line.
        """
        if spec in shipped_scenarios():
            return _read_shipped(spec)
        document = read_own(spec, shipped_scenarios(), _WHAT)
        texts = texts_in(document, _PLACES, _WHAT)
        if printable(texts["opening"]) != texts["opening"]:
            document.refuse([(("opening",), "'opening' must be one line of visible text")], _WHAT)
        return cls(Path(spec).stem, texts["instruction"], texts["biased"], texts["opening"])

    def instruction(self, axes: Iterable[str]) -> str:
        """What is asked for.

        Args:
            axes: The names of those that prompts are not to mention.
        """
        names = [*dict.fromkeys(axes)]
        of_race = any(_key("neutral", name) != _OTHER for name in names)
        return _space(fill(self.request, **_places(names, of_race)))

    def biased_instruction(
        self, axes: Sequence[str], attributes: Sequence[str], also: Iterable[str] = ()
    ) -> str:
        """What is asked for where the language model itself is to bias the images.

        Args:
            axes: The names of the axes along which it is to bias them.
            attributes: One of each.
            also: Further axes that prompts are not to mention.
        """
        places = _places([*dict.fromkeys([*axes, *also])], True) | {
            "attributes": " and ".join(attributes),
            "neutral": " and ".join(_wording("neutral", name) for name in axes),
        }
        return _space(fill(self.biased_request, **places))


def shipped_scenarios() -> list[str]:
    """The names of the scenarios that ship with biasgraph."""
    return [*_texts()["scenarios"]]


@functools.cache
def _texts() -> dict[str, Any]:
    texts: dict[str, Any] = resources.read_yaml("llm", _FILE)
    return texts


@functools.cache
def _read_shipped(name: str) -> SearchScenario:
    texts, own = _texts(), _texts()["scenarios"][name]
    request, biased = (fill(texts[key], person=own["person"]) for key in ("instruction", "biased"))
    return SearchScenario(name, request, biased, own["opening"])


def _places(axes: list[str], english: bool) -> dict[str, str]:
    unnamed = dict.fromkeys(_wording("unnamed", name) for name in axes)
    return {"unnamed": " ".join(unnamed), "characters": _texts()["characters"] if english else ""}


def _key(kind: str, axis: str) -> str:
    return axis.casefold() if axis.casefold() in _texts()[kind] else _OTHER


def _wording(kind: str, axis: str) -> str:
    return fill(_texts()[kind][_key(kind, axis)], axis=axis)


def _space(text: str) -> str:
    return " ".join(text.split())
