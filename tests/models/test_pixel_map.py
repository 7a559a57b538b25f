"""What image processors do to pixels, as differentiable operations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from biasgraph.errors import InputError
from biasgraph.models.pixel_map import PixelMap, sample_image
from biasgraph.models.vlm_prompts import load_processor
from tests.models import tiny_clips, tiny_vlms
from tests.sampled import sampled

SIZES = [(64, 64), (48, 80), (32, 32)]
BUILDERS = {**tiny_clips.FAMILIES, **tiny_vlms.FAMILIES}
ROUNDED = 0.02
"""In deviations of pixels: Pillow rounds to whole pixel values once or twice."""


@pytest.fixture(scope="module")
def processors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    from transformers import AutoImageProcessor

    made: dict[str, Any] = {}
    for name, build in BUILDERS.items():
        folder = tmp_path_factory.mktemp("processors") / name
        build(folder)
        made[name] = (
            AutoImageProcessor.from_pretrained(folder, backend="pil")
            if name in tiny_clips.FAMILIES
            else load_processor(folder, trust_remote_code=False).image_processor
        )
    return made


def read(processor: Any, image: Image.Image) -> np.ndarray:
    return np.asarray(processor(images=[image], return_tensors="np")["pixel_values"])


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", sampled(BUILDERS, 4))
def test_every_processor_is_followed(
    name: str, size: tuple[int, int], processors: dict[str, Any]
) -> None:
    import torch

    image = sample_image(size)
    own = read(processors[name], image)
    mapped = PixelMap.of(processors[name], size, name)
    mapped.check(image, own, name)
    pixels = torch.from_numpy(np.moveaxis(np.asarray(image), -1, 0) / 255).float()[None]
    assert np.abs(mapped(pixels).numpy().ravel() - own.ravel()).max() < ROUNDED


def test_gradients_are_those_of_the_values(processors: dict[str, Any]) -> None:
    import torch

    mapped = PixelMap.of(processors["llava"], (48, 80), "llava")
    torch.manual_seed(0)
    images = torch.rand(2, 3, 48, 80, requires_grad=True)
    weights = torch.randn(2, *mapped.shape)
    (gradient,) = torch.autograd.grad((mapped(images) * weights).sum(), images)
    step = torch.randn_like(images) * 1e-2
    with torch.no_grad():
        change = ((mapped(images + step) - mapped(images - step)) * weights).sum() / 2
    assert float((gradient * step).sum()) == pytest.approx(float(change), rel=0.01)


def test_what_is_not_read_off_is_refused(processors: dict[str, Any]) -> None:
    processor = processors["clip"]
    image = sample_image((64, 64))
    own = read(processor, image)
    mapped = PixelMap.of(processor, (64, 64), "clip:x")
    with pytest.raises(InputError, match="clip:x gives no gradients"):
        mapped.check(image, own[..., ::-1], "clip:x")

    class Inverting(type(processor)):  # type: ignore[misc]
        def normalize(self, image: np.ndarray, *_: Any, **__: Any) -> np.ndarray:
            return 1 / (1 + np.asarray(image, dtype=float))

        def rescale(self, image: np.ndarray, *_: Any, **__: Any) -> np.ndarray:
            return image

    other = Inverting(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    own = read(other, image)
    with pytest.raises(InputError, match="clip:y gives no gradients"):
        PixelMap.of(other, (64, 64), "clip:y").check(image, own, "clip:y")


def test_the_processor_is_left_as_it_was(processors: dict[str, Any], tmp_path: Path) -> None:
    processor = processors["clip"]
    PixelMap.of(processor, (64, 64), "clip")
    assert "resize" not in vars(processor)
