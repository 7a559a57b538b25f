"""Images of prompts beside a run's request."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import ModelError
from biasgraph.methods.minethegap import Varying, score_spanned
from biasgraph.prompts.counterfactuals import Prompt
from biasgraph.runs.directory import Run, open_run
from biasgraph.runs.job import Job
from biasgraph.runs.local_engine import generate
from biasgraph.runs.media import RunMedia
from biasgraph.runs.other_images import OtherImages, imagine, pair_texts
from tests.fake_models import TARGETS, FakeGenerator, FakeJudge, plan_of

TEXTS = [Prompt(f"a nurse, {i}", "other") for i in range(6)]


@pytest.fixture
def run(tmp_path: Path):
    with open_run(
        tmp_path / "run", generator=FakeGenerator(), judges=[FakeJudge()], seed=1
    ) as opened:
        opened.request([plan_of("a nurse")], images=3, targets=TARGETS, settings={})
        yield opened


def made(run: Run, count: int, generator: FakeGenerator | None = None):
    return imagine(run, generator or FakeGenerator(), "a nurse", TEXTS, count)


def test_images_are_spread_evenly(run: Run) -> None:
    found = made(run, 8)
    counts = Counter(row.text for row in found)
    assert sum(counts.values()) == 8
    assert set(counts.values()) == {1, 2}
    assert len({row.seed for row in found}) == 8
    assert len(made(run, 4)) == 4


def test_nothing_is_made_twice_and_more_extends(run: Run) -> None:
    before = made(run, 6)
    generator = FakeGenerator()
    assert made(run, 6, generator) == before
    assert generator.batches == []
    more = made(run, 12, generator)
    assert {row.id for row in before} < {row.id for row in more}
    assert sum(len(set(batch)) for batch in generator.batches) == 6


def test_the_request_stays_as_it_is(run: Run) -> None:
    wanted = run.wanted_images()
    made(run, 6)
    assert run.wanted_images() == wanted
    assert run.ledger.images() == []


def test_a_damaged_file_is_made_again(run: Run) -> None:
    found = made(run, 6)
    path = run.image_path(found[0])
    path.write_bytes(b"")
    generator = FakeGenerator()
    assert [row.id for row in made(run, 6, generator)] == [row.id for row in found]
    assert generator.batches and path.stat().st_size


def test_what_was_made_before_a_failure_is_kept(run: Run) -> None:
    class Failing(FakeGenerator):
        def generate(self, prompts, seeds):
            if self.batches:
                raise ModelError("out of order")
            return super().generate(prompts, seeds)

    with pytest.raises(ModelError, match="out of order"):
        made(run, 6, Failing())
    generator = FakeGenerator()
    assert len(made(run, 6, generator)) == 6
    assert len(generator.batches) == 1


SHORT = {"a nurse": ["a person", "nurse"], "a chef at work": ["a chef", "a person at work"]}


def test_a_text_short_of_a_word_takes_the_seeds_of_its_prompt(run: Run) -> None:
    generate(run, FakeGenerator())
    before = {row.id: row for row in run.ledger.images()}
    made(run, 6)  # variations keep the seeds of their own
    pairs = OtherImages.of(run, pair_texts(SHORT), 3)
    generator = FakeGenerator()
    pairs.make(generator)
    found = pairs.by_text()
    assert {initial: [*texts] for initial, texts in found.items()} == {
        initial: [initial, *texts] for initial, texts in SHORT.items()
    }
    for initial, texts in found.items():
        for images in texts.values():
            assert [image.seed for image in images] == [image.seed for image in texts[initial]]
            assert [image.id[-4:] for image in images] == ["0000", "0001", "0002"]
    assert all(before[image.id] == image for image in found["a nurse"]["a nurse"])
    assert all(len({text for text, _ in batch}) > 1 for batch in generator.batches)
    assert sum(map(len, generator.batches)) == 5 * 3 + 1  # the last batch is filled up
    assert run.ledger.images() == [*before.values()]


def test_a_text_may_also_be_a_variation_with_seeds_of_its_own(run: Run) -> None:
    text = TEXTS[0].text
    own = {row.id: row.seed for row in made(run, 6)}
    pairs = OtherImages.of(run, pair_texts({"a nurse": [text]}), 1)
    pairs.make(FakeGenerator())
    (image,) = pairs.by_text()["a nurse"][text]
    assert image.id not in own and image.seed not in own.values()


def test_pairs_are_made_once_and_more_extend_them(run: Run) -> None:
    class Failing(FakeGenerator):
        def generate(self, prompts, seeds):
            if len(self.batches) == 2:
                raise ModelError("out of order")
            return super().generate(prompts, seeds)

    first = Failing()
    with pytest.raises(ModelError, match="out of order"):
        OtherImages.of(run, pair_texts(SHORT), 3).make(first)
    generator = FakeGenerator()
    OtherImages.of(run, pair_texts(SHORT), 3).make(generator)
    once = [item for model in (first, generator) for batch in model.batches for item in {*batch}]
    assert len(once) == len({*once}) == 6 * 3
    before = OtherImages.of(run, pair_texts(SHORT), 3).there()
    OtherImages.of(run, pair_texts(SHORT), 5).make(generator)
    assert {*before} < {*OtherImages.of(run, pair_texts(SHORT), 5).there()}
    calls = len(generator.batches)
    OtherImages.of(run, pair_texts(SHORT), 5).make(generator)
    assert len(generator.batches) == calls


class FakeEmbedder:
    """Two dimensions: a picture lies along the first, a text that says "male" along the second."""

    spec = "fake:space"
    fingerprint = "5" * 16

    def embed_images(self, images):
        return np.array([[1.0, 0.0]] * len(images))

    def embed_texts(self, texts):
        return np.array([[0.0, 1.0] if " male" in text else [0.6, 0.8] for text in texts])


class Withholding(FakeGenerator):
    """Withholds every picture whose prompt holds a word."""

    word: str = "nurse"

    def generate(self, prompts, seeds):
        pictures = super().generate(prompts, seeds)
        return [
            replace(picture, withheld="not safe") if self.word in text else picture
            for text, picture in zip(prompts, pictures, strict=True)
        ]


@pytest.mark.parametrize(("word", "images"), [("chef", 3), ("nurse", 0)])
def test_pictures_that_are_withheld_are_not_scored(run: Run, word: str, images: int) -> None:
    generator = Withholding()
    generator.word = word
    generate(run, generator)
    job = Job(directory=run.directory, generator=generator)
    media = RunMedia(run, job, FakeEmbedder())
    varying = Varying.of(load_axis_set("occupation"), {"vary": ["gender"]})
    ids = [row.id for row in run.ledger.images() if row.text == "a nurse"]
    found = varying.span("a nurse", ids, media)
    assert len(found.images) == images
    if images:  # cosines of all images: 0 with "a male nurse", .6 with "a female nurse"
        assert found.similarity.tolist() == pytest.approx(np.array([[0.0] * 3, [0.6] * 3]))
        assert score_spanned(found).value == pytest.approx((0.0 + 0.6) / 2 / 0.3)
    else:
        assert score_spanned(found).value is None
    assert varying.ceiling(replace(found, images=tuple(ids)), media).value == (
        pytest.approx(1.0) if images else None
    )
