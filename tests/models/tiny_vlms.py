"""Tiny, randomly initialised models that see, saved as folders the way the hub holds them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}IMAGE{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SENTENCES = [
    "What is the gender (male, female) of the person?",
    "What is the age group (young, middle, old) of the person?",
    "Is there a person in the image (yes or no)?",
    "A. male\nB. female\nC. unknown (the image does not show it)",
    "Answer with the letter of the right option only.",
    "<|im_start|>user\n<|im_end|>\nassistant",
    "Describe the image in one sentence.",
]
TEXT = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
}
VISION = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
PIXELS = {"height": 32, "width": 32}


def tokenizer(*special: str, bos: bool = False) -> Any:
    """A byte-level BPE that was trained on a few sentences."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    tokens = ["<pad>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", *special]
    raw.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(
            vocab_size=500,
            special_tokens=tokens,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    if bos:
        raw.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", raw.token_to_id("<s>"))]
        )
    roles = dict(zip(("pad_token", "bos_token", "eos_token"), tokens, strict=False))
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, extra_special_tokens=list(special), **roles
    )


def save(
    folder: Path,
    kind: str,
    config: Any,
    words: Any,
    pictures: Any,
    processor: dict[str, Any],
    image: str | None,
) -> Path:
    """Weights from a seed, tokenizer, image processor, and the files that tie them together.

    image: what stands for a picture in the chat template; None for no template.
    """
    import torch
    import transformers

    torch.manual_seed(7)
    model = getattr(transformers, kind)(config).eval()
    with torch.no_grad():
        for weights in model.parameters():  # the usual start leaves all answers alike
            if weights.dim() > 1:
                weights.normal_(0, 0.25)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    pictures.save_pretrained(folder)
    (folder / "processor_config.json").write_text(json.dumps(processor))
    if image is not None:
        (folder / "chat_template.jinja").write_text(CHAT.replace("IMAGE", image))
    return folder


def llava(folder: Path, side: int = 32, patch: int = 8) -> Path:
    from transformers import CLIPImageProcessorPil, LlavaConfig

    words = tokenizer("<image>", bos=True)
    config = LlavaConfig(
        vision_config={
            "model_type": "clip_vision_model",
            **VISION,
            "image_size": side,
            "patch_size": patch,
            "projection_dim": 16,
        },
        text_config={"model_type": "llama", **TEXT, "vocab_size": len(words)},
        image_token_id=words.convert_tokens_to_ids("<image>"),
        image_seq_length=(side // patch) ** 2,
    )
    return save(
        folder,
        "LlavaForConditionalGeneration",
        config,
        words,
        CLIPImageProcessorPil(
            size={"shortest_edge": side}, crop_size={"height": side, "width": side}
        ),
        {
            "processor_class": "LlavaProcessor",
            "patch_size": patch,
            "vision_feature_select_strategy": "default",
            "num_additional_image_tokens": 1,
        },
        "<image>\n",
    )


def llava_onevision(folder: Path) -> Path:
    from transformers import LlavaOnevisionConfig, LlavaOnevisionImageProcessorPil

    words = tokenizer("<image>", "<video>")
    grid = [[32, 32], [32, 64], [64, 32], [64, 64]]
    config = LlavaOnevisionConfig(
        vision_config={
            "model_type": "siglip_vision_model",
            **VISION,
            "image_size": 32,
            "patch_size": 8,
            "vision_use_head": False,
        },
        text_config={"model_type": "qwen2", **TEXT, "vocab_size": len(words)},
        image_token_id=words.convert_tokens_to_ids("<image>"),
        video_token_id=words.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=grid,
        vision_feature_select_strategy="full",
        vision_feature_layer=-1,
    )
    return save(
        folder,
        "LlavaOnevisionForConditionalGeneration",
        config,
        words,
        LlavaOnevisionImageProcessorPil(size=PIXELS, image_grid_pinpoints=grid),
        {
            "processor_class": "LlavaOnevisionProcessor",
            "num_image_tokens": 16,
            "vision_feature_select_strategy": "full",
        },
        "<image>",
    )


QWEN_VISION = {
    "depth": 2,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_heads": 4,
    "patch_size": 8,
    "out_hidden_size": 32,
}
QWEN = ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>", "<|video_pad|>")


def _qwen_tokens(words: Any) -> dict[str, int]:
    names = ("vision_start_token_id", "image_token_id", "vision_end_token_id", "video_token_id")
    return dict(zip(names, words.convert_tokens_to_ids(list(QWEN)), strict=True))


def _qwen_places(*sections: int) -> dict[str, Any]:
    return {"rope_type": "default", "mrope_section": [*sections], "rope_theta": 1e4}


def _save_qwen(folder: Path, architecture: str, config: Any, words: Any, processor: str) -> Path:
    from transformers import Qwen2VLImageProcessorPil

    patch = QWEN_VISION["patch_size"]
    area = (2 * patch) ** 2
    pictures = Qwen2VLImageProcessorPil(
        patch_size=patch,
        merge_size=2,
        temporal_patch_size=2,
        size={"shortest_edge": 4 * area, "longest_edge": 16 * area},
    )
    picture = "<|vision_start|><|image_pad|><|vision_end|>"
    about = {"processor_class": processor}
    return save(folder, architecture, config, words, pictures, about, picture)


def qwen2_5_vl(folder: Path) -> Path:
    from transformers import Qwen2_5_VLConfig

    words = tokenizer(*QWEN)
    config = Qwen2_5_VLConfig(
        vision_config={
            **QWEN_VISION,
            "window_size": 32,
            "fullatt_block_indexes": [1],
        },
        text_config={
            **TEXT,
            "vocab_size": len(words),
            "rope_parameters": _qwen_places(1, 1, 2),
        },
        **_qwen_tokens(words),
    )
    return _save_qwen(
        folder, "Qwen2_5_VLForConditionalGeneration", config, words, "Qwen2_5_VLProcessor"
    )


def qwen3_vl(folder: Path) -> Path:
    from transformers import Qwen3VLConfig

    words = tokenizer(*QWEN)
    config = Qwen3VLConfig(
        vision_config={
            **QWEN_VISION,
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0],
        },
        text_config={
            **TEXT,
            "head_dim": 8,
            "vocab_size": len(words),
            "rope_parameters": _qwen_places(2, 1, 1),
        },
        **_qwen_tokens(words),
    )
    return _save_qwen(folder, "Qwen3VLForConditionalGeneration", config, words, "Qwen3VLProcessor")


