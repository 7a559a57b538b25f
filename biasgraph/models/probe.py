"""Linear probes: what the middle of a denoiser says of an axis, step by step, kept in a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from biasgraph.errors import InputError, printable, show_path
from biasgraph.io.json_files import check, parse_json
from biasgraph.io.text_files import read_bytes

if TYPE_CHECKING:
    from biasgraph.data.axes import AxisSet
    from biasgraph.models.base import ConfiguredModel

SCHEMA = "biasgraph-probes/1"
SUFFIX = ".safetensors"
RECORD = "biasgraph"
"""The only key of the file's metadata: of several, the library keeps no order."""
SUM = "sha256"
"""The record's own key for the hash of all else."""
FREE = ("steps", "device", "dtype")
"""Settings of a generator in which a probe's may differ from another's."""
MOST = 10**6
"""Steps; more would be a mistake."""
PARTS = ("weight", "bias", "mean", "scale")


class _AxisRecord(BaseModel, strict=True):
    axis: str
    digest: str
    attributes: list[str] = Field(min_length=2)


class _FileRecord(BaseModel, strict=True):
    schema_: Literal["biasgraph-probes/1"] = Field(alias="schema")
    model: str
    model_fingerprint: str
    generator: dict[str, str | int | float | bool | None]
    steps: list[Annotated[int, Field(ge=0, lt=MOST)]] = Field(min_length=1)
    of: int = Field(ge=1, le=MOST)
    probes: list[_AxisRecord] = Field(min_length=1)
    sha256: str


@dataclass(frozen=True)
class Probe:
    """A linear head for each examined step.

    Attributes:
        axis: What it tells.
        attributes: The k answers, in the axis's order.
        steps: The steps that have a head, from 0.
        of: How many steps the schedule has.
        weight: (steps, k, d) float32.
        bias: (steps, k).
        mean: (steps, d) of the training images' activations.
        scale: (steps, d) their standard deviation.
    """

    axis: str
    attributes: tuple[str, ...]
    steps: tuple[int, ...]
    of: int
    weight: Any
    bias: Any
    mean: Any
    scale: Any

    @property
    def fractions(self) -> tuple[float, ...]:
        """What part of the schedule is over before each step, in [0, 1)."""
        return tuple(step / self.of for step in self.steps)

    def probabilities(self, activations: Any, step: int) -> Any:
        """The attributes' probabilities.

        Args:
            activations: (n, d) tensor of `MiddleActivations.values` at the step.
            step: One of `steps`.

        Returns:
            (n, k) float64; rows sum to 1.

        Raises:
            InputError: No head is for this step, or the activations are another model's.
        """
        return self.logits(activations, step).softmax(dim=1)

    def logits(self, activations: Any, step: int) -> Any:
        """What the probabilities are the softmax of; with gradients where these are on.

        The parameters are those of `probabilities`.

        Returns:
            (n, k) float64.

        Raises:
            InputError: As there.
        """
        if step not in self.steps:
            raise InputError(
                f"the probe of '{printable(self.axis)}' has no head for step {step}, only for "
                f"{', '.join(map(str, self.steps))}"
            )
        place = self.steps.index(step)
        if activations.ndim != 2 or activations.shape[1] != self.mean.shape[1]:
            raise InputError(
                f"the probe of '{printable(self.axis)}' reads {self.mean.shape[1]} numbers of an "
                f"image, not {tuple(activations.shape)}"
            )
        own = (getattr(self, name)[place].double().to(activations.device) for name in PARTS)
        weight, bias, mean, scale = own
        return (activations.double() - mean) / scale @ weight.T + bias


def probe_file(record: Mapping[str, Any], probes: Sequence[Probe]) -> bytes:
    """The content of a file of probes.

    Args:
        record: What it says of its origin, in JSON types; of what is checked when it is read:
            model, model_fingerprint, generator (its settings), steps, of, and under probes the
            axis, digest and attributes of each.
        probes: In the order of the record's.
    """
    from safetensors.torch import save

    tensors = {
        f"{place}.{name}": getattr(probe, name).float().contiguous()
        for place, probe in enumerate(probes)
        for name in PARTS
    }
    said = {"schema": SCHEMA, **record}
    said[SUM] = _sum(said, tensors)
    return bytes(save(tensors, metadata={RECORD: json.dumps(said)}))


def is_probe_file(path: Path) -> bool:
    """Whether a file that is there is one of probes."""
    try:
        return RECORD in _read(path)[1]
    except InputError:
        return False


