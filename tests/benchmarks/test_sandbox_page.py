"""docs/sandbox.md says what the code plants, and its tables have a place each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import sandbox_card
from benchmarks.card.page import filled, marked
from benchmarks.card.planted import planted_parts, shipped_parts
from benchmarks.card.tables import NOT_YET, measured_parts
from benchmarks.methods_sizes import MARKER as SIZES
from benchmarks.methods_spans import MARKER as SPANS
from benchmarks.methods_summary import PARTS
from benchmarks.shares import read_json, write_json
from biasgraph.sandbox.backends import WEIGHTS
from biasgraph.sandbox.training import data, unet
from biasgraph.sandbox.world import OCCUPATIONS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sandbox.md"


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text("utf-8")


def test_what_was_planted_and_what_ships_is_current(page: str) -> None:
    on_page = marked(page)
    for name, text in (planted_parts() | {"parts": shipped_parts()}).items():
        assert on_page[name].strip() == text.strip(), (
            f"'{name}' is stale: run python -m benchmarks.sandbox_card --write-docs"
        )


def test_every_measured_table_has_its_place(page: str, tmp_path: Path) -> None:
    parts = measured_parts(tmp_path)
    assert set(parts.values()) == {NOT_YET}
    assert set(marked(page)) == set(parts) | set(planted_parts()) | {"parts"} | {
        *PARTS,
        SIZES,
        SPANS,
    }


def test_filling_twice_is_filling_once() -> None:
    page = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n<!-- begin y -->\n<!-- end y -->\n"
    once = filled(page, {"x": "new\n"})
    assert once == page.replace("old", "new")
    assert filled(once, {"x": "new\n"}) == once
    with pytest.raises(KeyError, match="no place for z"):
        filled(page, {"z": ""})


def test_docs_are_written_from_what_was_measured(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "sandbox.md"
    copy.write_text(page, "utf-8")
    monkeypatch.setattr(sandbox_card, "PAGE", copy)
    monkeypatch.setattr(sandbox_card, "ICONS", tmp_path / "images" / "icons.png")
    monkeypatch.setattr(sandbox_card, "TABLE", tmp_path / "realised.csv")
    write_json(tmp_path / "times.json", {"clip": 10, "vae": 21.5})
    _run(monkeypatch, "--write-docs", "--work", str(tmp_path))
    assert (tmp_path / "images" / "icons.png").stat().st_size > 10_000
    assert not (tmp_path / "realised.csv").exists()  # nothing was measured
    on_page = marked(copy.read_text("utf-8"))
    assert "| all | 31.5 |" in on_page["times"]
    assert on_page["links"] == marked(page)["links"]


def test_sections_are_measured_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_card, "judges_section", lambda drawings: {"pictures": drawings})
    _run(monkeypatch, "--section", "judges", "--drawings", "7", "--work", str(tmp_path))
    assert read_json(tmp_path / "judges.json") == {"pictures": 7}


@pytest.mark.parametrize("wrong", [["--section", "jugdes"], ["--occupations", "libarian"]])
def test_a_wrong_name_is_refused(wrong: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="2"):
        _run(monkeypatch, *wrong)


def _run(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr("sys.argv", ["sandbox_card", *words])
    sandbox_card.main()


def test_numbers_in_the_prose_are_those_of_the_code(page: str) -> None:
    sampling = json.loads((WEIGHTS / "sandbox.json").read_text("utf-8"))["sampling"]
    text = " ".join(page.split())
    assert f"DDIM in {sampling['steps']} steps without guidance" in text
    assert sampling["guidance"] == 1
    assert f"{unet.SILENT * 100:g} % of captions dropped" in text
    assert f"{data.EMPTY_SHARE * 100:g} % of the pictures show nobody" in text
    assert f"all {len(OCCUPATIONS)} occupations" in text
