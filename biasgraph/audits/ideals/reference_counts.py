"""Counts of real images as a reference: YAML, CSV or a mapping, ``axis: {attribute: count}``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from biasgraph.causal.tables import Variable
from biasgraph.errors import InputError, describe_missing, did_you_mean, printable
from biasgraph.io.csv_files import CsvFile
from biasgraph.io.yaml_files import Problem, read_yaml

Counts = dict[str, dict[str, int]]

COUNT_COLUMNS = ("axis", "attribute", "count")
EXAMPLE = "'gender: {male: 120, female: 80}'"
MOST = 10**9
"""A larger count is taken for a mistake; resampling could not tell it from an exact share."""
LONGEST = 100
"""Digits of a count that are read: Python refuses to read thousands."""


def counts_in_yaml(path: Path, variables: Sequence[Variable]) -> Counts:
    """Counts of a YAML file; InputError lists every problem of it with its line."""
    document = read_yaml(path, "reference")
    document.refuse(list(_problems(document.data, variables)), "reference")
    return {axis: dict(counts) for axis, counts in document.data.items()}


def given_counts(data: Mapping[str, Any], variables: Sequence[Variable]) -> Counts:
    """Counts given in Python; InputError for the first problem."""
    for _, text in _problems(data, variables):
        raise InputError(f"the reference {text}" if text.startswith("must") else text)
    return {axis: {name: int(n) for name, n in counts.items()} for axis, counts in data.items()}


def counts_in_cells(file: CsvFile, source: str, variables: Sequence[Variable]) -> Counts:
    """Counts of a CSV file with a row for each attribute: axis, attribute, count.

    Raises InputError naming the line of the first problem.
    """
    missing = [name for name in COUNT_COLUMNS if name not in file.columns]
    if missing:
        raise InputError(
            f"the reference {source} lacks the column{'s' * (len(missing) > 1)} "
            f"{', '.join(missing)}: counts need {', '.join(COUNT_COLUMNS)}"
        )
    frame = file.frame()[list(COUNT_COLUMNS)]
    found: Counts = {}
    for row, cells in enumerate(frame.itertuples(index=False)):
        axis, attribute, count = (str(cell).strip() for cell in cells)
        if not (axis or attribute or count):
            continue
        where = f"the reference {source}, {file.place(row)}"
        own = found.setdefault(axis, {})
        if attribute in own:
            raise InputError(
                f"{where}: '{printable(attribute)}' of {printable(axis)} is given twice"
            )
        if not (count.isascii() and count.isdecimal()):
            raise InputError(f"{where}: the count '{printable(count)}' is not a whole number")
        own[attribute] = int(count.lstrip("0")[:LONGEST] or 0)  # more is too large in any case
        for _, text in _problems({axis: {attribute: own[attribute] or 1}}, variables):
            raise InputError(f"{where}: {text}")
    for _, text in _problems(found, variables):
        raise InputError(f"the reference {source}: {text}")
    return found


def _problems(data: Any, variables: Sequence[Variable]) -> Iterator[Problem]:
    if not isinstance(data, Mapping) or not data:
        yield (), f"must contain lines such as {EXAMPLE}"
        return
    by_name = {variable.name: variable for variable in variables}
    for axis, counts in data.items():
        name = printable(str(axis))
        if axis not in by_name:
            known = ", ".join(printable(one) for one in by_name)
            hint = did_you_mean(str(axis), by_name)
            yield (str(axis),), f"unknown axis '{name}' (there are {known}).{hint}"
        elif not isinstance(counts, Mapping) or not counts:
            yield (str(axis),), f"{name} must contain counts, such as {EXAMPLE}"
        else:
            yield from _axis_problems(by_name[axis], counts)


def _axis_problems(variable: Variable, counts: Mapping[Any, Any]) -> Iterator[Problem]:
    name = printable(variable.name)
    for attribute, count in counts.items():
        place = (variable.name, str(attribute))
        shown = printable(str(attribute))
        if attribute not in variable.attributes:
            lacks = f"{name} has no attribute"
            yield place, describe_missing(lacks, str(attribute), variable.attributes)
        elif isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST:
            share = isinstance(count, float) and 0 <= count <= 1
            instead = "; for shares, use --ideal" if share else f" from 0 to {MOST:,}"
            yield place, f"the count of {name} '{shown}' must be a whole number{instead}"
    if not any(counts.values()):
        yield (variable.name,), f"the counts of {name} are all zero"