def read_probe_record(path: Path) -> dict[str, Any]:
    """What a file of probes says of itself; raises InputError where it is none, or damaged."""
    return _whole_file(path)[0]


def load_probes(path: Path, generator: ConfiguredModel, axes: AxisSet) -> dict[str, Probe]:
    """The probes of a file, by axis, for all axes of a set.

    Args:
        path: Of the file.
        generator: The model whose activations are to be read.
        axes: The axes wanted (`AxisSet.only`), as they are asked about now.

    Raises:
        InputError: It is damaged or no file of probes; or it is for another model, another way of
            running it, or other axes.
    """
    record, tensors = _whole_file(path)
    name = show_path(path)
    _refuse_another_model(name, record, generator)
    of_axis = {one["axis"]: (place, one) for place, one in enumerate(record["probes"])}
    probes = {}
    for axis in axes.axes:
        if axis.name not in of_axis:
            raise InputError(
                f"{name} has no probe for axis '{printable(axis.name)}', only for "
                f"{', '.join(map(printable, of_axis))}: train one with `biasgraph probe train`"
            )
        place, one = of_axis[axis.name]
        if one["digest"] != axes.only([axis.name]).digest():
            raise InputError(
                f"{name} is for another axis '{printable(axis.name)}' than that of axis set "
                f"'{printable(axes.name)}': its attributes, words or questions differ; train one "
                "for this set"
            )
        parts = [tensors.get(f"{place}.{part}") for part in PARTS]
        probes[axis.name] = _whole(name, record, one, parts)
    return probes


def _whole(name: str, record: Mapping[str, Any], one: Mapping[str, Any], parts: Any) -> Probe:
    """A probe whose parts fit together; raises InputError."""
    steps, k = len(record["steps"]), len(one["attributes"])
    d = parts[0].shape[-1] if parts[0] is not None else 0
    shapes = [(steps, k, d), (steps, k), (steps, d), (steps, d)]
    if [part if part is None else tuple(part.shape) for part in parts] != shapes:
        raise InputError(f"{name} is damaged: its numbers do not match its description of them")
    attributes, numbers = tuple(one["attributes"]), tuple(record["steps"])
    return Probe(one["axis"], attributes, numbers, record["of"], *parts)


def _refuse_another_model(name: str, record: Mapping[str, Any], generator: ConfiguredModel) -> None:
    if record["model_fingerprint"] != generator.fingerprint:
        raise InputError(
            f"{name} is for {printable(record['model'])}, whose weights are not those of "
            f"{printable(generator.spec)}: train one with `biasgraph probe train --model "
            f"{printable(generator.spec)}`"
        )
    then, now = (
        {key: value for key, value in settings.items() if key not in FREE}
        for settings in (record["generator"], dict(generator.settings))
    )
    for key in {**then, **now}:
        if then.get(key) != now.get(key):
            raise InputError(
                f"{name} is for images made with {key} {printable(str(then.get(key)))}, not "
                f"{printable(str(now.get(key)))}: train one with these settings"
            )


def _whole_file(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The record and the tensors of a file of probes; raises InputError."""
    tensors, metadata = _read(path)
    name = show_path(path)
    if RECORD not in metadata:
        raise InputError(
            f"{name} contains no probes: it was not written by `biasgraph probe train`"
        )
    record = parse_json(metadata[RECORD].encode("utf-8", "surrogatepass"), name)
    check(_FileRecord, record, name)
    if record[SUM] != _sum(record, tensors):
        raise InputError(f"{name} is damaged: its content is not what was written")
    return record, tensors


def _read(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Tensors and metadata; raises InputError for what is not a safetensors file, or is damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    raw = read_bytes(path, "the probes in")
    try:
        tensors = load(raw)
        header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    except (SafetensorError, ValueError, KeyError, RecursionError) as error:
        raise InputError(
            f"{show_path(path)} is not a safetensors file, or is damaged: "
            f"{printable(str(error))[:150]}"
        ) from None
    return tensors, header.get("__metadata__", {})


def _sum(record: Mapping[str, Any], tensors: Mapping[str, Any]) -> str:
    """The SHA-256 (hex) of all that a file says and of all its numbers."""
    said = {name: value for name, value in record.items() if name != SUM}
    found = hashlib.sha256(json.dumps(said, sort_keys=True).encode("utf-8", "surrogatepass"))
    for name in sorted(tensors):
        found.update(name.encode("utf-8", "surrogatepass"))
        found.update(tensors[name].contiguous().view(-1).float().numpy().tobytes())
    return found.hexdigest()
