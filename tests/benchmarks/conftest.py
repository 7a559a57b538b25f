"""The benchmarks' tests are slow ones: what they test is run by hand, for a page of docs/."""

from __future__ import annotations

from pathlib import Path

import pytest

REASON = "tests scripts that measure for docs/, which no command of biasgraph runs"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow(reason=REASON))
