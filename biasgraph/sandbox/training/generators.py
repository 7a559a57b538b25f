"""The generators' parts: a VAE and the denoiser, a Stable Diffusion UNet in miniature.

The VAE makes 64x64 pictures 8x8 latents with 8 channels, and pictures of these again; the frozen
text tower of the CLIP conditions the UNet.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biasgraph.sandbox.training.data import Drawings, pixels
from biasgraph.sandbox.training.loop import Schedule, fit

if TYPE_CHECKING:
    import torch
    from diffusers import AutoencoderKL, DDIMScheduler, UNet2DConditionModel
    from transformers import CLIPTextModel, CLIPTokenizer

OF_VAE = Schedule(steps=3200, batch=12, rate=2.5e-3, seed=12, warmup=100, ema=0.995)
OF_UNET = Schedule(steps=9_000, batch=64, rate=1.5e-3, seed=13, warmup=300, ema=0.9995)
FINE_TUNING = Schedule(steps=2_500, batch=64, rate=8e-4, seed=14, warmup=100, ema=0.999)
KL_WEIGHT = 2e-4
SILENT = 0.05
"""How often a caption is dropped, so that guidance is possible."""
STEPS = 10
"""Sampling steps of the shipped pipelines."""


def train_vae(pictures: Drawings, work: Path) -> AutoencoderKL:
    """Train on drawings; the scaling factor is set so that latents have unit variance."""
    import torch
    from diffusers import AutoencoderKL

    torch.manual_seed(OF_VAE.seed)
    widths = (16, 32, 64, 96)
    vae = AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * len(widths),
        up_block_types=("UpDecoderBlock2D",) * len(widths),
        block_out_channels=widths,
        layers_per_block=1,
        latent_channels=8,
        norm_num_groups=8,
        sample_size=64,
        scaling_factor=1.0,
    )

    def loss(rng: np.random.Generator) -> torch.Tensor:
        batch = pixels(pictures.images[rng.integers(len(pictures), size=OF_VAE.batch)])
        latent = vae.encode(batch).latent_dist
        error: torch.Tensor = vae.decode(latent.sample()).sample - batch
        divergence: torch.Tensor = (
            0.5 * (latent.mean.square() + latent.var - 1 - latent.logvar).mean()
        )
        return 4 * error.square().mean() + error.abs().mean() + KL_WEIGHT * divergence

    fit("vae", vae, loss, OF_VAE, work)
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


def new_scheduler() -> DDIMScheduler:
    """Cosine noise, v-prediction, trailing spacing, no clipping: latents are not pixels."""
    from diffusers import DDIMScheduler

    return DDIMScheduler(
        num_train_timesteps=1000,
        beta_schedule="squaredcos_cap_v2",
        prediction_type="v_prediction",
        timestep_spacing="trailing",
        rescale_betas_zero_snr=True,
        clip_sample=False,
        set_alpha_to_one=True,
        steps_offset=1,
    )


def new_unet(seed: int) -> UNet2DConditionModel:
    """An untrained UNet of the sandbox's size."""
    import torch
    from diffusers import UNet2DConditionModel

    torch.manual_seed(seed)
    return UNet2DConditionModel(
        sample_size=8,
        in_channels=8,
        out_channels=8,
        block_out_channels=(64, 96),
        layers_per_block=1,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=128,
        attention_head_dim=4,
        norm_num_groups=16,
    )


def train_unet(
    part: str,
    unet: UNet2DConditionModel,
    text: CLIPTextModel,
    tokenizer: CLIPTokenizer,
    latents: np.ndarray,
    captions: Sequence[str],
    schedule: Schedule,
    work: Path,
) -> None:
    """Train ``unet`` in place.

    Args:
        part: the name of the part, for its checkpoint.
        unet: what is trained.
        text: the frozen text tower that conditions it.
        tokenizer: of the captions.
        latents: (n, 8, 8, 8) float, scaled to unit variance, one for each caption.
        captions: n texts.
        schedule: steps, batch, rate and seed.
        work: the folder of checkpoints.
    """
    import torch

    noise = new_scheduler()
    ids = tokenizer(
        [*captions, ""], padding="max_length", truncation=True, return_tensors="pt"
    ).input_ids.to(torch.int16)
    batch = schedule.batch

    def loss(rng: np.random.Generator) -> torch.Tensor:
        rows = rng.integers(len(captions), size=batch)
        clean = torch.from_numpy(latents[rows]).float()
        said = np.where(rng.random(batch) < SILENT, len(captions), rows)
        with torch.no_grad():
            state = text(ids[said].long()).last_hidden_state
        even = (np.arange(batch) + rng.random(batch)) / batch  # stratified in time
        times = torch.from_numpy((even * noise.config.num_train_timesteps).astype(np.int64))
        random = torch.randn_like(clean)
        noisy = noise.add_noise(clean, random, times)
        velocity = noise.get_velocity(clean, random, times)
        error: torch.Tensor = unet(noisy, times, state).sample - velocity
        return error.square().mean()

    fit(part, unet, loss, schedule, work)
