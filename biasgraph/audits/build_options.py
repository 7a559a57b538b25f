"""What audits are asked to do: every option once, in groups, and which of them go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from biasgraph.audits.axis_gates import read_gates
from biasgraph.audits.panels import ANALYSIS, AUDIT, AXES, METHODS, OUTPUT
from biasgraph.audits.round_options import RoundOptions
from biasgraph.causal.looks import LOOKS, looks_up_to
from biasgraph.data.options import TEXT, Settings, option, optional, options_of, reuse, settings
from biasgraph.errors import InputError, did_you_mean, printable
from biasgraph.io.folder_names import OUTPUTS, slug
from biasgraph.methods.registry import method_options
from biasgraph.models.inference_options import MODELS, ModelOptions, Spec, is_given
from biasgraph.runs.ledger_rows import MOST_IMAGES

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.causal.settings import AnalysisSettings
    from biasgraph.data.axes import AxisSet


@settings(panel=AUDIT)
class PromptOptions(Settings):
    """The prompts."""

    prompt: str | None = option(
        "The prompt to audit: 'a librarian'. Bracket the subject if it is ambiguous: 'a photo of "
        "a [bird photographer] in the wild'.",
        default=None,
        kw_only=False,
        metavar=TEXT,
    )
    prompts: str | Path | Sequence[str] | None = optional(
        "Several prompts, with a graph for each and one for all: 'occupations' (the 26 of the "
        "paper), a file with a prompt on each line, or the directory of a `biasgraph mine` or "
        "`biasgraph search` run, for the prompts that it found.",
        kind=str,
        metavar="NAME|FILE|RUN",
    )


@settings(panel=AUDIT)
class RunOptions(ModelOptions):
    """What every run of a generator takes."""

    model: str | None = optional(
        "The image generator, as backend:name.",
        metavar="SPEC",
        usual="sandbox:stereotyped, a toy that ships with biasgraph",
    )
    images: int | None = optional("Images of each prompt.", low=1, high=MOST_IMAGES)
    seed: int | None = optional("Seed of the images and of the resampling.", low=0, usual="0")
    llm: str | None = optional(
        "The language model that proposes what to look at.",
        metavar="SPEC",
        panel=MODELS,
        usual="sandbox for sandbox models, rules over word lists",
    )
    output: str | Path | None = optional(
        "Where the result goes.", metavar="DIR", panel=OUTPUT, flags=("-o", "--output")
    )
    fresh: bool = option("Move an existing run aside and start over.", default=False, panel=OUTPUT)


@settings(panel=AUDIT)
class AnswersOptions(Settings):
    """A finished answers table."""

    answers: str | Path | pd.DataFrame | None = optional(
        "Analyse an existing answers table (CSV or Parquet) instead; no model runs. Columns: "
        "model, prompt, role, axis, attribute, image, target, answer[, confidence][, judge].",
        metavar="FILE",
    )


@settings(panel=AXES)
class AxesOptions(Settings):
    """Which axes are looked at, and how far from what."""

    axes: str | AxisSet | None = optional(
        "An axis set, shipped or your own YAML file; auto: the shipped set that suits the prompt; "
        "llm: axes that --llm proposes for it (TIBET), kept in the result as axes.yaml.",
        metavar="NAME|FILE|auto|llm",
        usual="occupation; with --answers, the axes in the table",
    )
    only: str | Sequence[str] | None = optional("Look at these axes only.", metavar="AXIS,...")
    ideal: str | Path | Mapping[str, Mapping[str, float]] | None = optional(
        "The ideal distributions, as YAML: 'axis: {attribute: share}'.",
        metavar="FILE",
        usual="uniform, also for axes that the file does not name",
    )
    reference: str | Path | Mapping[str, Mapping[str, int]] | None = optional(
        "Use a real-world distribution as the ideal, resampled with everything else: photographs "
        "(judged by --vqa), the initial images of a run, an answers table, or counts as YAML "
        "'axis: {attribute: count}' or CSV (axis, attribute, count).",
        metavar="FOLDER|RUN|FILE",
    )
    correct: str | Path | None = optional(
        "Add numbers corrected for the judge's errors, using agreement.json of `biasgraph "
        "agreement` or labels (CSV). Assumes the same error rates in all images.",
        metavar="FILE",
    )
    unlisted: Literal["error", "unknown"] | None = optional(
        "How to treat answers that an axis does not list.",
        usual="error; unknown if no axes are declared",
    )


@settings(panel=ANALYSIS)
class AnalysisOptions(Settings):
    """Decisions of the analysis; see `biasgraph.causal.settings.AnalysisSettings`."""

    preset: Literal["default", "paper"] | None = optional(
        "Set all decisions below at once: biasgraph's own, or the literal reading of BiasConnect. "
        "An explicit option overrides the preset."
    )
    alpha: float | None = optional(
        "A pair of axes is an edge if p is at most this.",
        usual="0.0001; 0.00005 in the graph of several prompts",
    )
    min_is: float | None = optional(
        "In the graph of several prompts an edge also needs an |IS| of at least this, in the "
        "metric of its target.",
        low=0,
        usual="0.03",
    )
    global_test: Literal["cmh", "pooled"] | None = optional(
        "In the graph of several prompts: compare interventions within each prompt "
        "(Cochran-Mantel-Haenszel), or in the sum of all prompts.",
        usual="cmh",
    )
    fdr: Literal["bh", "by"] | None = optional(
        "Decide edges by the false discovery rate (.05; Benjamini-Hochberg or -Yekutieli) instead "
        "of --alpha."
    )
    metric: Literal["nominal", "ordinal", "index", "values", "cost"] | None = optional(
        "Ground metric of the distance to the ideal, for all axes.", usual="each axis's own"
    )
    mix: Literal["equal", "pooled"] | None = optional(
        "How to mix an intervention's attributes: with equal weights, or by pooled counts.",
        usual="equal",
    )
    fallback: Literal["auto", "off"] | None = optional(
        "Draw null tables where expected counts are low (auto), or never.", usual="auto"
    )
    min_valid: int | None = optional(
        "The fewest valid answers that each set of images needs.", low=1, usual="16"
    )
    yates: bool | None = optional(
        "Yates's correction of 2x2 tables.", flags=("--yates/--no-yates",), usual="off"
    )
    unknown: Literal["exclude", "class", "error"] | None = optional(
        "Leave unknown answers out, count them as a class (needs --ideal), or refuse them.",
        usual="exclude",
    )
    sign: Literal["matched", "is"] | None = optional(
        "Claim a direction where sensitivity at matched sample sizes and the shift from the "
        "initial images agree, or by plain IS.",
        usual="matched",
    )
    delta: float | None = optional(
        "An edge whose |IS| is bounded below this is reported as hardly changing its target's "
        "distance to the ideal.",
        low=0,
        usual="0.05",
    )
    min_v: float | None = optional(
        "A pair without an edge whose V is bounded below this is reported as having no link above "
        "it.",
        low=0,
        usual="0.3",
    )
    bootstrap: int | None = optional(
        "Resamples behind each interval; 10000 for publication.", low=100, usual="2000"
    )


@settings(panel=METHODS)
class MethodOptions(Settings):
    """The methods' own options, as `biasgraph.methods.registry` declares them."""

    method_options: Mapping[str, object] = option(
        "The methods' own options by name: {'vary': ['gender']}.", default_factory=dict, kind=dict
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "method_options", _read_method_options(self.method_options))


