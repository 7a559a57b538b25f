"""The options of `biasgraph search`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from biasgraph.audits.axis_options import AxisOptions
from biasgraph.audits.build_options import BuildOptions, RunOptions
from biasgraph.audits.panels import AUDIT, OUTPUT
from biasgraph.audits.search.beam_search import BeamSettings
from biasgraph.data.options import TEXT, option, optional, reuse, settings
from biasgraph.errors import InputError, did_you_mean, printable
from biasgraph.models.inference_options import MODELS, ModelOptions

SEARCH = "Search"
"""A panel of ``--help``."""
LM_BIASED: Final = "lm-biased"
PEZ: Final = "pez"
BASELINES = (LM_BIASED, PEZ)
WEIGHTS = (10.0, 100.0)
"""lambda, as in the paper's tables."""


@settings(panel=SEARCH)
class SearchOptions(ModelOptions):
    """What to search for in which model; None means "not given".

    Raises:
        InputError: A value is invalid.
    """

    towards: str = option(
        "The attribute that images should show more often: gender=male.",
        metavar="AXIS=ATTRIBUTE",
        panel=AUDIT,
    )
    also: str | Sequence[str] = option(
        "An attribute of another axis that images should show as well. Repeatable.",
        default=(),
        kind=str,
        metavar="AXIS=ATTRIBUTE",
        flags=("--and",),
        repeat=True,
        panel=AUDIT,
    )
    model: str | None = reuse(RunOptions, "model", default=None, panel=AUDIT)
    lm: str | None = optional(
        "The language model that writes the prompts; it must run here, for example "
        "lm:Qwen/Qwen3-4B.",
        metavar="SPEC",
        usual="sandbox:writer for sandbox models",
        panel=MODELS,
    )
    perplexity: str | None = optional(
        "Another language model, whose perplexity says how natural the prompts are.",
        metavar="SPEC",
        usual="sandbox:reader for sandbox models; none for others",
        panel=MODELS,
    )
    vqa: str | None = reuse(BuildOptions, "vqa", default=None)
    axes: str | None = reuse(AxisOptions, "axes", default=None, panel=AUDIT)
    probes: Path | None = optional(
        "The probes of the denoiser, from `biasgraph probe train`.",
        metavar="FILE",
        usual="outputs/MODEL/probes.safetensors; missing probes are trained first",
    )
    weights: str | Sequence[str | float] = optional(
        "The weight of the attribute beside the language model's log probability; each value "
        "gives its own set of prompts.",
        kind=list,
        metavar="L,...",
        flags=("--lambda",),
        usual="10,100",
    )
    prompts: int = option("Prompts to write for each.", default=20, low=1, high=1000)
    scenario: str = option(
        "What prompts are about: occupation, context, place, object, activity, or your own YAML "
        "file with instructions and an opening.",
        default="occupation",
        metavar="NAME|FILE",
        panel=AUDIT,
    )
    opening: str | None = optional(
        "How every prompt begins.", metavar=TEXT, usual="the scenario's", panel=AUDIT
    )
    naming: Literal["refuse", "refuse-wanted", "count"] = option(
        "What to do with prompts that name an axis by one of its attributes or synonyms: refuse "
        "those that name any axis of the set, refuse those that name a wanted axis, or only count "
        "them.",
        default="refuse",
    )
    no_repeat: int = option(
        "Refuse prompts that repeat this many words in a row; 0 allows it.",
        default=3,
        low=0,
        high=100,
    )
    scoring: Literal["race", "shared", "full"] = option(
        "How candidates are scored: full, each denoised up to the step (Algorithm 1); shared, "
        "latents denoised once and a single pass for each (the authors' code); race, each "
        "denoised to an earlier step, and only as long as it can still be among the best.",
        default="race",
    )
    latents: int = option(
        "K, the number of noises that a candidate is scored with.", default=10, low=2
    )
    step: int | None = optional(
        "The step that probes read, counted from 0.",
        low=0,
        usual="a fifth of the steps for race, half of them for shared and full",
    )
    beams: int = option("B, the number of texts kept at each step.", default=10, low=1, high=1000)
    expand: int = option("E, the number of candidates for each text.", default=10, low=1, high=1000)
    spread: int = option(
        "E': candidates are drawn from the likeliest tokens, E' times as many.",
        default=2,
        low=1,
        high=1000,
    )
    temperature: float = option("The temperature of that draw.", default=10.0, low=1e-3, high=1e6)
    least_share: float = option(
        "Skip candidates whose token is less probable than this part of the likeliest token's "
        "probability, so that prompts stay natural (min-p); 0 keeps all, as the paper does.",
        default=0.01,
        low=0,
        high=1,
    )
    least_tokens: int = option(
        "The fewest tokens that a prompt adds to the opening.", default=1, low=1
    )
    most_tokens: int = option(
        "The most tokens that a prompt adds to the opening.", default=20, low=1, high=1000
    )
    baselines: str | Sequence[str] = optional(
        "Prompts to compare with, beside those of the language model alone (lambda 0): lm-biased, "
        "by the language model told to bias; pez, token by token along the gradient.",
        kind=list,
        metavar="NAME,...",
        usual="none",
        panel=AUDIT,
    )
    curated: str | None = optional(
        "Existing prompts to compare with: a shipped list ('occupations'), or a file with a "
        "prompt on each line.",
        metavar="NAME|FILE",
        usual="none",
        panel=AUDIT,
    )
    images: int = reuse(
        RunOptions, "images", default=10, help="Images of each prompt, judged by --vqa.",
    )  # fmt: skip
    seed: int = reuse(RunOptions, "seed", default=0, help="Seed of the images and of the search.")
    output: str | Path | None = reuse(
        RunOptions, "output", default=None, usual="outputs/MODEL/found-TARGETS", panel=OUTPUT
    )
    fresh: bool = reuse(RunOptions, "fresh", default=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.baselines or ():
            if name not in BASELINES:
                raise InputError(
                    f"invalid --baselines '{printable(name)}': choose from "
                    f"{', '.join(BASELINES)}.{did_you_mean(name, BASELINES)}"
                )
        if self.least_tokens > self.most_tokens:
            raise InputError(
                f"--least-tokens {self.least_tokens} is more than --most-tokens {self.most_tokens}"
            )
        self.lambdas()
        self.parse_targets()

    def lambdas(self) -> tuple[float, ...]:
        """The weights, each once, in their order. Raises InputError."""
        found: list[float] = []
        for given in WEIGHTS if self.weights is None else self.weights:
            try:
                weight = float(given)
            except ValueError:
                weight = math.nan
            if not 0 < weight <= 1e6:
                raise InputError(
                    f"invalid --lambda '{printable(str(given))}': numbers above 0, between commas; "
                    "the language model alone (0) is always among the results"
                )
            found.append(weight)
        return tuple(dict.fromkeys(found))

    def parse_targets(self) -> dict[str, str]:
        """Axis -> attribute, as they were typed. Raises InputError."""
        found: dict[str, str] = {}
        also = (self.also,) if isinstance(self.also, str) else self.also
        for flag, given in [("--towards", self.towards), *(("--and", text) for text in also)]:
            axis, sign, attribute = (part.strip() for part in given.partition("="))
            if not (axis and sign and attribute):
                raise InputError(
                    f"invalid {flag} '{printable(given)}': an axis and one of its attributes, such "
                    "as gender=male"
                )
            if axis in found:
                raise InputError(f"{flag} names axis '{printable(axis)}' twice")
            found[axis] = attribute
        return found

    def beam(self) -> BeamSettings:
        """How wide the search is."""
        return BeamSettings(
            self.beams,
            self.expand,
            self.spread,
            self.temperature,
            self.least_share,
            self.least_tokens,
            self.most_tokens,
            whole_words=self.scoring == "race",
        )
