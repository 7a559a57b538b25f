"""A vision model behind a server as judge: multiple choice, and answers in its own words."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from biasgraph.models.base import Answer, Question, Setting
from biasgraph.models.json_replies import strip_thoughts
from biasgraph.models.multiple_choice import LetteredQuestion, combine_shares, letter_question
from biasgraph.models.openai.completions import (
    LONGEST_SIDE,
    NO_LOGPROBS,
    TEMPERATURE,
    THINKS,
    AttachedPicture,
    ChatReply,
    Turn,
    chat_request,
)
from biasgraph.models.openai.served_model import OpenAIModel

if TYPE_CHECKING:
    from PIL.Image import Image

PERMUTATIONS = 3
"""By default: each of three options (yes, no, unknown) stands once at every letter."""
BATCH = 8
LETTER_TOKENS, DESCRIPTION_TOKENS = 512, 1024
"""A letter is one token; the rest is for models that think first."""
LEAST_MASS = 0.01
"""Letters that are less probable than this, all together, say nothing about the options."""
AGAIN = "Reply with the letter of one option, nothing else."
REPEATED = 2_000
"""Characters of a reply that a model is shown again."""


@dataclass(frozen=True)
class OpenAIJudge(OpenAIModel):
    """Asks each question about each image by itself, the options lettered in several orders.

    The picture comes first in every request, so that a server that caches prefixes encodes it
    once for all questions.
    """

    permutations: int = PERMUTATIONS
    unknown_below: float | None = None
    batch_size: int = BATCH
    seconds_per_image: float | None = None

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What else decides the results, as a run records it."""
        return {
            "temperature": TEMPERATURE,
            "permutations": self.permutations,
            "unknown_below": self.unknown_below,
            "longest_side": LONGEST_SIDE,
        }

    def answer(self, images: Sequence[Image], questions: Sequence[Question]) -> list[list[Answer]]:
        """``answers[i][q]`` is the answer about image ``i`` to question ``q``."""
        pictures = [AttachedPicture(image) for image in images]
        asked = [letter_question(question, self.permutations) for question in questions]
        tries = {
            (picture.digest, sheet.text): (picture, sheet)
            for picture in pictures
            for orders in asked
            for sheet in orders
        }
        weights = self.served.each(
            list(tries.values()), lambda each, stop: self._weigh_letters(*each, stop)
        )
        shares = dict(zip(tries, weights, strict=True))
        return [
            [
                self._combine(question, orders, [shares[shown.digest, x.text] for x in orders])
                for question, orders in zip(questions, asked, strict=True)
            ]
            for shown in pictures
        ]

    def describe(self, images: Sequence[Image], question: str) -> list[str]:
        """One text for each image, in words of its own."""
        pictures = {shown.digest: shown for shown in map(AttachedPicture, images)}
        texts = self.served.each(
            list(pictures.values()),
            lambda shown, stop: self._describe([Turn("user", question, shown)], stop),
        )
        said = dict(zip(pictures, texts, strict=True))
        return [said[AttachedPicture(image).digest] for image in images]

    def requests(self, *, images: int, questions: int) -> int:
        """About how many requests so much work takes."""
        return questions * self.permutations

    def notes(self) -> list[str]:
        """What was found out at work, a sentence each."""
        blunt = "gives no log-probabilities: its answers come without a confidence"
        return self.served.notes("chat", {NO_LOGPROBS: blunt})

    def _weigh_letters(
        self, picture: AttachedPicture, sheet: LetteredQuestion, stop: threading.Event
    ) -> LetterWeights:
        """Ask for a letter, and once more where none came; a refusal is unknown."""
        turns = [Turn("user", sheet.text, picture)]
        schema: dict[str, object] | None = None
        for occurrence in range(2):
            request = chat_request(
                turns,
                limit=LETTER_TOKENS,
                schema=schema,
                logprobs=schema is None,
                occurrence=occurrence,
            )
            said = self.served.one(request, stop)
            choice = None if said.refused else find_letter(said.text, sheet)
            if choice is not None:
                return _shares(said, sheet, choice)
            if said.refused or occurrence:
                break
            if said.cut:
                self.served.learn("chat", THINKS)
            else:
                answer = {"type": "string", "enum": list(sheet.letters)}
                schema = {"type": "object", "properties": {"answer": answer}}
                reply = Turn("assistant", said.text[:REPEATED] or "(nothing)")
                turns = [*turns, reply, Turn("user", AGAIN)]
        return _vote(sheet, sheet.order.index(None))

    def _describe(self, turns: Sequence[Turn], stop: threading.Event) -> str:
        for occurrence in range(2):
            request = chat_request(turns, limit=DESCRIPTION_TOKENS, occurrence=occurrence)
            said = self.served.one(request, stop)
            text = "" if said.refused else strip_thoughts(said.text).strip()
            if text or not said.cut:
                return text
            self.served.learn("chat", THINKS)
        return ""

    def _combine(
        self, question: Question, orders: Sequence[LetteredQuestion], rows: Sequence[LetterWeights]
    ) -> Answer:
        shares = [row.shares for row in rows]
        if all(row.measured for row in rows):
            return combine_shares(question, orders, shares, self.unknown_below)
        answer = combine_shares(question, orders, shares)
        # Votes, not probabilities; a judge that says one thing and then another does not know.
        votes = sorted(answer.probabilities)
        torn = answer.choice is not None and math.isclose(votes[-1], votes[-2])
        return Answer(None if torn else answer.choice, ())


