"""The second judge: a small ResNet with one softmax an axis, of another architecture and seed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biasgraph.sandbox.training.clip_training import pixels, roughen
from biasgraph.sandbox.training.data import NOBODY, Drawings
from biasgraph.sandbox.training.loop import Report, Schedule, fit
from biasgraph.sandbox.world import AXES

if TYPE_CHECKING:
    import torch
    from transformers import ResNetForImageClassification

SCHEDULE = Schedule(steps=2000, batch=64, rate=3e-3, seed=15, warmup=100, ema=0.99)

LABELS = (
    *(f"{axis}:{value}" for axis, values in AXES.items() for value in values),
    "person:yes",
    "person:no",
)
"""The classifier's outputs: a softmax over the labels that share a name before the colon."""


def train_judge2(
    pictures: Drawings, work: Path, report: Report | None = None
) -> ResNetForImageClassification:
    """Train on drawings, blurred and noised."""
    import torch
    from torch.nn import functional
    from transformers import ResNetConfig, ResNetForImageClassification

    torch.manual_seed(SCHEDULE.seed)
    model = ResNetForImageClassification(
        ResNetConfig(
            embedding_size=24,
            hidden_sizes=[24, 48, 96],
            depths=[1, 1, 1],
            layer_type="basic",
            num_labels=len(LABELS),
            id2label=dict(enumerate(LABELS)),
        )
    )
    sizes = [*(len(values) for values in AXES.values()), 2]

    def loss(rng: np.random.Generator) -> torch.Tensor:
        rows = rng.integers(len(pictures), size=SCHEDULE.batch)
        logits = model(roughen(pixels(pictures.images[rows]), rng)).logits.split(sizes, dim=1)
        present = torch.from_numpy(pictures.occupation[rows] != NOBODY)
        total = functional.cross_entropy(logits[-1], (~present).long())
        for truth, table in zip(pictures.shown[rows].T, logits[:-1], strict=True):
            total = total + functional.cross_entropy(
                table[present], torch.from_numpy(truth)[present]
            )
        return total

    fit("judge2", model, loss, SCHEDULE, work, report)
    return model
