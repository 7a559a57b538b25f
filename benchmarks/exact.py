"""Audits of the sandbox's worlds without any picture: answers drawn from exact distributions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import networkx as nx
import numpy as np

from biasgraph.causal.tables import CodedImages, Codes, Tallies, Variable
from biasgraph.data.axes import load_axis_set
from biasgraph.sandbox.planted_truth import Truth, metrics_of, truth, truth_of
from biasgraph.sandbox.world import AXES, OCCUPATIONS, Scene, World, sample, world

WORLDS = ("stereotyped", "debiased")
AXIS_SET = load_axis_set("occupation")
METRICS = metrics_of(AXIS_SET)
VARIABLES = tuple(
    Variable(axis.name, tuple(axis.names), METRICS[axis.name])  # type: ignore[arg-type]
    for axis in AXIS_SET.axes
)
_COLUMNS = [list(AXES).index(variable.name) for variable in VARIABLES]


@dataclass(frozen=True)
class Audit:
    """Which world and occupation to audit, and with how many images a prompt."""

    world: str
    occupation: str
    images: int

    def name(self) -> list[Any]:
        """What tells this audit from all others."""
        return [self.world, self.occupation, self.images]


def planned(images: int, limit: int | None) -> list[Audit]:
    """Both worlds of every occupation, or of the first `limit` ones."""
    return [Audit(name, job, images) for job in OCCUPATIONS[:limit] for name in WORLDS]


def draw_audit(world_name: str, occupation: str, n: int, rng: np.random.Generator) -> CodedImages:
    """The answers of a judge without error about ``n`` images a prompt, drawn from the world."""
    model = world(world_name)

    def draw(do: dict[str, str]) -> Codes:
        people = sample(model, Scene(occupation, do), n, rng)
        return people[:, _COLUMNS].astype(np.int16)

    arms = {
        (x, a): draw({variable.name: attribute})
        for x, variable in enumerate(VARIABLES)
        for a, attribute in enumerate(variable.attributes)
    }
    return CodedImages(f"{world_name} {occupation}", VARIABLES, draw({}), arms)


@cache
def planted_truth(world_name: str, occupation: str) -> Truth:
    """The planted truth of an occupation's plain prompt, each axis in its own metric."""
    return truth(world(world_name), Scene(occupation), METRICS)


def measured_truth(images: CodedImages) -> Truth:
    """The pairs that coded answers imply if they are taken at their word."""
    tallies = Tallies.of(images)
    names = [variable.name for variable in VARIABLES]
    initial = {name: tally.shares for name, tally in zip(names, tallies.initial, strict=True)}
    arms = {
        (names[x], VARIABLES[x].attributes[a]): {
            name: tally.shares for name, tally in zip(names, row, strict=True)
        }
        for (x, a), row in tallies.arms.items()
    }
    return truth_of(initial, arms, METRICS)


def sensitivities(found: Truth) -> np.ndarray:
    """The 56 Intersectional Sensitivities, in the fixed order of ``Truth.pairs``."""
    return np.array([pair.sensitivity for pair in found.pairs])


def cut_audit(images: CodedImages, rows: np.ndarray) -> CodedImages:
    """The audit of some of the images only: row indices (27, n), the initial prompt's first."""
    arms = sorted(images.arms)
    return CodedImages(
        images.prompt,
        images.variables,
        images.initial[rows[0]],
        {arm: images.arms[arm][chosen] for arm, chosen in zip(arms, rows[1:], strict=True)},
    )


@cache
def dag(world_name: str) -> nx.DiGraph[str]:
    """The links of a world."""
    model: World = world(world_name)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(AXES)
    graph.add_edges_from((link.parent, link.child) for link in model.links)
    return graph


def mediation_kind(world_name: str, x: str, z: str, y: str) -> str:
    """What is true of ``x -> z -> y`` in a world: the key of ``MEDIATION_KINDS`` that fits."""
    graph = dag(world_name)
    if not nx.has_path(graph, x, y):
        return "none"
    if graph.has_edge(x, y):
        return "direct"
    if nx.has_path(nx.restricted_view(graph, [z], []), x, y):
        return "other"
    set_by_hand = nx.restricted_view(graph, [], list(graph.in_edges(x)))
    return "clean" if nx.is_d_separator(set_by_hand, {x}, {y}, {z}) else "confounded"


MEDIATION_KINDS = {
    "clean": "every path passes z, nothing else joins z and y",
    "confounded": "every path passes z, z and y have a common cause",
    "direct": "x also acts on y directly",
    "other": "no direct link, but a path around z",
    "none": "x does not act on y at all",
}


def chain_residual(world_name: str, occupation: str, x: str, z: str, y: str) -> float:
    """The exact residual of the chain check: mean TV(P(y|do x), sum_z P(y|do z) P(z|do x))."""
    arms = planted_truth(world_name, occupation).arms
    through = np.stack([arms[z, value][y] for value in AXES[z]])
    gaps = [np.abs(arms[x, v][y] - arms[x, v][z] @ through).sum() / 2 for v in AXES[x]]
    return float(np.mean(gaps))
