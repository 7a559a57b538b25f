"""From the coded answers of one prompt to its graph; it reads like BiasConnect's section 3.

`biasgraph.causal.pooling` builds the graph of several prompts from the same parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from biasgraph.causal.aggregate import amplification, strongest
from biasgraph.causal.baseline import UNIFORM, Baseline
from biasgraph.causal.correction import correct
from biasgraph.causal.mediation import ASSUMPTIONS, Mediation
from biasgraph.causal.nodes import node
from biasgraph.causal.pairs import Pairs
from biasgraph.causal.sensitivity import TargetDraws
from biasgraph.causal.settings import AnalysisSettings, EdgeRule, generator
from biasgraph.causal.tables import (
    UNKNOWN,
    CodedImages,
    Codes,
    Counts,
    Pool,
    Tallies,
    Variable,
    counts_rows,
    reduced,
)
from biasgraph.causal.transport import Ideal
from biasgraph.errors import InputError

SCHEMA = "biasgraph/1"
UNKNOWN_CLASS = "unknown"


@dataclass(frozen=True)
class Analysis:
    """A graph of one prompt or of several in plain JSON types; what is undefined is None.

    nodes, pairs: a dict for each axis and each ordered pair of axes, the diagonal included.
    links: the pairs that are edges, with their table and mediation checks.
    graph: the graph's own attributes. tables: the rows of tables.csv.
    """

    nodes: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    links: list[dict[str, Any]]
    graph: dict[str, Any]
    tables: list[dict[str, Any]]

    def node_link(self) -> dict[str, Any]:
        """The document of graph.json: `networkx.node_link_graph(data, edges="links")` reads it."""
        return {
            "schema": SCHEMA,
            "directed": True,
            "multigraph": False,
            "graph": self.graph,
            "nodes": self.nodes,
            "links": self.links,
        }


def analyze(
    images: CodedImages,
    settings: AnalysisSettings,
    baseline: Baseline = UNIFORM,
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
    nodes, pairs = measured(pool, ideals, settings, settings.prompt_rule, baseline.labelled)
    links = edges(pool, pairs)
    _mediate(links, counted, pool.total, settings)
    about = {"kind": "prompt", "prompt": images.prompt, "edge_rule": asdict(settings.prompt_rule)}
    return assembled(about, nodes, pairs, links, pool, ideals, settings, [images])


def measured(
    pool: Pool,
    ideals: Sequence[Ideal],
    settings: AnalysisSettings,
    rule: EdgeRule,
    labelled: Mapping[str, Counts] | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The nodes and all ordered pairs of axes, edges decided by the rule; see `analyze`."""
    draws = _initial_draws(pool, ideals, settings)
    nodes = [
        node(pool.name, variable, pool.total.initial[y], ideals[y], draws[y], settings)
        for y, variable in enumerate(pool.variables)
    ]
    near_ideal = [one["near_ideal"] for one in nodes]
    pairs = Pairs(pool, list(ideals), draws, near_ideal, settings, rule).rows()
    if labelled is not None:
        correct(nodes, pairs, pool, ideals, settings, labelled)
    return nodes, pairs


def treat_unknown(
    images: CodedImages, settings: AnalysisSettings, with_ideal: set[str]
) -> CodedImages:
    """Leave unknown answers out, make them a class of their own, or refuse them."""
    if settings.unknown == "exclude":
        return images
    sets = [images.initial, *images.arms.values()]
    for y, variable in enumerate(images.variables):
        unknown = sum(int((codes[:, y] == UNKNOWN).sum()) for codes in sets)
        if settings.unknown == "error" and unknown:
            raise InputError(f"{unknown} answers about {variable.name} are unknown.")
        if settings.unknown == "class":
            check_unknown_class(variable, settings, with_ideal)
    if settings.unknown == "error":
        return images
    sizes = np.array([variable.size for variable in images.variables], dtype=np.int16)

    def recoded(codes: Codes) -> Codes:
        return np.where(codes == UNKNOWN, sizes, codes)

    return replace(
        images,
        variables=tuple(
            replace(variable, attributes=(*variable.attributes, UNKNOWN_CLASS))
            for variable in images.variables
        ),
        initial=recoded(images.initial),
        arms={arm: recoded(codes) for arm, codes in images.arms.items()},
    )


def check_unknown_class(
    variable: Variable, settings: AnalysisSettings, with_ideal: set[str]
) -> None:
    """Raise InputError unless unknown answers can be a class of this variable."""
    if variable.name not in with_ideal:
        raise InputError(
            f"Unknown answers as a class need an ideal share, and {variable.name} has none."
        )
    if UNKNOWN_CLASS in variable.attributes:
        raise InputError(f"{variable.name} already has an attribute named {UNKNOWN_CLASS}.")
    metric = settings.metric or variable.metric
    if metric not in ("nominal", "values"):
        raise InputError(
            f"The metric {metric} of {variable.name} has no place for unknown answers; "
            "choose --metric nominal or leave them out."
        )


def _initial_draws(
    pool: Pool, ideals: Sequence[Ideal], settings: AnalysisSettings
) -> list[TargetDraws | None]:
    def one(y: int, variable: Variable) -> TargetDraws | None:
        counts = pool.initial(y)
        if counts.sum() < settings.min_valid:
            return None
        rng = generator(settings.seed, pool.name, "initial", variable.name)
        return TargetDraws.of(counts, ideals[y], settings.bootstrap, rng)

    return [one(y, variable) for y, variable in enumerate(pool.variables)]


