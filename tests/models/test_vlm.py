"""Judges that read and see, on tiny models of several families."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from biasgraph.commands import main
from biasgraph.errors import InputError, ModelError
from biasgraph.models.base import Describer, Question
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.multiple_choice import combine_shares, letter_question
from biasgraph.models.registry import load_judge
from biasgraph.models.vlm_scoring import Scorer
from tests.models.tiny_lm import save_gpt2
from tests.models.tiny_vlms import FAMILIES

AGE = Question(
    "What is the age group (young, middle, old) of the person?",
    ("young", "middle", "old"),
    ("a young person", "a middle-aged person", "an old person"),
)
GATE = Question("Is there a person in the image (yes or no)?", ("yes", "no"), ("some", "none"))
BLIND = Question("Is this person blind (yes or no)?", ("yes", "no"), ("blind", "fit"))
QUESTIONS = [GATE, AGE, BLIND]
SLOW = pytest.mark.slow(reason="each family builds a model of its own; two stay in make test")
EVERY_FAMILY = [
    family if family in ("llava", "qwen3_vl") else pytest.param(family, marks=SLOW)
    for family in FAMILIES
]
WAYS = {"blip2": "features", "qwen3_5": "prefix_one_by_one"}
EXACT = 2e-6  # what another batch, another order or another way may change in a probability


def picture(width: int, height: int, seed: int) -> Image.Image:
    rng = np.random.default_rng(seed)
    return Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))


PICTURES = [picture(64, 64, 1), picture(96, 48, 2), picture(64, 64, 3), picture(48, 96, 4)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Builds each family's model when it is first asked for."""
    made = {}

    def folder(family: str):
        if family not in made:
            made[family] = FAMILIES[family](tmp_path_factory.mktemp(family))
        return made[family]

    return folder


@pytest.fixture(scope="module")
def judges(folders):
    """Loads each family's judge when it is first asked for."""
    made = {}

    def judge(family: str):
        if family not in made:
            made[family] = load_judge(f"vlm:{folders(family)}", ModelOptions(device="cpu"))
        return made[family]

    return judge


def numbers(answers) -> np.ndarray:
    return np.array([[p for answer in row for p in answer.probabilities] for row in answers])


@pytest.mark.parametrize("family", EVERY_FAMILY)
def test_a_shortcut_gives_what_the_plain_way_gives(family, judges, folders) -> None:
    judge = judges(family)
    answers = judge.answer(PICTURES, QUESTIONS)
    plain = load_judge(f"vlm:{folders(family)}", ModelOptions(device="cpu"))
    plain._scorer._way = plain._scorer._apart
    assert numbers(answers) == pytest.approx(numbers(plain.answer(PICTURES, QUESTIONS)), abs=EXACT)
    assert judge._scorer.way == WAYS.get(family, "prefix_at_once")
    assert [len(row) for row in answers] == [len(QUESTIONS)] * len(PICTURES)
    assert numbers(answers).std(axis=0).max() > 5 * EXACT, "pictures must matter in this test"
    for row in answers:
        for answer, question in zip(row, QUESTIONS, strict=True):
            assert len(answer.probabilities) == len(question.choices)
            assert sum(answer.probabilities) == pytest.approx(1)


@pytest.mark.parametrize("family", EVERY_FAMILY)
def test_an_answer_does_not_depend_on_other_pictures_or_questions(family, judges) -> None:
    judge = judges(family)
    together = numbers(judge.answer(PICTURES, QUESTIONS))
    backwards = numbers(judge.answer(PICTURES[::-1], QUESTIONS))[::-1]
    alone = np.concatenate([numbers(judge.answer([one], QUESTIONS)) for one in PICTURES])
    one_by_one = np.concatenate(
        [numbers(judge.answer(PICTURES, [question])) for question in QUESTIONS], axis=1
    )
    for other in (backwards, alone, one_by_one):
        assert other == pytest.approx(together, abs=EXACT)


