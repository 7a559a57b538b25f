"""Noisy latents that many prompts are tried on: what the middle gives of each, for one pass each.

To follow a prompt by itself, images are denoised with it from their noise on. BGPS's released code
does that once, with a neutral prompt, up to a step T', and then looks with a single pass, with the
prompt alone, at each candidate and latent (BGPS, sec. 3, app. A).

No pipeline's code is copied. Its own call runs on the neutral prompt, and what the denoiser is
given at step T' is kept. What is not as it was at the first step and with other noise is the state:
noisy latents, time. All else is the condition, and is taken from the pipeline's own call on each
candidate, which is left before the denoiser works. A pass calls the denoiser itself with the state
of a latent and the condition of a candidate, and is left behind the middle.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from biasgraph.errors import InputError, printable
from biasgraph.models.denoiser_arguments import Call, Form, Path, Unlike, is_same
from biasgraph.models.middle_activations import (
    Enough,
    ObservedPipeline,
    pool_channels,
    refuse_absent_steps,
)
from biasgraph.models.prompt_encodings import EncodingCache
from biasgraph.models.prompt_trace import by, exchange, working

if TYPE_CHECKING:
    from biasgraph.models.devices import Portions


@dataclass(frozen=True)
class Condition:
    """What a denoiser is given of one prompt beside the state.

    Attributes:
        prompt: The prompt.
        given: The arguments, the prompt's own in main memory.
        key: Conditions with the same one fit into one batch.
    """

    prompt: str
    given: Mapping[Path, Any] = field(repr=False)
    key: Hashable = field(repr=False)


@dataclass
class SharedLatents:
    """Noisy latents of K seeds, denoised to a step with a neutral prompt.

    Attributes:
        observed: The pipeline.
        portions: How many images go through it at a time.
        prompt: The neutral prompt.
        seeds: One a latent.
        step: T', from 0: the steps before it are done.
        passes: How many rows went through the denoiser, those of the making included: K * T', with
            guidance twice as many, and then one for each pair.
    """

    observed: ObservedPipeline
    portions: Portions
    prompt: str
    seeds: tuple[int, ...]
    step: int
    passes: int = 0
    _form: Form = field(init=False, repr=False)
    _call: Call = field(init=False, repr=False)
    _rows: list[dict[Path, Any]] = field(init=False, repr=False)
    _first: dict[Path, Any] = field(init=False, repr=False)

    @classmethod
    def of(
        cls,
        observed: ObservedPipeline,
        portions: Portions,
        prompt: str,
        seeds: Sequence[int],
        step: int,
    ) -> SharedLatents:
        """Denoise the latents.

        Args:
            observed: The pipeline.
            portions: How many images go through it at a time.
            prompt: The neutral prompt.
            seeds: One a latent.
            step: T', from 0.

        Raises:
            InputError: The pipeline has no such step, or what its denoiser is given cannot be taken
                apart into prompt and state.
            ModelError: It fails.
        """
        made = cls(observed, portions, prompt, tuple(seeds), step)
        one, made._call = made._caught([prompt]), made._caught([prompt] * 2)
        made._form = Form.of(observed.spec, observed.guidance.half, one, made._call)
        first = made._form.rows(one, 1)[0]
        made._rows = portions.run(made.seeds, made._denoise)
        here = made._rows[0]
        made._first = {
            path: value for path, value in first.items() if not is_same(value, here[path])
        }
        return made

    def encode(self, prompts: Sequence[str]) -> list[Condition]:
        """What the denoiser is given of prompts; text encoders run, the denoiser does not.

        Args:
            prompts: Each is encoded once, in batches.

        Raises:
            InputError: What the denoiser is given cannot be taken apart.
            ModelError: The pipeline fails.
        """
        once = list(dict.fromkeys(prompts))
        made = dict(zip(once, self.portions.run(once, self._encode_batch), strict=True))
        return [made[prompt] for prompt in prompts]

    def activations(self, pairs: Sequence[tuple[Condition, int]]) -> Any:
        """What the middle gives of prompts and latents: one pass a pair, without guidance.

        Args:
            pairs: A prompt's condition and the place of a latent's seed in `seeds`.

        Returns:
            (n, d) float32 on the CPU, in the order of the pairs, as `MiddleActivations.values` at
            the step.

        Raises:
            ModelError: The denoiser fails.
        """
        import torch

        groups: dict[Hashable, list[int]] = {}
        for place, (condition, _) in enumerate(pairs):
            groups.setdefault(condition.key, []).append(place)
        values = torch.empty(len(pairs), self.observed.guidance.width)
        try:
            for places in groups.values():
                with torch.no_grad():
                    seen = self.portions.run([pairs[place] for place in places], self.observe)
                values[places] = torch.stack([row.cpu() for row in seen])
        finally:
            self.observed.release()
        return values

    def observe(self, pairs: Sequence[tuple[Condition, int]]) -> Any:
        """One batch of `activations`, on the pipeline's device; with gradients where these are on.

        Args:
            pairs: Their conditions have one key.

        Raises:
            ModelError: The denoiser fails.
        """
        rows = [
            {**condition.given, **{path: self._rows[latent][path] for path in self._first}}
            for condition, latent in pairs
        ]
        args, kwargs = self._form.together(self._call, rows)
        once = _Once()
        try:
            with working(self.observed.spec), self.observed.watch(once):
                self.observed.denoiser(*args, **kwargs)
        except Enough:
            pass
        self.passes += len(pairs)
        return once.seen

    def trace(self, prompt: str, given: Mapping[str, Any] | None = None) -> Condition:
        """As `encode`, with gradients to what the text encoders read.

        Args:
            prompt: Encoded anew.
            given: More to call the pipeline with.
        """
        call = self._caught([prompt], given=given, gradients=True)
        return self._conditions(call, [prompt])[0]

    def _conditions(self, call: Call, prompts: Sequence[str]) -> list[Condition]:
        """What the denoiser was given of prompts in a call that was caught at the first step.

        Raises:
            Unlike: It is of another form than with the neutral prompt.
            InputError: What changes from step to step depends on the prompt.
        """
        rows = self._form.rows(call, len(prompts))
        if not all(is_same(value, rows[0][path]) for path, value in self._first.items()):
            raise InputError(
                f"{printable(self.observed.spec)} shares no latents: what its denoiser is given of "
                "a prompt changes from step to step, or its noise with the prompt"
            )
        made = []
        for prompt, row in zip(prompts, rows, strict=True):
            own = {path: value for path, value in row.items() if path not in self._first}
            given = {path: self._form.offload(path, value) for path, value in own.items()}
            made.append(Condition(prompt, given, self._form.key(given)))
        return made

    def _encode_batch(self, prompts: Sequence[str]) -> list[Condition]:
        try:
            return self._conditions(self._caught(prompts), prompts)
        except Unlike:  # as a mask that only batches with padding have
            if len(prompts) == 1:
                raise
        return [one for prompt in prompts for one in self._encode_batch([prompt])]

    def _caught(self, prompts: Sequence[str], **more: Any) -> Call:
        """What the denoiser is given at the first step, each time with a noise of no latent."""
        other = next(seed for seed in count() if seed not in self.seeds)
        return self._catch(prompts, [other] * len(prompts), 0, **more)

    def _denoise(self, seeds: Sequence[int]) -> list[dict[Path, Any]]:
        """The arguments at the step, of each seed."""
        call = self._catch([self.prompt] * len(seeds), seeds, self.step)
        return self._form.rows(call, len(seeds))

    def _catch(self, prompts: Sequence[str], seeds: Sequence[int], step: int, **more: Any) -> Call:
        catcher = Catcher(self.observed.spec, self.observed.guidance.call, step)
        denoiser, pipeline = self.observed.denoiser, self.observed.pipeline
        forward = by(catcher.denoise, denoiser.forward)
        remembered = getattr(pipeline, "encode_prompt", None)
        # It would encode one text after another, and keep them all.
        uncached = (
            exchange(pipeline, "encode_prompt", remembered.encode)
            if isinstance(remembered, EncodingCache)
            else nullcontext()
        )
        with exchange(denoiser, "forward", forward), uncached:
            self.observed.run(catcher, prompts, seeds, **more)
        self.passes += catcher.passes
        return catcher.call


@dataclass
class Catcher:
    """Lets a pipeline run up to a step, and keeps what the denoiser is given there.

    Attributes:
        spec: What the user typed.
        wanted: Which of a step's calls of the denoiser has the prompt.
        step: From 0.
        call: What it is given.
        passes: How many rows went through the denoiser before.
    """

    spec: str
    wanted: int
    step: int
    call: Call = ((), {})
    passes: int = 0
    _steps: int = 0
    _calls: int = 0

    def see(self, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        """Count rows."""
        self.passes += len(pool_channels(output, args, kwargs))

    def end(self, scheduler: Any) -> None:
        """Count steps. Raises InputError where the step is none, or has not the call."""
        refuse_absent_steps(self.spec, [self.step], len(scheduler.timesteps))
        if self._steps == self.step:
            raise Unlike(self.spec)
        self._steps, self._calls = self._steps + 1, 0

    def denoise(self, own: Any, args: Any, kwargs: Any) -> Any:
        """In the place of the denoiser's forward."""
        if (self._steps, self._calls) == (self.step, self.wanted):
            self.call = (args, kwargs)
            raise Enough
        self._calls += 1
        return own(*args, **kwargs)


@dataclass
class _Once:
    """Looks at the middle once."""

    seen: Any = None

    def see(self, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        """Pool and leave."""
        self.seen = pool_channels(output, args, kwargs)
        raise Enough

    def end(self, scheduler: Any) -> None:
        """No scheduler runs."""
