"""Tiny, randomly initialised diffusers pipelines of several architectures, saved as folders."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

SIZES = {"flux": "64x64", "z-image": "64x64"}
"""Of the images of those that make no square of their own size."""
Loader = Callable[..., Any]
"""From a pipeline's name and options to its generator."""
WORDS = ("a", "photo", "of", "an", "old", "young", "male", "female", "librarian", "nurse", "doctor")


def clip_tokenizer_files(folder: Path, window: int = 77) -> Path:
    """A CLIP tokenizer as the hub has it: vocab.json and merges.txt, no tokenizer.json."""
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    letters = list(bytes_to_unicode().values())
    merges, pieces = [], []
    for word in WORDS:
        symbols = [*word[:-1], f"{word[-1]}</w>"]
        while len(symbols) > 1:
            merged = symbols[0] + symbols[1]
            if merged not in pieces:
                merges.append(f"{symbols[0]} {symbols[1]}")
                pieces.append(merged)
            symbols = [merged, *symbols[2:]]
    tokens = [*letters, *(f"{x}</w>" for x in letters), *pieces, "<|startoftext|>", "<|endoftext|>"]
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "CLIPTokenizer", "model_max_length": window})
    )
    return folder


def clip_tokenizer(folder: Path) -> Any:
    from transformers import CLIPTokenizer

    return CLIPTokenizer.from_pretrained(clip_tokenizer_files(folder))


def t5_tokenizer(window: int = 512) -> Any:
    from transformers import T5Tokenizer

    pieces = ["<pad>", "</s>", "<unk>", *(f"▁{word}" for word in WORDS), *"▁abcdefghijklmnopqrst"]
    return T5Tokenizer(
        vocab=[(piece, -float(rank)) for rank, piece in enumerate(dict.fromkeys(pieces))],
        extra_ids=0,
        model_max_length=window,
    )


def clip_text(tokenizer: Any, *, projection: bool) -> Any:
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

    config = CLIPTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=37,
        num_hidden_layers=2,
        num_attention_heads=4,
        projection_dim=32,
        hidden_act="gelu",
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return (CLIPTextModelWithProjection if projection else CLIPTextModel)(config).eval()


def t5_text(tokenizer: Any) -> Any:
    from transformers import T5Config, T5EncoderModel

    return T5EncoderModel(
        T5Config(vocab_size=len(tokenizer), d_model=32, d_kv=8, d_ff=37, num_layers=1, num_heads=4)
    ).eval()


def vae(channels: int, **more: Any) -> Any:
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        block_out_channels=(8, 16),
        in_channels=3,
        out_channels=3,
        down_block_types=["DownEncoderBlock2D"] * 2,
        up_block_types=["UpDecoderBlock2D"] * 2,
        latent_channels=channels,
        norm_num_groups=8,
        sample_size=32,
        **more,
    )


def unet(sample: int = 16, **more: Any) -> Any:
    from diffusers import UNet2DConditionModel

    return UNet2DConditionModel(
        block_out_channels=(8, 16),
        layers_per_block=1,
        sample_size=sample,
        in_channels=4,
        out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        norm_num_groups=8,
        **more,
    )


def stable_diffusion(folder: Path) -> None:
    """SD 1.5 with a safety checker; tokenizer without tokenizer.json; 32 px."""
    from diffusers import EulerDiscreteScheduler, StableDiffusionPipeline
    from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker
    from transformers import CLIPConfig, CLIPImageProcessor

    tokenizer = clip_tokenizer(folder / "tokenizer")
    vision = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 32,
        "patch_size": 16,
    }
    checker = StableDiffusionSafetyChecker(
        CLIPConfig(vision_config=vision, text_config={"hidden_size": 16}, projection_dim=16)
    )
    StableDiffusionPipeline(
        vae=vae(4),
        text_encoder=clip_text(tokenizer, projection=False),
        tokenizer=tokenizer,
        unet=unet(cross_attention_dim=32, attention_head_dim=4),
        scheduler=EulerDiscreteScheduler(steps_offset=1, timestep_spacing="leading"),
        safety_checker=checker,
        feature_extractor=CLIPImageProcessor(
            size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
        ),
    ).save_pretrained(folder)
    (folder / "tokenizer" / "tokenizer.json").unlink(missing_ok=True)
    clip_tokenizer_files(folder / "tokenizer")


def sdxl(folder: Path) -> None:
    from diffusers import EulerDiscreteScheduler, StableDiffusionXLPipeline

    tokenizer = clip_tokenizer(folder / "tokenizer")
    StableDiffusionXLPipeline(
        vae=vae(4),
        text_encoder=clip_text(tokenizer, projection=False),
        text_encoder_2=clip_text(tokenizer, projection=True),
        tokenizer=tokenizer,
        tokenizer_2=tokenizer,
        unet=unet(
            cross_attention_dim=64,
            attention_head_dim=(2, 4),
            use_linear_projection=True,
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            transformer_layers_per_block=(1, 1),
            projection_class_embeddings_input_dim=80,
        ),
        scheduler=EulerDiscreteScheduler(),
    ).save_pretrained(folder)


