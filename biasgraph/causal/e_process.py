"""Evidence that may be looked at after every image: e-processes, and e-BH over pairs.

After Turner, Ly and Grünwald (2024, "Generic E-variables for exact sequential k-sample tests that
allow for optional stopping") and Wang and Ramdas (2022, "False discovery rate control with
e-values"). Without an effect, the chance that E ever reaches 1 / alpha is at most alpha, whenever
and for whatever reason one stops.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgraph.causal.tables import CodedImages, Codes, Floats

PRIOR = 0.5
"""Answers of each kind that an arm is given before its first image (Krichevsky and Trofimov)."""


def log_e_values(prompts: Sequence[CodedImages], x: int, y: int) -> Floats:
    """(n,) log E that the arms of x differ in y, after each block of images; empty without arms.

    A block is one valid answer of every arm, in the order of their images. Blocks of several
    prompts are multiplied: the null hypothesis is that no prompt's arms differ.
    """
    found = [_of_prompt(one, x, y) for one in prompts]
    total = np.zeros(max(map(len, found), default=0))
    for own in found:
        if len(own):
            total[: len(own)] += own
            total[len(own) :] += own[-1]
    return total


def _of_prompt(prompt: CodedImages, x: int, y: int) -> Floats:
    arms = [prompt.arms[arm][:, y] for arm in prompt.arms_of(x)]
    return log_e([codes[codes >= 0] for codes in arms], prompt.variables[y].size)


def log_e(arms: Sequence[Codes], k: int) -> Floats:
    """(n,) log E after each block of one answer an arm; n is that of the arm with fewest.

    E is the product of theta_j(Y_j) / theta(Y_j), theta_j being arm j's shares in the blocks
    before, smoothed, and theta the mean of the arms'.

    Args:
        arms: The codes of each arm's valid answers, in their order.
        k: The number of attributes.
    """
    n = min(map(len, arms), default=0)
    if n == 0 or len(arms) < 2:
        return np.zeros(0)
    seen = np.stack([codes[:n, None] == np.arange(k) for codes in arms], axis=1).astype(float)
    before = np.cumsum(seen, axis=0) - seen  # (n, J, k)
    shares = (before + PRIOR) / (before.sum(axis=2, keepdims=True) + k * PRIOR)
    own = (shares * seen).sum(axis=2)
    mean = (shares.mean(axis=1, keepdims=True) * seen).sum(axis=2)
    return np.asarray(np.log(own / mean).sum(axis=1).cumsum())


def e_bh(log_values: Sequence[float], level: float) -> list[bool]:
    """Which of so many e-values reject their hypothesis at a false discovery rate of `level`.

    Under any dependence: the r largest, for the largest r whose smallest is at least
    number / (level r).
    """
    if len(log_values) == 0:
        return []
    values = np.asarray(log_values)
    order = np.argsort(-values, kind="stable")
    needed = np.log(len(values) / level) - np.log(np.arange(1, len(values) + 1))
    enough = np.flatnonzero(values[order] >= needed)
    rejected = np.zeros(len(values), dtype=bool)
    if len(enough):
        rejected[order[: enough[-1] + 1]] = True
    return rejected.tolist()
