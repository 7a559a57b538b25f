"""The shipped generators and judges, through the code paths that every model takes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError
from biasgraph.models.base import Question
from biasgraph.models.registry import load_generator, load_judge
from biasgraph.runs.questions import questions_about
from biasgraph.sandbox.backends import WEIGHTS, WORLDS
from biasgraph.sandbox.training.caption_writing import attributes_of
from biasgraph.sandbox.training.data import NOBODY, draw_pictures
from biasgraph.sandbox.world import AXES

PROMPTS = ["a librarian", "a photo of a male chef", "a nurse who is tired", "an old farmer"]
SEEDS = [11, 12, 13, 14]


def _images(generator, prompts, seeds):
    return [picture.image for picture in generator.generate(prompts, seeds)]


@pytest.mark.slow(reason="two generators; models/test_diffusers.py has the pipelines")
@pytest.mark.parametrize("world", WORLDS)
def test_an_image_depends_on_its_prompt_and_seed_alone(world: str) -> None:
    generator = load_generator(f"sandbox:{world}")
    together = _images(generator, PROMPTS, SEEDS)
    again = _images(load_generator(f"sandbox:{world}"), PROMPTS, SEEDS)
    backwards = _images(generator, PROMPTS[::-1], SEEDS[::-1])[::-1]
    other = _images(generator, PROMPTS, [seed + 1 for seed in SEEDS])
    for i, image in enumerate(together):
        assert image.size == (64, 64)
        assert image.tobytes() == again[i].tobytes()
        assert image.tobytes() != other[i].tobytes()
        moved = np.asarray(image).astype(int) - np.asarray(backwards[i])
        assert np.abs(moved).max() <= 1  # another batch may round another way


@pytest.mark.parametrize("spec", ["sandbox", "sandbox:judge2"])
def test_judges_read_drawings(spec: str) -> None:
    from PIL import Image

    pictures = draw_pictures("debiased", 120, 77)
    images = [Image.fromarray(image) for image in pictures.images]
    gate, asked = questions_about(load_axis_set("occupation"))
    questions = [gate, *(question for axis in asked for question in axis.questions)]
    replies = load_judge(spec).answer(images, questions)
    right = 0
    people = [i for i in range(len(images)) if pictures.occupation[i] != NOBODY]
    for i in range(len(images)):
        assert (replies[i][0].choice == 0) == (i in people)
    for i, person in zip(people, attributes_of(pictures.shown[people]), strict=True):
        start = 1
        for axis in asked:
            end = start + len(axis.questions)
            right += axis.verdict(replies[i][start:end]).answer == person[axis.axis]
            start = end
    assert right / (len(people) * len(AXES)) >= 0.98


@pytest.mark.parametrize("spec", ["sandbox", "sandbox:judge2"])
def test_an_answer_does_not_depend_on_its_batch(spec: str) -> None:
    images = _images(load_generator("sandbox:stereotyped"), PROMPTS, SEEDS)
    _, asked = questions_about(load_axis_set("occupation"))
    questions = [question for axis in asked for question in axis.questions]
    judge = load_judge(spec)
    together = judge.answer(images, questions)
    for image, replies in zip(images, together, strict=True):
        alone = judge.answer([image], questions)[0]
        for reply, same in zip(replies, alone, strict=True):
            assert reply.choice == same.choice
            assert reply.probabilities == pytest.approx(same.probabilities, abs=1e-5)
            assert sum(reply.probabilities) == pytest.approx(1)


@pytest.mark.parametrize("spec", ["sandbox", "sandbox:judge2"])
def test_a_picture_that_shows_neither_is_unknown(spec: str) -> None:
    from PIL import Image

    _, asked = questions_about(load_axis_set("occupation"))
    questions = [question for axis in asked for question in axis.questions]
    rng = np.random.default_rng(4)
    noise = [Image.fromarray(rng.integers(0, 256, (64, 64, 3), dtype=np.uint8)) for _ in range(20)]
    answers = [reply for row in load_judge(spec).answer(noise, questions) for reply in row]
    assert any(reply.choice is None for reply in answers)
    assert all(
        (reply.choice is None) == (reply.confidence < load_judge(spec).settings["unknown_below"])
        for reply in answers
    )


def test_judge2_refuses_what_it_never_learnt() -> None:
    image = _images(load_generator("sandbox:stereotyped"), PROMPTS[:1], SEEDS[:1])
    hats = Question("Which hat?", ("top hat", "none"), ("a person in a top hat", "a person"))
    with pytest.raises(InputError, match="eight axes"):
        load_judge("sandbox:judge2").answer(image, [hats])


def test_prompts_beyond_the_window_are_refused_with_the_count() -> None:
    generator = load_generator("sandbox:stereotyped")
    generator.check_prompts(PROMPTS)
    with pytest.raises(InputError, match=r"has \d+ tokens, and sandbox:stereotyped reads 32"):
        generator.check_prompts(["a librarian " + "who is happy " * 12])


def test_the_window_is_counted_as_the_pipeline_counts_it() -> None:
    from transformers import CLIPTokenizer

    pipeline = CLIPTokenizer.from_pretrained(WEIGHTS / "stereotyped" / "tokenizer")
    generator = load_generator("sandbox:stereotyped")
    words = "a photo of a middle-aged librarian with a xylophone, naïve 図書館 😀 "
    for length in range(1, 12):
        prompt = " ".join((words * 3).split()[:length])
        fits = len(pipeline(prompt).input_ids) <= 32
        if fits:
            generator.check_prompts([prompt])
        else:
            with pytest.raises(InputError):
                generator.check_prompts([prompt])


def test_unseen_words_are_named() -> None:
    generator = load_generator("sandbox:stereotyped")
    assert generator.unseen_words(["a Librarian", "a photo of a zealous astronaut"]) == [
        "astronaut",
        "zealous",
    ]


@pytest.mark.parametrize(
    ("load", "spec", "hint"),
    [
        (load_generator, "sandbox:stereotypd", "Did you mean 'stereotyped'"),
        (load_generator, "sandbx:stereotyped", "Did you mean 'sandbox'"),
        (load_generator, "nothing", "no backend 'nothing'"),
        (load_judge, "sandbox:judge", "Did you mean 'judge2'"),
    ],
)
def test_a_misspelt_spec_gets_a_hint(load: object, spec: str, hint: str) -> None:
    with pytest.raises(InputError, match=hint):
        load(spec)  # type: ignore[operator]


def test_specs_and_fingerprints_load_no_weights() -> None:
    code = (
        "import sys\n"
        "from biasgraph.models.registry import load_generator, load_judge\n"
        "for model in (load_generator('sandbox:debiased'), load_judge('sandbox')):\n"
        "    assert model.fingerprint.startswith('sha256:') and model.settings\n"
        "load_generator('sandbox:debiased').check_prompts(['a librarian'])\n"
        "assert not {'torch', 'diffusers', 'transformers'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_weights_are_safetensors_in_half_precision_and_small() -> None:
    from safetensors import safe_open

    files = [path for path in WEIGHTS.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".json", ".safetensors"}
    assert sum(path.stat().st_size for path in files) <= 25 * 2**20
    for path in files:
        if path.suffix == ".safetensors":
            with safe_open(path, framework="pt") as stored:
                kinds = {str(stored.get_slice(name).get_dtype()) for name in stored.keys()}  # noqa: SIM118
            assert kinds <= {"F16", "I64"}, path
