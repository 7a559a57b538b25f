"""Measures which unit of a prompt ranks first: gradient, removal, baselines (docs/sandbox.md).

    python -m benchmarks.words_realised       # counts of images, with and without each unit
    python -m benchmarks.words_gradients      # scores of tokens: 10 images, every second step
    python -m benchmarks.words                # the tables

Of 26 prompts and eight axes of both generators, against two truths: what was planted, and what
the generators were seen to draw.  A removal by n images draws n answers for each prompt of these
counts, without shared seeds.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.exact import WORLDS
from benchmarks.shares import number, table
from benchmarks.words_design import UnitPrompt, design
from benchmarks.words_realised import Counts, read
from biasgraph.causal.tables import Floats
from biasgraph.causal.word_accuracy import MeanOverPrompts, RankedPair, accuracy_rows
from biasgraph.causal.word_influence import mean_draws, rank_words
from biasgraph.methods.word_gradients import GradientSettings, word_scores
from biasgraph.models.token_scores import LIKELIEST, RANDOM, TokenScores
from biasgraph.prompts.grammar import words as word_list
from biasgraph.prompts.prompt_words import PromptWord, split_words
from biasgraph.sandbox.scene_captions import read_scene
from biasgraph.sandbox.world import AXES, marginals, world

HERE = Path(__file__).parent
REMOVALS, LEAST = (10, 48, 200), (0.0, 0.2, 0.4)
READINGS = ("l1", "l2", "input-times-gradient", "released")


@dataclass(frozen=True)
class Pair:
    """One prompt and axis of one generator."""

    model: str
    prompt: UnitPrompt
    axis: str

    def planted(self) -> Floats:
        """(units,) the influence of each unit, by enumeration."""
        model = world(self.model.partition(":")[2])
        full = marginals(model, read_scene(self.prompt.text))[self.axis]
        texts = map(self.prompt.without, self.prompt.units)
        left = [marginals(model, read_scene(text))[self.axis] for text in texts]
        return np.array([np.abs(full - shares).sum() for shares in left])

    def realised(self, counts: Counts) -> list[Floats]:
        """The shares of answers of the whole prompt, and without each unit."""
        texts = [self.prompt.text, *map(self.prompt.without, self.prompt.units)]
        shown = [np.array(counts[self.model, text, self.axis][1:-1], float) for text in texts]
        return [own / own.sum() for own in shown]


def influence(shares: Sequence[Floats]) -> Floats:
    """(units,) of the shares of the whole prompt and without each unit."""
    return np.array([np.abs(shares[0] - one).sum() for one in shares[1:]])


def sampled(shares: Sequence[Floats], images: int, rng: np.random.Generator) -> Floats:
    """(units,) the influence that so many images of each show."""
    return influence([rng.multinomial(images, own / own.sum()) / images for own in shares])


def content(prompt: UnitPrompt) -> list[list[PromptWord]]:
    """The content words of each unit."""
    stop, at, found = word_list("stop_words"), 0, []
    for unit in prompt.units:
        start = prompt.text.index(unit, at)
        at = start + len(unit)
        own = [word for word in split_words(prompt.text) if start <= word.start < at]
        found.append([word for word in own if word.text.lower() not in stop] or own)
    return found


def by_gradient(
    images: Sequence[Mapping[str, Any]], pair: Pair, kind: str, how: GradientSettings
) -> Floats:
    """(images, units) scores: of a unit's words the largest, any of which would be a hit."""
    units = content(pair.prompt)
    rows = [TokenScores.of_record(image[pair.axis][kind]) for image in images]
    return np.array([[word_scores(row, words, how).max() for words in units] for row in rows])


