"""What the middle of a pipeline's denoiser gives while it makes images (BGPS, sec. 3; h-space).

No pipeline's code is copied: its own call runs, with a hook on the denoiser's middle, and is left
behind the last step that is looked at, before anything is decoded. Of a UNet the middle is its mid
block, of a transformer the middle one of its blocks. Each channel is pooled to four means: over the
quarters of the picture, or over four runs of tokens, which are bands from its top to its bottom.

Guidance makes the denoiser work on each image twice, in one batch or in two calls, with and without
the prompt. Which half has the prompt is found out, not assumed: a pass with the prompt in the place
of the negative one tells what it gives.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

from biasgraph.errors import InputError, printable
from biasgraph.models.prompt_trace import DENOISERS, generators, replaced, working

_NEGATIVE = "negative_prompt"


@dataclass(frozen=True)
class MiddleActivations:
    """Of a batch of images.

    Attributes:
        values: (n, steps, d) float32 on the CPU; of each of the d / 4 channels four means.
        steps: The steps that were looked at, from 0; what is given at one depends on the noisy
            image before it.
        of: How many steps the schedule has.
    """

    values: Any
    steps: tuple[int, ...]
    of: int

    def apart(self) -> list[MiddleActivations]:
        """Each image's own."""
        return [replace(self, values=one[None]) for one in self.values]

    @classmethod
    def together(cls, parts: Sequence[MiddleActivations]) -> MiddleActivations:
        """Of all images of several."""
        import torch

        return replace(parts[0], values=torch.cat([part.values for part in parts]))


