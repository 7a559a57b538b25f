"""How long work takes, in words."""

from __future__ import annotations

import pytest

from biasgraph.runs.progress import duration


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (51.3, "51 s"), (119, "119 s"), (120, "2 minutes"), (7_199, "120 minutes"),
     (7_200, "2 hours"), (172_799, "48 hours"), (1_000_000, "12 days")],
)  # fmt: skip
def test_times_come_in_the_unit_that_a_person_would_name(seconds: float, said: str) -> None:
    assert duration(seconds) == said
