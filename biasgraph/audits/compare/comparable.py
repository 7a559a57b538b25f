"""What runs must have in common before their numbers are held against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from biasgraph.audits.compare.evidence import Evidence, evidence_of
from biasgraph.causal.baseline import Baseline
from biasgraph.causal.graph import Analysis, analyze
from biasgraph.causal.pooling import analyze_global
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import GATED, UNKNOWN, CodedImages, Codes, Variable
from biasgraph.causal.transport import Ideal
from biasgraph.data.result import Result
from biasgraph.errors import InputError, listed, printable

SAME_SETTINGS = ("mix", "unknown", "min_valid", "fallback", "yates")
TOLERANCE = 1e-9

Record = dict[str, Any]


@dataclass(frozen=True)
class ComparedRun:
    """A result made ready: the same axes, attributes and prompts in the same order as the others.

    name: the model and its directory, different from every other run's.
    graph, nodes, pairs, links: of the graph over the axes and prompts that all runs share.
    """

    name: str
    result: Result
    images: list[CodedImages]
    ideals: list[Ideal]
    settings: AnalysisSettings
    graph: Record
    nodes: list[Record]
    pairs: list[Record]
    links: list[Record]

    @property
    def axes(self) -> list[str]:
        """The names of its axes."""
        return [variable.name for variable in self.images[0].variables]


def comparable(results: Sequence[Result], *, common: bool) -> tuple[list[ComparedRun], list[str]]:
    """The runs, the first of them the baseline, and what a reader should know of them.

    common: leave out axes that not all runs have with the same attributes, and for graphs of
    several prompts the prompts that not all have. Nothing else is excused.

    Raises:
        InputError: names what the runs do not have in common, a line for each.
    """
    names = unique_names(results)
    evidence = [evidence_of(result) for result in results]
    for name, result in zip(names[1:], results[1:], strict=True):
        if _kind(result) != _kind(results[0]):
            raise InputError(
                f"{names[0]} is the graph of {_kind_words(results[0])} and {name} that of "
                f"{_kind_words(result)}: they cannot be compared"
            )
    axes, axis_problems = _shared_axes(names, evidence)
    prompts, prompt_problems = _shared_prompts(names, evidence, results)
    excused = [*axis_problems, *prompt_problems]
    problems = [] if common else [f"{problem} (--common leaves it out)" for problem in excused]
    for name, result, one in zip(names[1:], results[1:], evidence[1:], strict=True):
        problems += _differences(names[0], name, results[0], result, evidence[0], one, axes)
    if not problems and (not axes or not prompts):
        problems.append(f"the runs have no {'axis' if not axes else 'prompt'} in common")
    if problems:
        raise InputError("\n".join(problems))
    variables = tuple(v for v in evidence[0].images[0].variables if v.name in axes)
    runs = [
        _run(name, result, one, variables, prompts)
        for name, result, one in zip(names, results, evidence, strict=True)
    ]
    return runs, [*(f"Left out: {problem}" for problem in excused), *_notes(names, results)]


def unique_names(results: Sequence[Result]) -> list[str]:
    """A name for each result, as safe text: its model and its directory."""
    names: list[str] = []
    for result in results:
        name = printable(str(result.document["graph"]["model"]))
        if result.directory is not None:
            name += f" ({printable(result.directory.absolute().name)})"
        names.append(name)
    return [
        name if names.count(name) == 1 else f"{name} #{names[: place + 1].count(name)}"
        for place, name in enumerate(names)
    ]


def _kind(result: Result) -> str:
    return str(result.document["graph"].get("kind", "prompt"))


def _kind_words(result: Result) -> str:
    return "several prompts" if _kind(result) == "global" else "one prompt"


def _shared_axes(names: Sequence[str], evidence: Sequence[Evidence]) -> tuple[set[str], list[str]]:
    """The axes that all runs have with the same attributes, and why the others are not shared."""
    each = [{v.name: v for v in one.images[0].variables} for one in evidence]
    problems = []
    shared = set(each[0])
    for name, axes in zip(names[1:], each[1:], strict=True):
        for one, other, lacking in (
            (each[0], axes, name),
            (axes, each[0], names[0]),
        ):
            missing = [axis for axis in one if axis not in other]
            if missing:
                problems.append(f"{lacking} lacks the axes {listed(missing)}")
        both = [axis for axis in each[0] if axis in axes]
        for axis in both:
            if not _same_attributes(each[0][axis], axes[axis]):
                problems.append(
                    f"{printable(axis)} has the attributes {listed(each[0][axis].attributes)} in "
                    f"{names[0]} and {listed(axes[axis].attributes)} in {name}"
                )
        shared &= {axis for axis in both if _same_attributes(each[0][axis], axes[axis])}
    return shared, list(dict.fromkeys(problems))


def _same_attributes(one: Variable, other: Variable) -> bool:
    """In the same order, too, where the metric heeds it."""
    if one.metric == "ordinal" or other.metric == "ordinal":
        return one.attributes == other.attributes
    return {*one.attributes} == {*other.attributes}


def _shared_prompts(
    names: Sequence[str], evidence: Sequence[Evidence], results: Sequence[Result]
) -> tuple[list[str | None], list[str]]:
    """The prompts of graphs of several, in the baseline's order; of one, whatever it is: None."""
    if _kind(results[0]) != "global":
        return [None], []
    each = [[images.prompt for images in one.images] for one in evidence]
    problems = []
    for name, prompts in zip(names[1:], each[1:], strict=True):
        for one, other, lacking in ((each[0], prompts, name), (prompts, each[0], names[0])):
            missing = [prompt for prompt in one if prompt not in other]
            if missing:
                problems.append(f"{lacking} lacks {_counted(missing)} ({listed(missing)})")
    shared = [prompt for prompt in each[0] if all(prompt in prompts for prompts in each)]
    return [*shared], list(dict.fromkeys(problems))


