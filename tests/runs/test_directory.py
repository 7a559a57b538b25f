"""Run directories: what is recorded, what is refused, and that a run is never lost."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.errors import InputError, ModelError
from biasgraph.runs.directory import Run, open_run, read_run
from biasgraph.runs.ledger import Ledger
from biasgraph.runs.local_engine import ask, declare, generate
from biasgraph.runs.record import read_record
from biasgraph.runs.wanted_images import prompt_rows, seed_for
from tests.fake_models import GATE, QUESTIONS, TARGETS, FakeGenerator, FakeJudge, Prompt, plan_of
from tests.hostile import HOSTILE

COLUMNS = [
    "model", "prompt", "role", "axis", "attribute", "image", "target", "answer", "confidence",
]  # fmt: skip


def opened(directory: Path, generator: FakeGenerator | None = None, **changes: object):
    options = {"seed": 0, "judges": [FakeJudge()], **changes}
    return open_run(directory, generator=generator or FakeGenerator(), **options)


def request(run: Run, *, texts=("a nurse",), images: int = 3, questions=QUESTIONS, **changes):
    options = {"settings": {"alpha": 0.05}, "command": ["biasgraph", "build"], **changes}
    plans = [plan_of(text, questions) for text in texts]
    run.request(plans, images=images, targets=[axis.axis for axis in questions], **options)


def build(directory: Path, *, generator=None, judge=None, questions=QUESTIONS, seed=0, **changes):
    """A whole build on the fakes; returns its answers and the generator."""
    generator, judge = generator or FakeGenerator(), judge or FakeJudge()
    with opened(directory, generator, judges=[judge], seed=seed) as run:
        declare(run, judge, questions, GATE)
        request(run, questions=questions, **changes)
        generate(run, generator)
        ask(run, judge, questions, GATE, generator=generator)
        return run.answers(judge.spec), generator


def files_of(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


class TestSeeds:
    def test_are_fixed_for_all_time(self) -> None:
        assert seed_for(0, "sandbox:stereotyped", "a librarian", 0) == 628162820809971080

    @given(st.integers(), st.text(), st.text(), st.integers(min_value=0))
    def test_fit_a_torch_generator(self, seed: int, spec: str, text: str, index: int) -> None:
        assert 0 <= seed_for(seed, spec, text, index) < 2**63

    def test_differ_by_each_part(self) -> None:
        parts = [(0, "m", "p", 0), (1, "m", "p", 0), (0, "n", "p", 0), (0, "m", "q", 0)]
        seeds = {seed_for(*part) for part in [*parts, (0, "m", "p", 1), (0, "mp", "", 0)]}
        assert len(seeds) == 6

    def test_differ_across_prompts_of_a_large_run(self) -> None:
        texts = [f"prompt {number}" for number in range(300)]
        assert len({seed_for(0, "m", text, i) for text in texts for i in range(100)}) == 30_000

    def test_do_not_come_from_the_folder(self, tmp_path: Path) -> None:
        first, _ = build(tmp_path / "a")
        second, _ = build(tmp_path / "elsewhere" / "b")
        assert first.equals(second)


class TestPromptIds:
    def test_depend_on_role_and_owner(self) -> None:
        plans = [
            [Prompt("a nurse"), Prompt("a male nurse", "counterfactual", "gender", "male")],
            [Prompt("a male nurse"), Prompt("a male nurse", "counterfactual", "gender", "male")],
        ]
        rows = [row for plan in plans for row in prompt_rows(plan)]
        assert len({row.id for row in rows}) == 4
        assert [row.initial for row in rows] == [rows[0].id, rows[0].id, rows[2].id, rows[2].id]


class TestRecord:
    def test_says_what_the_run_was_made_with(self, tmp_path: Path) -> None:
        build(tmp_path / "run", seed=7, command=["biasgraph", "build", "--seed", "7"])
        record = json.loads((tmp_path / "run" / "run.json").read_text())
        assert record["schema"] == "biasgraph-run/1"
        assert record["seed"] == 7
        assert record["generator"] == {
            "spec": "fake:painter",
            "fingerprint": "1" * 16,
            "settings": {"steps": 8},
        }
        assert record["judges"]["fake:judge"]["settings"] == {"threshold": 0.5}
        (build_record,) = record["builds"]
        assert build_record["command"] == ["biasgraph", "build", "--seed", "7"]
        assert build_record["settings"] == {"alpha": 0.05}
        assert {"python", "numpy", "torch"} <= build_record["versions"].keys()

    def test_is_not_written_again_by_the_same_build(self, tmp_path: Path) -> None:
        build(tmp_path / "run")
        before = (tmp_path / "run" / "run.json").stat().st_mtime_ns
        build(tmp_path / "run")
        assert (tmp_path / "run" / "run.json").stat().st_mtime_ns == before

    def test_other_analysis_settings_are_added(self, tmp_path: Path) -> None:
        build(tmp_path / "run")
        _, generator = build(tmp_path / "run", settings={"alpha": 0.01})
        assert generator.batches == []
        record = json.loads((tmp_path / "run" / "run.json").read_text())
        assert [each["settings"] for each in record["builds"]] == [{"alpha": 0.05}, {"alpha": 0.01}]


class TestSecondBuild:
    def test_the_same_does_no_model_work(self, tmp_path: Path) -> None:
        first, _ = build(tmp_path / "run")
        judge = FakeJudge()
        second, generator = build(tmp_path / "run", judge=judge)
        assert generator.batches == [] and judge.calls == []
        assert second.equals(first)

    def test_more_images_leave_the_old_as_they_were(self, tmp_path: Path) -> None:
        few, first = build(tmp_path / "run", images=2)
        many, second = build(tmp_path / "run", images=5)
        made = {item for generator in (first,) for batch in generator.batches for item in batch}
        again = {item for batch in second.batches for item in batch}
        assert not made & again
        assert len(again) == 3 * 9
        kept = many[many["image"].isin(few["image"])].reset_index(drop=True)
        assert kept.equals(few)

    def test_fewer_images_show_the_first_ones(self, tmp_path: Path) -> None:
        many, _ = build(tmp_path / "run", images=5)
        few, generator = build(tmp_path / "run", images=2)
        assert generator.batches == []
        assert few.equals(many[many["image"].str[-4:] < "0002"].reset_index(drop=True))

    def test_more_axes_extend_the_run(self, tmp_path: Path) -> None:
        build(tmp_path / "run", questions=QUESTIONS[:1])
        judge = FakeJudge()
        table, generator = build(tmp_path / "run", judge=judge)
        whole, _ = build(tmp_path / "whole")
        assert table.equals(whole)
        new = {item for batch in generator.batches for item in batch}
        assert len(new) == 3 * 6
        assert all(len(batch) == 4 for batch in generator.batches)
        # Old images are not asked the gate question or about gender again.
        assert {len(texts) for _, texts in judge.calls} == {3, 5}

    def test_more_prompts_extend_the_run(self, tmp_path: Path) -> None:
        build(tmp_path / "run", texts=["a nurse"])
        table, generator = build(tmp_path / "run", texts=["a cook", "a nurse"])
        whole, _ = build(tmp_path / "whole", texts=["a cook", "a nurse"])
        assert table.equals(whole)
        assert {text.split(",")[0] for batch in generator.batches for text, _ in batch} == {
            "a cook"
        }
        assert list(dict.fromkeys(table["prompt"])) == ["a cook", "a nurse"]

    def test_another_judge_stands_beside_the_first(self, tmp_path: Path) -> None:
        first, _ = build(tmp_path / "run")
        second, generator = build(tmp_path / "run", judge=FakeJudge(spec="fake:second"))
        assert generator.batches == []
        assert second["image"].equals(first["image"])
        again, _ = build(tmp_path / "run")
        assert again.equals(first)

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"seed": 1}, "seed was 0 and is now 1"),
            (
                {"generator": FakeGenerator(spec="fake:other", fingerprint="9", settings={})},
                'model was "fake:painter" and is now "fake:other";',
            ),
            (
                {"generator": FakeGenerator(fingerprint="9" * 16)},
                'model fingerprint was "1111111111111111" and is now "9999999999999999"',
            ),
            (
                {"generator": FakeGenerator(settings={"steps": 20, "eta": 0.0})},
                "model settings steps was 8 and is now 20, "
                "model settings eta was not set and is now 0.0",
            ),
            (
                {"judge": FakeJudge(settings={"threshold": 0.6})},
                "judge fake:judge settings threshold was 0.5 and is now 0.6",
            ),
            (
                {"judge": FakeJudge(fingerprint="8")},
                'judge fake:judge fingerprint was "2222222222222222" and is now "8"',
            ),
        ],
        ids=["seed", "model", "weights", "sampler", "judge option", "judge weights"],
    )
    def test_another_setting_is_refused_by_name(self, tmp_path: Path, changes, words: str) -> None:
        build(tmp_path / "run")
        before = files_of(tmp_path / "run")
        with pytest.raises(InputError) as refusal:
            build(tmp_path / "run", **changes)
        message = str(refusal.value)
        assert words in message and str(tmp_path / "run") in message
        assert "-o" in message and "--fresh" in message and "\n" not in message
        assert files_of(tmp_path / "run") == before

    def test_another_question_is_refused_by_name(self, tmp_path: Path) -> None:
        from dataclasses import replace

        build(tmp_path / "run")
        gender = QUESTIONS[0]
        words = replace(gender.questions[0], choices=("m", "x"))
        changed = [replace(gender, questions=(words,)), *QUESTIONS[1:]]
        before = files_of(tmp_path / "run")
        with pytest.raises(
            InputError, match='question about gender questions 1 choices 2 was "f" and is now "x"'
        ):
            build(tmp_path / "run", questions=changed)
        assert files_of(tmp_path / "run") == before


class TestFresh:
    def test_moves_the_old_run_aside_and_deletes_nothing(self, tmp_path: Path) -> None:
        build(tmp_path / "run")
        (tmp_path / "run" / "answers.csv").write_text("mine")
        before = files_of(tmp_path / "run")
        for seed in (1, 2):
            with opened(tmp_path / "run", seed=seed, fresh=True) as run:
                assert run.moved_to is not None and run.moved_to.parent == tmp_path
                assert run.ledger.images() == []
                if seed == 1:
                    assert files_of(run.moved_to) == before
        assert len(list(tmp_path.iterdir())) == 3

    def test_a_model_that_is_not_to_be_had_changes_nothing(self, tmp_path: Path) -> None:
        class Unreachable:
            spec = "vlm:owner/model"

            @property
            def fingerprint(self) -> str:
                raise ModelError("the hub cannot be reached")

        build(tmp_path / "run")
        before = files_of(tmp_path)
        for directory in (tmp_path / "run", tmp_path / "new"):
            with (
                pytest.raises(ModelError, match="cannot be reached"),
                opened(directory, judges=[Unreachable()], fresh=True),
            ):
                pass
        assert files_of(tmp_path) == before
        assert not (tmp_path / "new").exists()

    def test_with_nothing_there_is_a_new_run(self, tmp_path: Path) -> None:
        with opened(tmp_path / "run", fresh=True) as run:
            assert run.moved_to is None

    def test_the_new_run_is_locked(self, tmp_path: Path) -> None:
        build(tmp_path / "run")
        with (
            opened(tmp_path / "run", fresh=True),
            pytest.raises(ModelError, match="another process"),
            opened(tmp_path / "run"),
        ):
            pass
        with opened(tmp_path / "run"):
            pass

    def test_does_not_touch_what_is_no_run(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.txt").write_text("years of work")
        with pytest.raises(InputError, match="not a biasgraph run"), opened(tmp_path, fresh=True):
            pass
        assert files_of(tmp_path) == {"thesis.txt": b"years of work"}

    def test_moves_a_run_of_a_newer_biasgraph_too(self, tmp_path: Path) -> None:
        run = tmp_path / "run"
        run.mkdir()
        (run / "run.json").write_text('{"schema": "biasgraph-run/9"}')
        with opened(run, fresh=True) as opened_run:
            assert opened_run.moved_to is not None


class TestRefusedDirectories:
    def test_not_a_run(self, tmp_path: Path) -> None:
        (tmp_path / "holiday.jpg").write_bytes(b"x")
        with pytest.raises(InputError, match="not empty and not a biasgraph run"), opened(tmp_path):
            pass
        assert files_of(tmp_path) == {"holiday.jpg": b"x"}

    @pytest.mark.parametrize(
        "text", ["", "{", "[]", "{}", '{"schema": 1}', '{"schema": "x/1"}', "\ufeff\x00"]
    )
    def test_a_run_json_of_something_else(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "run.json").write_text(text)
        for fresh in (False, True):
            with (
                pytest.raises(InputError, match=r"run\.json is not the record"),
                opened(tmp_path, fresh=fresh),
            ):
                pass
        assert files_of(tmp_path) == {"run.json": text.encode()}

    def test_a_run_json_that_is_not_whole(self, tmp_path: Path) -> None:
        (tmp_path / "run.json").write_text('{"schema": "biasgraph-run/1", "seed": 0}')
        with pytest.raises(InputError, match=r"run\.json is not the record"), opened(tmp_path):
            pass
        with pytest.raises(InputError, match=r"run\.json is not the record"):
            read_run(tmp_path)

    def test_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "run").write_text("x")
        with pytest.raises(InputError, match="is a file"), opened(tmp_path / "run"):
            pass

    def test_a_newer_record_names_both_versions(self, tmp_path: Path) -> None:
        (tmp_path / "run.json").write_text('{"schema": "biasgraph-run/2", "anything": []}')
        with pytest.raises(InputError, match=r"version 2.*version 1"), opened(tmp_path):
            pass
        with pytest.raises(InputError, match=r"version 2.*version 1"):
            read_run(tmp_path)

    def test_a_newer_ledger_names_both_versions_and_changes_nothing(self, tmp_path: Path) -> None:
        build(tmp_path)
        with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
            connection.execute("PRAGMA user_version = 9")
        connection.close()
        before = files_of(tmp_path)
        with (
            pytest.raises(InputError, match=r"version 9.*version 3"),
            opened(tmp_path, judges=[FakeJudge(spec="fake:new")]),
        ):
            pass
        assert files_of(tmp_path) == before

    def test_what_a_death_at_the_start_leaves_is_no_obstacle(self, tmp_path: Path) -> None:
        (tmp_path / "run.lock").touch()
        (tmp_path / "run.json.tmp").write_text('{"schema": "bias')
        table, _ = build(tmp_path)
        assert len(table) == 3 * 9 * 3

    def test_reading_what_is_no_run(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="is not a biasgraph run"):
            read_run(tmp_path)

    def test_no_images_and_text_that_is_none(self, tmp_path: Path) -> None:
        with opened(tmp_path) as run:
            with pytest.raises(InputError, match="at least 1"):
                request(run, images=0)
            with pytest.raises(InputError, match="not valid Unicode"):
                request(run, texts=["a nurse \udcff"])
            assert run.wanted_images() == []


class TestLock:
    def test_keeps_a_second_process_out_and_dies_with_the_first(self, tmp_path: Path) -> None:
        script = (
            "import sys, time\n"
            "from tests.runs.test_directory import *\n"
            "with opened(Path(sys.argv[1])):\n"
            "    print('inside', flush=True)\n"
            "    time.sleep(60)\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "run")], stdout=subprocess.PIPE
        ) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline().strip() == b"inside"
            with pytest.raises(ModelError) as refusal, opened(tmp_path / "run"):
                pass
            assert str(tmp_path / "run") in str(refusal.value)
            holder.kill()
        with opened(tmp_path / "run"):
            pass

    def test_is_given_back_after_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(ZeroDivisionError), opened(tmp_path):
            raise ZeroDivisionError
        with pytest.raises(InputError), opened(tmp_path, seed=9):
            pass
        with opened(tmp_path):
            pass


class TestMachineErrors:
    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes all")
    def test_an_unwritable_directory(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        with pytest.raises(ModelError, match="Permission denied"), opened(tmp_path / "run"):
            pass

    def test_a_directory_under_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(ModelError, match="cannot work in"), opened(tmp_path / "file" / "run"):
            pass

    def test_a_disk_that_fills_with_images(self, tmp_path: Path, monkeypatch) -> None:
        calls = iter(range(100))
        whole_replace = os.replace

        def replace(source: Path, target: Path) -> None:
            if target.suffix == ".png" and next(calls) >= 6:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
            whole_replace(source, target)

        monkeypatch.setattr(os, "replace", replace)
        with pytest.raises(ModelError, match=r"No space left.*make room") as error:
            build(tmp_path / "run")
        assert "\n" not in str(error.value)
        assert not list((tmp_path / "run" / "images").glob("*.tmp"))
        monkeypatch.undo()
        table, generator = build(tmp_path / "run")
        assert sum(map(len, generator.batches)) == 27 - 4 + 1  # one batch was kept, one padded
        assert table.equals(build(tmp_path / "whole")[0])

    @pytest.mark.slow(reason="a disk that fills")
    @pytest.mark.parametrize("pages", [34, 40])
    def test_a_disk_that_fills_with_the_ledger(self, tmp_path: Path, pages: int) -> None:
        generator, judge = FakeGenerator(), FakeJudge()
        with opened(tmp_path / "run") as run:
            request(run, images=40)
            run.ledger._connection.execute(f"PRAGMA max_page_count = {pages}")
            with pytest.raises(ModelError, match="database or disk is full; what is done is kept"):
                generate(run, generator)
                ask(run, judge, QUESTIONS, GATE, generator=generator)
            kept = len(run.ledger.images())
        assert kept > 0
        table, again = build(tmp_path / "run", images=40)
        assert sum(map(len, again.batches)) == 40 * 9 - kept
        assert table.equals(build(tmp_path / "whole", images=40)[0])

    def test_a_ledger_that_is_none(self, tmp_path: Path) -> None:
        build(tmp_path)
        (tmp_path / "ledger.sqlite").write_bytes(b"not a database, by a long way" * 100)
        with (
            pytest.raises(ModelError, match=r"ledger\.sqlite is damaged.*--fresh"),
            opened(tmp_path),
        ):
            pass

    def test_reading_a_run_that_lost_its_ledger(self, tmp_path: Path) -> None:
        build(tmp_path)
        (tmp_path / "ledger.sqlite").unlink()
        with pytest.raises(ModelError, match="unable to open database file"):
            read_run(tmp_path)

    @pytest.mark.parametrize("step", range(0, 47, 3))
    def test_a_death_at_any_write_is_made_good(
        self, tmp_path: Path, monkeypatch, step: int
    ) -> None:
        """Every place that writes dies once; the next build ends as if nothing had been."""

        class Death(BaseException):
            pass

        count = iter(range(1000))

        def dying(action):
            def act(*arguments, **options):
                if next(count) == step:
                    raise Death
                return action(*arguments, **options)

            return act

        monkeypatch.setattr(os, "replace", dying(os.replace))
        for method in ("add_images", "add_answers", "record_request", "add_questions", "plan"):
            monkeypatch.setattr(Ledger, method, dying(getattr(Ledger, method)))
        with pytest.raises(Death):
            build(tmp_path / "run")
        monkeypatch.undo()
        table, _ = build(tmp_path / "run")
        assert table.equals(build(tmp_path / "whole")[0])


class TestAnswers:
    def test_has_the_columns_and_order_of_the_hinge_table(self, tmp_path: Path) -> None:
        table, _ = build(tmp_path, texts=["a nurse", "a cook"])
        assert list(table.columns) == COLUMNS
        assert set(table["model"]) == {"fake:painter"}
        assert len(table) == 2 * 9 * 3 * 3
        assert table[["image", "target"]].duplicated().sum() == 0
        keys = table[["prompt", "role", "axis", "attribute"]].drop_duplicates().to_numpy().tolist()
        expected = [
            [text, prompt.role, prompt.axis, prompt.attribute]
            for text in ("a nurse", "a cook")
            for prompt in plan_of(text)
        ]
        assert keys == expected
        assert list(table["target"][:3]) == list(TARGETS)
        assert table["confidence"].between(0, 1).all()

    def test_gated_and_unknown_are_answers(self, tmp_path: Path) -> None:
        table, _ = build(tmp_path, images=30)
        gated = table[table["answer"] == "gated"]
        assert 0 < len(gated) < len(table) / 4
        assert set(gated.groupby("image").size()) == {3}
        assert (table["answer"] == "unknown").any()
        assert set(table["answer"][table["target"] == "disability"]) == {
            "blind", "wheelchair", "fit", "unknown", "gated",
        }  # fmt: skip

    def test_other_prompts_are_never_in_the_table(self, tmp_path: Path) -> None:
        generator, judge = FakeGenerator(), FakeJudge()
        with opened(tmp_path) as run:
            plan = [*plan_of("a nurse"), Prompt("a nurse at work", "other")]
            run.request([plan], images=2, targets=TARGETS, settings={})
            assert generate(run, generator) == 20
            assert ask(run, judge, QUESTIONS, GATE, generator=generator) == 20
            assert run.answers(judge.spec)["image"].nunique() == 18

    def test_two_identical_pictures_stay_two_images(self, tmp_path: Path) -> None:
        class Painter(FakeGenerator):
            def _draw(self, prompt: str, seed: int):
                return super()._draw("one", 0)

        table, _ = build(tmp_path, generator=Painter())
        assert table["image"].nunique() == 27
        assert len(list((tmp_path / "images").iterdir())) == 1

    def test_a_run_can_be_read_while_it_is_written_and_after(self, tmp_path: Path) -> None:
        table, _ = build(tmp_path)
        with opened(tmp_path):
            run = read_run(tmp_path)
            assert run.answers("fake:judge").equals(table)
            assert run.settings == {"alpha": 0.05} and run.model == "fake:painter"
            assert all(run.image_path(image).exists() for image in run.ledger.images())
            run.close()

    def test_hostile_text_travels_unchanged(self, tmp_path: Path) -> None:
        texts = [text for text in HOSTILE if not any("\ud800" <= c <= "\udfff" for c in text)]
        table, _ = build(tmp_path, texts=texts, images=1, questions=QUESTIONS[:1])
        assert list(dict.fromkeys(table["prompt"])) == list(dict.fromkeys(texts))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_in_the_place_of_the_record_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.json")
    with pytest.raises(InputError, match=r"run\.json: it is not a regular file"):
        read_record(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_among_the_pictures_is_a_damaged_picture(tmp_path: Path) -> None:
    build(tmp_path)
    path = next((tmp_path / "images").glob("*.png"))
    path.unlink()
    os.mkfifo(path)
    with closing(read_run(tmp_path)) as run:
        damaged = run.damaged_images()
        assert {run.image_path(image) for image in damaged} == {path}
        assert all(run.read_image(image) is None for image in damaged)


@pytest.mark.parametrize(
    ("place", "value", "field"),
    [
        (("generator", "spec"), 7, r"generator\.spec"),
        (("judges",), [], "judges"),
        (("generator", "other"), 7, r"generator\.other"),
        (("seed",), "0", "seed"),
        (("builds", 0, "settings", "models"), [], r"builds\.0\.settings\.models"),
        (("builds", 0, "settings"), None, r"builds\.0\.settings"),
    ],
)
def test_a_record_that_somebody_edited_is_refused_by_field(
    tmp_path: Path, place: tuple[str | int, ...], value: object, field: str
) -> None:
    build(tmp_path)
    record = json.loads((tmp_path / "run.json").read_bytes())
    *above, key = place
    part = record
    for step in above:
        part = part[step]
    part[key] = value
    (tmp_path / "run.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match=rf"run\.json is damaged: {field}: "):
        read_run(tmp_path)
    with pytest.raises(InputError, match=r"run\.json is damaged"), opened(tmp_path):
        pass
