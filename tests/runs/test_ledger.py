"""The ledger alone: its schema, transactions and what it refuses."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from biasgraph.errors import InputError, ModelError
from biasgraph.runs.ledger import Ledger
from biasgraph.runs.ledger_rows import (
    GIVEN,
    LOOKED_AT,
    SCHEMA,
    SCHEMA_VERSION,
    AnswerRow,
    FileRow,
    MadeImage,
    NewImage,
    PromptRow,
)
from biasgraph.runs.storage import storing
from biasgraph.runs.wanted_images import image_id

INITIAL = PromptRow("p0", "p0", "a nurse", "initial", "", "")
OLD = PromptRow("p1", "p0", "an old nurse", "counterfactual", "age", "old")
FILE = FileRow("f0", 10, 1)
WHOLE = FileRow(64 * "f", 10, 1)


@pytest.fixture
def ledger(tmp_path: Path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.record_request([INITIAL, OLD], images=2, targets=["age", "gender"])
    yield ledger
    ledger.close()


def picture(prompt: str, number: int) -> NewImage:
    return NewImage(image_id(prompt, number), prompt, "a nurse", number, 2**63 - 1)


def made(*prompts: str) -> list[tuple[NewImage, MadeImage]]:
    """The first image of each prompt, all in the same file."""
    return [(picture(prompt, 0), MadeImage(FILE)) for prompt in prompts]


def test_settings_of_the_file(tmp_path: Path, ledger: Ledger) -> None:
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as connection:
        ask = connection.execute
        assert ask("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ask("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert ask("PRAGMA foreign_key_check").fetchall() == []


def test_a_newer_schema_is_refused_naming_both_versions(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    with pytest.raises(InputError, match=r"version 7.*up to version 3"):
        Ledger(path)


def test_a_version_that_never_was_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = -1")
    with pytest.raises(InputError, match=r"ledger\.sqlite is damaged: schema version -1"):
        Ledger(path)


def test_an_image_of_another_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with closing(Ledger(path)) as ledger:
        ledger.record_request([INITIAL], images=2, targets=[])
        plan = ledger.plan("images", "a")
        ledger.add_images(
            [(picture("p0", number), MadeImage(WHOLE)) for number in (0, 1)], plan=plan
        )
    Ledger(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE images SET id = 'p0-0007' WHERE number = 1")
    with pytest.raises(InputError, match="table images has a row with impossible values"):
        Ledger(path)


def test_a_link_to_itself_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").symlink_to("ledger.sqlite")
    with pytest.raises(ModelError, match="unable to open"), storing(tmp_path):
        Ledger(tmp_path / "ledger.sqlite", read_only=True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
@pytest.mark.parametrize("read_only", [False, True])
def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path, read_only: bool) -> None:
    os.mkfifo(tmp_path / "ledger.sqlite")
    with pytest.raises(InputError, match=r"cannot read .*ledger\.sqlite: it is not a regular file"):
        Ledger(tmp_path / "ledger.sqlite", read_only=read_only)


def test_a_schema_cut_short_is_begun_again(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "ledger.sqlite"
    monkeypatch.setattr(
        "biasgraph.runs.ledger.SCHEMA", "CREATE TABLE prompts (id);\nCREATE nonsense;\n"
    )
    with pytest.raises(sqlite3.OperationalError):
        Ledger(path)
    monkeypatch.undo()
    ledger = Ledger(path)
    assert ledger.requested_prompts() == []
    ledger.close()


def test_a_transaction_is_kept_whole_or_not_at_all(ledger: Ledger) -> None:
    plan = ledger.plan("images", "a")
    ledger.add_images([(picture("p0", 0), MadeImage(FILE))], plan=plan)
    with pytest.raises(sqlite3.IntegrityError):
        ledger.add_images(
            [(picture("p1", 0), MadeImage(FILE)), (picture("p0", 0), MadeImage(FILE))], plan=plan
        )
    assert [image.id for image in ledger.images()] == ["p0-0000"]


@pytest.mark.parametrize(
    "answer", [AnswerRow(99, 1, "old"), AnswerRow(1, 99, "old")], ids=["image", "question"]
)
def test_foreign_keys_are_enforced(ledger: Ledger, answer: AnswerRow) -> None:
    plan = ledger.plan("images", "a")
    ledger.add_images([(picture("p0", 0), MadeImage(FILE))], plan=plan)
    ledger.add_questions("judge", {"age": "{}"})
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        ledger.add_answers([answer], plan=plan)


def test_two_identical_pictures_stay_two_images(ledger: Ledger) -> None:
    plan = ledger.plan("images", "a")
    ledger.add_images(made("p0", "p1"), plan=plan)
    assert [(image.id, image.file) for image in ledger.images()] == [
        ("p0-0000", FILE),
        ("p1-0000", FILE),
    ]


def test_seeds_of_63_bits_come_back(ledger: Ledger) -> None:
    ledger.add_images([(picture("p0", 0), MadeImage(FILE))], plan=ledger.plan("images", "a"))
    assert ledger.images()[0].seed == 2**63 - 1


def test_images_come_number_by_number_and_only_the_requested(ledger: Ledger) -> None:
    pictures = [picture(prompt, number) for prompt in ("p1", "p0") for number in (2, 1, 0)]
    ledger.add_images(
        [(image, MadeImage(FILE)) for image in pictures], plan=ledger.plan("images", "a")
    )
    assert [image.id for image in ledger.images()] == ["p0-0000", "p1-0000", "p0-0001", "p1-0001"]
    ledger.record_request([OLD], images=3, targets=["age"])
    assert [image.id for image in ledger.images()] == ["p1-0000", "p1-0001", "p1-0002"]


def test_prompts_may_want_fewer_images_than_others(ledger: Ledger) -> None:
    pictures = [picture(prompt, number) for prompt in ("p0", "p1") for number in range(3)]
    ledger.add_images(
        [(image, MadeImage(FILE)) for image in pictures], plan=ledger.plan("images", "a")
    )
    ledger.record_request([INITIAL, OLD], images=3, targets=["age"], fewer={"p1": 1})
    assert ledger.requested_images() == {"p0": 3, "p1": 1} and ledger.fewer() == {"p1": 1}
    assert [image.id for image in ledger.images()] == ["p0-0000", "p1-0000", "p0-0001", "p0-0002"]
    ledger.record_request([INITIAL, OLD], images=2, targets=["age"])
    assert ledger.requested_images() == {"p0": 2, "p1": 2} and ledger.fewer() == {}


def test_a_ledger_of_the_second_version_is_read_as_it_is(ledger: Ledger, tmp_path: Path) -> None:
    images = [(picture(prompt, 0), MadeImage(WHOLE)) for prompt in ("p0", "p1")]
    ledger.add_images(images, plan=ledger.plan("images", "a"))
    ledger.close()
    path = tmp_path / "ledger.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TABLE fewer; PRAGMA user_version = 2;")
    before = path.read_bytes()
    with closing(Ledger(path, read_only=True)) as reader:
        assert [image.id for image in reader.images()] == ["p0-0000", "p1-0000"]
        assert reader.fewer() == {} and reader.withheld() == {}
    assert path.read_bytes() == before
    with closing(Ledger(path)) as writer:
        writer.record_request([INITIAL, OLD], images=3, targets=["age"], fewer={"p1": 1})
        assert writer.requested_images() == {"p0": 3, "p1": 1}


def test_a_plan_goes_on_until_another_one_begins(ledger: Ledger) -> None:
    first = ledger.plan("images", "a")
    assert ledger.plan("images", "a") == first
    assert ledger.plan("answers", "a") != first
    assert ledger.plan("images", "b") != first
    assert ledger.plan("images", "a") not in (first, ledger.plan("images", "b"))


def test_a_changed_file_costs_the_answers_an_equal_one_does_not(ledger: Ledger) -> None:
    plan = ledger.plan("images", "a")
    ledger.add_images(made("p0", "p1"), plan=plan)
    ledger.add_questions("judge", {"age": "{}"})
    same, changed = ledger.images()
    ledger.add_answers([AnswerRow(same.key, 1, "old"), AnswerRow(changed.key, 1, "old")], plan=plan)
    ledger.replace_files(
        [(same, MadeImage(FileRow("f0", 10, 2))), (changed, MadeImage(FileRow("f1", 11, 3)))]
    )
    assert [image.file for image in ledger.images()] == [
        FileRow("f0", 10, 2),
        FileRow("f1", 11, 3),
    ]
    assert set(ledger.read_answered("judge")) == {same.key}


def test_paths_with_characters_of_a_uri_work(tmp_path: Path) -> None:
    path = tmp_path / "50% #1?mode=memory" / "ledger.sqlite"
    path.parent.mkdir()
    Ledger(path).close()
    assert path.stat().st_size > 0


def test_a_ledger_opened_for_reading_is_not_written(ledger: Ledger, tmp_path: Path) -> None:
    reader = Ledger(tmp_path / "ledger.sqlite", read_only=True)
    assert reader.requested_targets() == ["age", "gender"]
    with pytest.raises(ModelError, match="readonly"):
        reader.plan("images", "a")
    reader.close()


def test_reading_puts_nothing_beside_a_ledger_at_rest(ledger: Ledger, tmp_path: Path) -> None:
    ledger.close()
    reader = Ledger(tmp_path / "ledger.sqlite", read_only=True)
    assert reader.requested_targets() == ["age", "gender"]
    assert os.listdir(tmp_path) == ["ledger.sqlite"]
    reader.close()


def test_a_picture_that_is_withheld_in_its_remake_loses_its_answers(ledger: Ledger) -> None:
    plan = ledger.plan("images", "a")
    ledger.add_images(made("p0", "p1"), plan=plan)
    ledger.add_questions("judge", {"age": "?"})
    question = ledger.questions("judge")["age"][0]
    first, second = ledger.images()
    ledger.add_answers([AnswerRow(one.key, question, "old") for one in (first, second)], plan=plan)
    ledger.replace_files(
        [(first, MadeImage(FILE, "blocked", "a longer prompt")), (second, MadeImage(FILE))]
    )
    assert [image.withheld for image in ledger.images()] == ["blocked", None]
    assert list(ledger.read_answered("judge")) == [second.key]
    assert ledger.withheld() == {"blocked": 1}
    assert ledger.count_revised() == 1


def test_a_ledger_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    columns = re.compile(r"    (withheld|revised) .*\n")
    with closing(sqlite3.connect(path)) as connection:
        first = columns.sub("", SCHEMA.replace(LOOKED_AT, "").replace(GIVEN, ""))
        connection.executescript(f"{first} PRAGMA user_version = 1;")
    with pytest.raises(InputError, match="made by an earlier biasgraph"):
        Ledger(path, read_only=True)
    with closing(Ledger(path)) as ledger:
        assert ledger.withheld() == {}
        assert ledger.vectors("clip") == {}
        assert ledger.read_given() == {}
    with closing(Ledger(path, read_only=True)) as ledger:
        assert ledger.count_revised() == 0


def test_what_methods_look_at_is_kept(ledger: Ledger) -> None:
    plan = ledger.plan("images", "a")
    ledger.add_images(made("p0", "p1"), plan=plan)
    first, second = ledger.images()
    ledger.add_texts("vlm", "Describe it", [(first.key, "a nurse"), (second.key, "a cook")])
    assert ledger.texts("vlm", "Describe it") == {first.key: "a nurse", second.key: "a cook"}
    assert ledger.texts("vlm", "What is it?") == {}
    ledger.add_vectors("clip", [("f0", b"1234")])
    ledger.add_vectors("clip", [("f0", b"1234"), ("f1", b"5678")])
    assert ledger.vectors("clip") == {"f0": b"1234", "f1": b"5678"}
    ledger.replace_files([(first, MadeImage(FileRow("f9", 1, 1)))])
    assert ledger.texts("vlm", "Describe it") == {second.key: "a cook"}


def test_a_reader_sees_what_a_writer_has_just_written(ledger: Ledger, tmp_path: Path) -> None:
    with closing(Ledger(tmp_path / "ledger.sqlite", read_only=True)) as reader:
        ledger.add_questions("judge", {"age": "{}"})
        assert set(reader.questions("judge")) == {"age"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("UPDATE prompts SET text = x'ff'", "table prompts, column text: not text in every row"),
        ("UPDATE targets SET name = x'00' WHERE position = 0", "column name: not text"),
        ("UPDATE request SET images = 1000000000000", "table request has a row with impossible"),
        ("UPDATE request SET images = 'many'", "table request, column images: not integer"),
        ("DROP TABLE vectors", "table vectors lacks the column what"),
        ("ALTER TABLE texts RENAME COLUMN said TO spoken", "table texts lacks the column said"),
        ("CREATE VIEW other AS SELECT 1", "the view other does not belong there"),
        (
            "CREATE TRIGGER t AFTER INSERT ON plans BEGIN DELETE FROM answers; END",
            "the trigger t does not belong there",
        ),
        (
            "INSERT INTO files VALUES ('../../../etc/passwd', 1, 1)",
            "table files has a row with impossible values",
        ),
        (
            "UPDATE prompts SET initial = 'p9' WHERE id = 'p1'",
            "table prompts has a row about something that prompts lacks",
        ),
        (
            "INSERT INTO answers VALUES (7, 1, 1, 'old', NULL, NULL, NULL)",
            "table answers has a row about something that",
        ),
    ],
)
@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("version", [2, 3])
def test_a_ledger_that_somebody_wrote_into_is_refused(
    ledger: Ledger, tmp_path: Path, change: str, reason: str, version: int, read_only: bool
) -> None:
    ledger.close()
    path = tmp_path / "ledger.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        if version == 2:
            database.executescript("DROP TABLE fewer; PRAGMA user_version = 2;")
        database.execute(change)
    before = path.read_bytes()
    with pytest.raises(InputError, match=reason):
        Ledger(path, read_only=read_only)
    assert path.read_bytes() == before


def test_messages_of_sqlite_that_are_no_text_are_damage(tmp_path: Path) -> None:
    told = r"ledger\.sqlite is damaged \(text that is not UTF-8\)"
    with pytest.raises(ModelError, match=told), storing(tmp_path):
        b"malformed \xc9(".decode()
