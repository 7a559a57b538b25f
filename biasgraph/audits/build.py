"""The story in one page: answers are coded, counted and weighed, and become a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.agreement.trust import Trust, check_correction
from biasgraph.audits.annotate import (
    Chosen,
    Helpers,
    add_findings,
    check_methods,
    choose_methods,
    count_images_beside,
    explain_idle_llm,
    is_toy,
    read_methods,
)
from biasgraph.audits.ideals.declared import Declared
from biasgraph.audits.options import BuildOptions
from biasgraph.causal.baseline import Baseline
from biasgraph.causal.graph import Analysis, analyze
from biasgraph.causal.pooling import NOTE, analyze_global
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages
from biasgraph.data import frames as tables
from biasgraph.data.answer_codes import code_images, variable_of
from biasgraph.data.answers import Answers
from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.data.file_names import GRAPH, PROMPTS
from biasgraph.data.result import Result
from biasgraph.errors import BiasgraphError, InputError, shown
from biasgraph.io.folder_names import folder_name
from biasgraph.methods.base import MethodPlan
from biasgraph.report.saving import save, write
from biasgraph.runs.record import installed_versions

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.audits.ideals.reference import Reference
    from biasgraph.runs.job import Work
    from biasgraph.runs.progress import Progress

TOY = (
    "These results describe a toy: the sandbox draws icons of a small world whose biases were "
    "planted. They say nothing about any real model."
)

ALPHA_OF_AXES = (
    "edges need p <= {alpha:g}, which the axis set asks for (BiasConnect supp. A.4, of axes as "
    "diverse as proposed ones); chance alone makes that share of all pairs edges: --alpha or "
    "--fdr bh is stricter"
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
    result = build_from_answers(options.answers, options, progress)
    directory = options.directory
    if directory is None:
        return result
    save(result, directory)
    return result.placed(directory)


def plan(options: BuildOptions) -> dict[str, Any]:
    """What `build` would do, and how long it would take; nothing is done. Raises InputError."""
    from biasgraph.audits.ideals.photographs import Photographs
    from biasgraph.runs.job import Work

    work = Work.of(options)
    photographs = Photographs.of(options, work)
    _check_ideal(options, work, photographs.placeholder() if photographs else None)
    methods = _methods(options, work)
    size = work.size()
    made = count_images_beside(methods, _method_plan(work)).items()
    size["notes"] = [
        *size["notes"],
        *(f"{name} generates {count:,} more images" for name, count in made),
    ]
    return size | ({"reference": photographs.size()} if photographs else {})


def build_from_models(
    options: BuildOptions, progress: Progress | None, command: Sequence[str]
) -> Result:
    """Prompts, images, answers, graph: what is in the run already is not done again."""
    from biasgraph.audits.ideals.photographs import Photographs
    from biasgraph.runs.job import JOURNAL, Work
    from biasgraph.runs.media import RunMedia

    work = Work.of(options, progress)
    own_alpha = options.alpha
    options = options.suited_to(work.axes)
    photographs = Photographs.of(options, work, progress)
    _check_ideal(options, work, photographs.placeholder() if photographs else None)
    check_correction(options.correct, work.judge)
    methods = _methods(options, work)
    helpers = Helpers.of(methods, work.model_options, work.directory / JOURNAL)
    with work.opened(fresh=options.fresh) as run:
        settings = asdict(options.analysis_settings())
        reference = photographs.ask(command, progress) if photographs else None
        if reference is not None:
            _check_ideal(options, work, reference)  # again: now it is known what they show
        table = work.do(run, settings, command, progress)
        answers = Answers.from_frame(table, source=str(run.directory))
        about, origin = work.about_prompts(), work.origin(run)
        if options.alpha != own_alpha:
            origin["notes"] = [*origin["notes"], ALPHA_OF_AXES.format(alpha=options.alpha)]
        result = analyze_answers(
            answers,
            work.axes,
            options,
            origin,
            about,
            progress,
            reference=reference,
            directory=run.directory,
        )
        media = RunMedia(run, work.judge, progress=progress, generator=work.generator)
        try:
            result = add_findings(result, methods, work.axes, helpers.equip(media, methods))
        except BiasgraphError:
            if not (run.directory / GRAPH).exists():  # the graph is worth having without
                write(result, run.directory)
                if progress is not None:
                    progress.note(f"The graph without findings is in {shown(run.directory)}.")
            raise
        write(result, run.directory)
    return result.placed(work.directory)


def _methods(options: BuildOptions, work: Work) -> Chosen:
    """The methods that are wanted; raises InputError for what they will not take."""
    from biasgraph.runs.proposed_axes import LLM

    before = {} if options.fresh else read_methods(work.directory)
    methods = choose_methods(options, before, toy=is_toy(work.generator.spec, work.judge.spec))
    if options.llm and options.axes != LLM and not any(own.get("llm") for own in methods.values()):
        hint = explain_idle_llm(tuple(methods), options.method_options)
        raise InputError(f"--llm has no effect: use --axes llm, or {hint}")
    check_methods(methods, _method_plan(work), work.judge)
    return methods


def _method_plan(work: Work) -> MethodPlan:
    typed = [plan.typed or plan.initial.text for plan in work.plans]
    return MethodPlan(work.axes, typed, work.generator.spec, work.images * len(work.plans))


def build_from_answers(
    table: str | Path | pd.DataFrame, options: BuildOptions, progress: Progress | None = None
) -> Result:
    """The result of a finished answers table; nothing is saved. Raises InputError."""
    methods = choose_methods(options, read_methods(options.directory))
    axes = load_axis_set(options.axes) if isinstance(options.axes, str) else options.axes
    options = options.suited_to(axes)
    answers = Answers.read(table) if isinstance(table, str | Path) else Answers.from_frame(table)
    if options.only:
        answers = answers.only(options.only)
    directory = options.directory
    result = analyze_answers(answers, axes, options, {}, {}, progress, directory=directory)
    return add_findings(result, methods, axes)


def analyze_answers(
    answers: Answers,
    axes: AxisSet | None,
    options: BuildOptions,
    made_with: Mapping[str, Any],
    about_prompts: Mapping[str, Mapping[str, Any]],
    progress: Progress | None = None,
    *,
    reference: Reference | None = None,
    directory: Path | None = None,
) -> Result:
    """Code the answers, test and weigh every pair of axes, and describe it all.

    The result is the graph of the one prompt, or, of several, their global graph with that of
    each in `Result.prompts`; a list of prompts is several, however long it is.
    made_with: what a graph says of its origin: model, vqa and notes, as far as there are any.
    reference: what photographs were answered, where options name a folder of them.
    about_prompts: what each prompt's says besides: subject, `fixed_by_prompt` (an attribute for
    each axis that the prompt fixes) and unseen words.
    directory: where the result is, or will be, with what is known of its judge there.

    Raises:
        InputError: see `code_images`, `Declared.of`, `Trust.of` and `causal.graph.analyze`.
    """
    coding = code_images(answers, axes, options.unlisted)
    settings = options.analysis_settings()
    variables = coding.images[0].variables
    judge = made_with.get("vqa"), made_with.get("vqa_fingerprint")
    declared = Declared.of(options, variables, reference, judge, with_axes=axes is not None)
    prompts = [images.prompt for images in coding.images]
    several = options.prompts is not None or len(coding.images) > 1
    origin = {
        "subject": None,
        "model": answers.model,
        "vqa": None,
        "fixed_by_prompt": {},
        "toy": TOY if answers.model.startswith("sandbox:") else None,
        **made_with,
        "axes": axes and {"name": axes.name, "digest": axes.digest()},
        "ideal": declared.record(prompts),
        "notes": [*made_with.get("notes", ()), *coding.notes],
    }
    trust = Trust.of(options.correct, answers, variables, origin, directory)
    origin |= trust.record()
    with _counting(progress, "Graphs", len(coding.images) + 1 if several else 0) as advance:
        analyses = []
        for images in coding.images:
            counts = declared.counts([images.prompt])
            baseline = Baseline(declared.shares, counts, trust.labelled, declared.judged)
            analyses.append(analyze(images, settings, baseline))
            advance()
        whole = _summed(coding.images, analyses, settings, declared, trust) if several else None
        advance()
    where = " (in the answers about all prompts)" if several else ""
    own = {**origin, "notes": [f"{note}{where}" for note in origin["notes"]]}

    def of_prompt(prompt: str) -> dict[str, Any]:
        notes = [*own["notes"], *declared.remarks([prompt])]
        ideal = declared.record([prompt])
        return {**own, "ideal": ideal, "notes": notes, **about_prompts.get(prompt, {})}

    results = tuple(
        _result(one, of_prompt(images.prompt), _about(answers, images))
        for one, images in zip(analyses, coding.images, strict=True)
    )
    if whole is None:
        return results[0]
    notes = [*origin["notes"], *declared.remarks(prompts), NOTE]
    total = _result(whole, {**origin, "notes": notes}, answers.frame)
    for part, result in zip(total.document["graph"]["prompts"], results, strict=True):
        part["subject"] = result.document["graph"]["subject"]
        part["directory"] = f"{PROMPTS}/{folder_name(part['prompt'])}"
    return replace(total, prompts=results)


@contextmanager
def _counting(progress: Progress | None, what: str, total: int) -> Iterator[Callable[[], object]]:
    """Show progress, if there is anything to show; yields what to call after each item."""
    if progress is None or not total:
        yield lambda: None
        return
    progress.start(what, total=total, done=0)
    try:
        yield lambda: progress.advance(1)
    finally:
        progress.finish()


def _result(analysis: Analysis, origin: Mapping[str, Any], answers: pd.DataFrame) -> Result:
    return Result(
        document=_document(analysis, origin),
        pairs=tables.pairs_frame(analysis.pairs),
        tables=tables.counts_frame(analysis.counts),
        answers=answers.reset_index(drop=True),
    )


def _about(answers: Answers, images: CodedImages) -> pd.DataFrame:
    """The rows about one prompt."""
    frame = answers.frame
    return frame[(frame["prompt"] == images.prompt).to_numpy()]


def _summed(
    images: Sequence[CodedImages],
    analyses: Sequence[Analysis],
    settings: AnalysisSettings,
    declared: Declared,
    trust: Trust,
) -> Analysis:
    counts = declared.counts([one.prompt for one in images])
    baseline = Baseline(declared.shares, counts, trust.labelled, declared.judged)
    return analyze_global(images, analyses, settings, baseline)


def _check_ideal(options: BuildOptions, work: Work, reference: Reference | None) -> None:
    """Refuse an ideal or a metric that the axes do not admit before a model does any work."""
    variables = [variable_of(axis) for axis in work.axes.axes]
    declared = Declared.of(options, variables, reference, with_axes=True)
    prompts = [plan.initial.text for plan in work.plans]
    declared.check(variables, options.analysis_settings(), prompts)


def _document(analysis: Analysis, origin: Mapping[str, Any]) -> dict[str, Any]:
    """The document of graph.json: the analysis, where it comes from and what computed it."""
    document = analysis.node_link()
    for node in document["nodes"]:
        if node["id"] in origin["fixed_by_prompt"]:
            node["flags"].append("fixed_by_prompt")
    first = {name: analysis.graph[name] for name in ("kind", "prompt")}
    graph = {**first, **origin, **analysis.graph}
    graph |= {"versions": installed_versions(), "findings": {}}
    return {**document, "graph": graph}
