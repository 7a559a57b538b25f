"""The grammar of the sandbox's prompts: how many there are, and what a step is."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import pytest

from biasgraph.prompts.mined_prompts import same_words
from biasgraph.prompts.subject import find_subject
from biasgraph.sandbox import prompt_grammar
from biasgraph.sandbox.prompt_grammar import WordedPrompt, every_prompt, neighbours
from biasgraph.sandbox.scene_captions import read_scene
from biasgraph.sandbox.world import CONTEXTS, OCCUPATIONS


def test_the_sizes_of_the_space_are_those_of_the_docstring() -> None:
    said = prompt_grammar.__doc__ or ""
    of_any_length = Counter(len(prompt.phrases) for prompt in every_prompt(2, 99))
    assert of_any_length == {0: 26, 1: 26 * 16, 2: 26 * 16 * 15 // 2}
    short = Counter(len(prompt.phrases) for prompt in every_prompt())
    for count, word in enumerate(("none", "one", "two")):
        (row,) = [line for line in said.splitlines() if line.startswith(f"{word} ")]
        assert row.split()[1] == f"{of_any_length[count]:,}"
        assert row.split()[-1] == f"{short[count]:,}"
    assert len(every_prompt(1, 99)) == 442
    assert "there are 442, with at most two 3,562" in said
    assert f"words\n{len(every_prompt()):,}." in said
    sizes = [len(neighbours(prompt)) for prompt in every_prompt()]
    assert f"to {min(sizes)} to {max(sizes)} others" in said


def test_every_prompt_is_another_one_and_means_what_it_says() -> None:
    prompts = every_prompt(2, 99)
    assert len({same_words(prompt.text) for prompt in prompts}) == len(prompts)
    for prompt in prompts[::7]:
        scene = read_scene(prompt.text)
        assert (scene.occupation, scene.do) == (prompt.occupation, {})
        assert sorted(scene.contexts) == sorted(prompt.phrases)
    assert {len(prompt.text.split()) for prompt in every_prompt()} <= set(range(2, 9))
    assert WordedPrompt("chef", ("holding a bouquet", "at night")) in every_prompt()
    assert WordedPrompt("elementary school teacher", ("at night",)).text == (
        "an elementary school teacher at night"
    )
    assert [len(prompt.phrases) for prompt in every_prompt(1)] == [0] * 26 + [1] * 414


def test_a_step_changes_one_thing() -> None:
    chef = WordedPrompt("chef", ("holding a bouquet", "at night"))
    for other, is_next in [
        (WordedPrompt("nurse", chef.phrases), True),
        (WordedPrompt("chef", ("at night",)), True),
        (WordedPrompt("chef", ("with a laptop", "at night")), True),
        (WordedPrompt("chef", ("with a laptop", "with a toolbox")), False),
        (WordedPrompt("nurse", ("at night",)), False),
        (WordedPrompt("chef"), False),
        (chef, False),
    ]:
        assert chef.is_next_to(other) is is_next
        assert other.is_next_to(chef) is is_next
    plain = neighbours(WordedPrompt("chef"), 99)
    assert len(plain) == 25 + 16
    assert len(neighbours(WordedPrompt("chef", ("at night",)), 99)) == 25 + 1 + 15 + 15
    assert len(neighbours(chef, 99)) == 25 + 2 + 2 * 14


@pytest.mark.parametrize("most_words", [2, 5, 8])
def test_no_step_leads_out_of_the_space(most_words: int) -> None:
    space = {*every_prompt(2, most_words)}
    for prompt in [*space][:50]:
        assert {*neighbours(prompt, most_words)} <= space


def test_the_phrases_keep_their_order() -> None:
    place = {phrase: i for i, phrase in enumerate(CONTEXTS)}
    for prompt in every_prompt():
        assert all(place[a] < place[b] for a, b in pairwise(prompt.phrases))
    assert len([*combinations(CONTEXTS, 2)]) == 120
    assert len(OCCUPATIONS) == 26


def test_the_subject_of_every_prompt_is_a_person() -> None:
    kinds = Counter(find_subject(prompt.text).kind for prompt in every_prompt(most_words=20))
    assert kinds == {"person": len(every_prompt(most_words=20))}
