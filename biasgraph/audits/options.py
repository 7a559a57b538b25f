"""What a build is asked to do: every option once, and which of them go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from biasgraph.errors import InputError, did_you_mean
from biasgraph.io.folder_names import OUTPUTS, slug
from biasgraph.models.inference_options import MODEL_OPTIONS, ModelOptions, Spec, flag_of, is_given

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.causal.settings import AnalysisSettings
    from biasgraph.data.axes import AxisSet

ANALYSIS = (
    "preset", "alpha", "global_test", "fdr", "metric", "mix", "fallback", "yates", "min_valid",
    "unknown", "sign", "bootstrap",
)  # fmt: skip
MODEL_WORK = (
    "prompt", "prompts", "model", "vqa", "llm", "images", "seed", "fresh", "dry_run", "embedder",
    "vary", "null", *MODEL_OPTIONS
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class BuildOptions(ModelOptions):
    """The options of one build; None means "not given". How models run: see `ModelOptions`.

    prompt, or prompts: the name of a shipped list, a file, or several texts (one graph of all);
    model, vqa, images, seed: what to ask which models for; llm: the language model that proposes;
    or
    answers: a finished answers table instead, as a file or a data frame.
    axes: a shipped axis set or a YAML file; "llm": a language model proposes them, "auto": the
    shipped set that suits the prompt; only: the axes of it to look at.
    ideal: shares by axis and attribute, or the YAML file that holds them.
    reference: answers or counts that serve as ideal, resampled: the directory of a run, an answers
    table, a file of counts, a mapping of them, or a folder of photographs.
    correct: agreement.json, or a file of labels or answers, by which to set numbers without the
    judge's errors beside the others.
    unlisted: what an answer counts as that its axis lacks ("error" or "unknown").
    output: where the result goes; fresh: move a run that is there aside first.
    dry_run: plan and say what would be done, and do nothing.
    annotate: the methods whose findings hang on the nodes, or "none"; embedder: the model that
    puts images and texts into one space for them; vary: axes that MineTheGap varies; null: whether
    images of its variations are made and scored, too.
    min_is, global_test: `global_min_is` and `global_test` of `AnalysisSettings`, for several
    prompts; the others are those of `AnalysisSettings` too.

    Raises InputError for options that make no sense together.
    """

    prompt: str | None = None
    prompts: str | Path | Sequence[str] | None = None
    model: str | None = None
    vqa: str | None = None
    llm: str | None = None
    images: int | None = None
    seed: int | None = None
    answers: str | Path | pd.DataFrame | None = None
    axes: str | AxisSet | None = None
    only: Sequence[str] | None = None
    ideal: str | Path | Mapping[str, Mapping[str, float]] | None = None
    reference: str | Path | Mapping[str, Mapping[str, int]] | None = None
    correct: str | Path | None = None
    unlisted: Literal["error", "unknown"] | None = None
    preset: str | None = None
    alpha: float | None = None
    min_is: float | None = None
    global_test: str | None = None
    fdr: str | None = None
    metric: str | None = None
    mix: str | None = None
    fallback: str | None = None
    yates: bool | None = None
    min_valid: int | None = None
    unknown: str | None = None
    sign: str | None = None
    bootstrap: int | None = None
    annotate: str | Sequence[str] | None = None
    embedder: str | None = None
    vary: Sequence[str] | None = None
    null: bool | None = None
    output: str | Path | None = None
    fresh: bool = False
    dry_run: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.analysis_settings()
        for name in ("model", "vqa", "llm", "only", "embedder", "vary", "axes"):
            value = getattr(self, name)
            if isinstance(value, Sized) and not len(value):
                raise InputError(f"--{name} is empty: name something, or leave it out")
        pictured = str(self.model).startswith("folder:")
        if pictured and self.prompts is not None:
            raise InputError(
                "--prompts means nothing to pictures that are there already: leave it out, or pick "
                "one prompt of a manifest with --prompt"
            )
        if self.answers is None and self.prompt is None and self.prompts is None and not pictured:
            if self.model is not None:  # "foldr:pictures" is the news, not the missing prompt
                from biasgraph.models.registry import GENERATOR, find_backend

                find_backend(Spec(self.model), GENERATOR)
            raise InputError(
                "nothing to build from: give --prompt 'a librarian', --prompts occupations, "
                "--answers FILE, or pictures with --model folder:DIR"
            )
        if self.correct is not None and self.unknown == "class":
            raise InputError(
                "--correct and --unknown class exclude each other: labels say what a picture "
                "shows, and no picture shows 'unknown'"
            )
        if self.prompt is not None:
            self._refuse_beside_prompt()
        if self.axes in ("llm", "auto") and (pictured or self.answers is not None):
            raise InputError(
                f"--axes {self.axes} proposes axes before images are made, and these are made "
                "already: name their axes, or leave --axes out"
            )
        if self.answers is not None:
            for name in MODEL_WORK:
                value = getattr(self, name)
                if is_given(value):
                    raise InputError(
                        f"{flag_of(name)} and --answers exclude each other: with an answers table "
                        "no model does any work"
                    )

    def _refuse_beside_prompt(self) -> None:
        if self.prompts is not None:
            raise InputError(
                "--prompt and --prompts exclude each other: put the prompt on a line of the list"
            )
        for name in ("min_is", "global_test"):
            if getattr(self, name) is not None:
                raise InputError(
                    f"--{name.replace('_', '-')} is about the graph of several prompts: "
                    "give --prompts"
                )

    @classmethod
    def given(cls, options: Mapping[str, Any]) -> BuildOptions:
        """The options by their names; `only` may be one text with commas.

        Raises InputError, with a hint, for an option that does not exist.
        """
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise InputError(f"there is no option '{name}'.{did_you_mean(name, known)}")
        for name in ("only", "vary"):
            if isinstance(options.get(name), str):
                names = (part.strip() for part in options[name].split(","))
                options = {**options, name: tuple(filter(None, names))}
        return cls(**options)

    @property
    def method_options(self) -> dict[str, Any]:
        """The methods' own options by name."""
        return {"vary": self.vary, "null": self.null}

    def suited_to(self, axes: AxisSet | None) -> BuildOptions:
        """The same with the threshold that an axis set names, where these name none."""
        if axes is None or axes.alpha is None or self.alpha is not None:
            return self
        return replace(self, alpha=axes.alpha)

    def analysis_settings(self) -> AnalysisSettings:
        """The settings of the analysis; a preset fills what is not given. Raises InputError."""
        from biasgraph.causal.settings import AnalysisSettings

        given = {name: getattr(self, name) for name in ANALYSIS}
        preset = given.pop("preset") or "default"
        return AnalysisSettings.resolve(preset, seed=self.seed, global_min_is=self.min_is, **given)

    @property
    def directory(self) -> Path | None:
        """Where the result of an answers table goes: `output`, or under outputs/ by its name."""
        if self.output is not None:
            return Path(self.output)
        if isinstance(self.answers, str | Path):
            return OUTPUTS / slug(Path(self.answers).stem)
        return None
