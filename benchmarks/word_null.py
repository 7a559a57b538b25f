"""How often is a word named where none matters, and how often is one found that does?

    python -m benchmarks.word_null [--prompts 500] [--replicates 500]

No image is made.  The answers of seed-paired images are drawn from known shares: for each prompt
the full one and three words left out, of which none, or the first, changes the shares.  In half of
the worlds an image keeps the answer of its seed seven times in ten, as generators do whose pictures
depend on the noise more than on the prompt.  docs/statistics.md has the table.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from biasgraph.causal.word_influence import PairedAnswers, rank_removals

WORDS = 3
KEPT = 0.7


@dataclass(frozen=True)
class World:
    """What answers are drawn from.

    Attributes:
        images: Pairs of each word.
        attributes: k of the axis.
        paired: Whether images of one seed mostly have one answer.
        influence: Of the first word, in [0, 1]; the other words have none.
    """

    images: int
    attributes: int
    paired: bool
    influence: float = 0.0

    def draw(self, rng: np.random.Generator) -> PairedAnswers:
        """The answers about one prompt's images."""
        k, n = self.attributes, self.images
        shares = 0.5 / k + 0.5 * rng.dirichlet(np.ones(k))
        if self.influence:  # half of the influence moves from the second attribute to the first
            shares = np.full(k, 0.2 / max(1, k - 2))
            shares[:2] = (0.15, 0.85) if k == 2 else (0.1, 0.7)
        moved = shares.copy()
        moved[:2] += np.array([1, -1]) * self.influence / 2
        kept, uniform = rng.random((n, 1 + WORDS)) < KEPT, rng.random((n, 1 + WORDS))
        if self.paired:
            uniform = np.where(kept, uniform[:, :1], uniform)
        full = np.searchsorted(np.cumsum(shares)[:-1], uniform[:, 0], side="right")
        others = np.searchsorted(np.cumsum(shares)[:-1], uniform[:, 1:], side="right")
        others[:, 0] = np.searchsorted(np.cumsum(moved)[:-1], uniform[:, 1], side="right")
        return PairedAnswers(full.astype(np.int16), others.astype(np.int16), k)


@dataclass(frozen=True)
class Rates:
    """Of how many prompts, in [0, 1].

    Attributes:
        named: Any word is named.
        found: The first word is named, and ranked first.
        covered: The interval of the first word's influence holds the true one.
    """

    named: float
    found: float
    covered: float


def rates(world: World, prompts: int, replicates: int, seed: int = 0) -> Rates:
    """What happens in so many prompts of a world."""
    key = [seed, world.images, world.attributes, world.paired, int(100 * world.influence)]
    rng = np.random.default_rng(key)
    named = found = covered = 0
    for _ in range(prompts):
        words = rank_removals(world.draw(rng), rng, replicates).words
        named += any(word.stands_out for word in words)
        found += words[0].stands_out and words[0].rank == 1
        covered += words[0].low <= world.influence <= words[0].high
    return Rates(named / prompts, found / prompts, covered / prompts)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", type=int, default=500)
    parser.add_argument("--replicates", type=int, default=500)
    given = parser.parse_args()
    print("| images | attributes | pairs | influence | named | found | covered |")
    print("|---|---|---|---|---|---|---|")
    for influence in (0.0, 0.4, 0.8):
        for images in (10, 48):
            for attributes in (2, 3, 6):
                for paired in (False, True):
                    world = World(images, attributes, paired, influence)
                    seen = rates(world, given.prompts, given.replicates)
                    like = "alike" if paired else "independent"
                    found = f"{seen.found:.3f}" if influence else ""
                    print(
                        f"| {images} | {attributes} | {like} | {influence:.1f} | {seen.named:.3f} "
                        f"| {found} | {seen.covered:.3f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
