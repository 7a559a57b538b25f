"""The parts of the sandbox in the order they are trained, and the folder they are exported to.

work/pictures-*.npz   drawings and captions, drawn once
work/PART.pt          checkpoints; a part at its last step is done
work/PART/            finished parts, as ``save_pretrained`` writes them
OUT/                  the shipped weights, fp16: stereotyped/ debiased/ clip/ judge2/
                      writer/ reader/
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from biasgraph.models.base import Question
from biasgraph.models.clip import ClipJudge
from biasgraph.models.model_source import Source
from biasgraph.sandbox.backends import BATCH, SecondJudge
from biasgraph.sandbox.scene_captions import GATE_CAPTIONS
from biasgraph.sandbox.training import generators, judges, language_models
from biasgraph.sandbox.training.caption_writing import choice_caption
from biasgraph.sandbox.training.data import NOBODY, Drawings, draw_pictures
from biasgraph.sandbox.world import AXES

JUDGE_PICTURES = 40_000
UNET_PICTURES = {"stereotyped": 120_000, "debiased": 60_000}
SEEDS = {"judges": 1, "stereotyped": 2, "debiased": 3, "held out": 999}
SPEAKERS = ("writer", "reader")
HELD_OUT = 1_000
SUREST = 0.9


def train(part: str, work: Path) -> None:
    """Train one part, or finish it, unless ``work/part`` is there already.

    Raises:
        KeyError: no such part.
    """
    if (work / part).is_dir():
        return
    work.mkdir(parents=True, exist_ok=True)
    trained = _denoiser(part, work) if part in UNET_PICTURES else _TRAINERS[part](work)
    trained.save_pretrained(work / f"{part}.new")
    (work / f"{part}.new").replace(work / part)


_TRAINERS = {
    "tokenizer": lambda work: judges.train_tokenizer(_pictures(work).captions),
    "clip": lambda work: judges.train_clip(_load(work, "tokenizer"), _pictures(work), work),
    "vae": lambda work: generators.train_vae(_pictures(work), work),
    "judge2": lambda work: judges.train_judge2(_pictures(work), work),
    "writer": language_models.train_writer,
    "reader": language_models.train_reader,
}


def _denoiser(world: str, work: Path) -> Any:
    """A world's UNet; that of the debiased world starts from the stereotyped one's weights."""
    first = world == "stereotyped"
    schedule = generators.OF_UNET if first else generators.FINE_TUNING
    unet = generators.new_unet(schedule.seed) if first else _load(work, "stereotyped")
    latents, captions = _latents(world, work)
    text, tokenizer = _text_tower(work), _load(work, "tokenizer")
    generators.train_unet(world, unet, text, tokenizer, latents, captions, schedule, work)
    return unet


def _load(work: Path, part: str) -> Any:
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from transformers import (
        AutoModelForCausalLM,
        CLIPModel,
        CLIPTokenizer,
        ResNetForImageClassification,
    )

    kinds = {
        "tokenizer": CLIPTokenizer,
        "clip": CLIPModel,
        "vae": AutoencoderKL,
        "judge2": ResNetForImageClassification,
        "stereotyped": UNet2DConditionModel,
        "debiased": UNet2DConditionModel,
        **dict.fromkeys(SPEAKERS, AutoModelForCausalLM),
    }
    return kinds[part].from_pretrained(work / part)


def _text_tower(work: Path) -> Any:
    """The CLIP's text tower by itself, as pipelines hold it."""
    from transformers import CLIPTextModel

    return CLIPTextModel.from_pretrained(work / "clip").eval()


def _pictures(work: Path) -> Drawings:
    path = work / "pictures.npz"
    if not path.exists():
        pictures = draw_pictures("stereotyped", JUDGE_PICTURES, SEEDS["judges"])
        np.savez(path, **{**vars(pictures), "captions": np.array(pictures.captions)})
    with np.load(path) as stored:
        return Drawings(**{**stored, "captions": stored["captions"].tolist()})


