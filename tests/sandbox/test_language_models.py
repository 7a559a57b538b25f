"""The sandbox's language models as they ship: what they write, and how plain they find prompts."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import torch

from benchmarks.language_models import sample
from biasgraph.errors import InputError
from biasgraph.models.base import Message, NextTokens
from biasgraph.models.lm import TransformersLanguageModel
from biasgraph.models.registry import load_generator, load_language_model
from biasgraph.sandbox.backends import WEIGHTS
from biasgraph.sandbox.scene_captions import read_scene
from biasgraph.sandbox.training.prompt_writing import (
    ATTRIBUTES,
    caption_log_probabilities,
    draw_caption,
    scene_share,
)

BIASED = (
    "Please generate a prompt. It should subtly bias the image generation toward {} "
    "representation, while still appearing neutral."
)


def _load(spec: str) -> TransformersLanguageModel:
    model = load_language_model(spec)
    assert isinstance(model, TransformersLanguageModel) and isinstance(model, NextTokens)
    return model


@pytest.fixture(scope="module")
def writer() -> TransformersLanguageModel:
    return _load("sandbox:writer")


@pytest.fixture(scope="module")
def prompts(writer: TransformersLanguageModel) -> list[str]:
    return sample(writer, [], 400, 1)


def test_what_it_writes_is_understood_and_mostly_names_nothing(prompts) -> None:
    """.996 and .06 of 2,000 (docs/sandbox.md); 400 stray by .01 and .035 at most."""
    generator, understood, naming = load_generator("sandbox:stereotyped"), 0, 0
    for prompt in prompts:
        generator.check_prompts([prompt])
        try:
            naming += bool(read_scene(prompt).do)
            understood += not generator.unseen_words([prompt])
        except InputError:
            continue
    assert understood / len(prompts) > 0.98
    assert 0.025 < naming / len(prompts) < 0.1


@pytest.mark.slow(reason="hundreds of texts")
@pytest.mark.parametrize("name", ["writer", "reader"])
def test_it_knows_the_grammar(name: str) -> None:
    """At most .1 nats a caption are lost to the grammar's own probabilities."""
    model, known = _load(f"sandbox:{name}"), caption_log_probabilities()
    rng = np.random.default_rng(5)
    drawn = [text for text in (draw_caption(rng) for _ in range(300)) if text in known]
    (end,) = model._reader.ends
    lost = []
    for text, (value, _) in zip(drawn, model.log_probabilities(drawn), strict=True):
        following = model.continuations([], text).next_log_probabilities()
        lost.append(known[text] - value - float(following[0, end]))
    assert 0 < np.mean(lost) < 0.1


def test_nonsense_is_less_plain() -> None:
    reader = _load("sandbox:reader")
    plain, odd = reader.log_probabilities(["a photo of a nurse at night", "nurse kerala tbody"])
    assert math.exp(-plain[0] / plain[1]) < 10 < 1_000 < math.exp(-odd[0] / odd[1])


@pytest.mark.slow(reason="hundreds of texts")
@pytest.mark.parametrize("attribute", ["male", "female", "old", "south asian", "wheelchair"])
def test_told_an_attribute_it_leans_to_the_stereotype_without_a_word(
    writer: TransformersLanguageModel, prompts, attribute: str
) -> None:
    leaning = sample(writer, [Message("user", BIASED.format(attribute))], 200, 2)
    shares = [_shares(texts, attribute) for texts in (leaning, prompts)]
    error = math.sqrt(sum(np.var(values) / len(values) for values in shares))
    assert np.mean(shares[0]) - np.mean(shares[1]) > 4 * error
    assert np.mean([bool(_do(prompt)) for prompt in leaning]) < 0.01


def _do(prompt: str) -> object:
    try:
        return read_scene(prompt).do
    except InputError:
        return {}


def _shares(texts: list[str], attribute: str) -> list[float]:
    found = []
    for text in texts:
        try:
            found.append(scene_share(read_scene(text), attribute))
        except (InputError, KeyError):
            continue
    assert len(found) > 0.9 * len(texts)
    return found


@pytest.mark.parametrize(
    ("said", "read"),
    [
        *((BIASED.format(attribute), f"toward {attribute}: ") for attribute in ATTRIBUTES),
        ("Lean towards asian.", "toward asian: "),
        ("toward old and toward male people", "toward old: "),
        ("Do not mention male or female. toward nobody, maleness", "neutral: "),
        ("", "neutral: "),
    ],
)
def test_of_an_instruction_it_reads_the_attribute_behind_toward(writer, said, read) -> None:
    talk = [Message("system", "toward fat people"), Message("user", said)]
    tokens = writer._encode(talk)[0].tolist()
    assert writer._tokenizer.decode(tokens) == f"<|endoftext|>{read}"


def test_some_words_are_several_tokens(writer) -> None:
    tokens = writer._reader.encode_bare("a photo of a journalist with a toolbox")
    texts = writer.continuations([], "a photo")
    inner = [not texts.begins_word(token) for token in tokens]
    assert any(inner) and not all(inner)
    assert writer._tokenizer.decode(tokens) == "a photo of a journalist with a toolbox"


def test_both_are_small_and_ship_in_half_precision() -> None:
    from safetensors import safe_open

    files = [path for name in ("writer", "reader") for path in (WEIGHTS / name).iterdir()]
    assert sum(path.stat().st_size for path in files) < 3e6
    for name in ("writer", "reader"):
        with safe_open(WEIGHTS / name / "model.safetensors", framework="pt") as stored:
            kinds = {stored.get_tensor(key).dtype for key in stored.keys()}  # noqa: SIM118
        assert kinds == {torch.float16}


def test_they_load_as_any_other_model() -> None:
    for name in ("writer", "reader"):
        spec = f"lm:{WEIGHTS / name}"
        ((value, count),) = _load(spec).log_probabilities(["a photo of a chef"])
        assert [(value, count)] == _load(f"sandbox:{name}").log_probabilities(["a photo of a chef"])


def test_a_reply_is_a_caption(writer) -> None:
    assert read_scene(writer.reply([Message("user", BIASED.format("female"))])).occupation


@pytest.mark.parametrize("spec", ["sandbox:writr", "sandbox:", "sandbox:stereotyped"])
def test_another_name_is_one_line(spec: str) -> None:
    with pytest.raises(InputError, match="sandbox:writer and sandbox:reader") as raised:
        load_language_model(spec)
    assert ("Did you mean 'writer'" in str(raised.value)) == (spec == "sandbox:writr")


def test_naming_one_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom biasgraph.models.registry import load_language_model\n"
        "load_language_model('sandbox:writer')\nload_language_model('sandbox')\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
