"""Image generation with any text-to-image pipeline of diffusers, from a folder or the hub."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from biasgraph.errors import BiasgraphError, InputError, MissingExtra, ModelError, printable
from biasgraph.models.base import Picture, Setting
from biasgraph.models.devices import Portions, device_of, dtype_of, is_out_of_memory
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.models.library_loading import shorten_error, silence_libraries
from biasgraph.models.middle_activations import (
    MiddleActivations,
    ObservedPipeline,
    examined_steps,
)
from biasgraph.models.model_source import Source, SourcedModel
from biasgraph.models.pipeline_card import Card
from biasgraph.models.pipeline_loading import Adapter, load_pipeline
from biasgraph.models.prompt_encodings import EncodingCache
from biasgraph.models.prompt_trace import PromptTrace
from biasgraph.models.shared_latents import SharedLatents
from biasgraph.models.token_windows import Window, find_window

ON_CPU, ON_GPU = 4, 16
"""Images asked for at a time where ``--batch-size`` does not say; so many are lost at most when a
run is killed. A GPU starts with one and doubles as memory allows; main memory that runs out kills
the process instead of raising an error, and a CPU gains nothing from more."""

SAFETY_CHECKER = "the pipeline's safety checker"


def generator(spec: Spec, options: ModelOptions) -> DiffusersGenerator:
    """``diffusers:FOLDER`` or ``diffusers:owner/model[@revision]``.

    Raises:
        InputError: No text-to-image pipeline, or an option that it, or this machine, has not.
        MissingExtra: An option needs a package that is not installed.
        ModelError: Its configurations cannot be had.
    """
    source = Source.of(spec, trust_remote_code=options.trust_remote_code)
    made = DiffusersGenerator(source, options)
    if options.offload is not None:
        if find_spec("accelerate") is None:
            raise MissingExtra("--offload", "offload")
        if made.device == "cpu":
            raise InputError(
                "--offload has no effect on a CPU, where the models run here; remove it"
            )
    made.settings  # noqa: B018  (raises for options that the pipeline has not)
    return made


@dataclass(frozen=True)
class DiffusersGenerator(SourcedModel):
    """A pipeline whose weights load when the first image is asked for.

    Attributes:
        words: Every word that the model ever met, where that is known.
        told: The settings that a run records, where these are not all that there are.
        whole: Draw batches as they come, also what only fills them up, so that pixels stay the
            same to the last bit.
    """

    options: ModelOptions
    words: frozenset[str] = field(default=frozenset(), repr=False)
    seconds_per_image: float | None = None
    told: Mapping[str, Setting] | None = None
    whole: bool = False

    @property
    def batch_size(self) -> int:
        """How many images to ask for at a time."""
        return self.options.batch_size or (ON_CPU if self.device == "cpu" else ON_GPU)

    @cached_property
    def steps(self) -> int:
        """Denoising steps."""
        return self._card.steps(self.options.steps)

    @cached_property
    def guidance(self) -> float | None:
        """The guidance scale; None where the pipeline has none."""
        return self._card.guidance(self.options.guidance)

    @cached_property
    def device(self) -> str:
        """Where the pipeline runs, as torch names it."""
        return device_of(self.options)

    @cached_property
    def settings(self) -> Mapping[str, Setting]:
        """What else decides the results, as a run records it."""
        if self.told is not None:
            return self.told
        size = self._card.size(self.options.pixels)
        return {
            "steps": self.steps,
            "guidance": self.guidance,
            "size": f"{size['width']}x{size['height']}" if size else None,
            "negative_prompt": self._card.negative(self.options.negative_prompt),
            "lora": ", ".join(Adapter.of(text).identity for text in self.options.lora) or None,
            "dtype": self._dtype,
            "device": self.device.partition(":")[0],
            **self._card.settings(self.options.scheduler),
        }

    def check_prompts(self, prompts: Sequence[str]) -> None:
        """Raise InputError, naming the prompt and the count, if the model would cut one off."""
        for prompt in prompts:
            count = self._window.count(prompt) if self._window else 0
            if self._window is not None and count > self._window.tokens:
                raise InputError(
                    f"'{printable(prompt)}' has {count} tokens, and {printable(self.spec)} reads "
                    f"{self._window.tokens}: its end would be cut off; shorten the prompt"
                )

    def unseen_words(self, prompts: Sequence[str]) -> list[str]:
        """Words that the model is known never to have met."""
        if not self.words:
            return []
        said = {word for prompt in prompts for word in re.findall(r"\w+", prompt.lower())}
        return sorted(said - self.words)

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        """One picture for each prompt, drawn with the seed of the same place."""
        wanted = list(zip(prompts, seeds, strict=True))
        # A batch is filled up by repeating, and what repeats need not be drawn again.
        once = wanted if self.whole else list(dict.fromkeys(wanted))
        made = dict(zip(once, self._portions.run(once, self._draw), strict=True))
        return [made[item] for item in wanted]

    def trace(self, prompts: Sequence[str], seeds: Sequence[int]) -> PromptTrace:
        """The images of prompts and seeds, as `generate` makes them, ready for gradients.

        Raises:
            InputError: The pipeline gives no gradients.
            ModelError: It fails.
        """
        call = {**self._negatives(len(prompts)), **self._call}
        return PromptTrace.record(self.spec, self._pipeline, call, prompts, seeds)

    def middle_activations(
        self, prompts: Sequence[str], seeds: Sequence[int], every: int | None = None
    ) -> MiddleActivations:
        """What the denoiser's middle gives at each so many-th step; the images are not decoded.

        Raises:
            InputError: The pipeline has no such part.
            ModelError: It fails.
        """
        return self._look(prompts, seeds, lambda of: examined_steps(of, every))

    def middle_at(
        self, prompts: Sequence[str], seeds: Sequence[int], step: int
    ) -> MiddleActivations:
        """What the denoiser's middle gives at one step, at which the pipeline is left.

        Raises:
            InputError: The pipeline has no such part or step.
            ModelError: It fails.
        """
        return self._look(prompts, seeds, lambda of: (step,))

    def shared_latents(self, prompt: str, seeds: Sequence[int], step: int) -> SharedLatents:
        """The noisy latents of seeds, denoised to a step with one prompt.

        Raises:
            InputError: The pipeline has no such part or step, or cannot be followed so.
            ModelError: It fails.
        """
        return SharedLatents.of(self._observed, self._portions, prompt, seeds, step)

    def _look(
        self,
        prompts: Sequence[str],
        seeds: Sequence[int],
        wanted: Callable[[int], tuple[int, ...]],
    ) -> MiddleActivations:
        def look(items: Sequence[tuple[str, int]]) -> list[MiddleActivations]:
            texts, numbers = zip(*items, strict=True)
            return self._observed.look(texts, numbers, wanted).apart()

        items = list(zip(prompts, seeds, strict=True))
        return MiddleActivations.together(self._portions.run(items, look))

    @cached_property
    def _observed(self) -> ObservedPipeline:
        negative = self._card.negative(self.options.negative_prompt)
        return ObservedPipeline(self.spec, self._pipeline, self._call, negative)

    def _negatives(self, count: int) -> dict[str, Any]:
        """The negative prompt, for each of `count` images."""
        negative = self._card.negative(self.options.negative_prompt)
        return {} if negative is None else {"negative_prompt": [negative] * count}

    def _draw(self, items: Sequence[tuple[str, int]]) -> list[Picture]:
        """Pictures for prompts and seeds, in one call of the pipeline.

        Every image has a generator of its own, on the CPU: the same noise on every device.
        """
        import torch

        pipeline = self._pipeline
        try:
            with silence_libraries():
                made = pipeline(
                    prompt=[prompt for prompt, _ in items],
                    generator=[torch.Generator().manual_seed(seed) for _, seed in items],
                    output_type="pil",
                    **self._negatives(len(items)),
                    **self._call,
                )
        except BiasgraphError:
            raise
        except Exception as error:  # whatever somebody's pipeline raises
            if is_out_of_memory(error):
                remembered = getattr(pipeline, "encode_prompt", None)
                if isinstance(remembered, EncodingCache):
                    remembered.forget()
                raise
            raise ModelError(
                f"{printable(self.spec)} failed to make images: {shorten_error(error)}"
            ) from error
        return read_pictures(made, len(items), self.spec)

    @cached_property
    def _call(self) -> dict[str, Any]:
        """What every call of the pipeline is given beside prompts and generators."""
        card = self._card
        call: dict[str, Any] = {**card.switches, **card.size(self.options.pixels)}
        if "num_inference_steps" in card.defaults:
            call["num_inference_steps"] = self.steps
        if card.guidance_parameter is not None and self.guidance is not None:
            call[card.guidance_parameter] = self.guidance
        return call

    @cached_property
    def _portions(self) -> Portions:
        given = self.options.batch_size
        start = given or (ON_CPU if self.device == "cpu" else 1)
        return Portions(f"an image of {printable(self.spec)}", start, self.batch_size)

    @cached_property
    def _card(self) -> Card:
        return Card.of(self.source)

    @cached_property
    def _dtype(self) -> str:
        return dtype_of(self.options, self.device)

    @cached_property
    def _window(self) -> Window | None:
        card, longest = self._card, self._card.defaults.get("max_sequence_length")
        most = longest if isinstance(longest, int) else None
        return find_window(card.folder, card.index, most, self.spec)

    @cached_property
    def _pipeline(self) -> Any:
        return load_pipeline(
            self.source, self._card, self.options, device=self.device, dtype=self._dtype
        )


def read_pictures(made: Any, count: int, spec: str) -> list[Picture]:
    """What a pipeline gave, as pictures: withheld where its safety checker blackened them.

    Raises ModelError where it gave something else than `count` images.
    """
    images = getattr(made, "images", None)
    if not isinstance(images, list) or len(images) != count:
        raise ModelError(f"{printable(spec)} did not return the {count} images it was asked for")
    flagged = getattr(made, "nsfw_content_detected", None) or getattr(made, "nsfw_detected", None)
    revised = getattr(made, "revised_prompts", None)
    return [
        Picture(
            image.convert("RGB"),
            SAFETY_CHECKER if flagged and flagged[place] else None,
            str(revised[place]) if revised else None,
        )
        for place, image in enumerate(images)
    ]