def ranked(
    pairs: Sequence[Pair], counts: Counts, scored: Mapping[tuple[str, str, bool], Any]
) -> Iterator[tuple[Pair, Floats, Floats, dict[str, Floats]]]:
    """Each pair with planted and realised influence and what every method says."""
    rng = np.random.default_rng(0)
    for pair in pairs:
        shares = pair.realised(counts)
        said = {"random": np.zeros(3), "tree": np.array([3.0, 2.0, 1.0])}
        for images in REMOVALS:
            said[f"removal, {images} images"] = sampled(shares, images, rng)
        for reading in READINGS:
            images = scored.get((pair.model, pair.prompt.text, reading == "released"))
            if images:
                how = GradientSettings(score=reading)  # type: ignore[arg-type]
                said[f"gradient, {reading}"] = by_gradient(images, pair, LIKELIEST, how).mean(
                    axis=0
                )
        yield pair, pair.planted(), influence(shares), said


def accuracies(rows: Sequence[Any], truth: int) -> str:
    """A row for each method: top-1 against a truth, by the largest influence."""
    rng, cells = np.random.default_rng(0), {}
    for least in LEAST:
        kept = [
            RankedPair(row[0].prompt.text + row[0].model, row[truth], row[3])
            for row in rows
            if row[truth].max() >= least
        ]
        found = accuracy_rows(kept, rng) if kept else []
        for one in found:
            if one.top == 1 and one.ties == "any":
                cells.setdefault(one.method, []).append(_shown(one.accuracy))
                if least == LEAST[1]:
                    ahead = [
                        _shown(one.ahead_of[name]) if name in one.ahead_of else ""
                        for name in ("random", "tree")
                    ]
                    cells.setdefault(one.method + " ahead", []).extend(ahead)
    header = [
        "method",
        *(f"influence >= {least}" if least else f"all {len(rows)} pairs" for least in LEAST),
    ]
    header += ["ahead of random", "ahead of the tree (>= .2)"]
    lines = [
        [name, *own, *cells.get(f"{name} ahead", ["", ""])]
        for name, own in cells.items()
        if not name.endswith(" ahead")
    ]
    return table(header, lines)


def _shown(mean: MeanOverPrompts) -> str:
    if mean.value is None:
        return "-"
    ends = "" if mean.low is None else f" [{number(mean.low, 2)}, {number(mean.high, 2)}]"
    return f"{number(mean.value, 2)}{ends}"


def named(pairs: Sequence[Pair], scored: Mapping[tuple[str, str, bool], Any]) -> str:
    """How often the gradient's null lets a unit stand out, by the largest planted influence."""
    rng, rows = np.random.default_rng(0), []
    for pair in pairs:
        images = scored.get((pair.model, pair.prompt.text, False))
        if images:
            own, drawn = (
                by_gradient(images, pair, kind, GradientSettings()) for kind in (LIKELIEST, RANDOM)
            )
            null = mean_draws(drawn, rng).max(axis=1)
            ranking = rank_words(own.mean(axis=0), mean_draws(own, rng), null)
            rows.append((pair.planted().max(), any(word.stands_out for word in ranking.words)))
    lines = []
    for low, high in ((0.0, 0.02), (0.02, 0.2), (0.2, 0.4), (0.4, 2.1)):
        hits = [hit for largest, hit in rows if low <= largest < high]
        lines.append(
            [f"{low} to {high}", str(len(hits)), number(float(np.mean(hits)), 3) if hits else "-"]
        )
    return table(["largest planted influence", "pairs", "a unit stands out"], lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--realised", type=Path, default=HERE / "words_realised.csv")
    parser.add_argument("--gradients", type=Path, default=Path("outputs/words_gradients.jsonl"))
    given = parser.parse_args(arguments)
    counts = read(given.realised)
    with given.gradients.open(encoding="utf-8") as file:
        lines = map(json.loads, file)
        scored = {(one["model"], one["prompt"], one["released"]): one["images"] for one in lines}
    print(f"Images behind each realised share: {min(own[0] for own in counts.values())}")
    for name in WORLDS:
        model = f"sandbox:{name}"
        pairs = [Pair(model, prompt, axis) for prompt in design() for axis in AXES]
        pairs = [pair for pair in pairs if (model, pair.prompt.text, False) in scored]
        rows = list(ranked(pairs, counts, scored))
        for place, truth in ((1, "planted"), (2, "realised")):
            print(f"\n{model}, top-1 against the {truth} truth\n\n{accuracies(rows, place)}")
        print(named(pairs, scored))


if __name__ == "__main__":
    main()
