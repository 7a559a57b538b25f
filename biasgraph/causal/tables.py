"""Coded answers and the counts taken from them (BiasConnect sec. 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Literal

import numpy as np
import numpy.typing as npt

from biasgraph.causal.rows import CountRow, Role

Codes = npt.NDArray[np.int16]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Arm = tuple[int, int]

ALL = "all prompts"
UNKNOWN = -1  # unknown, missing, unparseable or unlisted answer
GATED = -2  # the gate question said no, or the image was withheld


@dataclass(frozen=True)
class Variable:
    """One bias axis as the analysis sees it.

    Attributes:
        name: Of the axis.
        attributes: Its k attributes, in order where the metric is "ordinal".
        metric: Its own ground metric.
        cost: (k, k) ground costs, for the metric "cost" alone.
    """

    name: str
    attributes: tuple[str, ...]
    metric: Literal["nominal", "ordinal", "cost"] = "nominal"
    cost: Floats | None = None

    @property
    def size(self) -> int:
        """The number k of attributes."""
        return len(self.attributes)


@dataclass(frozen=True)
class CodedImages:
    """The answers about one prompt's images.

    Attributes:
        prompt: The initial prompt.
        variables: The axes.
        initial: (images, variables) attribute index of every answer, or UNKNOWN or GATED.
        arms: The same for the images of each intervention, keyed by (variable, attribute) index.
        controls: The same for the images of all neutral rewordings together, none unless given.

    Raises:
        ValueError: A shape is wrong, or a code or arm lies outside the variables.
    """

    prompt: str
    variables: tuple[Variable, ...]
    initial: Codes
    arms: Mapping[Arm, Codes]
    controls: Codes = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int16))

    def __post_init__(self) -> None:
        sizes = np.array([variable.size for variable in self.variables])
        if not self.controls.size:
            object.__setattr__(self, "controls", np.zeros((0, len(sizes)), dtype=np.int16))
        for x, a in self.arms:
            if not (0 <= x < len(sizes) and 0 <= a < sizes[x]):
                raise ValueError(f"there is no variable and attribute for the arm {(x, a)}")
        for codes in (self.initial, self.controls, *self.arms.values()):
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

    Attributes:
        counts: (k,) images with each attribute, zeros kept.
        n_gated: Images that the gate question left out, or that were withheld.
        n_unknown: Images with an unknown answer.
    """

    counts: Counts
    n_gated: int
    n_unknown: int

    @property
    def n_valid(self) -> int:
        """Images with one of the attributes."""
        return int(self.counts.sum())

    @property
    def n_total(self) -> int:
        """All images."""
        return self.n_valid + self.n_gated + self.n_unknown

    @property
    def shares(self) -> Floats:
        """(k,) counts / n_valid; not a number everywhere when nothing is valid."""
        with np.errstate(invalid="ignore"):
            return self.counts / np.int64(self.n_valid)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.counts + other.counts,
            self.n_gated + other.n_gated,
            self.n_unknown + other.n_unknown,
        )


def tally(codes: Codes, size: int) -> Tally:
    """Count one column of codes for a variable with `size` attributes."""
    counts = np.bincount(codes + 2, minlength=size + 2)
    return Tally(counts[2:], n_gated=int(counts[0]), n_unknown=int(counts[1]))


@dataclass(frozen=True)
class Tallies:
    """Every count of one prompt, or summed over prompts.

    Attributes:
        initial: By variable y.
        arms: By arm (x, a), then by variable y.
        controls: By variable y, all neutral rewordings together.
    """

    initial: list[Tally]
    arms: dict[Arm, list[Tally]]
    controls: list[Tally]

    @classmethod
    def of(cls, images: CodedImages) -> Tallies:
        """Of one prompt's images."""

        def all_variables(codes: Codes) -> list[Tally]:
            return [
                tally(codes[:, y], variable.size) for y, variable in enumerate(images.variables)
            ]

        arms = [arm for x in range(len(images.variables)) for arm in images.arms_of(x)]
        return cls(
            all_variables(images.initial),
            {arm: all_variables(images.arms[arm]) for arm in arms},
            all_variables(images.controls),
        )

    @classmethod
    def sum(cls, each: Sequence[Tallies]) -> Tallies:
        """The sum over prompts (BiasConnect supp. A.8); arms in order."""

        def total(rows: Sequence[list[Tally]]) -> list[Tally]:
            return [reduce(add, column) for column in zip(*rows, strict=True)]

        arms = sorted({arm for one in each for arm in one.arms})
        return cls(
            total([one.initial for one in each]),
            {arm: total([one.arms[arm] for one in each if arm in one.arms]) for arm in arms},
            total([one.controls for one in each]),
        )

    def arms_of(self, x: int) -> list[Arm]:
        """The interventions on x, in attribute order."""
        return [arm for arm in self.arms if arm[0] == x]

    def of_arms(self, arms: Sequence[Arm], y: int) -> list[Tally]:
        """The answers about y in each of some arms; one without images has none."""
        none = Tally(np.zeros_like(self.initial[y].counts), 0, 0)
        return [self.arms[arm][y] if arm in self.arms else none for arm in arms]

    def contingency(self, x: int, y: int, arms: Sequence[Arm] | None = None) -> Counts:
        """(arms, attributes of y) counts; `arms` are those of x unless given.

        The initial images are not in it.
        """
        rows = [tally.counts for tally in self.of_arms(arms or self.arms_of(x), y)]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(self.initial[y].counts))


