"""A pipeline's run, step by step, with gradients to its prompt's embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasgraph.errors import InputError
from tests.models import tiny_pipelines
from tests.models.tiny_pipelines import Loader
from tests.sampled import sampled

PROMPTS, SEEDS = ["an old librarian", "a photo of a nurse"], [1, 2]
ENCODERS = {"sd15": 1, "sdxl": 2, "sd3": 3, "flux": 2, "z-image": 1}
SCHEDULERS = [
    "DDIMScheduler",
    "EulerDiscreteScheduler",
    "EulerAncestralDiscreteScheduler",
    "DPMSolverMultistepScheduler",
    "UniPCMultistepScheduler",
    "HeunDiscreteScheduler",
]
MOVED = 1e-3


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Loader:
    return tiny_pipelines.loader(tmp_path_factory.mktemp("tiny"), steps=3)


def loss(images: Any) -> Any:
    return (images[:, 0] ** 2).mean(dim=(1, 2)) * 100


@pytest.mark.parametrize("name", sampled(tiny_pipelines.BUILDERS, 4))
def test_every_step_gives_gradients_to_every_word(name: str, load: Loader) -> None:
    generator = load(name)
    trace = generator.trace(PROMPTS, SEEDS)
    made = np.array([np.asarray(p.image) for p in generator.generate(PROMPTS, SEEDS)])
    assert np.abs(made / 255 - trace.images.permute(0, 2, 3, 1).numpy()).max() < 0.01
    encodings = trace.encodings
    assert [len(own) for own in encodings] == [ENCODERS[name]] * 2
    for prompt, own in zip(PROMPTS, encodings, strict=True):
        for encoded in own:  # the pieces of a word stand side by side and leave nothing out
            said = "".join(prompt[start:end] for start, end in encoded.spans)
            assert said == prompt.replace(" ", "")
    for step in range(trace.steps):
        ((first, second),) = trace.gradients([loss(trace.predict(step))])
        for own in (first, second):
            known = [pair for pair in own if pair is not None]
            assert known
            for gradient, embedding in known:
                assert gradient.shape == embedding.shape
                assert gradient.isfinite().all()
        if step == 0:
            assert all(pair[0].abs().sum() > 0 for pair in (*first, *second) if pair is not None)


@pytest.mark.parametrize("guidance", [1.0, 7.5])
@pytest.mark.parametrize("name", sampled(["sd15", "sdxl", "sd3", "z-image"], 4))
def test_gradients_are_finite_differences(name: str, guidance: float, load: Loader) -> None:
    import torch

    generator = load(name, guidance=guidance)
    generator._pipeline.to(torch.float64)
    trace = generator.trace(PROMPTS[:1], SEEDS[:1])
    (((gradient, _), *_),) = trace.gradients([loss(trace.predict(0))])[0]
    encoded = trace.encodings[0][0]
    token, place = divmod(int(gradient.abs().argmax()), gradient.shape[1])
    change = _difference(trace, encoded, token, place)
    assert float(gradient[token, place]) == pytest.approx(change, rel=0.01)


def _difference(trace: Any, encoded: Any, token: int, place: int) -> float:
    """The central difference of the loss when one number of an embedding moves."""
    from biasgraph.models import prompt_trace

    name, ids, made = trace._recording.encoded[encoded.call]
    values = []
    for step in (MOVED, -MOVED):

        def moved(tensor: Any, step: float = step) -> Any:
            if not tensor.is_floating_point() or tensor.shape[:2] != ids.shape:
                return tensor
            tensor = tensor.clone()
            tensor[encoded.row, encoded.places[token], place] += step
            return tensor

        trace._recording.encoded[encoded.call] = (name, ids, prompt_trace._each(made, moved))
        values.append(float(loss(trace.predict(0)).sum().detach()))
    trace._recording.encoded[encoded.call] = (name, ids, made)
    return (values[0] - values[1]) / (2 * MOVED)


@pytest.mark.parametrize("name", sampled(tiny_pipelines.BUILDERS, 4))
def test_a_batch_of_four_gives_what_one_gives(name: str, load: Loader) -> None:
    generator = load(name)

    def gradients(prompts: list[str], seeds: list[int]) -> list[Any]:
        trace = generator.trace(prompts, seeds)
        return trace.gradients([loss(trace.predict(1))])[0]

    prompts, seeds = [PROMPTS[0], PROMPTS[0], PROMPTS[1], PROMPTS[0]], [5, 6, 7, 8]
    together = gradients(prompts, seeds)
    for place in (1, 2):
        (alone,) = gradients([prompts[place]], [seeds[place]])
        for one, other in zip(together[place], alone, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                assert np.allclose(
                    one[0], other[0], rtol=0.02, atol=float(other[0].abs().max()) / 50
                )


@pytest.mark.parametrize("scheduler", sampled(SCHEDULERS, 4))
def test_the_last_step_predicts_the_image_itself(scheduler: str, load: Loader) -> None:
    trace = load("sd15", scheduler=scheduler).trace(PROMPTS, SEEDS)
    last = trace.predict(trace.steps - 1).detach()
    first = trace.predict(0).detach()
    assert float((last - trace.images).abs().max()) < 0.01
    assert float((first - trace.images).abs().mean()) > float((last - trace.images).abs().mean())


@pytest.mark.parametrize(
    "scheduler", sampled(["PNDMScheduler", "LCMScheduler", "DEISMultistepScheduler"])
)
def test_other_schedulers_predict_clean_images(scheduler: str, load: Loader) -> None:
    trace = load("sd15", scheduler=scheduler, steps=6).trace(PROMPTS, SEEDS)
    for step in range(trace.steps):
        assert trace.predict(step).isfinite().all()


def test_the_pipeline_is_left_as_it_was(load: Loader) -> None:
    generator = load("sd15")
    before = [np.asarray(made.image) for made in generator.generate(PROMPTS, SEEDS)]
    trace = generator.trace(PROMPTS, SEEDS)
    trace.gradients([loss(trace.predict(0))])
    pipeline = generator._pipeline
    for part in (pipeline.unet, pipeline.text_encoder):
        assert "forward" not in vars(part)
    assert "step" not in vars(pipeline.scheduler)
    assert pipeline.safety_checker is not None
    after = [np.asarray(made.image) for made in generator.generate(PROMPTS, SEEDS)]
    assert all(map(np.array_equal, before, after))


def test_a_pipeline_whose_images_are_cut_off_is_refused(load: Loader) -> None:
    generator = load("sd15")
    trace = generator.trace(PROMPTS, SEEDS)
    decode = trace.pipeline.vae.decode
    trace.pipeline.vae.decode = lambda *args, **kwargs: _detached(decode(*args, **kwargs))
    with pytest.raises(InputError, match="gives no gradients"):
        trace.predict(0)


def _detached(made: Any) -> Any:
    return tuple(part.detach() for part in made)
