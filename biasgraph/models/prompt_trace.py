"""A pipeline's run, recorded, and each of its steps run again with gradients to the prompt.

No pipeline's code is copied: its own call runs, with its own guidance, decoding and all.  While it
runs once, the outputs of its text encoders and of its denoiser are kept.  To look at a step, the
call runs again with gradients on: text encoders and all other steps give what was kept, the
denoiser works at this step alone, and the scheduler gives the clean latents that the step predicts,
which the pipeline decodes.  One step's graph is in memory at a time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any

from biasgraph.errors import InputError, printable
from biasgraph.models.library_loading import explain_working_errors, silence_libraries
from biasgraph.models.prompt_encodings import EncodingCache
from biasgraph.models.scheduled_steps import clean_latents, previous_sample, with_sample
from biasgraph.models.token_spans import Span, find_tokens

DENOISERS = ("unet", "transformer")


@dataclass(frozen=True)
class EncodedPrompt:
    """One image's row of what a text encoder gave.

    Attributes:
        encoder: Its name in the pipeline.
        call: Which of the recorded calls of text encoders.
        row: Its row there.
        spans: The characters of the prompt behind each of its tokens.
        places: The places of these tokens in the row.
    """

    encoder: str
    call: int
    row: int
    spans: tuple[Span, ...]
    places: tuple[int, ...]


@dataclass
class _Recording:
    """What a run left behind.

    Attributes:
        encoded: Of each call of a text encoder its name, token ids and output.
        denoised: What each call of the denoiser gave.
        ends: After each step of the scheduler, how many calls of the denoiser there had been.
    """

    encoded: list[tuple[str, Any, Any]] = field(default_factory=list)
    denoised: list[Any] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class PromptTrace:
    """A batch of images as a pipeline made them, step by step.

    Attributes:
        spec: What the user typed.
        pipeline: Of diffusers.
        call: What it was called with, less the generators.
        seeds: One an image.
        prompts: One an image.
        images: (n, 3, h, w) float32 in [0, 1], as they came out.
    """

    spec: str
    pipeline: Any
    call: Mapping[str, Any]
    seeds: Sequence[int]
    prompts: Sequence[str]
    images: Any
    _recording: _Recording
    _leaves: list[tuple[int, Any]] = field(default_factory=list)

    @classmethod
    def record(
        cls,
        spec: str,
        pipeline: Any,
        call: Mapping[str, Any],
        prompts: Sequence[str],
        seeds: Sequence[int],
    ) -> PromptTrace:
        """Make the images and keep what is needed to run each step again.

        Args:
            spec: What the user typed.
            pipeline: Of diffusers, with its weights.
            call: What it is called with beside prompts and generators.
            prompts: One an image.
            seeds: One an image.

        Raises:
            InputError: The pipeline has no denoiser, text encoder or scheduler that can be
                followed.
            ModelError: It fails.
        """
        recording = _Recording()
        given = {**call, "prompt": list(prompts), "output_type": "pt"}
        with working(spec), _follow(pipeline, _Recorder(recording)):
            images = pipeline(**given, generator=generators(seeds)).images
        if not (recording.encoded and recording.denoised and recording.ends):
            raise InputError(
                f"{printable(spec)} gives no gradients: its pipeline runs without a text encoder, "
                "a denoiser or a scheduler that can be followed step by step"
            )
        return cls(spec, pipeline, given, seeds, prompts, images.detach().float(), recording)

    @property
    def steps(self) -> int:
        """The steps of the scheduler."""
        return len(self._recording.ends)

    @cached_property
    def encodings(self) -> list[list[EncodedPrompt]]:
        """For each image, its prompt's row in each text encoder that reads it.

        Raises:
            InputError: A text encoder reads the prompt in another form.
        """
        rows: dict[str, list[EncodedPrompt]] = {}
        tokenizers = {
            name: tokenizer_of(self.pipeline, name) for name in encoders_of(self.pipeline)
        }
        for call, (name, ids, _) in enumerate(self._recording.encoded):
            for row, tokens in enumerate(ids.tolist()):
                own = rows.setdefault(name, [])
                if len(own) == len(self.prompts):
                    continue
                found = find_tokens(tokenizers[name], self.prompts[len(own)], tokens)
                if found is not None:
                    own.append(EncodedPrompt(name, call, row, *found))
        for name, own in rows.items():
            if len(own) < len(self.prompts):
                raise InputError(
                    f"cannot tell the words of '{printable(self.prompts[len(own)][:80])}' apart in "
                    f"what {name} of {printable(self.spec)} reads"
                )
        return [[own[image] for own in rows.values()] for image in range(len(self.prompts))]

    def predict(self, step: int, *, noisy: bool = False) -> Any:
        """The clean images that a step predicts, with gradients to the encoded prompts.

        Args:
            step: From 0.
            noisy: Decode the next noisy latents instead.

        Returns:
            (n, 3, h, w) in [0, 1], float32 at least.

        Raises:
            InputError: The pipeline's embeddings take no gradient, or its scheduler's clean image
                is not known.
        """
        import torch

        self._leaves.clear()
        call = undecorate(self.pipeline)
        replayer = _Replayer(self._recording, step, noisy, self._leaves)
        with torch.enable_grad(), working(self.spec), _follow(self.pipeline, replayer):
            images = call(self.pipeline, **self.call, generator=generators(self.seeds)).images
        if not (torch.is_tensor(images) and images.requires_grad):
            raise InputError(
                f"{printable(self.spec)} gives no gradients: its pipeline cuts the way from the "
                "prompt's embeddings to the image"
            )
        return images.to(torch.promote_types(images.dtype, torch.float32))

    def gradients(self, losses: Sequence[Any]) -> list[list[list[Any]]]:
        """Gradients of losses of the images predicted last, to the embeddings of their prompts.

        Args:
            losses: Each (n,), one number an image.

        Returns:
            For each loss and image a pair of (tokens, d) tensors, gradient and embedding, for each
            of its `encodings`; None where a text encoder's tokens reach the image only through
            vectors of the whole prompt.
        """
        import torch

        leaves = [leaf for _, leaf in self._leaves]
        every = []
        for place, loss in enumerate(losses):
            more = place + 1 < len(losses)
            grads = torch.autograd.grad(loss.sum(), leaves, retain_graph=more, allow_unused=True)
            by_call: dict[int, tuple[Any, Any]] = {}
            for (call, leaf), grad in zip(self._leaves, grads, strict=True):
                if grad is not None and grad.any():
                    before = by_call[call][0] if call in by_call else 0
                    by_call[call] = (before + grad.float(), leaf.detach().float())
            every.append([[_rows(by_call, one) for one in own] for own in self.encodings])
        return every


def _rows(by_call: Mapping[int, tuple[Any, Any]], encoded: EncodedPrompt) -> Any:
    if encoded.call not in by_call:
        return None
    places = list(encoded.places)
    return tuple(tensor[encoded.row, places] for tensor in by_call[encoded.call])


def undecorate(pipeline: Any) -> Callable[..., Any]:
    """A pipeline's call, of which it is the first argument, without its torch.no_grad."""
    call: Callable[..., Any] = type(pipeline).__call__
    return getattr(call, "__wrapped__", call)


