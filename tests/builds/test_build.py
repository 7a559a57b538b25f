"""`biasgraph build --prompt`: the whole way on the real sandbox, as a user goes it."""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest

from biasgraph import analyze
from biasgraph.audits.agreement.trusted_answers import read_questions
from biasgraph.commands import main
from biasgraph.data.result import load
from biasgraph.models.pixels import pixels_digest
from biasgraph.runs.directory import read_run
from tests.forked import biasgraph
from tests.interrupted import interrupt
from tests.kill_trials import annotated_build, kill_trials, results
from tests.shared_runs import copy_of, copy_run

SMALL = (
    "--images", "6", "--only", "gender,clothing", "--controls", "0", "--min-valid", "2",
    "--bootstrap", "100",
)  # fmt: skip
PROMPTS = 5  # the initial one, two of gender, two of clothing


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "biasgraph", *arguments]


def run(*arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
    done = biasgraph(*arguments)
    assert done.returncode == expect, done.stderr
    return done


def build(directory: Path, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
    return run("build", "--prompt", "a librarian", "-o", str(directory), *arguments, expect=expect)


def images_of(directory: Path) -> dict[str, tuple[str, int]]:
    ledger = sqlite3.connect(directory / "ledger.sqlite")
    rows = ledger.execute("SELECT id, sha256 FROM images").fetchall()
    ledger.close()
    return {
        name: (sha, (directory / "images" / f"{sha}.png").stat().st_mtime_ns) for name, sha in rows
    }


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("build") / "run"
    printed = copy_run(directory, "build", "--prompt", "a librarian", *SMALL)
    assert "toy" in printed
    return directory


@pytest.mark.slow(reason="a build of its own")
def test_labels_of_other_pictures_are_named_and_change_nothing(small: Path, tmp_path: Path) -> None:
    directory, labels = copy_of(small, tmp_path / "run"), tmp_path / "labels.csv"
    labels.write_text(
        "picture,question,answer\n"
        'sha256:0,"What is the gender (male, female) of the person?",female\n'
    )
    before = (directory / "graph.json").read_bytes()
    done = build(directory, *SMALL, "--vqa", f"human:{labels}", expect=2)
    assert "labels none of these pictures" in done.stderr
    assert (directory / "graph.json").read_bytes() == before


@pytest.mark.parametrize(
    ("annotators", "people"),
    [
        (("ada", "bo"), True),
        pytest.param(("model:a", "model:b"), False, marks=pytest.mark.slow(reason="another build")),
    ],
)
def test_answers_of_people_are_no_unchecked_judge(
    small: Path, tmp_path: Path, annotators: tuple[str, str], people: bool
) -> None:
    directory, labels = copy_of(small, tmp_path / "run"), tmp_path / "labels.csv"
    with closing(read_run(directory)) as run, labels.open("w", newline="") as file:
        gate, axes = read_questions(run, "sandbox")
        writer = csv.writer(file)
        writer.writerow(("picture", "question", "answer", "annotator"))
        for image in run.ledger.images():
            digest = pixels_digest(run.read_image(image))
            for question in (gate, *(part for axis in axes for part in axis.questions)):
                for annotator in annotators:
                    writer.writerow((digest, question.text, question.choices[0], annotator))
    done = build(directory, *SMALL, "--vqa", f"human:{labels}")
    assert ("labels of people" in done.stdout) == people
    assert "2 annotators" in done.stdout
    assert ("validated" in done.stdout) != people
    result = load(directory)
    graph = result.document["graph"]
    assert (graph["people"], graph["annotators"]) == (people, 2)
    again = analyze(result.answers, bootstrap=100).document["graph"]
    assert again["people"] == people, "the answers say it by themselves"


def test_a_build_leaves_a_complete_run(small: Path) -> None:
    names = {path.name for path in small.iterdir()}
    assert {
        "run.json", "ledger.sqlite", "images", "answers.csv", "tables.csv", "pairs.csv",
        "nodes.csv", "graph.json", "graph.graphml", "report.html",
    } <= names  # fmt: skip
    answers = pd.read_csv(small / "answers.csv")
    assert len(answers) == PROMPTS * 6 * 2
    assert answers["model"].eq("sandbox:stereotyped").all()
    document = json.loads((small / "graph.json").read_text("utf-8"))
    graph = nx.node_link_graph(document, edges="links")
    assert set(graph) == {"gender", "clothing"}
    assert document["graph"]["subject"] == "a librarian"
    assert document["graph"]["vqa"] == "sandbox"
    assert "toy" in document["graph"]["toy"]
    assert len(load(small).pairs) == 4


def test_a_rerun_does_no_model_work(small: Path, tmp_path: Path) -> None:
    directory = copy_of(small, tmp_path / "run")
    before = images_of(directory), (directory / "answers.csv").read_bytes()
    code = (
        "import sys; from biasgraph.commands import main; code = main(sys.argv[1:]);"
        "assert not {'torch', 'diffusers', 'transformers', 'ot'} & set(sys.modules);"
        "sys.exit(code)"
    )
    arguments = ["build", "--prompt", "a librarian", "-o", str(directory), *SMALL]
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True)
    assert (images_of(directory), (directory / "answers.csv").read_bytes()) == before


def test_another_alpha_reuses_everything(small: Path, tmp_path: Path) -> None:
    directory = copy_of(small, tmp_path / "run")
    before = images_of(directory)
    build(directory, *SMALL, "--alpha", "0.05")
    assert images_of(directory) == before
    settings = json.loads((directory / "graph.json").read_text("utf-8"))["graph"]["settings"]
    assert settings["alpha"] == 0.05


@pytest.mark.slow(reason="two builds of the sandbox; runs/test_directory.py asks for more")
def test_more_images_leave_the_old_as_they_were(small: Path, tmp_path: Path) -> None:
    directory = copy_of(small, tmp_path / "run")
    before = images_of(directory)
    old = pd.read_csv(directory / "answers.csv")
    build(directory, *SMALL, "--images", "9")
    after = images_of(directory)
    assert len(after) == PROMPTS * 9
    assert before.items() <= after.items()
    new = pd.read_csv(directory / "answers.csv")
    same = new.merge(old, on=["image", "target"], suffixes=("", "_old"))
    assert len(same) == len(old)
    assert same["answer"].eq(same["answer_old"]).all()


def test_another_seed_or_model_is_refused_by_name(small: Path, tmp_path: Path) -> None:
    directory = copy_of(small, tmp_path / "run")
    before = images_of(directory)
    assert "seed" in build(directory, *SMALL, "--seed", "1", expect=2).stderr
    other = build(directory, *SMALL, "--model", "sandbox:debiased", expect=2)
    assert "sandbox:debiased" in other.stderr
    assert images_of(directory) == before


@pytest.mark.slow(reason="a build of its own")
def test_another_prompt_is_refused_by_name(small: Path, tmp_path: Path) -> None:
    directory = copy_of(small, tmp_path / "run")
    before = (directory / "graph.json").read_bytes()
    refused = run("build", "--prompt", "a nurse", *SMALL, "-o", str(directory), expect=2)
    assert "its prompt was 'a librarian' and is now 'a nurse'" in refused.stderr
    assert (directory / "graph.json").read_bytes() == before
    prompts = tmp_path / "both.txt"
    prompts.write_text("a librarian\na nurse\n")
    run("build", "--prompts", str(prompts), *SMALL, "--images", "2", "-o", str(directory))


@pytest.mark.slow(reason="two builds of the sandbox; runs/test_directory.py sets runs aside")
def test_fresh_keeps_the_old_run_aside(small: Path, tmp_path: Path) -> None:
    directory = copy_of(small, tmp_path / "run")
    before = images_of(directory)
    build(directory, *SMALL, "--seed", "1", "--fresh")
    aside = next(path for path in tmp_path.iterdir() if path.name.startswith("run-until-"))
    assert images_of(aside) == before
    assert not set(images_of(directory).values()) & set(before.values())


@pytest.mark.slow(reason="a build of its own")
def test_a_damaged_image_is_made_again(small: Path, tmp_path: Path) -> None:
    directory = copy_of(small, tmp_path / "run")
    picture = next((directory / "images").glob("*.png"))
    whole = picture.read_bytes()
    picture.write_bytes(whole[: len(whole) // 2])
    build(directory, *SMALL)
    assert picture.read_bytes() == whole


@pytest.mark.slow(reason="a build of the sandbox; runs/test_directory.py has judges that join")
def test_the_second_judge_joins_the_run(small: Path, tmp_path: Path) -> None:
    directory = copy_of(small, tmp_path / "run")
    before = images_of(directory)
    build(directory, *SMALL, "--vqa", "sandbox:judge2")
    assert images_of(directory) == before
    assert load(directory).document["graph"]["vqa"] == "sandbox:judge2"


def test_json_is_the_only_thing_on_stdout(small: Path, tmp_path: Path) -> None:
    done = build(copy_of(small, tmp_path / "run"), *SMALL, "--json")
    assert json.loads(done.stdout)["schema"] == "biasgraph/1"


def test_a_dry_run_does_nothing(tmp_path: Path) -> None:
    done = build(tmp_path / "run", "--dry-run")
    assert "29 prompts, 1,392 images" in done.stdout
    assert "11,136 answers" in done.stdout
    assert not (tmp_path / "run").exists()
    plan = json.loads(build(tmp_path / "run", "--dry-run", "--json").stdout)
    assert plan["images"] == 1392
    assert plan["seconds"] > 0


def test_a_dry_run_needs_no_model_and_tells_what_is_too_little(tmp_path: Path) -> None:
    models = ("--model", "diffusers:nowhere/none", "--vqa", "vlm:nowhere/none")
    planned = build(tmp_path / "run", "--dry-run", *models, "--images", "8").stdout
    assert "29 prompts, 232 images" in planned
    assert "Note: cannot load diffusers:nowhere/none: " in planned
    assert "Note: cannot load vlm:nowhere/none: " in planned
    assert "8 images of each prompt are fewer than the 16 of --min-valid" in planned
    long = "a photo of a [cook] " + "in a small village " * 9
    planned = run("build", "--prompt", long, "--dry-run").stdout
    assert "Note: " in planned and "tokens" in planned


@pytest.mark.slow(reason="a build of the sandbox; prompts/ and report/ have both")
def test_fixed_axes_and_unseen_words_are_named(tmp_path: Path) -> None:
    prompt = "a zealous female librarian"
    done = run("build", "--prompt", prompt, "-o", str(tmp_path / "run"), *SMALL)
    graph = load(tmp_path / "run").document["graph"]
    assert graph["fixed_by_prompt"] == {"gender": "female"}
    assert graph["unseen_words"] == ["zealous"]
    assert "zealous" in done.stdout + done.stderr
    # The counterfactual is worded as the prompt itself, and yet its images are its own.
    assert len(list((tmp_path / "run" / "images").glob("*.png"))) == PROMPTS * 6


def test_unknown_as_a_class_wants_an_ideal_before_any_image(tmp_path: Path) -> None:
    for more in ((), ("--dry-run",)):
        done = build(tmp_path / "run", *SMALL, "--unknown", "class", *more, expect=2)
        assert "need an ideal share" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.slow(reason="interrupts a real build; runs/test_local_engine.py does it with fakes")
def test_ctrl_c_finishes_the_batch_and_says_how_to_go_on(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    arguments = ("--images", "24", "--only", "gender,clothing", "--bootstrap", "100")
    words = command("build", "--prompt", "a librarian", "-o", str(directory), *arguments)
    assert "again" in interrupt(words, directory)
    made = images_of(directory)
    assert 0 < len(made) < PROMPTS * 24
    assert len(made) % 48 == 0
    build(directory, *arguments)
    assert made.items() <= images_of(directory).items()


LONG = "a librarian " + "and a chair " * 1000
BAD: list[tuple[str, Sequence[str]]] = [
    ("prompt", ("--prompt", "")),
    ("prompt", ("--prompt", LONG)),
    ("bracket", ("--prompt", "beautiful and strange")),
    ("Did you mean 'occupation'", ("--prompt", "a cook", "--axes", "ocupation")),
    ("Did you mean 'gender'", ("--prompt", "a cook", "--only", "gendr")),
    ("images", ("--prompt", "a cook", "--images", "0")),
    ("alpha", ("--prompt", "a cook", "--alpha", "2")),
    ("Did you mean", ("--prompt", "a cook", "--model", "sandbox:stereotypd")),
    ("Did you mean", ("--prompt", "a cook", "--vqa", "sandbox:judge")),
    ("tokens", ("--prompt", "a photo of a [cook] " + "in a small village " * 9)),
    ("no.yaml", ("--prompt", "a cook", "--ideal", "no.yaml")),
    ("ordinal", ("--prompt", "a cook", "--metric", "ordinal")),
    ("nothing to build", ()),
    ("No such option", ("--promt", "a cook")),
]


@pytest.mark.parametrize(("word", "arguments"), BAD)
def test_bad_input_is_one_line_and_nothing_written(
    word: str, arguments: Sequence[str], tmp_path: Path
) -> None:
    done = run("build", *arguments, "-o", str(tmp_path / "out"), expect=2)
    assert word.lower() in done.stderr.lower()
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow(reason="41 builds of the sandbox; runs/test_kill.py does the same with fakes")
def test_twenty_kills_lose_nothing(tmp_path: Path) -> None:
    trials = kill_trials(main, annotated_build, tmp_path, table=results)
    assert sum(trial.killed for trial in trials) >= 12
