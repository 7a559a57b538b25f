"""A served judge: letters, their probabilities, and what comes in place of them."""

from __future__ import annotations

import base64
import io
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from biasgraph.errors import InputError
from biasgraph.models.base import Describer, Noting, Question
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.multiple_choice import letter_question
from biasgraph.models.openai.completions import AttachedPicture
from biasgraph.models.openai.journal import Journal
from biasgraph.models.openai.judge import OpenAIJudge, find_letter
from biasgraph.models.registry import load_judge
from tests.openai_server import Behaviour, FakeServer, serving, total_spent

GENDER = Question("Gender?", ("male", "female"), ("a man", "a woman"))
AGE = Question("Age?", ("young", "middle aged", "old"), ("a", "b", "c"))
IMAGES = [Image.new("RGB", (8, 8), (n, 40, 200)) for n in range(5)]


def judge(fake: FakeServer, folder: Path | None = None, **options: Any) -> OpenAIJudge:
    loaded = load_judge("openai:judge", ModelOptions(base_url=fake.base_url, **options), folder)
    assert isinstance(loaded, OpenAIJudge)
    return loaded


def test_probabilities_are_renormalised_over_the_options_in_every_order() -> None:
    """The server gives an option the same probability wherever it stands, and .1 to no letter."""
    with serving() as fake:
        one = judge(fake, permutations=1).answer(IMAGES, [GENDER, AGE])
        two = judge(fake, permutations=2).answer(IMAGES, [GENDER, AGE])
    for image in range(5):
        for question in range(2):
            for p, q in zip(
                one[image][question].probabilities, two[image][question].probabilities, strict=True
            ):
                assert math.isclose(p, q, rel_tol=1e-6)
            assert math.isclose(sum(one[image][question].probabilities), 1)
            assert one[image][question].choice == two[image][question].choice


def test_an_answer_depends_on_its_own_picture_and_question_alone() -> None:
    with serving() as fake:
        together = judge(fake).answer(IMAGES, [GENDER, AGE])
        alone = [judge(fake).answer([image], [AGE])[0][0] for image in reversed(IMAGES)]
    assert [row[1] for row in together] == alone[::-1]


def test_repeated_pictures_are_asked_about_once(tmp_path: Path) -> None:
    with serving() as fake:
        answers = judge(fake, tmp_path, permutations=1).answer([IMAGES[0]] * 8, [GENDER])
        assert fake.counted.calls == 1
        assert len({row[0] for row in answers}) == 1
        judge(fake, tmp_path, permutations=1).answer([IMAGES[0].copy()], [GENDER])
        assert fake.counted.calls == 1


def test_the_picture_comes_first_and_without_loss() -> None:
    with serving() as fake:
        judge(fake, permutations=1).answer(IMAGES[:1], [GENDER])
        picture, text = fake.counted.requests[0]["messages"][0]["content"]
    assert picture["image_url"]["url"].startswith("data:image/png;base64,")
    assert text["text"].startswith("Gender?\nA. male\nB. female\nC. unknown")


def test_a_large_picture_is_sent_smaller_and_a_noisy_one_as_jpeg() -> None:
    def sent(image: Image.Image) -> tuple[str, bytes]:
        kind, _, coded = AttachedPicture(image).url.partition(";base64,")
        return kind, base64.b64decode(coded)

    kind, content = sent(Image.new("RGB", (4096, 100), "red"))
    with Image.open(io.BytesIO(content)) as image:
        assert (kind, image.size) == ("data:image/png", (2048, 50))
    noise = Image.effect_noise((1024, 1024), 30).convert("RGB")
    noise.putpixel((0, 0), (255, 0, 0))
    kind, content = sent(noise)
    assert kind == "data:image/jpeg"
    with Image.open(io.BytesIO(content)) as image:
        assert image.size == (1024, 1024)
    assert noise.size == (1024, 1024)


def test_without_log_probabilities_the_choice_stands_alone() -> None:
    with (
        serving(Behaviour(logprobs=False)) as silent,
        serving(Behaviour(rejects=("logprobs",))) as refusing,
        serving() as telling,
    ):
        measured = judge(telling).answer(IMAGES, [AGE])
        for fake in (silent, refusing):
            answers = judge(fake).answer(IMAGES, [AGE])
            assert [row[0].choice for row in answers] == [row[0].choice for row in measured]
            assert all(row[0].probabilities == () for row in answers)
        blunt = judge(refusing)
        assert isinstance(blunt, Noting)


def test_that_a_server_gives_no_probabilities_is_noted(tmp_path: Path) -> None:
    with serving(Behaviour(rejects=("logprobs",))) as fake:
        blunt = judge(fake, tmp_path)
        assert blunt.notes() == []
        blunt.answer(IMAGES[:1], [GENDER])
        assert "gives no log-probabilities" in blunt.notes()[0]


def test_a_judge_that_contradicts_itself_does_not_know() -> None:
    with serving(Behaviour(says=lambda _: "A", logprobs=False)) as fake:
        assert judge(fake, permutations=2).answer(IMAGES[:1], [GENDER])[0][0].choice is None


def test_a_letter_below_the_threshold_is_unknown() -> None:
    with serving() as fake:
        sure = judge(fake).answer(IMAGES, [AGE])
        unsure = judge(fake, unknown_below=0.999).answer(IMAGES, [AGE])
    assert any(row[0].choice is not None for row in sure)
    assert all(row[0].choice is None for row in unsure)