def _counted(prompts: Sequence[str]) -> str:
    return "1 prompt" if len(prompts) == 1 else f"{len(prompts)} prompts"


def _differences(
    first: str,
    name: str,
    one: Result,
    other: Result,
    here: Evidence,
    there: Evidence,
    axes: set[str],
) -> Iterator[str]:
    """What cannot be excused, a sentence each."""

    def differ(what: str, ours: object, theirs: object) -> str:
        return (
            f"{what} differ: {printable(str(ours))} in {first}, {printable(str(theirs))} in {name}"
        )

    for axis in (axis for axis in here.axes if axis in axes):
        mine, its = _ideal_of(here, axis), _ideal_of(there, axis)
        if mine.metric != its.metric:
            yield differ(f"the metrics of {printable(axis)}", mine.metric, its.metric)
        order = _order(_variable(here, axis), _variable(there, axis))
        if not np.allclose(mine.shares, its.shares[order], atol=TOLERANCE):
            yield differ(f"the ideals of {printable(axis)}", _shares(mine), _shares(its, order))
        elif _counted_from(mine) != _counted_from(its):
            yield differ(
                f"the answers behind the ideals of {printable(axis)}",
                _counted_from(mine),
                _counted_from(its),
            )
        if mine.cost is not None and its.cost is not None:
            cost = its.cost[np.ix_(order, order)]
            if not np.allclose(mine.cost, cost, atol=TOLERANCE):
                yield f"the cost matrices of {printable(axis)} differ in {first} and {name}"
    ours, theirs = one.document["graph"], other.document["graph"]
    if ours["vqa"] is not None and theirs["vqa"] is not None:
        if ours["vqa"] != theirs["vqa"]:
            yield differ("the judges", ours["vqa"], theirs["vqa"])
        elif ours.get("vqa_fingerprint") != theirs.get("vqa_fingerprint"):
            yield f"the judge {printable(ours['vqa'])} has other weights in {name} than in {first}"
    kind = _kind(one)
    for option, (mine_, its_) in _settings(here.settings, there.settings, kind):
        yield differ(f"the settings of {option}", mine_, its_)


def _ideal_of(evidence: Evidence, axis: str) -> Ideal:
    return evidence.ideals[evidence.axes.index(axis)]


def _variable(evidence: Evidence, axis: str) -> Variable:
    return evidence.images[0].variables[evidence.axes.index(axis)]


def _order(one: Variable, other: Variable) -> list[int]:
    """Where the attributes of `one` stand in `other`."""
    return [other.attributes.index(attribute) for attribute in one.attributes]


def _shares(ideal: Ideal, order: Sequence[int] | None = None) -> str:
    shares = ideal.shares if order is None else ideal.shares[list(order)]
    return ", ".join(f"{share:.4g}" for share in shares)


def _counted_from(ideal: Ideal) -> str:
    if ideal.reference is None:
        return "declared shares"
    return f"{int(ideal.reference.sum()):,} of a reference"


