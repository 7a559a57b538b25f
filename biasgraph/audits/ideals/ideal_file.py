"""The ideal that a user declares: a YAML file, ``axis: {attribute: share}``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from biasgraph.causal.tables import Variable
from biasgraph.causal.transport import resolve_ideals
from biasgraph.errors import InputError
from biasgraph.io.yaml_files import Problem, read_yaml

Shares = dict[str, dict[str, float]]


def read_ideal(path: str | Path, variables: Sequence[Variable]) -> Shares:
    """Read the ideal shares of some of `variables`; axes that the file does not name are uniform.

    Raises:
        InputError: the file cannot be read, or every problem of its content with its line: an
            axis or attribute that does not exist, shares that are negative or do not sum to 1.
    """
    document = read_yaml(Path(path), "ideal")
    document.refuse(list(_problems(document.data, variables)), "ideal")
    return {axis: dict(shares) for axis, shares in document.data.items()}


def _problems(data: Any, variables: Sequence[Variable]) -> Iterator[Problem]:
    if not isinstance(data, Mapping) or not data:
        yield (), "must contain lines such as 'gender: {male: 0.5, female: 0.5}'"
        return
    for axis, shares in data.items():
        if not isinstance(shares, Mapping):
            yield (str(axis),), f"{axis} must contain shares, such as {{male: 0.5, female: 0.5}}"
            continue
        try:
            resolve_ideals(variables, None, {axis: shares}, None)
        except InputError as error:
            yield (str(axis),), str(error)
