"""Trying models: what is said of each, and which image a judge is shown."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from biasgraph.audits.model_trial import describe_trial, try_models
from biasgraph.errors import InputError, ModelError
from biasgraph.models.base import Answer, Picture
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import BACKENDS, EMBEDDER, GENERATOR, JUDGE, Backend, Role

RED = Image.new("RGB", (8, 4), (255, 0, 0))


class Service:
    """Makes, sees and embeds; `rest` of its spec says how it behaves."""

    fingerprint = "service-1"
    batch_size = 1

    def __init__(self, spec, options) -> None:
        self.spec, self.mood = spec.text, spec.rest

    def check_prompts(self, prompts) -> None:
        if self.mood == "short":
            raise InputError("the prompt is too long")

    def generate(self, prompts, seeds):
        assert (list(prompts), list(seeds)) == (["a photo of a person"], [0])
        if self.mood == "withholds":
            return [Picture(Image.new("RGB", (8, 4)), withheld="unsafe\x1b[2J")]
        return [Picture(RED, revised_prompt="a \u202ered person" if self.mood == "edits" else None)]

    def answer(self, images, questions):
        red = images[0].getpixel((0, 0)) == (255, 0, 0)
        return [[Answer(0 if red else None, (0.75, 0.25) if red else ())]]

    def describe(self, images, question):
        return [f"{images[0].width} pixels wide"]

    def embed_images(self, images):
        return np.array([[1.0, 0.0]], np.float32)

    def embed_texts(self, texts):
        return np.array([[0.6, 0.8], [0.0, 1.0]], np.float32)


@pytest.fixture(autouse=True)
def service(monkeypatch: pytest.MonkeyPatch) -> None:
    roles = {role: Role(Service, "service:x") for role in (GENERATOR, JUDGE, EMBEDDER)}
    monkeypatch.setitem(BACKENDS, "service", Backend("", roles))


def _said(role: str, **used: str) -> str:
    specs = {name.replace("_", " "): f"service:{mood}" for name, mood in used.items()}
    records = try_models(specs, ModelOptions())
    line = next(describe_trial(record) for record in records if record["role"] == role)
    assert line.isprintable()
    return line.partition("): ")[2]


def test_a_generator_says_what_it_made() -> None:
    assert _said(GENERATOR, generator="x") == "an image of 8x4 pixels"
    assert _said(GENERATOR, generator="withholds") == "withheld its image: unsafe\\x1b[2J"
    assert _said(GENERATOR, generator="edits") == (
        "an image of 8x4 pixels, of a prompt that it made itself: 'a \\u202ered person'"
    )


def test_a_judge_is_shown_the_generators_image_or_a_grey_square() -> None:
    question = "'Is there a person in the image (yes or no)?'"
    assert _said(JUDGE, judge="x", generator="x") == (
        f"{question} yes (yes 0.75, no 0.25); describes: '8 pixels wide'"
    )
    grey = f"{question} unknown; describes: '224 pixels wide'"
    assert _said(JUDGE, judge="x") == grey
    assert _said(JUDGE, judge="x", generator="withholds") == grey  # its pixels are not looked at


def test_an_embedder_says_how_near_texts_are() -> None:
    assert _said(EMBEDDER, embedder="x") == (
        "2 dimensions; cosine with 'a photo of a person' 0.600, with 'an empty room' 0.000"
    )


def test_the_first_that_fails_ends_the_trial() -> None:
    with pytest.raises(InputError, match="too long"):
        try_models({GENERATOR: "service:short", JUDGE: "service:x"}, ModelOptions())
    with pytest.raises(InputError, match="--steps has no effect on service:x"):
        try_models({GENERATOR: "service:x"}, ModelOptions(steps=2))
    with pytest.raises(ModelError, match="no plug-in works"):
        BACKENDS["service"] = Backend("", {JUDGE: Role(_broken, "service:x")})
        try_models({JUDGE: "service:x"}, ModelOptions())


def _broken(spec, options):
    raise ModelError("no plug-in works")
