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
from functools import cached_property, wraps
from typing import Any, Protocol

from biasgraph.errors import InputError, printable
from biasgraph.models.prompt_trace import (
    DENOISERS,
    exchange,
    generators,
    undecorate,
    working,
)

_NEGATIVE = "negative_prompt"


@dataclass(frozen=True)
class MiddleActivations:
    """Of a batch of images.

    Attributes:
        values: (n, steps, d) float32 on the CPU; of each of the d / 4 channels four means.
        steps: The steps that were looked at, from 0; what is given at one depends on the noisy
            image before it.
        of: How many steps the schedule has.
        passes: How many rows went through the denoiser; of each image and step, one with the
            prompt and with guidance one without.
    """

    values: Any
    steps: tuple[int, ...]
    of: int
    passes: int = 0

    def apart(self) -> list[MiddleActivations]:
        """Each image's own."""
        each = self.passes // max(1, len(self.values))
        return [replace(self, values=one[None], passes=each) for one in self.values]

    @classmethod
    def together(cls, parts: Sequence[MiddleActivations]) -> MiddleActivations:
        """Of all images of several."""
        import torch

        values, passes = torch.cat([part.values for part in parts]), sum(p.passes for p in parts)
        return replace(parts[0], values=values, passes=passes)


def examined_steps(of: int, every: int | None) -> tuple[int, ...]:
    """Which steps of a schedule are looked at, the first one among them.

    Args:
        of: How many there are.
        every: Each so many-th; None for about ten in all.
    """
    return tuple(range(0, of, every or max(1, of // 10)))


@dataclass(frozen=True)
class ObservedPipeline:
    """A pipeline whose denoiser's middle is looked at.

    Attributes:
        spec: What the user typed.
        pipeline: Of diffusers, with its weights.
        call: What it is called with beside prompts and generators.
        negative: The negative prompt of every image.
    """

    spec: str
    pipeline: Any
    call: Mapping[str, Any]
    negative: str | None = None

    def look(
        self,
        prompts: Sequence[str],
        seeds: Sequence[int],
        wanted: Callable[[int], tuple[int, ...]],
    ) -> MiddleActivations:
        """Run the pipeline and keep what the middle gives, with the prompt, at some steps.

        Args:
            prompts: One an image.
            seeds: One an image.
            wanted: The steps to look at, ascending, from how many the schedule has.

        Raises:
            InputError: The pipeline has no denoiser with a middle, none that can be followed, or
                not such steps.
            ModelError: It fails.
        """
        import torch

        watcher = _Watcher(self.spec, len(prompts), wanted)
        place = self.guidance.place
        self.run(watcher, prompts, seeds)
        with_prompt = [halves[min(place, len(halves) - 1)] for halves in watcher.kept]
        values = torch.stack(with_prompt, dim=1)
        return MiddleActivations(values, wanted(watcher.of), watcher.of, watcher.passes)

    @cached_property
    def guidance(self) -> Guidance:
        """Which of a denoiser's rows have the prompt.

        Found out once, at the first step of one image: its pass is made, and where guidance makes
        more than one half of it another one with the prompt in the place of the negative one. These
        rows, five at most, are in no count of passes.

        Raises:
            InputError: The halves cannot be told apart.
            ModelError: The pipeline fails.
        """
        prompt = f"a photo of {self.negative or 'a person'}"
        plain = _Watcher(self.spec, 1, lambda of: (0,))
        self.run(plain, [prompt], [0])
        halves = plain.kept[0][:, 0]
        place = 0
        if len(halves) > 1:
            if _NEGATIVE not in inspect.signature(type(self.pipeline).__call__).parameters:
                raise InputError(
                    f"{printable(self.spec)} shows no activations of its prompts alone: its "
                    "guidance mixes them with others, and its pipeline takes no negative prompt to "
                    "tell them apart; try --guidance 1"
                )
            alike = _Watcher(self.spec, 1, lambda of: (0,))
            self.run(alike, [prompt], [0], {_NEGATIVE: [prompt]})
            place = int((halves - alike.kept[0][0]).norm(dim=-1).argmin())
        of_call = [call for call, rows in enumerate(plain.calls) for _ in range(rows)]
        call = of_call[place]
        return Guidance(place, call, place - of_call.index(call), halves.shape[-1])

    def run(
        self,
        watcher: Watcher,
        prompts: Sequence[str],
        seeds: Sequence[int],
        given: Mapping[str, Any] | None = None,
        *,
        gradients: bool = False,
    ) -> None:
        """Call the pipeline until the watcher has seen enough.

        Args:
            watcher: What looks on.
            prompts: One an image.
            seeds: One an image.
            given: More to call it with.
            gradients: Whether to keep what gradients need.

        Raises:
            InputError: The pipeline has no denoiser with a middle, or none that can be followed.
            ModelError: It fails.
        """
        import torch

        negatives = {} if self.negative is None else {_NEGATIVE: [self.negative] * len(prompts)}
        told = {**self.call, **negatives, "prompt": list(prompts), **(given or {})}
        try:
            with working(self.spec), torch.set_grad_enabled(gradients), self.watch(watcher):
                undecorate(self.pipeline)(self.pipeline, **told, generator=generators(seeds))
        except Enough:
            return
        finally:
            self.release()
        raise InputError(
            f"{printable(self.spec)} shows no activations: its pipeline runs without a scheduler "
            "or a denoiser that can be followed step by step"
        )

    @contextmanager
    def watch(self, watcher: Watcher) -> Iterator[None]:
        """The pipeline with a watcher of its middle and of where the scheduler's steps end."""
        scheduler = getattr(self.pipeline, "scheduler", None)
        with ExitStack() as stack:
            hook = self._middle.register_forward_hook(watcher.see, with_kwargs=True)
            stack.callback(hook.remove)
            if scheduler is not None:
                step = _ending(scheduler.step, watcher)
                stack.enter_context(exchange(scheduler, "step", step))
            yield

    def release(self) -> None:
        """Do what a call of the pipeline would do in its end."""
        getattr(self.pipeline, "maybe_free_model_hooks", lambda: None)()

    @property
    def denoiser(self) -> Any:
        """The module; None where there is none."""
        parts = (getattr(self.pipeline, name, None) for name in DENOISERS)
        return next(filter(None, parts), None)

    @cached_property
    def _middle(self) -> Any:
        return _middle_of(self.spec, self.denoiser)


@dataclass(frozen=True)
class Guidance:
    """Which rows of a denoiser have the prompt.

    Attributes:
        place: Which of the halves of a step, all its calls together.
        call: Which of the step's calls of the denoiser.
        half: Which of the halves of this call.
        width: d, the length of pooled activations.
    """

    place: int
    call: int
    half: int
    width: int


class Watcher(Protocol):
    """What looks on while a pipeline runs."""

    def see(self, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        """A forward hook of the middle."""

    def end(self, scheduler: Any) -> None:
        """A step of the scheduler begins: the denoiser's work on it is over."""


class Enough(BaseException):
    """What was to be seen was seen: no error, and nobody's to handle."""


@dataclass
class _Watcher:
    """Pools what the middle gives, and keeps that at the ends of some steps.

    Attributes:
        spec: What the user typed.
        images: How many there are.
        wanted: The steps to look at, from how many the schedule has.
        kept: (halves, n, d) float32 of each step that was looked at.
        calls: How many halves each call of the denoiser worked on at the first step.
        of: How many steps the schedule has, from its first step on.
        passes: How many rows went through the middle.
    """

    spec: str
    images: int
    wanted: Callable[[int], tuple[int, ...]]
    kept: list[Any] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    of: int = 0
    passes: int = 0
    _step: int = 0
    _given: list[Any] = field(default_factory=list)

    def see(self, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        """A forward hook of the middle."""
        seen = pool_channels(output, args, kwargs).cpu()
        self.passes += len(seen)
        self._given.append(seen)

    def end(self, scheduler: Any) -> None:
        """Look at a step that is over; raises Enough after the last one that counts."""
        import torch

        self.of = self.of or len(scheduler.timesteps)
        steps, step = self.wanted(self.of), self._step
        refuse_absent_steps(self.spec, steps, self.of)
        self._step += 1
        rows = [len(given) for given in self._given]
        if not sum(rows) or sum(rows) % self.images:
            raise InputError(
                f"{printable(self.spec)} shows no activations: its denoiser works on "
                f"{sum(rows)} images at a time where {self.images} are asked for"
            )
        self.calls = self.calls or [count // self.images for count in rows]
        if step in steps:
            given = torch.cat(self._given)
            self.kept.append(given.reshape(-1, self.images, given.shape[-1]))
        self._given.clear()
        if step >= steps[-1]:
            raise Enough


def refuse_absent_steps(spec: str, steps: Sequence[int], of: int) -> None:
    """Raise InputError for steps that a schedule of so many has not."""
    for step in steps:
        if not 0 <= step < of:
            raise InputError(
                f"{printable(spec)} has no step {step} to look at: its schedule has the steps "
                f"0 to {of - 1}"
            )


def pool_channels(output: Any, args: Any, kwargs: Any) -> Any:
    """What a middle gives, as four means of each channel.

    Args:
        output: Of the middle; (b, c, h, w), or (b, tokens, c).
        args: What it was called with by place.
        kwargs: What it was called with by name.

    Returns:
        (b, 4 c) float32.
    """
    import torch
    from torch.nn.functional import adaptive_avg_pool1d, adaptive_avg_pool2d

    stream = _image_stream(output, kwargs["hidden_states"] if not args else args[0]).float()
    if stream.ndim == 4:
        return adaptive_avg_pool2d(stream, 2).flatten(1)
    mask = _mask_of(stream, [*args, *kwargs.values()])
    if mask is None:
        return adaptive_avg_pool1d(stream.transpose(1, 2), 4).flatten(1)
    rows = [row[own].T for row, own in zip(stream, mask, strict=True)]
    return torch.stack([adaptive_avg_pool1d(row, 4).flatten() for row in rows])


def _mask_of(stream: Any, given: Sequence[Any]) -> Any:
    """(b, tokens) which tokens of a stream are no padding; None where none is.

    Blocks whose stream holds the text, too (Z-Image), fill it up to the longest prompt of a batch.
    """
    import torch

    masks = (
        one
        for one in given
        if getattr(one, "dtype", None) == torch.bool and one.shape == stream.shape[:2]
    )
    return next(masks, None)


def _image_stream(output: Any, before: Any) -> Any:
    """Of what a block gives, what stands in the place of the `hidden_states` that it was given.

    Blocks with a stream of their own for text give both; diffusers' own order is text first.
    """
    if hasattr(output, "shape"):
        return output
    return [part for part in output if part is not None and part.shape == before.shape][-1]


def _middle_of(spec: str, denoiser: Any) -> Any:
    """A denoiser's middle. Raises InputError."""
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


def _ending(own: Callable[..., Any], watcher: Watcher) -> Callable[..., Any]:
    """A scheduler's step that tells a watcher; pipelines look which parameters the own one has."""

    @wraps(own)
    def step(*args: Any, **kwargs: Any) -> Any:
        watcher.end(own.__self__)  # type: ignore[attr-defined]
        return own(*args, **kwargs)

    return step