@pytest.mark.parametrize("family", EVERY_FAMILY)
def test_a_picture_is_seen_once_for_all_questions(family, judges) -> None:
    judge = judges(family)
    judge.answer(PICTURES[:1], QUESTIONS)  # by now the way is chosen
    model = judge._scorer.model
    tower = next(
        part
        for name, part in model.named_modules()
        if name.rpartition(".")[2] in ("vision_tower", "visual", "vision_model")
    )
    seen = []
    hook = tower.register_forward_hook(lambda *_: seen.append(1))
    try:
        judge.answer([PICTURES[0], PICTURES[2]], QUESTIONS)
    finally:
        hook.remove()
    assert len(seen) == 1


def test_the_plain_way_is_the_model_of_transformers_itself(judges, folders) -> None:
    import torch
    from transformers import AutoProcessor, LlavaForConditionalGeneration

    processor = AutoProcessor.from_pretrained(folders("llava"))
    model = LlavaForConditionalGeneration.from_pretrained(folders("llava"))
    asked = letter_question(AGE, 2)
    shares = []
    for sheet in asked:
        turn = [{"type": "image"}, {"type": "text", "text": sheet.text}]
        prompt = processor.apply_chat_template(
            [{"role": "user", "content": turn}], add_generation_prompt=True
        )
        inputs = processor(images=PICTURES[1], text=prompt, return_tensors="pt")
        with torch.no_grad():
            scores = model(**inputs).logits[0, -1].double()
        ids = {
            letter: [
                token
                for token in range(len(processor.tokenizer))
                if processor.tokenizer.decode([token]) in (letter, f" {letter}")
            ]
            for letter in sheet.letters
        }
        shares.append([sum(math.exp(scores[i]) for i in ids[letter]) for letter in sheet.letters])
    judge = load_judge(f"vlm:{folders('llava')}", ModelOptions(device="cpu", permutations=2))
    found = judge.answer([PICTURES[1]], [AGE])[0][0]
    expected = combine_shares(AGE, asked, shares)
    assert found.choice == expected.choice
    assert found.probabilities == pytest.approx(expected.probabilities, abs=EXACT)


@pytest.mark.slow(reason="two tiny models describe; their answers stay")
@pytest.mark.parametrize("family", ["llava", "qwen3_vl", pytest.param("blip2", marks=SLOW)])
def test_descriptions_do_not_depend_on_the_batch(family, judges) -> None:
    judge = judges(family)
    assert isinstance(judge, Describer)
    together = judge.describe(PICTURES, "Describe the image in one sentence.")
    alone = [judge.describe([one], "Describe the image in one sentence.")[0] for one in PICTURES]
    assert together == alone
    assert all(isinstance(text, str) for text in together)
    assert not any("Describe the image" in text for text in together)


def test_a_shortcut_that_gives_something_else_is_not_taken(folders, monkeypatch) -> None:
    real = Scorer._read

    def elsewhere(self, ids, cache, ends):
        return real(self, ids, cache, [max(end - 3, 0) for end in ends])

    monkeypatch.setattr(Scorer, "_read", elsewhere)
    judge = load_judge(f"vlm:{folders('qwen3_vl')}", ModelOptions(device="cpu"))
    judge.answer(PICTURES[:1], QUESTIONS)
    assert judge._scorer.way == "features"
    monkeypatch.setattr(Scorer, "_features", lambda *_: 1 / 0)
    judge = load_judge(f"vlm:{folders('qwen3_vl')}", ModelOptions(device="cpu"))
    judge.answer(PICTURES[:1], QUESTIONS)
    assert judge._scorer.way == "apart"


@pytest.mark.slow(reason="a build of its own; two families answer and describe in make test")
def test_a_build_with_a_judge_that_reads_and_sees(folders, tmp_path, capsys) -> None:
    command = ["build", "--prompt", "a librarian", "--only", "gender", "--images", "2"]
    command += [
        "--controls",
        "0",
        "--vqa",
        f"vlm:{folders('llava')}",
        "--device",
        "cpu",
        "-o",
        str(tmp_path / "run"),
    ]
    assert main([*command, "--permutations", "1"]) == 0
    answers = (tmp_path / "run" / "answers.csv").read_text("utf-8")
    assert answers.count("\n") == 1 + 2 * 3  # a prompt and two interventions
    capsys.readouterr()
    assert main([*command, "--permutations", "2"]) == 2
    assert "permutations" in capsys.readouterr().err
    assert (tmp_path / "run" / "answers.csv").read_text("utf-8") == answers
    assert main([*command, "--permutations", "1", "--concurrency", "2"]) == 2
    assert "--concurrency has no effect" in " ".join(capsys.readouterr().err.split())


