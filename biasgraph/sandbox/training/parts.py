"""The parts of the sandbox in the order they are trained, and the folder they are exported to.

work/pictures-*.npz   drawings and captions, drawn once
work/PART.pt          checkpoints; a part at its last step is done
work/PART/            finished parts, as ``save_pretrained`` writes them
OUT/                  the shipped weights, fp16: stereotyped/ debiased/ clip/ judge2/
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.sandbox.training import clip_training as clips
from biasgraph.sandbox.training import judge2 as second_judge
from biasgraph.sandbox.training import unet as unets
from biasgraph.sandbox.training import vae as vaes
from biasgraph.sandbox.training.caption_writing import choice_caption
from biasgraph.sandbox.training.data import NOBODY, Drawings, draw_pictures
from biasgraph.sandbox.training.loop import Report
from biasgraph.sandbox.world import AXES

if TYPE_CHECKING:
    import torch

JUDGE_PICTURES = 40_000
UNET_PICTURES = {"stereotyped": 120_000, "debiased": 60_000}
SEEDS = {"judges": 1, "stereotyped": 2, "debiased": 3, "held out": 999}
HELD_OUT = 1_000
SUREST = 0.9


def train(part: str, work: Path, report: Report | None = None) -> None:
    """Train one part, or finish it, unless ``work/part`` is there already.

    Raises:
        KeyError: no such part.
    """
    if (work / part).is_dir():
        return
    work.mkdir(parents=True, exist_ok=True)
    trained = _new(part, work, report)
    trained.save_pretrained(work / f"{part}.new")
    (work / f"{part}.new").replace(work / part)


def _new(part: str, work: Path, report: Report | None) -> Any:
    """A trained part."""
    if part in UNET_PICTURES:
        return _denoiser(part, work, report)
    pictures = _pictures(work, report)
    if part == "tokenizer":
        return clips.train_tokenizer(pictures.captions)
    if part == "clip":
        return clips.train_clip(_load(work, "tokenizer"), pictures, work, report)
    return _TRAINERS[part](pictures, work, report)


_TRAINERS = {"vae": vaes.train_vae, "judge2": second_judge.train_judge2}


def _denoiser(world: str, work: Path, report: Report | None) -> Any:
    """A world's UNet; that of the debiased world starts from the stereotyped one's weights."""
    first = world == "stereotyped"
    schedule = unets.SCHEDULE if first else unets.FINE_TUNING
    unet = unets.new_unet(schedule.seed) if first else _load(work, "stereotyped")
    latents, captions = _latents(world, work, report)
    text, tokenizer = _text_tower(work), _load(work, "tokenizer")
    unets.train_unet(world, unet, text, tokenizer, latents, captions, schedule, work, report)
    return unet


def _load(work: Path, part: str) -> Any:
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from transformers import CLIPModel, CLIPTokenizer, ResNetForImageClassification

    kinds = {
        "tokenizer": CLIPTokenizer,
        "clip": CLIPModel,
        "vae": AutoencoderKL,
        "judge2": ResNetForImageClassification,
        "stereotyped": UNet2DConditionModel,
        "debiased": UNet2DConditionModel,
    }
    return kinds[part].from_pretrained(work / part)


def _text_tower(work: Path) -> Any:
    """The CLIP's text tower by itself, as pipelines hold it."""
    from transformers import CLIPTextModel

    clip = _load(work, "clip")
    text = CLIPTextModel(clip.config.text_config)
    text.load_state_dict(clip.text_model.state_dict())
    return text.eval()


def _pictures(work: Path, report: Report | None) -> Drawings:
    path = work / "pictures.npz"
    if path.exists():
        with np.load(path) as stored:
            fields = {name: stored[name] for name in stored.files}
        return Drawings(**{**fields, "captions": fields["captions"].tolist()})
    pictures = draw_pictures(
        "stereotyped", JUDGE_PICTURES, SEEDS["judges"], _counter("pictures", JUDGE_PICTURES, report)
    )
    np.savez(path, **{**vars(pictures), "captions": np.array(pictures.captions)})
    return pictures


