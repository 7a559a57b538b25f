"""The options of `biasgraph words evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from biasgraph.audits.build_options import RunOptions
from biasgraph.audits.words.words_options import WORDS, WordsOptions
from biasgraph.data.options import option, optional, reuse, settings
from biasgraph.methods.gradbias import USUAL
from biasgraph.methods.word_gradients import GradientSettings
from biasgraph.models.inference_options import ENGINE_OPTIONS, MODEL_OPTIONS, MODELS, ModelOptions

_PASSED_ON = (
    "prompt", "prompts", "model", "vqa", "seed", "every", "axis", "axes", "output", "fresh",
    "dry_run",
)  # fmt: skip


@settings(panel=WORDS)
class EvaluationOptions(ModelOptions):
    """Which rankings of which prompts' words are held against which truth.

    Raises:
        InputError: Options contradict each other, or a value is invalid.
    """

    prompt: str | None = reuse(WordsOptions, "prompt", default=None, kw_only=False)
    prompts: str | Path | Sequence[str] | None = reuse(
        WordsOptions,
        "prompts",
        default=None,
        help="The prompts: a shipped list ('occupations'), a file with a prompt on each line, or "
        "the directory of a mine or search run.",
    )
    model: str | None = reuse(WordsOptions, "model", default=None)
    vqa: str | None = reuse(
        WordsOptions, "vqa", default=None, help="The model that gives the gradients."
    )
    truth_vqa: str | None = optional(
        "The model that judges the images made without each word, which are the truth; not the "
        "same as --vqa.",
        metavar="SPEC",
        panel=MODELS,
        usual="sandbox:judge2 for sandbox models",
    )
    llm: str | None = reuse(
        RunOptions,
        "llm",
        default=None,
        help="Also rank words by how probable a language model finds it that they matter.",
        usual="",
    )
    ask_vqa: str | None = optional(
        "Also rank words by how probable this judge finds it, shown the prompt's images.",
        metavar="SPEC",
        panel=MODELS,
    )
    images: int = reuse(
        RunOptions,
        "images",
        default=USUAL["removal"],
        help="Images of each prompt, and of the prompt without each of its words, for the truth.",
    )
    gradient_images: int = option(
        "Images of each prompt for the gradients and for --ask-vqa.",
        default=USUAL["gradient"],
        low=1,
        high=1_000_000,
    )
    seed: int = reuse(WordsOptions, "seed", default=0)
    every: int | None = reuse(WordsOptions, "every", default=None, help="Examine every N-th step.")
    released: bool = option(
        "Also follow the steps as the authors' released code does; takes as long again.",
        default=False,
    )
    axis: str | Sequence[str] | None = reuse(WordsOptions, "axis", default=None)
    axes: str | None = reuse(WordsOptions, "axes", default=None)
    output: Path | None = reuse(
        WordsOptions,
        "output",
        default=None,
        usual="where `biasgraph words` puts the same prompts, so that both share a run",
    )
    fresh: bool = reuse(WordsOptions, "fresh", default=False)
    dry_run: bool = reuse(WordsOptions, "dry_run", default=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.words  # noqa: B018  checks them

    @property
    def words(self) -> WordsOptions:
        """Those of them that `biasgraph words` has, both ways."""
        passed: dict[str, Any] = {
            name: getattr(self, name) for name in (*_PASSED_ON, *MODEL_OPTIONS, *ENGINE_OPTIONS)
        }
        return WordsOptions(by="both", **passed)

    @property
    def readings(self) -> dict[str, GradientSettings]:
        """How gradients are read, by the names of what comes of it."""
        scores = ("l1", "l2", "input-times-gradient", *(("released",) if self.released else ()))
        every = self.words.gradients.every
        return {
            f"gradient {score}{', sum' if join == 'sum' else ''}": GradientSettings(
                every, score, join
            )
            for score in scores
            for join in ("mean", "sum")
        }
