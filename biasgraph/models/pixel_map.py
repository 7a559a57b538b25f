"""What an image processor does to pixels, as differentiable operations that are read off it.

An image processor resizes, cuts, shuffles and normalizes.  Which pixel ends up where is found by
sending numbered pixels through the processor itself; how it resizes is asked of Pillow, whose
filters are linear: what it makes of the identity matrix is the filter.  So nothing of any processor
is copied, and whatever is not of this kind is noticed, because the result is compared with the
processor's own.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.errors import InputError, printable

if TYPE_CHECKING:
    from PIL.Image import Image

BILINEAR = 2
"""Pillow's number of the filter where none is named."""

Read = Callable[..., Mapping[str, Any]]
"""Takes `images` and settings of an image processor; returns "pixel_values" and more."""

NEAR = 0.02
"""How far values may be from the processor's own on average, in standard deviations of pixels: it
rounds to whole pixel values between its steps, which has no gradient."""


@dataclass(frozen=True)
class _Resize:
    """Pixels at another size.

    Attributes:
        places: (3, before, before) numbers of the pixels that it is made from.
        rows: (height, before) weights.
        columns: (before, width) weights.
    """

    places: Any
    rows: Any
    columns: Any

    @property
    def shape(self) -> tuple[int, int, int]:
        """Colours, height and width."""
        return 3, self.rows.shape[0], self.columns.shape[1]


@dataclass(frozen=True)
class PixelMap:
    """From images of one size to what a model reads, with gradients.

    Pixels are numbered from 1: those of the image, then those of each resized one.

    Attributes:
        resized: What is made of pixels with lower numbers, in order.
        places: Flat, for each value that the model reads the number of its pixel; 0 for none.
        scale: For each value, what a pixel value in [0, 1] is multiplied with.
        shift: For each value, what is then added.
        shape: Of what the model reads of one image.
    """

    resized: Sequence[_Resize]
    places: Any
    scale: Any
    shift: Any
    shape: tuple[int, ...]

    @classmethod
    def of(
        cls, processor: Any, size: tuple[int, int], spec: str, read: Read | None = None
    ) -> PixelMap:
        """What a processor does to images of a size.

        Args:
            processor: An image processor of transformers, of its Pillow backend.
            size: (height, width) of the images.
            read: What calls it, with its settings for a model; None where it stands alone.
            spec: Whose it is, for errors.

        Raises:
            InputError: It does something that is not known to be differentiable.
        """
        import torch

        image = np.arange(1, 1 + 3 * size[0] * size[1]).reshape(3, *size)
        numbering = _Numbering(processor.resize, [image])
        processor.resize = numbering
        try:
            plain = {"do_rescale": False, "do_normalize": False}
            places = _read(read or processor, image.astype(np.float64), **plain)
        except Exception as error:  # of somebody's image processor
            raise _unknown(spec) from error
        finally:
            del processor.resize
        colours = np.concatenate([[0], *map(_colours, numbering.numbered)])
        if not np.isin(places, np.arange(len(colours))).all():
            raise _unknown(spec)
        places = places.astype(np.int64)
        mean, deviation = np.zeros(3), np.ones(3)
        if processor.do_normalize:
            mean, deviation = np.array(processor.image_mean), np.array(processor.image_std)
        factor = 255 * (processor.rescale_factor if processor.do_rescale else 1.0)
        colour, there = colours[places.ravel()], places.ravel() > 0
        empty = _read(read or processor, np.zeros(image.shape, dtype=np.uint8)).ravel()
        return cls(
            numbering.resized,
            torch.from_numpy(places.ravel()),
            torch.tensor(np.where(there, factor / deviation[colour], 0), dtype=torch.float32),
            torch.tensor(np.where(there, -(mean / deviation)[colour], empty), dtype=torch.float32),
            places.shape,
        )

    def __call__(self, images: Any) -> Any:
        """What a model reads of images.

        Args:
            images: (n, 3, height, width) in [0, 1].

        Returns:
            (n, ...) float32.
        """
        import torch

        pixels = torch.cat([torch.zeros_like(images[:, :1, 0, 0]), images.flatten(1)], dim=1)
        for one in self.resized:
            rows, columns = one.rows.to(images), one.columns.to(images)
            made = rows @ pixels[:, one.places.to(images.device)] @ columns
            pixels = torch.cat([pixels, made.clamp(0, 1).flatten(1)], dim=1)
        values = pixels[:, self.places.to(images.device)] * self.scale.to(images)
        return (values + self.shift.to(images)).reshape(len(images), *self.shape)

    def check(self, image: Image, own: np.ndarray, spec: str) -> None:
        """Raise InputError where the model reads something else of an image; own: what it reads."""
        import torch

        pixels = np.moveaxis(np.asarray(image), -1, 0) / 255
        made = self(torch.from_numpy(pixels).float()[None]).numpy()
        if own.size != made.size or np.abs(own.ravel() - made.ravel()).mean() > NEAR:
            raise _unknown(spec)


