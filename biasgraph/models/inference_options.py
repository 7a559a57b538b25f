"""How models are to be run: the options that backends read, each of them once."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from biasgraph.errors import InputError, printable


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelOptions:
    """How to run models; None (or empty) means "as the backend sees fit".

    device: "auto" takes a GPU where there is one; dtype: of the weights, by device.
    steps, guidance, size ("1024" or "1024x768", width first), scheduler, negative_prompt, lora
    (files or hub names of adapters): what decides the pixels of a diffusers pipeline.
    batch_size, judge_batch_size: images made, or asked about, at a time.
    offload: keep what is not at work in main memory: whole models, or layer by layer.
    trust_remote_code: run code that a model's repository brings along.
    permutations: orders in which a judge is shown the choices; its answers are averaged.
    unknown_below: an answer less probable than this is unknown.
    base_url: the server of openai models; concurrency: requests to it in flight at a time;
    budget: the most that a run may ask of it, "calls=1000,images=200".
    max_pixels: images of a folder with more pixels are left out.

    Raises InputError for a value that no backend could use.
    """

    device: str | None = None
    dtype: str | None = None
    steps: int | None = None
    guidance: float | None = None
    size: str | None = None
    scheduler: str | None = None
    negative_prompt: str | None = None
    lora: tuple[str, ...] = ()
    batch_size: int | None = None
    judge_batch_size: int | None = None
    offload: Literal["model", "layers"] | None = None
    trust_remote_code: bool = False
    permutations: int | None = None
    unknown_below: float | None = None
    base_url: str | None = None
    concurrency: int | None = None
    budget: str | None = None
    max_pixels: int | None = None

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "judge_batch_size", "permutations", "concurrency"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{flag_of(name)} must be at least 1, not {value}")
        if self.guidance is not None and not math.isfinite(self.guidance):
            raise InputError(f"--guidance must be a number, not {self.guidance}")
        if self.unknown_below is not None and not 0 <= self.unknown_below <= 1:
            raise InputError(f"--unknown-below must be from 0 to 1, not {self.unknown_below}")
        if self.size is not None:
            self.pixels  # noqa: B018  (raises for a size that is none)

    @property
    def pixels(self) -> tuple[int, int] | None:
        """Width and height; None where no size is given."""
        if self.size is None:
            return None
        found = re.fullmatch(r"([1-9]\d{0,4})(?:x([1-9]\d{0,4}))?", self.size)
        if found is None:
            raise InputError(
                f"--size '{printable(self.size)}' is no size: give 1024, or 1024x768, width first"
            )
        return int(found[1]), int(found[2] or found[1])

    def model_options(self) -> ModelOptions:
        """These alone, where they came with others."""
        return ModelOptions(**{f.name: getattr(self, f.name) for f in fields(ModelOptions)})

    def record(self) -> dict[str, Any]:
        """The options that were set, by name, in JSON types."""
        values = {f.name: getattr(self, f.name) for f in fields(ModelOptions)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if is_given(value)
        }

    @classmethod
    def recorded(cls, record: Mapping[str, Any]) -> ModelOptions:
        """The options that `record` returned, as they were."""
        known = {f.name for f in fields(ModelOptions)}
        values = {name: value for name, value in record.items() if name in known}
        return cls(**{**values, "lora": tuple(values.get("lora", ()))})


MODEL_OPTIONS = tuple(f.name for f in fields(ModelOptions))


def is_given(value: object) -> bool:
    """Whether an option was set: 0 is a value, None, False and () are none."""
    return not (value is None or value is False or value == ())


def flag_of(name: str) -> str:
    """An option's name on the command line."""
    return "--" + name.replace("_", "-").replace("judge-", "vqa-")


@dataclass(frozen=True)
class Spec:
    """What names a model, ``backend:rest``.

    journal: a folder that belongs to the run, where a paid backend keeps its responses; None
    where no run is.
    """

    text: str
    journal: Path | None = None

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
