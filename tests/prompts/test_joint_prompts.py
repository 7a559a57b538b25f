"""Prompts that set several axes at once."""

from __future__ import annotations

import csv
import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from biasgraph.data.axes import Axis, load_axis_set
from biasgraph.errors import InputError
from biasgraph.io.resources import lines
from biasgraph.prompts.counterfactuals import Prompt, joint_prompts, plan_prompts
from biasgraph.prompts.grammar import indefinite_article, singular_in
from biasgraph.prompts.subject import find_subject
from biasgraph.prompts.vocabulary import agree
from biasgraph.sandbox.scene_captions import read_scene
from tests.sampled import sampled

AXES = load_axis_set("occupation")
OCCUPATIONS = lines("prompts", "occupations.txt")
CONTEXTS = ("with a laptop", "on a sunny day", "at a conference")
DATA = Path(__file__).parents[1] / "data"


Combination = frozenset[tuple[str, str]]  # axes with their attributes


def axes(*names: str) -> list[Axis]:
    return [AXES.axis(name) for name in names]


def tibet() -> Iterator[str]:
    """The prompts of TIBET that have one subject, a person."""
    with (DATA / "tibet_prompts.tsv").open(encoding="utf-8") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        for row in rows:
            with suppress(InputError):
                yield plan_prompts(row["prompt"], AXES).initial.text


def subsets(seed: str, many: int) -> list[list[Axis]]:
    """Some sets of two or three axes, others for every seed."""
    rng = random.Random(seed)
    return [rng.sample(AXES.axes, rng.randint(2, 3)) for _ in range(many)]


def test_every_combination_once_and_in_order() -> None:
    found = joint_prompts("A photo of a librarian", axes("age", "gender", "clothing"))
    assert len(found) == 3 * 2 * 2
    assert found[0] == Prompt(
        "A photo of a young male librarian in formal attire",
        "other",
        "age + gender + clothing",
        "young + male + formal",
    )
    combinations = itertools.product(*(axis.names for axis in axes("age", "gender", "clothing")))
    assert [prompt.attribute.split(" + ") for prompt in found] == [list(c) for c in combinations]
    assert len({prompt.text for prompt in found}) == len(found)


def test_one_axis_gives_the_counterfactuals() -> None:
    single = plan_prompts("a [bird photographer] in the wild", AXES.only(["age"])).counterfactuals
    joint = joint_prompts("a [bird photographer] in the wild", axes("age"))
    assert [prompt.text for prompt in joint] == [prompt.text for prompt in single]


@pytest.mark.parametrize(
    ("prompt", "chosen", "expected"),
    [
        ("a girl in Rome", ("gender", "age"), "a young man in Rome"),
        ("a girl in Rome", ("age", "gender"), "a young man in Rome"),
        ("two women", ("gender", "disability"), "two men who are fit"),
        ("a smiling waitress", ("gender", "emotion"), "a male waiter who is happy"),
        ("A teacher of physics", ("clothing", "gender"),
         "A male teacher of physics in formal attire"),
        ("a nurse who won", ("emotion", "environment"),
         "a nurse working indoors who is happy and who won"),
    ],
)  # fmt: skip
def test_what_the_prompt_says_gives_way(prompt: str, chosen: Sequence[str], expected: str) -> None:
    assert joint_prompts(prompt, axes(*chosen))[0].text == expected


@pytest.mark.parametrize("occupation", sampled(OCCUPATIONS))
def test_the_sandbox_reads_every_attribute_back(occupation: str) -> None:
    frames = (
        f"{indefinite_article(occupation)} {occupation}",
        f"A photo of {indefinite_article(occupation)} {occupation} {CONTEXTS[0]}",
        f"every {occupation} {CONTEXTS[1]}",
        f"a portrait of an elderly {occupation} {CONTEXTS[2]}",
    )
    for frame, chosen in itertools.product(frames, subsets(occupation, 3)):
        for prompt in joint_prompts(frame, chosen):
            scene = read_scene(prompt.text)
            wanted = dict(zip(prompt.axis.split(" + "), prompt.attribute.split(" + "), strict=True))
            assert scene.occupation == occupation
            assert scene.contexts == read_scene(frame).contexts
            assert {axis: scene.do[axis] for axis in wanted} == wanted, prompt.text
            others = {axis: said for axis, said in scene.do.items() if axis not in wanted}
            assert others == {a: s for a, s in read_scene(frame).do.items() if a not in wanted}
            check_articles(prompt.text)


@pytest.mark.parametrize("prompt", sampled(tibet()))
def test_the_order_of_the_axes_does_not_matter(prompt: str) -> None:
    plural = plan_prompts(prompt, AXES).subject.plural
    for chosen in subsets(prompt, 2):
        texts = []
        for order in itertools.permutations(chosen):
            found = {
                frozenset(zip(one.axis.split(" + "), one.attribute.split(" + "), strict=True)): one
                for one in joint_prompts(prompt, order)
            }
            texts.append({key: one.text for key, one in found.items()})
        for key in texts[0]:
            assert len({bag(one[key]) for one in texts}) == 1, [one[key] for one in texts]
        for key, text in texts[0].items():
            check_articles(text)
            for axis, name in key:
                attribute = AXES.axis(axis).attribute(name)
                rests = attribute.idle and singular_in("idle", find_subject(prompt).head)
                phrase = agree(str(attribute.idle if rests else attribute.phrase), plural).lower()
                if axis != "gender":  # a noun may carry it
                    said = re.findall(rf"\b{phrase}\b", text.lower())
                    assert len(said) == 1 + holding(phrase, key, plural), text


def holding(phrase: str, key: Combination, plural: bool) -> int:
    """How many of the other phrases hold this one, as "south asian" holds "asian"."""
    others = [agree(AXES.axis(axis).attribute(name).phrase, plural).lower() for axis, name in key]
    return sum(phrase in other for other in others) - 1


def bag(text: str) -> frozenset[tuple[str, int]]:
    """The words of a prompt without order, joints and articles."""
    words = re.findall(r"[\w'-]+", text.lower())
    return frozenset(Counter(word for word in words if word not in ("a", "an", "and")).items())


def check_articles(text: str) -> None:
    for article, following in re.findall(r"\b(an?)\s+(\w[\w-]*)", text):
        assert article.lower() == indefinite_article(following), text
