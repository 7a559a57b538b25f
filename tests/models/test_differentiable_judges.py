"""Judges' answers as tensors: the same probabilities, and gradients to the pixels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biasgraph.models.base import DifferentiableJudge, Question
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.pixel_map import sample_image
from biasgraph.models.registry import load_judge
from tests.models import tiny_clips, tiny_vlms

QUESTIONS = [
    Question(
        "What is the gender (male, female) of the person?",
        ("male", "female"),
        ("a photo of a male person", "a photo of a female person"),
    ),
    Question(
        "What is the age group (young, middle, old) of the person?",
        ("young", "middle", "old"),
        ("a young person", "a middle-aged person", "an old person"),
    ),
]
QUICK = ("clip", "siglip2", "llava", "qwen3_vl", "idefics3")
FAMILIES = {**tiny_clips.FAMILIES, **tiny_vlms.FAMILIES}
SLOW = pytest.mark.slow(reason="one family more; those of every kind of processing are quick")
NAMES = [pytest.param(name, marks=() if name in QUICK else SLOW) for name in FAMILIES]
ROUNDED = 0.02
"""Of a probability: the processor rounds pixels, and the tiny models' logits are steep."""


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    made: dict[str, Any] = {}

    def load(name: str) -> Any:
        if name not in made:
            folder: Path = tmp_path_factory.mktemp("judges") / name
            FAMILIES[name](folder)
            kind = "clip" if name in tiny_clips.FAMILIES else "vlm"
            made[name] = load_judge(f"{kind}:{folder}", ModelOptions(device="cpu"))
        return made[name]

    return load


def pictures() -> tuple[list[Any], Any]:
    import torch

    images = [sample_image((64, 64)), sample_image((64, 64)).rotate(90)]
    pixels = [np.moveaxis(np.asarray(image), -1, 0) / 255 for image in images]
    return images, torch.tensor(np.array(pixels), dtype=torch.float32)


@pytest.mark.parametrize("name", NAMES)
def test_probabilities_are_those_of_the_answers(name: str, judge: Callable[[str], Any]) -> None:
    import torch

    images, pixels = pictures()
    pixels.requires_grad_(True)
    own = judge(name).answer(images, QUESTIONS)
    assert isinstance(judge(name), DifferentiableJudge)
    for place, logs in enumerate(judge(name).log_probabilities(pixels, QUESTIONS)):
        expected = np.array([row[place].probabilities for row in own])
        assert np.abs(torch.exp(logs).detach().numpy() - expected).max() < ROUNDED
        (gradient,) = torch.autograd.grad(logs[:, 0].sum(), pixels, retain_graph=True)
        assert gradient.isfinite().all() and (gradient.abs().sum(dim=(1, 2, 3)) > 0).all()


@pytest.mark.parametrize("name", ["clip", "qwen3_vl"])
def test_a_picture_does_not_depend_on_those_beside_it(
    name: str, judge: Callable[[str], Any]
) -> None:
    _, pixels = pictures()
    both = judge(name).log_probabilities(pixels, QUESTIONS[:1])[0]
    alone = judge(name).log_probabilities(pixels[1:], QUESTIONS[:1])[0]
    assert np.allclose(both[1:].detach(), alone.detach(), atol=1e-4)


def test_judges_without_gradients_say_so() -> None:
    assert not isinstance(load_judge("sandbox:judge2"), DifferentiableJudge)
    assert isinstance(load_judge("sandbox"), DifferentiableJudge)
