"""Counterfactual prompts: where phrases go, what gives way to them, and what stays untouched."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgraph.data.axes import Axis, AxisSet, load_axis_set
from biasgraph.errors import InputError
from biasgraph.io.resources import lines
from biasgraph.prompts.counterfactuals import PromptPlan, describe, plan_prompts
from biasgraph.prompts.grammar import indefinite_article, pluralize
from tests.sampled import sampled

AXES = load_axis_set("occupation")
OCCUPATIONS = lines("prompts", "occupations.txt")
AGES = ("young", "middle-aged", "old")


def texts(prompt: str, axis: str, axes: AxisSet = AXES) -> dict[str, str]:
    """The counterfactuals of a prompt along one axis, by attribute."""
    plan = plan_prompts(prompt, axes.only([axis]))
    return {prompt.attribute: prompt.text for prompt in plan.counterfactuals}


def test_table_2_of_the_paper() -> None:
    plan = plan_prompts("A photo of a librarian", AXES)
    assert [(p.role, p.axis, p.attribute, p.text) for p in plan.prompts] == [
        ("initial", "", "", "A photo of a librarian"),
        *(
            ("counterfactual", axis, attribute, f"A photo of {text}")
            for axis, attribute, text in [
                ("gender", "male", "a male librarian"),
                ("gender", "female", "a female librarian"),
                ("age", "young", "a young librarian"),
                ("age", "middle", "a middle-aged librarian"),
                ("age", "old", "an old librarian"),
                ("ethnicity", "white", "a white librarian"),
                ("ethnicity", "black", "an african american librarian"),
                ("ethnicity", "asian", "an asian librarian"),
                ("ethnicity", "south asian", "a south asian librarian"),
                ("ethnicity", "middle eastern", "a middle eastern librarian"),
                ("ethnicity", "hispanic", "a hispanic librarian"),
                ("bodytype", "fat", "an obese librarian"),
                ("bodytype", "slim", "a slim librarian"),
                ("bodytype", "muscular", "a muscular librarian"),
                ("environment", "indoor", "a librarian working indoors"),
                ("environment", "outdoor", "a librarian working outdoors"),
                ("clothing", "formal", "a librarian in formal attire"),
                ("clothing", "informal", "a librarian in informal attire"),
                ("emotion", "happy", "a librarian who is happy"),
                ("emotion", "sad", "a librarian who is sad"),
                ("emotion", "serious", "a librarian who is serious"),
                ("emotion", "tired", "a librarian who is tired"),
                ("disability", "fit", "a librarian who is fit"),
                ("disability", "blind", "a blind librarian"),
                ("disability", "hearing aid", "a librarian with a hearing aid"),
                ("disability", "wheelchair", "a librarian on a wheelchair"),
            ]
        ),
    ]
    assert plan.subject.text == "a librarian"
    assert plan.fixed == {}


# 26 occupations x 12 sentence frames. {o} the occupation, {os} its plural, {O} with a capital,
# {a} its article; {P} what a bare or definite one takes: "the police" is plural.
# Each frame: prompt, subject, age young, age old, gender female, emotion happy, environment
# indoor, disability wheelchair, axes that the prompt fixes.
FRAMES: dict[str, tuple[str, ...]] = {
    "plain": (
        "{a} {o}",
        "{a} {o}",
        "a young {o}",
        "an old {o}",
        "a female {o}",
        "{a} {o} who is happy",
        "{a} {o} working indoors",
        "{a} {o} on a wheelchair",
        "",
    ),
    "place": (
        "A photo of {a} {o} in Paris",
        "{a} {o}",
        "A photo of a young {o} in Paris",
        "A photo of an old {o} in Paris",
        "A photo of a female {o} in Paris",
        "A photo of {a} {o} who is happy in Paris",
        "A photo of {a} {o} working indoors in Paris",
        "A photo of {a} {o} on a wheelchair in Paris",
        "",
    ),
    "relative clause": (
        "the {o} who won the prize",
        "the {o}",
        "the young {o} who won the prize",
        "the old {o} who won the prize",
        "the female {o} who won the prize",
        "the {o} {P_is} happy and who won the prize",
        "the {o} working indoors who won the prize",
        "the {o} {P_chair} who won the prize",
        "",
    ),
    "two": (
        "two {os} at a table",
        "two {os}",
        "two young {os} at a table",
        "two old {os} at a table",
        "two female {os} at a table",
        "two {os} who are happy at a table",
        "two {os} working indoors at a table",
        "two {os} on wheelchairs at a table",
        "",
    ),
    "fixed age": (
        "A portrait of an elderly {o} in a garden",
        "an elderly {o}",
        "A portrait of a young {o} in a garden",
        "A portrait of an old {o} in a garden",
        "A portrait of an elderly female {o} in a garden",
        "A portrait of an elderly {o} who is happy in a garden",
        "A portrait of an elderly {o} working indoors",
        "A portrait of an elderly {o} on a wheelchair in a garden",
        "age=old environment=outdoor",
    ),
    "gerund": (
        "{a} {o} reading a book",
        "{a} {o}",
        "a young {o} reading a book",
        "an old {o} reading a book",
        "a female {o} reading a book",
        "{a} {o} who is happy and reading a book",
        "{a} {o} working indoors and reading a book",
        "{a} {o} on a wheelchair reading a book",
        "",
    ),
    "fixed emotion, style": (
        "close-up portrait of a smiling {o}, digital art",
        "a smiling {o}",
        "close-up portrait of a smiling young {o}, digital art",
        "close-up portrait of a smiling old {o}, digital art",
        "close-up portrait of a smiling female {o}, digital art",
        "close-up portrait of {a} {o} who is happy, digital art",
        "close-up portrait of a smiling {o} working indoors, digital art",
        "close-up portrait of a smiling {o} on a wheelchair, digital art",
        "emotion=happy",
    ),
    "bare, capitalised": (
        "{O} under a tree, soft light",
        "{O}",
        "Young {o} under a tree, soft light",
        "Old {o} under a tree, soft light",
        "Female {o} under a tree, soft light",
        "{O} {P_is} happy under a tree, soft light",
        "{O} working indoors under a tree, soft light",
        "{O} {P_chair} under a tree, soft light",
        "",
    ),
    "adjectives, plural": (
        "three famous, tall {os} walking in the rain",
        "three famous, tall {os}",
        "three famous, tall young {os} walking in the rain",
        "three famous, tall old {os} walking in the rain",
        "three famous, tall female {os} walking in the rain",
        "three famous, tall {os} who are happy and walking in the rain",
        "three famous, tall {os} working indoors and walking",
        "three famous, tall {os} on wheelchairs walking in the rain",
        "environment=outdoor",
    ),
    "group": (
        "A group of {os} wearing helmets",
        "{os}",
        "A group of young {os} wearing helmets",
        "A group of old {os} wearing helmets",
        "A group of female {os} wearing helmets",
        "A group of {os} who are happy and wearing helmets",
        "A group of {os} working indoors and wearing helmets",
        "A group of {os} on wheelchairs wearing helmets",
        "",
    ),
    "fixed gender, clause": (
        "Every angry male {o} that I know is here",
        "Every angry male {o}",
        "Every angry young male {o} that I know is here",
        "Every angry old male {o} that I know is here",
        "Every angry female {o} that I know is here",
        "Every male {o} who is happy and that I know is here",
        "Every angry male {o} working indoors that I know is here",
        "Every angry male {o} on a wheelchair that I know is here",
        "gender=male emotion=angry",
    ),
    "title": (
        "The Portrait Of {a} Beautiful {O} From Brazil, 8k",
        "{a} Beautiful {O}",
        "The Portrait Of {a} Beautiful young {O} From Brazil, 8k",
        "The Portrait Of {a} Beautiful old {O} From Brazil, 8k",
        "The Portrait Of {a} Beautiful female {O} From Brazil, 8k",
        "The Portrait Of {a} Beautiful {O} From Brazil who is happy, 8k",
        "The Portrait Of {a} Beautiful {O} From Brazil working indoors, 8k",
        "The Portrait Of {a} Beautiful {O} From Brazil on a wheelchair, 8k",
        "",
    ),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("occupation", sampled(OCCUPATIONS))
def test_26_occupations_in_12_frames(occupation: str, frame: str) -> None:
    several = occupation == "police"
    *modifiers, noun = occupation.split()
    article = "a" if frame == "title" else indefinite_article(occupation)
    words = {
        "a": article,
        "o": occupation,
        "O": occupation.capitalize(),
        "os": " ".join([*modifiers, pluralize(noun)]),
        "P_is": "who are" if several else "who is",
        "P_chair": "on wheelchairs" if several else "on a wheelchair",
    }
    prompt, subject, young, old, female, happy, indoor, wheelchair, fixed = (
        part.format(**words) for part in FRAMES[frame]
    )
    plan = plan_prompts(prompt, AXES)
    assert plan.initial.text == prompt
    assert plan.subject.text == subject
    assert plan.subject.head.lower() == (pluralize(noun) if "{os}" in FRAMES[frame][0] else noun)
    changed = {(p.axis, p.attribute): p.text for p in plan.counterfactuals}
    assert changed["age", "young"] == young
    assert changed["age", "old"] == old
    assert changed["gender", "female"] == female
    assert changed["emotion", "happy"] == happy
    assert changed["environment", "indoor"] == indoor
    assert changed["disability", "wheelchair"] == wheelchair
    assert dict(plan.fixed) == dict(pair.split("=") for pair in fixed.split())


# What a prompt says of an axis gives way


@pytest.mark.parametrize(
    ("prompt", "axis", "fixed", "expected"),
    [
        # nouns that carry the attribute
        ("a photo of a woman", "gender", "female", ["a photo of a man", "a photo of a woman"]),
        ("an elderly woman", "gender", "female", ["an elderly man", "an elderly woman"]),
        (
            "an elderly woman",
            "age",
            "old",
            ["a young woman", "a middle-aged woman", "an old woman"],
        ),
        ("two old women", "gender", "female", ["two old men", "two old women"]),
        ("A girl in Rome", "gender", "female", ["A boy in Rome", "A girl in Rome"]),
        (
            "A girl in Rome",
            "age",
            "young",
            ["A young woman in Rome", "A middle-aged woman in Rome", "An old woman in Rome"],
        ),
        ("a child", "age", "young", ["a young person", "a middle-aged person", "an old person"]),
        (
            "Children at play",
            "age",
            "young",
            ["Young people at play", "Middle-aged people at play", "Old people at play"],
        ),
        ("a queen", "gender", "female", ["a king", "a queen"]),
        ("an actress", "gender", "female", ["a male actor", "a female actor"]),
        ("THE WAITRESS", "gender", "female", ["THE MALE WAITER", "THE FEMALE WAITER"]),
        ("a woman doctor", "gender", "female", ["a male doctor", "a female doctor"]),
        ("two women doctors", "gender", "female", ["two male doctors", "two female doctors"]),
        ("a dude", "gender", "male", ["a male person", "a female person"]),
        # pronouns
        (
            "a man walking his dog by himself",
            "gender",
            "male",
            ["a man walking his dog by himself", "a woman walking her dog by herself"],
        ),
        (
            "a nurse holding her hat",
            "gender",
            "female",
            ["a male nurse holding his hat", "a female nurse holding her hat"],
        ),
        (
            "a nurse with a cat on her",
            "gender",
            "female",
            ["a male nurse with a cat on him", "a female nurse with a cat on her"],
        ),
        (
            "a nurse as people see her",
            "gender",
            None,
            ["a male nurse as people see her", "a female nurse as people see her"],
        ),
        (
            "a nurse helping a boy with his work",
            "gender",
            None,
            [
                "a male nurse helping a boy with his work",
                "a female nurse helping a boy with his work",
            ],
        ),
        ("nurses and", "gender", None, []),
        # adjectives, with their commas and conjunctions
        (
            "a tired, old and wise nurse",
            "age",
            "old",
            [f"a tired and wise {word} nurse" for word in ("young", "middle-aged", "old")],
        ),
        (
            "an old, wise nurse",
            "age",
            "old",
            ["a wise young nurse", "a wise middle-aged nurse", "a wise old nurse"],
        ),
        (
            "a very old nurse",
            "age",
            "old",
            ["a young nurse", "a middle-aged nurse", "an old nurse"],
        ),
        (
            "a 70-year-old nurse",
            "age",
            "70-year-old",
            ["a young nurse", "a middle-aged nurse", "an old nurse"],
        ),
        (
            "a 70 year old nurse",
            "gender",
            None,
            ["a 70 year old male nurse", "a 70 year old female nurse"],
        ),
        (
            "a black belt instructor",
            "gender",
            None,
            ["a male black belt instructor", "a female black belt instructor"],
        ),
        (
            "a middle school teacher",
            "age",
            None,
            [
                "a young middle school teacher",
                "a middle-aged middle school teacher",
                "an old middle school teacher",
            ],
        ),
        # phrases behind the noun
        (
            "a nurse in Paris who is very happy",
            "emotion",
            "happy",
            [f"a nurse who is {word} in Paris" for word in ("happy", "sad", "serious", "tired")],
        ),
        (
            "a smiling nurse, who is happy, in Rome",
            "emotion",
            "happy",
            [f"a nurse who is {word} in Rome" for word in ("happy", "sad", "serious", "tired")],
        ),
        (
            "a person who is angry",
            "emotion",
            "angry",
            [f"a person who is {word}" for word in ("happy", "sad", "serious", "tired")],
        ),
        (
            "a nurse who is happy and calm",
            "emotion",
            "happy",
            [
                f"a nurse who is {word} and who is calm"
                for word in ("happy", "sad", "serious", "tired")
            ],
        ),
        (
            "a nurse who is tired and who won",
            "emotion",
            "tired",
            [f"a nurse who is {word} and who won" for word in ("happy", "sad", "serious", "tired")],
        ),
        (
            "nurses in wheelchairs at work",
            "disability",
            "wheelchair",
            [
                "nurses who are fit at work",
                "blind nurses at work",
                "nurses with hearing aids at work",
                "nurses on wheelchairs at work",
            ],
        ),
        (
            "a nurse in casual clothes and a hat",
            "clothing",
            "informal",
            ["a nurse in formal attire in a hat", "a nurse in informal attire in a hat"],
        ),
        (
            "a nurse reading indoors",
            "environment",
            "indoor",
            ["a nurse working indoors and reading", "a nurse working outdoors and reading"],
        ),
        # what is said of somebody else stays
        (
            "a nurse helping a man who is happy",
            "emotion",
            None,
            [
                f"a nurse who is {word} and helping a man who is happy"
                for word in ("happy", "sad", "serious", "tired")
            ],
        ),
        (
            "a mother of two",
            "gender",
            "female",
            ["a father of two", "a mother of two"],
        ),
        (
            "a teacher of physics at work",
            "environment",
            None,
            [
                "a teacher of physics working indoors at work",
                "a teacher of physics working outdoors at work",
            ],
        ),
    ],
)
def test_what_gives_way(prompt: str, axis: str, fixed: str | None, expected: list[str]) -> None:
    if not expected:
        with pytest.raises(InputError):
            plan_prompts(prompt, AXES)
        return
    assert list(texts(prompt, axis).values()) == expected
    assert plan_prompts(prompt, AXES).fixed.get(axis) == fixed


def test_several_axes_may_be_fixed() -> None:
    plan = plan_prompts("an elderly blind Indian woman in formal attire", AXES)
    assert dict(plan.fixed) == {
        "gender": "female",
        "age": "old",
        "ethnicity": "south asian",
        "clothing": "formal",
        "disability": "blind",
    }
    with pytest.raises(TypeError):
        plan.fixed["gender"] = "male"  # type: ignore[index]


def test_brackets_leave_the_texts() -> None:
    plan = plan_prompts("a photo of a [bird photographer] in the wild", AXES)
    assert plan.initial.text == "a photo of a bird photographer in the wild"
    assert texts("a photo of a [bird photographer] in the wild", "age")["old"] == (
        "a photo of an old bird photographer in the wild"
    )
    assert texts("[老人] in Paris", "age")["old"] == "old 老人 in Paris"


def test_the_users_text_is_kept_as_it_is() -> None:
    prompt = "  a  nurse ,\n8k  "
    plan = plan_prompts(prompt, AXES)
    assert plan.initial.text == prompt
    assert texts(prompt, "age")["old"] == "  an  old nurse ,\n8k  "
    assert texts(prompt, "emotion")["happy"] == "  a  nurse who is happy ,\n8k  "


def test_names_and_peoples_keep_their_capital() -> None:
    assert texts("Americans at a table", "age")["old"] == "Old Americans at a table"
    assert texts("[Waluigi] at a table", "age")["old"] == "Old Waluigi at a table"
    assert texts("Sailor at a table", "age")["old"] == "Old sailor at a table"
    assert texts("Happy Sailor at a table", "age")["old"] == "Happy old Sailor at a table"
    assert texts("CEO at a table", "age")["old"] == "Old CEO at a table"


def test_a_shouted_prompt_is_shouted_back() -> None:
    prompt = "A PHOTO OF A LIBRARIAN READING"
    assert texts(prompt, "age")["old"] == "A PHOTO OF AN OLD LIBRARIAN READING"
    assert texts(prompt, "bodytype")["fat"] == "A PHOTO OF AN OBESE LIBRARIAN READING"
    assert texts(prompt, "emotion")["sad"] == "A PHOTO OF A LIBRARIAN WHO IS SAD AND READING"


def test_a_third_gender_takes_the_open_noun_and_pronoun() -> None:
    gender = AXES.axis("gender").model_dump()
    gender["attributes"] = [
        *gender["attributes"],
        {"name": "other", "phrase": "non-binary", "placement": "before"},
    ]
    axes = AxisSet.model_validate(AXES.model_dump() | {"axes": [gender]})
    assert list(texts("a woman with her hat", "gender", axes).values()) == [
        "a male person with his hat",
        "a female person with her hat",
        "a non-binary person with their hat",
    ]


def test_a_thing_is_no_subject_for_axes_about_persons() -> None:
    with pytest.raises(InputError, match=r"seems to be about 'a kitchen'.*a \[chef\]"):
        plan_prompts("a kitchen with a chef", AXES)
    assert plan_prompts("a kitchen with a [chef]", AXES).subject.text == "a chef"
    assert plan_prompts("a [kitchen] with a chef", AXES).subject.text == "a kitchen"
    objects = AxisSet.model_validate(AXES.model_dump() | {"subject": "object"})
    assert plan_prompts("a kitchen with a chef", objects).subject.text == "a kitchen"


@pytest.mark.parametrize(
    ("axis", "attribute", "caption"),
    [
        ("age", "old", "a photo of an old person"),
        ("age", "middle", "a photo of a middle-aged person"),
        ("gender", "female", "a photo of a female person"),
        ("emotion", "happy", "a photo of a person who is happy"),
        ("disability", "wheelchair", "a photo of a person on a wheelchair"),
    ],
)
def test_captions_for_judges(axis: str, attribute: str, caption: str) -> None:
    assert describe(AXES.axis(axis), attribute) == caption


def test_captions_of_other_subjects() -> None:
    assert describe(AXES.axis("gender"), "male", "a drawing of a woman") == "a drawing of a man"
    with pytest.raises(InputError, match=r"no attribute 'gren'.*"):
        describe(AXES.axis("gender"), "gren")
    with pytest.raises(InputError, match="put it in brackets"):
        describe(AXES.axis("gender"), "male", "very beautiful")


# Invariants

SUBJECTS = st.builds(
    lambda determiner, adjectives, noun: " ".join([determiner, *adjectives, noun]).strip(),
    st.sampled_from(["a", "the", "every", "A", "THE", "my"]),
    st.lists(
        st.sampled_from(
            [
                "tall",
                "old",
                "young",
                "female",
                "white",
                "happy",
                "blind",
                "obese",
                "famous",
                "asian",
                "middle-aged",
                "south asian",
                "very old",
                "angry",
                "old and tired",
                "zorblaxian",
            ]
        ),
        max_size=3,
    ),
    st.sampled_from([*OCCUPATIONS, "woman", "man", "girl", "child", "king", "person", "quokka"]),
)
OPENINGS = st.sampled_from(["", "a photo of ", "Close-up portrait of ", "a group portrait of "])
TAILS = st.lists(
    st.sampled_from(
        [
            "in Paris",
            "who won",
            "who is happy",
            "in formal attire",
            "on a wheelchair",
            "reading",
            "who is sad and who won",
            "holding a hat",
            "who is tired and calm",
            "working outdoors",
            "made of ice",
            "with a hearing aid",
            "of renown",
            "wearing his hat",
        ]
    ),
    max_size=3,
).map(lambda parts: "".join(" " + part for part in parts))
ENDINGS = st.sampled_from(["", ", digital art", ".", " -- 8k", "!"])


def planned(prompt: str, axes: AxisSet = AXES) -> PromptPlan | None:
    try:
        return plan_prompts(prompt, axes)
    except InputError:
        return None


@pytest.mark.slow(reason="thousands of prompts")
@settings(deadline=None, max_examples=300)
@given(OPENINGS, SUBJECTS, TAILS, ENDINGS, st.sampled_from(AXES.axes))
def test_an_intervention_depends_only_on_the_rest(
    opening: str, subject: str, tail: str, ending: str, axis: Axis
) -> None:
    prompt = opening + subject + tail + ending
    axes = AXES.only([axis.name])
    plan = planned(prompt, axes)
    if plan is None:
        return
    expected = [p.text for p in plan.counterfactuals]
    assert len(set(expected)) == len(expected)
    for text in expected:
        assert "  " not in text
        assert " ," not in text
        assert text.startswith(opening)
        assert text.endswith(ending)
        again = planned(text, axes)
        # "a young female and tired programmer" may be two people to the rules, which ask then.
        assert again or " and " in text
        assert again is None or [p.text for p in again.counterfactuals] == expected


@pytest.mark.slow(reason="thousands of prompts")
@settings(deadline=None)
@given(OPENINGS, SUBJECTS, ENDINGS)
def test_the_article_fits_what_follows(opening: str, subject: str, ending: str) -> None:
    plan = planned(opening + subject + ending)
    for prompt in plan.counterfactuals if plan else ():
        first, following = prompt.text.removeprefix(opening).split(" ", 1)
        if first in ("a", "an", "A", "An"):
            assert first.lower() == indefinite_article(following)


@settings(deadline=None)
@given(st.text(max_size=60), st.text(string.ascii_letters, min_size=1), st.text(max_size=60))
def test_any_bracketed_prompt_is_planned(before: str, noun: str, after: str) -> None:
    kept = {ord("["): None, ord("]"): None}
    prompt = f"{before.translate(kept)} [{noun}] {after.translate(kept)}"
    plan = plan_prompts(prompt, AXES)
    assert len(plan.counterfactuals) == 26
    assert plan == plan_prompts(prompt, AXES)
    assert plan.initial.text == prompt.replace("[", "").replace("]", "")


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_planned_or_an_input_error(text: str) -> None:
    plan = planned(text)
    assert plan is None or plan.initial.text == text.replace("[", "").replace("]", "")


# Prompts as people write them


@pytest.mark.parametrize(
    ("prompt", "axis", "fixed", "expected"),
    [
        # tags: a phrase behind the noun is a tag of its own, weights and the like stay
        (
            "masterpiece, (1girl:1.2), red eyes, forest",
            "gender",
            "female",
            [
                "masterpiece, (1boy:1.2), red eyes, forest",
                "masterpiece, (1girl:1.2), red eyes, forest",
            ],
        ),
        (
            "masterpiece, (1girl:1.2), red eyes, forest",
            "age",
            None,
            [f"masterpiece, (1girl:1.2), {w}, red eyes, forest" for w in AGES],
        ),
        (
            "2girls, smiling, classroom, <lora:x:0.8>",
            "emotion",
            "happy",
            [
                f"2girls, {word}, classroom, <lora:x:0.8>"
                for word in ("happy", "sad", "serious", "tired")
            ],
        ),
        (
            "old wizard, staff, forest, 85mm, f/1.8",
            "clothing",
            None,
            [
                f"old wizard, in {word} attire, staff, forest, 85mm, f/1.8"
                for word in ("formal", "informal")
            ],
        ),
        (
            "1boy, [rain:snow:0.4], street BREAK 8k --ar 16:9",
            "environment",
            None,
            [
                f"1boy, {word}, [rain:snow:0.4], street BREAK 8k --ar 16:9"
                for word in ("indoors", "outdoors")
            ],
        ),
        # what somebody wears says how formal
        (
            "a man in a dark suit and tie at a bar",
            "clothing",
            "in a dark suit and tie",
            ["a man in formal attire at a bar", "a man in informal attire at a bar"],
        ),
        # phrases that need a worker
        (
            "a bride with a bouquet",
            "environment",
            None,
            ["a bride indoors with a bouquet", "a bride outdoors with a bouquet"],
        ),
        # where somebody is settles whether indoors
        (
            "a bride on a beach",
            "environment",
            "outdoor",
            ["a bride indoors", "a bride outdoors"],
        ),
        (
            "a man in a garden working indoors",
            "environment",
            "indoor",
            ["a man working indoors", "a man working outdoors"],
        ),
        (
            "a cook working in the busy kitchen of a hotel with pans",
            "environment",
            "indoor",
            ["a cook working indoors with pans", "a cook working outdoors with pans"],
        ),
        (
            "a nurse in front of a hospital",
            "environment",
            None,
            [
                "a nurse working indoors in front of a hospital",
                "a nurse working outdoors in front of a hospital",
            ],
        ),
        (
            "1girl, forest, silver hair",
            "environment",
            "outdoor",
            ["1girl, indoors, silver hair", "1girl, outdoors, silver hair"],
        ),
        # what says an age of some nouns, and a rank of others
        ("young senior woman", "age", "young", [f"{word} woman" for word in AGES]),
        ("senior couple", "age", "old", [f"{word} couple" for word in AGES]),
        (
            "a senior engineer",
            "age",
            None,
            ["a young senior engineer", "a middle-aged senior engineer", "an old senior engineer"],
        ),
        # what belongs to the noun stays with it
        (
            "the president of the United States",
            "environment",
            None,
            [
                "the president of the United States working indoors",
                "the president of the United States working outdoors",
            ],
        ),
        (
            "a soldier's wife reading",
            "age",
            None,
            [f"a soldier's {word} wife reading" for word in AGES],
        ),
        ("28 y.o man at a bar", "age", "28 y.o", [f"{word} man at a bar" for word in AGES]),
        (
            "a postwoman on a bike",
            "gender",
            "female",
            ["a postman on a bike", "a postwoman on a bike"],
        ),
        ("CEO", "age", None, ["Young CEO", "Middle-aged CEO", "Old CEO"]),
    ],
)
def test_counterfactuals_of_prompts_as_people_write_them(
    prompt: str, axis: str, fixed: str | None, expected: list[str]
) -> None:
    assert list(texts(prompt, axis).values()) == expected
    assert plan_prompts(prompt, AXES).fixed.get(axis) == fixed


def test_a_cat_is_told_which_axes_suit_it() -> None:
    with pytest.raises(InputError, match=r"about 'a cat'.*choose --axes animal"):
        plan_prompts("a cat", AXES)
    with pytest.raises(InputError, match=r"about 'a street'.*choose --axes scene"):
        plan_prompts("a street", AXES)


def test_one_person_has_no_population() -> None:
    with pytest.raises(InputError, match=r"one person or character, 'Frida Kahlo'"):
        plan_prompts("Frida Kahlo with a parrot", AXES)
    assert plan_prompts("[Frida Kahlo] with a parrot", AXES).subject.text == "Frida Kahlo"
