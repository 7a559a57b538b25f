"""A causal language model of transformers as a reader of many texts at a time."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from biasgraph.errors import InputError, ModelError, printable
from biasgraph.models.devices import enough_memory
from biasgraph.models.token_kinds import TokenKinds

BATCH = 16
"""Texts that `CausalReader.log_probabilities` reads at a time."""


@dataclass(frozen=True)
class ReadRows:
    """What a model has read of some rows.

    Attributes:
        cache: Keys and values, of transformers.
        mask: (rows, columns) integers, 0 where a column holds nothing of a row.
        following: (rows, V) float32 log-probabilities of the next token, on the CPU.
    """

    cache: Any
    mask: Any
    following: Any


@dataclass(frozen=True)
class CausalReader:
    """A causal model of transformers and its tokenizer, as a reader of rows of tokens.

    Attributes:
        spec: What the user typed.
        model: With its weights.
        tokenizer: The model's.
        ends: The tokens that the model ends its texts with.
    """

    spec: str
    model: Any
    tokenizer: Any
    ends: tuple[int, ...]

    @cached_property
    def kinds(self) -> TokenKinds:
        """Of all tokens.

        Raises:
            InputError: No token ends a prompt.
        """
        size = self.model.config.get_text_config().vocab_size
        kinds = TokenKinds.of(self.tokenizer, size, self.ends)
        if not kinds.ends:
            raise InputError(
                f"{printable(self.spec)} cannot write prompts: its vocabulary has neither an end "
                "token nor a line break, so no prompt would come to an end"
            )
        return kinds

    @property
    def window(self) -> int | None:
        """How many tokens the model reads; None where no number is told."""
        config = self.model.config.get_text_config()
        window: int | None = getattr(config, "max_position_embeddings", None)
        return window

    @cached_property
    def _takes(self) -> frozenset[str]:
        """What the model's forward pass is called with."""
        return frozenset(inspect.signature(self.model.forward).parameters)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text that stands alone, behind the token that begins texts.

        That is the end token where a vocabulary has no other for it (as GPT-2 is usually
        measured), and none where it has neither. Control tokens in the text are read as text.
        """
        tokenizer = self.tokenizer
        first = tokenizer.bos_token_id
        first = tokenizer.eos_token_id if first is None else first
        return ([] if first is None else [first]) + self.encode_bare(text)

    def encode_bare(self, text: str) -> list[int]:
        """The tokens of a text and none besides."""
        tokens: list[int] = self.tokenizer(
            text, add_special_tokens=False, split_special_tokens=True
        )["input_ids"]
        return tokens

    def read(self, cache: Any, tokens: Any, mask: Any) -> ReadRows:
        """Read tokens behind what is in a cache, which becomes longer.

        Args:
            cache: None where nothing was read before.
            tokens: (rows, n) ids, the last column of every row real.
            mask: (rows, columns) of all that was read, these included.

        Raises:
            ModelError: The model does not keep what it read in a way that rows can be taken from,
                or memory does not suffice.
        """
        import torch

        if "position_ids" not in self._takes:
            raise ModelError(
                f"{printable(self.spec)} cannot continue texts of different lengths together: it "
                "takes no positions"
            )
        device, count = self.model.device, tokens.shape[1]
        places = (mask.cumsum(1) - 1).clamp(min=0)[:, -count:]
        last_alone = {"logits_to_keep": 1} if "logits_to_keep" in self._takes else {}
        with self._enough_memory(), torch.no_grad():
            made = self.model(
                input_ids=tokens.to(device),
                attention_mask=mask.to(device),
                position_ids=places.to(device),
                past_key_values=cache,
                use_cache=True,
                **last_alone,
            )
            following = made.logits[:, -1].float().log_softmax(-1).cpu()
        self._check(made.past_key_values, mask)
        return ReadRows(made.past_key_values, mask, following)

    def _check(self, cache: Any, mask: Any) -> None:
        """Refuse what was read if rows cannot be selected from it, or see what they should not."""
        from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

        layers = getattr(cache, "layers", None) or [None]
        if any(type(layer) not in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers):
            raise ModelError(
                f"{printable(self.spec)} cannot write prompts: it keeps no keys and values of each "
                "token (it is not a plain transformer)"
            )
        nearest = min(getattr(layer, "sliding_window", mask.shape[1]) for layer in layers)
        if mask.shape[1] > nearest and not mask.all():
            raise ModelError(
                f"{printable(self.spec)} sees {nearest:,} tokens back, too few to continue texts "
                "of different lengths together: shorten the instruction"
            )

    def log_probabilities(self, texts: Sequence[str]) -> list[tuple[float, int]]:
        """Of each text the sum of its tokens' log-probabilities (natural), and their count.

        The first token counts where something can stand before it, see `encode`; an end token
        does not.

        Raises:
            InputError: A text does not fit into the window.
        """
        rows = [self.encode(text) for text in texts]
        for text, row in zip(texts, rows, strict=True):
            if self.window is not None and len(row) > self.window:
                raise InputError(
                    f"the text '{printable(text[:80])}...' has {len(row):,} tokens, and "
                    f"{printable(self.spec)} reads {self.window:,}"
                )
        found = [(0.0, 0)] * len(rows)
        order = sorted(
            (i for i in range(len(rows)) if len(rows[i]) > 1), key=lambda i: len(rows[i])
        )
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            sums = self._sums([rows[i] for i in batch])
            for i, value in zip(batch, sums, strict=True):
                found[i] = (value, len(rows[i]) - 1)
        return found

    def _sums(self, rows: Sequence[Sequence[int]]) -> list[float]:
        """For each row of tokens the sum of the log-probabilities of all but the first."""
        import torch
        from torch.nn.utils.rnn import pad_sequence

        tokens = pad_sequence([torch.tensor(list(row)) for row in rows], batch_first=True)
        mask = pad_sequence([torch.ones(len(row), dtype=torch.long) for row in rows], True)
        device = self.model.device
        with self._enough_memory(), torch.inference_mode():
            read = {"input_ids": tokens.to(device), "attention_mask": mask.to(device)}
            shares = self.model(**read).logits[:, :-1].float().log_softmax(-1)
            each = shares.gather(2, read["input_ids"][:, 1:, None])[..., 0].cpu().double()
        sums: list[float] = (each * mask[:, 1:]).sum(1).tolist()
        return sums

    def _enough_memory(self) -> AbstractContextManager[None]:
        return enough_memory(f"the texts that {printable(self.spec)} reads together")


def select_rows(cache: Any, rows: Any) -> Any:
    """Some rows of a cache, as a new one; tensors are replaced in it, never written to."""
    chosen = copy.copy(cache)
    chosen.layers = [copy.copy(layer) for layer in cache.layers]
    for layer in chosen.layers:
        layer.batch_select_indices(rows.to(layer.keys.device))
    return chosen
