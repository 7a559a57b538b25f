"""Tiny, randomly initialised models that match pictures with captions, saved as folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.models.tiny_vlms import PIXELS, VISION, tokenizer

TEXT = {**VISION, "max_position_embeddings": 48}


def save(folder: Path, model: Any, words: Any, pictures: Any) -> Path:
    for part in (model, words, pictures):
        part.save_pretrained(folder)
    return folder


def clip(folder: Path) -> Path:
    import torch
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel

    words = tokenizer(bos=True)
    text = {
        **TEXT,
        "vocab_size": len(words),
        "bos_token_id": words.bos_token_id,
        "eos_token_id": words.eos_token_id,
        "pad_token_id": words.pad_token_id,
    }
    config = CLIPConfig(
        text_config=text,
        vision_config={**VISION, "image_size": 32, "patch_size": 8},
        projection_dim=16,
    )
    torch.manual_seed(5)
    pictures = CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size=PIXELS)
    return save(folder, CLIPModel(config).eval(), words, pictures)


def siglip(folder: Path, side: int = 32, patch: int = 8) -> Path:
    import torch
    from transformers import SiglipConfig, SiglipImageProcessorPil, SiglipModel

    words = tokenizer()
    config = SiglipConfig(
        text_config={**TEXT, "vocab_size": len(words)},
        vision_config={**VISION, "image_size": side, "patch_size": patch},
    )
    torch.manual_seed(5)
    model = SiglipModel(config).eval()
    with torch.no_grad():  # as trained ones have them, about
        model.logit_scale.fill_(4.0)
        model.logit_bias.fill_(-12.0)
    pictures = SiglipImageProcessorPil(size={"height": side, "width": side})
    return save(folder, model, words, pictures)


def siglip2(folder: Path) -> Path:
    """With pictures in their own shape (NaFlex)."""
    import torch
    from transformers import Siglip2Config, Siglip2ImageProcessorPil, Siglip2Model

    words = tokenizer("<unk>")
    config = Siglip2Config(
        text_config={**TEXT, "vocab_size": len(words)},
        vision_config={**VISION, "patch_size": 8, "num_patches": 16},
    )
    torch.manual_seed(5)
    model = Siglip2Model(config).eval()
    with torch.no_grad():
        model.logit_scale.fill_(4.0)
        model.logit_bias.fill_(-12.0)
    return save(folder, model, words, Siglip2ImageProcessorPil(patch_size=8, max_num_patches=16))


FAMILIES = {build.__name__: build for build in (clip, siglip, siglip2)}
