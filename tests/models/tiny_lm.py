"""Language models of a few thousand random weights, saved as folders; they talk nonsense."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from biasgraph.models.library_loading import silence_libraries

END, TURN = "<|end|>", "<|turn|>"
TEMPLATE = (
    "{% for message in messages %}<|turn|>{{ message.role }}\n{{ message.content }}<|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|turn|>assistant\n{% endif %}"
)
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
PARTS = (
    "{% for message in messages %}<|turn|>{{ message.role }}\n{% for part in message.content %}"
    "{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}<|end|>{% endfor %}"
    "<|turn|>assistant\n"
)


def tokenizer(template: str | None, words: Sequence[str] = ()) -> Any:
    """One token a byte, one for each of some words, and two control tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = [END, TURN, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    bytewise = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    found = PreTrainedTokenizerFast(
        tokenizer_object=bytewise, eos_token=END, additional_special_tokens=[TURN]
    )
    found.add_tokens(list(words))
    found.chat_template = template
    return found


def save_gpt2(
    folder: Path,
    template: str | None = TEMPLATE,
    positions: int = 4_096,
    words: Sequence[str] = (),
) -> Path:
    """A GPT-2 whose own configuration asks for wild sampling."""
    with silence_libraries():
        import torch
        from transformers import GPT2Config, GPT2LMHeadModel

        known = tokenizer(template, words)
        known.save_pretrained(folder)
        torch.manual_seed(0)
        config = GPT2Config(
            vocab_size=len(known), n_embd=16, n_layer=1, n_head=2, n_positions=positions,
            bos_token_id=0, eos_token_id=0, initializer_range=0.5,
        )  # fmt: skip
        model = GPT2LMHeadModel(config)
        model.generation_config.update(do_sample=True, temperature=5.0, top_k=50)
        model.save_pretrained(folder)
    return folder


def save_causal(folder: Path, kind: str, template: str | None = TEMPLATE, **more: Any) -> Path:
    """A model of another family.

    Args:
        folder: Where to.
        kind: What transformers calls it: "Llama", "Qwen3", "Mistral", "Mamba", "Bloom".
        template: For conversations.
        more: Of its configuration.
    """
    with silence_libraries():
        import torch
        import transformers

        known = tokenizer(template)
        known.save_pretrained(folder)
        torch.manual_seed(0)
        shape = {
            "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "head_dim": 8,
            "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 256,
        }  # fmt: skip
        if kind in ("Mamba", "Bloom"):
            shape = {"hidden_size": 16, "num_hidden_layers": 1, "n_layer": 1, "n_head": 2}
        config = getattr(transformers, f"{kind}Config")(
            **shape, vocab_size=len(known), bos_token_id=None, eos_token_id=0, pad_token_id=None,
            initializer_range=0.5, **more,
        )  # fmt: skip
        getattr(transformers, f"{kind}ForCausalLM")(config).save_pretrained(folder)
    return folder


def save_endless(folder: Path) -> Path:
    """A GPT-2 of six words, none of which begins or ends a text."""
    with silence_libraries():
        import torch
        from tokenizers import Tokenizer, models, pre_tokenizers
        from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

        words = ["a", "photo", "of", "chef", "night", "?"]
        known = {word: i for i, word in enumerate(words)}
        backend = Tokenizer(models.WordLevel(known, unk_token="?"))  # noqa: S106
        backend.pre_tokenizer = pre_tokenizers.Whitespace()
        PreTrainedTokenizerFast(tokenizer_object=backend).save_pretrained(folder)
        torch.manual_seed(0)
        config = GPT2Config(
            vocab_size=6, n_embd=16, n_layer=1, n_head=2, bos_token_id=None, eos_token_id=None
        )
        GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def save_llava(folder: Path) -> Path:
    """A model that sees as well, whose template takes a list of parts."""
    with silence_libraries():
        import torch
        from transformers import (
            CLIPVisionConfig,
            LlamaConfig,
            LlavaConfig,
            LlavaForConditionalGeneration,
        )

        words = tokenizer(PARTS)
        words.save_pretrained(folder)
        small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
        torch.manual_seed(0)
        model = LlavaForConditionalGeneration(
            LlavaConfig(
                vision_config=CLIPVisionConfig(
                    **small, intermediate_size=16, image_size=16, patch_size=8
                ),
                text_config=LlamaConfig(
                    **small, intermediate_size=16, vocab_size=len(words), eos_token_id=0
                ),
                image_token_index=1,
            )
        )
        model.save_pretrained(folder)
    return folder


def save_t5(folder: Path) -> Path:
    """A model that translates and cannot write on."""
    with silence_libraries():
        from transformers import T5Config, T5ForConditionalGeneration

        words = tokenizer(None)
        words.save_pretrained(folder)
        T5ForConditionalGeneration(
            T5Config(vocab_size=len(words), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2)
        ).save_pretrained(folder)
    return folder
