"""Images of neutral rewordings in a run: resumed, and added to one that was made without."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from biasgraph.errors import ModelError
from biasgraph.models.base import Picture
from biasgraph.runs.directory import open_run, read_run
from biasgraph.runs.ledger import Ledger
from biasgraph.runs.ledger_rows import SCHEMA, SCHEMA_VERSION
from biasgraph.runs.local_engine import ask, generate
from biasgraph.runs.wanted_images import prompt_rows
from tests.fake_models import GATE, QUESTIONS, TARGETS, FakeGenerator, FakeJudge, Prompt, plan_of

CONTROLS = [Prompt("a certain nurse", "control"), Prompt("a nurse who is here", "control")]
IMAGES = 5


@dataclass
class Failing(FakeGenerator):
    """Breaks down after so many batches."""

    after: int = 0

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        if len(self.batches) == self.after:
            raise ModelError("out of memory")
        return super().generate(prompts, seeds)


def built(
    directory: Path, controls: Sequence[Prompt] = CONTROLS, generator: FakeGenerator | None = None
) -> tuple[pd.DataFrame, FakeGenerator, FakeJudge]:
    generator, judge = generator or FakeGenerator(), FakeJudge()
    with open_run(directory, generator=generator, judges=[judge], seed=0) as run:
        plan = [*plan_of("a nurse"), *controls]
        run.request([plan], images=IMAGES, targets=TARGETS, settings={})
        generate(run, generator)
        ask(run, judge, QUESTIONS, GATE, generator=generator)
        return run.answers(judge.spec), generator, judge


def test_controls_are_asked_about_every_axis(tmp_path: Path) -> None:
    table, _, _ = built(tmp_path / "run")
    own = table[table["role"] == "control"]
    assert {*own["axis"]} == {*own["attribute"]} == {""}
    assert {*own["prompt"]} == {"a nurse"}
    assert own.groupby("image")["target"].apply(list).tolist() == [[*TARGETS]] * 2 * IMAGES


def test_everything_else_is_as_without_them(tmp_path: Path) -> None:
    plain, painted, asked = built(tmp_path / "plain", ())
    table, also, also_asked = built(tmp_path / "run")
    others = table[table["role"] != "control"].reset_index(drop=True)
    pd.testing.assert_frame_equal(others, plain)
    assert also.batches[: len(painted.batches) - 1] == painted.batches[:-1]
    assert also_asked.calls[: len(asked.calls) - 1] == asked.calls[:-1]


def test_a_finished_run_gets_exactly_its_controls(tmp_path: Path) -> None:
    plain, _, _ = built(tmp_path / "run", ())
    table, generator, judge = built(tmp_path / "run")
    assert {text for batch in generator.batches for text, _ in batch} == {
        control.text for control in CONTROLS
    }
    assert sum(map(len, generator.batches)) == 3 * generator.batch_size  # 10, in full batches
    assert [len(pixels) for pixels, _ in judge.calls] == [judge.batch_size] * 2
    others = table[table["role"] != "control"].reset_index(drop=True)
    pd.testing.assert_frame_equal(others, plain)
    again, idle, silent = built(tmp_path / "run", ())
    pd.testing.assert_frame_equal(again, plain)
    assert not idle.batches and not silent.calls
    pd.testing.assert_frame_equal(built(tmp_path / "run")[0], table)


@pytest.mark.parametrize("batches", [1, 11, 12, 13])
def test_a_run_that_died_among_its_controls_goes_on(tmp_path: Path, batches: int) -> None:
    table, painted, _ = built(tmp_path / "undisturbed")
    with pytest.raises(ModelError, match="out of memory"):
        built(tmp_path / "run", generator=Failing(after=batches))
    resumed, generator, _ = built(tmp_path / "run")
    pd.testing.assert_frame_equal(resumed, table)
    assert generator.batches == painted.batches[batches:]


def test_a_ledger_of_before_there_were_controls_takes_them(tmp_path: Path) -> None:
    before = SCHEMA.replace("'control', ", "")
    assert before != SCHEMA
    rows = prompt_rows([*plan_of("a nurse"), *CONTROLS])
    path = tmp_path / "ledger.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{before} DROP TABLE fewer; PRAGMA user_version = 2;")
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            connection.execute("INSERT INTO prompts VALUES (?, ?, ?, ?, ?, ?, 0)", rows[-1])
    with closing(Ledger(path)) as ledger:
        ledger.record_request(rows[:-2], images=1, targets=TARGETS)
    untouched = path.read_bytes()
    with closing(Ledger(path)) as ledger:
        ledger.record_request(rows[:-2], images=1, targets=TARGETS)
        assert ledger.requested_prompts() == rows[:-2]
    assert b"'control'" not in untouched + path.read_bytes()
    with closing(Ledger(path)) as ledger:
        ledger.record_request(rows, images=1, targets=TARGETS)
        assert ledger.requested_prompts() == rows
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        connection.execute("PRAGMA foreign_keys = ON")
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            connection.execute("UPDATE prompts SET initial = 'nobody' WHERE role = 'control'")
            connection.commit()


def test_a_run_of_before_there_were_controls_takes_them(tmp_path: Path) -> None:
    built(tmp_path / "run", ())
    with closing(sqlite3.connect(tmp_path / "run" / "ledger.sqlite")) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, '''control'', ', '')")
        connection.commit()
    table, _, _ = built(tmp_path / "run")
    pd.testing.assert_frame_equal(table, built(tmp_path / "fresh")[0])
    with closing(read_run(tmp_path / "run")) as run:
        assert [image.id for image in run.ledger.images()] == [
            image.id for image in run.wanted_images()
        ]
