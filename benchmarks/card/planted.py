"""What docs/sandbox.md says of the worlds and the training, rendered from the code itself."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.exact import WORLDS, planted_truth
from benchmarks.shares import number, table
from biasgraph.sandbox.backends import WEIGHTS
from biasgraph.sandbox.training import clip_training as clip
from biasgraph.sandbox.training import judge2, parts, unet, vae
from biasgraph.sandbox.world import AXES, CONTEXTS, OCCUPATIONS, Scene, Shift, marginals, world

SHOWN_ALONE = {"gender": "female", "environment": "indoor", "clothing": "formal"}
"""Of a yes-or-no axis one attribute's share says it all."""

EXAMPLE = "librarian"


def planted_parts() -> dict[str, str]:
    """The parts of the page that follow from the code alone, by the name of their marker."""
    return {
        "links": _links(),
        "contexts": _contexts(),
        "profiles": _profiles(),
        "shares": _shares({job: world("stereotyped").shares[job] for job in OCCUPATIONS}),
        "plain-stereotyped": _shares(_plain("stereotyped")),
        "plain-debiased": _shares(_plain("debiased")),
        "graph": _graph_counts(),
        "example": _example(),
        "recipe": _recipe(),
    }


def _links() -> str:
    kept = {(link.parent, link.child) for link in world("debiased").links}
    rows = []
    for link in world("stereotyped").links:
        shifts = "; ".join(f"{value}: {_shift(shift)}" for value, shift in link.shifts.items())
        in_debiased = "yes" if (link.parent, link.child) in kept else "no"
        rows.append([f"{link.parent} → {link.child}", shifts, in_debiased])
    return table(["link", "what each value of the first adds to the second", "in debiased"], rows)


def _shift(shift: Shift) -> str:
    return ", ".join(f"{attribute} {by:+.1f}" for attribute, by in shift.items())


def _contexts() -> str:
    rows = [
        [phrase, "; ".join(f"{axis}: {_shift(shift)}" for axis, shift in axes.items())]
        for phrase, axes in CONTEXTS.items()
    ]
    return table(["phrase", "adds"], rows)


def _profile_of() -> dict[str, str]:
    """Occupation -> the letter of its ethnicity shares, in order of first appearance."""
    letters: dict[tuple[float, ...], str] = {}
    found = {}
    for job in OCCUPATIONS:
        shares = world("stereotyped").shares[job]["ethnicity"]
        found[job] = letters.setdefault(shares, "ABCDEFGH"[len(letters)])
    return found


def _profiles() -> str:
    by_letter: dict[str, list[str]] = {}
    for job, letter in _profile_of().items():
        by_letter.setdefault(letter, []).append(job)
    rows = []
    for letter, jobs in by_letter.items():
        shares = world("stereotyped").shares[jobs[0]]["ethnicity"]
        rows.append([letter, *(_percent(share) for share in shares), ", ".join(jobs)])
    return table(["code shares", *AXES["ethnicity"], "occupations"], rows)


def _plain(name: str) -> dict[str, Mapping[str, np.ndarray]]:
    return {job: marginals(world(name), Scene(job)) for job in OCCUPATIONS}


def _shares(by_job: Mapping[str, Mapping[str, Sequence[float] | np.ndarray]]) -> str:
    axes = [axis for axis in AXES if axis != "ethnicity"]
    header = ["%", *(SHOWN_ALONE.get(axis, " / ".join(AXES[axis])) for axis in axes)]
    rows = []
    for job, shares in by_job.items():
        cells = []
        for axis in axes:
            chosen = [AXES[axis].index(SHOWN_ALONE[axis])] if axis in SHOWN_ALONE else None
            values = np.asarray(shares[axis])[chosen or slice(None)]
            cells.append(" / ".join(_percent(value) for value in values))
        rows.append([job, *cells])
    return table(header, rows)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def _graph_counts() -> str:
    rows = []
    for name in WORLDS:
        pairs = [pair for job in OCCUPATIONS for pair in planted_truth(name, job).pairs]
        strengths = np.array([pair.cramers_v for pair in pairs])
        effects = np.array([pair.sensitivity for pair in pairs])
        counts = [
            len(pairs),
            (strengths == 0).sum(),
            (strengths >= 0.1).sum(),
            (strengths >= 0.3).sum(),
            (effects >= 0.02).sum(),
            (effects <= -0.02).sum(),
        ]
        rows.append([name, *(f"{count:,}" for count in counts)])
    header = ["world", "pairs", "V = 0", "V ≥ .1", "V ≥ .3"]
    return table([*header, "towards the ideal (IS ≥ .02)", "away from it (IS ≤ -.02)"], rows)


