"""What runs must have in common before their numbers are held against each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
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
from biasgraph.errors import InputError, list_words, printable
from biasgraph.report.comparison_page import RunGraph
from biasgraph.report.words import count_noun

SAME_SETTINGS = ("mix", "unknown", "min_valid", "fallback", "yates")
TOLERANCE = 1e-9

Record = dict[str, Any]


@dataclass(frozen=True)
class ComparedRun(RunGraph):
    """A result made ready: the same axes, attributes and prompts in the same order as the others.

    name: the model and its directory, different from every other run's.
    graph: of the axes and prompts that all runs share, as are nodes, pairs and links.
    """

    name: str
    images: list[CodedImages]
    ideals: list[Ideal]
    settings: AnalysisSettings
    graph: Record

    @property
    def axes(self) -> list[str]:
        """The names of its axes."""
        return [variable.name for variable in self.images[0].variables]


@dataclass(frozen=True)
class _Candidate:
    """A result that may turn out not to be comparable; its name is as `ComparedRun` has it."""

    name: str
    result: Result
    evidence: Evidence

    @property
    def graph(self) -> Record:
        graph: Record = self.result.document["graph"]
        return graph

    @property
    def kind(self) -> str:
        return str(self.graph.get("kind", "prompt"))

    @property
    def variables(self) -> tuple[Variable, ...]:
        return self.evidence.images[0].variables

    def ideal_about(self, variable: Variable) -> Ideal:
        """Its own ideal, with the variable's attributes in their order."""
        place = self.evidence.axes.index(variable.name)
        own, ideal = self.variables[place], self.evidence.ideals[place]
        order = [own.attributes.index(attribute) for attribute in variable.attributes]
        cost = None if ideal.cost is None else ideal.cost[np.ix_(order, order)]
        counts = None if ideal.reference is None else ideal.reference[order]
        return replace(ideal, shares=ideal.shares[order], cost=cost, reference=counts)

    def decisions(self) -> dict[str, object]:
        """The settings that edges and distances hang on."""
        settings = self.evidence.settings
        rule = settings.global_rule if self.kind == "global" else settings.prompt_rule
        edges = {f"edges ({name})": value for name, value in asdict(rule).items()}
        return {name: getattr(settings, name) for name in SAME_SETTINGS} | edges


def comparable(results: Sequence[Result], *, common: bool) -> tuple[list[ComparedRun], list[str]]:
    """The runs, the first of them the baseline, and what a reader should know of them.

    common: leave out axes that not all runs have with the same attributes, and for graphs of
    several prompts the prompts that not all have. Nothing else is excused.

    Raises:
        InputError: names what the runs do not have in common, a line for each.
    """
    named = zip(unique_names(results), results, strict=True)
    runs = [_Candidate(name, result, evidence_of(result)) for name, result in named]
    first, *others = runs
    for other in others:
        if other.kind != first.kind:
            kinds = {"prompt": "one prompt", "global": "several prompts"}
            raise InputError(
                f"{first.name} is the graph of {kinds[first.kind]} and {other.name} that of "
                f"{kinds[other.kind]}: they cannot be compared"
            )
    axes, axis_problems = _shared_axes(runs)
    prompts, prompt_problems = _shared_prompts(runs)
    excused = [*axis_problems, *prompt_problems]
    problems = [] if common else [f"{problem} (--common leaves it out)" for problem in excused]
    variables = tuple(variable for variable in first.variables if variable.name in axes)
    for other in others:
        problems += _differences(first, other, variables)
    if not problems and (not axes or not prompts):
        problems.append(f"the runs have no {'axis' if not axes else 'prompt'} in common")
    if problems:
        raise InputError("\n".join(problems))
    notes = [*(f"Left out: {problem}" for problem in excused), *_notes(runs)]
    return [_make_comparable(run, variables, prompts) for run in runs], notes


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


