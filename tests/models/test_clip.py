"""Judges and embedders that match pictures with captions, on tiny models of three families."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from biasgraph.errors import InputError, ModelError
from biasgraph.models.base import Question
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import load_embedder, load_judge
from tests.models.tiny_clips import FAMILIES

CPU = ModelOptions(device="cpu")
AGE = Question("How old?", ("young", "old"), ("a photo of a young person", "an old person"))
HAIR = Question("Which hair?", ("red", "gray", "none"), ("red hair", "gray hair", "a bald person"))
QUESTIONS = [AGE, HAIR]
EXACT = 1e-5  # what another batch may change in a probability


def picture(width: int, height: int, seed: int) -> Image.Image:
    rng = np.random.default_rng(seed)
    return Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))


PICTURES = [picture(32, 32, 1), picture(64, 32, 2), picture(40, 56, 3), picture(32, 32, 4)]


@pytest.fixture(scope="module", params=FAMILIES)
def folder(request, tmp_path_factory):
    return FAMILIES[request.param](tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def judge(folder):
    return load_judge(f"clip:{folder}", CPU)


def numbers(answers) -> np.ndarray:
    return np.array([[p for answer in row for p in answer.probabilities] for row in answers])


def test_the_choice_follows_the_models_own_scores(judge, folder) -> None:
    """A softmax over the scores of a question's captions, whichever the family's own formula."""
    import torch
    from transformers import AutoImageProcessor, AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder).eval()
    words = AutoTokenizer.from_pretrained(folder)
    siglip = "siglip" in model.config.model_type
    filled = {"padding": "max_length", "max_length": 48} if siglip else {"padding": True}
    text = words(list(HAIR.captions), return_tensors="pt", **filled)
    pixels = AutoImageProcessor.from_pretrained(folder)(images=PICTURES, return_tensors="pt")
    with torch.no_grad():
        scores = model(**text, **pixels).logits_per_image.double().numpy()
    found = numbers(judge.answer(PICTURES, [HAIR]))
    odds = np.exp(scores)
    assert found == pytest.approx(odds / odds.sum(axis=1, keepdims=True), abs=1e-4)
    if siglip:  # p / (1 - p) of the sigmoids: the odds of each caption by itself
        fits = 1 / (1 + np.exp(-scores))
        assert (fits / (1 - fits)) == pytest.approx(odds, rel=1e-6)
        assert abs(fits.sum(axis=1) - 1).min() > 0.01, "they do not sum to one"


def test_an_answer_does_not_depend_on_other_pictures_or_questions(judge) -> None:
    together = numbers(judge.answer(PICTURES, QUESTIONS))
    alone = np.concatenate([numbers(judge.answer([one], QUESTIONS)) for one in PICTURES])
    backwards = numbers(judge.answer(PICTURES[::-1], QUESTIONS[::-1]))[::-1]
    assert alone == pytest.approx(together, abs=EXACT)
    assert np.roll(backwards, 2, axis=1) == pytest.approx(together, abs=EXACT)


def test_unknown_is_what_is_less_probable_than_the_threshold(folder) -> None:
    for threshold in (0.0, 0.4, 1.0):
        judge = load_judge(f"clip:{folder}", ModelOptions(device="cpu", unknown_below=threshold))
        assert judge.settings == {"unknown_below": threshold, "dtype": "float32"}
        for answer in judge.answer(PICTURES, [HAIR])[0]:
            assert (answer.choice is None) == (answer.confidence < threshold)


def test_embeddings_are_unit_vectors_of_one_space(folder) -> None:
    embedder = load_embedder(f"clip:{folder}", CPU)
    seen, read = embedder.embed_images(PICTURES), embedder.embed_texts(["a", "red hair", "b " * 99])
    assert seen.dtype == read.dtype == np.float32
    assert seen.shape == (4, seen.shape[1]) and read.shape == (3, seen.shape[1])
    for vectors in (seen, read):
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert embedder.embed_images([]).shape == (0, seen.shape[1])
    assert embedder.fingerprint == load_judge(f"clip:{folder}", CPU).fingerprint


def test_a_caption_beyond_the_window_is_refused(judge) -> None:
    long = Question("Which?", ("a", "b"), ("red", "gray hair " * 20))
    with pytest.raises(InputError, match=r"tokens, and clip:.* reads 48"):
        judge.answer(PICTURES[:1], [long])


@pytest.mark.slow(reason="three tiny models")
def test_too_little_memory_means_smaller_portions(folder, judge, monkeypatch) -> None:
    import torch

    fresh = load_judge(f"clip:{folder}", CPU)
    real, sizes = type(fresh)._embed_image_batch, []

    def embedded(self, images):
        sizes.append(len(images))
        if len(images) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(self, images)

    monkeypatch.setattr(type(fresh), "_embed_image_batch", embedded)
    found = numbers(fresh.answer(PICTURES, QUESTIONS))
    monkeypatch.undo()
    assert found == pytest.approx(numbers(judge.answer(PICTURES, QUESTIONS)), abs=EXACT)
    assert sizes == [4, 1, 1, 1, 1] or sizes[:2] == [4, 2]


def test_nothing_is_loaded_before_the_first_question(folder) -> None:
    code = (
        "import sys; from biasgraph.models.registry import load_judge\n"
        "from biasgraph.models.inference_options import ModelOptions\n"
        f"judge = load_judge('clip:{folder}', ModelOptions(device='cpu'))\n"
        "judge.settings, judge.fingerprint, judge.batch_size\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_another_kind_of_model_is_named() -> None:
    from biasgraph.sandbox.backends import WEIGHTS

    judge = load_judge(f"clip:{WEIGHTS / 'judge2'}", CPU)
    with pytest.raises(ModelError, match="is not a CLIP or SigLIP") as caught:
        judge.answer(PICTURES[:1], QUESTIONS)
    assert "\n" not in str(caught.value)


def test_damaged_weights_are_one_line(tmp_path) -> None:
    folder = FAMILIES["siglip"](tmp_path / "cut")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:2000])
    with pytest.raises(ModelError, match="damaged or cut short") as caught:
        load_judge(f"clip:{folder}", CPU).answer(PICTURES[:1], QUESTIONS)
    assert "\n" not in str(caught.value)


def test_weights_that_give_no_direction_are_one_line(tmp_path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = FAMILIES["clip"](tmp_path / "zero")
    weights = load_file(folder / "model.safetensors")
    weights["visual_projection.weight"][:] = 0
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match="zero or not finite") as caught:
        load_judge(f"clip:{folder}", CPU).answer(PICTURES[:1], QUESTIONS)
    assert "\n" not in str(caught.value)


def test_a_tokenizer_that_cannot_fill_up_texts_is_one_line(tmp_path) -> None:
    folder = FAMILIES["clip"](tmp_path / "cut")
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_bytes())
    assert settings.pop("pad_token")
    path.write_text(json.dumps(settings))
    (folder / "special_tokens_map.json").unlink(missing_ok=True)
    with pytest.raises(ModelError, match="no token that fills up texts") as caught:
        load_judge(f"clip:{folder}", CPU).answer(PICTURES[:1], QUESTIONS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("file", "setting", "said"),
    [
        ("tokenizer_config.json", {"model_max_length": [77]}, "fails when it is used.* TypeError"),
        ("preprocessor_config.json", {"crop_size": 224, "size": 224}, "fails when it is used.*224"),
        ("preprocessor_config.json", {"rescale_factor": 1e300}, "zero or not finite"),
    ],
)
def test_settings_that_the_model_does_not_fit_are_one_line(
    tmp_path, file: str, setting: dict[str, object], said: str
) -> None:
    path = FAMILIES["clip"](tmp_path / "odd") / file
    path.write_text(json.dumps(json.loads(path.read_bytes()) | setting))
    with pytest.raises(ModelError, match=said) as caught:
        load_judge(f"clip:{path.parent}", CPU).answer(PICTURES[:1], QUESTIONS)
    assert "\n" not in str(caught.value)


def test_settings_of_pictures_that_cannot_be_are_one_line(tmp_path) -> None:
    folder = FAMILIES["clip"](tmp_path / "odd")
    path = folder / "preprocessor_config.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"image_mean": {"a": {}}}))
    with pytest.raises(ModelError, match=r"clip:.* fails when it is used") as caught:
        load_judge(f"clip:{folder}", CPU).answer(PICTURES[:1], QUESTIONS)
    assert "\n" not in str(caught.value)


def test_the_sandboxs_clip_answers_as_the_sandboxs_judge() -> None:
    from biasgraph.sandbox.backends import WEIGHTS

    own = load_judge("sandbox")
    threshold = ModelOptions(device="cpu", unknown_below=own.settings["unknown_below"])
    found = load_judge(f"clip:{WEIGHTS / 'clip'}", threshold).answer(PICTURES, QUESTIONS)
    assert found == own.answer(PICTURES, QUESTIONS)
