"""What gradients are held against, asked of real models with random weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from biasgraph.causal.word_accuracy import accuracy_rows, first_units, top_hit
from biasgraph.errors import InputError
from biasgraph.methods.word_baselines import (
    PARAPHRASES,
    BaselineScores,
    answered_scores,
    judge_questions,
    language_model_scores,
    questions,
    random_scores,
    ranked_pair,
    require_reader,
    shared_words,
    tree_scores,
)
from biasgraph.models.base import LanguageModel, Message, VisualQA
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import load_judge, load_language_model
from biasgraph.prompts.prompt_words import PromptWord, split_words
from tests.models import tiny_clips, tiny_vlms
from tests.models.tiny_lm import save_gpt2
from tests.word_influences import influence

PROMPT = "a nurse with a nurse's stethoscope"
WORDS = [split_words(PROMPT)[i] for i in (1, 5)]
IMAGES = [Image.fromarray(np.full((32, 32, 3), shade, np.uint8)) for shade in (0, 90, 200)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    folder = tmp_path_factory.mktemp("gpt2")
    return load_language_model(f"lm:{save_gpt2(folder, words=['yes', 'no', ' Yes', ' No'])}")


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> VisualQA:
    folder = tiny_vlms.FAMILIES["llava"](tmp_path_factory.mktemp("llava"))
    return load_judge(f"vlm:{folder}", ModelOptions(judge_batch_size=2))


def test_the_first_question_is_the_papers() -> None:
    asked = [*questions(PROMPT, WORDS[0], "gender", "Answer only with 'yes' or 'no'.")]
    assert asked[0] == (
        f"Is nurse influencing gender bias in the prompt {PROMPT}? Answer only with 'yes' or 'no'."
    )
    assert len({*asked}) == PARAPHRASES
    assert all("nurse" in one and "gender" in one and PROMPT in one for one in asked)
    assert all(one.endswith("'yes' or 'no'.") for one in asked)


def test_braces_in_a_prompt_are_text() -> None:
    word = PromptWord("{bias}", 0, 6)
    assert "Is {bias} influencing age bias" in next(questions("{bias} {word}", word, "age"))


def test_a_language_model_is_asked_about_each_word(model: LanguageModel) -> None:
    found = language_model_scores(model, PROMPT, WORDS, "gender")
    assert (found.name, found.source) == ("language model", model.spec)
    assert len({*found.scores}) == 2 and all(0 < score < 1 for score in found.scores)
    asked = questions(PROMPT, WORDS[1], "gender", "Answer only with 'yes' or 'no'.")
    by_hand = [model.yes_probability([Message("user", text)]) for text in asked]
    assert found.scores[1] == pytest.approx(sum(by_hand) / PARAPHRASES)
    again = language_model_scores(model, PROMPT, [WORDS[0], WORDS[0]], "gender")
    assert again.scores == (found.scores[0], found.scores[0])


def test_a_judge_is_asked_beside_every_image(judge: VisualQA) -> None:
    def asked_beside(images: Sequence[Image]) -> BaselineScores:
        answers = judge.answer(images, judge_questions(PROMPT, WORDS, "gender"))
        return answered_scores(judge, [[one.probabilities[0] for one in row] for row in answers])

    found = asked_beside(IMAGES)
    assert found.source == judge.spec
    assert len({*found.scores}) == 2 and all(0 < score < 1 for score in found.scores)
    alone = [asked_beside([image]).scores for image in IMAGES]
    assert found.scores == pytest.approx(np.mean(alone, axis=0), abs=1e-5)
    assert len({*alone}) == 3


def test_only_words_that_all_rank_are_compared() -> None:
    prompt = "a tall chef in a red kitchen"
    truth = influence({"tall": 0.1, "chef": 0.4, "red": 0.4, "kitchen": 0.2}, prompt=prompt,
                      method="removal", tied=["kitchen"])  # fmt: skip
    found = influence({"tall": 0.3, "chef": 0.2, "red": 0.1}, prompt=prompt)
    words = shared_words(truth, [found])
    assert [word.text for word in words] == ["tall", "chef", "red"]
    assert [word.text for word in shared_words(truth)] == ["tall", "chef", "red", "kitchen"]
    pair = ranked_pair(words, truth, {"l1": found}, [random_scores(words)])
    assert pair.prompt == prompt and pair.truth.tolist() == [0.1, 0.4, 0.4]
    assert {name: scores.tolist() for name, scores in pair.predicted.items()} == {
        "l1": [0.3, 0.2, 0.1], "random": [0.0, 0.0, 0.0]
    }  # fmt: skip
    wide = ranked_pair(shared_words(truth), truth, {}, within_chance=True)
    assert [*wide.tied] == [False, False, False, True] and [*pair.tied] == []
    rows = accuracy_rows([pair], np.random.default_rng(0))
    top = {row.method: row.accuracy.value for row in rows if (row.top, row.ties) == (1, "any")}
    assert top == {"l1": 0.0, "random": pytest.approx(2 / 3)}


@pytest.mark.parametrize("spec", ["sandbox", "openai:talker"])
def test_language_models_that_show_no_scores_are_refused(spec: str) -> None:
    model = load_language_model(spec, ModelOptions(base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(InputError, match="does not show how probable its 'yes' is") as refused:
        language_model_scores(model, PROMPT, WORDS, "gender")
    assert len(str(refused.value)) <= 400 and "lm:NAME" in str(refused.value)


@pytest.mark.parametrize("spec", ["sandbox", "sandbox:judge2", "clip"])
def test_judges_that_do_not_read_are_refused(spec: str, tmp_path: Path) -> None:
    spec = f"clip:{tiny_clips.clip(tmp_path)}" if spec == "clip" else spec
    with pytest.raises(InputError, match="reads no questions") as refused:
        require_reader(load_judge(spec))
    assert len(str(refused.value)) <= 400 and "vlm:NAME" in str(refused.value)


def test_random_is_its_expectation_and_the_tree_an_order() -> None:
    words = [
        word for word in split_words("a tall old chef in a busy kitchen") if len(word.text) > 2
    ]
    random, tree = random_scores(words), tree_scores("a tall old chef in a busy kitchen", words)
    first = first_units(np.array([0.0, 0.0, 1.0, 0.0, 0.0]))
    assert top_hit(np.array(random.scores), first, 2) == pytest.approx(2 / 5)
    assert top_hit(np.array(tree.scores), first, 1) == 1.0  # the chef
    assert sorted(tree.scores) == [-4, -3, -2, -1, 0]
    assert tree.source