def sample_image(size: tuple[int, int]) -> Image:
    """A picture of (height, width) with soft colours, on which two ways can be compared."""
    from PIL import Image

    coarse = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    return Image.fromarray(coarse).resize(size[::-1], Image.Resampling.BICUBIC)


@dataclass
class _Numbering:
    """A resize that gives the next numbers instead of pixels, and notes what it was to do.

    Attributes:
        own: The processor's own.
        numbered: The numbers of the image's pixels, then those of each resized one's.
    """

    own: Callable[..., Any]
    numbered: list[np.ndarray]
    resized: list[_Resize] = field(default_factory=list)

    def __call__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        """The numbers of the pixels that resizing makes, (3, height, width)."""
        import torch

        given = inspect.signature(self.own).bind(*args, **kwargs)
        places = given.arguments["image"]
        given.arguments["image"] = np.zeros(places.shape, dtype=np.uint8)
        height, width = self.own(*given.args, **given.kwargs).shape[-2:]
        kind = {**given.arguments, **given.arguments.get("kwargs", {})}.get("resample")
        filter_of = partial(_filter, kind=BILINEAR if kind is None else int(kind))
        rows, columns = filter_of(places.shape[-2], height), filter_of(places.shape[-1], width)
        resized = _Resize(torch.from_numpy(places.astype(np.int64)), rows, columns.T)
        first = 1 + int(self.numbered[-1].max())
        numbers = np.arange(first, first + math.prod(resized.shape)).reshape(resized.shape)
        self.resized.append(resized)
        self.numbered.append(numbers)
        return numbers.astype(np.float64)


def _colours(numbers: np.ndarray) -> np.ndarray:
    """The colour of each of (3, h, w) pixels, flat: 0, 1 or 2."""
    return np.repeat(np.arange(3), numbers[0].size)


def _read(read: Read, pixels: np.ndarray, **how: bool) -> np.ndarray:
    """What a model is given of one image of (3, h, w) pixels."""
    made = read(images=[pixels], input_data_format="channels_first", do_convert_rgb=False, **how)
    values = np.asarray(made["pixel_values"], dtype=np.float64)
    return values[0] if len(values) == 1 else values


@lru_cache(maxsize=32)
def _filter(before: int, after: int, kind: int) -> Any:
    """(after, before) float32 weights of Pillow's filter between two lengths."""
    import torch
    from PIL import Image

    identity = Image.fromarray(np.eye(before, dtype=np.float32))
    made = identity.resize((before, after), resample=Image.Resampling(kind))
    return torch.from_numpy(np.array(made, dtype=np.float32))


def _unknown(spec: str) -> InputError:
    return InputError(
        f"{printable(spec)} gives no gradients: what its image processor does to a picture is not "
        "known to be differentiable; choose another judge, for example clip:openai/clip-vit-base-"
        "patch32"
    )
