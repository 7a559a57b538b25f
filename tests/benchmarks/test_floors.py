"""The script that measures how often the noise floor is exceeded."""

from __future__ import annotations

from benchmarks.floors import CHOSEN, EFFECTS, NULL, PART, Part, markdown, measure, sensitivities
from benchmarks.validity import World
from benchmarks.validity_design import ROWS
from biasgraph.causal.graph import analyze
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import Pool
from biasgraph.causal.transport import resolve_ideals
from tests.causal.test_permuted_images import rng


def test_its_sums_are_those_of_the_analysis() -> None:
    images = World(ROWS[0], 0).draw(rng())
    ideals = resolve_ideals(images.variables, None, None, None)
    values = sensitivities(Pool.of("p", [images]), ideals)
    pairs = analyze(images, AnalysisSettings(bootstrap=100, noise_draws=0)).pairs
    assert [values[x, y] for x, y in sorted(values)] == [
        p.is_ for p in pairs if p.source != p.target
    ]


def test_a_part_is_measured_and_told() -> None:
    record = measure(Part(CHOSEN[0], 0))
    assert measure(Part(CHOSEN[0], 0)) == record
    assert len(record["sums"]) == PART
    above = sum(value > q95 for value, _, q95 in record["sums"])
    assert f"| {ROWS[CHOSEN[0]].name} | 16 | 50 | .{above * 20:03d} [" in markdown([record])


def test_every_world_is_one_of_the_design() -> None:
    assert {ROWS[place].name for place in CHOSEN} == {*EFFECTS, *(f"no effect, {n}" for n in NULL)}