def _settings(
    one: AnalysisSettings, other: AnalysisSettings, kind: str
) -> Iterator[tuple[str, tuple[object, object]]]:
    """The settings that differ although edges and distances hang on them."""
    for name in SAME_SETTINGS:
        if getattr(one, name) != getattr(other, name):
            yield name, (getattr(one, name), getattr(other, name))
    rules = [s.global_rule if kind == "global" else s.prompt_rule for s in (one, other)]
    mine, its = (asdict(rule) for rule in rules)
    for name in mine:
        if mine[name] != its[name]:
            yield f"edges ({name})", (mine[name], its[name])


def _notes(names: Sequence[str], results: Sequence[Result]) -> Iterator[str]:
    graphs = [result.document["graph"] for result in results]
    unnamed = [name for name, graph in zip(names, graphs, strict=True) if graph["vqa"] is None]
    if unnamed:
        yield (
            f"No judge is recorded in {', '.join(unnamed)}: whether the same judge answered "
            "everywhere cannot be checked"
        )
    prompts = list(dict.fromkeys(graph["prompt"] for graph in graphs))
    if len(prompts) > 1:
        yield f"The runs are about different prompts: {listed(prompts)}"


def _run(
    name: str,
    result: Result,
    evidence: Evidence,
    variables: tuple[Variable, ...],
    prompts: Sequence[str | None],
) -> ComparedRun:
    by_prompt = {images.prompt: images for images in evidence.images}
    kept = [evidence.images[0] if p is None else by_prompt[p] for p in prompts]
    images = [_aligned(one, variables) for one in kept]
    ideals = []
    for variable in variables:
        ideal = _ideal_of(evidence, variable.name)
        order = _order(variable, _variable(evidence, variable.name))
        cost = None if ideal.cost is None else ideal.cost[np.ix_(order, order)]
        counts = None if ideal.reference is None else ideal.reference[order]
        ideals.append(replace(ideal, shares=ideal.shares[order], cost=cost, reference=counts))
    document, pairs = result.document, result.pair_records()
    graph, nodes, links = document["graph"], document["nodes"], document["links"]
    if len(variables) < len(evidence.axes) or len(images) < len(evidence.images):
        again = _again(graph, images, ideals, evidence.settings)
        graph, pairs = {**graph, **again.graph}, [pair.record() for pair in again.pairs]
        document = again.node_link()
        nodes, links = document["nodes"], document["links"]
    of_axis = {node["id"]: node for node in nodes}
    return ComparedRun(
        name,
        result,
        images,
        ideals,
        evidence.settings,
        graph,
        [of_axis[variable.name] for variable in variables],
        pairs,
        links,
    )


def _aligned(images: CodedImages, variables: tuple[Variable, ...]) -> CodedImages:
    """The answers about some of the variables, with their attributes in another order."""
    index = {variable.name: i for i, variable in enumerate(images.variables)}
    columns = [index[variable.name] for variable in variables]
    orders = [
        [variable.attributes.index(a) for a in images.variables[column].attributes]
        for variable, column in zip(variables, columns, strict=True)
    ]
    lookups = [np.array([GATED, UNKNOWN, *order], dtype=np.int16) for order in orders]

    def recoded(codes: Codes) -> Codes:
        kept = [
            lookup[codes[:, column] - GATED]
            for lookup, column in zip(lookups, columns, strict=True)
        ]
        return np.stack(kept, axis=1)

    place = {column: i for i, column in enumerate(columns)}
    arms = {
        (place[x], orders[place[x]][a]): recoded(codes)
        for (x, a), codes in images.arms.items()
        if x in place
    }
    return CodedImages(images.prompt, variables, recoded(images.initial), arms)


def _again(
    graph: Record,
    images: Sequence[CodedImages],
    ideals: Sequence[Ideal],
    settings: AnalysisSettings,
) -> Analysis:
    """The graph over what is left of a run, analysed as the run was."""
    coded = settings if settings.unknown != "class" else replace(settings, unknown="exclude")
    variables = images[0].variables
    ideal = {
        variable.name: dict(zip(variable.attributes, map(float, one.shares), strict=True))
        for variable, one in zip(variables, ideals, strict=True)
        if one.reference is None
    }
    reference = {
        variable.name: dict(zip(variable.attributes, map(int, one.reference), strict=True))
        for variable, one in zip(variables, ideals, strict=True)
        if one.reference is not None
    }
    baseline = Baseline(ideal, reference)
    analyses = [analyze(one, coded, baseline) for one in images]
    whole = analyses[0]
    if graph.get("kind") == "global":
        whole = analyze_global(images, analyses, coded, baseline)
        prompts = {part["prompt"]: part for part in graph["prompts"]}
        for part in whole.graph["prompts"]:
            part["directory"] = prompts[part["prompt"]]["directory"]
    return whole
