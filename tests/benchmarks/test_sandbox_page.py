"""docs/sandbox.md says what the code plants, and its tables have a place each."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.card.page import filled, marked
from benchmarks.card.planted import planted_parts
from benchmarks.card.tables import NOT_YET, measured_parts

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sandbox.md"


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text("utf-8")


def test_what_was_planted_is_current(page: str) -> None:
    on_page = marked(page)
    for name, text in planted_parts().items():
        assert on_page[name].strip() == text.strip(), (
            f"'{name}' is stale: run python -m benchmarks.sandbox_card --write-docs"
        )


def test_every_measured_table_has_its_place(page: str, tmp_path: Path) -> None:
    parts = measured_parts(tmp_path)
    assert set(parts.values()) == {NOT_YET}
    assert set(marked(page)) == set(parts) | set(planted_parts()) | {"parts"}


def test_filling_twice_is_filling_once() -> None:
    page = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n<!-- begin y -->\n<!-- end y -->\n"
    once = filled(page, {"x": "new\n"})
    assert once == page.replace("old", "new")
    assert filled(once, {"x": "new\n"}) == once
    with pytest.raises(KeyError, match="no place for z"):
        filled(page, {"z": ""})
