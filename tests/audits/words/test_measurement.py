"""`biasgraph words --by removal` through the command line, on the sandbox."""

from __future__ import annotations

import csv
import json
import re
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from biasgraph.audits.words.measurement import measure
from biasgraph.audits.words.words_options import WordsOptions
from biasgraph.commands import main
from biasgraph.models.clip import ClipJudge
from biasgraph.sandbox import backends as sandbox_models
from tests.command_line import read_document, refusal
from tests.kill_trials import kill_trials

PROMPT = "a nurse with a toolbox"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    by = () if "--by" in arguments else ("--by", "removal")
    code = main(["words", *map(str, arguments), *by])
    streams = capsys.readouterr()
    return code, " ".join(streams.out.split()), streams.err


def document(directory: Path) -> dict[str, Any]:
    return read_document(directory / "words.json")


def words_of(directory: Path) -> bytes:
    return (directory / "words.json").read_bytes()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("words") / "run"
    by = ["--by", "removal", "--axis", "gender,age"]
    options = [*by, "--images", "24", "-q", "-o", str(directory)]
    assert main(["words", "--prompt", PROMPT, *options]) == 0
    return directory


def test_the_document(measured: Path) -> None:
    found = document(measured)
    assert found["schema"] == "biasgraph-words/1" and found["toy"]
    assert found["model"] == "sandbox:stereotyped" and found["vqa_fingerprint"]
    assert found["settings"]["by"] == "removal" and found["settings"]["axis"] == ["gender", "age"]
    assert [one["axis"] for one in found["influences"]] == ["gender", "age"]
    gender = {word["word"]: word for word in found["influences"][0]["words"]}
    assert gender["nurse"]["stands_out"] and gender["nurse"]["rank"] == 1
    assert gender["with"]["reason"] == "stop word" and gender["with"]["score"] is None
    assert found["removals"][0]["without"] == [
        {"word": "nurse", "start": 2, "prompt": "a person with a toolbox",
         "note": "the subject noun becomes 'person'"},
        {"word": "toolbox", "start": 15, "prompt": "a nurse", "note": "with it went 'with a'"},
    ]  # fmt: skip
    assert found["over_prompts"] == []


def test_images_of_a_word_have_the_seeds_of_the_prompt(measured: Path) -> None:
    with closing(sqlite3.connect(measured / "ledger.sqlite")) as ledger:
        rows = ledger.execute(
            "SELECT text, role, number, seed FROM images JOIN prompts ON prompts.id = prompt"
        ).fetchall()
    seeds: dict[str, dict[int, int]] = {}
    for text, _, number, seed in rows:
        seeds.setdefault(text, {})[number] = seed
    assert {*seeds} == {PROMPT, "a person with a toolbox", "a nurse"}
    assert seeds[PROMPT] == seeds["a nurse"] == seeds["a person with a toolbox"]
    assert {role for text, role, *_ in rows if text != PROMPT} == {"other"}