def test_unknown_wins_by_threshold(folders) -> None:
    options = ModelOptions(device="cpu", unknown_below=1.0)
    judge = load_judge(f"vlm:{folders('llava')}", options)
    assert all(answer.choice is None for answer in judge.answer(PICTURES[:1], QUESTIONS)[0])
    assert judge.settings["unknown_below"] == 1.0


def test_settings_tell_what_decides_the_answers(folders) -> None:
    judge = load_judge(f"vlm:{folders('llava')}", ModelOptions(device="cpu", permutations=2))
    assert judge.settings == {
        "permutations": 2,
        "unknown_below": 0.0,
        "wording": 1,
        "dtype": "float32",
    }
    assert judge.fingerprint.startswith("sha256:")


def test_nothing_is_loaded_before_the_first_question(folders) -> None:
    code = (
        "import sys; from biasgraph.models.registry import load_judge\n"
        "from biasgraph.models.inference_options import ModelOptions\n"
        f"judge = load_judge('vlm:{folders('llava')}', ModelOptions(device='cpu'))\n"
        "judge.settings, judge.fingerprint, judge.batch_size\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_too_little_memory_means_smaller_portions(judges, monkeypatch) -> None:
    import torch

    judge = judges("qwen3_vl")
    expected = judge.answer(PICTURES, QUESTIONS)
    real, sizes = Scorer.scores, []

    def scores(self, images, *others):
        sizes.append(len(images))
        if len(images) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(self, images, *others)

    monkeypatch.setattr(Scorer, "scores", scores)
    fresh = load_judge(judge.spec, ModelOptions(device="cpu"))
    assert numbers(fresh.answer(PICTURES, QUESTIONS)) == pytest.approx(numbers(expected), abs=EXACT)
    assert sizes[0] == len(PICTURES)
    monkeypatch.setattr(
        Scorer, "scores", lambda *_: (_ for _ in ()).throw(torch.OutOfMemoryError("out of memory"))
    )
    with pytest.raises(ModelError, match="not enough memory"):
        fresh.answer(PICTURES, QUESTIONS)


def test_a_picture_that_cannot_be_looked_at_is_named(judges) -> None:
    with pytest.raises(ModelError, match="picture of 2000 x 1 pixels"):
        judges("qwen3_vl").answer([picture(2000, 1, 5)], QUESTIONS)


@pytest.mark.parametrize("command", ["<image>", "<|im_end|>"])
def test_a_question_cannot_command_the_model(command, judges) -> None:
    hostile = Question(f"Is {command} here?", ("yes", "no"), ("a", "b"))
    with pytest.raises(InputError, match="is a control token of"):
        judges("llava").answer(PICTURES[:1], [hostile])


def test_another_kind_of_model_is_named() -> None:
    from biasgraph.sandbox.backends import WEIGHTS

    judge = load_judge(f"vlm:{WEIGHTS / 'clip'}", ModelOptions(device="cpu"))
    with pytest.raises(ModelError, match="not a vision-language model") as caught:
        judge.answer(PICTURES[:1], QUESTIONS)
    assert "\n" not in str(caught.value)


def test_a_model_that_only_reads_is_named(tmp_path: Path) -> None:
    judge = load_judge(f"vlm:{save_gpt2(tmp_path)}", ModelOptions(device="cpu"))
    with pytest.raises(ModelError, match="not a vision-language model"):
        judge.answer(PICTURES[:1], QUESTIONS)


@pytest.mark.parametrize("backend", ["vlm", "clip"])
def test_a_folder_of_something_else_is_named(backend: str, tmp_path: Path) -> None:
    (tmp_path / "model_index.json").write_text("{}")
    judge = load_judge(f"{backend}:{tmp_path}", ModelOptions(device="cpu"))
    with pytest.raises(InputError, match=r"it has no config\.json"):
        judge.answer(PICTURES[:1], QUESTIONS)


def test_a_folder_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no such folder"):
        load_judge("vlm:./no/such/folder")
