"""Language models that transformers loads as causal ones: ``lm:NAME`` or ``lm:FOLDER``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from biasgraph.errors import ModelError, printable
from biasgraph.models.base import CannotContinue, Message, Setting
from biasgraph.models.causal_reader import CausalReader
from biasgraph.models.continuations import Continuations
from biasgraph.models.devices import enough_memory
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.models.transformers_model import (
    TransformersModel,
    greedy_decoding,
    locate,
    whole_tokens,
)

LONGEST_REPLY = 2_048  # tokens
SECONDS = 90.0
"""Of a conversation: a model that never says what is wanted must come to an end, too."""
TOLD_EVERY = 10.0
"""Seconds from one line about a reply in the making to the next."""
SHOWN = 80
"""Characters of an unfinished reply that an error shows."""
ROLES = {"system": "System", "user": "User", "assistant": "Assistant"}
"""How turns are told apart for a model without a chat template."""


def language_model(spec: Spec, options: ModelOptions) -> TransformersLanguageModel:
    """``lm:NAME[@revision]`` of the hub, or ``lm:FOLDER`` that ``save_pretrained`` wrote.

    Raises:
        InputError: No name, no such folder, no such device.
    """
    seconds = SECONDS if options.llm_seconds is None else options.llm_seconds
    return TransformersLanguageModel(*locate(spec, options), seconds=seconds)


@dataclass
class _Clock:
    """When a conversation began, and who wants to hear how far it is.

    topic: the conversation's turns up to the user's first, which all of its turns share.
    """

    topic: tuple[str, ...] = ()
    begun: float = 0.0
    told: float = 0.0
    hear: Callable[[str], object] = str

    def begin(self, messages: Sequence[Message]) -> None:
        """Set the clock to 0, unless the conversation is the one of before."""
        roles = [turn.role for turn in messages]
        first = roles.index("user") + 1 if "user" in roles else len(roles)
        topic = tuple(turn.text for turn in messages[:first])
        if topic != self.topic:
            self.topic, self.begun = topic, time.monotonic()
        self.told = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the conversation began."""
        return time.monotonic() - self.begun


