"""What the tokens of a vocabulary are to somebody who writes prompts with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

LINE_BREAKS = frozenset("\n\r\v\f\x85\u2028\u2029")
FRAGMENT = "\ufffd"
"""What bytes become that are no whole character."""


@dataclass(frozen=True)
class TokenKinds:
    """What the tokens of a vocabulary are to a writer of prompts.

    Attributes:
        ends: They end a prompt: the end of a text or of a turn, and what holds a line break.
        refused: They never belong in a prompt: special tokens, parts of a character, numbers that
            no token has.
        inner: They go on with the word before them.
    """

    ends: frozenset[int]
    refused: frozenset[int]
    inner: frozenset[int]

    @classmethod
    def of(cls, tokenizer: Any, size: int, ends: Sequence[int]) -> TokenKinds:
        """Look at every token.

        Args:
            tokenizer: Of transformers.
            size: Of the model's vocabulary, which may be larger than the tokenizer's.
            ends: The tokens that the model ends its texts with.
        """
        before = tokenizer("a", add_special_tokens=False)["input_ids"][-1:]
        said = range(min(size, len(tokenizer)))
        pairs = decode_all(tokenizer, [[*before, token] for token in said])
        start = len(decode_all(tokenizer, [before])[0])
        shown = [pair[start:] for pair in pairs]
        special = {*tokenizer.all_special_ids, *_control_tokens(tokenizer)}
        breaking = {token for token in said if LINE_BREAKS.intersection(shown[token])} - special
        unfit = {token for token in said if FRAGMENT in shown[token]}
        ending = {token for token in ends if token < size} | breaking
        return cls(
            ends=frozenset(ending),
            refused=frozenset((special | unfit | set(range(len(said), size))) - ending),
            inner=frozenset(
                token
                for token in said
                if (shown[token][:1].isalnum() or FRAGMENT in shown[token][:1])
                and token not in special | ending
            ),
        )


def _control_tokens(tokenizer: Any) -> Iterator[int]:
    """Tokens that were added to a vocabulary and look like marks: ``<tool_call>``, ``[IMG]``."""
    for token, added in tokenizer.added_tokens_decoder.items():
        if added.special or added.content.strip()[:1] + added.content.strip()[-1:] in ("<>", "[]"):
            yield token


def decode_all(tokenizer: Any, rows: Sequence[Sequence[int]]) -> list[str]:
    """Rows of tokens as texts, special tokens left out, blanks as they are."""
    texts: list[str] = tokenizer.batch_decode(
        rows, skip_special_tokens=True, clean_up_tokenization_spaces=False
    )
    return texts
