"""`biasgraph words evaluate`, on the sandbox."""

from __future__ import annotations

import csv
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from biasgraph.audits.words.evaluation import evaluate
from biasgraph.audits.words.evaluation_options import EvaluationOptions
from biasgraph.audits.words.ranked_words import accuracies, counts_of, ranked_words
from biasgraph.commands import main
from biasgraph.methods.word_baselines import random_scores
from biasgraph.models.prompt_trace import PromptTrace
from biasgraph.models.registry import load_judge, load_language_model
from tests.command_line import read_document, refusal
from tests.kill_trials import kill_trials
from tests.models import tiny_vlms
from tests.models.tiny_lm import save_gpt2
from tests.word_influences import influence

PROMPTS = ["a nurse with a toolbox", "a young chef in a kitchen", "a [teacher] with glasses"]
SMALL = ["--axis", "gender,age", "--images", "8", "--gradient-images", "2", "--every", "5", "-q"]
READINGS = [
    f"gradient {score}{join}"
    for score in ("l1", "l2", "input-times-gradient")
    for join in ("", ", sum")
]


EVALUATION = pytest.mark.slow(
    reason="an evaluation of its own; test_measurement.py asks about words"
)


def document(directory: Path) -> dict[str, Any]:
    return read_document(directory / "evaluation.json")


def row_of(found: dict[str, Any], *wanted: object) -> dict[str, Any]:
    (row,) = (
        row
        for row in found["accuracy"]
        if (row["least"], row["method"], row["top"], row["ties"]) == wanted
    )
    return dict(row)


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lists") / "prompts.txt"
    path.write_text("\n".join(PROMPTS) + "\n")
    return path