def examined_steps(of: int, every: int | None) -> tuple[int, ...]:
    """Which steps of a schedule are looked at, the first one among them.

    Args:
        of: How many there are.
        every: Each so many-th; None for about ten in all.
    """
    return tuple(range(0, of, every or max(1, of // 10)))


def watch_middle(
    spec: str,
    pipeline: Any,
    call: Mapping[str, Any],
    prompts: Sequence[str],
    seeds: Sequence[int],
    every: int | None = None,
) -> MiddleActivations:
    """Run a pipeline and keep what its denoiser's middle gives, with the prompt, at some steps.

    Args:
        spec: What the user typed.
        pipeline: Of diffusers, with its weights.
        call: What it is called with beside prompts and generators.
        prompts: One an image.
        seeds: One an image.
        every: As for `examined_steps`.

    Raises:
        InputError: The pipeline has no denoiser with a middle, or none that can be followed.
        ModelError: It fails.
    """
    import torch

    middle = _middle_of(spec, pipeline)

    def run(watcher: _Watcher, images: int, given: Mapping[str, Any]) -> _Watcher:
        try:
            with working(spec), torch.no_grad(), _watched(pipeline, middle, watcher):
                pipeline(
                    **{**call, "prompt": list(prompts[:images]), **given},
                    generator=generators(seeds[:images]),
                )
        except _Enough:
            pass
        finally:  # what the call itself would do in its end
            getattr(pipeline, "maybe_free_model_hooks", lambda: None)()
        if not watcher.kept:
            raise InputError(
                f"{printable(spec)} shows no activations: its pipeline runs without a scheduler "
                "or a denoiser that can be followed step by step"
            )
        return watcher

    alike = None
    if _NEGATIVE in inspect.signature(type(pipeline).__call__).parameters:
        once = run(_Watcher(spec, 1, every, once=True), 1, {_NEGATIVE: [prompts[0]]})
        alike = once.kept[0][0]
    watched = run(_Watcher(spec, len(prompts), every, alike), len(prompts), {})
    steps = examined_steps(watched.of, every)
    return MiddleActivations(torch.stack(watched.kept, dim=1), steps, watched.of)


class _Enough(BaseException):
    """What was to be seen was seen: no error, and nobody's to handle."""


@dataclass
class _Watcher:
    """Pools what the middle gives, and at the end of a step keeps that with the prompt.

    Attributes:
        spec: What the user typed.
        images: How many there are.
        every: As for `examined_steps`.
        alike: (d,) what the first image's prompt gives at the first step, where that is known.
        once: Whether to look at the first step alone.
        kept: (n, d) float32 of each step that was looked at.
        of: How many steps the schedule has, from its first step on.
    """

    spec: str
    images: int
    every: int | None
    alike: Any = None
    once: bool = False
    kept: list[Any] = field(default_factory=list)
    of: int = 0
    _step: int = 0
    _given: list[Any] = field(default_factory=list)
    _place: int = 0

    def see(self, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        """A forward hook of the middle."""
        stream = _image_stream(output, kwargs["hidden_states"] if not args else args[0])
        self._given.append(_pooled(stream).cpu())

    def end(self, scheduler: Any) -> None:
        """Look at a step that is over; raises _Enough after the last one that counts."""
        import torch

        self.of = self.of or len(scheduler.timesteps)
        steps, step = examined_steps(self.of, self.every), self._step
        self._step += 1
        given = torch.cat(self._given) if self._given else torch.empty(0)
        self._given.clear()
        if not len(given) or len(given) % self.images:
            raise InputError(
                f"{printable(self.spec)} shows no activations: its denoiser works on "
                f"{len(given)} images at a time where {self.images} are asked for"
            )
        halves = given.reshape(-1, self.images, given.shape[-1])
        if step == 0:
            self._place = self._with_prompt(halves)
        if step in steps:
            self.kept.append(halves[min(self._place, len(halves) - 1)])
        if self.once or step >= steps[-1]:
            raise _Enough

    def _with_prompt(self, halves: Any) -> int:
        """Which of the (m, n, d) is with the prompt."""
        if len(halves) == 1 or self.once:
            return 0
        if self.alike is None:
            raise InputError(
                f"{printable(self.spec)} shows no activations of its prompts alone: its guidance "
                "mixes them with others, and its pipeline takes no negative prompt to tell them "
                "apart; try --guidance 1"
            )
        return int((halves[:, 0] - self.alike).norm(dim=-1).argmin())


def _pooled(stream: Any) -> Any:
    """(b, 4 c) float32 of (b, c, h, w), or of (b, tokens, c): four means of each channel."""
    from torch.nn.functional import adaptive_avg_pool1d, adaptive_avg_pool2d

    stream = stream.detach().float()
    if stream.ndim == 3:
        return adaptive_avg_pool1d(stream.transpose(1, 2), 4).flatten(1)
    return adaptive_avg_pool2d(stream, 2).flatten(1)


def _image_stream(output: Any, before: Any) -> Any:
    """Of what a block gives, what stands in the place of the `hidden_states` that it was given.

    Blocks with a stream of their own for text give both; diffusers' own order is text first.
    """
    if hasattr(output, "shape"):
        return output
    return [part for part in output if part is not None and part.shape == before.shape][-1]


def _middle_of(spec: str, pipeline: Any) -> Any:
    """The denoiser's middle. Raises InputError."""
    parts = (getattr(pipeline, name, None) for name in DENOISERS)
    denoiser: Any = next(filter(None, parts), None)
    middle = getattr(denoiser, "mid_block", None)
    if middle is not None:
        return middle
    lists = denoiser.named_children() if hasattr(denoiser, "named_children") else ()
    blocks = [
        block
        for name, part in lists
        if re.search("(blocks|layers)$", name) and type(part).__name__ == "ModuleList"
        for block in part
    ]
    if not blocks or hasattr(denoiser, "up_blocks"):
        raise InputError(
            f"{printable(spec)} shows no activations: they are taken from the mid block of a UNet "
            "or the middle block of a transformer, and its pipeline has neither"
        )
    return blocks[(len(blocks) - 1) // 2]


@contextmanager
def _watched(pipeline: Any, middle: Any, watcher: _Watcher) -> Iterator[None]:
    """The pipeline with a watcher that sees its middle, and where the scheduler's steps end."""
    scheduler = getattr(pipeline, "scheduler", None)
    with ExitStack() as stack:
        hook = middle.register_forward_hook(watcher.see, with_kwargs=True)
        stack.callback(hook.remove)
        if scheduler is not None:
            stack.enter_context(replaced(scheduler, "step", _ending(scheduler.step, watcher)))
        yield


def _ending(own: Callable[..., Any], watcher: _Watcher) -> Callable[..., Any]:
    """A scheduler's step that tells a watcher; pipelines look which parameters the own one has."""

    @wraps(own)
    def step(*args: Any, **kwargs: Any) -> Any:
        watcher.end(own.__self__)  # type: ignore[attr-defined]
        return own(*args, **kwargs)

    return step