def _read_method_options(given: Mapping[str, object]) -> dict[str, object]:
    """Options of methods as they are read; raises InputError for one that no method has."""
    known = method_options() if given else {}
    for name in given:
        if name not in known:
            raise InputError(
                f"unknown method option '{printable(name)}'.{did_you_mean(name, known)}"
            )
    return {
        name: known[name].read(name, value) for name, value in given.items() if value is not None
    }


@settings(panel=METHODS)
class FindingOptions(MethodOptions):
    """The methods whose findings hang on the nodes."""

    annotate: str | Sequence[str] | None = optional(
        "Methods whose findings are added to the nodes (`biasgraph annotate --help` lists them), "
        "or none.",
        metavar="METHOD,...",
        usual="on the sandbox all but gradbias, which makes further images; none elsewhere",
    )


@settings(panel=METHODS)
class AnalyzeOptions(FindingOptions, AnalysisOptions, AxesOptions, AnswersOptions):
    """The options of the analysis of a finished answers table."""

    answers: str | Path | pd.DataFrame = reuse(AnswersOptions, "answers", kw_only=False)
    axes: str | AxisSet | None = reuse(AxesOptions, "axes", default=None, kw_only=False)
    output: str | Path | None = optional(
        "The directory of an earlier result, whose methods and agreement.json are used again."
    )


