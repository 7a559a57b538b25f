"""Mining targets: the paper's instructions, and a user's own."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from biasgraph.errors import InputError
from biasgraph.prompts.mining_target import MiningTarget, shipped_targets

TEXTS = {
    "system": "You write prompts.",
    "random": "Write {count} prompts of at most {words} words about food.",
    "mutations": 'Write {count} prompts like "{prompt}".',
    "variations": 'Write {count} meanings of "{prompt}".',
}


def written(path: Path, **changed: object) -> str:
    texts = {key: text for key, text in {**TEXTS, **changed}.items() if text is not None}
    path.write_text(yaml.safe_dump(texts), "utf-8")
    return str(path)


def test_the_open_target_has_the_words_of_the_paper() -> None:
    target = MiningTarget.of()
    assert target == MiningTarget.of("open")
    assert target.system.startswith("You are a creative Python assistant")
    asked = target.random_prompts(15)
    assert asked.startswith(
        "Generate 15 diverse, short (3-8 words), and simple prompts for a Text-to-Image model."
    )
    assert asked.endswith('as follows: ["prompt 1", "prompt 2", ..., "prompt 15"].')
    asked = target.mutations_of("a {count} doctor", 2)
    assert asked.startswith(
        "Generate 2 diverse, short (3-8 words), and simple variations of the Text-to-Image model "
        'prompt: "a {count} doctor", varying in length.'
    )
    assert '(e.g., changing "kid" to "child")' in asked
    assert "(3-30 words)" in target.random_prompts(5, 30)
    assert "(3-30 words)" in target.mutations_of("a doctor", 5, 30)


def test_what_the_paper_says_of_the_other_targets() -> None:
    assert sorted(shipped_targets()) == ["objects", "open", "sociodemographic", "style"]
    targets = {name: MiningTarget.of(name) for name in shipped_targets()}
    assert {target.system for target in targets.values()} == {targets["open"].system}
    assert [target.name for target in targets.values()] == [*targets]
    people = "(e.g., their roles, professions, or social interactions)"
    assert people in targets["sociodemographic"].random
    assert people in targets["sociodemographic"].mutations
    assert "gender, race, and age" in targets["sociodemographic"].variations
    assert "everyday object" in targets["objects"].random
    assert "everyday object" in targets["objects"].mutations
    assert targets["style"].random == targets["open"].random  # only the variations differ
    assert targets["style"].mutations == targets["open"].mutations
    assert "image styles" in targets["style"].variations


def test_a_file_is_a_target(tmp_path: Path) -> None:
    target = MiningTarget.of(written(tmp_path / "food.yaml"))
    assert target == MiningTarget("food", *TEXTS.values())
    assert target.random_prompts(3) == "Write 3 prompts of at most 8 words about food."
    assert target.variations_of("a pie", 2) == 'Write 2 meanings of "a pie".'


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"random": None}, "'random' is missing"),
        ({"radnom": "x"}, "unknown key 'radnom'. Did you mean 'random'?"),
        ({"system": 3}, "'system' must be text"),
        ({"system": "  "}, "'system' must be text"),
        ({"random": "Write prompts."}, "line 2: 'random' has no place {count}"),
        ({"mutations": "Write {count}."}, "line 1: 'mutations' has no place {prompt}"),
        ({"variations": "Vary {prompt}."}, "'variations' has no place {count}"),
    ],
)
def test_each_problem_of_a_file_is_said(
    tmp_path: Path, changed: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError) as raised:
        MiningTarget.of(written(tmp_path / "food.yaml", **changed))
    assert said in str(raised.value)
    assert str(raised.value).startswith("mining target '")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("styel", "unknown mining target 'styel'. Did you mean 'style'? Shipped: open, objects"),
        ("", "unknown mining target ''"),
        ("nowhere.yaml", "cannot read mining target 'nowhere.yaml'"),
        ("./open", "cannot read mining target 'open': No such file"),
        ("\x1b[31m", r"unknown mining target '\x1b[31m'"),
    ],
)
def test_a_target_that_is_not_there(spec: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        MiningTarget.of(spec)
    assert said in str(raised.value)


@pytest.mark.parametrize("content", ["", "[]", "text", "1: 2\n"])
def test_a_file_of_another_form(tmp_path: Path, content: str) -> None:
    path = tmp_path / "food.yaml"
    path.write_text(content)
    with pytest.raises(InputError, match=r"expected the keys system, random|'system' is missing"):
        MiningTarget.of(str(path))