@dataclass(frozen=True)
class LetterWeights:
    """A weight for each letter of a sheet; measured: they are probabilities, not one vote."""

    shares: tuple[float, ...]
    measured: bool


def find_letter(text: str, sheet: LetteredQuestion) -> tuple[int, int] | None:
    """The option that a reply names, by its place on the sheet, and where its letter stands.

    Taken are a letter by itself, in marks, or with its own option behind it, the same in JSON,
    and "the answer is B". Prose is not searched for words of an option: a reply that says that
    somebody is not old would be taken for old.
    """
    start = text.rfind("</think>") + len("</think>") if "</think>" in text else 0
    reply = text[start:]
    quoted = re.search(r'"answer"\s*:\s*"', reply, re.IGNORECASE)
    if quoted:
        start, reply = start + quoted.end(), reply[quoted.end() :].partition('"')[0]
    letters = "".join(sheet.letters)
    alone = reply.strip()
    if len(alone) == 1 and alone not in letters and alone.upper() in letters:
        return sheet.letters.index(alone.upper()), start + reply.index(alone)
    marked = re.match(rf"[\s\W]*([{letters}])(?![^\W_])", reply)
    if marked and _nothing_else(reply[marked.end() :], marked[1], sheet):
        return sheet.letters.index(marked[1]), start + marked.start(1)
    said = re.findall(
        rf"(?:answer|option)(?:\s+is)?(?:\s*:)?\s*[*(\"']*([{letters}])(?![^\W_])[*)\"']*\s*(?:[.]|$)",
        reply,
        re.IGNORECASE,
    )
    named = {letter for letter in said if letter in sheet.letters}
    if len(named) == 1:
        letter = named.pop()
        return sheet.letters.index(letter), start + reply.rfind(letter)
    return None


def _nothing_else(rest: str, letter: str, sheet: LetteredQuestion) -> bool:
    """Whether behind a letter there is nothing but marks, or its own option."""
    marks = " \t\r\n.,:;)]}*\"'`-"
    words = rest.strip(marks).casefold()
    own = option_of(sheet, sheet.letters.index(letter)).strip(marks).casefold()
    return not words or words == own or own.startswith(f"{words} (")


def option_of(sheet: LetteredQuestion, place: int) -> str:
    """The words of an option, as the sheet shows them."""
    mark = f"{sheet.letters[place]}. "
    lines = sheet.text.splitlines()
    return next((line[len(mark) :] for line in reversed(lines) if line.startswith(mark)), "")


def _shares(said: ChatReply, sheet: LetteredQuestion, choice: tuple[int, int]) -> LetterWeights:
    """The probabilities of the letters at the place of the one that was said; a vote without."""
    place, at = choice
    end = 0
    for token in said.tokens:
        end += len(token.text)
        if end <= at:
            continue
        mass = [0.0] * len(sheet.letters)
        for text, logprob in token.alternatives:
            letter = text.strip(" \t\r\n\"'(*:.)")
            if letter in sheet.letters:
                mass[sheet.letters.index(letter)] += math.exp(logprob)
        if math.fsum(mass) >= LEAST_MASS and mass[place] > 0:
            return LetterWeights(tuple(mass), measured=True)
        break
    return _vote(sheet, place)


def _vote(sheet: LetteredQuestion, place: int) -> LetterWeights:
    return LetterWeights(
        tuple(float(i == place) for i in range(len(sheet.letters))), measured=False
    )
