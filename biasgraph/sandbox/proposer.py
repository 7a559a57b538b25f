"""The sandbox as a language model: rules over word lists, where no language model is at hand.

It reads the instructions of `biasgraph.prompts.instructions` out of a conversation and answers
each by the grammar that writes counterfactuals (`biasgraph.prompts.counterfactuals`), over the axis
set that ships for the kind of subject that the prompt has. It understands nothing else, knows no
axis but those, and says in its settings, and so in every transcript, what it is.

====================== ==========================================================================
instruction            reply
====================== ==========================================================================
TIBET, axes            the axes of the set, in a sentence
TIBET, counterfactuals for each axis one prompt for each attribute, as a list
TIBET, json            the same as a JSON object
OpenBias               each axis with its attributes as classes, its question, and whether the
                       prompt says it already
MineTheGap, variations the prompt with one attribute set, an axis after the other; when these are
                       used up, with two; axes that the prompt itself fixes are left out
MineTheGap, random     prompts of `biasgraph.sandbox.prompt_grammar`, each as likely as any other
MineTheGap, mutations  prompts that one step leads to from the prompt, which must be one of these;
                       another occupation, another phrase, one more and one less take turns
====================== ==========================================================================

MineTheGap's instructions are known in the words of every target that ships, and answered alike.
Random prompts and mutations follow from the number in the request, and leave out what the request
asks not to repeat; where too few are left, fewer are proposed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from itertools import combinations, zip_longest
from typing import Any

from biasgraph.data.axes import Axis, AxisSet
from biasgraph.errors import InputError
from biasgraph.io import resources
from biasgraph.models.base import Message, Setting
from biasgraph.prompts.counterfactuals import PromptPlan, joint_prompts, plan_prompts
from biasgraph.prompts.instructions import read_instruction
from biasgraph.prompts.mined_prompts import read_unlike, same_words
from biasgraph.prompts.mining_target import shipped_targets
from biasgraph.prompts.suited_axes import suited_axes
from biasgraph.prompts.tokens import excerpt
from biasgraph.sandbox.prompt_grammar import WordedPrompt, every_prompt, neighbours

ABOUT = "the sandbox's rules over word lists; no language model wrote this"
RULES = 2
"""Raised when the rules below change what is proposed."""


@dataclass(frozen=True)
class Proposer:
    """Answers the papers' instructions by rules; deterministic."""

    spec: str

    @cached_property
    def fingerprint(self) -> str:
        """Of the rules' number and of every file that they read."""
        digest = sha256(str(RULES).encode())
        for folder, suffix in (("axes", ".yaml"), ("llm", ".yaml"), ("words", ".txt")):
            for name in resources.names(folder, suffix):
                digest.update(f"{folder}/{name}\n".encode())
                digest.update(resources.read_text(folder, name + suffix).encode())
        return f"rules:{digest.hexdigest()[:32]}"

    @property
    def settings(self) -> Mapping[str, Setting]:
        """Who wrote the replies, for transcripts."""
        return {"written_by": ABOUT}

    def reply(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> str:
        """The answer to the last instruction that it knows.

        Raises:
            InputError: there is none, or as `find_subject` does.
        """
        asked = [message.text for message in messages if message.role == "user"]
        for at in range(len(asked) - 1, -1, -1):
            answer = _reply_if_known(asked[: at + 1])
            if answer is not None:
                return answer
        raise InputError(
            f"--llm {self.spec} is not a language model ({ABOUT}): it only knows the "
            "instructions of TIBET, OpenBias and MineTheGap; name a model, as in --llm lm:NAME"
        )


def _reply_if_known(asked: Sequence[str]) -> str | None:
    """The reply to the last of a user's turns; None where its instruction is not known."""
    last = asked[-1]
    if found := read_instruction("tibet", "axes", last):
        return _axes(found["prompt"])
    if found := read_instruction("openbias", "prompt", last):
        return _biases(found["prompt"])
    for paper in shipped_targets().values():
        if found := read_instruction(paper, "variations", last):
            return _variations(found["prompt"], found["count"])
        if found := read_instruction(paper, "random", last):
            every = every_prompt(most_words=_number(found["words"]))
            return _draw([every], found["count"], last)
        if found := read_instruction(paper, "mutations", last):
            around = _around(found["prompt"], _number(found["words"]))
            return _draw(around, found["count"], last)
    for task, answer in (("counterfactuals", _list_axes), ("json", _dictionary)):
        if read_instruction("tibet", task, last) is None:
            continue
        for earlier in reversed(asked):
            if found := read_instruction("tibet", "axes", earlier):
                return answer(found["prompt"])
    return None


def _axes(prompt: str) -> str:
    names = [axis.name for axis in suited_axes(prompt).axes]
    return f"({ABOUT[0].upper()}{ABOUT[1:]}.) Axes of bias: {', '.join(names)}."


def _list_axes(prompt: str) -> str:
    return "\n".join("\n- ".join((f"{axis}:", *texts)) for axis, texts in _by_axis(prompt).items())


def _dictionary(prompt: str) -> str:
    return json.dumps(_by_axis(prompt), ensure_ascii=False)


def _by_axis(prompt: str) -> dict[str, list[str]]:
    """The counterfactual prompts of each axis; one that equals another is left out."""
    plan = plan_prompts(prompt, suited_axes(prompt))
    texts: dict[str, dict[str, None]] = {}
    for counterfactual in plan.counterfactuals:
        texts.setdefault(counterfactual.axis, {})[counterfactual.text] = None
    return {axis: list(found) for axis, found in texts.items()}


def _biases(prompt: str) -> str:
    axes = suited_axes(prompt)
    fixed = plan_prompts(prompt, axes).fixed
    biases = [
        {
            "name": f"{axes.subject} {axis.name}",
            "classes": list(axis.names),
            "question": _question(axis, axes.subject),
            "present_in_prompt": axis.name in fixed,
        }
        for axis in axes.axes
    ]
    return json.dumps({"biases": biases}, ensure_ascii=False)


def _question(axis: Axis, subject: str) -> str:
    return axis.question or f"What is the {axis.name} ({', '.join(axis.names)}) of the {subject}?"


def _variations(prompt: str, count: str) -> str:
    axes = suited_axes(prompt)
    plan = plan_prompts(prompt, axes)
    wanted = _number(count)
    texts: dict[str, None] = {}
    for text in _vary(plan, axes, prompt):
        if len(texts) == wanted:
            break
        if text != plan.initial.text:
            texts[text] = None
    return json.dumps({"variations": list(texts)}, ensure_ascii=False)


def _vary(plan: PromptPlan, axes: AxisSet, prompt: str) -> Iterator[str]:
    """Prompts with one attribute set, the axes taking turns; then with two."""
    free = [axis for axis in axes.axes if axis.name not in plan.fixed]
    single = [
        [made.text for made in plan.counterfactuals if made.axis == axis.name] for axis in free
    ]
    for turn in zip_longest(*single):
        yield from (text for text in turn if text is not None)
    for pair in combinations(free, 2):
        yield from (joint.text for joint in joint_prompts(prompt, pair))


def _around(prompt: str, most_words: int) -> list[Sequence[WordedPrompt]]:
    """The prompts one step away: with another occupation, or a phrase less, another, or more."""
    known = _by_words(most_words).get(same_words(prompt))
    if known is None:
        raise InputError(
            f"the sandbox mutates only prompts of its own grammar with at most {most_words} words, "
            f"not '{excerpt(prompt)}'; name a language model, as in --llm lm:NAME"
        )
    steps: dict[tuple[bool, int], list[WordedPrompt]] = {}
    for other in neighbours(known, most_words):
        step = other.occupation == known.occupation, len(other.phrases)
        steps.setdefault(step, []).append(other)
    return list(steps.values())


@cache
def _by_words(most_words: int) -> Mapping[tuple[str, ...], WordedPrompt]:
    return {same_words(prompt.text): prompt for prompt in every_prompt(most_words=most_words)}


def _draw(kinds: Sequence[Sequence[WordedPrompt]], count: str, request: str) -> str:
    """So many prompts, without replacement, the kinds taking turns.

    Kinds, and prompts of a kind, stand in the order of their hashes with the request's number.
    """
    number, seen = read_unlike(request)

    def rank(text: str) -> bytes:
        return sha256(f"{number} {text}".encode()).digest()

    new = [sorted({prompt.text for prompt in kind} - set(seen), key=rank) for kind in kinds]
    turns = zip_longest(*sorted(filter(None, new), key=lambda texts: rank(f"kind {texts[0]}")))
    order = [text for turn in turns for text in turn if text is not None]
    return json.dumps({"prompts": order[: _number(count)]})


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) <= 4 else 0