def _latents(world: str, work: Path) -> tuple[np.ndarray, list[str]]:
    """Scaled latents (n, 8, 8, 8) float16 and captions of a world's pictures."""
    path = work / f"latents-{world}.npz"
    if not path.exists():
        vae = _load(work, "vae")
        chunk, parts = 10_000, []
        captions: list[str] = []
        for start in range(0, UNET_PICTURES[world], chunk):
            pictures = draw_pictures(world, chunk, SEEDS[world] * 1000 + start // chunk)
            scaled = generators.encode(vae, pictures.images) * vae.config.scaling_factor
            parts.append(scaled.astype(np.float16))
            captions += pictures.captions
        np.savez(path, latents=np.concatenate(parts), captions=np.array(captions))
    with np.load(path) as stored:
        return stored["latents"], stored["captions"].tolist()


def export(work: Path, out: Path) -> None:
    """Write the finished parts as pipelines and models, fp16 safetensors, with ``sandbox.json``."""
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
            scheduler=generators.new_scheduler(),
            safety_checker=None,
            feature_extractor=None,
            requires_safety_checker=False,
        )
        pipeline.save_pretrained(_fresh(out / world), safe_serialization=True)
    for judge in ("clip", "judge2"):
        _load(work, judge).half().save_pretrained(_fresh(out / judge))
    tokenizer.save_pretrained(out / "clip")
    export_speakers(work, out)
    half = [0.5, 0.5, 0.5]
    size = {"height": 64, "width": 64}
    CLIPImageProcessorPil(
        size=size, crop_size=size, do_center_crop=False, image_mean=half, image_std=half
    ).save_pretrained(out / "clip")
    facts = {
        "sampling": {"steps": generators.STEPS, "guidance": 1.0},
        "unknown_below": thresholds(out),
    }
    _write_json(out / "sandbox.json", facts)
    for path in out.rglob("config.json"):
        config = json.loads(path.read_text("utf-8"))
        # Libraries write down where a model was loaded from: a folder of this machine alone.
        if config.pop("_name_or_path", None) is not None:
            _write_json(path, config)


def export_speakers(work: Path, out: Path) -> None:
    """Write the language models with their tokenizers, fp16 safetensors."""
    from transformers import AutoTokenizer

    for name in SPEAKERS:
        _load(work, name).half().save_pretrained(_fresh(out / name))
        tokenizer = AutoTokenizer.from_pretrained(work / name)
        tokenizer.save_pretrained(out / name, save_jinja_files=False)


def _write_json(path: Path, record: dict[str, Any]) -> None:
    path.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n", "utf-8", newline="\n")


def thresholds(weights: Path) -> dict[str, float]:
    """Exported judge -> the probability below which it says unknown.

    It is the one that 1 in 1,000 answers about held-out drawings stay below on the axis where the
    judge is least sure, and at most ``SUREST``, since generated pictures are less sharp.
    """
    from PIL import Image

    held_out = draw_pictures("stereotyped", HELD_OUT, SEEDS["held out"])
    people = [Image.fromarray(drawn) for drawn in held_out.images[held_out.occupation != NOBODY]]
    asked = [
        Question(axis, values, tuple(choice_caption(axis, value, 0) for value in values))
        for axis, values in AXES.items()
    ]
    gate = Question("person", ("yes", "no"), GATE_CAPTIONS)
    clip = Source("sandbox", str(weights / "clip"), None, True)
    second = SecondJudge(weights / "judge2", "sandbox:judge2", BATCH, 0.0)
    replies = {
        "clip": ClipJudge(clip, "cpu", "float32", BATCH, 0.0).answer(people, asked),
        "judge2": second.answer(people, [*asked, gate]),
    }
    sure = {judge: [[a.confidence for a in row] for row in rows] for judge, rows in replies.items()}
    return {
        judge: round(min(SUREST, *np.quantile(table, 0.001, axis=0).tolist()), 2)
        for judge, table in sure.items()
    }


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
