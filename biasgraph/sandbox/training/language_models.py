"""The language models: one that writes prompts in the sandbox's grammar, and one that reads them.

The writer is a GPT-2 in miniature and knows the stereotypes: told an attribute, it writes captions
that lean to it.  The reader is a LLaMA with its own tokenizer and seed, trained on captions alone;
it tells how plain a prompt is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.sandbox.training.loop import Schedule, fit
from biasgraph.sandbox.training.prompt_writing import ATTRIBUTES, Text, draw_caption, draw_text

if TYPE_CHECKING:
    import torch

OF_WRITER = Schedule(steps=4_000, batch=64, rate=3e-3, seed=16, warmup=100, ema=0.995)
OF_READER = Schedule(steps=3_000, batch=64, rate=3e-3, seed=17, warmup=100, ema=0.995)
TEXTS = 120_000
POSITIONS = 64
END = "<|endoftext|>"
BEGINNING, ENDING = "<s>", "</s>"
PIECES = {"writer": 528, "reader": 640}
"""Sizes of the vocabularies: the writer spells some words with several tokens, the reader
none, so that its perplexity is about that of a word."""

TEMPLATE = (
    "{{- bos_token }}"
    "{%- set said = messages[-1].content | replace('towards ', 'toward ') %}"
    "{%- set said = said | replace('.', ' ') ~ ' ' %}"
    "{%- set found = namespace(word='', place=said | length) %}"
    f"{{%- for word in {list(ATTRIBUTES)} %}}"
    "{%- set place = said.find('toward ' + word + ' ') %}"
    "{%- if 0 <= place < found.place %}"
    "{%- set found.word = word %}{%- set found.place = place %}"
    "{%- endif %}{%- endfor %}"
    "{{- 'toward ' + found.word + ': ' if found.word else 'neutral: ' }}"
)
"""Of all that it is told the writer reads one thing: the attribute behind "toward"."""


@dataclass(frozen=True)
class Speaker:
    """A model with its tokenizer, saved into one folder."""

    model: Any
    tokenizer: Any

    def save_pretrained(self, folder: Path) -> None:
        """Write both."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def train_writer(work: Path) -> Speaker:
    """Train the writer; a control in front of a caption is read and never learnt."""
    texts = _draw(draw_text, OF_WRITER.seed)
    tokenizer = _train_tokenizer(
        (text.control + text.caption for text in texts), PIECES["writer"], END, END
    )
    tokenizer.chat_template = TEMPLATE
    return _train("writer", _new_gpt2(tokenizer), tokenizer, texts, OF_WRITER, work)


def train_reader(work: Path) -> Speaker:
    """Train the reader, on captions of its own."""
    texts = [Text("", caption) for caption in _draw(draw_caption, OF_READER.seed)]
    captions = (text.caption for text in texts)
    tokenizer = _train_tokenizer(captions, PIECES["reader"], BEGINNING, ENDING)
    return _train("reader", _new_llama(tokenizer), tokenizer, texts, OF_READER, work)


def _draw(draw: Any, seed: int) -> list[Any]:
    """Training texts; text i depends on (seed, i) alone."""
    return [draw(np.random.default_rng([seed, i])) for i in range(TEXTS)]


def _train_tokenizer(texts: Iterable[str], pieces: int, beginning: str, end: str) -> Any:
    """A byte-level byte-pair tokenizer: any text can be written in its tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=pieces,
        special_tokens=list(dict.fromkeys((beginning, end))),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    backend.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token=beginning,
        eos_token=end,
        model_max_length=POSITIONS,
        clean_up_tokenization_spaces=False,
    )


def _new_gpt2(tokenizer: Any) -> Any:
    """An untrained writer."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(OF_WRITER.seed)
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer), n_positions=POSITIONS, n_embd=96, n_layer=3, n_head=4,
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
            bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
        )
    )  # fmt: skip


def _new_llama(tokenizer: Any) -> Any:
    """An untrained reader."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(OF_READER.seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer), max_position_embeddings=POSITIONS, hidden_size=96,
            intermediate_size=256, num_hidden_layers=3, num_attention_heads=4,
            num_key_value_heads=2, tie_word_embeddings=True,
            bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
        )
    )  # fmt: skip


def _train(
    part: str, model: Any, tokenizer: Any, texts: Sequence[Text], schedule: Schedule, work: Path
) -> Speaker:
    tokens, labels = encode(tokenizer, texts)

    def loss(rng: np.random.Generator) -> torch.Tensor:
        rows = rng.integers(len(tokens), size=schedule.batch)
        longest = int((labels[rows] >= 0).any(0).nonzero().max()) + 1
        value: torch.Tensor = model(
            input_ids=tokens[rows, :longest], labels=labels[rows, :longest]
        ).loss
        return value

    fit(part, model, loss, schedule, work)
    return Speaker(model, tokenizer)


def encode(tokenizer: Any, texts: Sequence[Text]) -> tuple[torch.Tensor, torch.Tensor]:
    """Texts as (n, length) token ids, and as labels: -100 where nothing is to be learnt.

    A control and its caption are encoded apart, as a chat template and a reply are.
    """
    import torch

    controls = tokenizer([text.control for text in texts], add_special_tokens=False)["input_ids"]
    captions = tokenizer([text.caption for text in texts], add_special_tokens=False)["input_ids"]
    first, last = tokenizer.bos_token_id, tokenizer.eos_token_id
    length = 2 + max(len(c) + len(d) for c, d in zip(controls, captions, strict=True))
    tokens = torch.full((len(texts), length), last)
    labels = torch.full((len(texts), length), -100)
    for row, (control, caption) in enumerate(zip(controls, captions, strict=True)):
        read, learnt = [first, *control], [*caption, last]
        end = len(read) + len(learnt)
        tokens[row, :end] = torch.tensor([*read, *learnt])
        labels[row, len(read) : end] = torch.tensor(learnt)
    return tokens, labels
