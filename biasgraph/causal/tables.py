"""Coded answers and the counts taken from them (BiasConnect sec. 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int16]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Arm = tuple[int, int]

UNKNOWN = -1  # unknown, missing, unparseable or unlisted answer
GATED = -2  # the gate question said no, or the image was withheld


@dataclass(frozen=True)
class Variable:
    """One bias axis as the analysis sees it.

    metric is the axis's own ground metric; "ordinal" declares the attributes to be in order.
    cost: (k, k) ground costs, for the metric "cost" alone.
    """

    name: str
    attributes: tuple[str, ...]
    metric: Literal["nominal", "ordinal", "cost"] = "nominal"
    cost: Floats | None = None

    @property
    def size(self) -> int:
        return len(self.attributes)


@dataclass(frozen=True)
class CodedImages:
    """The answers about one prompt's images.

    initial: (images, variables) attribute index of every answer, or UNKNOWN or GATED.
    arms: the same for the images of each intervention, keyed by (variable, attribute) index.
    Raises ValueError for a wrong shape or a code or arm outside the variables.
    """

    prompt: str
    variables: tuple[Variable, ...]
    initial: Codes
    arms: Mapping[Arm, Codes]

    def __post_init__(self) -> None:
        sizes = np.array([variable.size for variable in self.variables])
        for x, a in self.arms:
            if not (0 <= x < len(sizes) and 0 <= a < sizes[x]):
                raise ValueError(f"there is no variable and attribute for the arm {(x, a)}")
        for codes in (self.initial, *self.arms.values()):
            if codes.ndim != 2 or codes.shape[1] != len(sizes):
                raise ValueError(f"codes must be (images, {len(sizes)}), not {codes.shape}")
            if ((codes >= sizes) | (codes < GATED)).any():
                raise ValueError("a code lies outside its variable's attributes")

    def arms_of(self, x: int) -> list[Arm]:
        """The interventions on variable x that have images, in attribute order."""
        return sorted(arm for arm, codes in self.arms.items() if arm[0] == x and len(codes))


@dataclass(frozen=True)
class Tally:
    """The answers about one variable over one set of images.

    counts: (k,) over the whole attribute list, zeros kept.
    n_total = n_gated + n_unknown + n_valid.
    """

    counts: Counts
    n_gated: int
    n_unknown: int

    @property
    def n_valid(self) -> int:
        return int(self.counts.sum())

    @property
    def n_total(self) -> int:
        return self.n_valid + self.n_gated + self.n_unknown

    @property
    def shares(self) -> Floats:
        """(k,) counts / n_valid; not a number everywhere when nothing is valid."""
        with np.errstate(invalid="ignore"):
            return self.counts / np.int64(self.n_valid)


def tally(codes: Codes, size: int) -> Tally:
    """Count one column of codes for a variable with `size` attributes."""
    counts = np.bincount(codes + 2, minlength=size + 2)
    return Tally(counts[2:], n_gated=int(counts[0]), n_unknown=int(counts[1]))


@dataclass(frozen=True)
class Tallies:
    """Every count of one prompt: initial[y] and arms[(x, a)][y] for each variable y."""

    initial: list[Tally]
    arms: dict[Arm, list[Tally]]

    @classmethod
    def of(cls, images: CodedImages) -> Tallies:
        def all_variables(codes: Codes) -> list[Tally]:
            return [
                tally(codes[:, y], variable.size) for y, variable in enumerate(images.variables)
            ]

        arms = [arm for x in range(len(images.variables)) for arm in images.arms_of(x)]
        return cls(
            all_variables(images.initial), {arm: all_variables(images.arms[arm]) for arm in arms}
        )

    def arms_of(self, x: int) -> list[Arm]:
        """The interventions on x, in attribute order."""
        return [arm for arm in self.arms if arm[0] == x]

    def contingency(self, x: int, y: int) -> Counts:
        """(arms of x, attributes of y) counts; the initial images are not in it."""
        rows = [self.arms[arm][y].counts for arm in self.arms_of(x)]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(self.initial[y].counts))


def reduced(table: Counts) -> tuple[Counts, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The table without empty rows and columns, and the indices of those that were kept."""
    rows = np.flatnonzero(table.sum(axis=1))
    columns = np.flatnonzero(table.sum(axis=0))
    return table[np.ix_(rows, columns)], rows, columns


def counts_rows(images: CodedImages, tallies: Tallies) -> list[dict[str, str | int]]:
    """The rows of tables.csv; axis and attribute are empty for the initial images."""
    sets = [("", "", tallies.initial)] + [
        (images.variables[x].name, images.variables[x].attributes[a], arm)
        for (x, a), arm in tallies.arms.items()
    ]
    return [
        {
            "prompt": images.prompt,
            "axis": axis,
            "attribute": attribute,
            "target": variable.name,
            "answer": answer,
            "count": int(count),
        }
        for axis, attribute, per_variable in sets
        for variable, one in zip(images.variables, per_variable, strict=True)
        for answer, count in zip(
            (*variable.attributes, "unknown", "gated"),
            (*one.counts, one.n_unknown, one.n_gated),
            strict=True,
        )
    ]
