"""From the answers table to codes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from biasgraph.causal.tables import GATED, UNKNOWN
from biasgraph.data.answer_codes import MAX_ATTRIBUTES, MAX_AXES, code_images
from biasgraph.data.answers import COLUMNS, Answers
from biasgraph.data.axes import Attribute, Axis, AxisSet
from biasgraph.errors import InputError, printable
from tests.answer_tables import AXES, librarian_table, with_controls
from tests.hostile import HOSTILE, UNWRITABLE
from tests.sampled import sampled


def axis_set() -> AxisSet:
    def axis(name: str, names: tuple[str, ...]) -> Axis:
        attributes = tuple(Attribute(name=n, phrase=n, placement="before") for n in names)
        metric = "ordinal" if name == "age" else "nominal"
        return Axis(name=name, attributes=attributes, metric=metric, question=f"{name}?")

    axes = tuple(axis(name, names) for name, names in {**AXES, "mood": ("glad", "sad")}.items())
    return AxisSet(name="people", subject="person", gate="Is there a person?", axes=axes)


def test_codes_of_a_table_without_axes() -> None:
    frame = librarian_table(images=5)
    coding = code_images(Answers.from_frame(frame))
    [images] = coding.images
    assert coding.notes == []
    assert {v.name: v.attributes for v in images.variables} == AXES
    assert {v.metric for v in images.variables} == {"nominal"}
    assert images.initial.shape == (5, 3)
    assert {arm: codes.shape for arm, codes in images.arms.items()} == {
        (x, a): (5, 3) for x, names in enumerate(AXES.values()) for a in range(len(names))
    }
    decoded = [AXES["age"][code] for code in images.arms[0, 1][:, 1]]
    expected = frame[(frame["attribute"] == "female") & (frame["target"] == "age")]
    assert decoded == expected["answer"].tolist()


def test_an_axis_with_one_answer_is_said_to_have_no_distance() -> None:
    frame = librarian_table(images=5)
    frame = frame[frame["role"] == "initial"].assign(answer=lambda own: own["target"] + "s")
    coding = code_images(Answers.from_frame(frame))
    assert [note.split(":")[0] for note in coding.notes] == list(AXES)
    assert "every answer is genders, so without --axes" in coding.notes[0]


def test_controls_are_no_initial_images() -> None:
    frame = librarian_table(images=5)
    [plain] = code_images(Answers.from_frame(frame)).images
    [images] = code_images(Answers.from_frame(with_controls(frame, images=3))).images
    assert images.controls.shape == (3, 3)
    np.testing.assert_array_equal(images.initial, plain.initial)
    assert images.arms.keys() == plain.arms.keys()
    assert plain.controls.shape == (0, 3)


def test_the_order_of_rows_changes_nothing_but_the_order_of_names() -> None:
    frame = librarian_table(images=12)
    shuffled = frame.sample(frac=1, random_state=1)
    [one] = code_images(Answers.from_frame(frame), axis_set()).images
    [other] = code_images(Answers.from_frame(shuffled), axis_set()).images
    np.testing.assert_array_equal(one.initial, other.initial)
    assert one.arms.keys() == other.arms.keys()
    for arm in one.arms:
        np.testing.assert_array_equal(one.arms[arm], other.arms[arm])


def test_unknown_gated_missing_and_unlisted_answers() -> None:
    frame = pd.DataFrame(
        [
            ("m", "p", "counterfactual", "gender", "male", "m1", "gender", "male"),
            ("m", "p", "counterfactual", "gender", "female", "f1", "gender", "woman"),
            ("m", "p", "initial", None, None, "i1", "gender", "unknown"),
            ("m", "p", "initial", None, None, "i2", "gender", "gated"),
            ("m", "p", "initial", None, None, "i2", "mood", "glad"),
            ("m", "p", "initial", None, None, "i3", "mood", "sad"),
        ],
        columns=list(COLUMNS),
    )
    coding = code_images(Answers.from_frame(frame))
    [images] = coding.images
    assert [v.attributes for v in images.variables] == [("male", "female"), ("glad", "sad")]
    assert images.initial.tolist() == [[UNKNOWN, UNKNOWN], [GATED, 0], [UNKNOWN, 1]]
    assert {arm: codes.tolist() for arm, codes in images.arms.items()} == {
        (0, 0): [[0, UNKNOWN]],
        (0, 1): [[UNKNOWN, UNKNOWN]],
    }
    assert coding.notes == ["gender: 1 unlisted answer counted as unknown (woman)"]
    with pytest.raises(InputError, match=r"row 2, column answer: 'woman' is not an attribute of"):
        code_images(Answers.from_frame(frame), unlisted="error")


def test_an_intervention_that_was_never_asked_about() -> None:
    frame = librarian_table(images=4)
    frame = frame[frame["target"] != "age"]
    [images] = code_images(Answers.from_frame(frame)).images
    assert [v.name for v in images.variables] == ["gender", "age", "clothing"]
    assert (images.initial[:, 1] == UNKNOWN).all()


def test_a_target_that_was_never_intervened_on() -> None:
    frame = librarian_table(images=20)
    frame = frame[frame["axis"] != "age"]
    [images] = code_images(Answers.from_frame(frame)).images
    [age] = [v for v in images.variables if v.name == "age"]
    assert list(age.attributes) == frame[frame["target"] == "age"]["answer"].unique().tolist()


def test_declared_axes_give_order_and_metric() -> None:
    frame = librarian_table(images=4)[::-1]
    [images] = code_images(Answers.from_frame(frame), axis_set()).images
    assert {v.name: v.attributes for v in images.variables} == AXES, "mood is never mentioned"
    assert [v.metric for v in images.variables] == ["nominal", "ordinal", "nominal"]


@pytest.mark.parametrize(
    ("column", "old", "new", "message"),
    [
        ("axis", "gender", "gendr", r"row 13, column axis: .* no axis 'gendr'.*mean 'gender'"),
        ("target", "age", "aeg", r"row 2, column target: axis set 'people' has no axis 'aeg'"),
        ("attribute", "female", "femal", r"row 25, column attribute: 'femal' .*mean 'female'"),
        ("attribute", "female", "young", r"column attribute: 'young' is not .* of gender \(male"),
        ("answer", "female", "woman", r"column answer: 'woman' is not .*\(--unlisted unknown"),
    ],
)
def test_declared_axes_refuse(column: str, old: str, new: str, message: str) -> None:
    frame = librarian_table(images=4)
    frame[column] = frame[column].replace(old, new)
    with pytest.raises(InputError, match=message):
        code_images(Answers.from_frame(frame), axis_set())


def test_declared_axes_with_unlisted_unknown() -> None:
    frame = librarian_table(images=4)
    frame["answer"] = frame["answer"].replace({"male": "man", "female": "woman"})
    coding = code_images(Answers.from_frame(frame), axis_set(), unlisted="unknown")
    assert (coding.images[0].initial[:, 0] == UNKNOWN).all()
    assert len(coding.notes) == 1


@pytest.mark.parametrize("word", ["unknown", "gated"])
def test_reserved_words_are_no_attributes(word: str) -> None:
    frame = librarian_table(images=2)
    frame["attribute"] = frame["attribute"].replace("male", word)
    with pytest.raises(InputError, match=f"column attribute: '{word}' cannot be an attribute"):
        code_images(Answers.from_frame(frame))


def test_an_axis_without_attributes() -> None:
    frame = librarian_table(images=2)
    frame = frame[frame["axis"] != "age"]
    frame.loc[frame["target"] == "age", "answer"] = "unknown"
    with pytest.raises(InputError, match="axis 'age' has no attributes"):
        code_images(Answers.from_frame(frame))


def test_free_text_is_refused() -> None:
    images = range(MAX_ATTRIBUTES + 1)
    rows = [("m", "p", "initial", None, None, i, "caption", f"text {i}") for i in images]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    with pytest.raises(InputError, match="are its answers free text"):
        code_images(Answers.from_frame(frame))


def test_too_many_axes() -> None:
    rows = [("m", "p", "initial", None, None, 1, f"axis {i}", "x") for i in range(MAX_AXES + 1)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    with pytest.raises(InputError, match="101 axes, more than 100"):
        code_images(Answers.from_frame(frame))


def test_several_prompts_share_their_axes() -> None:
    cook = librarian_table(images=3, prompt="a cook", axes={"gender": AXES["gender"]})
    frame = pd.concat([librarian_table(images=4), cook])
    one, other = code_images(Answers.from_frame(frame)).images
    assert (one.prompt, other.prompt) == ("a librarian", "a cook")
    assert one.variables == other.variables
    assert one.initial.shape == (4, 3)
    assert other.initial.shape == (3, 3)
    assert sorted(other.arms) == [(0, 0), (0, 1)]


def test_only_some_axes() -> None:
    answers = Answers.from_frame(librarian_table(images=4)).only(["clothing", "gender"])
    [images] = code_images(answers).images
    assert [v.name for v in images.variables] == ["gender", "clothing"]
    assert len(images.arms) == 4


def test_only_keeps_the_places_of_rows() -> None:
    frame = librarian_table(images=4)
    frame.loc[5, "answer"] = "bare"
    with pytest.raises(InputError, match="row 6, column answer: 'bare'"):
        code_images(Answers.from_frame(frame).only(["clothing"]), axis_set())


@pytest.mark.parametrize("text", sampled(text for text in HOSTILE if text not in UNWRITABLE))
def test_hostile_names_are_coded_and_shown_harmlessly(text: str) -> None:
    frame = librarian_table(images=2, axes={text: ("a", text + "!")})
    [images] = code_images(Answers.from_frame(frame), unlisted="error").images
    assert images.variables[0].name == text
    frame.loc[0, "answer"] = text + "?"
    with pytest.raises(InputError, match="row 1, column answer") as caught:
        code_images(Answers.from_frame(frame), unlisted="error")
    assert str(caught.value) == printable(str(caught.value))
    assert len(str(caught.value)) < 1000