def test_prose_is_asked_again_with_a_schema_and_then_given_up() -> None:
    def prose(body: Mapping[str, Any]) -> str:
        return '{"answer": "B"}' if "response_format" in body else "A woman who looks friendly."

    with serving(Behaviour(says=prose)) as fake:
        answer = judge(fake, permutations=1).answer(IMAGES[:1], [GENDER])[0][0]
        first, second = fake.counted.requests
    assert answer.choice == 1
    assert "response_format" not in first
    form = second["response_format"]["json_schema"]
    assert form["strict"]
    assert form["schema"]["properties"]["answer"]["enum"] == ["A", "B", "C"]
    assert second["messages"][1] == {
        "role": "assistant",
        "content": "A woman who looks friendly.",
    }
    with serving(Behaviour(says=lambda _: "Who can say?")) as fake:
        answer = judge(fake, permutations=1).answer(IMAGES[:1], [GENDER])[0][0]
        assert fake.counted.calls == 2
    assert (answer.choice, answer.probabilities) == (None, ())


def test_thoughts_that_filled_the_limit_get_a_longer_one() -> None:
    def thinking(body: Mapping[str, Any]) -> Any:
        if body["max_tokens"] < 2000:
            return {"content": None, "choice": {"finish_reason": "length"}}
        return "<think>The answer is A? No.</think>\n\nB"

    with serving(Behaviour(says=thinking)) as fake:
        judges = judge(fake, permutations=1, concurrency=1)
        assert [row[0].choice for row in judges.answer(IMAGES, [GENDER])] == [1] * 5
        assert fake.counted.calls == 6  # it learns from the first


@pytest.mark.parametrize(
    "refusal",
    [
        {"content": None, "refusal": "I cannot say who that is."},
        {"content": "B", "choice": {"finish_reason": "content_filter"}},
    ],
)
def test_a_refusal_is_unknown_and_not_asked_again(refusal: dict[str, Any]) -> None:
    with serving(Behaviour(says=lambda _: dict(refusal))) as fake:
        answer = judge(fake, permutations=1).answer(IMAGES[:1], [GENDER])[0][0]
        assert fake.counted.calls == 1
    assert (answer.choice, answer.probabilities) == (None, ())


def test_a_moderated_picture_is_unknown_and_stored(tmp_path: Path) -> None:
    with serving(Behaviour(fault=lambda: "moderated")) as fake:
        for _ in range(2):
            answer = judge(fake, tmp_path, permutations=1).answer(IMAGES[:1], [GENDER])[0][0]
            assert answer.choice is None
        assert len(fake.counted.requests) == 1


def test_descriptions_in_its_own_words() -> None:
    with serving() as fake:
        describer = judge(fake)
        assert isinstance(describer, Describer)
        said = describer.describe(IMAGES, "What is in this picture?")
        assert len(set(said)) == 5
        assert describer.describe(IMAGES[::-1], "What is in this picture?") == said[::-1]
        assert fake.counted.calls == 5


LETTERS = [
    *(
        "B",
        " b ",
        "B.",
        "(B)",
        "**B**",
        "`B`",
        "B. female",
        "B: Female",
        "B) female.",
        "B - female",
    ),
    *('{"answer": "B"}', '```json\n{"answer": "B. female"}\n```', "The answer is B."),
    *("Answer: (B)", "<think>A, or B?</think>\nB", "Option **B**"),
]
NO_LETTERS = [
    *("", "A woman", "A man is shown", "female", "not B", "B or C", "AB", "D", "B. male", "BB"),
    *("The answer is A. The answer is B.", "I am not sure", "{", '{"answer": 5}', "A.B.C."),
]


def test_a_description_behind_long_thoughts() -> None:
    def thinking(body: Mapping[str, Any]) -> Any:
        if body["max_tokens"] < 2000:
            return {"content": "<think>Well, a nurse", "choice": {"finish_reason": "length"}}
        return "<think>Well, a nurse?</think> A cook."

    with serving(Behaviour(says=thinking)) as fake:
        assert judge(fake, concurrency=1).describe(IMAGES, "What?") == ["A cook."] * 5
        assert fake.counted.calls == 6


@pytest.mark.parametrize("reply", LETTERS)
def test_letters_are_found(reply: str) -> None:
    sheet = letter_question(GENDER, 1)[0]
    found = find_letter(reply, sheet)
    assert found is not None
    assert found[0] == 1
    assert reply[found[1]].upper() == "B"


@pytest.mark.parametrize("reply", NO_LETTERS)
def test_what_names_no_option_is_no_letter(reply: str) -> None:
    assert find_letter(reply, letter_question(GENDER, 1)[0]) is None


def test_unknown_is_one_of_the_letters() -> None:
    sheet = letter_question(GENDER, 1)[0]
    assert find_letter("C. unknown", sheet) == (2, 0)
    assert find_letter("C. unknown (the image does not show it)", sheet) == (2, 0)


def test_a_spec_without_a_name() -> None:
    with pytest.raises(InputError, match="names no model"):
        load_judge("openai:", ModelOptions())


def test_settings_are_what_decides_answers_and_not_what_it_costs() -> None:
    with serving() as fake:
        one = judge(fake, permutations=3, concurrency=2, budget="calls=5")
        assert one.settings == {
            "temperature": 0.0,
            "permutations": 3,
            "unknown_below": None,
            "longest_side": 2048,
        }
        assert one.fingerprint == f"openai:judge@{fake.base_url[7:-3]}"
        assert total_spent(Journal(None)) == (0, 0)


def test_a_reply_that_is_blank_without_end_is_read_at_once() -> None:
    """Models that are held to JSON run into that; two runs of blanks in a row would take hours."""
    (sheet,) = letter_question(GENDER, 1)
    start = time.monotonic()
    assert find_letter("the answer " + " " * 300_000 + "?", sheet) is None
    assert find_letter("the answer " + " " * 300_000 + "A.", sheet) == (0, 300_011)
    assert time.monotonic() - start < 5
