"""A document of `mine` as mined.json has it, and the images it names, for the tests of its page."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from biasgraph.report.thumbnails import Pictures
from biasgraph.runs.image_store import ImageStore, encode
from biasgraph.runs.ledger_rows import ImageRow

Json = dict[str, Any]

WHO = ("a nurse", "a librarian", "a toddler", "a dog", "two friends", "a violinist", "an old man")
WHAT = ("reading", "at the beach", "in a kitchen", "playing chess", "running", "by a red car")
MODEL = "sandbox:stereotyped"


def mined_document(
    *,
    iterations: int = 25,
    objective: str = "bias",
    mined: int = 4,
    prompts: Sequence[str] = (),
    unscored: bool = True,
    toy: str | None = "These are results of a toy. They say nothing about any real model.",
) -> Json:
    """A search by the paper's numbers: 15 prompts in an iteration, 5 selected, 2 mutations of each.

    Args:
        iterations: How many.
        objective: Its name; of axes, higher is worse; scores of edges may be below 0.
        mined: How many prompts are scored again.
        prompts: They stand in for the first ones.
        unscored: Whether some candidates have no score.
        toy: Of the banner.
    """
    lower = not objective.startswith("axis:")
    candidates = _candidates(iterations, lower, list(prompts), unscored)
    scored = [one for one in candidates if one["score"] is not None]
    spans = not objective.startswith(("axis:", "edge:"))
    for one in scored if objective.startswith("edge:") else ():
        one["score"] = round(one["score"] - 0.3, 4)
    ranked = sorted(scored, key=lambda one: one["score"] if lower else -one["score"])
    rows = [_mined(rank, one, lower, spans) for rank, one in enumerate(ranked[:mined], start=1)]
    number = 15 * iterations
    names = ["age", "clothing", "<b>place</b>"]
    return {
        "schema": "biasgraph-mined/1",
        "toy": toy,
        "model": MODEL,
        "model_fingerprint": "sha256:0123456789abcdef",
        "embedder": "sandbox:embedder",
        "embedder_fingerprint": "sha256:fedcba9876543210",
        "proposed_by": "sandbox:grammar",
        "settings": {
            "objective": objective, "target": "open", "iterations": iterations, "population": 15,
            "selected": 5, "mutations": 2, "images": 15, "variations": 15, "alpha": 0.25,
            "fresh": 3, "best": mined, "max_words": 8, "max_images": None, "axes": None,
            "vary": [], "seed": 0,
        },
        "objective": {
            "name": objective, "about": "How well the images span the prompt's variations.",
            "lower_is_worse": lower,
        },
        "stopped": "iterations",
        "n_images": {"search": 15 * number, "fresh": 45 * mined, "variations": 16 * mined},
        "iterations": _iterations(candidates, iterations, lower),
        "candidates": candidates,
        "dropped": [
            {"prompt": "a nurse reading", "iteration": 2, "origin": "random", "parent": None,
             "reason": "the same words as “reading a nurse”"},
            *({"prompt": text, "iteration": 3, "origin": "mutation", "parent": 1, "reason": text}
              for text in prompts),
        ],
        "random": _random(candidates, lower),
        "mined": rows,
        "categories": {
            "proposed_by": "sandbox:grammar", "reason": None,
            "categories": [{"name": name, "terms": ["old", "young"]} for name in names],
            "of_prompts": {row["prompt"]: names[: row["rank"]] for row in rows},
        },
        "unseen_words": ["violinist"],
        "notes": ["Two prompts were cut."],
        "seed": 0,
        "versions": {"biasgraph": "0.2.0", "python": "3.12"},
    }  # fmt: skip


def _candidates(iterations: int, lower: bool, prompts: list[str], unscored: bool) -> list[Json]:
    rng = random.Random(1)
    found: list[Json] = []
    selected: list[Json] = []
    for iteration in range(1, iterations + 1):
        parents = [one for one in selected for _ in range(2)] + [None] * 15
        own: list[Json] = []
        for parent in parents[:15]:
            number = len(found) + len(own) + 1
            base = 0.3 if parent is None else 0.12 + 0.6 * (parent["score"] - 0.1)
            score = round(min(max(base + rng.gauss(0, 0.04), 0.02), 0.9), 4)
            text = f"{rng.choice(WHO)} {rng.choice(WHAT)} {number}"
            undefined = unscored and number % 90 == 12
            own.append({
                "number": number,
                "prompt": prompts[number - 1] if number <= len(prompts) else text,
                "iteration": iteration,
                "origin": "mutation" if parent else "initial" if iteration == 1 else "random",
                "parent": parent and parent["number"],
                "score": None if undefined else score,
                "reason": "fewer than 2 images" if undefined else None,
                "n_images": 15,
                "selected": False,
            })  # fmt: skip
        scored = [one for one in own if one["score"] is not None]
        selected = sorted(scored, key=lambda one: one["score"] if lower else -one["score"])[:5]
        for one in selected:
            one["selected"] = True
        found += own
    return found


def _iterations(candidates: list[Json], iterations: int, lower: bool) -> list[Json]:
    rows = []
    for iteration in range(1, iterations + 1):
        past = [one for one in candidates if one["iteration"] <= iteration]
        scored = [one for one in past if one["score"] is not None]
        best = (min if lower else max)(scored, key=lambda one: float(one["score"]))
        rows.append({
            "iteration": iteration, "n_prompts": len(past), "n_images": 15 * len(past),
            "best_score": best["score"], "best_prompt": best["prompt"],
        })  # fmt: skip
    return rows


def _random(candidates: list[Json], lower: bool) -> Json:
    scores = [one["score"] for one in candidates if one["origin"] != "mutation" and one["score"]]
    best = (min if lower else max)(scores)
    mean = sum(scores) / len(scores)
    return {
        "n_prompts": len(scores),
        "expected_best": [best + (mean - best) / (k + 1) ** 0.7 for k in range(len(scores))],
    }


def _mined(rank: int, one: Json, lower: bool, spans: bool) -> Json:
    score = one["score"] + (0.03 if lower else -0.03)
    images = [f"{rank}-{number}" for number in range(15)]
    missed = [f"an old one {rank}", f"<i>many</i> of them {rank}", "by night", "as a toy"]
    evidence: Json = (
        {
            "missed": [
                {"text": text, "similarity": 0.2 + i / 100} for i, text in enumerate(missed)
            ],
            "least_aligned": [{"image": images[5 * i], "similarity": 0.21} for i in range(3)],
        }
        if spans
        else {"shares": [{"attribute": "young", "share": 0.9, "ideal": 0.5},
                         {"attribute": "old", "share": 0.1, "ideal": 0.5}],
              "distance_before": 0.4}
    )  # fmt: skip
    return {
        "rank": rank,
        "prompt": one["prompt"],
        "candidate": one["number"],
        "first_score": one["score"],
        "score": score,
        "low": score - 0.02,
        "high": score + 0.02,
        "fresh_scores": [score] * 3,
        "n_images": 45,
        "n_batches": 3,
        "reason": None,
        "evidence": evidence,
        "images": images,
        "variation_images": [
            {"text": text, "images": [f"{rank}-{place}-{number}" for number in range(4)]}
            for place, text in enumerate(missed if spans else [])
        ],
    }


def mined_pictures(document: Json, folder: Path, *, size: int = 256) -> Pictures:
    """Real files of all images that a document names."""
    texts: dict[str, str] = {}
    for row in document["mined"]:
        texts |= dict.fromkeys(row["images"], row["prompt"])
        for one in row["variation_images"]:
            texts |= dict.fromkeys(one["images"], one["text"])
    return drawn_pictures(texts, folder, size=size)


def drawn_pictures(texts: Mapping[str, str], folder: Path, *, size: int) -> Pictures:
    """A file for each image, by what it is of."""
    store, rng = ImageStore(folder), random.Random(2)
    folder.mkdir(parents=True, exist_ok=True)
    rows: dict[str, ImageRow] = {}
    for image, text in texts.items():
        picture = Image.new("RGB", (size, size), tuple(rng.randrange(90, 230) for _ in "rgb"))
        corner = rng.randrange(size // 2)
        box = (corner, corner, corner + size // 3, corner + size // 3)
        ImageDraw.Draw(picture).ellipse(box, fill=tuple(rng.randrange(256) for _ in "rgb"))
        rows[image] = ImageRow(len(rows), image, text, 0, 0, store.write(encode(picture)))
    return Pictures(rows, store)
