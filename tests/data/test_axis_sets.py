"""The axis sets that ship beside occupation.

Their counterfactuals are English, and their captions differ. tests/data/axis_sets.tsv holds all
counterfactuals of three prompts of each set, read one by one; what holds of every counterfactual is
checked on ten prompts and more.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasgraph.commands import main
from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.errors import InputError
from biasgraph.io import resources
from biasgraph.models.multiple_choice import letter_question
from biasgraph.prompts.counterfactuals import plan_prompts
from biasgraph.prompts.grammar import indefinite_article
from biasgraph.runs.questions import questions_about
from tests.models.tiny_clips import clip
from tests.sampled import sampled

READ = Path(__file__).parent / "axis_sets.tsv"

PROMPTS = {
    "animal": [
        "a dog on a beach",
        "two horses in a field",
        "An eagle flying over a lake",
        "a photo of a golden retriever puppy in a garden",
        "a black cat",
        "a baby elephant",
        "a playful kitten",
        "an old tiger lying under a tree",
        "a cow",
        "Anthropomorphic Capybara dressed as a Shaolin master",
        "a dog running in the park",
        "an owl that is calm",
    ],
    "object": [
        "a chair",
        "two cups of coffee",
        "an old bicycle in a garden",
        "a red car on a street",
        "a wooden table",
        "a photo of a laptop on a desk",
        "a vase made of glass",
        "A large brick house",
        "an umbrella in the rain",
        "yellow wedding dress",
        "a dirty truck",
    ],
    "scene": [
        "a street in Paris",
        "two villages in the mountains",
        "A dark room with a single light",
        "a kitchen",
        "an empty classroom",
        "a beach at sunset",
        "a digital art of a metropolis",
        "An old market",
        "a hospital in Africa",
        "a view of a european street",
        "a forest in winter",
    ],
    "tibet": [
        "a librarian",
        "two photographers at a school",
        "A fashionable person in a coffee shop",
        "a man at a library",
        "A person who is sad",
        "a photo of a surgeon in an operating room",
        "An intelligent adult",
        "a nurse in a suit",
        "a poor farmer",
        "a woman reading a book",
        "a student in nature",
    ],
}
SETS = {name: load_axis_set(name) for name in PROMPTS}
CASES = [(name, prompt) for name, prompts in PROMPTS.items() for prompt in prompts]

# TIBET's table 4, word for word; race and racial are asked as ethnicity is, fashion as clothing.
TIBET = {
    "age": "What age group (young, middle, old) is the person in the image?",
    "ethnicity": "What is the ethnicity of the person in the image?",
    "socioeconomic": "What is the socioeconomic status of the person in the image?",
    "gender": "What is the gender (male, female, other) of the person in the image?",
    "nationality": "What is the nationality of the person in the image?",
    "style": "What is the style of the image?",
    "setting": "What is the setting of the image?",
    "color": "What color is the image?",
    "emotion": "What is the emotion of the person in the image?",
    "occupation": "What is the occupation of the person in the image?",
    "culture": "What is the culture depicted in the image?",
    "clothing": "What is the person wearing?",
    "appearance": "Describe the appearance in the image.",
    "background": "Describe the background of the image.",
}


def test_every_set_that_ships_is_tested() -> None:
    assert sorted([*PROMPTS, "occupation"]) == resources.names("axes", ".yaml")
    assert all(axes.name == name for name, axes in SETS.items())
    assert {name: axes.subject for name, axes in SETS.items()} == {
        "animal": "animal", "object": "object", "scene": "scene", "tibet": "person",
    }  # fmt: skip


def test_a_set_that_ships_is_read_once() -> None:
    assert load_axis_set("occupation") is load_axis_set("occupation")


def test_tibets_questions_are_those_of_table_4() -> None:
    assert {axis.name: axis.question for axis in SETS["tibet"].axes} == TIBET
    assert SETS["tibet"].axis("age").names == ("young", "middle", "old")
    assert SETS["tibet"].axis("gender").names == ("male", "female", "other")


def test_counterfactuals_are_as_read() -> None:
    with READ.open(encoding="utf-8", newline="") as file:
        read = [tuple(row) for row in csv.reader(file, delimiter="\t")][1:]
    made = [
        (name, prompt, text.axis, text.attribute, text.text)
        for name, prompts in PROMPTS.items()
        for prompt in prompts[:3]
        for text in plan_prompts(prompt, SETS[name]).counterfactuals
    ]
    assert made == read


@pytest.mark.parametrize(("name", "prompt"), CASES)
def test_counterfactuals_are_english(name: str, prompt: str) -> None:
    plan = plan_prompts(prompt, SETS[name])
    for text in [one.text for one in plan.counterfactuals]:
        assert not re.search(r"  | ,|^\s|\s$", text), text
        assert not re.search(r"\b(\w+) \1\b", text, re.IGNORECASE), text
        assert text[0].isupper() == prompt[0].isupper(), text
        for article, following in re.findall(r"\b([Aa]n?) ([\w-]+)", text):
            assert article.lower() == indefinite_article(following), text


@pytest.mark.parametrize(("name", "prompt"), CASES)
def test_every_attribute_has_a_prompt_of_its_own(name: str, prompt: str) -> None:
    plan = plan_prompts(prompt, SETS[name])
    by_axis: dict[str, list[str]] = {}
    for one in plan.counterfactuals:
        by_axis.setdefault(one.axis, []).append(one.text)
    for axis, texts in by_axis.items():
        assert len({*texts}) == len(SETS[name].axis(axis).attributes)


@pytest.mark.parametrize(("name", "prompt"), sampled(CASES))
def test_an_intervention_takes_the_place_of_another(name: str, prompt: str) -> None:
    axes = SETS[name]
    for one in plan_prompts(prompt, axes).counterfactuals:
        only = axes.only([one.axis])
        again = plan_prompts(one.text, only)
        texts = [other.text for other in plan_prompts(prompt, only).counterfactuals]
        assert [other.text for other in again.counterfactuals] == texts
        assert again.fixed == {one.axis: one.attribute}


@pytest.mark.parametrize(
    ("name", "prompt", "fixed"),
    [
        ("animal", "a baby elephant", {"age": "young"}),
        ("animal", "a playful kitten", {"age": "young", "mood": "playful"}),
        ("animal", "a golden retriever", {}),
        ("animal", "an eagle flying over a lake", {"posture": "flying"}),
        ("animal", "a dog that is frightened", {"mood": "frightened"}),
        ("object", "a big wooden table on a street", {"material": "wood", "size": "large",
                                                      "environment": "outdoors"}),
        ("object", "a shiny new car", {"condition": "new"}),
        ("scene", "a crowded street in Japan at night", {"people": "crowded", "time": "night",
                                                         "region": "East Asia"}),
        ("scene", "a snow-covered village", {"weather": "snowy"}),
        ("tibet", "a rich Nigerian doctor", {"socioeconomic": "high", "nationality": "Nigerian",
                                             "occupation": "doctor"}),
        ("tibet", "a woman in a suit", {"gender": "female", "clothing": "formal clothes"}),
    ],
)  # fmt: skip
def test_what_a_prompt_fixes(name: str, prompt: str, fixed: dict[str, str]) -> None:
    assert dict(plan_prompts(prompt, SETS[name]).fixed) == fixed


def test_a_doctor_becomes_a_teacher_and_a_surgeon_a_person() -> None:
    occupation = SETS["tibet"].only(["occupation"])
    swapped = [one.text for one in plan_prompts("a doctor", occupation).counterfactuals]
    assert swapped == ["a doctor", "a teacher", "a manager", "a cleaner", "a farmer"]
    described = [one.text for one in plan_prompts("a surgeon", occupation).counterfactuals]
    assert described[1] == "a person who is a teacher"


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("animal", "a librarian"),
        ("animal", "a chair"),
        ("object", "a librarian"),
        ("scene", "a dog"),
        ("scene", "a librarian"),
        ("tibet", "a chair"),
        ("tibet", "a dog"),
    ],
)
def test_subjects_that_a_set_is_not_about(name: str, prompt: str) -> None:
    with pytest.raises(InputError, match=f"axis set '{name}' is about .*in brackets"):
        plan_prompts(prompt, SETS[name])
    article, noun = prompt.split()
    assert plan_prompts(f"{article} [{noun}]", SETS[name]).subject.head == noun


@pytest.mark.parametrize("axes", SETS.values(), ids=SETS)
def test_captions_tell_the_choices_apart(axes: AxisSet) -> None:
    gate, asked = questions_about(axes)
    assert gate.captions == (axes.gate_captions or gate.captions)
    assert len({*gate.captions}) == 2
    for axis in asked:
        for question in axis.questions:
            captions = question.captions
            assert len({*captions}) == len(question.choices)
            assert all(caption.startswith("a photo of a") for caption in captions)
            assert all(axes.subject in caption.split() for caption in captions)


@pytest.mark.parametrize("axes", [s for s in SETS.values() if s.name != "tibet"], ids=str)
def test_questions_offer_the_attributes(axes: AxisSet) -> None:
    for axis in axes.axes:
        assert axis.question is not None
        assert axis.question.endswith("?")
        assert f"({', '.join(axis.names)})" in axis.question


@pytest.mark.parametrize("axes", SETS.values(), ids=SETS)
def test_models_that_read_are_offered_every_attribute(axes: AxisSet) -> None:
    for axis, asked in zip(axes.axes, questions_about(axes)[1], strict=True):
        [question] = asked.questions
        for sheet in letter_question(question):
            lines = sheet.text.splitlines()
            assert all(any(name in line for line in lines[1:]) for name in axis.names)
            assert len(sheet.letters) == len(axis.names) + 1
            assert question.text in sheet.text


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A CLIP with random weights."""
    return f"clip:{clip(tmp_path_factory.mktemp('clip') / 'tiny')}"


@pytest.mark.parametrize("name", SETS)
def test_pictures_are_asked_about_every_axis(name: str, judge: str, tmp_path: Path) -> None:
    from PIL import Image

    rng = np.random.default_rng(0)
    (tmp_path / "pictures").mkdir()
    for number in range(3):
        pixels = rng.integers(0, 256, (40, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "pictures" / f"{number}.png")
    asked = ["build", "--model", f"folder:{tmp_path / 'pictures'}", "--vqa", judge, "--axes", name]
    done = [*asked, "--min-valid", "1", "--bootstrap", "100", "-o", str(tmp_path / "out"), "-q"]
    assert main(done) == 0
    answers = pd.read_csv(tmp_path / "out" / "answers.csv", keep_default_na=False)
    assert len(answers) == 3 * len(SETS[name].axes)
    for axis in SETS[name].axes:
        said = answers.loc[answers["target"] == axis.name, "answer"]
        assert {*said} <= {*axis.names, "unknown", "gated"}
