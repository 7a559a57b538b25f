"""Generating and asking in this process: batches, damage, interruption, misbehaving models."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from biasgraph.errors import InputError, ModelError
from biasgraph.models.base import Answer
from biasgraph.runs.directory import Run, open_run
from biasgraph.runs.local_engine import DamagedImageWarning, ask, declare, generate
from biasgraph.runs.progress import Interrupted
from tests.fake_models import (
    GATE,
    QUESTIONS,
    FakeGenerator,
    FakeJudge,
    plan_of,
)

WANTED = 9 * 3


@pytest.fixture
def run(tmp_path: Path):
    with opened(tmp_path / "run") as run:
        yield run


def opened(directory: Path):
    judges = [FakeJudge(), FakeJudge(spec="fake:second")]
    return open_run(directory, generator=FakeGenerator(), judges=judges, seed=0)


def request(run: Run, images: int = 3, questions=QUESTIONS) -> None:
    targets = [question.axis for question in questions]
    run.request([plan_of("a nurse", questions)], images=images, targets=targets, settings={})


def made(run: Run, generator: FakeGenerator | None = None, **options) -> FakeGenerator:
    generator = generator or FakeGenerator()
    request(run, **options)
    generate(run, generator)
    return generator


def asked(run: Run, judge: FakeJudge | None = None, generator=None, **options) -> FakeJudge:
    judge = judge or FakeJudge()
    ask(run, judge, QUESTIONS, GATE, generator=generator or FakeGenerator(), **options)
    return judge


def file_of(run: Run, number: int = 0) -> Path:
    return run.image_path(run.ledger.images()[number])


class TestBatches:
    def test_are_full_mix_prompts_and_make_everything_once(self, run: Run) -> None:
        batches = made(run).batches
        assert {len(batch) for batch in batches} == {4}
        assert len(batches) == -(-WANTED // 4)
        assert len({text for text, _ in batches[0]}) == 4
        items = [item for batch in batches for item in batch]
        assert len(set(items)) == WANTED and len(items) == 28

    def test_one_image_alone_is_padded(self, run: Run) -> None:
        generator = FakeGenerator()
        run.request([plan_of("a nurse", [])], images=1, targets=[], settings={})
        assert generate(run, generator) == 1
        assert [len(set(batch)) for batch in generator.batches] == [1]
        assert [len(batch) for batch in generator.batches] == [4]

    def test_a_model_that_always_makes_the_same_picture_has_each_counted(self, run: Run) -> None:
        class Collapsed(FakeGenerator):
            def _draw(self, prompt, seed):
                return super()._draw("", 0)

        made(run, Collapsed())
        asked(run)
        assert len({image.file for image in run.ledger.images()}) == 1
        assert run.answers("fake:judge")["image"].nunique() == WANTED

    def test_the_gate_is_asked_in_the_same_call(self, run: Run) -> None:
        made(run)
        judge = asked(run)
        words = [GATE.text, *(each.text for axis in QUESTIONS for each in axis.questions)]
        assert all(texts == words for _, texts in judge.calls)
        assert {len(pixels) for pixels, _ in judge.calls} == {5}
        assert len(judge.calls) == -(-WANTED // 5)

    @pytest.mark.parametrize("stop_after", range(7))
    def test_go_on_as_if_nothing_had_been(self, run: Run, tmp_path: Path, stop_after: int) -> None:
        class Failing(FakeGenerator):
            def generate(self, prompts, seeds):
                if len(self.batches) == stop_after:
                    raise RuntimeError("out of memory")
                return super().generate(prompts, seeds)

        first, second = Failing(), FakeGenerator()
        request(run)
        with pytest.raises(RuntimeError, match="out of memory"):
            generate(run, first)
        generate(run, second)
        with opened(tmp_path / "whole") as other:
            assert first.batches + second.batches == made(other).batches

    def test_an_extension_asked_for_before_the_run_was_done(self, run: Run) -> None:
        class Failing(FakeGenerator):
            def generate(self, prompts, seeds):
                if len(self.batches) == 2:
                    raise RuntimeError("out of memory")
                return super().generate(prompts, seeds)

        first, second, third = Failing(), FakeGenerator(), FakeGenerator()
        request(run, images=3)
        with pytest.raises(RuntimeError):
            generate(run, first)
        made(run, second, images=2, questions=QUESTIONS[:1])
        made(run, third, images=4)
        items = [
            item for each in (first, second, third) for batch in each.batches for item in set(batch)
        ]
        assert len(items) == len(set(items)) == 9 * 4
        # Packed tightly each time, whatever gaps the earlier requests left.
        assert len(second.batches) == 1 and len(third.batches) == -(-(36 - 8 - 1) // 4)


class TestNothingToDo:
    class Untouchable:
        spec = "fake:judge"

        def __getattr__(self, name: str) -> object:
            raise AssertionError(f"touched: {name}")

    def test_models_are_not_touched(self, run: Run) -> None:
        made(run)
        asked(run)
        assert generate(run, self.Untouchable()) == 0
        assert ask(run, self.Untouchable(), QUESTIONS, GATE, generator=self.Untouchable()) == 0

    def test_answers_of_another_judge_are_not_enough(self, run: Run) -> None:
        made(run)
        asked(run)
        assert asked(run, FakeJudge(spec="fake:second")).calls


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-5]),
    "one bit": flip,
    "no image": lambda path: path.write_text("<html>not found</html>"),
}


class TestDamage:
    @pytest.fixture(params=DAMAGES.values(), ids=DAMAGES.keys())
    def damage(self, request: pytest.FixtureRequest) -> Callable[[Path], object]:
        return request.param

    def test_in_a_finished_run_is_made_good(self, run: Run, damage) -> None:
        made(run)
        asked(run)
        before, data = run.answers("fake:judge"), file_of(run, 5).read_bytes()
        damage(file_of(run, 5))
        image, generator = run.ledger.images()[5], FakeGenerator()
        assert generate(run, generator) == 1
        assert generator.batches == [[(image.text, image.seed)] * 4]
        assert file_of(run, 5).read_bytes() == data
        assert asked(run).calls == []
        assert run.answers("fake:judge").equals(before)

    def test_before_asking_is_made_good(self, run: Run, tmp_path: Path, damage) -> None:
        made(run)
        for number in (0, 7, 8, 26):
            damage(file_of(run, number))
        generator = FakeGenerator()
        asked(run, generator=generator)
        assert len({item for batch in generator.batches for item in batch}) == 4
        with opened(tmp_path / "whole") as other:
            made(other)
            asked(other)
            assert run.answers("fake:judge").equals(other.answers("fake:judge"))

    def test_another_picture_is_asked_about_again_by_every_judge(self, run: Run) -> None:
        made(run)
        judges = [FakeJudge(), FakeJudge(spec="fake:second")]
        for judge in judges:
            asked(run, judge)
        image = run.ledger.images()[5]
        file_of(run, 5).unlink()
        with pytest.warns(DamagedImageWarning, match=image.id):
            generate(run, FakeGenerator(style="another version"))
        assert (
            run.ledger.images()[5].file != image.file and run.ledger.images()[5].seed == image.seed
        )
        assert len(run.answers("fake:judge")) == (WANTED - 1) * 3
        for judge in judges:
            judge.calls.clear()
            asked(run, judge)
            assert [len(set(pixels)) for pixels, _ in judge.calls] == [5]
            assert len(run.answers(judge.spec)) == WANTED * 3

    def test_answers_that_an_edited_ledger_keeps_of_a_batch_are_not_recorded_twice(
        self, run: Run
    ) -> None:
        made(run)
        asked(run)
        before = run.answers("fake:judge")
        with closing(sqlite3.connect(run.directory / "ledger.sqlite")) as ledger, ledger:
            gate = "question = (SELECT id FROM questions WHERE target = '')"
            assert ledger.execute(f"DELETE FROM answers WHERE {gate}").rowcount == WANTED  # noqa: S608
        asked(run)
        pd.testing.assert_frame_equal(run.answers("fake:judge"), before)

    def test_another_picture_found_while_asking_about_a_new_axis(self, run: Run) -> None:
        made(run)
        ask(run, FakeJudge(), QUESTIONS[:1], GATE, generator=FakeGenerator())
        images = [run.ledger.images()[number] for number in (5, 6)]
        for image in images:
            run.image_path(image).unlink()
        judge = FakeJudge()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            asked(run, judge, FakeGenerator(style="another version"))
        assert sorted(str(warning.message).split()[1] for warning in caught) == sorted(
            image.id for image in images
        )
        assert len(run.answers("fake:judge")) == WANTED * 3
        lengths = [len(texts) for _, texts in judge.calls]
        assert set(lengths[:-1]) == {3} and lengths[-1] == 5

    def test_a_copied_run_is_whole(self, run: Run) -> None:
        made(run)
        for number, image in enumerate(run.ledger.images()):
            os.utime(run.image_path(image), (number, number))
        assert run.damaged_images() == []
        assert [image.file.mtime_ns for image in run.ledger.images()][:2] == [0, 10**9]

    def test_identical_pictures_are_all_made_again(self, run: Run) -> None:
        class Painter(FakeGenerator):
            def _draw(self, prompt: str, seed: int):
                return super()._draw("one", 0)

        made(run, Painter())
        file_of(run).unlink()
        assert generate(run, Painter()) == WANTED
        assert run.damaged_images() == []


class TestMisbehavingModels:
    def test_too_few_images(self, run: Run) -> None:
        class Lazy(FakeGenerator):
            def generate(self, prompts, seeds):
                return super().generate(prompts, seeds)[1:]

        with pytest.raises(ModelError, match="fake:painter was asked for 4 images and gave 3"):
            made(run, Lazy())
        assert run.ledger.images() == []

    @pytest.mark.parametrize(
        ("spoil", "words"),
        [
            (lambda answers: answers[1:], "about 5 images and gave another number"),
            (lambda answers: [row[1:] for row in answers], "5 questions about 5 images"),
            (lambda answers: [[Answer(9, ()) for _ in row] for row in answers], "chose answer 9"),
        ],
        ids=["an image short", "a question short", "no such choice"],
    )
    def test_answers_that_are_none(self, run: Run, spoil, words: str) -> None:
        class Judge(FakeJudge):
            def answer(self, images, questions):
                return spoil(super().answer(images, questions))

        made(run)
        with pytest.raises(ModelError, match=words):
            asked(run, Judge())
        assert len(run.answers("fake:judge")) == 0

    def test_an_undeclared_judge(self, run: Run) -> None:
        with pytest.raises(ValueError, match="fake:stranger"):
            declare(run, FakeJudge(spec="fake:stranger"), QUESTIONS, GATE)

    def test_another_question_while_declaring(self, run: Run) -> None:
        declare(run, FakeJudge(), QUESTIONS, GATE)
        with pytest.raises(InputError, match="gate question questions 1 text"):
            declare(run, FakeJudge(), QUESTIONS, QUESTIONS[0].questions[0])


class Watcher:
    """Progress that keeps what it was told and may act on it."""

    def __init__(self, on_advance: Callable[[int], object] = lambda done: None) -> None:
        self.told: list[tuple[object, ...]] = []
        self.done = 0
        self.on_advance = on_advance

    def start(self, description: str, *, total: int, done: int) -> None:
        self.told.append((description, total, done))

    def advance(self, count: int) -> None:
        self.done += count
        self.on_advance(self.done)

    def finish(self) -> None:
        self.told.append(("finish", self.done))

    def note(self, message: str) -> None:
        self.told.append(("note", message))


class TestProgress:
    def test_counts_what_is_recorded(self, run: Run) -> None:
        watcher = Watcher()
        request(run, images=1)
        generate(run, FakeGenerator(), progress=watcher)
        request(run, images=3)
        generate(run, FakeGenerator(), progress=watcher)
        asked(run, progress=watcher)
        assert watcher.told == [
            ("Images", 9, 0),
            ("finish", 9),
            ("Images", 27, 9),
            ("finish", 27),
            ("Answers", 27, 0),
            ("finish", 54),
        ]

    def test_is_silent_when_there_is_nothing_to_do(self, run: Run) -> None:
        made(run)
        asked(run)
        watcher = Watcher()
        generate(run, FakeGenerator(), progress=watcher)
        asked(run, progress=watcher)
        assert watcher.told == []


class Signalling(FakeGenerator):
    """Sends this process signals in the midst of its second batch."""

    signals: tuple[signal.Signals, ...] = (signal.SIGINT,)

    def generate(self, prompts, seeds):
        pictures = super().generate(prompts, seeds)
        if len(self.batches) == 2:
            for number in self.signals:
                os.kill(os.getpid(), number)
                time.sleep(0.01)
        return pictures


class TestInterruption:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_finishes_the_batch_and_says_how_to_go_on(self, run: Run, number) -> None:
        before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
        generator, watcher = Signalling(), Watcher()
        generator.signals = (number,)
        request(run)
        with pytest.raises(Interrupted, match="rerun the same command") as stopped:
            generate(run, generator, progress=watcher)
        assert stopped.value.exit_code == 130
        assert len(run.ledger.images()) == 8
        assert any(told[0] == "note" and "Ctrl-C again" in str(told[1]) for told in watcher.told)
        assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
        assert generate(run, FakeGenerator()) == WANTED - 8

    def test_a_second_time_stops_at_once(self, run: Run) -> None:
        generator = Signalling()
        generator.signals = (signal.SIGINT, signal.SIGINT)
        request(run)
        with pytest.raises(Interrupted, match="at once"):
            generate(run, generator)
        assert len(run.ledger.images()) == 4
        assert generate(run, FakeGenerator()) == WANTED - 4

    def test_while_asking(self, run: Run) -> None:
        made(run)
        watcher = Watcher(on_advance=lambda done: done == 10 and os.kill(os.getpid(), 2))
        with pytest.raises(Interrupted):
            asked(run, progress=watcher)
        assert run.answers("fake:judge")["image"].nunique() == 10
        assert len(asked(run).calls) == 4

    def test_work_off_the_main_thread_leaves_signals_alone(self, tmp_path: Path) -> None:
        done = []

        def work() -> None:
            with opened(tmp_path / "run") as run:
                made(run)
                done.append(len(run.ledger.images()))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert done == [WANTED]

    def test_ctrl_c_of_a_whole_program(self, tmp_path: Path) -> None:
        command = [sys.executable, "-m", "tests.build_fakes", str(tmp_path / "run"), "0.05"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            while not (tmp_path / "run.generated").exists():
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, words = process.communicate()
        assert process.returncode == 130
        assert words.strip() == "stopped; rerun the same command to resume"
        assert subprocess.run(command).returncode == 0
        generated = (tmp_path / "run.generated").read_text().splitlines()
        assert len(generated) == len(set(generated)) == 72 / 4
