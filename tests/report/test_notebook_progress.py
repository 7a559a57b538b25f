"""Progress in notebooks, shown by a real IPython shell."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from biasgraph.report import notebook_progress
from biasgraph.report.notebook_progress import NotebookProgress, progress_here


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CapturingDisplayPublisher]:
    """What a shell has displayed; neither it nor its `__main__` is left after the test."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.display_pub = CapturingDisplayPublisher(parent=shell)
    yield shell.display_pub
    atexit.unregister(shell.atexit_operations)
    shell.atexit_operations()
    InteractiveShell.clear_instance()
    shell.cleanup()
    assert hasattr(sys.modules["__main__"], "__spec__")  # the shell's own module is gone


def texts(shown: CapturingDisplayPublisher, kind: str = "text/plain") -> list[Any]:
    return [output["data"][kind] for output in shown.outputs]


def test_outside_of_notebooks_nothing_is_shown(shown: CapturingDisplayPublisher) -> None:
    assert progress_here() is None


def test_a_kernel_shows_progress(
    shown: CapturingDisplayPublisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InteractiveShell.instance(), "kernel", object(), raising=False)
    assert isinstance(progress_here(), NotebookProgress)


def test_one_bar_moves_and_leaves_how_much_was_done(
    shown: CapturingDisplayPublisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebook_progress, "PAUSE", 0)
    progress = NotebookProgress()
    progress.start("Images", total=1000, done=200)
    progress.advance(300)
    progress.detail("<b>2</b> workers")
    progress.finish()
    words = texts(shown)
    assert words[0] == "Images: 200 of 1,000"
    assert words[1].startswith("Images: 500 of 1,000, ")
    assert words[1].endswith("left")
    assert words[2].endswith("; <b>2</b> workers")
    assert words[3] == texts(shown, "text/html")[3] == "Images: 500 of 1,000"
    html = texts(shown, "text/html")
    assert html[1].startswith('<progress max="1000" value="500"></progress> Images')
    assert "&lt;b&gt;2&lt;/b&gt; workers" in html[2]
    bars = {output["transient"]["display_id"] for output in shown.outputs}
    assert len(bars) == 1, "one bar, updated"
    assert [output.get("update", False) for output in shown.outputs] == [False, True, True, True]


def test_bars_keep_to_a_pace(shown: CapturingDisplayPublisher) -> None:
    progress = NotebookProgress()
    progress.start("Images", total=1000, done=0)
    for _ in range(1000):
        progress.advance(1)
    progress.finish()
    assert len(shown.outputs) < 10
    assert texts(shown)[-1] == "Images: 1,000 of 1,000"
