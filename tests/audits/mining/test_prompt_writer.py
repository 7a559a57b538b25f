"""Prompts that a language model proposes for a search: asked for, checked, never lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from biasgraph.audits.mining.prompt_writer import DroppedPrompt, PromptWriter, Proposal
from biasgraph.errors import InputError, ModelError, printable
from biasgraph.models.base import Message, Setting
from biasgraph.models.json_chat import BrokenOff, ReplyError
from biasgraph.models.registry import load_language_model
from biasgraph.prompts.mined_prompts import read_unlike, same_words
from biasgraph.prompts.mining_target import MiningTarget, shipped_targets

JOBS = ("chef", "nurse", "clown", "judge", "baker", "pilot", "miner", "tailor", "vicar", "actor")


@dataclass
class Scripted:
    """A language model that says one thing after the other, and then the last for ever.

    An error in the script is raised.
    """

    says: Sequence[str | ModelError]
    spec: str = "scripted:one"
    fingerprint: str = "1"
    settings: Mapping[str, Setting] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)
    forgotten: int = 0

    def reply(self, messages: Sequence[Message], schema: object = None) -> str:
        said = self.says[min(len(self.heard), len(self.says) - 1)]
        self.heard.append(messages[-1].text)
        if isinstance(said, ModelError):
            raise said
        return said

    def forget(self, messages: Sequence[Message], schema: object = None) -> None:
        self.forgotten += 1


def reply(*prompts: str) -> str:
    return json.dumps({"prompts": prompts})


def writer_of(
    directory: Path,
    *says: str | ModelError,
    seed: int = 0,
    check: Callable[[str], None] = lambda prompt: None,
) -> tuple[PromptWriter, Scripted]:
    model = Scripted(says)
    return PromptWriter(model, directory, MiningTarget.of(), seed, check=check), model


def texts(proposals: Sequence[Proposal]) -> list[str]:
    return [proposal.prompt for proposal in proposals]


def reasons(writer: PromptWriter) -> dict[str, str]:
    return {one.prompt: one.reason for one in writer.take_dropped()}


def test_proposals_say_where_they_come_from(tmp_path: Path) -> None:
    writer, model = writer_of(
        tmp_path, reply("a chef", " a nurse "), '["a clown"]', reply("a chef in a hat")
    )
    assert writer.random(2, "initial") == [
        Proposal("a chef", "initial"), Proposal("a nurse", "initial")
    ]  # fmt: skip
    assert writer.random(1, "random") == [Proposal("a clown", "random")]
    assert writer.mutations("a chef", 7, 1) == [Proposal("a chef in a hat", "mutation", 7)]
    assert writer.take_dropped() == []
    target = MiningTarget.of()
    assert model.heard[0].startswith(target.random_prompts(2) + "\n\nRandom seed: ")
    assert model.heard[2].startswith(target.mutations_of("a chef", 1) + "\n\nRandom seed: ")
    tasks = sorted(path.name[:12] for path in (tmp_path / "transcripts").iterdir())
    assert tasks == ["mine-mutatio", "mine-random-", "mine-random-"]


def test_no_two_requests_are_the_same(tmp_path: Path) -> None:
    writer, model = writer_of(tmp_path, "no", "no", "no", reply("a chef"))
    for _ in range(3):
        writer.random(1, "random")
    asked = [text for text in model.heard if text.startswith("Generate")]
    assert len(asked) == len({*asked}) > 3
    numbers = [read_unlike(text)[0] for text in asked]
    assert len({*numbers}) == len(numbers)
    assert read_unlike(asked[-1])[1] == ("a chef",)
    other, heard = writer_of(tmp_path / "other", reply("a chef"), seed=1)
    other.random(1, "random")
    assert read_unlike(heard.heard[0])[0] not in numbers


def test_the_latest_sixty_are_not_to_be_repeated(tmp_path: Path) -> None:
    prompts = [f"a {job} number {n}" for n in range(8) for job in JOBS]
    writer, model = writer_of(tmp_path, reply(*prompts), reply("a dog"), reply("a cat"))
    assert texts(writer.random(80, "initial")) == prompts
    writer.random(1, "random")
    assert read_unlike(model.heard[1])[1] == tuple(prompts[-60:])
    writer.random(1, "random")
    assert read_unlike(model.heard[2])[1] == (*prompts[-59:], "a dog")


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("a chef in a big red hat at night", "9 words, more than 8"),
        ("", "at least 1 character"),
        ("  \t", "at least 1 character"),
        ("?!", "no words"),
        ("a\nchef", "control characters or invisible marks"),
        ("a \x1b[31mchef", "control characters or invisible marks"),
        ("a \u202echef", "control characters or invisible marks"),
        ("a \u200bchef", "control characters or invisible marks"),
        ("a [chef] at night", "square brackets"),
        ("chef " * 500, "at most 2000 characters"),
        ("night at, a NURSE", "the same words as 'a nurse at night'"),
        ("a nurse at night", "the same words as 'a nurse at night'"),
        ("a purple chef", "it names purple"),
    ],
)
def test_what_cannot_be_used_is_dropped_with_its_reason(
    tmp_path: Path, prompt: str, reason: str
) -> None:
    def check(text: str) -> None:
        if "purple" in text:
            raise InputError("it names purple")

    writer, _ = writer_of(tmp_path, reply("a nurse at night", prompt, "a clown"), check=check)
    assert texts(writer.random(2, "random")) == ["a nurse at night", "a clown"]
    (dropped,) = writer.take_dropped()
    assert (dropped.origin, dropped.parent) == ("random", None)
    assert reason in dropped.reason
    assert printable(dropped.prompt + dropped.reason) == dropped.prompt + dropped.reason
    assert len(dropped.prompt) <= 203
    assert dropped.prompt.startswith(printable(prompt.strip()[:20]))
    assert writer.take_dropped() == []


def test_a_dropped_mutation_names_its_parent(tmp_path: Path) -> None:
    writer, _ = writer_of(tmp_path, reply("A chef!", "a chef running"))
    assert texts(writer.mutations("a chef", 3, 1)) == ["a chef running"]
    assert writer.take_dropped() == [
        DroppedPrompt("A chef!", "mutation", 3, "the same words as 'a chef'")
    ]


def test_a_reason_is_of_one_short_line(tmp_path: Path) -> None:
    def check(text: str) -> None:
        if text == "a chef":
            raise InputError("too\nlong " + "x" * 5000)

    writer, _ = writer_of(tmp_path, reply("a chef", "a nurse"), check=check)
    writer.random(1, "random")
    (dropped,) = writer.take_dropped()
    assert dropped.reason.startswith(r"too\nlong xxx") and len(dropped.reason) <= 203


def test_markup_is_text(tmp_path: Path) -> None:
    said = ["<script>alert(1)</script>", "a chef & a <b>nurse</b>", "{count} {prompt}", "$(rm -rf)"]
    writer, model = writer_of(tmp_path, reply(*said), reply("a dog"))
    assert texts(writer.random(4, "initial")) == said
    assert texts(writer.mutations("{count} {prompt}", 2, 1)) == ["a dog"]
    assert '"{count} {prompt}", varying in length' in model.heard[1]
    assert read_unlike(model.heard[1])[1] == tuple(said)


def test_five_hundred_prompts_are_a_reply(tmp_path: Path) -> None:
    many = [f"a {job} number {n}" for n in range(50) for job in JOBS]
    writer, model = writer_of(tmp_path, reply(*many), reply(*reversed(many)))
    assert texts(writer.random(15, "initial")) == many[:15]
    assert texts(writer.random(500, "random")) == [*many[:14:-1]]
    assert len(model.heard) == 1 + 3  # fewer than 500 are new: it asks again
    assert reasons(writer).keys() == {*many}  # all of them, when it says them again
    kept = (tmp_path / "transcripts").iterdir()
    assert all("a actor number 49" in path.read_text("utf-8") for path in kept)


def test_a_model_that_repeats_itself_is_asked_three_times(tmp_path: Path) -> None:
    writer, model = writer_of(tmp_path, reply(*["a chef"] * 500))
    assert texts(writer.random(5, "initial")) == ["a chef"]
    assert len(model.heard) == 3
    assert reasons(writer) == {"a chef": "the same words as 'a chef' (1499 times)"}
    assert writer.random(5, "random") == []  # the prompts are used up
    assert writer.mutations("a chef", 1, 2) == []
    assert len(model.heard) == 9


def test_it_asks_again_for_what_is_missing(tmp_path: Path) -> None:
    writer, model = writer_of(
        tmp_path, reply("a chef", "a nurse"), reply("a nurse", "a clown", "a judge", "a baker")
    )
    assert texts(writer.random(4, "random")) == ["a chef", "a nurse", "a clown", "a judge"]
    assert len(model.heard) == 2
    assert read_unlike(model.heard[1])[1] == ("a chef", "a nurse")
    assert reasons(writer) == {"a nurse": "the same words as 'a nurse'"}  # a baker may come yet


@pytest.mark.parametrize("said", ["I would rather not.", "[]", '{"prompts": []}', "[1, 2]", ""])
def test_a_model_that_never_gives_anything_is_an_error(tmp_path: Path, said: str) -> None:
    writer, model = writer_of(tmp_path, said)
    with pytest.raises(ReplyError, match="no usable reply in 3 attempts"):
        writer.random(5, "initial")
    assert len(model.heard) == model.forgotten == 9  # three attempts at three requests
    assert len([*(tmp_path / "transcripts").glob("*-failed.json")]) == 3


def test_one_that_gave_something_may_fail(tmp_path: Path) -> None:
    writer, model = writer_of(tmp_path, "no", "no", "no", reply("a chef"), "no")
    assert texts(writer.random(2, "initial")) == ["a chef"]
    assert writer.random(2, "random") == []
    assert model.forgotten == 0
    assert writer.take_dropped() == []


def test_a_model_whose_prompts_are_all_unusable_gives_none(tmp_path: Path) -> None:
    writer, _ = writer_of(tmp_path, reply("a [chef]"))
    assert writer.random(2, "initial") == []
    assert [*reasons(writer)] == ["a [chef]"]


def test_a_broken_machine_is_no_reply(tmp_path: Path) -> None:
    writer, _ = writer_of(tmp_path, reply("a chef"), ModelError("the server is gone"))
    assert texts(writer.random(1, "initial")) == ["a chef"]
    with pytest.raises(ModelError, match="the server is gone"):
        writer.random(1, "random")
    writer, _ = writer_of(tmp_path / "other", "no", ModelError("the server is gone"))
    with pytest.raises(BrokenOff, match="the server is gone"):
        writer.random(1, "initial")


def ask_a_few(writer: PromptWriter) -> list[Proposal]:
    found = writer.random(3, "initial")
    for number, parent in enumerate([*found]):
        found += writer.mutations(parent.prompt, number, 2)
    return [*found, *writer.random(2, "random")]


def test_what_was_asked_before_is_not_asked_again(tmp_path: Path) -> None:
    says = [reply(*(f"a {job} on day {n}" for job in JOBS[:2]), "a [x]") for n in range(20)]
    writer, model = writer_of(tmp_path, *says)
    first, dropped = ask_a_few(writer), writer.take_dropped()
    assert len(first) > 8 and dropped and len(model.heard) > 5
    again, silent = writer_of(tmp_path, ModelError("nobody is to be asked"))
    assert ask_a_few(again) == first
    assert again.take_dropped() == dropped
    assert silent.heard == []


def test_a_search_that_broke_off_goes_on_where_it_was(tmp_path: Path) -> None:
    says = [reply(*(f"a {job} on day {n}" for job in JOBS[:2])) for n in range(20)]
    whole, _ = writer_of(tmp_path / "whole", *says)
    expected = ask_a_few(whole)
    broken, model = writer_of(tmp_path / "broken", *says[:3], ModelError("the server is gone"))
    with pytest.raises(ModelError):
        ask_a_few(broken)
    assert len(model.heard) == 4
    resumed, rest = writer_of(tmp_path / "broken", *says[3:])
    assert ask_a_few(resumed) == expected
    assert len(rest.heard) > 0


@pytest.mark.parametrize("name", [*shipped_targets()])
def test_the_sandbox_proposes(tmp_path: Path, name: str) -> None:
    def proposed(directory: Path, seed: int) -> list[Proposal]:
        sandbox = load_language_model("sandbox")
        return ask_a_few(PromptWriter(sandbox, directory, MiningTarget.of(name), seed))

    found = proposed(tmp_path / "a", 0)
    assert len({same_words(text) for text in texts(found)}) == len(found) == 3 + 6 + 2
    assert proposed(tmp_path / "b", 0) == found
    assert proposed(tmp_path / "c", 1) != found


def test_the_sandbox_can_be_emptied(tmp_path: Path) -> None:
    sandbox = load_language_model("sandbox")
    writer = PromptWriter(sandbox, tmp_path, MiningTarget.of(), 0, most_words=2)
    sizes = [len(writer.random(8, "random")) for _ in range(5)]
    assert sum(sizes) == 22  # of 26 occupations those of one word
    assert sizes[-1] == 0
