"""The log-probability of texts, against a pass over each by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from biasgraph.errors import InputError
from biasgraph.models.registry import load_language_model
from tests.models import tiny_lm

TEXTS = ["a photo of a chef", "", "é", "a nurse at night, seen from very far away", "x"] * 5


@pytest.mark.parametrize("kind", ["GPT2", "Llama"])
def test_texts_in_batches_are_as_probable_as_one_by_one(tmp_path: Path, kind: str) -> None:
    if kind == "GPT2":
        tiny_lm.save_gpt2(tmp_path / "m")
    else:
        tiny_lm.save_causal(tmp_path / "m", kind)
    model = load_language_model(f"lm:{tmp_path / 'm'}")
    found = model.log_probabilities(TEXTS)
    for text, (value, count) in zip(TEXTS, found, strict=True):
        tokens = [0, *model._tokenizer(text)["input_ids"]]  # the end token stands for a first one
        with torch.no_grad():
            shares = model._model(torch.tensor([tokens])).logits[0].log_softmax(-1)
        expected = sum(float(shares[i, token]) for i, token in enumerate(tokens[1:]))
        assert count == len(tokens) - 1
        assert value == pytest.approx(expected, abs=1e-3)
    assert found[1] == (0.0, 0)


def test_without_a_token_to_begin_with_the_first_one_is_not_counted(tmp_path: Path) -> None:
    model = load_language_model(f"lm:{tiny_lm.save_endless(tmp_path / 'endless')}")
    ((_, count), (one, none)) = model.log_probabilities(["a photo of", "photo"])
    assert (count, one, none) == (2, 0.0, 0)


def test_they_agree_with_the_continuations(tmp_path: Path) -> None:
    model = load_language_model(f"lm:{tiny_lm.save_gpt2(tmp_path / 'm')}")
    texts = model.continuations([], "")
    total = 0.0
    for token in model._tokenizer("a chef")["input_ids"]:
        total += float(texts.next_log_probabilities()[0, token])
        texts.extend([token])
    assert texts.text(0) == "a chef"
    assert model.log_probabilities(["a chef"]) == [(pytest.approx(total, abs=1e-4), 6)]


def test_a_text_longer_than_the_window_is_one_line(tmp_path: Path) -> None:
    model = load_language_model(f"lm:{tiny_lm.save_gpt2(tmp_path / 'm', positions=16)}")
    with pytest.raises(InputError, match=r"has 201 tokens, and lm:.* reads 16") as raised:
        model.log_probabilities(["short", "x" * 200])
    assert str(raised.value).isprintable()
    assert model.log_probabilities(["x" * 15])[0][1] == 15
