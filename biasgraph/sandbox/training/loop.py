"""One training loop for every part: seeded batches, checkpoints, progress."""

from __future__ import annotations

import json
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
    """Train ``module`` in place, resuming from ``work/part.safetensors`` if it is there.

    Args:
        loss: draws a batch with the given generator and returns its loss, a scalar tensor.

    The module holds the averaged weights at the end if the schedule asks for them.
    """
    import torch

    parameters: list[torch.Tensor] = list(module.parameters())
    optimiser = torch.optim.AdamW(
        parameters, lr=schedule.rate, weight_decay=schedule.decay, betas=(0.9, 0.99)
    )
    average = [parameter.detach().clone() for parameter in parameters] if schedule.ema else []
    done = _resume(work / f"{part}.safetensors", module, optimiser, average)
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
            _save(work / f"{part}.safetensors", step + 1, module, optimiser, average)
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
    from safetensors.torch import save_file

    tensors = {f"module.{name}": value for name, value in module.state_dict().items()}
    for index, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{index}.{name}": value for name, value in state.items()}
    tensors |= {f"average.{index}": value for index, value in enumerate(average)}
    tensors = {name: value.detach().clone().contiguous() for name, value in tensors.items()}
    partial = path.with_suffix(".partial")
    save_file(tensors, partial, metadata={"biasgraph": json.dumps({"step": step})})
    partial.replace(path)


def _resume(path: Path, module: nn.Module, optimiser: Any, average: list[Any]) -> int:
    from safetensors import safe_open

    if not path.exists():
        return 0
    with safe_open(path, framework="pt") as stored:
        step = int(json.loads(stored.metadata()["biasgraph"])["step"])
        tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
    module.load_state_dict(
        {n.removeprefix("module."): t for n, t in tensors.items() if n.startswith("module.")}
    )
    state: dict[int, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimiser."):
            _, index, key = name.split(".")
            state.setdefault(int(index), {})[key] = tensor
    if state:
        groups = optimiser.state_dict()["param_groups"]
        optimiser.load_state_dict({"state": state, "param_groups": groups})
    for index in range(len(average)):
        average[index].copy_(tensors[f"average.{index}"])
    return step
