"""One training loop for every part: seeded batches, checkpoints, progress."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch
    from torch import nn

Report = Callable[[str, int, int, float], None]
"""Called with (part, steps done, steps in all, loss averaged since the last call)."""

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
    report: Report | None = None,
) -> None:
    """Train ``module`` in place, resuming from ``work/part.pt`` if it exists.

    The module holds the averaged weights at the end if the schedule asks for them.

    Args:
        part: the name of the part, for its checkpoint and the report.
        module: what is trained.
        loss: draws a batch with the given generator and returns its loss, a scalar tensor.
        schedule: steps, batch, rate and seed.
        work: the folder of checkpoints.
        report: called every 50 steps.
    """
    import torch

    parameters: list[torch.Tensor] = list(module.parameters())
    optimiser = torch.optim.AdamW(
        parameters, lr=schedule.rate, weight_decay=schedule.decay, betas=(0.9, 0.99)
    )
    average = [parameter.detach().clone() for parameter in parameters] if schedule.ema else []
    done = _resume(work / f"{part}.pt", module, optimiser, average)
    saved, losses = time.monotonic(), []
    module.train()
    for step in range(done, schedule.steps):
        for group in optimiser.param_groups:
            group["lr"] = schedule.rate * _pace(step, schedule)
        torch.manual_seed(schedule.seed * 1_000_003 + step)
        value = loss(np.random.default_rng([schedule.seed, step]))
        optimiser.zero_grad(set_to_none=True)
        value.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        if average:
            torch._foreach_lerp_(
                average, parameters, 1 - min(schedule.ema, (step + 1) / (step + 10))
            )
        losses.append(float(value.detach()))
        last = step == schedule.steps - 1
        if time.monotonic() - saved > CHECKPOINT_SECONDS or last:
            _save(work / f"{part}.pt", step + 1, module, optimiser, average)
            saved = time.monotonic()
        if report and ((step + 1) % 50 == 0 or last):
            report(part, step + 1, schedule.steps, float(np.mean(losses)))
            losses.clear()
    if average:
        with torch.no_grad():
            for parameter, mean in zip(parameters, average, strict=True):
                parameter.copy_(mean)
    module.eval()


def _pace(step: int, schedule: Schedule) -> float:
    if step < schedule.warmup:
        return (step + 1) / schedule.warmup
    along = (step - schedule.warmup) / max(1, schedule.steps - schedule.warmup)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, along)))


def _save(path: Path, step: int, module: nn.Module, optimiser: Any, average: list[Any]) -> None:
    import torch

    state = {"module": module.state_dict(), "optimiser": optimiser.state_dict()}
    partial = path.with_suffix(".partial")
    torch.save({**state, "average": average, "step": step}, partial)
    partial.replace(path)


def _resume(path: Path, module: nn.Module, optimiser: Any, average: list[Any]) -> int:
    """Load a checkpoint into the module, the optimiser and the averages; returns its steps."""
    import torch

    if not path.exists():
        return 0
    stored = torch.load(path, weights_only=True)
    module.load_state_dict(stored["module"])
    optimiser.load_state_dict(stored["optimiser"])
    for mean, tensor in zip(average, stored["average"], strict=True):
        mean.copy_(tensor)
    return int(stored["step"])
