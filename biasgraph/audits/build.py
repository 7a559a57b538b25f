"""The build in one page: prompts become images, answers and a graph, and methods add findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.annotate import (
    Chosen,
    add_findings,
    check_methods,
    choose_methods,
    count_images_beside,
    equip_methods,
    explain_idle_llm,
    helpers_of,
    is_toy,
    read_methods,
)
from biasgraph.audits.axis_gates import check_gates, farthest_of
from biasgraph.audits.build_options import BuildOptions
from biasgraph.audits.build_plan import PlannedBuild, plan_build
from biasgraph.audits.ideals.declared import DeclaredIdeals
from biasgraph.audits.ideals.photographs import Photographs
from biasgraph.audits.reuse import (
    digest_file,
    digest_inputs,
    read_back,
    remember,
    stamp_installation,
)
from biasgraph.data.answers import Answers
from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.data.file_names import AGREEMENT, GRAPH
from biasgraph.data.result import Result
from biasgraph.errors import BiasgraphError, InputError, show_path
from biasgraph.methods.base import MethodPlan
from biasgraph.models.base import AnnotatedJudge
from biasgraph.runs.proposed_axes import LLM
from biasgraph.runs.record import installed_versions
from biasgraph.runs.storage import storing

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.runs.directory import Run
    from biasgraph.runs.progress import Progress

ALPHA_OF_AXES = (
    "edges need p <= {alpha:g}, as the axis set says (from BiasConnect supp. A.4, for axes as "
    "diverse as proposed ones); chance alone makes that share of all pairs edges: --alpha or "
    "--fdr bh can be stricter"
)


def build(
    options: BuildOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> Result:
    """Do what `options` ask for and save it; nothing is left half written.

    Args:
        options: What to build.
        progress: What shows where the work stands.
        command: What was typed, for the run's record.

    Raises:
        InputError: The options, or a file they name, are wrong.
        ModelError: A model, the machine or the network failed.
        Interrupted: The user stopped the work; the same call resumes it.
    """
    if options.answers is None:
        return build_from_models(options, progress, command)
    from biasgraph.report.saving import save

    result = build_from_answers(options.answers, options, progress)
    check_gates(options.gates, farthest_of(result) if options.gates else {})
    if options.directory is None:
        return result
    save(result, options.directory)
    return result.place(options.directory)


def plan(options: BuildOptions) -> dict[str, Any]:
    """Say what `build` would do, and how long it would take; nothing is done.

    Returns:
        See `PlannedBuild.size`; ``reference`` is the same for photographs.

    Raises:
        InputError: The options, or a file they name, are wrong.
    """
    planned = _plan(options)
    photographs = Photographs.of(options, planned)
    _declare(options, planned, photographs)
    size = planned.size()
    methods = _methods(options, planned)
    made = count_images_beside(methods, _method_plan(planned)).items()
    size["notes"] += [f"{name} generates {count:,} more images" for name, count in made]
    if options.until is not None:
        from biasgraph.audits.rounds import size_of_rounds

        size["notes"].append(size_of_rounds(planned, options))
    fewest = options.suit(planned.axes).analysis_settings().min_valid
    if planned.images < fewest:
        size["notes"].append(
            f"{planned.images:,} images of each prompt are fewer than the {fewest:,} of "
            "--min-valid: nothing could be measured"
        )
    return size | ({"reference": photographs.size()} if photographs else {})


def _plan(
    options: BuildOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> PlannedBuild:
    """As `plan_build`; work in rounds that could decide or begin nothing is refused."""
    planned = plan_build(options, progress, command)
    if options.until is not None:
        from biasgraph.audits.rounds import check_rounds

        check_rounds(planned, options)
    return planned


def build_from_models(
    options: BuildOptions, progress: Progress | None, command: Sequence[str]
) -> Result:
    """Make images, ask about them and analyse the answers; what the run holds is not redone."""
    planned = _plan(options, progress, command)
    own_alpha = options.alpha
    options = options.suit(planned.axes)
    photographs = Photographs.of(options, planned)
    declared = _declare(options, planned, photographs)
    if options.correct is not None:
        from biasgraph.audits.agreement.trust import read_correction

        read_correction(Path(options.correct), planned.job.vqa, planned.job.judge_fingerprint)
    methods = _methods(options, planned)
    planned = planned.with_helpers(*helpers_of(methods))
    with planned.job.open() as run:
        if photographs is not None:
            declared = declared.with_reference(photographs.ask(), planned.prompts)
        rounds = None
        if options.until is None:
            planned.carry_out(run, asdict(options.analysis_settings()))
        else:
            from biasgraph.audits.rounds import make_until_decided

            rounds = make_until_decided(run, planned, options, declared)
        origin = planned.origin(run)
        if rounds is not None:
            origin |= {"adaptive": rounds.record(), "notes": [*origin["notes"], *rounds.notes()]}
        if options.alpha != own_alpha:
            origin["notes"] = [*origin["notes"], ALPHA_OF_AXES.format(alpha=options.alpha)]
        settled = _ResultInputs(run, planned, options, declared, methods, origin)
        inputs = settled.digest()
        result = read_back(run.directory, inputs)
        if result is None:
            from biasgraph.report.saving import write

            result = settled.result()
            with storing(run.directory):
                remember(run.directory, inputs, write(result, run.directory))
    return result.place(planned.job.directory)


@dataclass(frozen=True)
class _ResultInputs:
    """All that a result is computed from; origin: what its graph says of its images."""

    run: Run
    planned: PlannedBuild
    options: BuildOptions
    declared: DeclaredIdeals
    methods: Chosen
    origin: Mapping[str, Any]

    def digest(self) -> str:
        """Of everything that the result depends on."""
        run, planned, options, declared = self.run, self.planned, self.options, self.declared
        groups = [planned.prompts, *([prompt] for prompt in planned.prompts)]
        correct = options.correct and [str(options.correct), digest_file(Path(options.correct))]
        return digest_inputs(
            {
                "answers": run.digest_answers(planned.job.vqa),
                "axes": planned.axes.digest(),
                "settings": asdict(options.analysis_settings()),
                "unlisted": options.unlisted,
                "several": options.prompts is not None,
                "ideals": [declared.shares, *map(declared.counts, groups)],
                "ideal": [[declared.record(p), declared.remarks(p)] for p in groups],
                "agreement": digest_file(run.directory / AGREEMENT),
                "correct": correct,
                "methods": self.methods,
                "helpers": [model.fingerprint for model in planned.job.helpers],
                "origin": self.origin,
                "prompts": planned.about_prompts(),
                "versions": installed_versions(),
                "installation": stamp_installation(),
            }
        )

    def result(self) -> Result:
        """The graph with what the methods add; where one fails, the graph without is kept."""
        from biasgraph.audits.analysis import analyze_answers
        from biasgraph.report.saving import write

        planned, directory, job = self.planned, self.run.directory, self.planned.job
        answers = Answers.from_frame(self.run.answers(job.vqa), source=str(directory))
        if isinstance(job.judge, AnnotatedJudge):
            answers = answers.judged_by(job.vqa, job.judge.names)
        result = analyze_answers(
            answers,
            planned.axes,
            self.options,
            self.origin,
            planned.about_prompts(),
            job.progress,
            declared=self.declared,
            directory=directory,
        )
        try:
            graphs = 1 + len(result.prompts)
            with equip_methods(self.run, job, self.methods, graphs) as (media, advance):
                return add_findings(result, self.methods, planned.axes, media, advance)
        except BiasgraphError:
            if not (directory / GRAPH).exists():
                write(result, directory)
                if job.progress is not None:
                    job.progress.note(f"The graph without findings is in {show_path(directory)}.")
            raise


def _declare(
    options: BuildOptions, planned: PlannedBuild, photographs: Photographs | None
) -> DeclaredIdeals:
    """The ideals of the build; refuses what the axes do not admit before any model works."""
    variables = planned.variables
    declared = DeclaredIdeals.of(
        options,
        variables,
        (planned.job.vqa, planned.job.judge_fingerprint),
        with_axes=True,
        expected=photographs.axes if photographs else (),
    )
    settings = options.analysis_settings()
    declared.check(variables, settings, planned.prompts)
    if options.gates:
        check_gates(options.gates, declared.farthest(variables, settings))
    return declared


def _methods(options: BuildOptions, planned: PlannedBuild) -> Chosen:
    """The methods that are wanted; raises InputError for what they will not take."""
    before = {} if options.fresh else read_methods(planned.job.directory)
    methods = choose_methods(
        options, before, toy=is_toy(planned.job.generator.spec, planned.job.vqa)
    )
    if options.llm and options.axes != LLM and not any(own.get("llm") for own in methods.values()):
        hint = explain_idle_llm(tuple(methods), options.method_options)
        raise InputError(f"--llm has no effect: use --axes llm, or {hint}")
    check_methods(methods, _method_plan(planned), planned.job)
    return methods


def _method_plan(planned: PlannedBuild) -> MethodPlan:
    typed = [plan.typed or plan.initial.text for plan in planned.plans]
    images = planned.images * len(planned.plans)
    return MethodPlan(planned.axes, typed, planned.job.generator.spec, images)


def build_from_answers(
    table: str | Path | pd.DataFrame, options: BuildOptions, progress: Progress | None = None
) -> Result:
    """Analyse a finished answers table; nothing is saved. Raises InputError."""
    directory = options.directory
    methods = choose_methods(options, read_methods(directory))
    axes = options.axes if isinstance(options.axes, AxisSet | None) else load_axis_set(options.axes)
    options = options.suit(axes)
    from biasgraph.audits.analysis import analyze_answers

    answers = Answers.read(table) if isinstance(table, str | Path) else Answers.from_frame(table)
    if options.only:
        answers = answers.only(options.only)
    result = analyze_answers(answers, axes, options, {}, {}, progress, directory=directory)
    return add_findings(result, methods, axes)
