"""Instructions for language models that a user may write: a YAML file, a text under each key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from biasgraph.errors import InputError, did_you_mean, printable
from biasgraph.io.yaml_files import Problem, YamlDocument, read_yaml

Places = Mapping[str, Sequence[str]]
"""The keys of a file, and the places that each of its texts needs."""


def read_own(spec: str, shipped: Sequence[str], what: str) -> YamlDocument:
    """A user's file by its path: what has a suffix or holds a path separator.

    Raises:
        InputError: No path, with the names that ship; or the file cannot be read.
    """
    path = Path(spec)
    if path.suffix or path.name != spec:
        return read_yaml(path, what)
    raise InputError(
        f"unknown {what} '{printable(spec[:100])}'.{did_you_mean(spec[:100], shipped)} Shipped: "
        f"{', '.join(shipped)}; for your own, give its path, ending in .yaml"
    )


def texts_in(document: YamlDocument, places: Places, what: str) -> dict[str, str]:
    """The text under each key.

    Raises:
        InputError: Every problem of the content, each with its line.
    """
    document.refuse([*_problems(document.data, places)], what)
    return {key: document.data[key].strip() for key in places}


def _problems(data: object, places: Places) -> Iterator[Problem]:
    if not isinstance(data, dict):
        yield (), f"expected the keys {', '.join(places)}"
        return
    for key in map(str, data):
        if key not in places:
            shown = printable(key[:100])
            yield (key,), f"unknown key '{shown}'.{did_you_mean(shown, places)}"
    for key, needed in places.items():
        text = data.get(key)
        if key not in data:
            yield (), f"'{key}' is missing"
        elif not isinstance(text, str) or not text.strip():
            yield (key,), f"'{key}' must be text"
        else:
            for place in needed:
                if f"{{{place}}}" not in text:
                    yield (key,), f"'{key}' has no place {{{place}}}"
