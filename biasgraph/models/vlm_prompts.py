"""What a vision-language model reads: its chat template filled in, and pictures as its tensors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.errors import InputError, ModelError, printable

if TYPE_CHECKING:
    from PIL.Image import Image

WITHOUT_TEMPLATE = "Question: {text} Answer:"
"""How a model without a chat template is asked, as BLIP-2 was."""

PARTS = {"image_processor", "tokenizer", "video_processor"}
ALONG_THE_TEXT = ("input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids")
"""Tensors of (1, tokens); the rest belongs to the picture."""


@dataclass(frozen=True)
class Prompter:
    """Puts pictures and questions into a model's own words and numbers.

    Attributes:
        spec: What the user typed, for errors.
        processor: Of transformers.
    """

    spec: str
    processor: Any

    @property
    def tokenizer(self) -> Any:
        """The processor's tokenizer."""
        return self.processor.tokenizer

    def prompt(self, text: str) -> str:
        """What the model reads, up to where its answer begins, with a place for one picture.

        Raises InputError for a text that holds commands to the model, and ModelError for a chat
        template that does not take one picture and a text.
        """
        for token in self._commands:  # a question must not end its turn, nor show pictures
            if token in text:
                raise InputError(
                    f"'{printable(text)}' contains {printable(token)}, which is a control token of "
                    f"{printable(self.spec)}"
                )
        template = self._template
        if template is None:
            return self._before + WITHOUT_TEMPLATE.format(text=text)
        turn = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": text}]}
        thinking = {"enable_thinking": False} if "enable_thinking" in template else {}
        try:
            prompt: str = self.processor.apply_chat_template(
                [turn], chat_template=template, add_generation_prompt=True, **thinking
            )
        except Exception as error:  # a template raises what it likes
            raise ModelError(
                f"the chat template of {printable(self.spec)} does not take a picture and a "
                f"question: {printable(str(error))}"
            ) from error
        return prompt

    def token_ids(self, prompt: str) -> list[int]:
        """The prompt alone, the picture's place unfilled."""
        ids: list[int] = self.tokenizer(prompt, **self._special(prompt))["input_ids"]
        return ids

    def tensors(self, image: Image, prompt: str) -> dict[str, Any]:
        """A picture and a prompt as the model takes them, one of each.

        Raises ModelError where the model cannot look at such a picture.
        """
        try:
            encoded = self._encode(image, prompt)
        except ValueError as error:
            width, height = image.size
            raise ModelError(
                f"{printable(self.spec)} cannot look at a picture of {width} x {height} pixels: "
                f"{printable(str(error))[:200]}"
            ) from error
        return {name: value for name, value in encoded.items() if hasattr(value, "shape")}

    def _encode(self, image: Image, prompt: str) -> Mapping[str, Any]:
        encoded: Mapping[str, Any] = self.processor(
            images=[[image.convert("RGB")]],
            text=[prompt],
            return_tensors="pt",
            **self._special(prompt),
        )
        return encoded

    def _special(self, prompt: str) -> dict[str, Any]:
        start = self.tokenizer.bos_token
        return {"add_special_tokens": False} if start and prompt.startswith(start) else {}

    @cached_property
    def _commands(self) -> list[str]:
        """The tokens that are no words."""
        added = self.tokenizer.added_tokens_decoder.values()
        special = {str(token) for token in added if token.special}
        return sorted({self._image_token, *self.tokenizer.all_special_tokens, *special} - {""})

    @property
    def _image_token(self) -> str:
        return str(getattr(self.processor, "image_token", "") or "")

    @cached_property
    def _template(self) -> str | None:
        template = getattr(self.processor, "chat_template", None) or self.tokenizer.chat_template
        if isinstance(template, dict):
            template = template.get("default")
        return template or None

    @cached_property
    def _before(self) -> str:
        """What stands before the question of a model without a template, to place the picture.

        Some processors place it themselves.
        """
        from PIL import Image

        gray = Image.new("RGB", (64, 64), (128, 128, 128))
        token = self._image_token
        try:
            placed = self._encode(gray, WITHOUT_TEMPLATE)["input_ids"]
        except (ValueError, IndexError):
            return token
        known = self.tokenizer.convert_tokens_to_ids(token) if token else None
        return token if known is not None and not (placed == known).any() else ""


def load_processor(folder: Path, *, trust_remote_code: bool) -> Any:
    """The processor in a model's folder, of its parts for pictures and text.

    Pictures are scaled by PIL, whether or not torchvision is there, so that answers do not depend
    on it; and the part for videos, which needs torchvision, is left out.
    """
    options = {"local_files_only": True, "trust_remote_code": trust_remote_code}
    kind = _processor_class(folder, options)
    if kind is None or not set(kind.get_attributes()) <= PARTS:
        from transformers import AutoProcessor

        return AutoProcessor.from_pretrained(folder, **options)
    from transformers import AutoImageProcessor, AutoTokenizer

    loaded = {
        "tokenizer": AutoTokenizer.from_pretrained(folder, **options),
        "image_processor": AutoImageProcessor.from_pretrained(folder, backend="pil", **options),
    }
    parts = [loaded.get(name) for name in kind.get_attributes()]
    record, _ = kind.get_processor_dict(folder, local_files_only=True)
    return _without_videos(kind).from_args_and_dict(parts, record)


def _without_videos(kind: Any) -> Any:
    """The class of a processor that does not insist on a part for videos."""

    def check(self: Any, name: str, part: Any) -> Any:
        if name == "video_processor" and part is None:
            return type(None)
        return kind.check_argument_for_proper_class(self, name, part)

    # The parts are read off the signature of __init__, which a subclass inherits.
    return type(kind.__name__, (kind,), {"check_argument_for_proper_class": check})


def _processor_class(folder: Path, options: Mapping[str, Any]) -> Any:
    """The class that a folder's files name, or that its kind of model has; None for neither."""
    import transformers
    from transformers import AutoConfig
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

    for file in ("processor_config.json", "preprocessor_config.json", "tokenizer_config.json"):
        try:
            name = json.loads((folder / file).read_text("utf-8"))["processor_class"]
            return getattr(transformers, name)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue  # not there, damaged, or without the name of a class that there is
    config = AutoConfig.from_pretrained(folder, **options)
    return PROCESSOR_MAPPING.get(type(config), None)
