"""Image generation with any diffusers text-to-image pipeline that a folder holds."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from biasgraph.errors import InputError, ModelError, printable
from biasgraph.models.base import Picture, Setting
from biasgraph.models.files import fingerprint


@dataclass(frozen=True)
class DiffusersGenerator:
    """A pipeline loaded when the first image is asked for.

    Attributes:
        folder: what ``save_pretrained`` wrote.
        words: every word that the model ever met, where that is known.
    """

    folder: Path
    spec: str
    steps: int
    guidance: float
    batch_size: int
    words: frozenset[str] = field(default=frozenset(), repr=False)
    seconds_per_image: float | None = None

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.folder)

    @property
    def settings(self) -> Mapping[str, Setting]:
        return {"steps": self.steps, "guidance": self.guidance}

    def check_prompts(self, prompts: Sequence[str]) -> None:
        tokenizer, window = self._tokenizer
        for prompt in prompts:
            count = len(tokenizer.encode(prompt).ids)
            if count > window:
                raise InputError(
                    f"'{printable(prompt)}' has {count} tokens, and {self.spec} reads {window}: "
                    "the end of it would be cut off; shorten the prompt"
                )

    def unseen_words(self, prompts: Sequence[str]) -> list[str]:
        if not self.words:
            return []
        said = {word for prompt in prompts for word in re.findall(r"\w+", prompt.lower())}
        return sorted(said - self.words)

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        import torch

        generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        made = self._pipeline(
            **self._conditions(prompts),
            generator=generators,
            num_inference_steps=self.steps,
            guidance_scale=self.guidance,
            output_type="pil",
        )
        return [Picture(image) for image in made.images]

    @cached_property
    def _tokenizer(self) -> tuple[Any, int]:
        """The tokenizer and its window in tokens, read without loading transformers."""
        from tokenizers import Tokenizer

        folder = self.folder / "tokenizer"
        try:
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            tokenizer.no_truncation()
            settings = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
        except Exception as error:  # the tokenizers library raises nothing narrower
            raise ModelError(
                f"cannot read the tokenizer of {self.spec}: {printable(str(error))}"
            ) from error
        return tokenizer, int(settings["model_max_length"])

    @cached_property
    def _pipeline(self) -> Any:
        from biasgraph.models.quiet import loading

        try:
            with loading():
                import torch
                from diffusers import AutoPipelineForText2Image

                pipeline = AutoPipelineForText2Image.from_pretrained(
                    self.folder, dtype=torch.float32, use_safetensors=True, local_files_only=True
                )
        except (OSError, ValueError) as error:
            raise ModelError(f"cannot load {self.spec}: {printable(str(error))}") from error
        pipeline.set_progress_bar_config(disable=True)
        return pipeline

    @cached_property
    def _encoded(self) -> dict[str, Any]:
        return {}

    def _conditions(self, prompts: Sequence[str]) -> dict[str, Any]:
        """The prompts as the pipeline takes them; each is encoded once in the generator's life.

        Pipelines of Stable Diffusion's first family have one embedding a prompt, which can be
        kept; others are given the texts.
        """
        import torch

        pipeline = self._pipeline
        returns = inspect.signature(pipeline.encode_prompt).parameters
        if self.guidance > 1 or "prompt_2" in returns:
            return {"prompt": list(prompts)}
        new = [prompt for prompt in dict.fromkeys(prompts) if prompt not in self._encoded]
        if new:
            with torch.no_grad():
                embedded, _ = pipeline.encode_prompt(new, pipeline.device, 1, False)
            self._encoded.update(zip(new, embedded, strict=True))
        return {"prompt_embeds": torch.stack([self._encoded[prompt] for prompt in prompts])}
