"""How long the report of 27 prompts with 48 images each takes to write and to open.

    python benchmarks/bench_report.py [--sides 64 512] [--rounds 3]

The prompts are "a librarian" and its 26 counterfactuals on the shipped axes. Pictures (as large as
the sandbox's, and as a larger model's) and answers are made up. Targets: below 20 MB, written
within 5 s of processor time, and used in Chromium within 3 s: a pair is selected, one of its
pictures is opened large, all pictures are listed. Loading the result is timed apart.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from PIL import Image

from biasgraph.audits.analysis import analyze_answers
from biasgraph.audits.build_options import BuildOptions
from biasgraph.audits.build_plan import plan_build
from biasgraph.data.answers import Answers
from biasgraph.data.result import load
from biasgraph.models.base import Answer, Picture, Question
from biasgraph.report.embedding import PAGE
from biasgraph.report.page import report_files
from biasgraph.report.saving import write

MEGABYTE = 1_000_000


@dataclass
class Painter:
    """Soft noise: about as hard to compress as a photograph."""

    side: int
    spec: str = "bench:painter"
    fingerprint: str = "1"
    batch_size: int = 64
    settings: dict[str, object] = field(default_factory=dict)

    def check_prompts(self, prompts: Sequence[str]) -> None: ...

    def unseen_words(self, prompts: Sequence[str]) -> list[str]:
        return []

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        return [Picture(self._paint(seed)) for seed in seeds]

    def _paint(self, seed: int) -> Image.Image:
        rng = np.random.default_rng(seed)
        coarse = Image.fromarray(rng.integers(0, 256, (16, 16, 3), dtype=np.uint8))
        smooth = np.asarray(coarse.resize((self.side, self.side)), dtype=np.int16)
        grain = rng.integers(-6, 7, smooth.shape, dtype=np.int16)
        return Image.fromarray(np.clip(smooth + grain, 0, 255).astype(np.uint8))


@dataclass
class Guesser:
    """Answers at random."""

    spec: str = "bench:guesser"
    fingerprint: str = "2"
    batch_size: int = 256
    settings: dict[str, object] = field(default_factory=dict)

    def answer(
        self, images: Sequence[Image.Image], questions: Sequence[Question]
    ) -> list[list[Answer]]:
        rng = np.random.default_rng(len(images))
        return [[_guess(rng, len(one.choices)) for one in questions] for _ in images]


def _guess(rng: np.random.Generator, choices: int) -> Answer:
    shares = rng.dirichlet(np.ones(choices))
    return Answer(int(shares.argmax()), tuple(shares.tolist()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sides", type=int, nargs="+", default=[64, 512], help="pixels")
    parser.add_argument("--rounds", type=int, default=3)
    wanted = parser.parse_args()
    for side in wanted.sides:
        with tempfile.TemporaryDirectory() as scratch:
            measure(Path(scratch) / "run", side, wanted.rounds)


def measure(directory: Path, side: int, rounds: int) -> None:
    options = BuildOptions(prompt="a librarian", output=directory)
    planned = plan_build(options)
    job = replace(planned.job, generator=Painter(side), judge=Guesser())
    planned = replace(planned, job=job)
    with job.open() as run:
        planned.carry_out(run, {})
        answers = Answers.from_frame(run.answers(job.vqa))
        about, origin = planned.about_prompts(), planned.origin(run)
    write(analyze_answers(answers, planned.axes, options, origin, about), directory)
    start = time.perf_counter()
    result = load(directory)
    loaded = time.perf_counter() - start
    written, worked, opened = [], [], []
    for _ in range(rounds):
        start, processor = time.perf_counter(), time.process_time()
        page = report_files(result)["report.html"]
        (directory / "report.html").write_bytes(page)
        written.append(time.perf_counter() - start)
        worked.append(time.process_time() - processor)
        opened.append(seconds_to_open(directory / "report.html"))
    start = time.perf_counter()
    if report_files(result, only_changed=True):
        raise SystemExit("a report that nothing changed is written again")
    unchanged = time.perf_counter() - start
    print(
        f"pictures of {side} x {side}: {len(page) / MEGABYTE:.1f} MB "
        f"(target: {PAGE / MEGABYTE:.0f}), "
        f"{page.count(b'data:image/') - 1} of {answers.frame['image'].nunique()} pictures in it, "
        f"written in {min(written):.2f} s (all: {listed(written)}; "
        f"{min(worked):.2f} s of processor time, target: 5), "
        f"open in {min(opened):.2f} s (target: 3; all: {listed(opened)}); "
        f"loading the result {loaded:.2f} s, finding it unchanged {unchanged:.2f} s",
        flush=True,
    )


def seconds_to_open(file: Path, pictures: bool = True) -> float:
    """From the navigation to a page whose graph, tables and pictures stand and have been used.

    Args:
        pictures: Whether the page has any; without, its graph and tables are all.
    """
    from playwright.sync_api import sync_playwright

    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if browser is None:
        return float("nan")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=browser, args=["--no-sandbox", "--disable-gpu"]
        )
        page = chromium.new_page(viewport={"width": 1600, "height": 900})
        page.goto("about:blank")
        start = time.perf_counter()
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        page.locator("#matrix [data-k='1']").click()
        page.wait_for_selector("#detail table")
        if pictures:
            page.locator("#detail .film .picture").first.click()
            page.wait_for_function("document.querySelector('dialog img').naturalWidth > 0")
            page.keyboard.press("Escape")
            page.locator("#browser summary").click()
            page.wait_for_selector("#browser .picture")
        seconds = time.perf_counter() - start
        chromium.close()
    return seconds


def listed(seconds: Sequence[float]) -> str:
    return ", ".join(f"{one:.2f}" for one in seconds)


if __name__ == "__main__":
    main()