def _shared_axes(runs: Sequence[_Candidate]) -> tuple[set[str], list[str]]:
    """The axes that all runs have with the same attributes, and why the others are not shared."""
    first, *others = ({variable.name: variable for variable in run.variables} for run in runs)
    problems = []
    shared = set(first)
    for run, axes in zip(runs[1:], others, strict=True):
        for lacking, missing in _lacking((runs[0].name, first), (run.name, axes)):
            problems.append(f"{lacking} lacks the axes {list_words(missing)}")
        shared &= axes.keys()
        for axis, own in first.items():
            if axis in axes and not _same_attributes(own, axes[axis]):
                shared.discard(axis)
                problems.append(
                    f"{printable(axis)} has the attributes {list_words(own.attributes)} in "
                    f"{runs[0].name} and {list_words(axes[axis].attributes)} in {run.name}"
                )
    return shared, list(dict.fromkeys(problems))


def _same_attributes(one: Variable, other: Variable) -> bool:
    """In the same order, too, where the metric heeds it."""
    if one.metric == "ordinal" or other.metric == "ordinal":
        return one.attributes == other.attributes
    return {*one.attributes} == {*other.attributes}


def _shared_prompts(runs: Sequence[_Candidate]) -> tuple[list[str | None], list[str]]:
    """The prompts of graphs of several, in the baseline's order; of one, whatever it is: None."""
    if runs[0].kind != "global":
        return [None], []
    first, *others = ([images.prompt for images in run.evidence.images] for run in runs)
    problems = []
    for run, prompts in zip(runs[1:], others, strict=True):
        for lacking, missing in _lacking((runs[0].name, first), (run.name, prompts)):
            problems.append(
                f"{lacking} lacks {count_noun(len(missing), 'prompt')} ({list_words(missing)})"
            )
    shared = [prompt for prompt in first if all(prompt in prompts for prompts in others)]
    return [*shared], list(dict.fromkeys(problems))


def _lacking(
    one: tuple[str, Collection[str]], other: tuple[str, Collection[str]]
) -> Iterator[tuple[str, list[str]]]:
    """Of two named runs and what they have, each that lacks something, and what."""
    for (_, theirs), (name, own) in ((one, other), (other, one)):
        missing = [word for word in theirs if word not in own]
        if missing:
            yield name, missing


def _differences(
    first: _Candidate, other: _Candidate, variables: Sequence[Variable]
) -> Iterator[str]:
    """What cannot be excused, a sentence each."""

    def differ(what: str, ours: object, theirs: object) -> str:
        values = f"{printable(str(ours))} in {first.name}, {printable(str(theirs))} in {other.name}"
        return f"{what} differ: {values}"

    for variable in variables:
        axis = printable(variable.name)
        mine, its = first.ideal_about(variable), other.ideal_about(variable)
        if mine.metric != its.metric:
            yield differ(f"the metrics of {axis}", mine.metric, its.metric)
        ours, theirs = _describe_source(mine), _describe_source(its)
        if not np.allclose(mine.shares, its.shares, atol=TOLERANCE):
            yield differ(f"the ideals of {axis}", _shares(mine), _shares(its))
        elif ours != theirs:
            yield differ(f"the answers behind the ideals of {axis}", ours, theirs)
        costs = [ideal.cost for ideal in (mine, its) if ideal.cost is not None]
        if len(costs) == 2 and not np.allclose(costs[0], costs[1], atol=TOLERANCE):
            yield f"the cost matrices of {axis} differ in {first.name} and {other.name}"
    judge, judge_there = first.graph["vqa"], other.graph["vqa"]
    # Labels belong to pictures: people who label two runs' pictures leave two files.
    by_people = first.graph.get("people") and other.graph.get("people")
    if judge is not None and judge_there is not None and not by_people:
        if judge != judge_there:
            yield differ("the judges", judge, judge_there)
        elif first.graph.get("vqa_fingerprint") != other.graph.get("vqa_fingerprint"):
            yield (
                f"the judge {printable(judge)} has other weights in {other.name} than in "
                f"{first.name}"
            )
    decisions = other.decisions()
    for option, value in first.decisions().items():
        if value != decisions[option]:
            yield differ(f"the settings of {option}", value, decisions[option])


def _shares(ideal: Ideal) -> str:
    return ", ".join(f"{share:.4g}" for share in ideal.shares)


