"""Latents that prompts share: what one pass shows is what the whole way would, where they agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from biasgraph.errors import InputError, ModelError
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.middle_activations import ObservedPipeline
from biasgraph.models.registry import load_generator
from tests.models import tiny_pipelines
from tests.models.test_middle_activations import GUIDED, hooks_of
from tests.models.tiny_pipelines import Loader
from tests.sampled import sampled

NEUTRAL = "a photo of a person"
PROMPTS = ["an old librarian", "a photo of a young female nurse", "a doctor", "male"]
LONG = " ".join(["an old librarian"] * 12)
SEEDS = [3, 1, 4]
PAIRS = [(2, 0), (0, 1), (3, 2), (1, 1), (0, 0), (2, 2)]
CASES = [
    *((name, {}) for name in tiny_pipelines.BUILDERS),
    ("sd15", {"guidance": 1.0}),
    ("sdxl", {"negative_prompt": "a young nurse"}),
    ("sd15", {"scheduler": "HeunDiscreteScheduler"}),
]


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Loader:
    home = tmp_path_factory.mktemp("tiny")
    tiny = tiny_pipelines.loader(home, steps=4)

    def loaded(name: str, **options: Any) -> Any:
        if name == "sandbox":
            return load_generator("sandbox:stereotyped", ModelOptions(device="cpu"))
        return tiny(name, **options)

    return loaded


def tried(shared: Any, prompts: list[str], pairs: list[tuple[int, int]]) -> Any:
    conditions = shared.encode(prompts)
    return shared.activations([(conditions[prompt], latent) for prompt, latent in pairs])


def close(one: Any, other: Any) -> bool:
    return torch.allclose(one, other, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize(("name", "options"), sampled([("sandbox", {}), *CASES], 4))
def test_at_the_first_step_it_is_the_prompts_own(
    name: str, options: dict[str, Any], load: Loader
) -> None:
    generator = load(name, **options)
    shared = generator.shared_latents(NEUTRAL, SEEDS, 0)
    assert shared.passes == 0
    seen = tried(shared, PROMPTS, PAIRS)
    assert shared.passes == len(PAIRS)
    own = generator.middle_at([PROMPTS[p] for p, _ in PAIRS], [SEEDS[k] for _, k in PAIRS], 0)
    assert seen.shape == own.values[:, 0].shape and seen.dtype == torch.float32
    assert close(seen, own.values[:, 0])
    assert float((seen[1] - seen[4]).abs().max()) > 1e-2  # of two latents
    assert float((seen[0] - seen[4]).abs().max()) > 1e-4  # of two prompts


@pytest.mark.parametrize(("name", "options"), sampled([("sandbox", {}), *CASES], 4))
def test_at_a_later_step_the_neutral_prompt_goes_the_whole_way(
    name: str, options: dict[str, Any], load: Loader
) -> None:
    generator = load(name, **options)
    own = generator.middle_at([NEUTRAL] * 3, SEEDS, 3)
    hooks = hooks_of(generator._pipeline)  # text encoders get some of their own at work
    shared = generator.shared_latents(NEUTRAL, SEEDS, 3)
    guided = name in GUIDED and options.get("guidance") != 1.0
    assert shared.passes == 3 * 3 * (2 if guided else 1)
    seen = tried(shared, [NEUTRAL, *PROMPTS], [(0, 2), (0, 0), (2, 1), (0, 1), (4, 1)])
    assert close(seen[[1, 3, 0]], own.values[:, 0])
    assert float((seen[2] - seen[3]).abs().max()) > 1e-4
    assert hooks_of(generator._pipeline) == hooks
    assert "step" not in vars(generator._pipeline.scheduler)
    assert "forward" not in vars(generator._observed.denoiser)


@pytest.mark.parametrize("name", sampled(["sandbox", "sdxl", "flux", "z-image"], 2))
def test_a_pair_alone_is_the_pair_in_a_batch(name: str, load: Loader) -> None:
    shared = load(name, batch_size=4).shared_latents(NEUTRAL, SEEDS, 2)
    prompts = [*PROMPTS, LONG] if name == "z-image" else PROMPTS
    pairs = [*PAIRS, (len(prompts) - 1, 1), (len(prompts) - 1, 0)]
    together = tried(shared, prompts, pairs)
    for place, (prompt, latent) in enumerate(pairs):
        alone = tried(shared, [prompts[prompt]], [(0, latent)])
        assert close(together[place], alone[0])


def test_prompts_of_different_lengths_are_never_in_one_batch(load: Loader) -> None:
    generator = load("z-image", batch_size=4)
    shared = generator.shared_latents(NEUTRAL, SEEDS, 0)
    conditions = shared.encode(["a nurse", LONG, "a doctor"])
    assert conditions[0].key == conditions[2].key != conditions[1].key
    seen = shared.activations([(conditions[place], 0) for place in (0, 1, 2, 1)])
    for place, prompt in enumerate(["a nurse", LONG, "a doctor", LONG]):
        assert close(seen[place], generator.middle_at([prompt], SEEDS[:1], 0).values[0, 0])


def test_a_prompt_is_encoded_once_and_the_denoiser_does_not_work(load: Loader) -> None:
    generator = load("sandbox")
    shared = generator.shared_latents(NEUTRAL, SEEDS, 2)
    read: list[int] = []
    worked: list[int] = []
    encoder, mid = generator._pipeline.text_encoder, generator._pipeline.unet.mid_block
    hooks = [
        encoder.register_forward_hook(lambda *given: read.append(len(given[1][0]))),
        mid.register_forward_hook(lambda *given: worked.append(1)),
    ]
    conditions = shared.encode(["a nurse", "a doctor", "a nurse"])
    for hook in hooks:
        hook.remove()
    assert (read, worked) == ([2], [])
    assert [one.prompt for one in conditions] == ["a nurse", "a doctor", "a nurse"]


def test_guidance_in_two_calls(load: Loader) -> None:
    generator = load("flux")
    call = {"num_inference_steps": 2, "height": 64, "width": 64, "true_cfg_scale": 4.0}
    observed = ObservedPipeline("flux", generator._pipeline, call, "a nurse")
    shared = type(generator.shared_latents(NEUTRAL, SEEDS, 0)).of(
        observed, generator._portions, NEUTRAL, SEEDS, 1
    )
    assert shared.passes == 3 * 1 * 2
    own = observed.look([NEUTRAL] * 3, SEEDS, lambda of: (1,))
    assert close(tried(shared, [NEUTRAL], [(0, 0), (0, 1), (0, 2)]), own.values[:, 0])


def test_no_pairs_and_no_prompts(load: Loader) -> None:
    shared = load("sandbox").shared_latents(NEUTRAL, SEEDS, 1)
    assert shared.encode([]) == []
    assert tuple(shared.activations([]).shape) == (0, 384)


def test_images_are_as_before(load: Loader) -> None:
    generator = load("sd15")
    before = np.asarray(generator.generate(PROMPTS[:1], [1])[0].image, dtype=int)
    tried(generator.shared_latents(NEUTRAL, SEEDS, 2), PROMPTS, PAIRS)
    after = np.asarray(generator.generate(PROMPTS[:1], [1])[0].image, dtype=int)
    assert abs(before - after).max() <= 1


def test_nothing_is_left_behind_when_it_fails(load: Loader) -> None:
    generator = load("sd15")
    shared = generator.shared_latents(NEUTRAL, SEEDS, 1)
    conditions = shared.encode(PROMPTS)
    pipeline = generator._pipeline
    hooks, first = hooks_of(pipeline), pipeline.unet.down_blocks[0]
    own = first.forward

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of order")

    first.forward = broken
    with pytest.raises(ModelError, match="out of order"):
        shared.activations([(conditions[0], 0)])
    with pytest.raises(ModelError, match="out of order"):
        generator.shared_latents(NEUTRAL, SEEDS, 1)
    first.forward = own
    assert hooks_of(pipeline) == hooks and "step" not in vars(pipeline.scheduler)
    assert "forward" not in vars(pipeline.unet)
    assert type(pipeline.encode_prompt).__name__ == "EncodingCache"
    assert shared.activations([(conditions[0], 0)]).isfinite().all()


def test_a_denoiser_without_a_middle_is_refused(load: Loader) -> None:
    generator = load("sd15")
    generator._pipeline.unet.mid_block = None
    with pytest.raises(InputError, match="mid block of a UNet or the middle block of a tr"):
        generator.shared_latents(NEUTRAL, SEEDS, 1)


@pytest.mark.parametrize("step", [-1, 4])
def test_a_step_beyond_the_schedule_is_refused(step: int, load: Loader) -> None:
    with pytest.raises(InputError, match=f"no step {step} to look at.* 0 to 3$"):
        load("sd15").shared_latents(NEUTRAL, SEEDS, step)