@pytest.fixture(scope="module")
def evaluated(prompts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("words") / "run"
    arguments = ["--prompts", str(prompts), *SMALL, "-o", str(directory)]
    assert main(["words", "evaluate", *arguments]) == 0
    return directory


@EVALUATION
def test_the_document(evaluated: Path) -> None:
    found = document(evaluated)
    assert found["schema"] == "biasgraph-words-evaluation/1" and "toy" in found["toy"]
    assert (found["vqa"], found["truth_vqa"]) == ("sandbox", "sandbox:judge2")
    assert found["vqa_fingerprint"] != found["truth_vqa_fingerprint"]
    assert found["settings"]["images"] == 8 and found["settings"]["every"] == 5
    assert found["prompts"][2] == "a teacher with glasses"
    assert found["counts"]["prompts"] == 3 and found["counts"]["pairs"] == 6
    assert found["sources"] == {
        "random": "the mean over all orders", "tree": found["sources"]["tree"]
    }  # fmt: skip
    methods = dict.fromkeys(row["method"] for row in found["accuracy"])
    assert [*methods] == [*READINGS, "random", "tree"]
    assert len(found["accuracy"]) == 3 * 3 * 3 * len(methods)


@EVALUATION
def test_words_stand_beside_the_truth(evaluated: Path) -> None:
    pairs = {(pair["prompt"], pair["axis"]): pair for pair in document(evaluated)["pairs"]}
    assert len(pairs) == 6
    # "young" names the axis age, and is ranked along gender alone.
    chef = {axis: pairs["a young chef in a kitchen", axis]["words"] for axis in ("gender", "age")}
    assert [{word["word"] for word in words} for words in chef.values()] == [
        {"young", "chef", "kitchen"}, {"chef", "kitchen"}
    ]  # fmt: skip
    for pair in pairs.values():
        influences = [word["influence"] for word in pair["words"]]
        assert influences == sorted(influences, reverse=True) and pair["largest"] == influences[0]
        for word in pair["words"]:
            assert {*word["scores"]} == {*READINGS, "random", "tree"}
            assert 0 <= word["low"] <= word["influence"] <= word["high"] <= 2
            assert word["scores"]["random"] == 0 and word["scores"]["gradient l1"] > 0


@EVALUATION
def test_accuracies_are_counted_from_the_words(evaluated: Path) -> None:
    found = document(evaluated)
    hits = []
    for pair in found["pairs"]:
        first = {word["word"] for word in pair["words"] if word["influence"] == pair["largest"]}
        if len(first) < len(pair["words"]):
            ranked = max(pair["words"], key=lambda word: word["scores"]["gradient l2"])
            hits.append(ranked["word"] in first)
    row = row_of(found, 0.0, "gradient l2", 1, "equal")
    assert row["accuracy"] == pytest.approx(sum(hits) / len(hits)) and row["pairs"] == len(hits)
    random = row_of(found, 0.0, "random", 1, "equal")
    assert row["ahead_of_random"] == pytest.approx(row["accuracy"] - random["accuracy"])
    assert random["ahead_of_random"] is None and random["ahead_of_random_reason"]


@EVALUATION
def test_of_few_words_the_first_two_are_no_question(evaluated: Path) -> None:
    for top in (2, 3):
        row = row_of(document(evaluated), 0.0, "tree", top, "equal")
        assert row["accuracy"] is None and row["pairs"] == 0
        assert row["reason"] == (
            "no prompt ranks at least 4 words of which some are not first in truth"
        )


@EVALUATION
def test_the_table_has_a_row_for_each_number(evaluated: Path) -> None:
    with (evaluated / "evaluation.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    found = document(evaluated)
    assert len(rows) == len(found["accuracy"]) and all("toy" in row["toy"] for row in rows)
    assert [float(row["least"]) for row in rows] == [row["least"] for row in found["accuracy"]]
    assert {row["ties"] for row in rows} == {"tied", "equal", "first"}
    assert (evaluated / "evaluation.svg").read_bytes().startswith(b"<?xml")
    assert (evaluated / "evaluation.png").stat().st_size > 1000


def never(*_: object, **__: object) -> None:
    raise AssertionError("done again")


@EVALUATION
def test_a_rerun_asks_nothing_and_says_the_same(
    evaluated: Path, prompts: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(PromptTrace, "record", never)
    for spec in ("sandbox", "sandbox:judge2"):
        monkeypatch.setattr(type(load_judge(spec)), "answer", never)
    before = (evaluated / "evaluation.json").read_bytes()
    arguments = ["--prompts", str(prompts), *SMALL[:-1], "-o", str(evaluated)]
    assert main(["words", "evaluate", *arguments]) == 0
    assert (evaluated / "evaluation.json").read_bytes() == before
    out = " ".join(capsys.readouterr().out.split())
    for said in (
        "a toy", "sandbox:judge2, 8 images", "Than the tree", "At least 0.4", "Within chance",
        "The truth is sampled, too", "The generator never saw these words",
    ):  # fmt: skip
        assert said in out


@EVALUATION
def test_words_and_their_evaluation_share_a_run(
    evaluated: Path, monkeypatch: pytest.MonkeyPatch, prompts: Path, capsys
) -> None:
    monkeypatch.setattr(PromptTrace, "record", never)
    words = ["--axis", "gender", "--images", "2", "--every", "5", "-q", "-o", str(evaluated)]
    assert main(["words", "--prompts", str(prompts), *words]) == 0


@pytest.mark.slow(reason="an evaluation of its own")
def test_models_that_are_asked_about_words_are_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = f"lm:{save_gpt2(tmp_path / 'gpt2', words=['yes', 'no', ' Yes', ' No'])}"
    judge = f"vlm:{tiny_vlms.FAMILIES['llava'](tmp_path / 'llava')}"
    options = EvaluationOptions(
        prompts=PROMPTS[:2], axis="gender", images=4, gradient_images=2, every=10,
        llm=llm, ask_vqa=judge, output=tmp_path / "run",
    )  # fmt: skip
    found = evaluate(options).document
    assert found["sources"]["language model"] == llm and found["sources"]["judge"] == judge
    assert found["ask_vqa"] == judge and found["llm_fingerprint"]
    for pair in found["pairs"]:
        for method in ("language model", "judge"):
            scores = [word["scores"][method] for word in pair["words"]]
            assert all(0 < score < 1 for score in scores) and len({*scores}) == len(scores)
    (kept, *_) = (tmp_path / "run" / "transcripts").glob("words-*.json")
    assert json.loads(kept.read_bytes())["turns"][0]["text"].startswith("Is ")
    monkeypatch.setattr(type(load_language_model(llm)), "yes_probability", never)
    monkeypatch.setattr(type(load_judge(judge)), "answer", never)
    assert evaluate(options).document == found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--truth-vqa", "sandbox"], "--truth-vqa 'sandbox' is the judge that gives the gradients"),
        (["--vqa", "sandbox:judge2"], "sandbox:judge2 gives no gradients"),
        (["--truth-vqa", "sandbox:jugde2"], "--truth-vqa 'sandbox:jugde2'.*Did you mean 'judge2'"),
        (["--truth-vqa", "human:a.csv"], "--truth-vqa is asked .* people cannot answer"),
        (["--ask-vqa", "human:a.csv"], "--ask-vqa is asked .* people cannot answer"),
        (["--truth-vqa", ""], "truth-vqa"),
        (["--truth-vqa", "tables"], "tables"),
        (["--model", "diffusers:x/y", "--vqa", "clip:x/y"], "--truth-vqa is needed.*'clip:x/y'"),
        (["--model", "diffusers:x/y"], "--vqa is needed for diffusers:x/y"),
        (["--permutations", "2"], "--permutations has no effect on sandbox"),
        (["--axis", "gendr"], "no axis 'gendr'.*Did you mean 'gender'"),
        (["--llm", "sandbox"], "--llm 'sandbox' does not show how probable"),
        (["--ask-vqa", "sandbox"], "--ask-vqa 'sandbox' .* reads no questions"),
        (["--every", "0"], "every"),
        (["--gradient-images", "0"], "--gradient-images"),
        (["--prompt", "a chef"], "exclude each other"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], message: str, prompts: Path, tmp_path: Path, capsys
) -> None:
    target = tmp_path / "run"
    line = refusal(capsys, "words", "evaluate", "--prompts", prompts, *arguments, "-o", target)
    assert re.search(message, line) and not target.exists()


def test_options_may_be_those_of_the_truths_judge(prompts: Path, tmp_path: Path, capsys) -> None:
    judge = ["--truth-vqa", "openai:gpt", "--base-url", "http://127.0.0.1:9/v1"]
    arguments = ["--prompts", str(prompts), *judge, "-o", str(tmp_path / "run"), "--dry-run"]
    assert main(["words", "evaluate", *arguments]) == 0
    assert "Nothing was done." in capsys.readouterr().out


def test_prompts_without_content_words_are_refused(tmp_path: Path, capsys) -> None:
    path = tmp_path / "prompts.txt"
    path.write_text("a nurse\nthe of\n")
    target = tmp_path / "run"
    line = refusal(capsys, "words", "evaluate", "--prompts", path, "-o", target)
    assert "line 2: the prompt 'the of' has no word" in line and not target.exists()


def test_prompts_of_one_word_rank_nothing(tmp_path: Path, capsys) -> None:
    path, target = tmp_path / "prompts.txt", tmp_path / "run"
    path.write_text("a nurse\na chef\n")
    line = refusal(capsys, "words", "evaluate", "--prompts", path, "-o", target)
    assert "no prompt has two words" in line and not target.exists()


def test_a_dry_run_does_nothing(prompts: Path, tmp_path: Path, capsys) -> None:
    target = tmp_path / "run"
    arguments = ["--prompts", str(prompts), *SMALL[:-1], "--released", "-o", str(target)]
    assert main(["words", "evaluate", *arguments, "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["images"], plan["followed"]) == (10 * 8, 3 * 2 * 2) and not target.exists()
    assert main(["words", "evaluate", *arguments, "--dry-run"]) == 0
    assert "Nothing was done." in capsys.readouterr().out and not target.exists()


def evaluate_into(directory: Path) -> None:
    evaluate(
        EvaluationOptions(
            prompts=PROMPTS[:2], axis="gender", images=16, gradient_images=8, every=2,
            output=directory,
        )
    )  # fmt: skip


def result_of(directory: Path) -> bytes:
    return (directory / "evaluation.json").read_bytes()


@pytest.mark.slow(reason="runs the sandbox several times; test_a_rerun_... shows what is kept")
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on_and_ends_the_same(tmp_path: Path, by: signal.Signals) -> None:
    outcomes = kill_trials(
        evaluate_into, lambda path: (path,), tmp_path, table=result_of, trials=4, by=by
    )
    assert any(trial.killed for trial in outcomes)


def test_three_ways_to_count_and_thresholds() -> None:
    prompt = "a tall chef in a red kitchen"
    truth = influence({"tall": 0.3, "chef": 0.3, "red": 0.25, "kitchen": 0.0}, prompt=prompt,
                      method="removal", tied=["red"])  # fmt: skip
    found = influence({"tall": 0.1, "chef": 0.2, "red": 0.3, "kitchen": 0.0}, prompt=prompt)
    pair = ranked_words(truth, {"l1": found})
    pair = type(pair)(truth, pair.others, pair.words, [random_scores(pair.words)])
    rows = {
        (row.least, row.method, row.top, row.ties): row.accuracy for row in accuracies([pair], 0)
    }
    l1 = [rows[0.0, "l1", 1, ties] for ties in ("tied", "equal", "first")]
    assert l1 == [1.0, 0.0, 0.0]
    assert rows[0.2, "l1", 2, "equal"] == 1.0 and rows[0.2, "l1", 2, "first"] == 0.5
    assert rows[0.0, "random", 1, "equal"] == pytest.approx(0.5)
    large = [row for row in accuracies([pair], 0) if row.least == 0.4]
    assert len(large) == len(rows) / 3 and {row.accuracy for row in large} == {None}
    assert {row.reason for row in large} == {
        "no pair of prompt and axis has an influence of at least 0.4"
    }
    assert counts_of([truth], [pair])["pairs_nothing_stands_out"] == 1