def sd3(folder: Path) -> None:
    from diffusers import (
        FlowMatchEulerDiscreteScheduler,
        SD3Transformer2DModel,
        StableDiffusion3Pipeline,
    )

    tokenizer, t5 = clip_tokenizer(folder / "tokenizer"), t5_tokenizer()
    StableDiffusion3Pipeline(
        vae=vae(4, shift_factor=0.06, scaling_factor=1.5, use_quant_conv=False),
        text_encoder=clip_text(tokenizer, projection=True),
        text_encoder_2=clip_text(tokenizer, projection=True),
        text_encoder_3=t5_text(t5),
        tokenizer=tokenizer,
        tokenizer_2=tokenizer,
        tokenizer_3=t5,
        transformer=SD3Transformer2DModel(
            sample_size=16,
            patch_size=2,
            in_channels=4,
            out_channels=4,
            num_layers=1,
            attention_head_dim=8,
            num_attention_heads=4,
            joint_attention_dim=32,
            caption_projection_dim=32,
            pooled_projection_dim=64,
            pos_embed_max_size=16,
        ),
        scheduler=FlowMatchEulerDiscreteScheduler(),
    ).save_pretrained(folder)


def flux(folder: Path) -> None:
    from diffusers import FlowMatchEulerDiscreteScheduler, FluxPipeline, FluxTransformer2DModel

    tokenizer, t5 = clip_tokenizer(folder / "tokenizer"), t5_tokenizer()
    FluxPipeline(
        vae=vae(1, shift_factor=0.06, scaling_factor=1.5, use_quant_conv=False),
        text_encoder=clip_text(tokenizer, projection=False),
        text_encoder_2=t5_text(t5),
        tokenizer=tokenizer,
        tokenizer_2=t5,
        transformer=FluxTransformer2DModel(
            patch_size=1,
            in_channels=4,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            pooled_projection_dim=32,
            axes_dims_rope=(4, 4, 8),
        ),
        scheduler=FlowMatchEulerDiscreteScheduler(),
    ).save_pretrained(folder)


def z_image(folder: Path) -> None:
    """Its encodings are lists of matrices, one for each prompt, of the prompt's own length."""
    from diffusers import FlowMatchEulerDiscreteScheduler, ZImagePipeline, ZImageTransformer2DModel
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3Model

    words = {word: number for number, word in enumerate(["<pad>", "<unk>", *WORDS])}
    backend = Tokenizer(models.WordLevel(words, "<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {"pad_token": "<pad>", "unk_token": "<unk>"}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, model_max_length=131072, **special
    )
    tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=512,
    )
    ZImagePipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=vae(16, shift_factor=0.1, scaling_factor=0.4),
        text_encoder=Qwen3Model(config).eval(),
        tokenizer=tokenizer,
        transformer=ZImageTransformer2DModel(
            all_patch_size=(2,),
            all_f_patch_size=(1,),
            in_channels=16,
            dim=32,
            n_layers=1,
            n_refiner_layers=1,
            n_heads=2,
            n_kv_heads=2,
            qk_norm=True,
            cap_feat_dim=16,
            rope_theta=256.0,
            t_scale=1000.0,
            axes_dims=[8, 4, 4],
            axes_lens=[256, 32, 32],
        ),
    ).save_pretrained(folder)


BUILDERS: Mapping[str, Callable[[Path], None]] = {
    "sd15": stable_diffusion,
    "sdxl": sdxl,
    "sd3": sd3,
    "flux": flux,
    "z-image": z_image,
}


def save(name: str, folder: Path) -> Path:
    """The tiny pipeline of a name in a folder; the same weights every time."""
    import torch

    from biasgraph.models.library_loading import silence_libraries

    with silence_libraries():
        torch.manual_seed(0)
        BUILDERS[name](folder)
    return folder


def loader(home: Path, steps: int) -> Loader:
    """Loads generators of tiny pipelines by their names; each is saved below `home` once."""
    from biasgraph.models.inference_options import ModelOptions
    from biasgraph.models.registry import load_generator

    folders: dict[str, Path] = {}

    def loaded(name: str, **options: Any) -> Any:
        if name not in folders:
            folders[name] = save(name, home / name)
        usual = {"device": "cpu", "steps": steps, "size": SIZES.get(name)}
        return load_generator(f"diffusers:{folders[name]}", ModelOptions(**{**usual, **options}))

    return loaded
