"""The sandbox as a language model: what rules propose, and that it says what it is."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence

import pytest

from biasgraph.audits.mining.prompt_writer import Prompts
from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError
from biasgraph.models.base import Message
from biasgraph.models.json_chat import chat
from biasgraph.models.registry import load_language_model
from biasgraph.prompts.counterfactuals import plan_prompts
from biasgraph.prompts.instructions import Biases, Counterfactuals, instruction
from biasgraph.prompts.mined_prompts import unlike
from biasgraph.prompts.mining_target import MiningTarget, shipped_targets
from biasgraph.prompts.suited_axes import suited_axes
from biasgraph.sandbox.prompt_grammar import WordedPrompt, every_prompt, neighbours
from biasgraph.sandbox.proposer import ABOUT
from tests.fake_models import Variations

OCCUPATION = load_axis_set("occupation")
SANDBOX = load_language_model("sandbox")


def _user(*instructions: str) -> list[Message]:
    return [Message("user", text) for text in instructions]


def _tibet(prompt: str) -> list[Message]:
    model = load_language_model("sandbox")
    talk: list[Message] = []
    for text in (instruction("tibet", "axes", prompt=prompt),
                 instruction("tibet", "counterfactuals")):  # fmt: skip
        talk.append(Message("user", text))
        talk.append(Message("assistant", model.reply(talk)))
    return [*talk, Message("user", instruction("tibet", "json"))]


def test_the_chain_of_tibet_gives_the_counterfactuals_of_the_axis_set() -> None:
    talk = _tibet("a photo of a librarian")
    assert talk[1].text.startswith(f"({ABOUT[0].upper()}{ABOUT[1:]}.)")
    assert "gender, age, ethnicity" in talk[1].text
    assert "- a photo of an old librarian" in talk[3].text
    exchange = chat(load_language_model("sandbox"), talk, Counterfactuals)
    plan = plan_prompts("a photo of a librarian", OCCUPATION)
    assert exchange.value.root == {
        axis.name: [text.text for text in plan.counterfactuals if text.axis == axis.name]
        for axis in OCCUPATION.axes
    }


def test_every_transcript_says_that_no_language_model_wrote_it() -> None:
    model = load_language_model("sandbox")
    exchange = chat(model, _tibet("a nurse"), Counterfactuals)
    replied = exchange.transcript[-1]
    assert replied["model"] == {
        "spec": "sandbox",
        "fingerprint": model.fingerprint,
        "settings": {"written_by": ABOUT},
    }
    assert "no language model" in json.dumps(exchange.transcript[-1])
    assert model.fingerprint.startswith("rules:")


def test_biases_name_what_the_prompt_says_already() -> None:
    talk = [
        Message("system", instruction("openbias", "system")),
        Message("user", instruction("openbias", "prompt", prompt='an old nurse in "Paris"')),
    ]
    biases = chat(load_language_model("sandbox"), talk, Biases).value.biases
    assert [bias.name for bias in biases] == [f"person {axis.name}" for axis in OCCUPATION.axes]
    assert {bias.name for bias in biases if bias.present_in_prompt} == {"person age"}
    assert biases[0].classes == ["male", "female"]
    assert all(bias.question.endswith("?") for bias in biases)


def _variations(prompt: str, count: int) -> list[str]:
    asked = _user(instruction("minethegap", "variations", prompt=prompt, count=count))
    return chat(load_language_model("sandbox"), asked, Variations).value.variations


def test_variations_take_turns_among_the_axes_that_the_prompt_leaves_open() -> None:
    found = _variations("a female nurse", 64)
    assert len(found) == 64
    assert _variations("a female nurse", 15) == found[:15]
    assert found[:2] == ["a young female nurse", "a white female nurse"]
    assert all("female" in text for text in found)
    assert "a female nurse" not in found
    assert any("old" in text and "formal attire" in text for text in found)  # two at once


def _prompts(request: str, number: int = 1, seen: Sequence[str] = ()) -> list[str]:
    return chat(SANDBOX, _user(unlike(request, number, seen)), Prompts).value.prompts


@pytest.mark.parametrize("name", [*shipped_targets()])
def test_the_requests_of_every_target_are_known(name: str) -> None:
    target = MiningTarget.of(name)
    space = {prompt.text for prompt in every_prompt()}
    random = _prompts(target.random_prompts(15))
    assert len(random) == len({*random}) == 15
    assert {*random} <= space
    chef = WordedPrompt("chef", ("at night",))
    mutations = _prompts(target.mutations_of(chef.text, 10))
    assert len(mutations) == 10
    assert {*mutations} <= {prompt.text for prompt in neighbours(chef)}
    asked = _user(target.variations_of("a nurse", 15))
    varied = chat(load_language_model("sandbox"), asked, Variations).value.variations
    assert varied == _variations("a nurse", 15)


def test_prompts_follow_from_the_number_and_leave_out_what_was_seen() -> None:
    request = MiningTarget.of().random_prompts(40)
    first = _prompts(request, 1)
    assert _prompts(request, 1) == first
    assert _prompts(request, 2) != first
    again = _prompts(request, 1, first[:30])
    assert again[:10] == first[30:]
    assert not {*again} & {*first[:30]}
    around = [prompt.text for prompt in neighbours(WordedPrompt("chef"))]
    left = _prompts(MiningTarget.of().mutations_of("a chef", 15), 1, around[3:])
    assert sorted(left) == sorted(around[:3])  # fewer than asked for
    assert _prompts(MiningTarget.of().mutations_of("A chef!", 99), 1) != []
    assert len(_prompts(MiningTarget.of().random_prompts(1000), 1)) == 1000


@pytest.mark.slow(reason="thousands of prompts")
def test_every_random_prompt_is_as_likely() -> None:
    request = MiningTarget.of().random_prompts(1)
    space = every_prompt()
    asked = [_user(unlike(request, number, ())) for number in range(len(space))]
    drawn = Counter(json.loads(SANDBOX.reply(talk))["prompts"][0] for talk in asked)
    phrases = {prompt.text: len(prompt.phrases) for prompt in space}
    expected = Counter(phrases.values())
    for count, n in expected.items():
        share = sum(times for text, times in drawn.items() if phrases[text] == count)
        assert abs(share - n) < 4 * (n * (1 - n / len(space))) ** 0.5
    assert len(drawn) > 0.58 * len(space)  # 1 - 1/e of it is expected


def test_the_length_that_is_asked_for_is_kept_to() -> None:
    target = MiningTarget.of()
    assert {*_prompts(target.random_prompts(50, 3))} <= {p.text for p in every_prompt(2, 3)}
    assert max(len(text.split()) for text in _prompts(target.random_prompts(99, 30))) > 8


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("a photo of a chef", "occupation"),
        ("a zorblax", "occupation"),
        ("a photo of a dog", "animal"),
        ("a chair", "object"),
        ("a street at night", "scene"),
    ],
)
def test_the_axes_suit_the_subject(prompt: str, name: str) -> None:
    axes = suited_axes(prompt)
    assert axes.name == name
    for question in (Biases, Counterfactuals):
        talk = (
            _tibet(prompt)
            if question is Counterfactuals
            else _user(instruction("openbias", "prompt", prompt=prompt))
        )
        assert chat(load_language_model("sandbox"), talk, question)


@pytest.mark.parametrize(
    ("talk", "said"),
    [
        ([], "knows the instructions of TIBET, OpenBias and MineTheGap"),
        (_user("Write a poem."), "name a model, as in --llm lm:NAME"),
        (_user(instruction("tibet", "json")), "knows the instructions"),
        (_user(instruction("openbias", "prompt", prompt="of")), "subject"),
        (
            _user(MiningTarget.of().mutations_of("a dog\x1b", 2)),
            r"only prompts of its own grammar with at most 8 words, not 'a dog\\x1b'",
        ),
    ],
)
def test_what_rules_cannot_answer_is_refused(talk: Sequence[Message], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_language_model("sandbox").reply(talk)


def test_only_the_bare_sandbox_is_one() -> None:
    with pytest.raises(InputError, match="the bare sandbox"):
        load_language_model("sandbox:stereotyped")


def test_rules_load_no_model() -> None:
    code = (
        "import sys\n"
        "from biasgraph.audits.model_trial import try_models\n"
        "from biasgraph.models.inference_options import ModelOptions\n"
        "print(try_models({'language model': 'sandbox'}, ModelOptions())[0]['said'])\n"
        "assert not {'torch', 'transformers', 'diffusers'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "8 axes that may be biased" in done.stdout
