"""260 prompts as people write them, with what a careful reader makes of each."""

from __future__ import annotations

from collections import Counter

from tests.prompts.corpus import DEVELOP, NEEDLESS, WRONG, judged, rows, table

MOST_WRONG, MOST_NEEDLESS = 2, 6


def test_prompts_as_people_write_them() -> None:
    verdicts = [judged(row) for row in rows(DEVELOP)]
    print("\n".join(table(verdicts)))
    counts = Counter(verdict.outcome for verdict in verdicts)
    assert len(verdicts) == 260
    assert counts[WRONG] <= MOST_WRONG
    assert counts[NEEDLESS] <= MOST_NEEDLESS


def test_refusals_are_one_short_line() -> None:
    for verdict in (judged(row) for row in rows(DEVELOP)):
        assert len(verdict.said) <= 400, verdict.said
        assert verdict.said.isprintable()
