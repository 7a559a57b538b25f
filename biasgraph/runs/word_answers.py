"""How probable "yes" is when models are asked about words, kept in the run and asked once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field, RootModel

from biasgraph.errors import InputError, show_path
from biasgraph.io.json_files import read_text
from biasgraph.models.base import Message
from biasgraph.models.json_chat import Exchange
from biasgraph.runs.progress import showing
from biasgraph.runs.storage import LEDGER
from biasgraph.runs.transcripts import converse, find_reply, key_of

if TYPE_CHECKING:
    from pathlib import Path

    from biasgraph.models.base import LanguageModel, Question, YesNo
    from biasgraph.runs.ledger_rows import ImageRow
    from biasgraph.runs.media import RunMedia

Share = Annotated[float, Field(ge=0, le=1)]
VERSION = 1
"""To be raised whenever the numbers change."""
TASK = "words"


class YesShares(BaseModel):
    """How probable "yes" is as the reply to each question."""

    shares: list[Share]


class _YesShares(RootModel[list[Share]]):
    """How probable "yes" is to a judge, for each question, as the ledger keeps it."""


def score_yes(
    directory: Path, model: LanguageModel, asked: YesNo, texts: Sequence[str]
) -> list[float]:
    """How probable "yes" is as a language model's reply to each text; a transcript keeps it.

    Args:
        directory: Of the run.
        model: Who is asked.
        asked: The same, by the power that it needs.
        texts: The questions.

    Raises:
        ModelError: The model or the disk failed.
    """

    def ask() -> Exchange[YesShares]:
        shares = [asked.yes_probability([Message("user", text)]) for text in texts]
        turns: list[dict[str, str]] = []
        for text, share in zip(texts, shares, strict=True):
            turns += [
                {"role": "user", "text": text},
                {"role": "assistant", "text": f"yes with probability {share:.6f}"},
            ]
        return Exchange(YesShares(shares=shares), tuple(turns))

    key = key_of(model, VERSION, list(texts))
    before = find_reply(directory, TASK, key, YesShares)
    if before is None or len(before.shares) != len(texts):
        before = converse(directory, TASK, key, model, ask)
    return before.shares


def yes_beside_images(
    media: RunMedia, images: Sequence[ImageRow], questions: Sequence[Question]
) -> list[list[float]]:
    """How probable each question's first choice is to a judge, beside each image.

    Args:
        media: Of the open run, whose job has the judge.
        images: Of the run, none withheld.
        questions: What is asked about each.

    Raises:
        ModelError: The judge failed, or a picture's file is damaged.
        Interrupted: The user stopped it.
    """
    judge, ledger = media.job.asked, media.run.ledger
    words = [asdict(question) for question in questions]
    asked = json.dumps({"word answers": VERSION, "model": judge.fingerprint, "asked": words})
    known = ledger.texts(judge.spec, asked)
    new = [row for row in images if row.key not in known]
    if new:
        size = max(judge.batch_size, 1)
        progress = media.job.progress
        with showing(progress, "Words", total=len(images), done=len(images) - len(new)) as work:
            for start in range(0, len(new), size):
                portion = new[start : start + size]
                answers = judge.answer([media.picture(row.id) for row in portion], questions)
                said = [
                    (row.key, json.dumps([one.probabilities[0] for one in own]))
                    for row, own in zip(portion, answers, strict=True)
                ]
                ledger.add_texts(judge.spec, asked, said)
                known |= dict(said)
                work.advance(len(portion))
    source = show_path(media.run.directory / LEDGER)
    shares = [read_text(_YesShares, known[row.key], source).root for row in images]
    if any(len(own) != len(questions) for own in shares):
        raise InputError(f"{source} is damaged: it lacks an answer about a word")
    return shares
