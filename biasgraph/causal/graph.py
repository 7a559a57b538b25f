"""From the coded answers of one prompt to its graph; it reads like BiasConnect's section 3.

`biasgraph.causal.pooling` builds the graph of several prompts from the same parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from biasgraph.causal.aggregate import amplification, strongest
from biasgraph.causal.baseline import UNIFORM, Baseline
from biasgraph.causal.correction import correct
from biasgraph.causal.mediation import ASSUMPTIONS, Mediation
from biasgraph.causal.pairs import Pairs, draw_initial
from biasgraph.causal.rows import CountRow, LinkRow, ManipulationCheck, NodeRow, PairRow, flag
from biasgraph.causal.sensitivity import distances_to_ideal
from biasgraph.causal.sequential import first_images, rows_until_decided
from biasgraph.causal.settings import AnalysisSettings, EdgeRule
from biasgraph.causal.tables import CodedImages, Counts, Pool, Tallies, counts_rows, reduce_table
from biasgraph.causal.transport import Ideal
from biasgraph.causal.unknown_answers import treat_unknown
from biasgraph.causal.wording import Wording

SCHEMA = "biasgraph/1"
INTERVENTION_FLAGS = ("no_intervention", "missing_arms", "differential_loss")  # nodes bear them too


@dataclass(frozen=True)
class Analysis:
    """A graph of one prompt or of several; what is undefined is None.

    Attributes:
        nodes: One for each axis.
        pairs: Every ordered pair of axes, the diagonal included.
        links: The pairs that are edges, with their table and mediation checks.
        graph: The graph's own attributes, in plain JSON types.
        answered: The images, with unknown answers still unknown.
    """

    nodes: list[NodeRow]
    pairs: list[PairRow]
    links: list[LinkRow]
    graph: dict[str, Any]
    answered: Sequence[CodedImages]

    @property
    def counts(self) -> Iterator[CountRow]:
        """The rows of tables.csv, made one by one: those of many prompts are many."""
        return chain.from_iterable(
            counts_rows(images, Tallies.of(images)) for images in self.answered
        )

    def node_link(self) -> dict[str, Any]:
        """The document of graph.json: `networkx.node_link_graph(data, edges="links")` reads it."""
        return {
            "schema": SCHEMA,
            "directed": True,
            "multigraph": False,
            "graph": self.graph,
            "nodes": [node.record() for node in self.nodes],
            "links": [link.record() for link in self.links],
        }


def analyze(
    images: CodedImages, settings: AnalysisSettings, baseline: Baseline = UNIFORM
) -> Analysis:
    """Test every pair of axes, weigh the edges, and say how sure each number is.

    Args:
        images: The coded images of the prompt.
        settings: How to test and weigh.
        baseline: What the distributions are compared with.

    Raises:
        InputError: The settings or the axes do not admit an ideal, a metric or unknown answers.
    """
    counted = treat_unknown(images, settings, baseline.axes)
    ideals = baseline.ideals(counted.variables, settings.metric)
    pool = Pool.of(images.prompt, [counted])
    nodes, pairs = measure_axes(pool, ideals, settings, settings.prompt_rule, baseline.labelled)
    links = _mediate(select_edges(pool, pairs), counted, pool.total, settings)
    about = {"kind": "prompt", "prompt": images.prompt, "edge_rule": asdict(settings.prompt_rule)}
    return assemble(about, nodes, pairs, links, pool, ideals, settings, [images])


def measure_axes(
    pool: Pool,
    ideals: Sequence[Ideal],
    settings: AnalysisSettings,
    rule: EdgeRule,
    labelled: Mapping[str, Counts] | None = None,
) -> tuple[list[NodeRow], list[PairRow]]:
    """The nodes and all ordered pairs of axes, edges decided by the rule; see `analyze`."""
    nodes, measured = Pairs.prepare(pool, ideals, settings, rule)
    pairs = rows_until_decided(measured) if settings.looks else measured.rows()
    if labelled is None:
        return nodes, pairs
    return correct(nodes, pairs, pool, ideals, settings, labelled)


def measure_claims(
    pool: Pool, ideals: Sequence[Ideal], settings: AnalysisSettings, rule: EdgeRule
) -> list[PairRow]:
    """What `measure_axes` says of all pairs of two axes, in half the time: see `Pairs.claims`."""
    draws = [draw_initial(pool, y, ideal, settings) for y, ideal in enumerate(ideals)]
    wording = Wording(pool, settings, rule.stratified)
    unasked: list[bool | None] = [None] * len(ideals)
    return Pairs(pool, list(ideals), draws, unasked, settings, rule, wording).claims()


def select_edges(pool: Pool, pairs: Sequence[PairRow]) -> list[LinkRow]:
    """The pairs that are edges, with their reduced table, its labels and their weight."""
    index = {variable.name: i for i, variable in enumerate(pool.variables)}
    links = []
    for pair in pairs:
        if not pair.edge or pair.is_ is None:
            continue
        x, y = index[pair.source], index[pair.target]
        tested = pool.total
        if isinstance(pair.look_images, int):
            tested = first_images(pool, pair.look_images).total
        arms = tested.arms_of(x)
        table, rows, columns = reduce_table(tested.contingency(x, y))
        links.append(
            LinkRow(
                **vars(pair),
                rows=tuple(pool.variables[x].attributes[arms[row][1]] for row in rows),
                columns=tuple(pool.variables[y].attributes[column] for column in columns),
                table=tuple(map(tuple, table.tolist())),
                weight=pair.is_,
            )
        )
    return links


def _mediate(
    links: Sequence[LinkRow], images: CodedImages, tallies: Tallies, settings: AnalysisSettings
) -> list[LinkRow]:
    """The edges with a check of every axis that may stand between their ends."""
    index = {variable.name: i for i, variable in enumerate(images.variables)}
    edges = [(index[link.source], index[link.target]) for link in links]
    mediation = Mediation(images, tallies, settings)
    return [
        replace(
            link,
            mediation=tuple(mediation.check(x, z, y) for z in mediation.candidates(edges, x, y)),
        )
        for link, (x, y) in zip(links, edges, strict=True)
    ]


def assemble(
    about: Mapping[str, Any],
    nodes: Sequence[NodeRow],
    pairs: list[PairRow],
    links: list[LinkRow],
    pool: Pool,
    ideals: Sequence[Ideal],
    settings: AnalysisSettings,
    answered: Sequence[CodedImages],
) -> Analysis:
    """The graph of nodes, pairs and links.

    Args:
        about: The graph's first attributes, `kind` and `prompt` among them.
        nodes: The axes, without their place among the edges.
        pairs: All ordered pairs of axes.
        links: Those that are edges.
        pool: The images that were counted.
        ideals: Of the axes.
        settings: Of the analysis.
        answered: The images as they were answered, with unknown answers still unknown.
    """
    connected = [_connect(node, x, pairs, links, pool.total) for x, node in enumerate(nodes)]
    graph = {**about, **_graph(pool, ideals, pairs, links, settings)}
    return Analysis(connected, pairs, links, graph, answered)


def _connect(
    node: NodeRow, x: int, pairs: Sequence[PairRow], links: Sequence[LinkRow], tallies: Tallies
) -> NodeRow:
    """The node of variable x with its place among the edges and its manipulation check."""
    outgoing = [pair for pair in pairs if pair.source == node.id]
    diagonal = next(pair for pair in outgoing if pair.target == node.id)
    leaving = [abs(link.weight) for link in links if link.source == node.id]
    entering = [abs(link.weight) for link in links if link.target == node.id]
    flags = [name for name in INTERVENTION_FLAGS if name in diagonal.flags]
    if any("weak_intervention" in pair.flags for pair in outgoing):
        flags.append("weak_intervention")
    return replace(
        flag(node, *flags),
        diagonal=ManipulationCheck(
            p=diagonal.p, cramers_v=diagonal.cramers_v, accuracy=_accuracy(tallies, x)
        ),
        out_degree=len(leaving),
        in_degree=len(entering),
        out_strength=float(sum(leaving)),
        in_strength=float(sum(entering)),
    )


def _accuracy(tallies: Tallies, x: int) -> float | None:
    """Mean share of an intervention's valid answers that name the attribute it asked for."""
    answered = [arm for arm in tallies.arms_of(x) if tallies.arms[arm][x].n_valid]
    shares = [float(tallies.arms[arm][x].shares[arm[1]]) for arm in answered]
    return float(np.mean(shares)) if shares else None


