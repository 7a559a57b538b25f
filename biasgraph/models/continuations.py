"""Texts that a language model of transformers continues token by token, many at a time.

What was read is kept (the key-value cache), and nothing is read before its probabilities are asked
for: a row that is extended, looked at as text and dropped costs no pass through the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from biasgraph.errors import InputError, printable
from biasgraph.models.causal_reader import CausalReader, ReadRows, select_rows
from biasgraph.models.token_kinds import decode_all


@dataclass(frozen=True)
class _Row:
    """One text in the making.

    Attributes:
        source: Its row of what was read.
        length: Its tokens in all.
        written: Those that continue the opening.
        unread: How many of these, at the end, the model has not read.
    """

    source: int
    length: int
    written: tuple[int, ...] = ()
    unread: int = 0


class Continuations:
    """Texts that begin alike and are continued token by token, the key-value cache kept.

    Rows may differ in length. They are made by `NextTokens.continuations`.
    """

    def __init__(
        self, reader: CausalReader, read: ReadRows, opening: str, last: int, rows: list[_Row]
    ) -> None:
        self._reader, self._read, self._rows = reader, read, rows
        self._opening, self._last = opening, last
        """What the texts begin with, and the last token that all rows share."""

    @classmethod
    def of(cls, reader: CausalReader, tokens: Sequence[int], opening: str) -> Continuations:
        """The one row that continues tokens; its text begins with the opening.

        Args:
            reader: Of the model.
            tokens: All that the model reads first, the opening's at the end.
            opening: As text.

        Raises:
            InputError: They do not fit into the model's window, or no token ends a prompt.
            ModelError: The model does not keep what it read in a way that rows can be taken from.
        """
        import torch

        shown = f"the opening '{printable(opening[:80])}'" if opening else "no opening"
        if not tokens:
            raise InputError(
                f"{printable(reader.spec)} has no token to begin a text with: give an opening"
            )
        if reader.window is not None and len(tokens) >= reader.window:
            raise InputError(
                f"the instruction with {shown} has {len(tokens):,} tokens, and "
                f"{printable(reader.spec)} reads {reader.window:,}: shorten it, or choose a model "
                "with a longer window"
            )
        reader.kinds  # noqa: B018  (raises where no token ends a prompt)
        row = torch.tensor([list(tokens)])
        read = reader.read(None, row, torch.ones_like(row))
        return cls(reader, read, opening, tokens[-1], [_Row(0, len(tokens))])

    @property
    def rows(self) -> int:
        """How many there are; one at first, the opening."""
        return len(self._rows)

    @property
    def ends(self) -> frozenset[int]:
        """Tokens that end a prompt: the end of a text or turn, and what holds a line break."""
        return self._reader.kinds.ends

    @property
    def refused(self) -> frozenset[int]:
        """Tokens that never belong in a prompt; none of them is in `ends`."""
        return self._reader.kinds.refused

    def begins_word(self, token: int) -> bool:
        """Whether a token starts a new word, is punctuation or ends the text.

        False: it goes on with the word before.
        """
        return token not in self._reader.kinds.inner

    def next_log_probabilities(self) -> Any:
        """(rows, V) float32 tensor on the CPU: the log-probability of what may follow each row.

        What was not read yet is read now, in one pass for all rows.

        Raises:
            ModelError: Memory does not suffice.
        """
        import torch

        longest = max((row.unread for row in self._rows), default=0)
        sources = torch.tensor([row.source for row in self._rows], dtype=torch.long)
        if not longest:
            return self._read.following[sources]
        tokens = torch.zeros((self.rows, longest), dtype=torch.long)
        real = torch.zeros_like(tokens)
        for place, row in enumerate(self._rows):
            if row.unread:
                tokens[place, -row.unread :] = torch.tensor(row.written[-row.unread :])
                real[place, -row.unread :] = 1
        mask = torch.cat([self._read.mask[sources], real], 1)
        read = self._reader.read(select_rows(self._read.cache, sources), tokens, mask)
        known = torch.tensor([row.unread == 0 for row in self._rows])
        read.following[known] = self._read.following[sources[known]]
        self._read = read
        self._rows = [replace(row, source=i, unread=0) for i, row in enumerate(self._rows)]
        return read.following.clone()

    def select(self, rows: Sequence[int]) -> Continuations:
        """New continuations of some rows, which may repeat; these stay as they are."""
        chosen = [self._rows[row] for row in rows]
        return Continuations(self._reader, self._read, self._opening, self._last, chosen)

    def extend(self, tokens: Sequence[int | None]) -> None:
        """Continue each row by one token; None leaves it as it is.

        Raises:
            InputError: A row leaves the model's window.
        """
        window = self._reader.window
        extended = [
            row
            if token is None
            else _Row(row.source, row.length + 1, (*row.written, token), row.unread + 1)
            for row, token in zip(self._rows, tokens, strict=True)
        ]
        if window is not None and any(row.length > window for row in extended):
            raise InputError(
                f"a prompt with its instruction has more than the {window:,} tokens that "
                f"{printable(self._reader.spec)} reads: ask for shorter prompts"
            )
        self._rows = extended

    def text(self, row: int) -> str:
        """The opening and what continues it, up to a token that ends it."""
        written = list(self._rows[row].written)
        end = next((i for i, token in enumerate(written) if token in self.ends), len(written))
        before, whole = decode_all(
            self._reader.tokenizer, [[self._last], [self._last, *written[:end]]]
        )
        return (self._opening + whole[len(before) :]).strip()
