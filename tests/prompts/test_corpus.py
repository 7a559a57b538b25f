"""1,780 prompts as people write them, with what a careful reader makes of each."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.prompts.corpus import FILES, NEEDLESS, WRONG, Verdict, judged, rows, table

MOST_WRONG, MOST_NEEDLESS = 0.001, 0.003


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    return [judged(row) for path in FILES for row in rows(path)]


def test_prompts_as_people_write_them(verdicts: list[Verdict]) -> None:
    print("\n".join(table(verdicts)))
    counts = Counter(verdict.outcome for verdict in verdicts)
    assert len(verdicts) == 1_780
    assert counts[WRONG] <= MOST_WRONG * len(verdicts)
    assert counts[NEEDLESS] <= MOST_NEEDLESS * len(verdicts)


def test_refusals_are_one_short_line(verdicts: list[Verdict]) -> None:
    for verdict in verdicts:
        assert len(verdict.said) <= 400, verdict.said
        assert verdict.said.isprintable()
