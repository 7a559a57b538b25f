"""Pictures of the report for the README, to be looked at before they are kept.

    BIASGRAPH_SCREENSHOTS=docs/images python -m pytest tests/browser/test_screenshots.py

writes report.png, report-dark-360.png, methods.png and compare.png there, from runs of
"a librarian" on all axes with 48 images by both generators; with BIASGRAPH_SCREENSHOTS_RUN=DIR and
..._BASELINE=DIR from the finished runs there instead of new ones, which take a minute or two.
Without the first variable the small run of the other tests is photographed into a temporary folder,
which shows that it can be done.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from PIL import Image

from tests.browser.conftest import Open, biasgraph

pytestmark = pytest.mark.slow(reason="photographs for the README; other tests read the same pages")


def finished(name: str, model: str, folder: Path) -> Path:
    """The run that the environment names, copied, or a new one."""
    directory = folder / name.lower()
    given = os.environ.get(f"BIASGRAPH_SCREENSHOTS_{name}")
    if given:
        shutil.copytree(given, directory)
    else:
        options = ("--model", model, "--quiet", "-o", directory)
        biasgraph("build", "--prompt", "a librarian", *options)
    biasgraph("report", directory)
    return directory


@pytest.fixture(scope="module")
def whole(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run to be photographed: a large one where the pictures are to be kept."""
    if not os.environ.get("BIASGRAPH_SCREENSHOTS"):
        return run
    return finished("RUN", "sandbox:stereotyped", tmp_path_factory.mktemp("screenshots"))


@pytest.fixture(scope="module")
def report(whole: Path) -> Path:
    return whole / "report.html"


@pytest.fixture(scope="module")
def comparison(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    baseline = whole
    if os.environ.get("BIASGRAPH_SCREENSHOTS"):
        baseline = finished("BASELINE", "sandbox:debiased", folder)
    biasgraph("compare", baseline, whole, "-o", folder / "out", "--quiet")
    return folder / "out" / "compare.html"


def check(picture: Path, width: int, slack: int = 0) -> None:
    with Image.open(picture) as image:
        assert width - slack <= image.width <= width
        assert len(image.convert("RGB").getcolors(1 << 24) or ()) > 100, "it is not blank"


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
        page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.wait_for_timeout(300)
    page.screenshot(path=folder / name)
    check(folder / name, width)


def test_screenshot_of_other_methods(open_page: Open, report: Path, tmp_path: Path) -> None:
    folder = Path(os.environ.get("BIASGRAPH_SCREENSHOTS") or tmp_path)
    page = open_page(report, width=1200, scheme="light")
    section = page.locator("#graph-findings-section")
    for method in section.locator("summary").all():
        method.click()
    section.screenshot(path=folder / "methods.png")
    check(folder / "methods.png", 1200, slack=100)


def test_screenshot_of_a_comparison(open_page: Open, comparison: Path, tmp_path: Path) -> None:
    folder = Path(os.environ.get("BIASGRAPH_SCREENSHOTS") or tmp_path)
    page = open_page(comparison, width=1600, scheme="light")
    page.set_viewport_size({"width": 1600, "height": 1060})
    page.wait_for_timeout(300)
    page.screenshot(path=folder / "compare.png")
    check(folder / "compare.png", 1600)
