"""What tokens are, in vocabularies that mark blanks in other ways."""

from __future__ import annotations

from typing import Any

import pytest

from biasgraph.models.token_kinds import TokenKinds
from tests.models import tiny_lm

WORDS = ("▁a", "▁chef", "s", "▁", ".", "-", "▁2", "3", "é", "'s")


@pytest.fixture(scope="module")
def blanks() -> Any:
    """A vocabulary as SentencePiece makes them: "▁" begins words, and bytes have their tokens."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    unknown, first, end = "<unk>", "<s>", "</s>"
    pieces = [unknown, first, end, *(f"<0x{i:02X}>" for i in range(256)), *WORDS]
    backend = Tokenizer(
        models.BPE(
            vocab={piece: i for i, piece in enumerate(pieces)},
            merges=[], unk_token=unknown, byte_fallback=True,
        )
    )  # fmt: skip
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
         decoders.Strip(" ", 1, 0)]
    )  # fmt: skip
    made = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token=first, eos_token=end, unk_token=unknown
    )
    made.add_tokens([AddedToken("<tool_call>"), AddedToken("[IMG]", special=True)])
    return made


def test_blanks_of_sentencepiece_begin_words(blanks: Any) -> None:
    kinds = TokenKinds.of(blanks, len(blanks), [2])
    inner = {word for word in WORDS if blanks.convert_tokens_to_ids(word) in kinds.inner}
    assert inner == {"s", "3", "é"}


def test_line_breaks_end_and_fragments_are_refused(blanks: Any) -> None:
    kinds = TokenKinds.of(blanks, len(blanks) + 5, [2])
    ids = blanks.convert_tokens_to_ids
    assert kinds.ends >= {2, ids("<0x0A>")}
    refused = {ids(token) for token in ("<unk>", "<s>", "<0xC3>", "<tool_call>", "[IMG]")}
    assert kinds.refused >= refused | set(range(len(blanks), len(blanks) + 5))
    assert not kinds.refused & (kinds.ends | {ids(word) for word in WORDS})


def test_a_vocabulary_smaller_than_the_tokenizers(blanks: Any) -> None:
    kinds = TokenKinds.of(blanks, 100, [2, 500])
    assert max(kinds.ends | kinds.refused | kinds.inner) < len(blanks)
    assert 500 not in kinds.ends


def test_a_word_that_looks_like_a_mark_only_by_half_is_none() -> None:
    known = tiny_lm.tokenizer(None, ["<b", "chef>", "<x>"])
    kinds = TokenKinds.of(known, len(known), [0])
    ids = known.convert_tokens_to_ids
    assert ids("<x>") in kinds.refused
    assert not {ids("<b"), ids("chef>")} & kinds.refused
