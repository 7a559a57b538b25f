"""Small answers tables with known content, as a user would bring them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

AXES = {
    "gender": ("male", "female"),
    "age": ("young", "middle", "old"),
    "clothing": ("formal", "casual"),
}


def librarian_table(
    images: int = 48,
    axes: Mapping[str, Sequence[str]] = AXES,
    prompt: str = "a librarian",
    model: str = "shop:v1",
    seed: int = 0,
) -> pd.DataFrame:
    """Answers in which gender pulls on clothing, and age hangs on nothing.

    Initial images lean towards the first attribute of every axis (80 %); an intervention shows its
    attribute in 95 % of the images; clothing is formal in 95 % of the men and in 10 % of the women.
    """
    attributes = tuple((axis, tuple(names)) for axis, names in axes.items())
    return _librarian_table(images, attributes, prompt, model, seed).copy()


@functools.lru_cache(maxsize=64)
def _librarian_table(
    images: int,
    attributes: tuple[tuple[str, tuple[str, ...]], ...],
    prompt: str,
    model: str,
    seed: int,
) -> pd.DataFrame:
    axes = dict(attributes)
    rng = np.random.default_rng(seed)
    arms = [("", ""), *((axis, name) for axis, names in axes.items() for name in names)]
    rows = []
    for (axis, attribute), number in itertools.product(arms, range(images)):
        answers = {
            target: str(rng.choice(names, p=_leaning(len(names)))) for target, names in axes.items()
        }
        if axis and rng.random() < 0.95:
            answers[axis] = attribute
        if axis == "gender" and "clothing" in axes:
            formal = rng.random() < (0.95 if answers["gender"] == "male" else 0.1)
            answers["clothing"] = "formal" if formal else "casual"
        role = "counterfactual" if axis else "initial"
        image = f"{axis}-{attribute}-{number}" if axis else f"initial-{number}"
        rows += [
            (model, prompt, role, axis, attribute, f"{prompt}/{image}", target, answer)
            for target, answer in answers.items()
        ]
    columns = ["model", "prompt", "role", "axis", "attribute", "image", "target", "answer"]
    return pd.DataFrame(rows, columns=columns)


def with_controls(table: pd.DataFrame, images: int = 24, seed: int = 1) -> pd.DataFrame:
    """The table with images of neutral rewordings, which show every attribute equally often."""
    rng = np.random.default_rng(seed)
    model, prompt = table["model"].iloc[0], table["prompt"].iloc[0]
    answers = {target: sorted(set(own)) for target, own in table.groupby("target")["answer"]}
    rows = [
        (model, prompt, "control", "", "", f"{prompt}/control-{number}", target, rng.choice(names))
        for number in range(images)
        for target, names in answers.items()
    ]
    return pd.concat([table, pd.DataFrame(rows, columns=table.columns)], ignore_index=True)


def _leaning(size: int) -> list[float]:
    return [0.8, *([0.2 / (size - 1)] * (size - 1))]
