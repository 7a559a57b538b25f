"""How well the judges read drawings and their reconstructions, and when they should say unknown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.card import glyphs
from benchmarks.card.replies import JUDGES, Replies
from benchmarks.exact import VARIABLES
from benchmarks.shares import Estimate, wilson
from biasgraph.causal.tables import GATED, UNKNOWN, Codes
from biasgraph.models.registry import load_judge
from biasgraph.sandbox.backends import WEIGHTS
from biasgraph.sandbox.training.data import NOBODY, Pictures, draw_pictures
from biasgraph.sandbox.world import AXES

HELD_OUT_SEED = 900_001
"""Training draws its pictures from seeds below 100,000."""

KEPT = 0.995
RULE = (
    "the largest threshold, in steps of .01 up to .99, that keeps 99.5 % of a judge's right "
    "answers on held-out drawings"
)
NO_THRESHOLD = 0.0


def judges_section(drawings: int) -> dict[str, Any]:
    """Accuracy on held-out drawings and on their reconstructions, and the threshold they imply."""
    pictures = draw_pictures("stereotyped", drawings, HELD_OUT_SEED)
    arrays = {"drawings": pictures.images, "reconstructions": _reconstructed(pictures.images)}
    sets = {kind: [Image.fromarray(one) for one in images] for kind, images in arrays.items()}
    truth = _truth(pictures)
    found: dict[str, Any] = {"pictures": drawings, "rule": RULE, "judges": {}}
    found["psnr"] = _psnr(*arrays.values())
    for name, spec in JUDGES.items():
        judge = load_judge(spec)
        replies = {kind: Replies.ask(judge, images) for kind, images in sets.items()}
        unknown_below = choose_threshold(replies["drawings"], truth)
        found["judges"][name] = {
            "threshold": unknown_below,
            "shipped_threshold": judge.settings["unknown_below"],
            **{kind: _accuracy(one, truth, unknown_below) for kind, one in replies.items()},
        }
    found["glyphs"] = {kind: _glyphs(images, pictures) for kind, images in sets.items()}
    return found


def _glyphs(images: Sequence[Image.Image], pictures: Pictures) -> dict[str, Estimate]:
    """How well badges and props are read; props of pictures with no or one context phrase."""
    present = pictures.occupation != NOBODY
    plain = present & (pictures.context.sum(axis=1) <= 1)  # of two phrases one has no prop
    props = np.where(pictures.context.any(axis=1), pictures.context.argmax(axis=1), glyphs.NO_PROP)
    return {
        "occupation": _share((glyphs.badges().read(images) == pictures.occupation)[present]),
        "context": _share(
            (glyphs.props().read(images) == props)[plain & (props != glyphs.NO_PROP)]
        ),
        "no context": _share(
            (glyphs.props().read(images) == props)[plain & (props == glyphs.NO_PROP)]
        ),
    }


def _truth(pictures: Pictures) -> Codes:
    """(n, 8) codes in the order of the axis set; GATED where nobody is in the picture."""
    columns = [list(AXES).index(variable.name) for variable in VARIABLES]
    shown = pictures.shown[:, columns].astype(np.int16)
    return np.where(shown == NOBODY, np.int16(GATED), shown)


def choose_threshold(replies: Replies, truth: Codes) -> float:
    """The threshold that ``RULE`` gives, from a judge's replies about pictures of known truth."""
    answered = {t: replies.codes(t) for t in (NO_THRESHOLD, *_steps())}
    right = (answered[NO_THRESHOLD] == truth).sum()
    kept = [t for t in _steps() if (answered[t] == truth).sum() >= KEPT * right]
    return max(kept, default=NO_THRESHOLD)


def _steps() -> list[float]:
    return [step / 100 for step in range(1, 100)]


def _accuracy(replies: Replies, truth: Codes, unknown_below: float) -> dict[str, Any]:
    forced, decided = replies.codes(NO_THRESHOLD), replies.codes(unknown_below)
    present = truth[:, 0] != GATED
    wrong = forced != truth
    axes: dict[str, Mapping[str, Estimate]] = {}
    for y, variable in enumerate(VARIABLES):
        told = decided[present, y]
        answered = told >= 0
        axes[variable.name] = {
            "accuracy": _share(forced[present, y] == truth[present, y]),
            "unknown": _share(told == UNKNOWN),
            "accuracy_of_answered": _share((told == truth[present, y])[answered]),
        }
    return {
        "axes": axes,
        "gate": _share((forced[:, 0] != GATED) == present),
        "wrong_answers": int(wrong.sum()),
        "wrong_made_unknown": _share(decided[wrong] == UNKNOWN),
        "right_made_unknown": _share(decided[~wrong] == UNKNOWN),
    }


def _share(hits: np.ndarray) -> Estimate:
    return wilson(int(hits.sum()), len(hits))


def _reconstructed(images: np.ndarray) -> np.ndarray:
    from diffusers import AutoencoderKL

    from biasgraph.models.library_loading import silence_libraries
    from biasgraph.sandbox.training.vae import reconstruct

    with silence_libraries():
        vae = AutoencoderKL.from_pretrained(
            WEIGHTS / "stereotyped" / "vae", use_safetensors=True, local_files_only=True
        )
    return reconstruct(vae, images)


def _psnr(images: np.ndarray, others: np.ndarray) -> float:
    """Mean peak signal-to-noise ratio in decibel."""
    errors = [
        float(np.square(one.astype(float) - other).mean())
        for one, other in zip(images, others, strict=True)
    ]
    return float(np.mean([10 * math.log10(255**2 / max(error, 1e-9)) for error in errors]))
