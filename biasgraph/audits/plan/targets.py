"""What a mitigation plan should reach: a YAML file, ``axis: {weight: 2, ideal: {...}}``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from biasgraph.causal.greedy import Target
from biasgraph.causal.settings import MetricName
from biasgraph.causal.tables import Variable
from biasgraph.causal.transport import Ideal, resolve_ideals
from biasgraph.errors import InputError, describe_missing, did_you_mean, printable
from biasgraph.io.yaml_files import Problem, read_yaml

FIELDS = ("weight", "ideal")
WEIGHT = 1.0


def read_targets(
    path: str | Path,
    variables: Sequence[Variable],
    ideals: Sequence[Ideal],
    metric: MetricName | None = None,
) -> list[Target]:
    """Read which of `variables` are targets; those that the file does not name count nothing.

    A weight that is not given is 1, an ideal that is not given the one of `ideals`. metric: the
    one that overrides all variables' own, if one does.

    Raises:
        InputError: the file cannot be read, or every problem of its content with its line.
    """
    document = read_yaml(Path(path), "targets")
    document.refuse(list(_problems(document.data, variables, metric)), "targets")
    found = []
    for y, variable in enumerate(variables):
        if variable.name not in document.data:
            continue
        given = document.data[variable.name] or {}
        ideal = ideals[y]
        if given.get("ideal") is not None:
            ideal = resolve_ideals([variable], metric, {variable.name: given["ideal"]}, None)[0]
        weight = float(given.get("weight", WEIGHT))
        if weight:
            found.append(Target(y, weight, ideal))
    return found


def every_axis(ideals: Sequence[Ideal]) -> list[Target]:
    """All axes as targets of one weight, each with its own ideal."""
    return [Target(y, WEIGHT, ideal) for y, ideal in enumerate(ideals)]


def _problems(
    data: Any, variables: Sequence[Variable], metric: MetricName | None
) -> Iterator[Problem]:
    if not isinstance(data, Mapping) or not data:
        yield (
            (),
            "must contain lines such as 'gender: {weight: 2, ideal: {male: 0.5, female: 0.5}}'",
        )
        return
    by_name = {variable.name: variable for variable in variables}
    for axis, given in data.items():
        name = printable(str(axis))
        if axis not in by_name:
            yield (str(axis),), describe_missing("the run has no axis", str(axis), by_name)
        elif given is not None and not isinstance(given, Mapping):
            yield (str(axis),), f"{name} must contain a weight or an ideal, such as {{weight: 2}}"
        elif given:
            yield from _entry_problems(by_name[axis], given, metric)
    if all(_weight(given) == 0 for given in data.values()):
        yield (), "every weight is 0: nothing would count"


def _entry_problems(
    variable: Variable, given: Mapping[str, Any], metric: MetricName | None
) -> Iterator[Problem]:
    name = printable(variable.name)
    for field in given:
        if field not in FIELDS:
            hint = did_you_mean(str(field), FIELDS)
            yield (
                (variable.name, str(field)),
                f"{name} has 'weight' and 'ideal' only, not '{printable(str(field))}'.{hint}",
            )
    if "weight" in given and _weight(given) is None:
        yield (variable.name, "weight"), f"the weight of {name} must be a number of at least 0"
    shares = given.get("ideal")
    if shares is None:
        return
    place = (variable.name, "ideal")
    if not isinstance(shares, Mapping):
        yield place, f"the ideal of {name} must contain shares, such as {{male: 0.5, female: 0.5}}"
        return
    try:
        resolve_ideals([variable], metric, {variable.name: shares}, None)
    except InputError as error:
        yield place, str(error)


def _weight(given: Any) -> float | None:
    """The weight of an entry; None for what is no number of at least 0."""
    weight = given.get("weight", WEIGHT) if isinstance(given, Mapping) else WEIGHT
    number = isinstance(weight, int | float) and not isinstance(weight, bool)
    return float(weight) if number and 0 <= weight <= sys.float_info.max else None
