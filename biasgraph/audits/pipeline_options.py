"""The options of the audits beside a build: rankings, plans, comparisons, agreement, tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from biasgraph.audits.axis_options import AxisOptions
from biasgraph.audits.build_options import (
    AxesOptions,
    BuildOptions,
    MethodOptions,
    PromptOptions,
    RunOptions,
)
from biasgraph.audits.panels import ANALYSIS, AUDIT, METHODS, OUTPUT
from biasgraph.data.options import Settings, option, optional, reuse, settings
from biasgraph.errors import InputError, printable
from biasgraph.models.backend import OPTION
from biasgraph.models.inference_options import ModelOptions

if TYPE_CHECKING:
    from biasgraph.methods.bias_knowledge import Rules

COMPARISON, SCORES = "Comparison", "Scores"
TARGETS, CHECK = "What to reach", "Verification"
DRAWS, FRESH = "Draws", "Fresh images"
"""Further panels of ``--help``."""


@settings(panel=AUDIT)
class OpenBiasOptions(RunOptions):
    """The options of one audit of a generator by captions; None means "not given"."""

    captions: Path = option(
        "The captions: a text file with one on each line, COCO's JSON, or a CSV file with a "
        "column 'caption'.",
        metavar="FILE",
    )
    vqa: str | None = reuse(BuildOptions, "vqa", default=None)
    images: int = reuse(RunOptions, "images", default=10, help="Images of each caption.")
    seed: int = reuse(RunOptions, "seed", default=0)
    overlap: float = option(
        "Merge biases that share at least this part of the classes of the smaller one.",
        default=0.75,
        panel=ANALYSIS,
    )
    min_captions: int = option(
        "Leave out biases with fewer captions.", default=30, low=1, panel=ANALYSIS
    )
    bootstrap: int = reuse(BuildOptions, "bootstrap", default=2000)
    output: Path | None = reuse(
        RunOptions, "output", default=None, usual="outputs/MODEL/openbias-CAPTIONS"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.rules()

    def rules(self) -> Rules:
        """How proposals become a knowledge base."""
        from biasgraph.methods.bias_knowledge import Rules

        return Rules(self.overlap, self.min_captions)


@settings(panel=SCORES)
class ScoreOptions(RunOptions):
    """The options of one ranking of prompts by MineTheGap; None means "not given"."""

    prompts: str | Path | Sequence[str] = reuse(
        PromptOptions,
        "prompts",
        help="The prompts: a shipped list ('occupations'), a file with one on each line, or the "
        "directory of a mine or search run.",
    )
    embedder: str | None = reuse(BuildOptions, "embedder", default=None, panel=SCORES)
    vary: str | Sequence[str] | None = optional(
        "Compare the images with combinations of these axes.",
        metavar="AXIS,...",
        usual="gender and ethnicity, if the set has such axes",
    )
    axes: str | None = reuse(
        AxisOptions, "axes", default=None, panel=SCORES, help="The axis set of --vary."
    )
    variations: int = option(
        "Variations of each prompt that --llm proposes.", default=15, low=2, high=64
    )
    images: int = reuse(
        RunOptions,
        "images",
        default=15,
        help="Images of each prompt. Only scores from the same number of images can be compared.",
    )
    seed: int = reuse(RunOptions, "seed", default=0, help="Seed of the images.")
    null: bool = option(
        "Also make and score as many images of the variations: the best this model can do.",
        default=False,
    )
    truth: str | Path | None = optional(
        "Compare the ranking with a table (CSV: prompt or occupation, and bias or shares) or "
        "'us-occupations', the shares of women and men in 40 occupations.",
        kind=str,
        metavar="NAME|FILE",
    )
    output: Path | None = reuse(
        RunOptions, "output", default=None, usual="outputs/MODEL/minethegap-PROMPTS"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.vary and self.llm:
            raise InputError(
                "--vary and --llm exclude each other: variations are combinations of attributes, "
                "or a language model's"
            )


@settings(panel=METHODS)
class AnnotateOptions(MethodOptions):
    """What to add to a finished run; None means "not given"."""

    run: Path = option("The directory of a result.", argument=True, metavar="RUN")
    methods: str | Sequence[str] = option("The methods.", argument=True, metavar="METHOD,...")
    embedder: str | None = reuse(BuildOptions, "embedder", default=None, panel=METHODS)
    axes: str | None = optional(
        "The axis set that RUN was built with, unless it ships with biasgraph.", metavar="FILE"
    )
    llm: str | None = reuse(RunOptions, "llm", default=None)


@settings(panel=COMPARISON)
class CompareOptions(Settings):
    """What to compare with what."""

    runs: Sequence[str | Path] = option(
        "Directories of results, the baseline first.",
        kw_only=False,
        argument=True,
        repeat=True,
        metavar="BASELINE RUN [RUN ...]",
    )
    common: bool = option(
        "Leave out axes, and in runs of several prompts also prompts, that not all runs share.",
        default=False,
    )
    gates: Sequence[str] = option(
        "End with exit code 3 if a run is worse than BASELINE: 'worse:AXIS>0.05' (the axis's "
        "distance to its ideal grew by more), 'new-edges>0', 'amplification>0.5'; each judged by "
        "the lower end of the 95 % interval. Repeatable.",
        default=(),
        metavar="GATE",
        flags=("--fail-if",),
        repeat=True,
    )
    paired: bool = option(
        "Image n of each run is paired with image n of the others, for example because both were "
        "made from the same noise: resample initial images together.",
        default=False,
    )
    seed: int | None = optional("Seed of the resampling.", low=0, usual="BASELINE's")


@settings(panel=COMPARISON)
class CheckOptions(Settings):
    """What to compare a judge with its reference by."""

    only: Sequence[str] = reuse(AxesOptions, "only", default=(), panel=COMPARISON)
    sample: int | None = optional(
        "Ask another judge about this many images only, the same ones that `biasgraph label` "
        "takes.",
        low=1,
    )
    replicates: int = reuse(
        BuildOptions, "bootstrap", default=2000, panel=COMPARISON, flags=("--bootstrap",)
    )
    seed: int = option("Seed of the sample and of the resampling.", default=0, low=0)


@settings()
class LabelOptions(Settings):
    """Which images a page asks people about."""

    sample: int = option(
        "How many images to label, drawn evenly from those of the prompt, its rewordings and "
        "every counterfactual.",
        default=50,
        low=1,
    )
    only: Sequence[str] = reuse(
        AxesOptions, "only", default=(), panel="", help="Ask about these axes only."
    )
    seed: int = option(
        "Seed of the sample. A larger sample with the same seed includes the smaller one.",
        default=0,
        low=0,
    )


@settings(panel=CHECK)
class PlanOptions(Settings):
    """What to plan for; None means "not given".

    Raises:
        InputError: Options contradict each other, or a value is invalid.
    """

    run: Path = option("The directory of a finished run.", argument=True, metavar="RUN")
    targets: Path | None = optional(
        "The axes to bring closer to an ideal, as YAML: 'axis: {weight: 2, ideal: {attribute: "
        "share}}'. Defaults: weight 1 and the run's own ideal; axes that the file does not name "
        "do not count.",
        metavar="FILE",
        panel=TARGETS,
        usual="all axes",
    )
    steps: int | None = optional(
        "Plan at most this many interventions.",
        low=1,
        panel=TARGETS,
        usual="as many as gain more than chance",
    )
    verify: bool = option(
        "Make images with all planned axes set at once, with the run's own models, and compare "
        "prediction and outcome. Only missing images are made.",
        default=False,
    )
    verify_images: int | None = optional(
        "Images for each combination of attributes.",
        low=1,
        usual="as many as the run has for a prompt, but no more in all than the run has",
    )
    axes: str | None = reuse(AnnotateOptions, "axes", default=None, panel=CHECK)
    output: Path | None = reuse(
        RunOptions, "output", default=None, help="Where plan.json goes.", usual="RUN"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("verify_images", "axes"):
            if getattr(self, name) is not None and not self.verify:
                raise InputError(f"--{name.replace('_', '-')} needs --verify")


@settings(panel=DRAWS)
class RobustnessOptions(Settings):
    """How to try the robustness of a finished run; None means "not given".

    Raises:
        InputError: Options contradict each other, or a value is invalid.
    """

    run: Path = option("The directory of a finished run.", argument=True, metavar="RUN")
    sizes: Sequence[str] = option(
        "Draw audits of this many images of each prompt.",
        default=(),
        metavar="N,...",
        usual="from one sixth to five sixths of the images in RUN",
    )
    draws: int = option("How many audits of each kind are drawn.", default=20, low=2)
    seed: int = option("Seed of the draws.", default=0, low=0)
    fresh_images: int | None = optional(
        "Make this many further images of every prompt, with the run's own models, and compare "
        "the run's images with them. Only missing images are made.",
        low=1,
        high=9999,
        panel=FRESH,
        usual="none",
    )
    axes: str | None = reuse(AnnotateOptions, "axes", default=None, panel=FRESH)
    output: Path | None = reuse(
        RunOptions,
        "output",
        default=None,
        help="Where robustness.json and its figure go; the report in RUN then stays as it is.",
        usual="RUN",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.axes is not None and self.fresh_images is None:
            raise InputError("--axes needs --fresh-images")

    def images(self, most: int) -> list[int]:
        """The sizes in order, none larger than the run's number of images."""
        usual = [most * part // 6 for part in range(1, 6)]
        usual.append(min(most, self.fresh_images or 0))
        return sorted({_size(text, most) for text in self.sizes} or {n for n in usual if n})


def _size(text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most and len(text) < 9):
        raise InputError(
            f"--sizes takes numbers of images from 1 to the run's {most}, not '{printable(text)}'"
        )
    return int(text)


@settings(panel=CHECK)
class ValidateOptions(Settings):
    """What to check predictions against."""

    run: Path = option("The directory of a finished run.", argument=True, metavar="RUN")
    images: int | None = optional(
        "Try a mitigation by fresh prompts: make this many further images of every prompt and "
        "counterfactual, with the run's own models. Only missing images are made.",
        low=1,
        usual="none",
    )
    mitigated_model: str | None = optional(
        "Try another model as the mitigation: the run's judge judges its images of the initial "
        "prompts alone.",
        metavar="SPEC",
        usual="none",
    )
    mitigated_axes: Sequence[str] = reuse(
        AxesOptions,
        "only",
        default=(),
        panel=CHECK,
        help="The axes that --mitigated-model is known to mitigate.",
        usual="those that it brings closer to their ideals",
    )
    axes: str | None = reuse(AnnotateOptions, "axes", default=None, panel=CHECK)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mitigated_axes and self.mitigated_model is None:
            raise InputError("--mitigated-axes needs --mitigated-model")
        if self.axes is not None and self.images is None and self.mitigated_model is None:
            raise InputError("--axes needs --images or --mitigated-model")


@settings(panel=AUDIT)
class PromptTableOptions(PromptOptions):
    """What a table of prompts is made of."""

    axes: str = option(
        "An axis set, shipped or your own YAML file.", default="occupation", metavar="NAME|FILE"
    )
    only: str | Sequence[str] | None = reuse(AxesOptions, "only", default=None, panel=AUDIT)
    images: int = option("Images of each prompt.", default=48, low=1, high=9999)
    controls: int | None = reuse(BuildOptions, "controls", default=None, usual="2")
    seed: int = option("The number from which the images' seeds are derived.", default=0, low=0)
    target: Path = option(
        "The table to write; paths of images in it are relative to its folder.",
        metavar="FILE.csv",
        panel=OUTPUT,
        flags=("--to",),
    )


@settings(panel="Try a model")
class TrialOptions(ModelOptions):
    """The models to try."""

    model: str | None = optional("Let this generator make an image.", metavar="SPEC")
    vqa: str | None = optional("Let this judge answer a question.", metavar="SPEC")
    embedder: str | None = optional("Let this embedder embed an image.", metavar="SPEC")
    llm: str | None = optional(
        "Let this language model propose what may be biased.", metavar="SPEC"
    )

    def specs(self) -> dict[str, str]:
        """The models by their roles."""
        given = {role: getattr(self, flag.removeprefix("--")) for role, flag in OPTION.items()}
        return {role: spec for role, spec in given.items() if spec is not None}
