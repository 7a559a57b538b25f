"""The notebooks of the documentation run, and show what is stored in them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "docs" / "notebooks"

MOST = 300_000
"""Bytes of a notebook in the repository."""


def texts_of(notebook: Any) -> list[tuple[str, str]]:
    """What each cell shows, without pixels: they hang on the machine's fonts."""
    return [
        (cell["id"], re.sub(r'src="data:[^"]+"', "", str(text)))
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        for kind, text in sorted({"stream": output.get("text"), **output.get("data", {})}.items())
        if text is not None and kind.startswith(("text/", "stream"))
    ]


@pytest.mark.slow(reason="builds 432 images in a kernel of its own")
@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored(path: Path) -> None:
    import nbformat  # takes seconds

    from docs.run_notebooks import run

    stored, now = nbformat.read(path, as_version=4), run(path)
    assert texts_of(now) == texts_of(stored), "python docs/run_notebooks.py writes it again"
    shown = {
        (cell["id"], kind)
        for cell in now.cells
        for output in cell.get("outputs", ())
        for kind in output.get("data", ())
    }
    assert {("plot", "image/png"), ("image", "image/png"), ("result", "text/html")} <= shown


def test_there_are_notebooks_and_they_are_small() -> None:
    paths = sorted(NOTEBOOKS.glob("*.ipynb"))
    assert [path.stem for path in paths] == ["first_audit"]
    assert all(path.stat().st_size < MOST for path in paths)


def test_stored_notebooks_ran_from_top_to_bottom_without_an_error() -> None:
    for path in NOTEBOOKS.glob("*.ipynb"):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        cells = [cell for cell in cells if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
        kinds = {output["output_type"] for cell in cells for output in cell["outputs"]}
        assert kinds <= {"stream", "display_data", "execute_result"}
