"""docs/sandbox.md says what the code plants and how it trains."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from benchmarks.exact import WORLDS, planted_truth
from biasgraph.sandbox.backends import WEIGHTS
from biasgraph.sandbox.training import data, generators, judges, language_models, parts
from biasgraph.sandbox.world import AXES, CONTEXTS, OCCUPATIONS, Scene, Shift, marginals, world

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sandbox.md"
ONE_SHARE = {"gender": "female", "environment": "indoor", "clothing": "formal"}
"""The axes whose tables have the share of one attribute only."""


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text("utf-8")


def test_the_planted_links_are_current(page: str) -> None:
    kept = {(link.parent, link.child) for link in world("debiased").links}
    for link in world("stereotyped").links:
        shifts = "; ".join(f"{value}: {_shift(shift)}" for value, shift in link.shifts.items())
        in_debiased = "yes" if (link.parent, link.child) in kept else "no"
        assert f"| {link.parent} → {link.child} | {shifts} | {in_debiased} |" in page


def test_the_context_phrases_are_current(page: str) -> None:
    for phrase, axes in CONTEXTS.items():
        shifts = "; ".join(f"{axis}: {_shift(shift)}" for axis, shift in axes.items())
        assert f"| {phrase} | {shifts} |" in page


def _shift(shift: Shift) -> str:
    return ", ".join(f"{attribute} {by:+.1f}" for attribute, by in shift.items())


def test_the_shares_are_current(page: str) -> None:
    before, stereotyped, debiased = (_table(page, i) for i in range(3))
    for job in OCCUPATIONS:
        planted = world("stereotyped").shares[job]
        ethnicity = " | ".join(_percents(planted["ethnicity"]))
        assert any(
            ethnicity in line and job in line.split(" | ")[-1] for line in page.splitlines()
        ), job
        assert before[job] == list(_cells(planted))
        assert stereotyped[job] == list(_cells(marginals(world("stereotyped"), Scene(job))))
        assert debiased[job] == list(_cells(marginals(world("debiased"), Scene(job))))


def _table(page: str, place: int) -> dict[str, list[str]]:
    """One of the page's three tables of shares: occupation -> cells."""
    lines = page.split("| % | female |")[place + 1].split("</details>")[0].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.count("|") == 9]
    return {row[0]: row[1:] for row in rows if row[0] in OCCUPATIONS}


def _cells(shares: Mapping[str, Sequence[float] | np.ndarray]) -> Iterator[str]:
    for axis in AXES:
        if axis in ONE_SHARE:
            yield _percents([shares[axis][AXES[axis].index(ONE_SHARE[axis])]])[0]
        elif axis != "ethnicity":
            yield " / ".join(_percents(shares[axis]))


def _percents(shares: Sequence[float] | np.ndarray) -> list[str]:
    return [f"{100 * share:.0f}" for share in shares]


@pytest.mark.parametrize("name", WORLDS)
def test_the_planted_graph_is_current(page: str, name: str) -> None:
    pairs = [pair for job in OCCUPATIONS for pair in planted_truth(name, job).pairs]
    strengths = np.array([pair.cramers_v for pair in pairs])
    effects = np.array([pair.sensitivity for pair in pairs])
    counts = [
        len(pairs),
        (strengths == 0).sum(),
        (strengths >= 0.1).sum(),
        (strengths >= 0.3).sum(),
        (effects >= 0.02).sum(),
        (effects <= -0.02).sum(),
    ]
    assert f"| {name} | {' | '.join(f'{count:,}' for count in counts)} |" in page


def test_the_example_is_current(page: str) -> None:
    strong = [
        pair
        for pair in planted_truth("stereotyped", "librarian").pairs
        if (pair.cramers_v or 0) >= 0.1
    ]
    for pair in strong:
        numbers = [f"{pair.cramers_v:.2f}", f"{pair.w1_before:.3f}", f"{pair.w1_after:.3f}"]
        numbers.append(f"{pair.sensitivity:+.3f}")
        cells = " | ".join(number.replace("0.", ".", 1) for number in numbers)
        assert f"| {pair.source} → {pair.target} | {cells} |" in page


def test_the_recipe_is_current(page: str) -> None:
    schedules = {
        "clip": (judges.OF_CLIP, parts.JUDGE_PICTURES),
        "vae": (generators.OF_VAE, parts.JUDGE_PICTURES),
        "judge2": (judges.OF_JUDGE2, parts.JUDGE_PICTURES),
        "stereotyped": (generators.OF_UNET, parts.UNET_PICTURES["stereotyped"]),
        "debiased": (generators.FINE_TUNING, parts.UNET_PICTURES["debiased"]),
        "writer": (language_models.OF_WRITER, language_models.TEXTS),
        "reader": (language_models.OF_READER, language_models.TEXTS),
    }
    for part, (schedule, pictures) in schedules.items():
        averaging = f"{schedule.ema:g}" if schedule.ema else "none"
        assert (
            f"| {part} | {pictures:,} | {schedule.steps:,} | {schedule.batch} | {schedule.rate:g} "
            f"| {averaging} | {schedule.seed} |"
        ) in page


@pytest.mark.parametrize(
    "folder", ["clip", "stereotyped/vae", "stereotyped/unet", "judge2", "writer", "reader"]
)
def test_the_sizes_of_the_weights_are_current(page: str, folder: str) -> None:
    (path,) = (WEIGHTS / folder).glob("*.safetensors")
    with safe_open(path, framework="np") as stored:
        shapes = [stored.get_slice(name).get_shape() for name in stored.keys()]  # noqa: SIM118
    count = sum(math.prod(shape) for shape in shapes)
    assert f"| {count:,} | {path.stat().st_size / 1e6:.2f} MB |" in page


def test_numbers_in_the_prose_are_those_of_the_code(page: str) -> None:
    sampling = json.loads((WEIGHTS / "sandbox.json").read_text("utf-8"))["sampling"]
    text = " ".join(page.split())
    assert f"DDIM in {sampling['steps']} steps without guidance" in text
    assert sampling["guidance"] == 1
    assert f"{generators.SILENT * 100:g} % of captions dropped" in text
    assert f"{data.EMPTY_SHARE * 100:g} % of the pictures show nobody" in text
    assert f"all {len(OCCUPATIONS)} occupations" in text