def _graph(
    pool: Pool,
    ideals: Sequence[Ideal],
    pairs: Sequence[PairRow],
    links: Sequence[LinkRow],
    settings: AnalysisSettings,
) -> dict[str, Any]:
    index = {variable.name: i for i, variable in enumerate(pool.variables)}
    # The diagonal is a manipulation check, not a pull of one axis on another (STATISTICS (d)).
    values = {
        (index[pair.source], index[pair.target]): pair.is_
        for pair in pairs
        if pair.source != pair.target
    }
    if settings.looks:  # the floor is of all images, and so must be what stands above it
        values = {place: _is_of_all(pool, *place, ideals, settings) for place in values}
    total = amplification(pool, ideals, values, settings)
    metrics = {ideal.metric for ideal in ideals}
    intervened = bool(pool.total.arms)
    conditions = {
        "mixed_metrics": intervened and len(metrics) > 1,
        "values_metric": "values" in metrics,
        "no_interventions": not intervened,
        "incomplete_sum": intervened and total["pairs_defined"] < total["pairs"],
        "adaptive": bool(settings.looks),
        "nothing_decided": intervened and all(pair.status == "insufficient" for pair in pairs),
    }
    return {
        "settings": {**asdict(settings), "looks": [*settings.looks]},
        "images": image_numbers(pool.prompts),
        "edges": len(links),
        "max_influenced": strongest([(link.target, link.weight) for link in links]),
        "max_impact": strongest([(link.source, link.weight) for link in links]),
        "amplification": total,
        "flags": [name for name, holds in conditions.items() if holds],
        "mediation_assumptions": (
            list(ASSUMPTIONS) if any(link.mediation for link in links) else []
        ),
    }


def _is_of_all(
    pool: Pool, x: int, y: int, ideals: Sequence[Ideal], settings: AnalysisSettings
) -> float | None:
    """IS of a pair in all images; None where there are too few valid answers."""
    initial, strata = pool.initial(y), pool.strata(x, y)
    fewest = min([initial.sum(), *strata.sum(axis=(0, 2))]) if len(pool.total.arms_of(x)) else 0
    if fewest < settings.min_valid:
        return None
    before, after = distances_to_ideal(initial, strata, ideals[y], settings.mix)
    return before - after


def image_numbers(prompts: Sequence[CodedImages]) -> dict[str, int]:
    """How many images there are of the prompts, their interventions and, if any, their controls."""
    controls = sum(len(images.controls) for images in prompts)
    return {
        "initial": sum(len(images.initial) for images in prompts),
        "interventions": sum(len(codes) for images in prompts for codes in images.arms.values()),
        **({"controls": controls} if controls else {}),
    }
