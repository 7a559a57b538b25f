from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from biasgraph.errors import InputError
from biasgraph.models.base import Question
from biasgraph.models.human import HumanJudge, Labels
from biasgraph.models.pixels import pixels_digest
from biasgraph.models.registry import load_judge

GENDER = Question("Gender?", ("male", "female"), ("a man", "a woman"))
AGE = Question("Age?", ("young", "old"), ("a young one", "an old one"))
RED, BLUE = (Image.new("RGB", (3, 2), colour) for colour in ("red", "blue"))


def write(path: Path, *rows: str, heading: str = "picture,question,answer") -> Path:
    path.write_text("\n".join([heading, *rows]) + "\n", encoding="utf-8")
    return path


def row(picture: Image.Image, question: Question, answer: str, *more: str) -> str:
    return ",".join([pixels_digest(picture), question.text, answer, *more])


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return write(
        tmp_path / "labels.csv",
        row(RED, GENDER, "female"),
        row(RED, AGE, "unknown"),
        row(BLUE, GENDER, " Male "),
    )


def test_labels_are_answers_without_probabilities(labels: Path) -> None:
    judge = load_judge(f"human:{labels}")
    answers = judge.answer([RED, BLUE], [GENDER, AGE])
    assert [[one.choice for one in row] for row in answers] == [[1, None], [0, None]]
    assert all(one.probabilities == () for row in answers for one in row)


def test_an_unlabelled_picture_is_unknown(labels: Path) -> None:
    judge = load_judge(f"human:{labels}")
    assert judge.answer([Image.new("RGB", (3, 2))], [GENDER])[0][0].choice is None


def test_a_file_that_grew_is_another_judge(labels: Path) -> None:
    before = load_judge(f"human:{labels}")
    spec = before.spec
    assert load_judge(spec).spec == spec
    with labels.open("a") as file:
        file.write(row(BLUE, AGE, "old") + "\n")
    after = load_judge(f"human:{labels}")
    assert (after.spec != spec) and (after.fingerprint != before.fingerprint)
    with pytest.raises(InputError, match="has changed since"):
        load_judge(spec)


def test_a_file_name_may_hold_an_at_sign(labels: Path) -> None:
    other = labels.rename(labels.with_name("me@home.csv"))
    assert load_judge(f"human:{other}").answer([RED], [GENDER])[0][0].choice == 1


HEADING = "picture,question,answer,annotator"


@pytest.mark.parametrize(
    ("given", "choice"),
    [
        ([("female", "a"), ("female", "b"), ("male", "c")], 1),
        ([("female", "a"), ("male", "b")], None),
        ([("female", "a"), ("male", "a")], 0),  # the same person, later
        ([("female", "a"), ("unknown", "b"), ("unknown", "c")], None),
    ],
)
def test_most_annotators_decide(
    tmp_path: Path, given: list[tuple[str, str]], choice: int | None
) -> None:
    rows = [row(RED, GENDER, answer, annotator) for answer, annotator in given]
    path = write(tmp_path / "labels.csv", *rows, heading=HEADING)
    assert Labels.read(path).answer(pixels_digest(RED), GENDER).choice == choice


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("picture,question,anser\na,b,c\n", r"missing column answer\. Did you mean 'anser'"),
        ("picture,question,answer\na,b,\n", "has no labels"),
        ("picture,question,answer\n,b,c\n", "line 2, column picture: the cell is empty"),
        ("", "is empty"),
    ],
)
def test_what_is_no_file_of_labels(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=problem) as raised:
        load_judge(f"human:{path}")
    assert "\n" not in str(raised.value)


def test_an_answer_that_is_not_offered_is_named_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "labels.csv", row(BLUE, AGE, "old"), row(RED, GENDER, "femal"))
    with pytest.raises(InputError, match=r"line 3, column answer: 'femal'.*Did you mean 'female'"):
        load_judge(f"human:{path}").answer([RED], [GENDER, AGE])


def test_labels_about_other_questions_are_refused(labels: Path) -> None:
    other = Question("Which gender?", GENDER.choices, GENDER.captions)
    with pytest.raises(InputError, match="word for word"):
        load_judge(f"human:{labels}").answer([RED], [other])


@pytest.mark.parametrize("spec", ["human", "human:", "human:missing.csv", "human:a\0b.csv"])
def test_no_file_of_labels(spec: str) -> None:
    with pytest.raises(InputError):
        load_judge(spec)


def test_a_spreadsheets_file_is_read(tmp_path: Path) -> None:
    text = f"\ufeffpicture;question;answer\r\n{pixels_digest(RED)};Gender?;male\r\n"
    (tmp_path / "labels.csv").write_bytes(text.encode())
    judge = HumanJudge(tmp_path / "labels.csv", "human:labels.csv")
    assert judge.answer([RED], [GENDER])[0][0].choice == 0


@pytest.mark.parametrize(
    ("annotators", "by_people"),
    [(["model:a", "model:b"], False), (["model:a", "ada"], True), ([""], True)],
)
def test_models_among_the_annotators_are_told_by_their_names(
    tmp_path: Path, annotators: list[str], by_people: bool
) -> None:
    rows = [row(RED, GENDER, "male", annotator) for annotator in annotators]
    path = write(tmp_path / "read.csv", *rows, heading="picture,question,answer,annotator")
    assert load_judge(f"human:{path}").by_people is by_people