def freeze(pipeline: Any) -> None:
    """Let no gradient be kept for weights."""
    for part in pipeline.components.values():
        if hasattr(part, "requires_grad_"):
            part.requires_grad_(False)


def generators(seeds: Sequence[int]) -> list[Any]:
    """One an image, on the CPU: the same noise on every device."""
    import torch

    return [torch.Generator().manual_seed(seed) for seed in seeds]


def encoders_of(pipeline: Any) -> dict[str, Any]:
    """The text encoders by their names, the first one first."""
    return {
        name: part
        for name, part in sorted(pipeline.components.items())
        if name.startswith("text_encoder") and hasattr(part, "forward")
    }


def tokenizer_of(pipeline: Any, encoder: str) -> Any:
    """A text encoder's own; None where it has none."""
    return getattr(pipeline, encoder.replace("text_encoder", "tokenizer"), None)


@dataclass
class _Recorder:
    """Notes what text encoders, denoiser and scheduler give."""

    kept: _Recording

    def encode(self, name: str, own: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        made = own(*args, **kwargs)
        ids = kwargs["input_ids"] if "input_ids" in kwargs else args[0]
        self.kept.encoded.append((name, ids.detach(), _each(made, lambda tensor: tensor.detach())))
        return made

    def denoise(self, own: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        made = own(*args, **kwargs)
        self.kept.denoised.append(_each(made, lambda tensor: tensor.detach()))
        return made

    def step(self, scheduler: Any, own: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        self.kept.ends.append(len(self.kept.denoised))
        return own(*args, **kwargs)


@dataclass
class _Replayer:
    """Gives what was noted, but works at one step with gradients."""

    kept: _Recording
    step_at: int
    noisy: bool
    leaves: list[tuple[int, Any]]
    _encoded: int = 0
    _denoised: int = 0
    _steps: int = 0

    def encode(self, name: str, own: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        call = self._encoded
        self._encoded += 1
        _, ids, made = self.kept.encoded[call]

        def leaf(tensor: Any) -> Any:
            if not tensor.is_floating_point() or tensor.shape[:2] != ids.shape:
                return tensor
            copy = tensor.clone().requires_grad_(True)
            self.leaves.append((call, copy))
            return copy

        return _each(made, leaf)

    def denoise(self, own: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        call = self._denoised
        self._denoised += 1
        first = self.kept.ends[self.step_at - 1] if self.step_at else 0
        if first <= call < self.kept.ends[self.step_at]:
            return own(*args, **kwargs)
        return self.kept.denoised[call]

    def step(self, scheduler: Any, own: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        import torch

        step = self._steps
        self._steps += 1
        bound = inspect.signature(own).bind(*args, **kwargs).arguments
        if step > self.step_at:
            return with_sample(bound["sample"], bound)
        if step == self.step_at:
            if self.noisy:
                return own(*args, **kwargs)
            return with_sample(clean_latents(scheduler, own, bound), bound)
        with torch.no_grad():
            return with_sample(previous_sample(own(*args, **kwargs)), bound)


@contextmanager
def working(spec: str) -> Iterator[None]:
    """A pipeline's own call: quiet, its errors in one line."""
    with explain_working_errors(spec), silence_libraries():
        yield


@contextmanager
def _follow(pipeline: Any, follower: _Recorder | _Replayer) -> Iterator[None]:
    """The pipeline with its text encoders, denoiser and scheduler called by way of a follower."""
    denoiser = next((part for name in DENOISERS if (part := getattr(pipeline, name, None))), None)
    scheduler = getattr(pipeline, "scheduler", None)
    with ExitStack() as stack:
        remembered = getattr(pipeline, "encode_prompt", None)
        if isinstance(remembered, EncodingCache):
            stack.enter_context(exchange(pipeline, "encode_prompt", remembered.encode))
        for name in ("safety_checker", "watermark"):  # they look at pixels outside the graph
            if getattr(pipeline, name, None) is not None:
                stack.enter_context(exchange(pipeline, name, None))
        freeze(pipeline)
        for name, encoder in encoders_of(pipeline).items():
            own = encoder.forward
            stack.enter_context(exchange(encoder, "forward", by(follower.encode, name, own)))
        if denoiser is not None:
            own = denoiser.forward
            stack.enter_context(exchange(denoiser, "forward", by(follower.denoise, own)))
        if scheduler is not None:
            own = scheduler.step
            stack.enter_context(exchange(scheduler, "step", by(follower.step, scheduler, own)))
        yield


def by(follow: Callable[..., Any], *first: Any) -> Callable[..., Any]:
    """A function that a follower answers; pipelines look which parameters the own one has."""

    @wraps(first[-1])
    def call(*args: Any, **kwargs: Any) -> Any:
        return follow(*first, args, kwargs)

    return call


@contextmanager
def exchange(owner: Any, name: str, value: Any) -> Iterator[None]:
    """An attribute exchanged for a while."""
    had = name in vars(owner)
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if had:
            setattr(owner, name, before)
        else:
            delattr(owner, name)


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """An output of a model with each tensor changed."""
    import torch

    if torch.is_tensor(value):
        return change(value)
    if isinstance(value, Mapping):  # an output of transformers or diffusers, too
        return type(value)(**{name: _each(part, change) for name, part in value.items()})
    if isinstance(value, list | tuple):
        return type(value)(_each(part, change) for part in value)
    return value
