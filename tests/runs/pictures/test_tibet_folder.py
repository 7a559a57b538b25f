"""The layout of TIBET's dataset: which JSON counts, whose axes, what a counterfactual says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError
from biasgraph.runs.pictures.layouts import Layout
from biasgraph.runs.pictures.listing import Listing
from biasgraph.runs.pictures.tibet_folder import read_tibet
from biasgraph.runs.questions import questions_about
from tests.runs.pictures.pictures import folder_of

OCCUPATION = load_axis_set("occupation")
PROMPT = "A photo of a computer programmer"
RESULT = {
    "gender_biases": [
        "A photo of a female computer programmer",
        "A photo of a male computer programmer",
    ],
    "age": [
        "A photo of an elderly computer programmer",
        "A photo of a young computer programmer",
    ],
    "setting": [
        "A photo of a computer programmer working in a garage",
        "A photo of a computer programmer in an office.",
        "A photo of a programmer",
    ],
    "tone": ["A sad photo of a computer programmer"],
}
TOLD = {"initial_prompt": PROMPT, "gpt_response": [], "result": RESULT, "id": "P_1"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    sets = {f"{axis}/{j}": 2 for axis, texts in RESULT.items() for j in range(len(texts))}
    return folder_of(tmp_path / "images" / "P_1", {"initial_prompts": 3, **sets}, ".jpeg")


def tell(path: Path, data: Any = TOLD) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(data))


def layout_of(root: Path, axes=None, prompt: str | None = None) -> Layout:
    return read_tibet(Listing.of(root), axes, prompt)


def sets_of(layout: Layout) -> dict[tuple[str, str], int]:
    return {
        (one.axis, one.attribute): len(one.files) for one in next(iter(layout.prompts.values()))
    }


def test_its_own_axes(root: Path) -> None:
    tell(root / "P_1.json", {**TOLD, "questions": ["Sex?", "Age?", "Where?", "Tone?"]})
    layout = layout_of(root)
    assert [*layout.prompts] == [PROMPT]
    assert {axis.name: axis.names for axis in layout.axes.axes} == {
        "gender_biases": ("female", "male"),
        "age": ("elderly", "young"),
        "setting": ("working in a garage", "in an office", "A photo of a programmer"),
    }
    assert [axis.question for axis in layout.axes.axes] == ["Sex?", "Age?", "Where?"]
    assert layout.axes.gate == OCCUPATION.gate
    assert sets_of(layout)["", ""] == 3
    assert sets_of(layout)["setting", "in an office"] == 2
    assert layout.left_out == {
        "of an axis with a single counterfactual": ["tone/0/0.jpeg", "tone/0/1.jpeg"]
    }
    (sets,) = layout.prompts.values()
    text = next(one.text for one in sets if one.attribute == "elderly")
    assert text == "A photo of an elderly computer programmer"


def test_blanks_around_a_name_are_no_part_of_it(root: Path) -> None:
    tell(root / "P_1.json", {**TOLD, "result": {f" {name} ": RESULT[name] for name in RESULT}})
    assert {axis.name for axis in layout_of(root).axes.axes} == {"gender_biases", "age", "setting"}


def test_its_axes_can_be_asked_about(root: Path) -> None:
    tell(root.parent / "P_1.json")
    gate, questions = questions_about(layout_of(root).axes)
    assert gate.captions[0] == "a photo of a person"
    assert questions[0].questions[0].text == "What is the gender of the person in the image?"
    assert questions[0].questions[0].captions[1] == "a photo of a male person"
    assert questions[2].questions[0].captions[0] == "a photo of a person working in a garage"


def test_declared_axes_take_what_counterfactuals_say(root: Path) -> None:
    tell(root.parent / "P_1.json", {**TOLD, "result": {**RESULT, "age": RESULT["age"]}})
    for folder in ("setting", "tone"):
        for j in range(len(RESULT[folder])):
            for path in (root / folder / str(j)).iterdir():
                path.unlink()
    told = {**TOLD, "result": {name: RESULT[name] for name in ("gender_biases", "age")}}
    tell(root.parent / "P_1.json", told)
    layout = layout_of(root, OCCUPATION)
    assert layout.axes is OCCUPATION
    assert sets_of(layout) == {
        ("", ""): 3,
        ("gender", "female"): 2,
        ("gender", "male"): 2,
        ("age", "old"): 2,
        ("age", "young"): 2,
    }


def test_declared_axes_that_do_not_fit_are_refused(root: Path) -> None:
    tell(root.parent / "P_1.json")
    with pytest.raises(InputError, match=r"no axis 'setting'.*Omit --axes to use TIBET's own axes"):
        layout_of(root, OCCUPATION)
    told = {"gender": ["A photo of a computer programmer", "A photo of a male computer programmer"]}
    tell(root.parent / "P_1.json", {**TOLD, "result": told})
    with pytest.raises(InputError, match="names none of the attributes of 'gender'"):
        layout_of(root, OCCUPATION)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("images/P_1/whatever.json", {**TOLD, "id": "other"}),
        ("images/P_1.json", TOLD),
        ("images/all.json", [{**TOLD, "id": "P_0", "initial_prompt": "no"}, TOLD]),
        ("images/all.json", {"P_1": {k: v for k, v in TOLD.items() if k != "id"}, "P_2": {}}),
    ],
)
def test_the_json_may_lie_in_the_folder_or_beside_it(root: Path, name: str, data: Any) -> None:
    (root.parent / "broken.json").write_text("{")
    tell(root.parent.parent / name, data)
    assert [*layout_of(root).prompts] == [PROMPT]


@pytest.mark.parametrize("data", [{**TOLD, "id": "P_2"}, [1, None], "text", {"result": {}}])
def test_without_its_json_the_layout_says_nothing(root: Path, data: Any) -> None:
    tell(root.parent / "P.json", data)
    with pytest.raises(InputError, match=r"no JSON file in it or beside it .* as P_1.json"):
        layout_of(root)


def test_the_json_of_a_neighbour_is_not_taken(root: Path) -> None:
    (root.parent / "P_2").mkdir()
    tell(root.parent / "P_2.json", {key: TOLD[key] for key in TOLD if key != "id"})
    with pytest.raises(InputError, match="no JSON file in it or beside it"):
        layout_of(root)


def test_json_that_is_cut_short_is_named(root: Path) -> None:
    (root.parent / "P_1.json").write_text('{"initial_prompt":')
    with pytest.raises(InputError, match=r"P_1.json is not readable JSON"):
        layout_of(root)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"initial_prompt": 7}, "'initial_prompt' must be text"),
        ({"result": {"age": "old"}}, "'result' must give a list of prompts"),
        ({"result": {}}, "'result' must give a list of prompts"),
        ({"result": {"age": ["old", 3]}}, "'result' must give a list of prompts"),
        ({"result": {"tone": ["A sad photo"]}}, "needs at least one axis"),
        ({"result": {"era": ["a", "b"]}}, "contains pictures but is not an axis"),
        ({"result": {**RESULT, "Gender_Biases": ["a", "b"]}}, "axes cannot be used"),
        ({"result": {**RESULT, "x": [str(n) for n in range(60)]}}, "axes cannot be used"),
    ],
)
def test_json_that_cannot_be_is_refused(root: Path, change: dict, problem: str) -> None:
    tell(root.parent / "P_1.json", {**TOLD, **change})
    with pytest.raises(InputError, match=problem) as caught:
        layout_of(root)
    assert "\n" not in str(caught.value)


def test_a_folder_of_no_counterfactual_is_refused(root: Path) -> None:
    tell(root.parent / "P_1.json")
    folder_of(root, {"age/2": 1})
    with pytest.raises(InputError, match="has 2 counterfactuals, so its folders must be 0 to 1"):
        layout_of(root)


def test_names_of_attributes_differ_and_mean_nothing_else(root: Path) -> None:
    texts = [f"{PROMPT} unknown", f"{PROMPT} Unknown", f"{PROMPT} here", f"{PROMPT}, here"]
    tell(root.parent / "P_1.json", {**TOLD, "result": {**RESULT, "place": texts}})
    names = layout_of(root).axes.axis("place").names
    assert names == ("unknown (2)", "Unknown (3)", "here", "here (2)")
