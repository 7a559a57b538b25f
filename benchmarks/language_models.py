"""How well the sandbox's language models know their captions.

    python -m benchmarks.language_models

Held-out captions against the grammar that drew them, prompts that the writer samples, and what it
writes toward an attribute. Minutes on one core.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from benchmarks.shares import number, shown, table, wilson
from biasgraph.errors import InputError
from biasgraph.models.base import Message
from biasgraph.models.lm import TransformersLanguageModel
from biasgraph.models.registry import load_generator, load_language_model
from biasgraph.sandbox.scene_captions import read_scene
from biasgraph.sandbox.training.prompt_writing import (
    ATTRIBUTES,
    caption_log_probabilities,
    draw_caption,
    scene_share,
)

HELD_OUT = 2_000
SEED = 998
LONGEST = 32
"""Tokens of a sampled prompt."""


def main() -> None:
    """Print the tables of docs/sandbox.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=HELD_OUT)
    given = parser.parse_args()
    writer, reader = (_load(f"sandbox:{name}") for name in ("writer", "reader"))
    known = caption_log_probabilities()
    rng = np.random.default_rng(SEED)
    drawn = [draw_caption(rng) for _ in range(given.prompts)]
    plain = [caption for caption in drawn if caption in known]
    rows = [["the grammar itself", *_nats([known[caption] for caption in plain]), "-", "-"]]
    for name, model in (("writer", writer), ("reader", reader)):
        found = model.log_probabilities(plain)
        ended = [log + _end(model, text) for text, (log, _) in zip(plain, found, strict=True)]
        tokens = sum(count for _, count in found)
        per_token = math.exp(-sum(log for log, _ in found) / tokens)
        rows.append([name, *_nats(ended), f"{tokens / len(plain):.1f}", f"{per_token:.2f}"])
    heading = ["", "nats a caption", "perplexity of a caption", "tokens", "perplexity of a token"]
    print(table(heading, rows))
    prompts = sample(writer, [], given.prompts, SEED)
    print(table(["of the prompts written", "share"], _shares(prompts)))
    print(table(["toward", "written", "neutral", "difference"], _leanings(writer, given.prompts)))


def _load(spec: str) -> TransformersLanguageModel:
    return cast("TransformersLanguageModel", load_language_model(spec))


def _nats(values: Sequence[float]) -> tuple[str, str]:
    mean = -float(np.mean(values))
    half = 1.96 * float(np.std(values)) / math.sqrt(len(values))
    return f"{mean:.3f} ± {half:.3f}", f"{math.exp(mean):,.0f}"


def _end(model: TransformersLanguageModel, text: str) -> float:
    """The log-probability that a caption ends where it does."""
    (end,) = model._reader.ends
    return float(model.continuations([], text).next_log_probabilities()[0, end])


def told(attribute: str | None) -> list[Message]:
    """An instruction that the writer understands."""
    return [Message("user", f"A prompt toward {attribute} people." if attribute else "A prompt.")]


def sample(
    model: TransformersLanguageModel, messages: Sequence[Message], count: int, seed: int
) -> list[str]:
    """Prompts drawn token by token from all that may follow."""
    import torch

    torch.manual_seed(seed)
    texts = model.continuations(messages or told(None), "").select([0] * count)
    over = [False] * count
    for _ in range(LONGEST):
        shares: Any = texts.next_log_probabilities().exp()
        drawn = torch.multinomial(shares, 1)[:, 0].tolist()
        texts.extend([None if done else token for token, done in zip(drawn, over, strict=True)])
        over = [d or token in texts.ends for token, d in zip(drawn, over, strict=True)]
        if all(over):
            break
    return [texts.text(row) for row in range(count)]


def _shares(prompts: Sequence[str]) -> list[list[str]]:
    generator = load_generator("sandbox:stereotyped")
    understood = taken = naming = 0
    for prompt in prompts:
        try:
            naming += bool(read_scene(prompt).do)
            understood += not generator.unseen_words([prompt])
            generator.check_prompts([prompt])
            taken += 1
        except InputError:
            continue
    counts = {
        "understood, every word known": understood,
        "taken by the generators' window": taken,
        "naming an attribute": naming,
        "different": len(set(prompts)),
    }
    return [[what, shown(wilson(count, len(prompts)))] for what, count in counts.items()]


def _leanings(writer: TransformersLanguageModel, count: int) -> list[list[str]]:
    """Mean planted shares of an attribute over prompts written toward it, and neutral ones."""
    neutral = sample(writer, [], count, SEED)
    rows = []
    for attribute in ATTRIBUTES:
        leaning = sample(writer, told(attribute), count // 4, SEED)
        found = [_planted(prompts, attribute) for prompts in (leaning, neutral)]
        written, usual = (float(np.mean(shares)) for shares in found)
        half = 1.96 * math.sqrt(sum(np.var(shares) / len(shares) for shares in found))
        difference = f"{number(written - usual)} ± {number(half)}"
        rows.append([attribute, number(written), number(usual), difference])
    return rows


def _planted(prompts: Sequence[str], attribute: str) -> list[float]:
    """The planted share of an attribute in each prompt that names none."""
    found = []
    for prompt in prompts:
        try:
            found.append(scene_share(read_scene(prompt), attribute))
        except (InputError, KeyError):
            continue
    return found


if __name__ == "__main__":
    main()
