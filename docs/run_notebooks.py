"""Runs the notebooks of the documentation in folders of their own and keeps what they show.

`python docs/run_notebooks.py` writes them again; tests/builds/test_notebooks.py compares.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).resolve().parent / "notebooks"
SECONDS = 600
"""That a cell may take on a busy machine."""


def run(path: Path) -> NotebookNode:
    """The notebook with the outputs that it gives now.

    Raises:
        CellExecutionError: a cell failed.
    """
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": folder}},
        ).execute(env={"OMP_WAIT_POLICY": "PASSIVE", **os.environ})  # as the command line does
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"]}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("image/jpeg", None)  # the same as the PNG
    return notebook


def main() -> None:
    """Write all notebooks again."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        nbformat.write(run(path), path)


if __name__ == "__main__":
    main()
