"""How many tokens of a prompt a pipeline reads: a prompt that is cut off is another prompt."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasgraph.errors import ModelError, printable
from biasgraph.models.library_loading import explain_loading_errors, silence_libraries

CLIP_WORDS = (
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
)


@dataclass(frozen=True)
class Window:
    """The text encoder of a pipeline that reads the longest prompts.

    Attributes:
        tokens: As many it reads, those that mark start and end among them.
        count: The tokens of a text.
    """

    tokens: int
    count: Callable[[str], int]


def find_window(
    folder: Path, index: Mapping[str, Any], longest: int | None, spec: str
) -> Window | None:
    """The widest window among a pipeline's text encoders; None where none is told.

    A prompt is whole where one encoder reads all of it: SDXL's two read 77 tokens each; SD3's and
    FLUX's CLIP read 77 as well, for an overall impression, but beside a T5 that reads 256 or 512.

    Args:
        folder: Has the tokenizers in folders of their own.
        index: ``model_index.json``.
        longest: The pipeline's ``max_sequence_length``.
        spec: What the user typed, for errors.

    Raises:
        ModelError: A tokenizer is damaged.
    """
    windows = []
    for name in sorted(index):
        if not name.startswith("tokenizer") or not (folder / name).is_dir():
            continue
        encoder = index.get(name.replace("tokenizer", "text_encoder"), [""])
        if not isinstance(encoder, list) or encoder[0] is None:  # saved without its encoder
            continue
        tokens = _tokens(folder / name)
        windows.append((min(tokens, longest or tokens), folder / name))
    tokens, place = max(windows, key=lambda pair: pair[0], default=(NO_LIMIT, folder))
    return Window(tokens, _counter(place, spec)) if tokens < NO_LIMIT else None


NO_LIMIT = 1_000_000
"""Tokenizers that know no limit name 10 ** 30."""


def _tokens(place: Path) -> int:
    try:
        settings = json.loads((place / "tokenizer_config.json").read_text("utf-8"))
        return int(settings.get("model_max_length", NO_LIMIT))
    except (OSError, ValueError, TypeError, OverflowError, AttributeError, RecursionError):
        return NO_LIMIT


def _counter(place: Path, spec: str) -> Callable[[str], int]:
    """Counts tokens, without transformers (and torch) where the tokenizer can be read so."""
    from tokenizers import Tokenizer

    try:
        if (place / "tokenizer.json").is_file():
            tokenizer = Tokenizer.from_file(str(place / "tokenizer.json"))
            tokenizer.no_truncation()
            tokenizer.no_padding()
            return lambda text: len(tokenizer.encode(text).ids)
        if (place / "merges.txt").is_file() and (place / "vocab.json").is_file():
            clip = _clip(place)
            return lambda text: len(clip.encode(text).ids) + 2  # start and end
    except Exception as error:  # the tokenizers library raises nothing narrower
        raise ModelError(
            f"cannot read the tokenizer of {printable(spec)}: {printable(str(error))}"
        ) from error
    with explain_loading_errors(spec), silence_libraries():
        from transformers import AutoTokenizer

        slow = AutoTokenizer.from_pretrained(place, local_files_only=True)
    return lambda text: len(slow(text, truncation=False).input_ids)


def _clip(place: Path) -> Any:
    """CLIP's tokenizer out of its vocabulary and merges, as transformers builds it."""
    from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
    from tokenizers.models import BPE

    tokenizer = Tokenizer(
        BPE.from_file(
            str(place / "vocab.json"),
            str(place / "merges.txt"),
            unk_token="<|endoftext|>",  # noqa: S106
            end_of_word_suffix="</w>",
        )
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(CLIP_WORDS), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    return tokenizer
