"""The prompts of a search: a language model proposes them, and what cannot be used is dropped."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from biasgraph.data.axes import PromptText
from biasgraph.errors import InputError
from biasgraph.io.json_files import describe_problem
from biasgraph.methods.variations import turns
from biasgraph.models.base import LanguageModel
from biasgraph.models.json_chat import ReplyError
from biasgraph.prompts.mined_prompts import same_words, unlike, words_of
from biasgraph.prompts.mining_target import WORDS, MiningTarget
from biasgraph.prompts.tokens import excerpt
from biasgraph.runs.transcripts import answer

REQUESTS = 3
"""How often a call asks, at most, where too few of the proposed prompts can be used."""
SHOWN_AGAIN = 60
"""Of so many prompts, the latest, a request says that they are not to be repeated."""
LONGEST_QUOTE = 200
"""Characters that are kept of a dropped prompt, and of the reason."""

Origin = Literal["initial", "random", "mutation"]
_PROMPT = TypeAdapter(PromptText)


class Prompts(BaseModel):
    """The form of replies. It is lenient: each prompt is checked by itself."""

    prompts: Annotated[list[str], Field(min_length=1, max_length=1000)]


@dataclass(frozen=True)
class Proposal:
    """A prompt to be scored; `parent` is the number of the one that it is a mutation of."""

    prompt: str
    origin: Origin
    parent: int | None = None


@dataclass(frozen=True)
class DroppedPrompt:
    """A prompt that cannot be used, or its beginning, and why."""

    prompt: str
    origin: Origin
    parent: int | None
    reason: str


class _Unusable(ValueError):
    """Why a prompt cannot be used."""


@dataclass
class PromptWriter:
    """Has a language model propose prompts, each of them once.

    Every request differs from all before it, by a number and the latest prompts, so that a model
    that always says what is likeliest does not repeat itself. What was asked before is read out of
    the run: the same calls in the same order give the same prompts.

    Attributes:
        model: Who is asked.
        directory: Of the run, for the transcripts.
        target: What is mined for.
        seed: Of the numbers in the requests.
        most_words: A prompt has at most so many words.
        check: Raises InputError for a prompt that the search cannot use.
        dropped: What could not be used, until it is taken. A prompt that a call drops several times
            for the same reason stands there once; what a reply has beyond the prompts that are
            needed is not looked at, and stands in the transcript alone.
    """

    model: LanguageModel
    directory: Path
    target: MiningTarget
    seed: int
    most_words: int = WORDS
    check: Callable[[str], None] = lambda prompt: None
    dropped: list[DroppedPrompt] = field(default_factory=list, init=False)
    _requests: int = field(default=0, init=False)
    _seen: dict[tuple[str, ...], str] = field(default_factory=dict, init=False)
    _given: bool = field(default=False, init=False)

    def random(self, count: int, origin: Origin) -> list[Proposal]:
        """At most `count` new prompts about anything that is mined for.

        They are fewer where three requests have not brought more.

        Raises:
            ReplyError: No reply was usable, and no prompt was ever given.
            BiasgraphError: What the model or the disk raises.
        """
        request = self.target.random_prompts(count, self.most_words)
        return self._proposals(request, count, origin, None)

    def mutations(self, prompt: str, parent: int, count: int) -> list[Proposal]:
        """At most `count` new prompts like one that has the number `parent`.

        Raises:
            ReplyError, BiasgraphError: As `random` does.
        """
        self._seen.setdefault(same_words(prompt), prompt)
        request = self.target.mutations_of(prompt, count, self.most_words)
        return self._proposals(request, count, "mutation", parent)

    def take_dropped(self) -> list[DroppedPrompt]:
        """What was dropped since this was last called."""
        taken, self.dropped = self.dropped, []
        return taken

    def _proposals(
        self, request: str, count: int, origin: Origin, parent: int | None
    ) -> list[Proposal]:
        found: list[str] = []
        refused: Counter[tuple[str, str]] = Counter()
        failed: list[ReplyError] = []
        for _ in range(REQUESTS):
            if len(found) == count:
                break
            try:
                replied = self._reply(request, "mutations" if origin == "mutation" else "random")
            except ReplyError as error:
                failed.append(error)
            else:
                found += self._usable(replied, count - len(found), refused)
        for (prompt, reason), times in refused.items():
            said = reason if times == 1 else f"{reason} ({times} times)"
            self.dropped.append(DroppedPrompt(prompt, origin, parent, said))
        self._given = self._given or bool(found)
        if failed and not self._given:
            for one in failed:
                one.forget()
            raise failed[-1]
        return [Proposal(prompt, origin, parent) for prompt in found]

    def _reply(self, request: str, task: str) -> list[str]:
        drawn = hashlib.sha256(f"{self.seed} {self._requests}".encode()).digest()
        self._requests += 1
        latest = [*self._seen.values()][-SHOWN_AGAIN:]
        asked = turns(self.target, unlike(request, int.from_bytes(drawn[:4], "big"), latest))
        return answer(self.directory, f"mine-{task}", self.model, asked, Prompts).prompts

    def _usable(
        self, replied: list[str], count: int, refused: Counter[tuple[str, str]]
    ) -> Iterator[str]:
        """The first `count` prompts of a reply that can be used; counts those refused till then."""
        for text in replied:
            if count == 0:
                return
            try:
                prompt = self._check(text)
            except _Unusable as error:
                refused[excerpt(text.strip(), LONGEST_QUOTE), str(error)] += 1
            else:
                count -= 1
                yield prompt

    def _check(self, text: str) -> str:
        """A prompt as it is scored, which counts as seen now. Raises _Unusable."""
        try:
            prompt = _PROMPT.validate_python(text)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            raise _Unusable(describe_problem(problem)) from None
        words = words_of(prompt)
        if not words:
            raise _Unusable("no words")
        if len(words) > self.most_words:
            raise _Unusable(f"{len(words)} words, more than {self.most_words}")
        if "[" in prompt or "]" in prompt:
            raise _Unusable("square brackets, which mark a prompt's subject")
        key = same_words(prompt)
        if key in self._seen:
            raise _Unusable(f"the same words as '{excerpt(self._seen[key])}'")
        self._seen[key] = prompt
        try:
            self.check(prompt)
        except InputError as error:
            raise _Unusable(excerpt(str(error), LONGEST_QUOTE)) from None
        return prompt
