"""How models are to be run: the options that backends read, each of them once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from biasgraph.data.options import TEXT, Settings, option, options_of, settings
from biasgraph.errors import InputError, did_you_mean, printable

MODELS = "Models"
"""The panel of ``--help``."""

JUDGES = (
    "device", "dtype", "judge_batch_size", "trust_remote_code", "permutations", "unknown_below",
    "base_url", "concurrency", "budget",
)  # fmt: skip
"""The options that judges read."""
LANGUAGE_MODELS = (
    "device", "dtype", "trust_remote_code", "llm_seconds", "base_url", "concurrency", "budget",
)  # fmt: skip
"""The options that language models read."""


LOCAL, RAY = "local", "ray"


@settings(panel=MODELS)
class EngineOptions(Settings):
    """Where batches of images are made and judged; nothing that comes of them depends on it.

    Raises:
        InputError: There is no such engine, or it has no such option.
    """

    engine: str | None = option(
        "Where images are made and judged: in this process, on workers of this machine (ray), or "
        "on those of the Ray cluster that runs here (ray:auto) or at an address.",
        default=None,
        metavar="local|ray|ray:ADDRESS",
        usual=LOCAL,
    )
    workers: int | None = option(
        "Workers of --engine ray, each with its own models.",
        default=None,
        low=1,
        high=10_000,
        usual="one for each GPU, or for two CPU cores where there are none",
    )
    gpus_per_worker: float | None = option(
        "GPUs of each worker; with 0.5, two share one.",
        default=None,
        low=0,
        high=64,
        usual="1 where there are GPUs",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        name, _, address = (self.engine or LOCAL).partition(":")
        if self.engine is not None and not _ENGINE.fullmatch(self.engine):
            hint = did_you_mean(name, (LOCAL, RAY)) if name not in (LOCAL, RAY) else ""
            if name == RAY and address.startswith("//"):
                hint = " The port is that of the cluster's head (6379), without //."
            raise InputError(
                f"invalid --engine '{printable(self.engine)}': give local, ray, ray:auto, or "
                f"ray:HOST:PORT.{hint}"
            )
        for field in ("workers", "gpus_per_worker"):
            if self.cluster is None and getattr(self, field) is not None:
                flag = "--" + field.replace("_", "-")
                raise InputError(
                    f"{flag} has no effect without --engine ray: add it, or remove {flag}"
                )

    @property
    def cluster(self) -> str | None:
        """None for this process; "" for a Ray of this machine, or the address of one to join."""
        name, _, address = (self.engine or LOCAL).partition(":")
        return None if name == LOCAL else address


_ENGINE = re.compile(r"local|ray|ray:auto|ray:(\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}")


@settings(panel=MODELS)
class ModelOptions(EngineOptions):
    """How to run models; None (or empty) means "as the backend sees fit".

    Raises:
        InputError: No backend could use a value.
    """

    device: str | None = option(
        "Where models on your own machine run.",
        default=None,
        metavar="auto|cpu|cuda|mps",
        usual="auto, a GPU if there is one",
    )
    dtype: Literal["float32", "float16", "bfloat16"] | None = option(
        "Number format of their weights.",
        default=None,
        usual="float32 on a CPU, bfloat16 or float16 on a GPU",
    )
    steps: int | None = option("Denoising steps of each image.", default=None, low=1)
    guidance: float | None = option("Guidance scale.", default=None, usual="the pipeline's")
    size: str | None = option(
        "Size of generated images in pixels: 1024, or 1024x768, width first.",
        default=None,
        metavar="N|WxH",
    )
    scheduler: str | None = option(
        "Another scheduler of diffusers: DPMSolverMultistepScheduler.",
        default=None,
        metavar="CLASS",
    )
    negative_prompt: str | None = option("What images should not show.", default=None, metavar=TEXT)
    lora: tuple[str, ...] = option(
        "A LoRA adapter (safetensors) for the generator; repeatable.",
        default=(),
        metavar="FILE|NAME",
        repeat=True,
    )
    batch_size: int | None = option(
        "Images to generate at a time.", default=None, low=1, usual="as many as fit into memory"
    )
    judge_batch_size: int | None = option(
        "Images to ask about at a time.", default=None, low=1, flags=("--vqa-batch-size",)
    )
    offload: Literal["model", "layers"] | None = option(
        "Keep idle weights in main memory, whole models or layer by layer: slower, with less GPU "
        "memory.",
        default=None,
    )
    trust_remote_code: bool = option(
        "Run code that comes with a model's repository. Read it first.", default=False
    )
    permutations: int | None = option(
        "Show the choices to a judge in this many orders, and average its probabilities.",
        default=None,
        low=1,
    )
    unknown_below: float | None = option(
        "Count answers less probable than this as unknown.", default=None, low=0, high=1
    )
    llm_seconds: float | None = option(
        "Seconds that a language model on your own machine may take for one conversation.",
        default=None,
        low=0,
        usual="90",
    )
    base_url: str | None = option(
        "The server of openai models. Keys come from the environment (OPENAI_API_KEY) only.",
        default=None,
        metavar="URL",
        usual="OPENAI_BASE_URL",
    )
    concurrency: int | None = option("Simultaneous requests to a server.", default=None, low=1)
    budget: str | None = option(
        "The most that a run may request from a paid server in all; the run stops before it would "
        "exceed this.",
        default=None,
        metavar="calls=N,images=N",
    )
    max_pixels: int | None = option(
        "Leave out images of a folder that have more pixels.", default=None, low=1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size is not None:
            self.pixels  # noqa: B018  (raises for an invalid size)

    @property
    def pixels(self) -> tuple[int, int] | None:
        """Width and height; None where no size is given."""
        if self.size is None:
            return None
        match = re.fullmatch(r"([1-9]\d{0,4})(?:x([1-9]\d{0,4}))?", self.size)
        if match is None:
            raise InputError(
                f"invalid --size '{printable(self.size)}': give 1024, or 1024x768, width first"
            )
        return int(match[1]), int(match[2] or match[1])

    def model_options(self) -> ModelOptions:
        """These alone, where they came with others."""
        names = (*MODEL_OPTIONS, *ENGINE_OPTIONS)
        return ModelOptions(**{name: getattr(self, name) for name in names})

    def over(self, record: Mapping[str, Any]) -> ModelOptions:
        """These, and those of a `record` that are not among them."""
        return ModelOptions.from_record({**record, **self.record()}, self)

    def record(self) -> dict[str, Any]:
        """The options that were set, by name, in JSON types."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name in MODEL_OPTIONS
            if is_given(value := getattr(self, name))
        }

    @classmethod
    def from_record(
        cls, record: Mapping[str, Any], where: EngineOptions | None = None
    ) -> ModelOptions:
        """The options that `record` returned, as they were; where: what they are to run on."""
        values = {name: record[name] for name in MODEL_OPTIONS if name in record}
        on = {name: getattr(where, name) for name in ENGINE_OPTIONS} if where else {}
        return cls(**{**values, **on, "lora": tuple(values.get("lora", ()))})