def qwen3_5(folder: Path) -> Path:
    """A hybrid of linear and full attention."""
    from transformers import Qwen3_5Config

    words = tokenizer(*QWEN)
    config = Qwen3_5Config(
        vision_config={
            **QWEN_VISION,
            "num_position_embeddings": 64,
        },
        text_config={
            **TEXT,
            "head_dim": 16,
            "vocab_size": len(words),
            "layer_types": ["linear_attention", "full_attention"],
            "linear_key_head_dim": 8,
            "linear_value_head_dim": 8,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 4,
            "rope_parameters": {**_qwen_places(1, 1, 0), "partial_rotary_factor": 0.25},
        },
        **_qwen_tokens(words),
    )
    return _save_qwen(folder, "Qwen3_5ForConditionalGeneration", config, words, "Qwen3VLProcessor")


def internvl(folder: Path) -> Path:
    from transformers import GotOcr2ImageProcessorPil, InternVLConfig

    roles = {
        "context_image_token": "<IMG_CONTEXT>",
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "video_token": "<video>",
    }
    words = tokenizer(*roles.values())
    config = InternVLConfig(
        vision_config={**VISION, "image_size": [32, 32], "patch_size": [8, 8]},
        text_config={"model_type": "qwen2", **TEXT, "vocab_size": len(words)},
        image_token_id=words.convert_tokens_to_ids("<IMG_CONTEXT>"),
        downsample_ratio=0.5,
    )
    save(
        folder,
        "InternVLForConditionalGeneration",
        config,
        words,
        GotOcr2ImageProcessorPil(size=PIXELS),
        {"processor_class": "InternVLProcessor", "image_seq_length": 4},
        "<IMG_CONTEXT>\n",
    )
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "extra_special_tokens": roles}))
    return folder


def idefics3(folder: Path) -> Path:
    from transformers import Idefics3Config, Idefics3ImageProcessorPil

    words = tokenizer(
        "<image>",
        "<fake_token_around_image>",
        "<end_of_utterance>",
        "<global-img>",
        *(f"<row_{row}_col_{column}>" for row in (1, 2) for column in (1, 2)),
    )
    config = Idefics3Config(
        vision_config={**VISION, "image_size": 32, "patch_size": 8},
        text_config={"model_type": "llama", **TEXT, "vocab_size": len(words)},
        image_token_id=words.convert_tokens_to_ids("<image>"),
        scale_factor=2,
        pad_token_id=words.pad_token_id,
    )
    return save(
        folder,
        "Idefics3ForConditionalGeneration",
        config,
        words,
        Idefics3ImageProcessorPil(size={"longest_edge": 64}, max_image_size={"longest_edge": 32}),
        {"processor_class": "Idefics3Processor", "image_seq_len": 4},
        "<image>",
    )


def blip2(folder: Path) -> Path:
    from transformers import Blip2Config, BlipImageProcessorPil

    words = tokenizer("<image>", bos=True)
    config = Blip2Config(
        vision_config={**VISION, "image_size": 32, "patch_size": 8},
        qformer_config={**VISION, "encoder_hidden_size": 32, "vocab_size": len(words)},
        text_config={
            "model_type": "opt",
            "hidden_size": 32,
            "word_embed_proj_dim": 32,
            "ffn_dim": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "vocab_size": len(words),
        },
        num_query_tokens=4,
        image_token_index=words.convert_tokens_to_ids("<image>"),
    )
    return save(
        folder,
        "Blip2ForConditionalGeneration",
        config,
        words,
        BlipImageProcessorPil(size=PIXELS),
        {"processor_class": "Blip2Processor", "num_query_tokens": 4},
        None,
    )


FAMILIES = {
    build.__name__: build
    for build in (llava, llava_onevision, qwen2_5_vl, qwen3_vl, qwen3_5, internvl, idefics3, blip2)
}