def test_the_table_has_a_row_for_each_word(measured: Path) -> None:
    with (measured / "words.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["word"] for row in rows if row["axis"] == "age"] == PROMPT.split()
    assert {row["prompt"] for row in rows} == {PROMPT} and all(row["toy"] for row in rows)
    nurse = next(row for row in rows if row["word"] == "nurse")
    assert float(nurse["score"]) > float(nurse["threshold"])


def test_the_screen_and_the_figures(measured: Path, capsys) -> None:
    options = ["--axis", "gender,age", "--images", 24, "-o", measured]
    code, out, _ = run(capsys, "--prompt", PROMPT, *options)
    assert code == 0
    for said in ("a toy", "nurse", "stands out", "a person with a toolbox", "from the same seeds"):
        assert said in out
    assert (measured / "words.svg").read_bytes().startswith(b"<?xml")
    assert (measured / "words.png").stat().st_size > 1000


@pytest.mark.slow(reason="two measurements")
def test_nothing_is_done_twice_and_an_axis_more_makes_no_image(
    measured: Path, monkeypatch, capsys
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("done again")

    monkeypatch.setattr(sandbox_models, "load_pipeline", never, raising=False)
    options = ["--prompt", PROMPT, "--images", 24, "-o", measured, "--json"]
    before = words_of(measured)
    with monkeypatch.context() as patched:
        patched.setattr(ClipJudge, "embed_images", never)
        code, out, _ = run(capsys, *options, "--axis", "gender,age")
        assert code == 0 and json.loads(out) == json.loads(before)
        assert words_of(measured) == before
    images = sorted((measured / "images").iterdir())
    code, out, _ = run(capsys, *options, "--axis", "gender,age,emotion")
    assert code == 0 and len(json.loads(out)["influences"]) == 3
    assert sorted((measured / "images").iterdir()) == images


@pytest.mark.slow(reason="a measurement of its own; causal/test_word_influence.py has the numbers")
def test_many_prompts_say_which_words_matter_over_all(tmp_path: Path, capsys) -> None:
    listed = tmp_path / "p.txt"
    listed.write_text("a nurse\n# a comment\na chef\nan old nurse\n")
    target = tmp_path / "run"
    options = ["--prompts", listed, "--axis", "gender,age", "--images", 10, "-o", target]
    code, out, _ = run(capsys, *options)
    assert code == 0
    found = document(target)
    rows = {(row["axis"], row["word"]): row for row in found["over_prompts"]}
    assert rows["gender", "nurse"]["n_prompts"] == 2
    assert rows["gender", "nurse"]["low"] <= rows["gender", "nurse"]["share"]
    assert rows["gender", "chef"]["low"] is None and rows["gender", "chef"]["reason"]
    assert ("age", "old") not in rows and ("gender", "old") in rows
    assert "Prompts 3" in out and "Words that stand out" in out
    assert not (target / "words.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prompt", "a chef", "--axis", "gendr"], "no axis 'gendr' .* Did you mean 'gender'"),
        (["--prompt", "a person"], "has no word whose influence on any axis"),
        (["--prompt", "a woman", "--axis", "gender"], "influence on axis 'gender' can be measured"),
        (["--prompt", "a chef", "--model", "folder:pictures"], "a folder makes none"),
        (["--prompt", "a chef", "--vqa", "human:labels.csv"], "people cannot answer during a run"),
        (["--prompt", "a chef", "--model", "diffusers:a/b"], "--vqa is needed"),
        ([], "no prompt: give --prompt"),
        (["a chef"], "Did you mean --prompt 'a chef'"),
        (["--prompt", "a chef", "--prompts", "occupations"], "exclude each other"),
        (["--prompt", "a person\x07"], "--prompt: the prompt 'a person"),
        (["--prompt", "a [] chef"], "--prompt: brackets must enclose"),
        (["--prompt", "a chef", "--images", "0"], "images"),
        (["--prompt", "a chef", "--by", "magic"], "magic"),
        (["--prompt", "a chef", "--every", "2"], "--every has no effect --by removal"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(arguments: list[str], message: str, tmp_path: Path, capsys) -> None:
    target = tmp_path / "run"
    by = () if "--by" in arguments else ("--by", "removal")
    line = refusal(capsys, "words", *arguments, *by, "-o", target)
    assert re.search(message, line) and not target.exists()


def test_a_place_stands_before_what_is_wrong_with_a_list(tmp_path: Path, capsys) -> None:
    listed = tmp_path / "p.txt"
    for text, message in {
        "a chef\na person\n": "line 2: the prompt 'a person' has no word",
        "a chef\n\na [chef]\n": "line 3: the prompt 'a chef' is listed twice",
    }.items():
        listed.write_text(text)
        code, _, err = run(capsys, "--prompts", listed, "-o", tmp_path / "run")
        assert code == 2 and message in err
    assert not (tmp_path / "run").exists()


def test_a_dry_run_does_nothing(tmp_path: Path, capsys) -> None:
    target = tmp_path / "run"
    options = ["--prompt", PROMPT, "--axis", "gender", "--images", 4, "-o", target, "--dry-run"]
    code, out, _ = run(capsys, *options, "--json")
    planned = json.loads(out)
    assert code == 0 and planned["images"] == 12 and planned["questions"] == 24
    assert "Nothing was done" in run(capsys, *options)[1]
    planned = json.loads(run(capsys, *options, "--json", "--by", "gradient")[1])
    assert planned["removals"] == [] and planned["images"] == 4 and planned["notes"] == []
    assert not target.exists()


def test_a_plan_needs_no_model(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    models = ["--model", "diffusers:biasgraph-test/nothing", "--vqa", "vlm:biasgraph-test/none"]
    options = ["--prompt", PROMPT, *models, "-o", tmp_path / "run", "--dry-run"]
    code, out, _ = run(capsys, *options, "--json")
    planned = json.loads(out)
    assert code == 0 and planned["seconds"] is None and planned["images"] > 0
    assert [note.split(":")[0] for note in planned["notes"]] == [
        "cannot load diffusers",
        "cannot load vlm",
    ]
    assert "cannot load diffusers" in run(capsys, *options)[1]


def measure_into(directory: Path) -> None:
    options = WordsOptions(prompt=PROMPT, axis="gender", images=40, by="removal", output=directory)
    measure(options)


@pytest.mark.slow(reason="runs the sandbox several times; tests/runs/test_other_images.py resumes")
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on_and_ends_the_same(tmp_path: Path, by: signal.Signals) -> None:
    outcomes = kill_trials(
        measure_into, lambda path: (path,), tmp_path, table=words_of, trials=4, by=by
    )
    assert any(trial.killed for trial in outcomes)
