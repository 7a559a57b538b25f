"""A vision-language model's next-token scores with gradients to the pixels that it reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from biasgraph.models.pixel_map import PixelMap, sample_image
from biasgraph.models.vlm_scoring import Scorer


@dataclass
class DifferentiableReader:
    """Reads images of one size, each with a prompt as a whole, one image at a time.

    Attributes:
        scorer: Of the model.
        size: (height, width) of the images.
        spec: The model's, for errors.
    """

    scorer: Scorer
    size: tuple[int, int]
    spec: str
    _pixels: PixelMap | None = field(default=None, init=False)

    def __call__(self, images: Any, prompt: str) -> Any:
        """(n, vocabulary) float32 scores of the token after a prompt about each image.

        Args:
            images: (n, 3, height, width) in [0, 1].
            prompt: As the model reads it.

        Raises:
            InputError: What the image processor does has no gradient.
        """
        import torch

        model, prompter = self.scorer.model, self.scorer.prompter
        sample = sample_image(self.size)
        tensors = self.scorer.tensors(sample, prompt)
        own = tensors.pop("pixel_values")
        if self._pixels is None:
            read = partial(prompter.processor, text=[prompt], return_tensors="np")
            processor = prompter.processor.image_processor
            self._pixels = PixelMap.of(processor, self.size, self.spec, read)
            self._pixels.check(sample, own.float().cpu().numpy(), self.spec)
        scores = []
        for image in images:
            pixels = self._pixels(image[None].to(model.device)).reshape(own.shape).to(own.dtype)
            made = model(**tensors, pixel_values=pixels, **self.scorer.decoder_start(1))
            scores.append(made.logits[:, -1].float())
        return torch.cat(scores)
