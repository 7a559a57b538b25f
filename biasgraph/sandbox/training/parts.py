"""The parts of the sandbox in the order they are trained, and the folder they are exported to.

work/pictures-*.npz   drawings and captions, drawn once
work/PART.safetensors checkpoints; a part at its last step is done
work/PART/            finished parts, as ``save_pretrained`` writes them
OUT/                  the shipped weights, fp16: stereotyped/ debiased/ clip/ judge2/
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from biasgraph.sandbox.training import clip_training as clips
from biasgraph.sandbox.training import judge2 as judges
from biasgraph.sandbox.training import unet as unets
from biasgraph.sandbox.training import vae as vaes
from biasgraph.sandbox.training.captions import choice_caption
from biasgraph.sandbox.training.data import NOBODY, Drawings, draw_pictures
from biasgraph.sandbox.training.loop import Report
from biasgraph.sandbox.world import AXES

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
    trained = _TRAINERS[part](work, report)
    trained.save_pretrained(work / f"{part}.new")
    (work / f"{part}.new").replace(work / part)


def _tokenizer(work: Path, report: Report | None) -> Any:
    return clips.train_tokenizer(_pictures(work, report).captions)


def _clip(work: Path, report: Report | None) -> Any:
    return clips.train_clip(_load(work, "tokenizer"), _pictures(work, report), work, report)


def _vae(work: Path, report: Report | None) -> Any:
    return vaes.train_vae(_pictures(work, report), work, report)


def _judge2(work: Path, report: Report | None) -> Any:
    return judges.train_judge2(_pictures(work, report), work, report)


def _stereotyped(work: Path, report: Report | None) -> Any:
    unet = unets.new_unet(unets.SCHEDULE.seed)
    _denoise("stereotyped", unet, unets.SCHEDULE, work, report)
    return unet


def _debiased(work: Path, report: Report | None) -> Any:
    unet = _load(work, "stereotyped")
    _denoise("debiased", unet, unets.FINE_TUNING, work, report)
    return unet


_TRAINERS: dict[str, Callable[[Path, Report | None], Any]] = {
    "tokenizer": _tokenizer,
    "clip": _clip,
    "vae": _vae,
    "judge2": _judge2,
    "stereotyped": _stereotyped,
    "debiased": _debiased,
}


def _denoise(world: str, unet: Any, schedule: Any, work: Path, report: Report | None) -> None:
    text = _text_tower(work)
    latents, captions = _latents(world, work, report)
    unets.train_unet(
        world, unet, text, _load(work, "tokenizer"), latents, captions, schedule, work, report
    )


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
        _fresh(out / world)
        pipeline.save_pretrained(out / world, safe_serialization=True)
    _fresh(out / "clip")
    _load(work, "clip").to(torch.float16).save_pretrained(out / "clip")
    tokenizer.save_pretrained(out / "clip")
    half = [0.5, 0.5, 0.5]
    size = {"height": 64, "width": 64}
    CLIPImageProcessorPil(
        size=size, crop_size=size, do_center_crop=False, image_mean=half, image_std=half
    ).save_pretrained(out / "clip")
    _fresh(out / "judge2")
    _load(work, "judge2").to(torch.float16).save_pretrained(out / "judge2")
    facts = {
        "sampling": {"steps": unets.STEPS, "guidance": 1.0},
        "unknown_below": {"clip": _clip_threshold(work), "judge2": _judge2_threshold(work)},
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


def _clip_threshold(work: Path) -> float:
    """See :func:`_threshold`."""
    import torch

    clip, tokenizer = _load(work, "clip").eval(), _load(work, "tokenizer")
    held_out = draw_pictures("stereotyped", HELD_OUT, SEEDS["held out"])
    people = clips.pixels(held_out.images[held_out.occupation != NOBODY])
    tops = []
    with torch.no_grad():
        shots = clips.unit(clip.get_image_features(people))
        for axis, values in AXES.items():
            texts = [choice_caption(axis, value, 0) for value in values]
            ids = tokenizer(texts, padding=True, return_tensors="pt")
            logits = clip.logit_scale.exp() * shots @ clips.unit(clip.get_text_features(**ids)).T
            tops.append(logits.softmax(1).amax(1).numpy())
    return _threshold(tops)


def _judge2_threshold(work: Path) -> float:
    """See :func:`_threshold`."""
    import torch

    model = _load(work, "judge2").eval()
    held_out = draw_pictures("stereotyped", HELD_OUT, SEEDS["held out"])
    people = clips.pixels(held_out.images[held_out.occupation != NOBODY])
    sizes = [*(len(values) for values in AXES.values()), 2]
    with torch.no_grad():
        tables = model(people).logits.split(sizes, dim=1)
    return _threshold([table.softmax(1).amax(1).numpy() for table in tables])


def _threshold(tops: list[np.ndarray]) -> float:
    """The probability below which a judge says unknown.

    It is the one that 1 in 1,000 answers about held-out drawings stay below on the axis where the
    judge is least sure, and at most ``SUREST``, since generated pictures are less sharp.
    """
    return round(min(SUREST, *(float(np.quantile(top, 0.001)) for top in tops)), 2)


def _fresh(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
