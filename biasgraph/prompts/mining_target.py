"""What MineTheGap mines for: what a language model is asked for (app. C.1, D.2)."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from biasgraph.errors import InputError, did_you_mean, printable
from biasgraph.io import resources
from biasgraph.io.yaml_files import Problem, YamlDocument, parse_yaml, read_yaml
from biasgraph.prompts.instructions import filled

OPEN = "open"
WORDS = 8
"""How many words a prompt has at most, as in the paper (sec. 5)."""
_FILE = "minethegap"
_WHAT = "mining target"
_PLACES = {
    "system": (),
    "random": ("count",),
    "mutations": ("count", "prompt"),
    "variations": ("count", "prompt"),
}
"""The keys of a target's file, and the places that each text needs."""


@dataclass(frozen=True)
class MiningTarget:
    """The instructions of one target.

    Attributes:
        name: ``open``, ``sociodemographic``, ``objects``, ``style``, or that of a user's file.
        system: The system message of all requests.
        random: The request for random prompts, with the places ``{count}`` and ``{words}``.
        mutations: The request for mutations of a prompt, with ``{prompt}`` besides.
        variations: The request for what a prompt may mean, with ``{count}`` and ``{prompt}``.
    """

    name: str
    system: str
    random: str
    mutations: str
    variations: str

    @classmethod
    def of(cls, spec: str = OPEN) -> MiningTarget:
        """A shipped target by its name, or a user's by the path of its YAML file.

        What has a suffix or holds a path separator is a path.

        Raises:
            InputError: An unknown name, a file that cannot be read, or every problem of its
                content, each with its line.
        """
        return _shipped(spec) if spec in shipped_targets() else _of(Path(spec).stem, _read(spec))

    def random_prompts(self, count: int, words: int = WORDS) -> str:
        """The request for so many random prompts of at most so many words."""
        return filled(self.random, count=count, words=words)

    def mutations_of(self, prompt: str, count: int, words: int = WORDS) -> str:
        """The request for so many mutations of a prompt, of at most so many words."""
        return filled(self.mutations, prompt=prompt, count=count, words=words)

    def variations_of(self, prompt: str, count: int) -> str:
        """The request for so many variations of a prompt."""
        return filled(self.variations, prompt=prompt, count=count)


def shipped_targets() -> dict[str, str]:
    """The names of the targets that ship with biasgraph, each with its file in templates/llm."""
    files = [name for name in resources.names("llm", ".yaml") if name.startswith(_FILE)]
    return {name.removeprefix(_FILE).removeprefix("-") or OPEN: name for name in files}


@functools.cache
def _shipped(name: str) -> MiningTarget:
    text = resources.read_text("llm", f"{shipped_targets()[name]}.yaml")
    return _of(name, parse_yaml(text, name, _WHAT))


def _read(spec: str) -> YamlDocument:
    path = Path(spec)
    if path.suffix or path.name != spec:
        return read_yaml(path, _WHAT)
    shipped = [*shipped_targets()]
    raise InputError(
        f"unknown {_WHAT} '{printable(spec[:100])}'.{did_you_mean(spec[:100], shipped)} "
        f"Shipped: {', '.join(shipped)}; your own is named by its path, ending in .yaml"
    )


def _of(name: str, document: YamlDocument) -> MiningTarget:
    document.refuse([*_problems(document.data)], _WHAT)
    texts = {key: document.data[key].strip() for key in _PLACES}
    return MiningTarget(name, **texts)


def _problems(data: object) -> Iterator[Problem]:
    if not isinstance(data, dict):
        yield (), f"expected the keys {', '.join(_PLACES)}"
        return
    for key in map(str, data):
        if key not in _PLACES:
            shown = printable(key[:100])
            yield (key,), f"unknown key '{shown}'.{did_you_mean(shown, _PLACES)}"
    for key, needed in _PLACES.items():
        text = data.get(key)
        if key not in data:
            yield (), f"'{key}' is missing"
        elif not isinstance(text, str) or not text.strip():
            yield (key,), f"'{key}' must be text"
        else:
            for place in needed:
                if f"{{{place}}}" not in text:
                    yield (key,), f"'{key}' has no place {{{place}}}"
