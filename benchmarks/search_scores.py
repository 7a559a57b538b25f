"""How the ways to score a prompt agree with each other, and with what was planted.

The same prompts and noises for all, and no race: `full` denoises each prompt to half of the steps,
`race` to a fifth, `shared` gives each prompt a pass on latents that a neutral prompt denoised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.shares import number, shown, table
from biasgraph.audits.search.scoring import Lookout, Target
from biasgraph.audits.search.searching import NEUTRAL
from biasgraph.data.axes import load_axis_set
from biasgraph.models.probe import load_probes
from biasgraph.models.registry import load_generator
from biasgraph.runs.wanted_images import seed_for
from biasgraph.sandbox.prompt_grammar import every_prompt
from biasgraph.sandbox.scene_captions import read_scene
from biasgraph.sandbox.world import AXES, marginals, world

if TYPE_CHECKING:
    from biasgraph.models.base import ObservableGenerator

PROMPTS, LATENTS = 160, 10
WAYS = {"full": (5, None), "race": (2, None), "shared": (5, NEUTRAL)}
"""The step that is looked at, and the prompt that latents are shared with."""
RESAMPLES = 2000
Numbers = np.ndarray
Record = dict[str, Any]


def agreement(name: str, probes: Path) -> Record:
    """Rank correlations over prompts of a generator, for each attribute of gender and age."""
    generator = load_generator(f"sandbox:{name}")
    axes = load_axis_set("occupation").only(["gender", "age"])
    read = load_probes(probes, generator, axes)
    targets = [
        Target(axis.name, attribute, place, read[axis.name])
        for axis in axes.axes
        for place, attribute in enumerate(axis.names)
    ]
    rng = np.random.default_rng(1)
    pool = [prompt.text for prompt in every_prompt(2, 99) if len(prompt.phrases) == 2]
    texts = [f"a photo of {pool[place]}" for place in rng.choice(len(pool), PROMPTS, replace=False)]
    shares = [marginals(world(name), read_scene(text)) for text in texts]
    seeds = [seed_for(0, generator.spec, "latents of all", latent) for latent in range(LATENTS)]
    scores = {
        way: _scores(generator, targets, texts, seeds, step, neutral)
        for way, (step, neutral) in WAYS.items()
    }
    found = [
        {
            "generator": name,
            "axis": target.axis,
            "attribute": target.attribute,
            **{
                f"{way} with planted": _correlation(
                    scores[way][:, place], [_share(one, target) for one in shares]
                )
                for way in WAYS
            },
            **{
                f"{way} with full": _correlation(scores[way][:, place], scores["full"][:, place])
                for way in WAYS
                if way != "full"
            },
            "race more than shared, with full": _apart(scores, place),
        }
        for place, target in enumerate(targets)
    ]
    return {"generator": name, "prompts": PROMPTS, "latents": LATENTS, "attributes": found}


def _scores(
    generator: ObservableGenerator,
    targets: Sequence[Target],
    texts: Sequence[str],
    seeds: Sequence[int],
    step: int,
    neutral: str | None,
) -> Numbers:
    """(texts, targets) mean probabilities over the latents."""
    lookout = Lookout(generator, targets, step, seeds, neutral)
    shown = lookout.look([(text, latent) for text in texts for latent in range(len(seeds))])
    means: Numbers = shown.reshape(len(texts), len(seeds), -1).mean(axis=1)
    return means


def _share(shares: Mapping[str, Numbers], target: Target) -> float:
    """Rounded, so that prompts with equal shares stay equal."""
    share = shares[target.axis][AXES[target.axis].index(target.attribute)]
    return round(float(share), 9)


def _draws() -> Numbers:
    return np.random.default_rng(0).integers(PROMPTS, size=(RESAMPLES, PROMPTS))


def _correlation(one: Numbers | Sequence[float], other: Numbers | Sequence[float]) -> Record:
    """Spearman's, with a bootstrap over prompts."""
    a, b = np.asarray(one), np.asarray(other)
    drawn = [float(spearmanr(a[rows], b[rows])[0]) for rows in _draws()]
    return _estimate(float(spearmanr(a, b)[0]), drawn)


def _apart(scores: Mapping[str, Numbers], place: int) -> Record:
    """How much better the race's score agrees with `full` than the shared one."""
    full, race, shared = (scores[way][:, place] for way in ("full", "race", "shared"))

    def apart(rows: Numbers) -> float:
        return float(spearmanr(race[rows], full[rows])[0] - spearmanr(shared[rows], full[rows])[0])

    return _estimate(apart(np.arange(PROMPTS)), [apart(rows) for rows in _draws()])


def _estimate(value: float, drawn: Sequence[float]) -> Record:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return {"value": value, "low": float(low), "high": float(high), "n": PROMPTS}


def markdown(records: Sequence[Record]) -> str:
    """A row for each generator and attribute."""
    names = [name for name in records[0]["attributes"][0] if " with " in name]
    rows = [
        [one["generator"], one["attribute"], *(shown(one[name], 2) for name in names)]
        for record in records
        for one in record["attributes"]
    ]
    worst = min(
        one["race more than shared, with full"]["low"]
        for record in records
        for one in record["attributes"]
    )
    lowest = f"\nLeast lower end of the last column: {number(worst, 2)} (goal -.02).\n"
    return table(["generator", "attribute", *names], rows) + lowest
