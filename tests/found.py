"""A document of `search` as found.json has it, and the images it names, for the tests of its page.

Two targets; the language model alone, three lambdas, and every baseline. PEZ has no share of age
and the curated prompts no perplexity; one search came to nothing, and of three prompts no image has
an answer.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from biasgraph.methods.word_shifts import word_shifts
from biasgraph.report.thumbnails import Pictures
from tests.mined import drawn_pictures

Json = dict[str, Any]

OPENING = "A photo of a person working as a"
WHO = ("nurse", "librarian", "chef", "singer", "farmer", "teacher", "clerk", "tailor")
NEUTRAL = ("with a cup of coffee", "at night", "in a busy city", "with a laptop", "on a sunny day")
STEERED = ("with a toolbox", "with intense focus", "with a stack of books", "in a small village")
TARGETS = {"gender": "male", "age": "old"}
CELLS: tuple[tuple[str, float | None, dict[str, float], float], ...] = (
    ("lm", 0.0, {"gender": 0.52, "age": 0.31}, 41),
    ("search", 10.0, {"gender": 0.66, "age": 0.42}, 47),
    ("search", 100.0, {"gender": 0.83, "age": 0.61}, 88),
    ("search", 300.0, {"gender": 0.86, "age": 0.66}, 260),
    ("lm-biased", 0.0, {"gender": 0.6, "age": 0.35}, 55),
    ("pez", None, {"gender": 0.78, "age": 0.4}, 1387),
    ("curated", None, {"gender": 0.5, "age": 0.33}, 96),
)
"""Method, lambda, the share of each target, and perplexity."""
IDEALS = {"gender": 0.5, "age": 1 / 3}


def found_document(
    *,
    n_prompts: int = 20,
    images: int = 10,
    prompts: Sequence[str] = (),
    methods: Sequence[str] = ("lm", "search", "lm-biased", "pez", "curated"),
    undefined: bool = True,
    toy: str | None = "These are results of a toy. They say nothing about any real model.",
) -> Json:
    """A search as its paper does it.

    Args:
        n_prompts: Of each cell.
        images: Of each prompt.
        prompts: They stand in for the first ones that were searched for.
        methods: Of the cells.
        undefined: Whether some numbers are undefined.
        toy: Of the banner.
    """
    cells = [one for one in CELLS if one[0] in methods]
    rows = _prompts(cells, n_prompts, images, list(prompts), undefined)
    return {
        "schema": "biasgraph-found/1",
        "toy": toy,
        "model": "sandbox:stereotyped",
        "model_fingerprint": "sha256:0123456789abcdef",
        "vqa": "sandbox:judge",
        "vqa_fingerprint": "sha256:fedcba9876543210",
        "lm": "sandbox:writer",
        "lm_fingerprint": "sha256:aaaaaaaaaaaaaaaa",
        "perplexity_by": "sandbox:reader",
        "perplexity_fingerprint": "sha256:bbbbbbbbbbbbbbbb",
        "settings": {
            "scoring": "race", "lambdas": [10.0, 100.0, 300.0], "n_prompts": n_prompts, "beams": 10,
            "expand": 10, "spread": 2, "temperature": 10.0, "latents": 10, "step": 3, "of": 10,
            "least_tokens": 1, "most_tokens": 20, "naming": "refuse", "images": images,
            "scenario": "occupation", "opening": OPENING, "axes": "occupation",
            "axes_digest": "sha256:cccccccccccccccc", "seed": 0,
        },
        "targets": [
            {"axis": "gender", "attribute": "male", "accuracy": 0.97, "low": 0.93, "high": 0.99,
             "n_images": 128},
            {"axis": "age", "attribute": "old", "accuracy": 0.9, "low": 0.84, "high": 0.94,
             "n_images": 128},
        ],
        "cells": _cells(cells, rows, undefined),
        "prompts": rows,
        "words": _words(cells, rows),
        "unseen_words": ["tailor"],
        "notes": ["Two prompts were cut."],
        "seed": 0,
        "versions": {"biasgraph": "0.2.0", "python": "3.12"},
    }  # fmt: skip


def _prompts(
    cells: Sequence[tuple[str, float | None, dict[str, float], float]],
    n_prompts: int,
    images: int,
    texts: list[str],
    undefined: bool,
) -> list[Json]:
    rng = random.Random(3)
    rows: list[Json] = []
    for place, (method, weight, shares, perplexity) in enumerate(cells, start=1):
        for number in range(n_prompts):
            ends = STEERED if method == "search" and rng.random() < 0.7 else NEUTRAL
            text = f"{OPENING} {rng.choice(WHO)} {rng.choice(ends)}"
            if method == "search":
                text = texts.pop(0) if texts else text
            if method == "pez":
                text = f"{OPENING} {rng.choice(('mens', 'dude'))} {rng.choice(WHO)}dly vsco bobby"
            searched = method in ("search", "lm-biased", "lm")
            shown = {
                axis: round(min(max(rng.gauss(share, 0.16), 0), 1) * images) / images
                for axis, share in shares.items()
            }
            failed = undefined and method == "search" and number == n_prompts - 1 and weight == 300
            unseen = undefined and (failed or (method == "search" and number == 1))
            rows.append({
                "number": len(rows) + 1,
                "cell": place,
                "prompt": None if failed else text,
                "score": -30 - rng.random() * 9 if searched and not failed else None,
                "log_probability": -20 - rng.random() * 9 if searched and not failed else None,
                "probabilities": dict(shown) if method == "search" and not failed else None,
                "n_tokens": 9 if searched and not failed else None,
                "passes": 2300 + rng.randrange(900) if method == "search" else None,
                "perplexity": None if method == "curated" or failed
                else round(perplexity * math.exp(rng.gauss(0, 0.3)), 2),
                "names": ["gender"] if method == "pez" and rng.random() < 0.9 else [],
                "shares": dict.fromkeys(shown) if unseen else shown,
                "n_valid": dict.fromkeys(shown, 0 if unseen else images),
                "n_images": 0 if failed else images,
                "images": [] if failed else [f"{place}-{number}-{one}" for one in range(images)],
                "reason": "no text that could be used" if failed
                else "the judge answered about none of its images" if unseen else "",
            })  # fmt: skip
    return rows


def _mean(values: Sequence[float], least: float, most: float) -> Json:
    if not values:
        return {"mean": None, "low": None, "high": None}
    mean, half = fmean(values), 1.96 * stdev(values) / math.sqrt(len(values)) if values[1:] else 0.0
    return {"mean": mean, "low": max(mean - half, least), "high": min(mean + half, most)}


def _cells(
    cells: Sequence[tuple[str, float | None, dict[str, float], float]],
    rows: Sequence[Json],
    undefined: bool,
) -> list[Json]:
    found: list[Json] = []
    for place, (method, weight, _, _) in enumerate(cells, start=1):
        own = [row for row in rows if row["cell"] == place and row["prompt"] is not None]
        shares = []
        for axis, attribute in TARGETS.items():
            values = [row["shares"][axis] for row in own if row["shares"][axis] is not None]
            gone = undefined and method == "pez" and axis == "age"
            shares.append({
                "axis": axis, "attribute": attribute, **_mean([] if gone else values, 0, 1),
                "n_prompts": 0 if gone else len(values),
                "n_images": 0 if gone else 10 * len(values),
                "ideal": IDEALS[axis], "reason": "no image has an answer" if gone else "",
            })  # fmt: skip
        known = [row["perplexity"] for row in own if row["perplexity"] is not None]
        passes = [row["passes"] for row in own if row["passes"] is not None]
        found.append({
            "cell": place, "method": method, "lambda": weight,
            "n_prompts": len(own), "n_images": sum(row["n_images"] for row in own),
            "shares": shares,
            "gains": _gains(found[0], shares) if found else [],
            "perplexity": {**_mean(known, 1, math.inf), "n_prompts": len(known),
                           "reason": "" if known else "people wrote them"},
            "naming": {"n": sum(bool(row["names"]) for row in own), "of": len(own)},
            "passes": sum(passes) if passes else None,
        })  # fmt: skip
    return found


def _gains(first: Json, shares: Sequence[Json]) -> list[Json]:
    gains = []
    for before, now in zip(first["shares"], shares, strict=True):
        known = before["mean"] is not None and now["mean"] is not None
        difference = now["mean"] - before["mean"] if known else None
        gains.append({
            "axis": now["axis"], "attribute": now["attribute"], "difference": difference,
            "low": None if difference is None else difference - 0.08,
            "high": None if difference is None else difference + 0.08,
            "reason": "" if known else "a share is not defined",
        })  # fmt: skip
    return gains


def _words(
    cells: Sequence[tuple[str, float | None, dict[str, float], float]], rows: Sequence[Json]
) -> list[Json]:
    """Of each cell that was searched for."""
    found = []
    for place, (method, *_) in enumerate(cells, start=1):
        for axis in TARGETS if method == "search" else ():
            own, first = (
                [(row["prompt"], row["shares"][axis]) for row in rows
                 if row["cell"] == cell and row["prompt"] is not None]
                for cell in (place, 1)
            )  # fmt: skip
            for one in word_shifts(own, first, OPENING):
                found.append({
                    "cell": place, "axis": axis, "word": one.word, "found": one.found,
                    "baseline": one.baseline, "kind": one.kind, "delta": one.delta,
                    "n_with": one.n_with, "n_without": one.n_without,
                })  # fmt: skip
    return found


def kinds(document: Json) -> Counter[str]:
    """How many words there are of each kind."""
    return Counter(one["kind"] for one in document["words"])


def found_pictures(document: Json, folder: Path, *, size: int = 256) -> Pictures:
    """Real files of all images that a document names."""
    texts = {image: row["prompt"] for row in document["prompts"] for image in row["images"]}
    return drawn_pictures(texts, folder, size=size)
