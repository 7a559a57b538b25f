"""One training loop for every part: seeded batches, checkpoints, progress."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch
    from torch import nn

CHECKPOINT_SECONDS = 120.0


@dataclass(frozen=True)
class Schedule:
    """How a part is trained.

    Attributes:
        steps: optimiser steps in all.
        batch: pictures a step.
        rate: the peak learning rate, reached after ``warmup`` steps, cosine to zero.
        ema: decay of the averaged weights, or 0 for none.
        seed: batch ``s`` depends on (seed, s) alone, so a resumed run draws the same batches.
    """

    steps: int
    batch: int
    rate: float
    seed: int
    warmup: int = 200
    ema: float = 0.0
    decay: float = 0.01


def fit(
    part: str,
    module: nn.Module,
    loss: Callable[[np.random.Generator], torch.Tensor],
    schedule: Schedule,
    work: Path,
) -> None:
    """Train ``module`` in place, resuming from ``work/part.pt`` if it exists.

    The module holds the averaged weights at the end if the schedule asks for them.

    Args:
        part: the name of the part, for its checkpoint and the progress bar.
        module: what is trained.
        loss: draws a batch with the given generator and returns its loss, a scalar tensor.
        schedule: steps, batch, rate and seed.
        work: the folder of checkpoints.
    """
    import torch
    from diffusers.training_utils import EMAModel
    from tqdm import tqdm

    parameters = list(module.parameters())
    optimiser = torch.optim.AdamW(
        parameters, lr=schedule.rate, weight_decay=schedule.decay, betas=(0.9, 0.99)
    )
    average = EMAModel(parameters, decay=schedule.ema)
    kept = {"module": module, "optimiser": optimiser, "average": average}
    checkpoint, done = work / f"{part}.pt", 0
    if checkpoint.exists():
        stored = torch.load(checkpoint, weights_only=True)
        done = stored["step"]
        for name, each in kept.items():
            each.load_state_dict(stored[name])
    saved = time.monotonic()
    module.train()
    steps = tqdm(range(done, schedule.steps), part, schedule.steps, initial=done, mininterval=10)
    for step in steps:
        for group in optimiser.param_groups:
            group["lr"] = schedule.rate * _pace(step, schedule)
        torch.manual_seed(schedule.seed * 1_000_003 + step)
        value = loss(np.random.default_rng([schedule.seed, step]))
        optimiser.zero_grad()
        value.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        average.step(parameters)
        steps.set_postfix(loss=float(value.detach()), refresh=False)
        if time.monotonic() - saved > CHECKPOINT_SECONDS or step == schedule.steps - 1:
            partial = checkpoint.with_suffix(".partial")
            states = {name: each.state_dict() for name, each in kept.items()}
            torch.save({**states, "step": step + 1}, partial)
            partial.replace(checkpoint)
            saved = time.monotonic()
    average.copy_to(parameters)
    module.eval()


def _pace(step: int, schedule: Schedule) -> float:
    if step < schedule.warmup:
        return (step + 1) / schedule.warmup
    along = (step - schedule.warmup) / max(1, schedule.steps - schedule.warmup)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, along)))