def _describe_source(ideal: Ideal) -> str:
    if ideal.reference is None:
        return "declared shares"
    return f"{int(ideal.reference.sum()):,} of a reference"


def _notes(runs: Sequence[_Candidate]) -> Iterator[str]:
    unnamed = [run.name for run in runs if run.graph["vqa"] is None]
    if unnamed:
        yield (
            f"No judge is recorded in {', '.join(unnamed)}: whether the same judge answered "
            "everywhere cannot be checked"
        )
    labels = dict.fromkeys(run.graph["vqa"] for run in runs if run.graph.get("people"))
    if len(labels) > 1:
        yield (
            f"People answered, in different files ({list_words(list(labels))}): differences "
            "between annotators would look like differences between the runs"
        )
    prompts = list(dict.fromkeys(run.graph["prompt"] for run in runs))
    if len(prompts) > 1:
        yield f"The runs are about different prompts: {list_words(prompts)}"


def _make_comparable(
    run: _Candidate, variables: tuple[Variable, ...], prompts: Sequence[str | None]
) -> ComparedRun:
    """The run over the axes and prompts that all have, computed again where it has others."""
    evidence, document, pairs = run.evidence, run.result.document, run.result.pair_records()
    by_prompt = {images.prompt: images for images in evidence.images}
    kept = [evidence.images[0] if prompt is None else by_prompt[prompt] for prompt in prompts]
    images = [_align(one, variables) for one in kept]
    ideals = [run.ideal_about(variable) for variable in variables]
    graph = run.graph
    if len(variables) < len(evidence.axes) or len(images) < len(evidence.images):
        again = _again(graph, images, ideals, evidence.settings)
        document, graph = again.node_link(), {**graph, **again.graph}
        pairs = [pair.record() for pair in again.pairs]
    nodes = {node["id"]: node for node in document["nodes"]}
    shared = [nodes[variable.name] for variable in variables]
    drawn = (shared, pairs, document["links"], run.result.directory)
    return ComparedRun(*drawn, run.name, images, ideals, evidence.settings, graph)


def _align(images: CodedImages, variables: tuple[Variable, ...]) -> CodedImages:
    """The answers about some of the variables, with their attributes in another order."""
    names = [variable.name for variable in images.variables]
    columns = [names.index(variable.name) for variable in variables]
    orders = [
        [variable.attributes.index(a) for a in images.variables[column].attributes]
        for variable, column in zip(variables, columns, strict=True)
    ]
    lookups = [np.array([GATED, UNKNOWN, *order], dtype=np.int16) for order in orders]

    def recode(codes: Codes) -> Codes:
        of_each = zip(lookups, codes[:, columns].T, strict=True)
        return np.stack([lookup[column - GATED] for lookup, column in of_each], axis=1)

    place = {column: i for i, column in enumerate(columns)}
    arms = {
        (place[x], orders[place[x]][a]): recode(codes)
        for (x, a), codes in images.arms.items()
        if x in place
    }
    controls = recode(images.controls)
    return CodedImages(images.prompt, variables, recode(images.initial), arms, controls)


def _again(
    graph: Record,
    images: Sequence[CodedImages],
    ideals: Sequence[Ideal],
    settings: AnalysisSettings,
) -> Analysis:
    """The graph over what is left of a run, analysed as the run was."""
    coded = settings if settings.unknown != "class" else replace(settings, unknown="exclude")
    shares, counts = {}, {}
    for variable, ideal in zip(images[0].variables, ideals, strict=True):
        if ideal.reference is None:
            shares[variable.name] = dict(
                zip(variable.attributes, ideal.shares.tolist(), strict=True)
            )
        else:
            counts[variable.name] = dict(
                zip(variable.attributes, ideal.reference.tolist(), strict=True)
            )
    baseline = Baseline(shares, counts)
    analyses = [analyze(one, coded, baseline) for one in images]
    whole = analyses[0]
    if graph.get("kind") == "global":
        whole = analyze_global(images, analyses, coded, baseline)
        prompts = {part["prompt"]: part for part in graph["prompts"]}
        for part in whole.graph["prompts"]:
            part["directory"] = prompts[part["prompt"]]["directory"]
    return whole
