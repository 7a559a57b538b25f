"""Prompts written by gradients: the target becomes probable, and nothing is left behind."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from biasgraph.errors import InputError
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.pez import HardPrompt, write_hard_prompt
from biasgraph.models.probe import Probe
from biasgraph.models.registry import load_generator
from tests.models import tiny_pipelines
from tests.models.test_middle_activations import hooks_of
from tests.models.tiny_pipelines import Loader

MORE = pytest.mark.slow(reason="the same once more; one of them stays")

OPENING, NEUTRAL, SEEDS, STEP = "a photo of a", "a photo of a person", [0, 1, 2], 2


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Loader:
    return tiny_pipelines.loader(tmp_path_factory.mktemp("tiny"), steps=4)


@pytest.fixture(scope="module")
def sandbox() -> Any:
    return load_generator("sandbox:stereotyped", ModelOptions(device="cpu"))


def difference_probe(generator: Any, one: str, other: str, axis: str = "gender") -> Probe:
    """A head on what tells two prompts' images apart."""
    seeds = range(12)
    seen = [generator.middle_at([text] * 12, seeds, STEP).values[:, 0] for text in (one, other)]
    both = torch.cat(seen)
    mean, scale = both.mean(dim=0), both.std(dim=0) + 1e-3
    way = (seen[0].mean(dim=0) - seen[1].mean(dim=0)) / scale
    weight = torch.stack([way, -way]) * 2 / float(way.square().sum())
    names = (one.split()[-2], other.split()[-2])
    parts = (weight[None], torch.zeros(1, 2), mean[None], scale[None])
    return Probe(axis, names, (STEP,), 10, *parts)


def random_probe(width: int, of: int = 4) -> Probe:
    rng = torch.Generator().manual_seed(0)
    weight = torch.randn(1, 2, width, generator=rng) / width**0.5
    parts = (weight, torch.zeros(1, 2), torch.zeros(1, width), torch.ones(1, width))
    return Probe("gender", ("male", "female"), (STEP,), of, *parts)


def probability(shared: Any, text: str, probe: Probe, place: int) -> float:
    condition = shared.encode([text])[0]
    seen = shared.activations([(condition, latent) for latent in range(len(SEEDS))])
    return float(probe.probabilities(seen, STEP)[:, place].mean())


@pytest.mark.slow(reason="a search of its own")
@pytest.mark.parametrize("attribute", ["female", pytest.param("male", marks=MORE)])
def test_the_target_becomes_probable_on_the_sandbox(sandbox: Any, attribute: str) -> None:
    probe = difference_probe(sandbox, "a photo of a male doctor", "a photo of a female doctor")
    place = probe.attributes.index(attribute)
    shared = sandbox.shared_latents(NEUTRAL, SEEDS, STEP)
    hooks = hooks_of(sandbox._pipeline)
    before = shared.passes
    found = write_hard_prompt(shared, OPENING, [(probe, attribute)], tokens=3, iterations=25)
    assert found.passes == shared.passes - before <= (25 + 1) * len(SEEDS)
    assert found.passes % len(SEEDS) == 0 and len(found.losses) == 25
    assert min(found.losses) < found.losses[0]
    assert found.text.startswith(f"{OPENING} ") and len(found.text.split()) >= 7
    assert found.probability == pytest.approx(probability(shared, found.text, probe, place), 1e-4)
    assert found.probability > probability(shared, OPENING, probe, place) + 0.1
    assert hooks_of(sandbox._pipeline) == hooks
    assert "forward" not in vars(sandbox._pipeline.unet)


def test_the_gradient_is_that_of_the_text_that_is_read(sandbox: Any) -> None:
    """What is spliced in is what the text encoder reads of the same words as plain text."""
    probe = difference_probe(sandbox, "a photo of a male doctor", "a photo of a female doctor")
    shared = sandbox.shared_latents(NEUTRAL, SEEDS, STEP)
    found = write_hard_prompt(shared, OPENING, [(probe, "male")], tokens=2, iterations=1)
    condition = shared.encode([found.text])[0]
    seen = shared.activations([(condition, latent) for latent in range(len(SEEDS))])
    own = -probe.probabilities(seen, STEP)[:, 0].log().mean()
    assert found.losses[0] == pytest.approx(float(own), abs=1e-4)


def test_several_axes_add_up(sandbox: Any) -> None:
    gender = difference_probe(sandbox, "a photo of a male doctor", "a photo of a female doctor")
    age = difference_probe(sandbox, "a photo of an old doctor", "a photo of a young doctor", "age")
    shared = sandbox.shared_latents(NEUTRAL, SEEDS, STEP)
    targets = [(gender, "female"), (age, "old")]
    found = write_hard_prompt(shared, OPENING, targets, tokens=2, iterations=4)
    assert set(found.probabilities) == {"gender", "age"}
    product = found.probabilities["gender"] * found.probabilities["age"]
    assert found.probability == pytest.approx(product)


@pytest.mark.slow(reason="several text encoders")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "sd15" else MORE) for name in tiny_pipelines.BUILDERS],
)
def test_a_seed_reproduces_on_several_text_encoders(name: str, load: Loader) -> None:
    generator = load(name)
    shared = generator.shared_latents(NEUTRAL, SEEDS, STEP)
    targets = [(random_probe(generator._observed.guidance.width), "male")]

    def write(seed: int) -> HardPrompt:
        return write_hard_prompt(shared, OPENING, targets, tokens=2, iterations=5, seed=seed)

    one, again, other = write(1), write(1), write(2)
    assert (one.text, one.passes) == (again.text, again.passes)
    assert one.losses == pytest.approx(again.losses, abs=1e-4)
    assert one.losses != pytest.approx(other.losses, abs=1e-7)
    assert 0 < one.probability < 1
    # What the encoders read of the projection is what they read of the text.
    best = write_hard_prompt(shared, OPENING, targets, tokens=2, iterations=1, seed=1)
    condition = shared.encode([best.text])[0]
    seen = shared.activations([(condition, latent) for latent in range(len(SEEDS))])
    own = -targets[0][0].probabilities(seen, STEP)[:, 0].log().mean()
    assert best.losses[0] == pytest.approx(float(own), abs=1e-4)


def test_an_attribute_that_the_probe_lacks_is_refused(sandbox: Any) -> None:
    shared = sandbox.shared_latents(NEUTRAL, SEEDS, STEP)
    with pytest.raises(InputError, match="'gender' tells male, female apart, not 'old'"):
        write_hard_prompt(shared, OPENING, [(random_probe(384), "old")])


def test_an_opening_without_room_is_refused(sandbox: Any) -> None:
    shared = sandbox.shared_latents(NEUTRAL, SEEDS, STEP)
    opening = " ".join(["a photo of a doctor"] * 6)
    with pytest.raises(InputError, match=r"and 5 more tokens are 37, and .* reads 32: shorten"):
        write_hard_prompt(shared, opening, [(random_probe(384, 10), "male")])


def test_a_text_encoder_without_embeddings_is_refused(load: Loader) -> None:
    generator = load("sd15")
    shared = generator.shared_latents(NEUTRAL, SEEDS, STEP)
    generator._pipeline.tokenizer = None
    with pytest.raises(InputError, match="no text encoder whose token embeddings can be exch"):
        write_hard_prompt(shared, OPENING, [(random_probe(64), "male")])
