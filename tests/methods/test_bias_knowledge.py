"""From proposals to a knowledge base, by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.errors import InputError
from biasgraph.methods.bias_knowledge import (
    BY_MODEL,
    MOST_CLASSES,
    Knowledge,
    Rules,
    conversation,
    knowledge,
    lacking,
    share,
)
from biasgraph.methods.bias_wording import CaptionReader, words_in
from biasgraph.methods.concepts import SynonymTable
from biasgraph.prompts.instructions import Bias

READER = CaptionReader(SynonymTable([["sofa", "couch"]], "a table"))


def bias(name: str, classes: Sequence[str], question: str = "Which?", present: bool = False):
    return Bias(name=name, classes=list(classes), question=question, present_in_prompt=present)


def known(proposed, overlap: float = 0.75, min_captions: int = 1) -> Knowledge:
    return knowledge(proposed, Rules(overlap, min_captions), READER)


def test_a_model_is_asked_as_the_paper_asks() -> None:
    system, user = conversation("a chef")
    assert "list of possible biases" in system.text
    assert user.text == 'Prompt: "a chef"'


def test_proposals_of_one_name_are_one_bias_with_the_union_of_their_classes() -> None:
    found = known(
        {
            "a chef": [bias("Person age", ["Young", "Old"], "How old is the chef?")],
            "a cook": [bias("person  Age", ["old", "Middle-Aged", "unknown"], "How old?")],
        }
    )
    (age,) = found.biases
    assert (age.name, age.names) == ("Person age", ("Person age",))
    assert age.classes == ("Young", "Old", "Middle-Aged")
    assert age.questions == {"a chef": "How old is the chef?", "a cook": "How old?"}
    assert found.captions == ("a chef", "a cook")


def test_two_stages_of_filtering() -> None:
    sizes = [bias("Dog size", ["Small", "Large"])]
    found = known(
        {
            "an image of a dog": sizes,
            "an image of a large dog": sizes,  # stage 2, the paper's example
            "a puppy": [bias("Dog size", ["Small", "Large"], present=True)],  # stage 1
            "a dog on a couch": [*sizes, bias("Furniture", ["Sofa", "Chair"])],  # a synonym
        }
    )
    (size,) = found.biases
    assert list(size.questions) == ["an image of a dog", "a dog on a couch"]
    assert {one.caption: one.reason for one in size.filtered} == {
        "an image of a large dog": "the caption says 'Large', or a synonym of it",
        "a puppy": BY_MODEL,
    }
    ((furniture, reason),) = found.others
    assert furniture.filtered[0].reason == "the caption says 'Sofa', or a synonym of it"
    assert reason == "fewer than 1 captions"


def test_a_caption_is_filtered_by_a_class_of_another_caption() -> None:
    found = known(
        {
            "a red car": [bias("Car colour", ["Blue", "Green"])],
            "a car": [bias("Car colour", ["Red", "Blue"])],
        }
    )
    assert list(found.biases[0].questions) == ["a car"]


@pytest.mark.parametrize(("overlap", "names"), [(0.75, 1), (0.76, 2)])
def test_biases_that_share_three_of_four_classes_are_one(overlap: float, names: int) -> None:
    found = known(
        {
            "a chef": [bias("Race", ["a1", "b2", "c3", "d4"])],
            "a cook": [bias("Ethnicity", ["a1", "b2", "c3", "e5"])],
        },
        overlap=overlap,
    )
    assert len(found.biases) == names


def test_the_bias_with_more_captions_gives_the_name() -> None:
    found = known(
        {
            "a chef": [bias("Sex", ["male", "female"])],
            "a cook": [bias("Gender", ["Male", "Female"])],
            "a waiter": [bias("Gender", ["Male", "Female", "Non-binary"], "What gender?")],
        }
    )
    (gender,) = found.biases
    assert (gender.name, gender.names) == ("Gender", ("Gender", "Sex"))
    assert gender.classes == ("Male", "Female", "Non-binary")
    assert set(gender.questions) == {"a chef", "a cook", "a waiter"}


def test_two_names_for_one_bias_of_one_caption_make_one_question() -> None:
    twice = [bias("Gender", ["male", "female"], "A?"), bias("Sex", ["female", "male"], "B?")]
    assert known({"a chef": twice}).biases[0].questions == {"a chef": "A?"}


def test_yes_and_no_say_nothing_of_what_is_asked() -> None:
    found = known(
        {
            "no smoking": [bias("Glasses", ["yes", "no"]), bias("Hat", ["Yes", "No"])],
        }
    )
    assert [one.name for one in found.biases] == ["Glasses", "Hat"]


def test_biases_with_few_captions_or_classes_are_named_with_the_reason() -> None:
    found = known(
        {
            "a chef": [bias("Gender", ["male", "female"]), bias("Age", ["young", "n/a"])],
            "a cook": [bias("Gender", ["male", "female"]), bias("Hat", ["red", "blue"])],
        },
        min_captions=2,
    )
    assert [one.name for one in found.biases] == ["Gender"]
    assert [(one.name, reason) for one, reason in found.others] == [
        ("Age", "fewer than two classes"),
        ("Hat", "fewer than 2 captions"),
    ]


def test_nothing_was_proposed() -> None:
    assert known({}) == Knowledge((), ())
    assert known({"a chef": []}).captions == ()


def test_of_too_many_classes_the_rarest_go() -> None:
    first = [f"x{number}" for number in range(MOST_CLASSES)]
    proposed = {
        "a": [bias("Thing", first)],
        "b": [bias("Thing", [*first[:-1], "new"])],
        "c": [bias("Thing", ["new", "x0"])],
    }
    (thing,) = known(proposed).biases
    assert thing.classes == (*first[:-1], "new")
    assert thing.left_out == (first[-1],)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"a", "b"}, {"a", "b", "c"}, 1.0),
        ({"a", "b", "c"}, {"a", "b", "d"}, 2 / 3),
        ({"a"}, {"b"}, 0.0),
        (set(), {"b"}, 0.0),
        ({"yes", "no"}, {"yes", "no"}, 0.0),
    ],
)
def test_share_of_classes(one, other, expected) -> None:
    sets = [frozenset((name,) for name in names) for names in (one, other)]
    assert share(*sets) == pytest.approx(expected)
    assert share(*reversed(sets)) == pytest.approx(expected)


@given(
    st.permutations(["a chef", "a cook", "a nurse", "a pilot"]),
    st.lists(st.sampled_from(["Age", "Gender", "Hat", "Sex"]), min_size=4, max_size=4),
)
def test_what_is_put_together_does_not_hang_on_the_order_of_captions(order, names) -> None:
    classes = {"Age": ["y1", "o1"], "Gender": ["m", "f"], "Sex": ["m", "f", "x"], "Hat": ["r", "b"]}
    proposed = dict(zip(["a chef", "a cook", "a nurse", "a pilot"], names, strict=True))

    def merged(texts: Sequence[str]) -> set[tuple[str, frozenset[str], frozenset[str]]]:
        found = known({text: [bias(proposed[text], classes[proposed[text]])] for text in texts})
        return {
            (one.name, frozenset(one.classes), frozenset(one.questions)) for one in found.biases
        }

    assert merged(order) == merged(list(proposed))


@pytest.mark.parametrize("rules", [(0.0, 1), (1.1, 1), (0.5, 0)])
def test_impossible_rules(rules) -> None:
    with pytest.raises(InputError, match=r"--overlap must be|--min-captions must be"):
        Rules(*rules)


def test_axes_that_a_graph_lacks() -> None:
    axes = {"gender": ["male", "female"], "age": ["young", "middle", "old"]}
    proposed = [
        bias("Person gender", ["Masculine", "Feminine"]),  # by its name
        bias("Sex", ["Man", "Woman"]),  # by its classes
        bias("Glasses", ["glasses", "no glasses"]),
        bias("Desk colour", ["red", "brown"]),  # the prompt says it
        bias("Mood", ["glad", "sad"], present=True),
        bias("Era", ["modern", "unknown"]),  # has one class
        bias("Robe", ["yes", "no"]),
    ]
    found = lacking(proposed, "a librarian at a brown desk", axes, READER)
    assert [one.name for one in found] == ["Glasses", "Robe"]
    assert words_in("Sex") == ("sex",)
