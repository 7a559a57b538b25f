"""What models tell of a run's pictures, where the disk or a model fails."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from biasgraph.errors import ModelError
from biasgraph.runs.directory import Run, open_run
from biasgraph.runs.job import Job
from biasgraph.runs.local_engine import generate
from biasgraph.runs.media import RunMedia
from tests.fake_models import TARGETS, FakeGenerator, FakeJudge, plan_of


class Looking(FakeJudge):
    """Embeds and describes; `short` of so many it says nothing."""

    def __init__(self, short: int = 0) -> None:
        super().__init__()
        self.short = short

    def embed_texts(self, texts):
        return np.eye(4, dtype=np.float32)[: len(texts) - self.short]

    def describe(self, images, question):
        return ["a nurse"] * (len(images) - self.short)


def media_of(run: Run, model: Looking) -> RunMedia:
    job = Job(directory=run.directory, generator=FakeGenerator(), judge=model, seed=1)
    return RunMedia(run, job, model)


@pytest.fixture
def run(tmp_path: Path):
    with open_run(
        tmp_path / "run", generator=FakeGenerator(), judges=[FakeJudge()], seed=1
    ) as opened:
        opened.request([plan_of("a nurse")], images=2, targets=TARGETS, settings={})
        generate(opened, FakeGenerator())
        yield opened


def test_a_ledger_that_cannot_be_written_is_one_line(run: Run) -> None:
    media = media_of(run, Looking())
    ids = [image.id for image in run.ledger.images()]
    run.ledger._connection.execute("PRAGMA query_only = ON")
    for look in (lambda: media.embedded_texts(["a"]), lambda: media.described(ids, "What is it?")):
        with pytest.raises(ModelError, match=r"cannot work in .*readonly database"):
            look()
    run.ledger._connection.execute("PRAGMA query_only = OFF")
    assert media.embedded_texts(["a"]).shape == (1, 4)
    assert media.described(ids, "What is it?") == ["a nurse"] * len(ids)


def test_a_model_that_leaves_one_out_is_named(run: Run) -> None:
    media = media_of(run, Looking(1))
    with pytest.raises(ModelError, match="fake:judge was asked about 2 and answered about 1"):
        media.embedded_texts(["a", "b"])
    ids = [image.id for image in run.ledger.images()]
    with pytest.raises(ModelError, match="fake:judge was asked about"):
        media.described(ids, "What is it?")
    assert run.ledger.texts("fake:judge", "What is it?") == {}
