"""The options of `biasgraph words`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from biasgraph.audits.axis_options import AxisOptions
from biasgraph.audits.build_options import BuildOptions, PromptOptions, RunOptions
from biasgraph.audits.panels import AUDIT, OUTPUT
from biasgraph.data.options import option, optional, reuse, settings
from biasgraph.errors import InputError
from biasgraph.methods.word_gradients import GradientSettings
from biasgraph.models.inference_options import ModelOptions
from biasgraph.prompts.prompt_lists import PromptList

WORDS = "Words"
"""A panel of ``--help``."""


@settings(panel=AUDIT)
class WordsOptions(ModelOptions):
    """What to look for in which prompts; None means "not given".

    Raises:
        InputError: Options contradict each other, or a value is invalid.
    """

    prompt: str | None = reuse(
        PromptOptions,
        "prompt",
        default=None,
        kw_only=False,
        help="The prompt whose words to look at: 'a chef in a kitchen'. Bracket the subject if it "
        "is ambiguous.",
    )
    prompts: str | Path | Sequence[str] | None = reuse(
        PromptOptions,
        "prompts",
        default=None,
        help="Several prompts, and which words matter over all of them: a shipped list "
        "('occupations'), a file with a prompt on each line, or the directory of a mine or search "
        "run.",
    )
    model: str | None = reuse(RunOptions, "model", default=None)
    vqa: str | None = reuse(BuildOptions, "vqa", default=None)
    images: int | None = reuse(
        RunOptions,
        "images",
        default=None,
        help="Images of each prompt and, by removal, of the prompt without each of its words.",
        usual="10 by gradient, 48 by removal",
    )
    seed: int = reuse(RunOptions, "seed", default=0)
    by: Literal["gradient", "removal", "both"] = option(
        "How to measure influence: by gradient, follow how the answers about each step's image "
        "depend on the words; by removal, leave each word out, make images from the same seeds "
        "and compare the answers.",
        default="gradient",
        panel=WORDS,
    )
    every: int | None = optional(
        "By gradient: examine every N-th step.", usual="1", low=1, panel=WORDS
    )
    score: Literal["l1", "l2", "input-times-gradient", "released"] | None = optional(
        "By gradient: how the gradient with respect to a token becomes its score (docs/words.md).",
        usual="l1",
        panel=WORDS,
    )
    join: Literal["mean", "sum"] | None = optional(
        "By gradient: how the scores of a word's tokens are joined; sum favours long words.",
        usual="mean",
        panel=WORDS,
    )
    axis: str | Sequence[str] | None = reuse(
        AxisOptions,
        "axis",
        default=None,
        panel=WORDS,
        help="The axes whose bias the words may carry.",
    )
    axes: str | None = reuse(AxisOptions, "axes", default=None, panel=WORDS)
    output: Path | None = reuse(
        RunOptions,
        "output",
        default=None,
        usual="outputs/MODEL/words-PROMPT or outputs/MODEL/words-LIST",
    )
    fresh: bool = reuse(RunOptions, "fresh", default=False)
    dry_run: bool = reuse(BuildOptions, "dry_run", default=False, panel=OUTPUT)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.prompt is None) == (self.prompts is None):
            both = "--prompt and --prompts exclude each other: put the prompt on a line of the list"
            raise InputError(
                both
                if self.prompt is not None
                else "no prompt: give --prompt 'a chef in a kitchen', or --prompts FILE"
            )

        given = [name for name in ("every", "score", "join") if getattr(self, name) is not None]
        if given and self.by == "removal":
            raise InputError(f"--{given[0]} has no effect --by removal; remove it")

    @property
    def gradients(self) -> GradientSettings:
        """How gradients are taken."""
        named = {name: getattr(self, name) for name in ("every", "score", "join")}
        return GradientSettings(**{name: one for name, one in named.items() if one is not None})

    def list_prompts(self) -> PromptList:
        """The prompts, each with its place for messages; raises InputError as `PromptList.of`."""
        if self.prompts is not None:
            return PromptList.of(self.prompts)
        return PromptList(str(self.prompt), ((str(self.prompt), "--prompt"),))
