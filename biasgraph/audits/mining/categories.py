"""Bias categories (MineTheGap app. C.4): what the concepts that images miss have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.errors import ModelError, printable
from biasgraph.models.base import Message
from biasgraph.models.json_chat import BrokenOff
from biasgraph.prompts.instructions import MOST_CATEGORIES, Categories, instruction
from biasgraph.prompts.mined_prompts import words_of
from biasgraph.runs.transcripts import answer, describe_writer

if TYPE_CHECKING:
    from biasgraph.models.base import LanguageModel

Record = dict[str, Any]


def bias_categories(
    mined: Sequence[Mapping[str, Any]], model: LanguageModel, directory: Path
) -> Record:
    """The categories that a language model proposes, once for all mined prompts.

    A prompt falls into a category if a concept that its images miss holds, as whole words, one of
    the category's terms that the prompt itself lacks.

    Args:
        mined: The mined prompts as mined.json has them.
        model: Who is asked; rules in its place know no categories.
        directory: Of the run, for the transcript.

    Returns:
        What stands under ``categories`` in mined.json: where there are none, the reason why.
    """
    missed = {
        str(row["prompt"]): [str(one["text"]) for one in row["evidence"].get("missed") or ()]
        for row in mined
    }
    if not any(missed.values()):
        return _without("the evidence names no missed concepts")
    if "written_by" in model.settings:
        return _without(f"{describe_writer(model)} is not a language model")
    try:
        proposed = answer(directory, "mine-categories", model, [_request(missed)], Categories)
    except BrokenOff as error:
        return _without(error.in_run)
    except ModelError as error:  # what the search found is not lost to it
        return _without(printable(str(error)))
    return {
        "proposed_by": describe_writer(model),
        "reason": "",
        "categories": [one.model_dump() for one in proposed.categories],
        "of_prompts": {
            prompt: [one.name for one in proposed.categories if _is_in(prompt, concepts, one.terms)]
            for prompt, concepts in missed.items()
        },
    }


def _without(reason: str) -> Record:
    return {"proposed_by": None, "reason": reason, "categories": [], "of_prompts": {}}


def _request(missed: Mapping[str, Sequence[str]]) -> Message:
    lines = [f"- {prompt}: {'; '.join(concepts)}" for prompt, concepts in missed.items()]
    asked = instruction("mining", "categories", count=MOST_CATEGORIES)
    return Message("user", "\n".join([asked, "", *lines]))


def _is_in(prompt: str, concepts: Sequence[str], terms: Sequence[str]) -> bool:
    own = words_of(prompt)
    missed = [words_of(concept) for concept in concepts]
    new = [words for term in terms if (words := words_of(term)) and not _holds(own, words)]
    return any(_holds(concept, words) for concept in missed for words in new)


def _holds(text: Sequence[str], words: Sequence[str]) -> bool:
    """Whether words stand in a text, one behind the other."""
    places = range(len(text) - len(words) + 1)
    return any([*text[place : place + len(words)]] == [*words] for place in places)
