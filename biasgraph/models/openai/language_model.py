"""A language model behind a server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from biasgraph.models.base import Message, Setting
from biasgraph.models.openai.completions import TEMPERATURE, Turn, chat_request
from biasgraph.models.openai.served_model import OpenAIModel

TOKENS = 8192


@dataclass(frozen=True)
class OpenAILanguageModel(OpenAIModel):
    """Replies at temperature 0.

    A conversation that is continued once more, word for word, gets another reply; a later process
    that continues it as often gets the same replies from the run's journal, but for those that
    were to be forgotten.
    """

    _continued: Counter[str] = field(default_factory=Counter, repr=False, compare=False)

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What else decides the results, as a run records it."""
        return {"temperature": TEMPERATURE, "tokens": TOKENS}

    def reply(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> str:
        """The next turn, as text; `schema` is a JSON schema that it should fit."""
        turns = [Turn(message.role, message.text) for message in messages]
        conversation = self.served.key(chat_request(turns, limit=TOKENS, schema=schema))
        before = self._continued[conversation]
        said = self.served.one(chat_request(turns, limit=TOKENS, schema=schema, occurrence=before))
        self._continued[conversation] = before + 1
        return said.text or said.refused or ""

    def forget(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> None:
        """Drop the replies to a conversation: whoever continues it next asks the server."""
        turns = [Turn(message.role, message.text) for message in messages]
        conversation = self.served.key(chat_request(turns, limit=TOKENS, schema=schema))
        for number in range(self._continued.pop(conversation, 0)):
            request = chat_request(turns, limit=TOKENS, schema=schema, occurrence=number)
            self.served.journal.forget(self.served.key(request))
