"""Pictures of the report for the README, to be looked at before they are kept.

    BIASGRAPH_SCREENSHOTS=docs/images python -m pytest tests/browser/test_screenshots.py

writes report.png and report-dark-360.png there, from a run of "a librarian" on all axes with 48
images; with BIASGRAPH_SCREENSHOTS_RUN=DIR from the finished run in DIR instead of a new one, which
takes a minute or two. Without the first variable the small run of the other tests is photographed
into a temporary folder, which shows that it can be done.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from PIL import Image

from tests.browser.conftest import Open, biasgraph


@pytest.fixture(scope="module")
def report(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not os.environ.get("BIASGRAPH_SCREENSHOTS"):
        return run / "report.html"
    directory = tmp_path_factory.mktemp("screenshots") / "run"
    finished = os.environ.get("BIASGRAPH_SCREENSHOTS_RUN")
    if finished:
        shutil.copytree(finished, directory)
    else:
        biasgraph("build", "--prompt", "a librarian", "--quiet", "-o", directory)
    biasgraph("report", directory)
    return directory / "report.html"


@pytest.mark.parametrize(
    ("name", "width", "scheme", "edge"),
    [("report.png", 1600, "light", True), ("report-dark-360.png", 360, "dark", False)],
)
def test_screenshots(
    open_page: Open,
    report: Path,
    tmp_path: Path,
    name: str,
    width: int,
    scheme: str,
    edge: bool,
) -> None:
    folder = Path(os.environ.get("BIASGRAPH_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    page = open_page(report, width=width, scheme=scheme)
    if edge:
        page.set_viewport_size({"width": width, "height": 1060})
        page.locator(".strongest [data-pair]").nth(1).click()
        page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(300)
    page.screenshot(path=folder / name)
    with Image.open(folder / name) as image:
        assert image.width == width
        assert len(image.convert("RGB").getcolors(1 << 24) or ()) > 100, "it is not blank"
