"""The story in one page: answers are coded, counted and weighed, and become a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.answers import Answers, listed
from biasgraph.axes import AxisSet, load_axis_set
from biasgraph.causal.graph import UNKNOWN_CLASS, Analysis, analyze
from biasgraph.causal.tables import CodedImages, Variable
from biasgraph.causal.transport import resolve_ideals
from biasgraph.coding import code_images, variable_of
from biasgraph.errors import InputError
from biasgraph.ideal import read_ideal
from biasgraph.options import BuildOptions
from biasgraph.report import tables
from biasgraph.report.files import write_files
from biasgraph.result import Result
from biasgraph.runrecord import installed_versions

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.engine.progress import Progress

TOY = (
    "These results describe a toy: the sandbox draws icons of a small world whose biases were "
    "planted. They say nothing about any real model."
)


def build(
    options: BuildOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> Result:
    """Do what `options` ask for and save it; nothing is left half written.

    command: what was typed, for the run's record.

    Raises:
        InputError: the options, or a file they name, are wrong.
        ModelError: a model, the machine or the network failed.
        Interrupted: the user stopped the work; the same call goes on from there.
    """
    if options.answers is None:
        return build_from_models(options, progress, command)
    result = build_from_answers(options.answers, options)
    directory = options.directory
    if directory is None:
        return result
    result.save(directory)
    return replace(result, directory=directory)


def plan(options: BuildOptions) -> dict[str, Any]:
    """What `build` would do, and how long it would take; nothing is done. Raises InputError."""
    from biasgraph.modelwork import Work

    work = Work.of(options)
    _check_ideal(options, work.axes)
    return work.size()


def build_from_models(
    options: BuildOptions, progress: Progress | None, command: Sequence[str]
) -> Result:
    """Prompts, images, answers, graph: what is in the run already is not done again."""
    from biasgraph.modelwork import Work

    work = Work.of(options)
    _check_ideal(options, work.axes)
    with work.opened(fresh=options.fresh) as run:
        settings = asdict(options.analysis_settings())
        table = work.do(run, settings, command, progress)
        answers = Answers.from_frame(table, source=str(run.directory))
        result = analyze_answers(answers, work.axes, options, work.origin())
        write_files(run.directory, result.files())
    return replace(result, directory=work.directory)


def build_from_answers(table: str | Path | pd.DataFrame, options: BuildOptions) -> Result:
    """The result of a finished answers table; nothing is saved. Raises InputError."""
    axes = load_axis_set(options.axes) if isinstance(options.axes, str) else options.axes
    answers = Answers.read(table) if isinstance(table, str | Path) else Answers.from_frame(table)
    if options.only:
        answers = answers.only(options.only)
    return analyze_answers(answers, axes, options, {})


def analyze_answers(
    answers: Answers, axes: AxisSet | None, options: BuildOptions, made_with: Mapping[str, Any]
) -> Result:
    """Code the answers about one prompt, test and weigh every pair of axes, and describe it all.

    made_with: what the graph says of its origin: model, subject, vqa, `fixed_by_prompt` (an
    attribute for each axis that the prompt fixes) and notes, as far as there are any.

    Raises:
        InputError: see `code_images`, `read_ideal` and `causal.graph.analyze`.
    """
    coding = code_images(answers, axes, options.unlisted)
    images = _of_one_prompt(coding.images, answers.source)
    ideal = _ideal(options, images.variables)
    analysis = analyze(images, options.analysis_settings(), ideal)
    origin = {
        "subject": None,
        "model": answers.model,
        "vqa": None,
        "fixed_by_prompt": {},
        "toy": TOY if answers.model.startswith("sandbox:") else None,
        **made_with,
        "axes": axes and {"name": axes.name, "digest": axes.digest()},
        "ideal": {"source": _ideal_source(options), "axes": list(ideal or {})},
        "notes": [*made_with.get("notes", ()), *coding.notes],
    }
    return Result(
        document=_document(analysis, origin),
        pairs=tables.pairs_frame(analysis.pairs),
        tables=tables.counts_frame(analysis.tables),
        answers=answers.frame.reset_index(drop=True),
    )


def _of_one_prompt(coded: Sequence[CodedImages], source: str) -> CodedImages:
    if len(coded) > 1:
        prompts = listed([images.prompt for images in coded])
        raise InputError(
            f"{source} holds {len(coded)} prompts ({prompts}): a graph needs the answers about one"
        )
    return coded[0]


def _ideal(
    options: BuildOptions, variables: Sequence[Variable]
) -> Mapping[str, Mapping[str, float]] | None:
    if not isinstance(options.ideal, str | Path):
        return options.ideal
    if options.unknown == "class":
        variables = [
            replace(variable, attributes=(*variable.attributes, UNKNOWN_CLASS))
            for variable in variables
        ]
    return read_ideal(options.ideal, variables)


def _check_ideal(options: BuildOptions, axes: AxisSet) -> None:
    """Refuse an ideal or a metric that the axes do not admit before a model does any work."""
    settings = options.analysis_settings()
    variables = [variable_of(axis) for axis in axes.axes]
    ideal = _ideal(options, variables)
    if settings.unknown != "class":  # with it, the ideal has one attribute more than the axes
        resolve_ideals(variables, settings.metric, ideal, None)


def _ideal_source(options: BuildOptions) -> str:
    if options.ideal is None:
        return "uniform"
    return Path(options.ideal).name if isinstance(options.ideal, str | Path) else "given"


def _document(analysis: Analysis, origin: Mapping[str, Any]) -> dict[str, Any]:
    """The document of graph.json: the analysis, where it comes from and what computed it."""
    document = analysis.node_link()
    for node in document["nodes"]:
        if node["id"] in origin["fixed_by_prompt"]:
            node["flags"].append("fixed_by_prompt")
    graph = {"prompt": analysis.graph["prompt"], **origin, **analysis.graph}
    graph |= {"versions": installed_versions(), "findings": {}}
    return {**document, "graph": graph}