def _latents(world: str, work: Path, report: Report | None) -> tuple[np.ndarray, list[str]]:
    """Scaled latents (n, 8, 8, 8) float16 and captions of a world's pictures."""
    path = work / f"latents-{world}.npz"
    if not path.exists():
        vae = _load(work, "vae")
        total, chunk = UNET_PICTURES[world], 10_000
        count = _counter(f"latents of {world}", total, report)
        parts, captions = [], []
        for start in range(0, total, chunk):
            pictures = draw_pictures(world, chunk, SEEDS[world] * 1000 + start // chunk, count)
            scaled = vaes.encode(vae, pictures.images) * vae.config.scaling_factor
            parts.append(scaled.astype(np.float16))
            captions += pictures.captions
        np.savez(path, latents=np.concatenate(parts), captions=np.array(captions))
    with np.load(path) as stored:
        return stored["latents"], stored["captions"].tolist()


def _counter(what: str, total: int, report: Report | None) -> Callable[[int], None] | None:
    if report is None:
        return None
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        report(what, done, total, float("nan"))

    return count


def export(work: Path, out: Path) -> None:
    """Write the finished parts as pipelines and models, fp16 safetensors, with ``sandbox.json``."""
    import torch
    from diffusers import StableDiffusionPipeline
    from transformers import CLIPImageProcessorPil

    tokenizer, vae = _load(work, "tokenizer"), _load(work, "vae").half()
    text = _text_tower(work).half()
    for world in UNET_PICTURES:
        if not (work / world).is_dir():
            continue
        pipeline = StableDiffusionPipeline(
            vae=vae,
            text_encoder=text,
            tokenizer=tokenizer,
            unet=_load(work, world).half(),
            scheduler=unets.new_scheduler(),
            safety_checker=None,
            feature_extractor=None,
            requires_safety_checker=False,
        )
        pipeline.save_pretrained(_fresh(out / world), safe_serialization=True)
    _load(work, "clip").to(torch.float16).save_pretrained(_fresh(out / "clip"))
    tokenizer.save_pretrained(out / "clip")
    half = [0.5, 0.5, 0.5]
    size = {"height": 64, "width": 64}
    CLIPImageProcessorPil(
        size=size, crop_size=size, do_center_crop=False, image_mean=half, image_std=half
    ).save_pretrained(out / "clip")
    _load(work, "judge2").to(torch.float16).save_pretrained(_fresh(out / "judge2"))
    facts = {
        "sampling": {"steps": unets.STEPS, "guidance": 1.0},
        "unknown_below": _thresholds(work),
    }
    text_of = json.dumps(facts, indent=2, sort_keys=True) + "\n"
    (out / "sandbox.json").write_text(text_of, "utf-8", newline="\n")
    for path in out.rglob("config.json"):
        _forget_folder(path)


def _forget_folder(path: Path) -> None:
    """Libraries write down where a model was loaded from: a folder of this machine alone."""
    config = json.loads(path.read_text("utf-8"))
    if config.pop("_name_or_path", None) is not None:
        text = json.dumps(config, indent=2, sort_keys=True) + "\n"
        path.write_text(text, "utf-8", newline="\n")


def _clip_probabilities(work: Path, people: torch.Tensor) -> list[np.ndarray]:
    """Axis by axis, (n, k): what the CLIP makes of each choice's caption."""
    clip, tokenizer = _load(work, "clip").eval(), _load(work, "tokenizer")
    shots = clips.unit(clip.get_image_features(people))
    tables = []
    for axis, values in AXES.items():
        texts = [choice_caption(axis, value, 0) for value in values]
        ids = tokenizer(texts, padding=True, return_tensors="pt")
        logits = clip.logit_scale.exp() * shots @ clips.unit(clip.get_text_features(**ids)).T
        tables.append(logits.softmax(1).numpy())
    return tables


def _judge2_probabilities(work: Path, people: torch.Tensor) -> list[np.ndarray]:
    """Axis by axis, (n, k), and of the gate."""
    sizes = [*(len(values) for values in AXES.values()), 2]
    tables = _load(work, "judge2").eval()(people).logits.split(sizes, dim=1)
    return [table.softmax(1).numpy() for table in tables]


def _thresholds(work: Path) -> dict[str, float]:
    """Judge -> the probability below which it says unknown.

    It is the one that 1 in 1,000 answers about held-out drawings stay below on the axis where the
    judge is least sure, and at most ``SUREST``, since generated pictures are less sharp.
    """
    import torch

    held_out = draw_pictures("stereotyped", HELD_OUT, SEEDS["held out"])
    people = clips.pixels(held_out.images[held_out.occupation != NOBODY])
    with torch.no_grad():
        judges = {"clip": _clip_probabilities, "judge2": _judge2_probabilities}
        tables = {judge: probabilities(work, people) for judge, probabilities in judges.items()}
    return {
        judge: round(min(SUREST, *(float(np.quantile(p.max(1), 0.001)) for p in by_axis)), 2)
        for judge, by_axis in tables.items()
    }


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
