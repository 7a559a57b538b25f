"""The page on which people label a sample of a run's pictures.

Whoever labels sees pictures in random order and the run's own questions, and neither a prompt nor
what the judge said: a label that knew would agree too well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.agreement.sampling import sample
from biasgraph.audits.agreement.trusted_answers import read_questions, wanted_axes
from biasgraph.audits.pipeline_options import LabelOptions
from biasgraph.data.file_names import RECORD
from biasgraph.data.result import read_document, why_no_run
from biasgraph.errors import InputError, ModelError, show_path
from biasgraph.models.pixels import pixels_digest
from biasgraph.report import html, words
from biasgraph.report.embedding import data_uri
from biasgraph.runs.directory import Run, read_run

if TYPE_CHECKING:
    from biasgraph.models.base import Question
    from biasgraph.runs.ledger_rows import ImageRow

LONGEST_SIDE = 768
SMALL = 256  # pixels a side up to which a picture is passed on without loss
QUALITY = 88


def label_page(directory: Path, options: LabelOptions) -> tuple[bytes, int]:
    """The page for a run, and how many pictures are on it: all there are, if they are fewer.

    Raises:
        InputError: `directory` is no finished run, or has no such axis.
        ModelError: pictures are missing from it or damaged.
    """
    graph = read_document(directory)["graph"]
    if not (directory / RECORD).is_file():
        raise InputError(
            f"{show_path(directory)} has no pictures to label: {why_no_run(directory)}"
        )
    with closing(read_run(directory)) as run:
        asked = _questions(run, str(graph["vqa"]), options.only)
        images = sample(run, str(graph["vqa"]), options.sample, options.seed)
        pictures = [_picture(run, image) for image in images]
    # What the browser keeps belongs to these pictures and these questions, in this order.
    answered = [[picture["picture"] for picture in pictures], asked]
    key = hashlib.sha256(json.dumps(answered).encode()).hexdigest()
    model = {"key": key[:16], "images": pictures, "questions": asked}
    count, title = len(pictures), f"{words.count_noun(len(pictures), 'picture')} to label"
    page = html.render(
        "label.html",
        model=model,
        scripts=("label.js",),
        styles=("label.css",),
        drawn=False,
        digest=html.digest_of(model),
        toy=graph["toy"],
        count=count,
        title=title,
        model_name=words.label(graph["model"]),
    )
    return page, count


def _questions(run: Run, judge: str, only: Sequence[str]) -> list[dict[str, Any]]:
    gate, axes = read_questions(run, judge)
    kept = wanted_axes([axis.axis for axis in axes], only)
    own = [(axis.axis, part) for axis in axes if axis.axis in kept for part in axis.questions]
    return [_question(axis, question) for axis, question in [("", gate), *own]]


def _question(axis: str, question: Question) -> dict[str, Any]:
    """A question as it is asked; axis: empty for the gate question."""
    return {
        "axis": axis,
        "text": question.text,
        "shown": words.label(question.text, 500),
        "choices": list(question.choices),
        "labels": [words.label(choice) for choice in question.choices],
    }


def _picture(run: Run, image: ImageRow) -> dict[str, Any]:
    picture = run.read_image(image)
    if picture is None:
        raise ModelError(
            f"{show_path(run.image_path(image))} is missing or damaged: rerun the run's build "
            "command to make it again"
        )
    return {
        "picture": pixels_digest(picture),
        "image": image.id,
        "src": data_uri(picture.convert("RGB"), LONGEST_SIDE, QUALITY, SMALL),
        "pixels": max(picture.size) <= 128,
    }
