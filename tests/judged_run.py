"""A finished run on the fakes, made in a moment, and labels about its pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pandas as pd

from biasgraph.audits.agreement.trusted_answers import read_questions
from biasgraph.audits.analysis import analyze_answers
from biasgraph.audits.build_options import BuildOptions
from biasgraph.data.answers import Answers
from biasgraph.models.base import Question
from biasgraph.models.pixels import pixels_digest
from biasgraph.report.saving import write
from biasgraph.runs.directory import open_run, read_run
from biasgraph.runs.local_engine import ask, generate
from biasgraph.runs.questions import AxisQuestion
from tests.fake_models import GATE, QUESTIONS, TARGETS, FakeGenerator, FakeJudge, plan_of

PROMPT = "a librarian"


def judged_run(directory: Path, images: int = 12) -> Path:
    """A run of the fakes with its result, as a build leaves it."""
    generator, judge = FakeGenerator(), FakeJudge()
    with open_run(directory, generator=generator, judges=[judge], seed=0) as run:
        run.request([plan_of(PROMPT)], images=images, targets=TARGETS, settings={})
        generate(run, generator)
        ask(run, judge, QUESTIONS, GATE, generator=generator)
        result = analyze_answers(
            Answers.from_frame(run.answers(judge.spec)),
            None,
            BuildOptions(prompt=PROMPT, bootstrap=100, min_valid=2),
            {"vqa": judge.spec, "vqa_fingerprint": judge.fingerprint, "seed": 0},
            {},
        )
        write(result, directory)
    return directory


Teller = Callable[[str, Question, str], str]
"""(image id, question, the judge's own answer) -> a label; empty for none."""


def labels_of(directory: Path, tell: Teller = lambda image, question, own: own) -> pd.DataFrame:
    """Labels about every picture of a run, one for each question, in words."""
    judge, rows = FakeJudge(), []
    with closing(read_run(directory)) as run:
        gate, axes = read_questions(run, judge.spec)
        parts = [(AxisQuestion("", (gate,), ()), gate)]
        parts += [(axis, question) for axis in axes for question in axis.questions]
        for image in run.ledger.images():
            picture = run.read_image(image)
            assert picture is not None
            replies = judge.answer([picture], [question for _, question in parts])[0]
            for (axis, question), reply in zip(parts, replies, strict=True):
                own = "unknown" if reply.choice is None else question.choices[reply.choice]
                said = tell(image.id, question, own)
                rows.append((pixels_digest(picture), question.text, said, axis.axis, image.id))
    columns = ["picture", "question", "answer", "target", "image"]
    return pd.DataFrame(rows, columns=columns)


def by_axis(agreement: Mapping[str, list[dict[str, object]]]) -> dict[str, dict[str, object]]:
    """The axes of an agreement by name."""
    return {str(axis["axis"]): axis for axis in agreement["axes"]}
