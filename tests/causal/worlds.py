"""Small made-up audits for the tests, drawn from distributions that the tests state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from biasgraph.causal.graph import Analysis
from biasgraph.causal.tables import CodedImages, Variable

Codes = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Records:
    """An analysis in the plain JSON types of graph.json and the tables."""

    nodes: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    links: list[dict[str, Any]]
    tables: list[dict[str, Any]]
    graph: dict[str, Any]
    document: dict[str, Any]

    @classmethod
    def of(cls, analysis: Analysis) -> Records:
        document = analysis.node_link()
        pairs = [pair.record() for pair in analysis.pairs]
        counts = [row.record() for row in analysis.counts]
        graph = analysis.graph
        return cls(document["nodes"], pairs, document["links"], counts, graph, document)


def variables(*sizes: int) -> tuple[Variable, ...]:
    """Nominal variables a, b, c ... with attributes a0, a1 ..."""
    names = "abcdefgh"[: len(sizes)]
    return tuple(
        Variable(name, tuple(f"{name}{i}" for i in range(size)))
        for name, size in zip(names, sizes, strict=True)
    )


def codes(counts: Sequence[Sequence[int]]) -> Codes:
    """Images with the given counts of each attribute, one column for each variable."""
    columns = [np.repeat(np.arange(len(one)), one) for one in counts]
    return np.stack(columns, axis=1).astype(np.int16)


def column(*answers: int, repeat: int = 1) -> Codes:
    """Images of a single variable with these codes."""
    return np.repeat(np.array(answers, dtype=np.int16), repeat)[:, None]


def audit(
    initial: Codes,
    arms: Mapping[tuple[int, int], Codes],
    variables: tuple[Variable, ...],
    prompt: str = "a librarian",
) -> CodedImages:
    return CodedImages(prompt, variables, initial, arms)


def independent(sizes: Sequence[int], n: int = 48, seed: int = 0, lost: float = 0.0) -> CodedImages:
    """Interventions that set their own axis and change nothing else."""
    rng = np.random.default_rng(seed)
    shares = [rng.dirichlet(np.full(size, 2.0)) for size in sizes]

    def draw(fixed: tuple[int, int] | None = None) -> Codes:
        drawn = np.stack([rng.choice(len(p), n, p=p) for p in shares], axis=1).astype(np.int16)
        if fixed is not None:
            drawn[:, fixed[0]] = fixed[1]
        drawn[rng.random(drawn.shape) < lost] = -1
        drawn[rng.random(n) < lost / 2] = -2
        return drawn

    arms = {(x, a): draw((x, a)) for x, size in enumerate(sizes) for a in range(size)}
    return audit(draw(), arms, variables(*sizes))


def chain(n: int = 400, seed: int = 0, *, direct: float = 0.0, noise: float = 0.1) -> CodedImages:
    """a -> b -> c, each a copy of the one before with noise; c copies a directly now and then."""
    rng = np.random.default_rng(seed)

    def flip(values: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
        return np.where(rng.random(n) < noise, 1 - values, values)

    def draw(fixed: tuple[int, int] | None = None) -> Codes:
        a = (rng.random(n) < 0.3).astype(np.int16)
        if fixed and fixed[0] == 0:
            a[:] = fixed[1]
        b = flip(a)
        if fixed and fixed[0] == 1:
            b[:] = fixed[1]
        c = np.where(rng.random(n) < direct, a, flip(b))
        if fixed and fixed[0] == 2:
            c[:] = fixed[1]
        return np.stack([a, b, c], axis=1).astype(np.int16)

    arms = {(x, a): draw((x, a)) for x in range(3) for a in range(2)}
    return audit(draw(), arms, variables(2, 2, 2))