def _example() -> str:
    pairs = [pair for pair in planted_truth("stereotyped", EXAMPLE).pairs if pair.cramers_v]
    strong = [pair for pair in pairs if (pair.cramers_v or 0) >= 0.1]
    rows = [
        [
            f"{pair.source} → {pair.target}",
            number(pair.cramers_v, 2),
            number(pair.w1_before),
            number(pair.w1_after),
            f"{pair.sensitivity:+.3f}".replace("0.", ".", 1),
            _direction(pair.sensitivity),
        ]
        for pair in sorted(strong, key=lambda pair: -abs(pair.sensitivity))
    ]
    header = ["pair", "V", "W1 before", "W1 after", "IS", "diversifying the first moves the second"]
    return table(header, rows)


def _direction(sensitivity: float) -> str:
    if abs(sensitivity) < 0.0005:
        return "neither way"
    return "towards the ideal" if sensitivity > 0 else "away from the ideal"


def _recipe() -> str:
    schedules = {
        "clip": (clip.SCHEDULE, parts.JUDGE_PICTURES),
        "vae": (vae.SCHEDULE, parts.JUDGE_PICTURES),
        "judge2": (judge2.SCHEDULE, parts.JUDGE_PICTURES),
        "stereotyped": (unet.SCHEDULE, parts.UNET_PICTURES["stereotyped"]),
        "debiased": (unet.FINE_TUNING, parts.UNET_PICTURES["debiased"]),
    }
    rows = [
        [
            part,
            f"{pictures:,}",
            f"{one.steps:,}",
            str(one.batch),
            f"{one.rate:g}",
            f"{one.ema:g}" if one.ema else "none",
            str(one.seed),
        ]
        for part, (one, pictures) in schedules.items()
    ]
    return table(["part", "pictures", "steps", "batch", "peak rate", "averaging", "seed"], rows)


def shipped_parts(weights: Path = WEIGHTS) -> str:
    """The architectures and sizes of the weights that ship, read from their own files."""

    def config(*names: str) -> dict[str, Any]:
        return dict(json.loads(weights.joinpath(*names).read_text("utf-8")))

    clip_, unet_ = config("clip", "config.json"), config("stereotyped", "unet", "config.json")
    vae_, net = config("stereotyped", "vae", "config.json"), config("judge2", "config.json")
    text, vision = clip_["text_config"], clip_["vision_config"]
    pieces = len(config("clip", "tokenizer.json")["model"]["vocab"])
    levels = vae_["block_out_channels"]
    words = {
        "tokenizer": f"byte-pair, {pieces:,} pieces, {text['max_position_embeddings']} tokens long",
        "CLIP": (
            f"width {text['hidden_size']}, {text['num_hidden_layers']} text and "
            f"{vision['num_hidden_layers']} vision layers, patches of {vision['patch_size']} in "
            f"{vision['image_size']}x{vision['image_size']}, projection {clip_['projection_dim']}"
        ),
        "VAE": (
            f"AutoencoderKL, widths {_dashed(levels)}, factor {2 ** (len(levels) - 1)}, "
            f"{vae_['latent_channels']} latent channels"
        ),
        "UNet, one a world": (
            f"UNet2DConditionModel, widths {_dashed(unet_['block_out_channels'])}, "
            f"{' and '.join(unet_['down_block_types'])}, {unet_['layers_per_block']} layer a block"
        ),
        "judge2": (
            f"ResNet, widths {_dashed([net['embedding_size'], *net['hidden_sizes']])}, "
            f"{_dashed(net['depths'])} {net['layer_type']} blocks"
        ),
    }
    folders = {
        "CLIP": weights / "clip",
        "VAE": weights / "stereotyped" / "vae",
        "UNet, one a world": weights / "stereotyped" / "unet",
        "judge2": weights / "judge2",
    }
    rows = [
        [part, what, *(_size(folders[part]) if part in folders else ("", ""))]
        for part, what in words.items()
    ]
    total = sum(file.stat().st_size for file in weights.rglob("*") if file.is_file())
    rows.append(["all that ships", "", "", f"{total / 1e6:.1f} MB"])
    return table(["part", "architecture", "parameters", "fp16"], rows)


def _size(folder: Path) -> tuple[str, str]:
    from safetensors import safe_open

    (path,) = folder.glob("*.safetensors")
    with safe_open(path, framework="np") as stored:
        names = list(stored.keys())
        count = sum(math.prod(stored.get_slice(name).get_shape()) for name in names)
    return f"{count:,}", f"{path.stat().st_size / 1e6:.2f} MB"


def _dashed(numbers: Sequence[int]) -> str:
    return "-".join(str(one) for one in numbers)
