"""Prompts are encoded once, and what is put together is what the encoder would have given."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.models.prompt_encodings import EncodingCache

TEXTS = st.lists(st.sampled_from(["a", "bb", "ccc", "dddd"]), min_size=1, max_size=6)


class Encoder:
    """Encodes like one of diffusers' pipelines, and counts the texts."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.texts: list[str] = []

    def __call__(
        self,
        prompt: list[str] | str,
        device: object = None,
        num_images_per_prompt: int = 1,
        negative_prompt: list[str] | None = None,
        prompt_embeds: torch.Tensor | None = None,
    ) -> Any:
        prompt = [prompt] if isinstance(prompt, str) else prompt
        self.texts += prompt
        rows = torch.tensor([[[float(ord(x[0])), len(x)]] * 3 for x in prompt])
        negatives = torch.tensor([[float(len(x))] for x in negative_prompt or prompt])
        match self.kind:
            case "sdxl":
                return rows, negatives, rows[:, 0], None
            case "flux":
                return rows, rows[:, 0], torch.zeros(3, 3)
            case "z-image":
                return [torch.full((len(x), 2), float(ord(x[0]))) for x in prompt], []
            case "bare":
                return rows
            case "padded":  # to the longest of a call
                longest = max(map(len, prompt))
                return (
                    torch.stack([torch.arange(longest * 2.0).reshape(-1, 2) for _ in prompt]),
                    None,
                )
            case _:  # packed: one long row of all texts, as some pipelines have it
                return torch.cat([torch.ones(len(x), 2) for x in prompt]), torch.arange(
                    len(prompt) + 1.0
                )


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    return one is None and other is None


KINDS = st.sampled_from(["sdxl", "flux", "z-image", "bare", "padded", "packed"])


@given(
    kind=st.sampled_from(["sdxl", "flux", "z-image", "bare", "padded", "packed"]),
    calls=st.lists(TEXTS, min_size=1, max_size=5),
)
def test_the_result_is_the_encoders_own(kind: str, calls: list[list[str]]) -> None:
    remembered = EncodingCache(Encoder(kind))
    for texts in calls:
        assert same(remembered(prompt=texts, device="cpu"), Encoder(kind)(texts))


@given(
    kind=st.sampled_from(["sdxl", "flux", "z-image", "bare"]),
    calls=st.lists(TEXTS, min_size=1, max_size=5),
)
def test_no_text_is_encoded_twice(kind: str, calls: list[list[str]]) -> None:
    encoder = Encoder(kind)
    remembered = EncodingCache(encoder)
    remembered(["x", "y"], "cpu", 1)
    encoder.texts.clear()
    for texts in calls:
        remembered(texts, "cpu", 1)
    assert sorted(encoder.texts) == sorted({text for texts in calls for text in texts})


def test_what_is_not_made_of_rows_is_not_taken_apart_twice() -> None:
    """A part that is shared, but looks like one row when there is one text."""

    class Shared(Encoder):
        def __call__(self, prompt: list[str], device: object = None) -> Any:
            self.texts += prompt
            return torch.ones(len(prompt), 2), torch.ones(1, 5)

    encoder = Shared("")
    remembered = EncodingCache(encoder)
    for _ in range(3):
        assert same(remembered(["a", "b"]), Shared("")(["a", "b"]))
    assert encoder.texts == ["a", "b"] * 4  # alone and together, then together


def test_texts_are_told_apart_by_what_goes_with_them() -> None:
    encoder = Encoder("sdxl")
    remembered = EncodingCache(encoder)
    remembered(["x", "y"])
    encoder.texts.clear()
    one = remembered(["a", "a"], negative_prompt=["x", "yy"])
    other = remembered(["a"], negative_prompt=["yy"])
    assert one[1].tolist() == [[1.0], [2.0]] and other[1].tolist() == [[2.0]]
    assert encoder.texts == ["a", "a"]


def test_calls_about_other_things_are_passed_on() -> None:
    encoder = Encoder("sdxl")
    remembered = EncodingCache(encoder)
    for _ in range(2):
        remembered("a")
        remembered(["a"], prompt_embeds=torch.ones(1))
        remembered(["a"], num_images_per_prompt=2)
    assert encoder.texts == ["a"] * 6


def test_memory_is_bounded_and_can_be_freed() -> None:
    encoder = Encoder("bare")
    # Three rows of two numbers of four bytes: one text.
    remembered = EncodingCache(encoder, room=24)
    for _ in range(3):
        assert same(remembered(["a", "bb"]), Encoder("bare")(["a", "bb"]))
    assert encoder.texts == ["a", "bb", "a", "bb", "bb", "bb"]
    remembered.forget()
    remembered(["bb"])
    remembered(["bb"])
    assert encoder.texts[6:] == ["bb"]
