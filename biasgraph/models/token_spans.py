"""Which characters of a prompt stand behind which tokens of a text encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Span = tuple[int, int]


def find_tokens(
    tokenizer: Any, prompt: str, row: Sequence[int]
) -> tuple[tuple[Span, ...], tuple[int, ...]] | None:
    """A prompt's tokens in a row of token ids that may hold more: a template, marks, padding.

    Args:
        tokenizer: Of transformers.
        prompt: The prompt.
        row: What a text encoder read.

    Returns:
        The characters behind each of the prompt's tokens, and the places of these tokens in the
        row; None where the row does not hold the prompt.
    """
    encoded = tokenizer(prompt, add_special_tokens=False)
    ids = list(encoded["input_ids"])
    whole = encoded.encodings
    if not ids or not whole:
        return None
    read = list(row)
    start = next((at for at in range(len(read)) if read[at : at + len(ids)] == ids), None)
    if start is None:
        return None
    spans = tuple(_trim(prompt, span) for span in whole[0].offsets)
    return spans, tuple(range(start, start + len(ids)))


def _trim(prompt: str, span: Span) -> Span:
    """A span without the spaces around its characters."""
    start, end = span
    while start < end and prompt[start].isspace():
        start += 1
    while end > start and prompt[end - 1].isspace():
        end -= 1
    return start, end
