"""The sandbox's generators and judges, loaded like any others from the weights that ship."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.errors import InputError, did_you_mean, printable
from biasgraph.models.base import Answer, Question, Setting
from biasgraph.models.clip import ClipJudge
from biasgraph.models.diffusers import DiffusersGenerator
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.models.library_loading import silence_libraries
from biasgraph.models.model_source import Source, fingerprint
from biasgraph.sandbox.scene_captions import GATE_CAPTIONS, read_scene, vocabulary

if TYPE_CHECKING:
    from PIL.Image import Image

WEIGHTS = Path(__file__).parent / "weights"
WORLDS = ("stereotyped", "debiased")
BATCH = 48
SECONDS_PER_IMAGE = 0.018
SECONDS_PER_ANSWERS = 0.001
"""The pace on two CPU cores, for estimates; benchmarks/bench_build.py measures it."""


def generator(spec: Spec, options: ModelOptions) -> DiffusersGenerator:
    """``sandbox:stereotyped`` or ``sandbox:debiased``.

    Raises:
        InputError: neither.
    """
    if spec.rest not in WORLDS:
        raise InputError(
            f"--model '{printable(spec.text)}': the sandbox has sandbox:stereotyped and "
            f"sandbox:debiased.{did_you_mean(spec.rest, WORLDS)}"
        )
    sampling = json.loads((WEIGHTS / "sandbox.json").read_text("utf-8"))["sampling"]
    told = {"steps": sampling["steps"], "guidance": sampling["guidance"]}
    return DiffusersGenerator(
        weights_of(spec, spec.rest),
        ModelOptions(device="cpu", dtype="float32", batch_size=BATCH, **told),
        words=vocabulary(),
        seconds_per_image=SECONDS_PER_IMAGE,
        told=told,
        whole=True,
    )


def judge(spec: Spec, options: ModelOptions) -> ClipJudge | SecondJudge:
    """``sandbox``, the CLIP whose text tower conditions the generators, or ``sandbox:judge2``.

    Raises:
        InputError: neither.
    """
    thresholds = json.loads((WEIGHTS / "sandbox.json").read_text("utf-8"))["unknown_below"]
    if spec.text == "sandbox":
        return _clip(spec, thresholds["clip"])
    if spec.rest == "judge2":
        return SecondJudge(
            WEIGHTS / "judge2", spec.text, BATCH, thresholds["judge2"], SECONDS_PER_ANSWERS
        )
    raise InputError(
        f"--vqa '{printable(spec.text)}': the sandbox's judges are sandbox and sandbox:judge2."
        f"{did_you_mean(spec.rest, ['judge2'])}"
    )


def embedder(spec: Spec, options: ModelOptions) -> ClipJudge:
    """``sandbox``: the first judge's CLIP.

    Raises:
        InputError: another name.
    """
    if spec.text != "sandbox":
        raise InputError(f"--embedder '{printable(spec.text)}': the sandbox's embedder is sandbox")
    return _clip(spec, 0.0)


def _clip(spec: Spec, unknown_below: float) -> ClipJudge:
    return ClipJudge(
        weights_of(spec, "clip"),
        device="cpu",
        dtype="float32",
        batch_size=BATCH,
        unknown_below=unknown_below,
        seconds_per_image=SECONDS_PER_ANSWERS,
        recorded={"unknown_below": unknown_below},
    )


def weights_of(spec: Spec, name: str) -> Source:
    """Where the weights are that ship under a name."""
    return Source(spec.text, str(WEIGHTS / name), None, True)


@dataclass(frozen=True)
class SecondJudge:
    """The ResNet classifier behind the judges' protocol.

    It knows the sandbox's eight axes and nothing else: a choice is found by what its caption says.
    """

    folder: Path
    spec: str
    batch_size: int
    unknown_below: float
    seconds_per_image: float | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Of the files of the weights."""
        return fingerprint(self.folder)

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What changes answers besides the weights."""
        return {"unknown_below": self.unknown_below}

    def answer(self, images: Sequence[Image], questions: Sequence[Question]) -> list[list[Answer]]:
        """Answer each question about each image.

        Raises:
            InputError: a caption says something else than one attribute of the eight axes.
        """
        import torch

        pixels = np.stack([np.asarray(image.convert("RGB").resize((64, 64))) for image in images])
        batch = torch.from_numpy(pixels).permute(0, 3, 1, 2).float().div(127.5).sub(1.0)
        with torch.no_grad():
            logits = self._model(batch).logits.double().numpy()
        shares = np.empty_like(logits)
        axis_of = [label.partition(":")[0] for label in self._labels]
        for axis in dict.fromkeys(axis_of):
            columns = [index for index, name in enumerate(axis_of) if name == axis]
            weights = np.exp(logits[:, columns] - logits[:, columns].max(axis=1, keepdims=True))
            shares[:, columns] = weights / weights.sum(axis=1, keepdims=True)
        chosen = [self._choose(shares, question) for question in questions]
        return [list(row) for row in zip(*chosen, strict=True)]

    def _choose(self, shares: Any, question: Question) -> list[Answer]:
        rows = shares[:, [self._column(caption, question) for caption in question.captions]]
        if question.choices == ("yes", "no"):
            rows[:, 1] = 1 - rows[:, 0]
        return [
            Answer(row.index(max(row)) if max(row) >= self.unknown_below else None, tuple(row))
            for row in rows.tolist()
        ]

    def _column(self, caption: str, question: Question) -> int:
        if caption in GATE_CAPTIONS:
            return self._labels["person:yes" if caption == GATE_CAPTIONS[0] else "person:no"]
        try:
            ((axis, attribute),) = read_scene(caption).do.items()
            return self._labels[f"{axis}:{attribute}"]
        except (InputError, ValueError, KeyError):
            raise InputError(
                f"{self.spec} only knows the sandbox's eight axes and cannot answer "
                f"'{printable(question.text)}' with '{printable(caption)}'"
            ) from None

    @cached_property
    def _labels(self) -> dict[str, int]:
        names: Mapping[int, str] = self._model.config.id2label
        return {label: index for index, label in names.items()}

    @cached_property
    def _model(self) -> Any:
        with silence_libraries():
            import torch
            from transformers import ResNetForImageClassification

            return ResNetForImageClassification.from_pretrained(
                self.folder, dtype=torch.float32, use_safetensors=True, local_files_only=True
            )
