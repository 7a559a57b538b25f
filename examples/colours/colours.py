"""Mining for a colour (MineTheGap, app. A): an objective, a painter and a writer of one's own.

    python colours.py red

Each is all that `biasgraph.audits.mining.mining.mine` asks of it; none knows the others.
"""

import json
import random
import re
import sys

import numpy as np
from PIL import Image

from biasgraph.audits.mining.mining import mine
from biasgraph.audits.mining.mining_options import MineOptions
from biasgraph.methods.mining_objectives import Needs, PromptScore
from biasgraph.models.base import Picture

COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "white": (255,) * 3}
THINGS = ("barn", "balloon", "boat", "kite", "tent", "car")


class Colour:
    """The mean squared error to a picture of one colour, of the best image: lower is found."""

    lower_is_worse = True

    def __init__(self, name):
        self.name, self.about = name, f"Mean squared error to solid {name}, from 0 to 1."

    def needs(self, prompt):
        return Needs()

    def evaluate(self, population, media):
        return [
            PromptScore(min(map(self.error, map(media.picture, one.own)))) for one in population
        ]

    def error(self, image):
        return float(np.mean((np.asarray(image) / 255 - np.array(COLOURS[self.name]) / 255) ** 2))


class Painter:
    """Paints "a red barn under a blue sky": the sky above, the thing below, and some noise."""

    spec, fingerprint, settings = "colours:painter", "1", {}
    batch_size, seconds_per_image = 16, None

    def check_prompts(self, prompts):
        pass

    def unseen_words(self, prompts):
        return []

    def generate(self, prompts, seeds):
        return [Picture(self.paint(*which)) for which in zip(prompts, seeds, strict=True)]

    def paint(self, prompt, seed):
        thing, sky = [COLOURS[word] for word in prompt.split() if word in COLOURS]
        pixels = np.full((32, 32, 3), thing, dtype=float)
        pixels[:16] = sky
        pixels += np.random.default_rng(seed).normal(0, 20, pixels.shape)
        return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


class Scenes:
    """Writes such prompts: random ones, or, where one is quoted, ones with another colour."""

    spec, fingerprint, settings = "colours:scenes", "1", {}

    def reply(self, messages, schema=None):
        text = messages[-1].text
        draw = random.Random(text)
        before = re.search(r'prompt: "a (\w+) (\w+) under a (\w+) sky"', text)
        parts = [
            self.mutated(before.groups(), draw) if before else self.random(draw) for _ in range(64)
        ]
        return json.dumps([f"a {thing} {what} under a {sky} sky" for thing, what, sky in parts])

    def random(self, draw):
        return [draw.choice([*COLOURS]), draw.choice(THINGS), draw.choice([*COLOURS])]

    def mutated(self, words, draw):
        words = list(words)
        words[draw.choice([0, 2])] = draw.choice([*COLOURS])
        return words


def search(colour, directory, seed=0):
    """The search for one colour: four iterations, as in the paper's figure."""
    options = MineOptions(iterations=4, images=3, best=3, seed=seed, output=directory)
    return mine(options, objective=Colour(colour), generator=Painter(), language_model=Scenes())


if __name__ == "__main__":
    found = search(sys.argv[1], f"outputs/colours-{sys.argv[1]}")
    for row in found.document["mined"]:
        print(f"{row['score']:.3f}  {row['prompt']}")
