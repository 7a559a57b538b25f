"""Language models that transformers loads as causal ones: ``lm:NAME`` or ``lm:FOLDER``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from biasgraph.errors import ModelError, printable
from biasgraph.models.base import CannotContinue, Message, Setting
from biasgraph.models.devices import is_out_of_memory, out_of_memory
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.models.transformers_model import TransformersModel, greedy_decoding, locate

LONGEST_REPLY = 2_048  # tokens
ROLES = {"system": "System", "user": "User", "assistant": "Assistant"}
"""How turns are told apart for a model without a chat template."""


def language_model(spec: Spec, options: ModelOptions) -> TransformersLanguageModel:
    """``lm:NAME[@revision]`` of the hub, or ``lm:FOLDER`` that ``save_pretrained`` wrote.

    Raises:
        InputError: No name, no such folder, no such device.
    """
    return TransformersLanguageModel(*locate(spec, options))


@dataclass(frozen=True)
class TransformersLanguageModel(TransformersModel):
    """Continues a conversation by its likeliest token each time, so that a reply can be had again.

    Attributes:
        longest_reply: In tokens; less where the model's window is nearer.
    """

    longest_reply: int = LONGEST_REPLY

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What else decides the results, as a run records it."""
        return {
            "decoding": "greedy",
            "thinking": False,
            "longest_reply": self.longest_reply,
            "dtype": self.dtype,
            "device": self.device.partition(":")[0],
        }

    def reply(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> str:
        """The next turn.

        schema: not used; `biasgraph.models.json_chat` says it in words and checks the reply.

        Raises:
            ModelError: The weights do not load, the conversation leaves no room in the model's
                window, or memory does not suffice.
        """
        tokens = self._encode(messages)
        room = self._room(tokens.shape[1])
        try:
            made = self._generate(tokens, min(room, self.longest_reply))
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            raise ModelError(out_of_memory(f"a reply of {printable(self.spec)}")) from error
        text: str = self._tokenizer.decode(made, skip_special_tokens=True)
        if not self._has_template:
            text = text.partition(f"\n{ROLES['user']}:")[0]
        return text.strip()

    def _encode(self, messages: Sequence[Message]) -> Any:
        """(1, n) token ids of a conversation up to where the reply begins.

        Control tokens that stand in the messages are read as plain text: a prompt must not be
        able to end its turn.
        """
        if not self._has_template:
            text = "\n\n".join(f"{ROLES[turn.role]}: {turn.text}" for turn in messages)
            encoded = self._tokenizer(
                f"{text}\n\n{ROLES['assistant']}:",
                return_tensors="pt",
                split_special_tokens=True,
            )
            return encoded["input_ids"]
        return self._tokenizer.apply_chat_template(
            self._conversation(messages),
            add_generation_prompt=True,
            sanitize_control_tokens=True,
            return_tensors="pt",
            enable_thinking=False,
        )["input_ids"]

    def _conversation(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """The conversation in the first form that the model's template shows in full.

        Some templates take no system turn; those of models that see expect a list of parts. What
        the model said itself may be shown without its thoughts.
        """
        problem = "its chat template leaves out a part of the conversation"
        for turns in _forms(messages):
            try:
                shown = self._tokenizer.apply_chat_template(
                    turns, tokenize=False, add_generation_prompt=True, enable_thinking=False
                )
            except Exception as error:  # a template raises what it likes
                problem = printable(str(error))
                continue
            if all(turn.text.strip() in shown for turn in messages if turn.role != "assistant"):
                return turns
        raise CannotContinue(f"{printable(self.spec)} cannot hold this conversation: {problem}")

    def _room(self, used: int) -> int:
        """How many tokens a reply may have."""
        window = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)
        if window is None:
            return self.longest_reply
        if used >= window:
            raise CannotContinue(
                f"the conversation has {used:,} tokens, and {printable(self.spec)} reads "
                f"{window:,}: ask for less at a time, or choose a model with a longer window"
            )
        return int(window - used)

    def _generate(self, tokens: Any, longest: int) -> Any:
        import torch

        tokens = tokens.to(self._model.device)
        with torch.inference_mode():
            made = self._model.generate(
                tokens,
                attention_mask=torch.ones_like(tokens),
                max_new_tokens=longest,
                stop_strings=None if self._has_template else [f"\n{ROLES['user']}:"],
                tokenizer=self._tokenizer,
            )
        return made[0, tokens.shape[1] :].tolist()

    @property
    def _has_template(self) -> bool:
        return bool(self._tokenizer.chat_template)

    @cached_property
    def _tokenizer(self) -> Any:
        return self._load("AutoTokenizer")

    @cached_property
    def _model(self) -> Any:
        loader = self._loader(
            "AutoModelForCausalLM",
            "AutoModelForImageTextToText",  # they can be spoken to as well
            wanted="a causal language model",
        )
        model = self._load_weights(loader)
        model.generation_config = greedy_decoding(model, self._tokenizer)
        return model


def _forms(messages: Sequence[Message]) -> Iterator[list[dict[str, Any]]]:
    """A conversation as chat templates take it: as it is; without a system turn; in parts."""
    for turns in (messages, fold_system(messages)):
        yield [{"role": turn.role, "content": turn.text} for turn in turns]
    for turns in (messages, fold_system(messages)):
        yield [
            {"role": turn.role, "content": [{"type": "text", "text": turn.text}]} for turn in turns
        ]


def fold_system(messages: Sequence[Message]) -> list[Message]:
    """The conversation with the system's words in front of the user's first."""
    system = [turn.text for turn in messages if turn.role == "system"]
    others = [turn for turn in messages if turn.role != "system"]
    if not system or not others:
        return list(messages)
    return [replace(others[0], text="\n\n".join([*system, others[0].text])), *others[1:]]