@dataclass(frozen=True)
class TransformersLanguageModel(TransformersModel):
    """Continues a conversation by its likeliest token each time, so that a reply can be had again.

    Attributes:
        longest_reply: In tokens; less where the model's window is nearer.
        seconds: The most that a conversation may take.
    """

    longest_reply: int = LONGEST_REPLY
    seconds: float = SECONDS
    _clock: _Clock = field(default_factory=_Clock, compare=False, repr=False)

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

    def tell(self, hear: Callable[[str], object]) -> None:
        """Call `hear` with a line every few seconds of a reply."""
        self._clock.hear = hear

    def reply(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> str:
        """The next turn.

        schema: not used; `biasgraph.models.json_chat` says it in words and checks the reply.

        Raises:
            ModelError: The weights do not load, the conversation leaves no room in the model's
                window or takes too long, or memory does not suffice.
        """
        tokens = self._encode(messages)
        room = self._room(tokens.shape[1])
        self._clock.begin(messages)
        with enough_memory(f"a reply of {printable(self.spec)}"):
            made = self._generate(tokens, min(room, self.longest_reply))
        text: str = self._tokenizer.decode(made, skip_special_tokens=True)
        if not self._has_template:
            text = text.partition(f"\n{ROLES['user']}:")[0]
        return text.strip()

    def yes_probability(self, messages: Sequence[Message]) -> float:
        """How probable "yes" is as the next turn, "yes" and "no" together being 1.

        Of the next token's scores, over all tokens that say the one or the other: in small
        letters, with a capital and in capitals, with and without a space before them.

        Raises:
            ModelError: as `reply`, or the model has no such tokens.
        """
        import torch

        yes, no = ([word, word.title(), word.upper()] for word in ("yes", "no"))
        said = [whole_tokens(self._tokenizer, *texts) for texts in (yes, no)]
        if not all(said):
            raise ModelError(
                f"{printable(self.spec)} lacks single tokens for yes and no, so it cannot be "
                "asked which is more probable"
            )
        tokens = self._encode(messages)
        self._room(tokens.shape[1])
        with enough_memory(f"a reply of {printable(self.spec)}"), torch.inference_mode():
            read = tokens.to(self._model.device)
            scores = self._model(read, attention_mask=torch.ones_like(read)).logits[0, -1].float()
        of_yes, of_no = (scores[ids].logsumexp(0) for ids in said)
        return float(torch.sigmoid(of_yes - of_no))

    def continuations(self, messages: Sequence[Message], opening: str) -> Continuations:
        """Replies that begin with an opening; see `biasgraph.models.base.NextTokens`.

        A model without a chat template reads the conversation as `reply` does, with its turns
        named, and the opening behind "Assistant:"; where nothing was said, the opening alone. So
        does a model with one that was told nothing.

        Raises:
            InputError: Opening and conversation fill the model's window, or no token ends a text.
            ModelError: as `reply`, or the model is no plain transformer.
        """
        opening, reader = opening.rstrip(), self._reader
        if not messages:
            tokens = reader.encode(opening)
        elif self._has_template:
            tokens = [*self._encode(messages)[0].tolist(), *reader.encode_bare(opening)]
        else:
            tokens = self._encode(messages, f" {opening}" if opening else "")[0].tolist()
        return Continuations.of(reader, tokens, opening)

    def log_probabilities(self, texts: Sequence[str]) -> list[tuple[float, int]]:
        """Of each text its log-probability and its tokens; see `CausalReader.log_probabilities`."""
        return self._reader.log_probabilities(texts)

    def _encode(self, messages: Sequence[Message], begun: str = "") -> Any:
        """(1, n) token ids of a conversation up to where the reply begins.

        begun: The reply's first words, for a model without a chat template.

        Control tokens that stand in the messages are read as plain text: a prompt must not be
        able to end its turn.
        """
        if not self._has_template:
            text = "\n\n".join(f"{ROLES[turn.role]}: {turn.text}" for turn in messages)
            encoded = self._tokenizer(
                f"{text}\n\n{ROLES['assistant']}:{begun}",
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
        from transformers import StoppingCriteriaList

        tokens = tokens.to(self._model.device)
        used = tokens.shape[1]

        def too_long(written: Any, _scores: Any) -> Any:
            self._tell_of(written.shape[1] - used)
            late = self._clock.seconds > self.seconds
            return torch.full((len(written),), late, dtype=torch.bool, device=written.device)

        with torch.inference_mode():
            made = self._model.generate(
                tokens,
                attention_mask=torch.ones_like(tokens),
                max_new_tokens=longest,
                stop_strings=None if self._has_template else [f"\n{ROLES['user']}:"],
                stopping_criteria=StoppingCriteriaList([too_long]),
                tokenizer=self._tokenizer,
            )
        written = made[0, used:].tolist()
        if self._clock.seconds > self.seconds:
            said = self._tokenizer.decode(written, skip_special_tokens=True)
            raise ModelError(
                f"{printable(self.spec)} did not finish within {self.seconds:g} s (--llm-seconds "
                f"gives it more); it was saying: '{printable(said[-SHOWN:])}'"
            )
        return written

    def _tell_of(self, count: int) -> None:
        """Tell who wants to hear it how long the reply is by now, if it is time to."""
        if time.monotonic() - self._clock.told >= TOLD_EVERY:
            self._clock.told = time.monotonic()
            self._clock.hear(
                f"{printable(self.spec)} is talking: {count:,} tokens, "
                f"{self._clock.seconds:.0f} of {self.seconds:g} s"
            )

    @cached_property
    def _reader(self) -> CausalReader:
        ends = self._model.generation_config.eos_token_id
        own = [ends] if isinstance(ends, int) else ends or []
        end = self._tokenizer.eos_token_id
        every = dict.fromkeys([*own, *([] if end is None else [end])])
        return CausalReader(self.spec, self._model, self._tokenizer, tuple(every))

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