@settings(panel=METHODS)
class BuildOptions(
    RoundOptions,
    RunOptions,
    FindingOptions,
    AnalysisOptions,
    AxesOptions,
    AnswersOptions,
    PromptOptions,
):
    """The options of one build; None means "not given".

    Raises:
        InputError: Options contradict each other, or a value is invalid.
    """

    model: str | None = reuse(
        RunOptions,
        "model",
        default=None,
        help="The image generator, as backend:name, or folder:DIR for images made elsewhere.",
    )
    vqa: str | None = optional(
        "The model that answers questions about the images.",
        metavar="SPEC",
        panel=AUDIT,
        usual="sandbox for sandbox models; others need one",
    )
    images: int | None = reuse(
        RunOptions,
        "images",
        default=None,
        help="Images of the prompt and of each of its counterfactuals.",
        usual="48; all images in a folder",
    )
    controls: int | None = optional(
        "Neutral rewordings of the prompt ('a certain librarian') whose images show how far "
        "wording alone moves an answer.",
        low=0,
        panel=AUDIT,
        usual="2; as before in an existing run; all in a folder",
    )
    embedder: str | None = optional(
        "The model that embeds images and texts in one space, for methods that compare them.",
        metavar="SPEC",
        usual="sandbox for sandbox models",
    )
    output: str | Path | None = reuse(
        RunOptions,
        "output",
        default=None,
        usual="outputs/MODEL/PROMPT, outputs/MODEL/LIST or outputs/ANSWERS",
    )
    gates: Sequence[str] = option(
        "End with exit code 3 if an axis is too far from its ideal: 'gender>0.2' (the lower end "
        "of the 95 % interval of its distance is above 0.2; with several prompts, in their sum), "
        "or 'each:gender>0.2' (in any prompt). Repeatable.",
        default=(),
        metavar="GATE",
        panel=OUTPUT,
        flags=("--fail-if",),
        repeat=True,
    )
    dry_run: bool = option(
        "Show what would be generated and asked, and how long it would take; do nothing.",
        default=False,
        panel=OUTPUT,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        read_gates(self.gates)
        pictured = self.model is not None and _is_of_pictures(self.model)
        self.check_rounds(vars(self), self.analysis_settings().sign, pictured=pictured)
        if pictured and self.prompts is not None:
            raise InputError(
                "--prompts has no effect on existing images: remove it, or select one prompt of a "
                "manifest with --prompt"
            )
        if self.answers is None and self.prompt is None and self.prompts is None and not pictured:
            if self.model is not None:  # "foldr:pictures" is the news, not the missing prompt
                from biasgraph.models.registry import GENERATOR, find_backend

                find_backend(Spec(self.model), GENERATOR)
            raise InputError(
                "nothing to build from: give --prompt 'a librarian', --prompts occupations, "
                "--answers FILE, or images with --model folder:DIR"
            )
        if self.correct is not None and self.unknown == "class":
            raise InputError(
                "--correct and --unknown class exclude each other: labels say what an image "
                "shows, and no image shows 'unknown'"
            )
        if self.prompt is not None:
            self._refuse_beside_prompt()
        if self.axes in ("llm", "auto") and (pictured or self.answers is not None):
            raise InputError(
                f"--axes {self.axes} proposes axes before images are made, and these images exist "
                "already: name their axes, or remove --axes"
            )
        if self.answers is not None:
            self._refuse_beside_answers()

    def _refuse_beside_prompt(self) -> None:
        if self.prompts is not None:
            raise InputError(
                "--prompt and --prompts exclude each other: put the prompt on a line of the list"
            )
        for name in ("min_is", "global_test"):
            if getattr(self, name) is not None:
                raise InputError(
                    f"--{name.replace('_', '-')} applies to the graph of several prompts: give "
                    "--prompts"
                )

    def _refuse_beside_answers(self) -> None:
        for name, declared in options_of(BuildOptions).items():
            suits = name in options_of(AnalyzeOptions) or name == "gates"
            if not suits and is_given(getattr(self, name)):
                raise InputError(
                    f"{declared.flag(name)} and --answers exclude each other: with an answers "
                    "table no model runs"
                )

    def suit(self, axes: AxisSet | None) -> BuildOptions:
        """The same with the threshold that an axis set names, where these name none."""
        if axes is None or axes.alpha is None or self.alpha is not None:
            return self
        return replace(self, alpha=axes.alpha)

    def analysis_settings(self) -> AnalysisSettings:
        """The settings of the analysis; a preset fills what is not given. Raises InputError."""
        from biasgraph.causal.settings import AnalysisSettings

        given = {name: getattr(self, name) for name in options_of(AnalysisOptions)}
        preset, min_is = given.pop("preset") or "default", given.pop("min_is")
        if self.until is not None:
            given |= {"looks": looks_up_to(self.most_images or 0), "decide": self.decide}
        return AnalysisSettings.resolve(preset, seed=self.seed, global_min_is=min_is, **given)

    @property
    def most_images(self) -> int | None:
        """The most images of a prompt; None where nothing is said."""
        if self.until is None:
            return self.images
        return looks_up_to(LOOKS[-1] if self.max_images is None else self.max_images)[-1]

    @property
    def directory(self) -> Path | None:
        """Where the result of an answers table goes: `output`, or under outputs/ by its name."""
        if self.output is not None:
            return Path(self.output)
        if isinstance(self.answers, str | Path):
            return OUTPUTS / slug(Path(self.answers).stem)
        return None


def _is_of_pictures(spec: str) -> bool:
    """Whether a generator's pictures are made elsewhere."""
    from biasgraph.models.registry import traits_of

    return traits_of(spec).pictures_given