def edges(pool: Pool, pairs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The pairs that are edges, with their reduced table, its labels and their weight."""
    index = {variable.name: i for i, variable in enumerate(pool.variables)}
    links = []
    for pair in (pair for pair in pairs if pair["edge"]):
        x, y = index[pair["source"]], index[pair["target"]]
        arms = pool.total.arms_of(x)
        table, rows, columns = reduced(pool.total.contingency(x, y))
        links.append(
            {
                **pair,
                "flags": list(pair["flags"]),
                "rows": [pool.variables[x].attributes[arms[row][1]] for row in rows],
                "columns": [pool.variables[y].attributes[column] for column in columns],
                "table": table.tolist(),
                "mediation": [],
                "weight": pair["is"],
            }
        )
    return links


def _mediate(
    links: Sequence[dict[str, Any]],
    images: CodedImages,
    tallies: Tallies,
    settings: AnalysisSettings,
) -> None:
    """Check every edge for axes that may stand between its ends."""
    index = {variable.name: i for i, variable in enumerate(images.variables)}
    found = [(index[link["source"]], index[link["target"]]) for link in links]
    mediation = Mediation(images, tallies, settings)
    for link, (x, y) in zip(links, found, strict=True):
        link["mediation"] = [mediation.check(x, z, y) for z in mediation.candidates(found, x, y)]


def assembled(
    about: Mapping[str, Any],
    nodes: list[dict[str, Any]],
    pairs: list[dict[str, Any]],
    links: list[dict[str, Any]],
    pool: Pool,
    ideals: Sequence[Ideal],
    settings: AnalysisSettings,
    answered: Sequence[CodedImages],
) -> Analysis:
    """The graph of nodes, pairs and links.

    about: the graph's first attributes, `kind` and `prompt` among them; answered: the images as
    they were answered, with unknown answers still unknown.
    """
    _connect(nodes, pairs, links, pool.total)
    rows = [row for images in answered for row in counts_rows(images, Tallies.of(images))]
    graph = {**about, **_graph(pool, ideals, pairs, links, settings)}
    return Analysis(nodes=nodes, pairs=pairs, links=links, graph=graph, tables=rows)


def _connect(
    nodes: Sequence[dict[str, Any]],
    pairs: Sequence[dict[str, Any]],
    links: Sequence[dict[str, Any]],
    tallies: Tallies,
) -> None:
    """Give every node its place among the edges and its manipulation check."""
    diagonals = {pair["source"]: pair for pair in pairs if pair["source"] == pair["target"]}
    for x, one in enumerate(nodes):
        diagonal = diagonals[one["id"]]
        one["diagonal"] = {
            "p": diagonal["p"],
            "cramers_v": diagonal["cramers_v"],
            "accuracy": _accuracy(tallies, x),
        }
        leaving = [abs(link["is"]) for link in links if link["source"] == one["id"]]
        entering = [abs(link["is"]) for link in links if link["target"] == one["id"]]
        one |= {
            "out_degree": len(leaving),
            "in_degree": len(entering),
            "out_strength": float(sum(leaving)),
            "in_strength": float(sum(entering)),
        }
        for flag in ("no_intervention", "missing_arms", "differential_loss"):
            if flag in diagonal["flags"]:
                one["flags"].append(flag)
        if any("weak_intervention" in p["flags"] for p in pairs if p["source"] == one["id"]):
            one["flags"].append("weak_intervention")


def _accuracy(tallies: Tallies, x: int) -> float | None:
    """Mean share of an intervention's valid answers that name the attribute it asked for."""
    answered = [arm for arm in tallies.arms_of(x) if tallies.arms[arm][x].n_valid]
    shares = [float(tallies.arms[arm][x].shares[arm[1]]) for arm in answered]
    return float(np.mean(shares)) if shares else None


def _graph(
    pool: Pool,
    ideals: Sequence[Ideal],
    pairs: Sequence[dict[str, Any]],
    links: Sequence[dict[str, Any]],
    settings: AnalysisSettings,
) -> dict[str, Any]:
    index = {variable.name: i for i, variable in enumerate(pool.variables)}
    values = {
        (index[pair["source"]], index[pair["target"]]): pair["is"]
        for pair in pairs
        if pair["source"] != pair["target"]
    }
    total = amplification(pool, ideals, values, settings)
    metrics = {ideal.metric for ideal in ideals}
    conditions = {
        "mixed_metrics": len(metrics) > 1,
        "values_metric": "values" in metrics,
        "incomplete_sum": total["pairs_defined"] < total["pairs"],
        "nothing_decided": all(pair["status"] == "insufficient" for pair in pairs),
    }
    return {
        "settings": asdict(settings),
        "images": image_numbers(pool.prompts),
        "edges": len(links),
        "max_influenced": strongest(links, "target"),
        "max_impact": strongest(links, "source"),
        "amplification": total,
        "flags": [flag for flag, holds in conditions.items() if holds],
        "mediation_assumptions": (
            list(ASSUMPTIONS) if any(link["mediation"] for link in links) else []
        ),
    }


def image_numbers(prompts: Sequence[CodedImages]) -> dict[str, int]:
    """How many images there are of the prompts and of their interventions."""
    return {
        "initial": sum(len(images.initial) for images in prompts),
        "interventions": sum(len(codes) for images in prompts for codes in images.arms.values()),
    }
