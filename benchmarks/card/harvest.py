"""Pictures of the sandbox's generators, asked about and forgotten; only the replies are kept.

Picture i of a prompt has the seed that ``biasgraph build --seed 0`` gives it, so the first 48 are
those of an audit.  Replies are kept in files of 480 pictures under a folder named after the
weights and the questions: what is there is never made again, and others start another folder.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.card import glyphs
from benchmarks.card.replies import ASKED, JUDGES, Replies
from benchmarks.exact import AXIS_SET, VARIABLES
from biasgraph.causal.tables import Arm, CodedImages, Codes
from biasgraph.models.registry import load_generator, load_judge
from biasgraph.prompts.counterfactuals import PromptPlan, plan_prompts
from biasgraph.prompts.grammar import indefinite_article
from biasgraph.runs.wanted_images import seed_for

if TYPE_CHECKING:
    from PIL.Image import Image

GLYPHS = {"occupation": glyphs.badges, "context": glyphs.props}
SEED = 0
BLOCK = 480
Item = tuple[str, int]
"""A prompt's text and the place of a picture among those made for it."""


@dataclass(frozen=True)
class Job:
    """One file to fill: which pictures, with whose weights, by how many threads."""

    world: str
    items: tuple[Item, ...]
    path: Path
    threads: int


@cache
def plan_of(occupation: str) -> PromptPlan:
    """The prompts of an occupation's audit, as ``biasgraph build`` words them."""
    return plan_prompts(f"{indefinite_article(occupation)} {occupation}", AXIS_SET)


def texts_of(occupation: str) -> dict[Arm | None, str]:
    """The text of the initial prompt (None) and of every intervention."""
    plan = plan_of(occupation)
    arms: list[Arm | None] = [
        (x, a) for x, variable in enumerate(VARIABLES) for a in range(variable.size)
    ]
    return dict(zip([None, *arms], [prompt.text for prompt in plan.prompts], strict=True))


