"""What a denoiser's middle gives: pooled, step by step, with the prompt; no trace is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from biasgraph.errors import InputError, ModelError
from biasgraph.models.base import ObservableGenerator
from biasgraph.models.middle_activations import ObservedPipeline, examined_steps
from tests.models import tiny_pipelines
from tests.models.tiny_pipelines import Loader
from tests.sampled import sampled

PROMPTS, SEEDS = ["an old librarian", "a photo of a nurse"], [1, 2]
CHANNELS = {"sd15": 16, "sdxl": 16, "sd3": 32, "flux": 32, "z-image": 32}
GUIDED = ["sd15", "sdxl", "sd3", "z-image"]


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Loader:
    return tiny_pipelines.loader(tmp_path_factory.mktemp("tiny"), steps=4)


def hooks_of(pipeline: Any) -> int:
    parts = (part for part in pipeline.components.values() if isinstance(part, torch.nn.Module))
    return sum(len(module._forward_hooks) for part in parts for module in part.modules())


@pytest.mark.parametrize("name", sampled(tiny_pipelines.BUILDERS, 4))
def test_every_step_of_every_image(name: str, load: Loader) -> None:
    generator = load(name)
    assert isinstance(generator, ObservableGenerator)
    before = [np.asarray(made.image, dtype=int) for made in generator.generate(PROMPTS, SEEDS)]
    hooks = hooks_of(generator._pipeline)
    seen = generator.middle_activations(PROMPTS, SEEDS)
    assert (seen.of, seen.steps) == (4, (0, 1, 2, 3))
    assert seen.values.shape == (2, 4, 4 * CHANNELS[name]) and seen.values.dtype == torch.float32
    assert seen.values.isfinite().all()
    assert float((seen.values[0] - seen.values[1]).abs().max()) > 1e-3
    alone = generator.middle_activations(PROMPTS[1:], SEEDS[1:], every=3)
    assert (alone.of, alone.steps) == (4, (0, 3))
    assert torch.allclose(alone.values[0], seen.values[1, [0, 3]], atol=1e-3, rtol=1e-3)
    assert hooks_of(generator._pipeline) == hooks
    assert "step" not in vars(generator._pipeline.scheduler)
    after = [np.asarray(made.image, dtype=int) for made in generator.generate(PROMPTS, SEEDS)]
    # Up to rounding, which may differ between two calls on a busy machine.
    assert all(abs(one - other).max() <= 1 for one, other in zip(before, after, strict=True))


@pytest.mark.parametrize("name", sampled(tiny_pipelines.BUILDERS, 4))
def test_an_image_does_not_depend_on_longer_prompts_beside_it(name: str, load: Loader) -> None:
    generator = load(name)
    alone = generator.middle_activations(PROMPTS[1:], SEEDS[1:]).values[0]
    longer = " ".join(["an old librarian"] * 13)  # 39 words, and Z-Image fills up to 32 tokens
    beside = generator.middle_activations([longer, PROMPTS[1]], SEEDS).values[1]
    assert torch.allclose(alone, beside, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("name", sampled(GUIDED, 2))
def test_guidance_leaves_the_half_with_the_prompt(name: str, load: Loader) -> None:
    bare = load(name, guidance=0.0 if name == "z-image" else 1.0)
    guided = load(name, guidance=7.5, negative_prompt="a photo of a male doctor")
    plain = bare.middle_activations(PROMPTS, SEEDS).values[:, 0]
    seen = guided.middle_activations(PROMPTS, SEEDS).values
    assert seen.shape == (2, 4, 4 * CHANNELS[name])
    # The first step's noise is the same: what is kept is what the prompt alone gives.
    assert torch.allclose(seen[:, 0], plain, atol=1e-4, rtol=1e-3)
    # Later ones start where guidance led.
    other = bare.middle_activations(PROMPTS, SEEDS).values[:, 3]
    assert not torch.allclose(seen[:, 3], other, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize(
    ("of", "every", "steps"),
    [
        (50, None, tuple(range(0, 50, 5))),
        (10, None, tuple(range(10))),
        (28, None, tuple(range(0, 28, 2))),
        (4, None, (0, 1, 2, 3)),
        (10, 4, (0, 4, 8)),
        (3, 50, (0,)),
    ],
)
def test_the_steps_that_are_looked_at(of: int, every: int | None, steps: tuple[int, ...]) -> None:
    assert examined_steps(of, every) == steps


def test_guidance_in_two_calls(load: Loader) -> None:
    pipeline = load("flux")._pipeline
    call = {"num_inference_steps": 2, "height": 64, "width": 64}

    def look(**more: Any) -> Any:
        told = ObservedPipeline("flux", pipeline, {**call, **more}, "a nurse" if more else None)
        return told.look(PROMPTS, SEEDS, lambda of: (0, 1))

    plain, guided = look(), look(true_cfg_scale=4.0)
    assert (plain.passes, guided.passes) == (4, 8)
    assert torch.allclose(guided.values[:, 0], plain.values[:, 0], atol=1e-5)
    assert not torch.allclose(guided.values[:, 1], plain.values[:, 1], atol=1e-5)


@pytest.mark.parametrize("name", sampled(tiny_pipelines.BUILDERS, 4))
def test_one_step_alone(name: str, load: Loader) -> None:
    generator = load(name)
    every = generator.middle_activations(PROMPTS, SEEDS)
    for step in (0, 2):
        seen = generator.middle_at(PROMPTS, SEEDS, step)
        assert (seen.of, seen.steps, seen.values.shape[1]) == (4, (step,), 1)
        assert torch.allclose(seen.values[:, 0], every.values[:, step], atol=1e-5, rtol=1e-4)
        assert seen.passes == 2 * (step + 1) * (2 if name in GUIDED else 1)
    assert every.passes == 2 * 4 * (2 if name in GUIDED else 1)


def test_passes_add_up_over_batches(load: Loader) -> None:
    generator = load("sd15", batch_size=2)
    assert generator.middle_at([PROMPTS[0]] * 5, range(5), 1).passes == 5 * 2 * 2


def test_the_half_with_the_prompt_is_found_once(load: Loader) -> None:
    generator = load("sd15")
    rows: list[int] = []
    mid = generator._pipeline.unet.mid_block
    hook = mid.register_forward_hook(lambda module, args, output: rows.append(len(output)))
    generator.middle_at(PROMPTS, SEEDS, 0)
    generator.middle_activations(PROMPTS, SEEDS)
    hook.remove()
    assert rows == [2, 2, 4, 4, 4, 4, 4]


@pytest.mark.parametrize("step", [-1, 4])
def test_a_step_beyond_the_schedule_is_refused(step: int, load: Loader) -> None:
    with pytest.raises(InputError, match=f"no step {step} to look at.* 0 to 3$"):
        load("sd15").middle_at(PROMPTS, SEEDS, step)


def test_a_scheduler_of_two_calls_a_step(load: Loader) -> None:
    seen = load("sd15", scheduler="HeunDiscreteScheduler").middle_activations(PROMPTS, SEEDS)
    assert seen.of == 7 and seen.values.shape[1] == 7


def test_it_is_the_mid_block_that_is_seen(load: Loader) -> None:
    generator = load("sd15", guidance=1.0)
    given: list[Any] = []
    mid = generator._pipeline.unet.mid_block
    hook = mid.register_forward_hook(lambda module, args, output: given.append(output.detach()))
    generator.generate(PROMPTS, SEEDS)
    hook.remove()
    seen = generator.middle_activations(PROMPTS, SEEDS).values
    assert given[0].shape == (2, 16, 8, 8)
    for half in (slice(0, 4), slice(4, 8)):
        top = torch.stack([block[:, :, :4, half].mean(dim=(2, 3)) for block in given], dim=1)
        assert torch.allclose(seen[:, :, half.start // 4 :: 4], top, atol=1e-5)


def test_nothing_is_left_behind_when_it_fails(load: Loader) -> None:
    generator = load("sd15")
    pipeline = generator._pipeline
    hooks, own = hooks_of(pipeline), pipeline.unet.up_blocks[0].forward

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of order")

    pipeline.unet.up_blocks[0].forward = broken
    with pytest.raises(ModelError, match="out of order"):
        generator.middle_activations(PROMPTS, SEEDS)
    pipeline.unet.up_blocks[0].forward = own
    assert hooks_of(pipeline) == hooks and "step" not in vars(pipeline.scheduler)
    assert generator.middle_activations(PROMPTS, SEEDS).values.isfinite().all()


def test_a_denoiser_without_a_middle_is_refused(load: Loader) -> None:
    generator = load("sd15")
    unet = generator._pipeline.unet
    mid, unet.mid_block = unet.mid_block, None
    try:
        with pytest.raises(InputError, match="mid block of a UNet or the middle block of a tr"):
            generator.middle_activations(PROMPTS, SEEDS)
    finally:
        unet.mid_block = mid