@dataclass(frozen=True)
class Pool:
    """The images that a graph is about: those of one prompt, or of several with the same variables.

    Attributes:
        name: What the graph's random draws are named after.
        prompts: The images of each prompt.
        tallies: Of each prompt.
        total: Their sum.
    """

    name: str
    prompts: tuple[CodedImages, ...]
    tallies: tuple[Tallies, ...]
    total: Tallies

    @classmethod
    def of(cls, name: str, prompts: Sequence[CodedImages]) -> Pool:
        """Count the images of prompts with the same variables."""
        tallies = tuple(Tallies.of(images) for images in prompts)
        return cls(name, tuple(prompts), tallies, Tallies.sum(tallies))

    @classmethod
    def sum(cls, prompts: Sequence[CodedImages]) -> Pool:
        """All prompts of a graph of several.

        By their texts, so that the order in which they came changes no random draw.
        """
        return cls.of(ALL, sorted(prompts, key=lambda images: images.prompt))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The axes, in the order of the codes' columns."""
        return self.prompts[0].variables

    def initial(self, y: int) -> Counts:
        """(prompts, attributes of y) counts of the initial images."""
        return np.stack([tallies.initial[y].counts for tallies in self.tallies])

    def controls(self, y: int) -> Counts:
        """(prompts, attributes of y) counts of the neutral rewordings' images."""
        return np.stack([tallies.controls[y].counts for tallies in self.tallies])

    def strata(self, x: int, y: int) -> Counts:
        """(prompts, arms of x, attributes of y) counts; a prompt may lack an arm."""
        arms = self.total.arms_of(x)
        return np.stack([tallies.contingency(x, y, arms) for tallies in self.tallies])


def reduce_table(table: Counts) -> tuple[Counts, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The table without empty rows and columns, and the indices of those that were kept."""
    rows = np.flatnonzero(table.sum(axis=1))
    columns = np.flatnonzero(table.sum(axis=0))
    return table[np.ix_(rows, columns)], rows, columns


def counts_rows(images: CodedImages, tallies: Tallies) -> list[CountRow]:
    """The rows of tables.csv; axis and attribute are empty where nothing is intervened on."""
    sets: list[tuple[Role, str, str, list[Tally]]] = [("initial", "", "", tallies.initial)]
    if len(images.controls):
        sets.append(("control", "", "", tallies.controls))
    sets += [
        ("counterfactual", images.variables[x].name, images.variables[x].attributes[a], arm)
        for (x, a), arm in tallies.arms.items()
    ]
    return [
        CountRow(
            prompt=images.prompt,
            role=role,
            axis=axis,
            attribute=attribute,
            target=variable.name,
            answer=answer,
            count=int(count),
        )
        for role, axis, attribute, per_variable in sets
        for variable, answers in zip(images.variables, per_variable, strict=True)
        for answer, count in zip(
            (*variable.attributes, "unknown", "gated"),
            (*answers.counts, answers.n_unknown, answers.n_gated),
            strict=True,
        )
    ]


def mix_arms(counts: Counts | Floats, mix: str) -> Floats:
    """D^{Bx} (..., k) of arms (..., J, k): their equal mean, or their "pooled" counts' shares."""
    if mix == "pooled":
        pooled = counts.sum(axis=-2)
        return np.asarray(pooled / pooled.sum(axis=-1, keepdims=True))
    shares = counts / counts.sum(axis=-1, keepdims=True)
    # Arm by arm, as numpy's mean adds them, which is slow where there are many short rows.
    return np.asarray(reduce(add, np.moveaxis(shares, -2, 0)) / shares.shape[-2])
