"""The VAE: 64x64 pictures to 8x8 latents with 8 channels and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biasgraph.sandbox.training.clip_training import pixels
from biasgraph.sandbox.training.data import Drawings
from biasgraph.sandbox.training.loop import Report, Schedule, fit

if TYPE_CHECKING:
    import torch
    from diffusers import AutoencoderKL

SCHEDULE = Schedule(steps=3200, batch=12, rate=2.5e-3, seed=12, warmup=100, ema=0.995)
KL_WEIGHT = 2e-4


def new_vae(seed: int) -> AutoencoderKL:
    """An untrained VAE of the sandbox's size."""
    import torch
    from diffusers import AutoencoderKL

    torch.manual_seed(seed)
    widths = (16, 32, 64, 96)
    return AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * len(widths),
        up_block_types=("UpDecoderBlock2D",) * len(widths),
        block_out_channels=widths,
        layers_per_block=1,
        latent_channels=8,
        norm_num_groups=8,
        sample_size=64,
        scaling_factor=1.0,
    )


def train_vae(pictures: Drawings, work: Path, report: Report | None = None) -> AutoencoderKL:
    """Train on drawings; the scaling factor is set so that latents have unit variance."""
    vae = new_vae(SCHEDULE.seed)

    def loss(rng: np.random.Generator) -> torch.Tensor:
        batch = pixels(pictures.images[rng.integers(len(pictures), size=SCHEDULE.batch)])
        latent = vae.encode(batch).latent_dist
        error: torch.Tensor = vae.decode(latent.sample()).sample - batch
        divergence: torch.Tensor = (
            0.5 * (latent.mean.square() + latent.var - 1 - latent.logvar).mean()
        )
        return 4 * error.square().mean() + error.abs().mean() + KL_WEIGHT * divergence

    fit("vae", vae, loss, SCHEDULE, work, report)
    sample = encode(vae, pictures.images[:1000])
    vae.register_to_config(scaling_factor=float(1 / sample.std()))
    return vae


def encode(vae: AutoencoderKL, images: np.ndarray, batch: int = 100) -> np.ndarray:
    """Latent means, unscaled: (n, 64, 64, 3) uint8 to (n, 8, 8, 8) float32."""
    import torch

    with torch.no_grad():
        parts = [
            vae.encode(pixels(images[i : i + batch])).latent_dist.mean.numpy()
            for i in range(0, len(images), batch)
        ]
    return np.concatenate(parts)
