"""The script that measures when an effect is laid to a mediator."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.mediation import BATCH, KINDS, Batch, World, markdown, measured, planned


@pytest.mark.parametrize("kind", ["mediated", "direct", "named"])
def test_a_world_draws_what_its_tables_say(kind: str) -> None:
    rng = np.random.default_rng(3)
    world, n = World(kind, rng), 40_000
    z_x, y_x = world.z_x[1], world.z_x[1] @ world.y_z
    drawn = world.draw(n, rng, x=1)
    assert np.bincount(drawn[:, 1]) / n == pytest.approx(z_x, abs=0.02)
    y_x = (1 - world.direct) * y_x + world.direct * world.y_x[1]
    assert np.bincount(drawn[:, 2]) / n == pytest.approx(y_x, abs=0.02)
    assert (world.draw(50, rng, z=0)[:, 1] == 0).all()
    share = {"mediated": 1.0, "named": 0.0}.get(kind, world.share())
    assert world.share() == pytest.approx(share)


def test_a_batch_is_of_candidates_and_is_told() -> None:
    records = [measured(Batch("mediated", 48, 0)), measured(Batch("named", 48, 0))]
    for record, kind in zip(records, ("mediated", "named"), strict=True):
        assert len(record["checks"]) == BATCH
        assert all(check[0] == kind and check[1] <= check[2] for check in record["checks"])
    named = [sum(check[1] for check in record["checks"]) for record in records]
    assert named[0] > 60 and named[1] < 10
    told = markdown(records)
    assert "| all through z | 48 | 100 |" in told and told.count("\n| ") >= 2 * len(KINDS)


def test_an_audit_of_the_sandbox_finds_its_candidates() -> None:
    audits = [one for one in planned(0, 1) if one.images == 200 and one.kind == "stereotyped"][:4]
    assert any(measured(audit)["checks"] for audit in audits)
