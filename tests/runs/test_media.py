"""What models tell of a run's pictures, where the disk or a model fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError, ModelError
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
    for look in (lambda: media.embed_texts(["a"]), lambda: media.describe(ids, "What is it?")):
        with pytest.raises(ModelError, match=r"cannot work in .*readonly database"):
            look()
    run.ledger._connection.execute("PRAGMA query_only = OFF")
    assert media.embed_texts(["a"]).shape == (1, 4)
    assert media.describe(ids, "What is it?") == ["a nurse"] * len(ids)


def test_a_model_that_leaves_one_out_is_named(run: Run) -> None:
    media = media_of(run, Looking(1))
    with pytest.raises(ModelError, match="fake:judge was asked about 2 and answered about 1"):
        media.embed_texts(["a", "b"])
    ids = [image.id for image in run.ledger.images()]
    with pytest.raises(ModelError, match="fake:judge was asked about"):
        media.describe(ids, "What is it?")
    assert run.ledger.texts("fake:judge", "What is it?") == {}


TEXTS = {"a nurse": ["a person", "nurse"]}


def test_pairs_are_judged_once_on_the_axes_of_the_run(run: Run) -> None:
    axes = load_axis_set("occupation").only(["gender", "age"])
    judge = FakeJudge()
    media = RunMedia(run, Job(directory=run.directory, generator=FakeGenerator(), judge=judge))
    said = media.judge_pairs(TEXTS, axes, 6)
    assert [*said["a nurse"]] == ["a nurse", "a person", "nurse"]
    for answers in said["a nurse"].values():
        assert [*answers] == ["gender", "age"]
        for axis in axes.axes:
            assert len(answers[axis.name]) == 6
            assert {*answers[axis.name]} <= {*axis.names, "unknown", "gated"}
    calls = len(judge.calls)
    assert media.judge_pairs(TEXTS, axes, 6) == said
    assert len(judge.calls) == calls
    fewer = media.judge_pairs(TEXTS, axes, 2)["a nurse"]["nurse"]["age"]
    assert fewer == said["a nurse"]["nurse"]["age"][:2]
    assert len(judge.calls) == calls
    assert run.ledger.requested_targets() == [*TARGETS]


def test_withheld_images_are_gated_and_nobody_is_asked(run: Run) -> None:
    class Withholding(FakeGenerator):
        def generate(self, prompts, seeds):
            return [
                replace(picture, withheld="not safe") if text == "nurse" else picture
                for text, picture in zip(prompts, super().generate(prompts, seeds), strict=True)
            ]

    axes = load_axis_set("occupation").only(["gender"])
    judge = FakeJudge()
    media = RunMedia(run, Job(directory=run.directory, generator=Withholding(), judge=judge))
    said = media.judge_pairs(TEXTS, axes, 4)["a nurse"]
    assert {*said["nurse"]["gender"]} == {"gated"}
    assert {*said["a nurse"]["gender"]} != {"gated"}


def test_people_cannot_be_asked_about_pairs(run: Run) -> None:
    class Person(FakeJudge):
        def __init__(self) -> None:
            super().__init__(spec="human:table.csv")

    generator = FakeGenerator()
    for judge in (None, Person()):
        job = Job(directory=run.directory, generator=generator, judge=judge)
        with pytest.raises(InputError, match="a judge is needed that can be asked"):
            RunMedia(run, job).judge_pairs(TEXTS, load_axis_set("occupation"), 2)
    assert generator.batches == []


@pytest.mark.parametrize("vector", [b"\0" * 4, np.full(4, np.nan, "<f4").tobytes()])
def test_vectors_that_do_not_fit_are_a_damaged_ledger(run: Run, vector: bytes) -> None:
    media = media_of(run, Looking())
    media.embed_texts(["a", "b"])
    change = "UPDATE vectors SET vector = ? WHERE what = (SELECT min(what) FROM vectors)"
    run.ledger._connection.execute(change, (vector,))
    with pytest.raises(InputError, match=r"ledger\.sqlite is damaged"):
        media.embed_texts(["a", "b"])
