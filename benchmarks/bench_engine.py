"""What the engine costs beyond diffusers: images a second through it and through a bare loop.

    python benchmarks/bench_engine.py [--model FOLDER|NAME] [--size 256] [--images 8] [--rounds 5]

In one process, with the models loaded, rounds alternate between
  bare    a loop that calls the pipeline on the same prompts and seeds, in the same batches, with
          the same steps, and keeps the PIL images;
  lean    the same loop with the engine's memory of encoded prompts, which leaves its overhead;
  engine  a run's images: the same, with prompts, batches, SQLite, PNG files and their hashes.
The target is a ratio of engine to bare of at most 1.03, of seconds that passed; the ratio of the
process's own CPU seconds is printed with it, for machines that others use at the time.

Without --model it is a UNet of Stable Diffusion's first family, randomly initialised, small enough
for two CPU cores: the less a model computes for an image, the more the engine weighs, so that real
models lie below what is measured here.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the command line does

from biasgraph.data.axes import load_axis_set
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import load_generator
from biasgraph.prompts.counterfactuals import plan_prompts
from biasgraph.runs.directory import open_run
from biasgraph.runs.local_engine import generate

TARGET = 1.03
PROMPT = "a photo of a librarian"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="of diffusers: a folder or a name on the hub")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--images", type=int, default=8, help="in all, of each round")
    parser.add_argument("--rounds", type=int, default=5)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        model = wanted.model or save_pipeline(Path(scratch) / "pipeline")
        options = ModelOptions(
            steps=wanted.steps, size=str(wanted.size), batch_size=wanted.batch_size
        )
        generator: Any = load_generator(f"diffusers:{model}", options)
        plan = plan_prompts(PROMPT, load_axis_set("occupation").only(["gender"])).prompts
        images = -(-wanted.images // len(plan))
        texts = [prompt.text for prompt in plan] * images
        generator.generate(texts[:2], range(2))  # loads
        engine(generator, plan, 1, Path(scratch) / "warm")
        taken: dict[str, list[tuple[float, float]]] = {side.__name__: [] for side in SIDES}
        for number in range(wanted.rounds):
            turn = number % len(SIDES)
            for side in SIDES[turn:] + SIDES[:turn]:
                before = time.process_time()
                seconds = side(generator, plan, images, Path(scratch) / f"{number}")
                taken[side.__name__].append((seconds, time.process_time() - before))
            paces = {name: len(texts) / rounds[-1][0] for name, rounds in taken.items()}
            shown = ", ".join(f"{name} {pace:.3f}" for name, pace in paces.items())
            print(f"round {number + 1}: {shown} images/s", flush=True)
        print(
            f"{generator._card.pipeline}, {wanted.size} px, {wanted.steps} steps, batches of "
            f"{wanted.batch_size}, {len(texts)} images a round"
        )
        for other in ("bare", "lean"):
            passed, worked = (
                statistics.median(
                    ours[clock] / theirs[clock]
                    for ours, theirs in zip(taken["engine"], taken[other], strict=True)
                )
                for clock in (0, 1)
            )
            target = f" (target: at most {TARGET})" if other == "bare" else ""
            print(f"engine / {other}: {passed:.3f} of time, {worked:.3f} of CPU time{target}")


def bare(generator: Any, plan: Any, images: int, directory: Path) -> float:
    """Seconds of the pipeline's own calls, which encode the prompts of every batch."""
    remembered = generator._pipeline.encode_prompt
    generator._pipeline.encode_prompt = remembered.encode
    try:
        return lean(generator, plan, images, directory)
    finally:
        generator._pipeline.encode_prompt = remembered


def lean(generator: Any, plan: Any, images: int, directory: Path) -> float:
    """Seconds of the pipeline's own calls, with encodings remembered as the engine does."""
    import torch

    pipeline, size = generator._pipeline, generator.batch_size
    texts = [prompt.text for prompt in plan] * images
    kept = []
    start = time.perf_counter()
    for place in range(0, len(texts), size):
        part = texts[place : place + size]
        kept += pipeline(
            prompt=part,
            generator=[torch.Generator().manual_seed(place + n) for n in range(len(part))],
            num_inference_steps=generator.steps,
            guidance_scale=generator.guidance,
            width=generator.options.pixels[0],
            height=generator.options.pixels[1],
        ).images
    return time.perf_counter() - start


def engine(generator: Any, plan: Any, images: int, directory: Path) -> float:
    """Seconds of a run's images, from an empty ledger to the last file."""
    with open_run(directory, generator=generator, judges=[], seed=0, fresh=False) as run:
        start = time.perf_counter()
        run.request([plan], images=images, targets=["gender"], settings={}, command=[])
        generate(run, generator)
        return time.perf_counter() - start


SIDES = [bare, lean, engine]


def save_pipeline(folder: Path) -> Path:
    """A random pipeline of Stable Diffusion's first family for 256 px; 40 million parameters."""
    import torch
    from diffusers import (
        AutoencoderKL,
        EulerDiscreteScheduler,
        StableDiffusionPipeline,
        UNet2DConditionModel,
    )
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

    from biasgraph.sandbox.backends import WEIGHTS

    torch.manual_seed(0)
    tokenizer = CLIPTokenizer.from_pretrained(WEIGHTS / "stereotyped" / "tokenizer")
    StableDiffusionPipeline(
        vae=AutoencoderKL(
            block_out_channels=(32, 64, 64, 64),
            down_block_types=["DownEncoderBlock2D"] * 4,
            up_block_types=["UpDecoderBlock2D"] * 4,
            latent_channels=4,
            sample_size=256,
        ),
        text_encoder=CLIPTextModel(
            CLIPTextConfig(
                vocab_size=len(tokenizer),
                hidden_size=256,
                intermediate_size=512,
                num_hidden_layers=6,
                num_attention_heads=4,
                max_position_embeddings=tokenizer.model_max_length,
                eos_token_id=tokenizer.eos_token_id,
            )
        ),
        tokenizer=tokenizer,
        unet=UNet2DConditionModel(
            sample_size=32,
            block_out_channels=(96, 192, 192),
            layers_per_block=1,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
            cross_attention_dim=256,
        ),
        scheduler=EulerDiscreteScheduler(steps_offset=1, timestep_spacing="leading"),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)
    return folder


if __name__ == "__main__":
    main()
