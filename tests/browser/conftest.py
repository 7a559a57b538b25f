"""A real Chromium with the network blocked, and reports of the real command line to open in it.

Every page that a test opens is watched: a request, a console error, an uncaught error or a dialog
fails the test.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests import forked
from tests.shared_runs import copy_run

SMALL = (
    "--images", "12", "--only", "gender,age,clothing,emotion", "--controls", "0",
    "--min-valid", "4", "--bootstrap", "200", "--alpha", "0.05", "--quiet",
)  # fmt: skip
DARK = pytest.mark.slow(reason="the light page has the same layout")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW = (
    "no Chromium found: `apt-get install chromium` (Debian, Ubuntu), or install Chrome or Chromium "
    "so that one of " + ", ".join(NAMES) + " is on the path"
)


def browser_path() -> str | None:
    """Where the browser is; None without one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser. Without one, a skip that says how to get it; in CI, a failure."""
    path = browser_path()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(HOW)
        pytest.skip(HOW)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@dataclass
class Watch:
    """What pages did that none may do."""

    seen: list[str] = field(default_factory=list)

    def attach(self, page: Any) -> None:
        def console(message: Any) -> None:
            if message.type in ("error", "warning"):
                self.seen.append(f"console {message.type}: {message.text}")

        def dialog(dialog: Any) -> None:
            self.seen.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("console", console)
        page.on("pageerror", lambda error: self.seen.append(f"error: {error}"))
        page.on("dialog", dialog)
        page.on("popup", lambda popup: self.seen.append(f"window: {popup.url}"))

    def route(self, route: Any) -> None:
        if route.request.url.startswith("file:"):
            route.continue_()
        else:
            self.seen.append(f"request: {route.request.url}")
            route.abort()


Open = Callable[..., Any]


@dataclass
class Windows:
    """Windows of the browser, used again by one test after another: that takes a third as long."""

    chromium: Any
    watch: Watch = field(default_factory=Watch)
    pages: list[Any] = field(default_factory=list)

    def page(self, place: int) -> Any:
        if place == len(self.pages):
            context = self.chromium.new_context(accept_downloads=True)
            context.set_offline(True)
            context.route("**/*", self.watch.route)
            self.pages.append(context.new_page())
            self.watch.attach(self.pages[place])
        return self.pages[place]

    def open(
        self, place: int, file: Path, fragment: str = "", width: int = 1600, scheme: str = "light"
    ) -> Any:
        page = self.page(place)
        page.goto("about:blank")
        page.mouse.move(0, 0)
        page.set_viewport_size({"width": width, "height": 900 if width > 700 else 780})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # it scrolls at once
        page.goto(file.as_uri() + (f"#{fragment}" if fragment else ""))
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    def close(self) -> None:
        for page in self.pages:
            page.context.close()


@pytest.fixture(scope="session")
def windows(chromium: Any) -> Iterator[Windows]:
    windows = Windows(chromium)
    yield windows
    windows.close()


def _opening(windows: Windows) -> Iterator[Open]:
    windows.watch.seen.clear()
    places = itertools.count()
    yield lambda *what, **how: windows.open(next(places), *what, **how)
    assert windows.watch.seen == []


@pytest.fixture
def open_page(windows: Windows) -> Iterator[Open]:
    """open_page(file, hash, width=1600, scheme="light") -> a Playwright page, ready and watched.

    Only what a page keeps beyond its life outlives the test.
    """
    yield from _opening(windows)


@pytest.fixture
def page(open_page: Open, file: Path) -> Any:
    return open_page(file)


@pytest.fixture
def open_apart(chromium: Any) -> Iterator[Open]:
    """As `open_page`, in a window that has kept nothing."""
    windows = Windows(chromium)
    try:
        yield from _opening(windows)
    finally:
        windows.close()


@pytest.fixture
def scriptless(chromium: Any) -> Iterator[Any]:
    """A page in a browser whose scripts are switched off, watched like any other."""
    context, watch = chromium.new_context(java_script_enabled=False), Watch()
    context.set_offline(True)
    context.route("**/*", watch.route)
    page = context.new_page()
    watch.attach(page)
    yield page
    context.close()
    assert watch.seen == []


def fits(page: Any) -> bool:
    wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    return bool(wide[0] <= wide[1])


BROKEN = """all => all.flatMap((one) => {
  const found = [];
  const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    for (const { 0: word, index } of texts.currentNode.data.matchAll(/[^\\s:/_-]+/g)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1) found.push(word);
    }
  }
  return found;
})"""


def broken_words(page: Any, selector: str) -> list[str]:
    """The words that go on in another line, where none of their separators is."""
    return list(page.locator(selector).evaluate_all(BROKEN))


TAPPED = "button, select, summary, .choice, label:has(> input[type=checkbox])"
SMALL_TARGETS = """all => all.filter((one) => one.checkVisibility())
  .filter((one) => !one.closest("table, svg, .link, .shot"))
  .filter((one) => Math.min(one.offsetHeight, one.offsetWidth) < 44)
  .map((one) => `${one.textContent.trim()}: ${one.offsetWidth} x ${one.offsetHeight}`)"""


def small_targets(page: Any) -> list[str]:
    """What a finger may miss: everything to be tapped that is smaller than 44 pixels.

    Tables are left out, where a row as a whole is tapped, and so are links in a sentence.
    """
    return list(page.locator(TAPPED).evaluate_all(SMALL_TARGETS))


def resize(page: Any, width: int, height: int) -> None:
    """Make a window another size, and wait until its page has heard of it."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def wait_for_focus(page: Any, selector: str) -> None:
    """Until what has the focus is what the selector finds."""
    page.wait_for_function("one => document.activeElement.matches(one)", arg=selector)


def check_shot(shot: Any) -> None:
    """A picture opens larger when it is clicked, and closes when it is clicked again."""
    shot.locator("img").click()
    assert shot.locator(".shot-note").is_visible()
    shot.locator("img").click()
    assert shot.locator(".shot-note").is_hidden()


def unnamed_images(page: Any) -> int:
    """How many images have no name, or did not load."""
    page.wait_for_function("[...document.images].every((one) => one.complete)")
    unnamed = "all => all.filter((one) => !one.alt || !one.naturalWidth).length"
    return int(page.locator("img").evaluate_all(unnamed))


LUMINANCE = """
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const light = (colour) => {
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const part = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((value) =>
        value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
      return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
    };
    const ratio = (one, other) => {
      const pair = [light(one), light(other)].sort((a, b) => b - a);
      return (pair[0] + 0.05) / (pair[1] + 0.05);
    };
"""
"""What a script takes to say how two colours contrast (WCAG 2.2): `ratio(one, other)`."""


def contrast(page: Any, selector: str, look: str) -> float:
    return float(
        page.locator(selector).first.evaluate(
            "(one, look) => {"
            + LUMINANCE
            + """
              const ground = getComputedStyle(document.querySelector("main > section"));
              return ratio(getComputedStyle(one)[look], ground.backgroundColor);
            }""",
            look,
        )
    )


def biasgraph(*arguments: str | Path) -> None:
    """Run the command line as a user does."""
    completed = forked.biasgraph(*map(str, arguments))
    assert completed.returncode == 0, completed.stderr


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run of the sandbox with its report."""
    directory = tmp_path_factory.mktemp("run") / "librarian"
    copy_run(directory, "build", "--prompt", "a librarian", *SMALL)
    biasgraph("report", directory)
    return directory
