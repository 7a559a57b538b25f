"""Round numbers at axes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from biasgraph.report import scales


@given(st.floats(-1e3, 1e3), st.floats(0, 1e3))
def test_ticks_reach_around_all_values(low: float, extent: float) -> None:
    marks = scales.ticks(low, low + extent)
    assert marks[0] <= low + 1e-6 and marks[-1] >= low + extent - 1e-6
    assert 2 <= len(marks) <= 9
    assert marks == sorted(set(marks))
