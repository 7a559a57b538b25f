"""What Python users call: `biasgraph.build`, `biasgraph.analyze` and `biasgraph.compare`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import (
    TYPE_CHECKING,
    Literal,
    NotRequired,
    ParamSpec,
    Protocol,
    TypedDict,
    cast,
    overload,
)

from biasgraph.audits import build as audit
from biasgraph.audits.axis_gates import failures, judge_gates
from biasgraph.audits.build_options import AnalyzeOptions, BuildOptions
from biasgraph.audits.compare import comparison
from biasgraph.audits.compare.comparison import Comparison
from biasgraph.audits.gate_condition import refuse_failed
from biasgraph.audits.pipeline_options import CompareOptions
from biasgraph.data.options import option, settings, takes
from biasgraph.data.result import Result
from biasgraph.report.notebook_progress import progress_here

if TYPE_CHECKING:

    @settings()
    class DryRunOptions(BuildOptions):
        """Options of a build that is only planned."""

        dry_run: Literal[True] = option("")

else:
    DryRunOptions = BuildOptions

Planned = ParamSpec("Planned")
Built = ParamSpec("Built")


class PlannedPrompt(TypedDict):
    """What would be generated for one prompt.

    Attributes:
        prompt: The initial prompt.
        subject: The part of it that counterfactuals vary.
        counterfactuals: The texts of its counterfactuals.
        controls: The texts of its neutral rewordings.
    """

    prompt: str
    subject: str
    counterfactuals: list[str]
    controls: list[str]


class BuildPlan(TypedDict):
    """What a build would do.

    Attributes:
        plans: Each initial prompt with its counterfactuals.
        prompts: How many prompts there are, counterfactuals and controls included.
        images: How many images those are.
        questions: How many questions are asked about them all.
        answers: How many answers come of that, one for each image and axis.
        seconds: How long it takes on two CPU cores; None if a model's speed is unknown.
        directory: Where the run goes.
        notes: What to know about existing images and paid requests, in sentences.
        reference: The same about photographs, where a folder of them is the reference.
    """

    plans: list[PlannedPrompt]
    prompts: int
    images: int
    questions: int
    answers: int
    seconds: float | None
    directory: str
    notes: list[str]
    reference: NotRequired[BuildPlan]


class Build(Protocol[Planned, Built]):
    """A function that plans or builds, as `dry_run` says."""

    @overload
    def __call__(self, *args: Planned.args, **kwargs: Planned.kwargs) -> BuildPlan: ...
    @overload
    def __call__(self, *args: Built.args, **kwargs: Built.kwargs) -> Result: ...


def _takes_dry_run(
    planned: Callable[Planned, BuildOptions], built: Callable[Built, BuildOptions]
) -> Callable[[Callable[[BuildOptions], Result | BuildPlan]], Build[Planned, Built]]:
    """`takes` for a function that returns something else with ``dry_run=True``."""
    return lambda function: cast(Build[Planned, Built], takes(built)(function))


@_takes_dry_run(DryRunOptions, BuildOptions)
def build(options: BuildOptions) -> Result | BuildPlan:
    """Build the graph of a prompt's biases and save it, as `biasgraph build` does.

    ``build("a librarian", images=96)``, ``build(answers="answers.csv")``,
    ``build(prompts=["a librarian", "a nurse"])``. Of several prompts it is the graph of their sum;
    `Result.prompts` holds that of each.

    Returns:
        The result; with ``dry_run=True`` a `BuildPlan` of what would be done, and nothing is done.

    Raises:
        InputError: An option is wrong; the message says what and where.
        ModelError: A model, the machine or the network failed.
        GateFailed: The result, which is saved, is worse than its gates allow.
    """
    if options.dry_run:
        return cast(BuildPlan, audit.plan(options))
    result = audit.build(options, progress_here())
    refuse_failed(failures(judge_gates(options.gates, result)))
    return result


@takes(AnalyzeOptions)
def analyze(options: AnalyzeOptions) -> Result:
    """Analyse a finished answers table in memory; `biasgraph.save` writes it.

    The table is a CSV or Parquet file or a data frame with the columns model, prompt, role, axis,
    attribute, image, target, answer and, optionally, confidence and judge. Without axes,
    these are read off the table.

    Returns:
        The result, which is saved nowhere.

    Raises:
        InputError: An option or the table is wrong; the message names the row and column.
    """
    given = {field.name: getattr(options, field.name) for field in fields(options)}
    return audit.build_from_answers(options.answers, BuildOptions(**given))


@takes(CompareOptions)
def compare(options: CompareOptions) -> Comparison:
    """Compare results with a baseline, as `biasgraph compare` does.

    Failed gates are in `Comparison.document`; nothing is raised for them.

    Returns:
        The comparison, which is saved nowhere; `Comparison.save` writes it.

    Raises:
        InputError: A gate is malformed, or the runs cannot be read or compared.
    """
    return comparison.compare(options)
