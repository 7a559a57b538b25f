"""What the methods' card says of measurements that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.exact import VARIABLES, WORLDS, planted_truth
from benchmarks.methods_sizes import drawn, intensities, planted
from benchmarks.methods_spans import SIZES, compared, written
from benchmarks.methods_summary import (
    PARTS,
    majority,
    parts,
    planted_cas,
    planted_intensity,
    rho,
    summarise,
)
from biasgraph.causal.tables import UNKNOWN
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


def test_intensities_of_coded_answers() -> None:
    even = np.array([[a % variable.size for variable in VARIABLES] for a in range(2520)])
    assert intensities(even.astype(np.int16)) == pytest.approx([0] * len(VARIABLES), abs=1e-9)
    one = np.zeros((3, len(VARIABLES)), dtype=np.int16)
    one[:, 0] = UNKNOWN
    assert intensities(one) == pytest.approx([np.nan] + [1] * (len(VARIABLES) - 1), nan_ok=True)


def test_more_images_without_error_come_nearer_to_what_was_planted() -> None:
    jobs = OCCUPATIONS[:8]
    truth = planted("stereotyped", jobs)
    rng = np.random.default_rng(0)
    few, many = (rho(truth, drawn("stereotyped", jobs, n, rng)) for n in (12, 20_000))
    assert few < 0.95 < 0.99 < many


def test_spans_are_compared_at_every_number_of_images() -> None:
    rng = np.random.default_rng(0)
    even = np.full((4, 200), 0.2) + rng.uniform(0, 0.01, (4, 200))
    even[np.arange(200) % 4, np.arange(200)] = 0.4  # every image is one variation's
    uneven = even.copy()
    uneven[3] = 0.2  # one variation that no image is near
    prompts = [f"a {job}" for job in OCCUPATIONS]
    found = compared(dict.fromkeys(prompts, uneven), dict.fromkeys(prompts, even))
    assert [one["value"] for one in found] == [1] * len(SIZES)
    same = compared(dict.fromkeys(prompts, even), dict.fromkeys(prompts, even))
    assert [one["value"] for one in same] == [0] * len(SIZES)
    assert "26 of 26" in written(found)