@dataclass(frozen=True)
class Harvest:
    """The replies about one generator's pictures."""

    work: Path
    world: str
    jobs: int

    @property
    def spec(self) -> str:
        return f"sandbox:{self.world}"

    @cached_property
    def folder(self) -> Path:
        generator = load_generator(self.spec)
        made_with = [
            generator.fingerprint,
            json.dumps(dict(generator.settings), sort_keys=True),
            *(load_judge(spec).fingerprint for spec in JUDGES.values()),
            *(f"{question.text} {question.captions}" for question in ASKED),
            *GLYPHS,
        ]
        name = hashlib.sha256("\n".join(made_with).encode()).hexdigest()[:12]
        folder = self.work / "answers" / f"{self.world}-{name}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @cached_property
    def _known(self) -> dict[str, dict[int, tuple[Path, int]]]:
        """Text -> place -> the file and row that hold its replies."""
        known: dict[str, dict[int, tuple[Path, int]]] = {}
        for path in sorted(self.folder.glob("*.npz")):
            self._learn(known, path)
        return known

    @staticmethod
    def _learn(known: dict[str, dict[int, tuple[Path, int]]], path: Path) -> None:
        block = _read(path)
        texts, which, places = block["texts"], block["which"], block["places"]
        for row, (text, place) in enumerate(zip(which.tolist(), places.tolist(), strict=True)):
            known.setdefault(str(texts[text]), {})[place] = (path, row)

    def missing(self, wanted: Mapping[str, int]) -> list[Item]:
        """The pictures that are still to be made."""
        return [
            (text, place)
            for text, n in wanted.items()
            for place in range(n)
            if place not in self._known.get(text, {})
        ]

    def make(self, wanted: Mapping[str, int]) -> None:
        """Make what is missing of the first ``wanted[text]`` pictures of every text."""
        todo = self.missing(wanted)
        if not todo:
            return
        load_generator(self.spec).check_prompts(list(wanted))
        cores = os.cpu_count() or 1
        jobs = [
            Job(self.world, items, self.folder / _name(items), max(1, cores // self.jobs))
            for items in _blocks(todo)
        ]
        pace = measured_pace(self.world, self.jobs)
        minutes = len(todo) / pace / 60
        _say(f"{len(todo):,} images of {self.spec}: about {minutes:.0f} min at {pace:.0f}/s")
        started, made = time.monotonic(), 0
        for job in _finished(jobs, self.jobs):
            self._learn(self._known, job.path)
            made += len(job.items)
            pace = made / (time.monotonic() - started)
            left = (len(todo) - made) / pace / 60
            _say(f"{made:,}/{len(todo):,} images, {pace:.0f}/s, {left:.0f} min left")

    def replies(self, text: str, judge: str, n: int) -> Replies:
        """The replies about the first n pictures of a prompt; KeyError if they were not made."""
        shape = (n, len(ASKED))
        found = Replies(np.empty(shape, dtype=np.int16), np.empty(shape, dtype=np.float32))
        for path, places, rows in self._found(text, n):
            block = _read(path)
            found.choices[places] = block[f"{judge}_choices"][rows]
            found.confidences[places] = block[f"{judge}_confidences"][rows]
        return found

    def glyphs(self, text: str, kind: str, n: int) -> np.ndarray:
        """(n,) the badges ("occupation") or props ("context") of a prompt's first n pictures."""
        read = np.empty(n, dtype=np.int16)
        for path, places, rows in self._found(text, n):
            read[places] = _read(path)[kind][rows]
        return read

    def _found(self, text: str, n: int) -> Iterator[tuple[Path, list[int], list[int]]]:
        """The files that hold the first n pictures, which of these, and their rows there."""
        by_file: dict[Path, list[tuple[int, int]]] = {}
        for place in range(n):
            path, row = self._known[text][place]
            by_file.setdefault(path, []).append((place, row))
        for path, both in by_file.items():
            yield path, [place for place, _ in both], [row for _, row in both]

    def codes(self, text: str, judge: str, n: int) -> Codes:
        """The same as an audit codes them, unknown answers by the shipped threshold."""
        return self.replies(text, judge, n).codes(threshold(judge))

    def audit(self, occupation: str, judge: str, n: int) -> CodedImages:
        """The audit of an occupation by the first n pictures of each of its prompts."""
        texts = texts_of(occupation)
        return CodedImages(
            texts[None],
            VARIABLES,
            self.codes(texts[None], judge, n),
            {arm: self.codes(text, judge, n) for arm, text in texts.items() if arm is not None},
        )


def threshold(judge: str) -> float:
    """The probability below which the shipped judge says unknown."""
    return float(load_judge(JUDGES[judge]).settings["unknown_below"])  # type: ignore[arg-type]


def draw(world: str, items: Sequence[Item]) -> list[Image]:
    """Make pictures, in full batches of the generator's size."""
    generator = _models(world)[0]
    pictures: list[Image] = []
    for start in range(0, len(items), generator.batch_size):
        batch = list(items[start : start + generator.batch_size])
        full = [batch[i % len(batch)] for i in range(generator.batch_size)]
        seeds = [seed_for(SEED, generator.spec, text, place) for text, place in full]
        made = generator.generate([text for text, _ in full], seeds)[: len(batch)]
        pictures += [picture.image for picture in made]
    return pictures


def measured_pace(world: str, jobs: int) -> float:
    """Pictures made and asked about in a second, by one thread and so by that many processes."""
    import torch

    torch.set_num_threads(1)
    items = [("a person", place) for place in range(_models(world)[0].batch_size)]
    draw(world, items)  # loads the weights
    started = time.monotonic()
    pictures = draw(world, items)
    for judge in _models(world)[1].values():
        Replies.ask(judge, pictures)
    return jobs * len(items) / (time.monotonic() - started)


@cache
def _models(world: str) -> tuple[Any, dict[str, Any]]:
    judges = {name: load_judge(spec) for name, spec in JUDGES.items()}
    return load_generator(f"sandbox:{world}"), judges


def _work(job: Job) -> Job:
    import torch

    torch.set_num_threads(job.threads)
    pictures = draw(job.world, job.items)
    texts = sorted({text for text, _ in job.items})
    arrays: dict[str, np.ndarray] = {
        "texts": np.array(texts),
        "which": np.array([texts.index(text) for text, _ in job.items], dtype=np.int32),
        "places": np.array([place for _, place in job.items], dtype=np.int32),
    }
    arrays |= {kind: reader().read(pictures) for kind, reader in GLYPHS.items()}
    for name, judge in _models(job.world)[1].items():
        replies = Replies.ask(judge, pictures)
        arrays[f"{name}_choices"] = replies.choices
        arrays[f"{name}_confidences"] = replies.confidences
    partial = job.path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez(file, **arrays)
    partial.replace(job.path)
    return job


def _finished(jobs: list[Job], processes: int) -> Iterator[Job]:
    if processes == 1 or len(jobs) == 1:
        yield from map(_work, jobs)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(_work, jobs)


def _blocks(items: list[Item]) -> Iterable[tuple[Item, ...]]:
    for start in range(0, len(items), BLOCK):
        yield tuple(items[start : start + BLOCK])


def _name(items: tuple[Item, ...]) -> str:
    return hashlib.sha256(json.dumps(items).encode()).hexdigest()[:16] + ".npz"


@cache
def _read(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as block:
        return {name: block[name] for name in block.files}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
