"""What the methods' card says of measurements that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.exact import WORLDS, planted_truth
from benchmarks.methods_summary import (
    PARTS,
    majority,
    parts,
    planted_cas,
    planted_intensity,
    summarise,
)
from biasgraph.prompts.grammar import indefinite_article
from biasgraph.sandbox.world import AXES, OCCUPATIONS


def row(world: str, occupation: str, score: float) -> dict[str, Any]:
    """Measurements without any error."""
    gender, _ = majority(world, occupation)
    (rare,) = set(AXES["gender"]) - {gender}
    return {
        "occupation": occupation,
        "prompt": f"{indefinite_article(occupation)} {occupation}",
        "intensity": planted_intensity(world, occupation),
        "cas": planted_cas(world, occupation),
        "score": score,
        "score_15": -score,
        "missed": [f"an old {rare} {occupation}"],
        "nearest": {"gender": {gender: 0.3, rare: 0.2}},
    }


@pytest.fixture(scope="module")
def summary() -> dict[str, Any]:
    return summarise(
        {
            world: [row(world, job, 1 + place * (1 + i)) for i, job in enumerate(OCCUPATIONS)]
            for place, world in enumerate(WORLDS)
        }
    )


def test_without_errors_everything_is_found(summary: dict[str, Any]) -> None:
    for world in WORLDS:
        assert summary["openbias"][world]["rho"]["value"] == pytest.approx(1)
    assert summary["tibet"][WORLDS[0]]["rho"]["value"] == pytest.approx(1)
    assert summary["tibet"][WORLDS[0]]["skewed"]["value"] == 1
    found = summary["minethegap"]
    assert found["debiased_higher"]["value"] == 1
    assert found["debiased_higher_15"]["value"] == 0
    assert found["missed"][WORLDS[0]]["nearest"]["value"] == 1
    assert found["missed"][WORLDS[0]]["worst"]["value"] == 1


def test_planted_cas_of_gender_alone() -> None:
    truth = planted_truth("debiased", "nurse")
    female = truth.initial["gender"][AXES["gender"].index("female")]
    # gender moves nothing else in this world: seven axes of 1 are shared, and one gender's share
    assert planted_cas("debiased", "nurse")["female"] == pytest.approx(
        (7 + female) / (7 + 2 - female)
    )


def test_the_tables_have_their_places(summary: dict[str, Any]) -> None:
    texts = parts(summary)
    assert tuple(texts) == PARTS
    assert "9 of 9 strongly skewed" in texts["methods-tibet"]
    assert not any("nan" in text for text in texts.values())


def test_an_intensity_that_is_missing_is_left_out() -> None:
    rows = [row("stereotyped", job, 1.0) for job in OCCUPATIONS[:6]]
    rows[0]["intensity"]["age"] = None
    both = {
        world: [{**one, "score": float(place * i)} for i, one in enumerate(rows)]
        for place, world in enumerate(WORLDS)
    }
    found = summarise(both)["openbias"]["stereotyped"]
    assert found["rho"]["value"] == pytest.approx(1)
    assert np.isfinite(found["mean_error"])
