"""What MineTheGap mines for: what a language model is asked for (app. C.1, D.2)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from biasgraph.io import resources
from biasgraph.io.yaml_files import YamlDocument, parse_yaml
from biasgraph.prompts.instruction_files import read_own, texts_in
from biasgraph.prompts.instructions import fill

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
        if spec in shipped_targets():
            return _read_shipped(spec)
        return _of(Path(spec).stem, read_own(spec, [*shipped_targets()], _WHAT))

    def random_prompts(self, count: int, words: int = WORDS) -> str:
        """The request for so many random prompts of at most so many words."""
        return fill(self.random, count=count, words=words)

    def mutations_of(self, prompt: str, count: int, words: int = WORDS) -> str:
        """The request for so many mutations of a prompt, of at most so many words."""
        return fill(self.mutations, prompt=prompt, count=count, words=words)

    def variations_of(self, prompt: str, count: int) -> str:
        """The request for so many variations of a prompt."""
        return fill(self.variations, prompt=prompt, count=count)


def shipped_targets() -> dict[str, str]:
    """The names of the targets that ship with biasgraph, each with its file in templates/llm."""
    files = [name for name in resources.names("llm", ".yaml") if name.startswith(_FILE)]
    return {name.removeprefix(_FILE).removeprefix("-") or OPEN: name for name in files}


@functools.cache
def _read_shipped(name: str) -> MiningTarget:
    text = resources.read_text("llm", f"{shipped_targets()[name]}.yaml")
    return _of(name, parse_yaml(text, name, _WHAT))


def _of(name: str, document: YamlDocument) -> MiningTarget:
    return MiningTarget(name, **texts_in(document, _PLACES, _WHAT))
