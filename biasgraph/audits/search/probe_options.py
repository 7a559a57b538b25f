"""The options of `biasgraph probe train`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from biasgraph.audits.axis_options import AxisOptions
from biasgraph.audits.build_options import BuildOptions, PromptOptions, RunOptions
from biasgraph.audits.panels import AUDIT
from biasgraph.data.options import option, optional, reuse, settings
from biasgraph.errors import InputError, show_path
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.probe import SUFFIX

PROBES = "Probes"
"""A panel of ``--help``."""
PROMPTS = "occupations"


@settings(panel=AUDIT)
class ProbeOptions(ModelOptions):
    """Which probes to train on what; None means "not given".

    Raises:
        InputError: A value is invalid.
    """

    model: str | None = reuse(RunOptions, "model", default=None)
    vqa: str | None = reuse(BuildOptions, "vqa", default=None)
    axis: str | Sequence[str] | None = reuse(
        AxisOptions, "axis", default=None, panel=PROBES, help="The axes to train probes for."
    )
    axes: str | None = reuse(AxisOptions, "axes", default=None, panel=PROBES)
    prompts: str | Path | Sequence[str] | None = reuse(
        PromptOptions,
        "prompts",
        default=None,
        panel=PROBES,
        help="The prompts whose counterfactuals to train on: a shipped list ('occupations'), a "
        "file with a prompt on each line, or the directory of a `biasgraph mine` or "
        "`biasgraph search` run, for the prompts that it found. Three in ten are held out.",
        usual=PROMPTS,
    )
    images: int = reuse(
        RunOptions,
        "images",
        default=16,
        panel=PROBES,
        help="Images of each prompt and of each of its counterfactuals.",
    )
    labels: Literal["judge", "prompt"] = option(
        "What labels an image for training: what the judge sees in it, or what its prompt names "
        "(counterfactuals only).",
        default="judge",
        panel=PROBES,
    )
    every: int | None = optional(
        "Train a probe for every N-th step, beginning with the first.",
        usual="such that about ten steps have one",
        low=1,
        panel=PROBES,
    )
    seed: int = reuse(
        RunOptions, "seed", default=0, help="Seed of the images and of the prompts held out."
    )
    output: Path | None = reuse(
        RunOptions,
        "output",
        default=None,
        metavar="FILE",
        help="The file of the probes (.safetensors). Their images are kept beside it, in a folder "
        "of the same name.",
        usual="outputs/MODEL/probes-LIST.safetensors",
    )
    fresh: bool = reuse(RunOptions, "fresh", default=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.output is not None and (
            self.output.suffix != SUFFIX
            or not self.output.name.removesuffix(SUFFIX).strip(".")
            or self.output.is_dir()
        ):
            raise InputError(
                f"-o {show_path(self.output)} is not a file of probes: its name must end in "
                f"{SUFFIX}"
            )

    @property
    def folder(self) -> Path | None:
        """Where the images go, where it is said."""
        return self.output and self.output.with_name(self.output.name.removesuffix(SUFFIX))