ENGINE_OPTIONS = tuple(f.name for f in fields(EngineOptions))
MODEL_OPTIONS = tuple(f.name for f in fields(ModelOptions) if f.name not in ENGINE_OPTIONS)
"""Those that results may depend on."""


def is_given(value: object) -> bool:
    """Whether an option was set: 0 is a value, None, False and () are none."""
    return not (value is None or value is False or value == ())


def flag_of(name: str) -> str:
    """The flag of one of `ModelOptions` on the command line."""
    return options_of(ModelOptions)[name].flag(name)


@dataclass(frozen=True)
class Spec:
    """What names a model, ``backend:rest``.

    Attributes:
        text: What the user typed.
        journal: A folder that belongs to the run, where a paid backend keeps its responses; None
            where there is no run.
        flag: The option that it was typed with, where that is not its role's usual one.
    """

    text: str
    journal: Path | None = None
    flag: str = ""

    @property
    def backend(self) -> str:
        """``sandbox:stereotyped`` -> ``sandbox``."""
        return self.text.partition(":")[0]

    @property
    def rest(self) -> str:
        """All behind the first colon: ``stereotyped``, a name, a path; may be empty."""
        return self.text.partition(":")[2]

    @property
    def name(self) -> str:
        """`rest` without a revision."""
        return self.rest.rpartition("@")[0] or self.rest

    @property
    def revision(self) -> str | None:
        """What stands behind the last ``@``: a branch, tag or commit; None without one."""
        before, _, after = self.rest.rpartition("@")
        return after or None if before else None
