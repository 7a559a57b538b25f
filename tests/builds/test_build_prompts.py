"""`biasgraph build --prompts`: many prompts in one run, on the real sandbox."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from biasgraph.commands import main
from biasgraph.data.result import load
from biasgraph.io.folder_names import folder_name
from biasgraph.models.diffusers import DiffusersGenerator
from tests.interrupted import interrupt
from tests.shared_runs import copy_of

SMALL = (
    "--images", "4", "--only", "gender,age", "--controls", "0", "--min-valid", "2",
    "--bootstrap", "100",
)  # fmt: skip
SETS = 6  # the prompt, two of gender, three of age
PROMPTS = "# two\na librarian\na photo of a [nurse]\n"
BOTH = ["a librarian", "a photo of a nurse"]


def build(directory: Path, content: str, *arguments: str) -> int:
    path = directory.with_suffix(".txt")
    path.write_text(content, encoding="utf-8")
    return main(["build", "--prompts", str(path), "-o", str(directory), *SMALL, *arguments])


def pictures(directory: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (directory / "images").iterdir()}


def images_by_prompt(directory: Path) -> dict[str, int]:
    query = (
        "SELECT first.text, count(*) FROM images JOIN prompts ON prompts.id = prompt"
        " JOIN prompts AS first ON first.id = prompts.initial GROUP BY first.text"
    )
    with closing(sqlite3.connect(directory / "ledger.sqlite")) as ledger:
        return dict(ledger.execute(query).fetchall())


def files(directory: Path) -> dict[str, bytes]:
    """What was found, without what the run keeps for all of its prompts."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.suffix in (".csv", ".json", ".graphml")
        and path.name not in ("run.json", "inputs.json")
        and "transcripts" not in path.parts
    }


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("prompts") / "run"
    assert build(directory, PROMPTS) == 0
    return directory


@pytest.fixture
def copy(small: Path, tmp_path: Path) -> Path:
    return copy_of(small, tmp_path / "run")


def test_one_run_holds_all_prompts(small: Path) -> None:
    result = load(small)
    graph = result.document["graph"]
    assert (graph["kind"], graph["vqa"], graph["seed"]) == ("global", "sandbox", 0)
    assert "toy" in graph["toy"]
    assert [part["prompt"] for part in graph["prompts"]] == BOTH
    assert [part["subject"] for part in graph["prompts"]] == ["a librarian", "a nurse"]
    assert images_by_prompt(small) == dict.fromkeys(BOTH, SETS * 4)
    assert graph["images"] == {"initial": 8, "interventions": 2 * (SETS - 1) * 4}
    for prompt, part in zip(BOTH, result.prompts, strict=True):
        assert part.directory == small / "prompts" / folder_name(prompt)
        assert not {"images", "ledger.sqlite", "run.json"} & {
            p.name for p in part.directory.iterdir()
        }
        own = part.document["graph"]
        assert own["model_fingerprint"] == graph["model_fingerprint"]
    sums = pd.concat([part.tables for part in result.prompts])
    keys = ["axis", "attribute", "target", "answer"]
    both = (frame.groupby(keys)["count"].sum() for frame in (sums, result.tables))
    pd.testing.assert_series_equal(*both)


@pytest.mark.slow(reason="a build of 26 prompts; runs/test_batches.py has the order")
def test_batches_mix_prompts_and_are_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[list[str]] = []
    generate = DiffusersGenerator.generate

    def spied(self: DiffusersGenerator, prompts: list[str], seeds: list[int]) -> object:
        batches.append(list(prompts))
        return generate(self, prompts, seeds)

    monkeypatch.setattr(DiffusersGenerator, "generate", spied)
    content = "a librarian\na nurse\na cook\n"
    assert build(tmp_path / "run", content, "--quiet") == 0
    size = len(batches[0])
    assert [len(batch) for batch in batches] == [size] * -(-3 * SETS * 4 // size)
    assert {prompt.split()[-1] for prompt in batches[0]} == {"librarian", "nurse", "cook"}


def test_a_rerun_changes_nothing(copy: Path) -> None:
    before = files(copy), pictures(copy)
    assert build(copy, PROMPTS) == 0
    assert (files(copy), pictures(copy)) == before


@pytest.mark.slow(reason="a build of its own")
def test_settings_reach_all_graphs_without_model_work(copy: Path) -> None:
    before = pictures(copy)
    assert (
        build(copy, PROMPTS, "--alpha", "0.5", "--min-is", "0.01", "--global-test", "pooled") == 0
    )
    assert pictures(copy) == before
    result = load(copy)
    assert result.document["graph"]["edge_rule"]["min_is"] == 0.01
    for graph in [part.document["graph"] for part in (result, *result.prompts)]:
        assert graph["edge_rule"]["alpha"] == 0.5


@pytest.mark.slow(reason="two builds of the sandbox; builds/test_several_prompts.py has fakes")
def test_more_and_fewer_prompts(copy: Path) -> None:
    before = pictures(copy)
    assert build(copy, PROMPTS + "a cook\n") == 0
    more = pictures(copy)
    assert before.items() <= more.items() and len(more) > len(before)
    assert images_by_prompt(copy) == dict.fromkeys([*BOTH, "a cook"], SETS * 4)
    assert len(load(copy).prompts) == 3
    assert build(copy, "a cook\na librarian\n") == 0
    assert pictures(copy) == more
    assert {*load(copy).answers["prompt"]} == {"a cook", "a librarian"}
    folders = {path.name for path in (copy / "prompts").iterdir()}
    assert folders == {folder_name(prompt) for prompt in ("a cook", "a librarian")}


def test_one_prompt_of_the_run_alone(copy: Path) -> None:
    own = load(copy / "prompts" / folder_name("a librarian")).files()
    before = pictures(copy)
    assert main(["build", "--prompt", "a librarian", "-o", str(copy), *SMALL]) == 0
    assert pictures(copy) == before
    assert not (copy / "prompts").exists()
    assert load(copy).files() == own


@pytest.mark.slow(reason="a build of the sandbox; causal/test_aggregate.py has one prompt")
def test_a_list_of_one_prompt_is_a_global_graph_of_one(tmp_path: Path) -> None:
    assert build(tmp_path / "run", "a librarian\n", "--images", "2") == 0
    result = load(tmp_path / "run")
    assert result.document["graph"]["kind"] == "global"
    assert (result.pairs["n_prompts"] == 1).all()
    assert [part.document["graph"]["prompt"] for part in result.prompts] == ["a librarian"]


def test_show_and_json(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(small), "--section", "settings,prompts"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Prompts 2: a librarian, a photo of a nurse; their counts are summed" in text
    assert folder_name("a librarian") in text
    assert main(["show", str(small), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == load(small).document
    part = small / "prompts" / folder_name("a librarian")
    assert main(["show", str(part), "--section", "settings"]) == 0
    assert "Prompt a librarian" in " ".join(capsys.readouterr().out.split())


def test_a_dry_run_of_the_occupations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["build", "--prompts", "occupations", "--dry-run"]) == 0
    text = capsys.readouterr().out
    assert "754 prompts, 36,192 images" in text
    assert "an elementary school teacher (subject: an elementary school teacher)" in text
    assert "and 24 more, and 2 neutral rewordings" in text
    assert len(text.splitlines()) < 26 * 5
    assert str(Path("outputs/sandbox-stereotyped/occupations")) in text
    assert list(tmp_path.iterdir()) == []
    assert main(["build", "--prompts", "occupations", "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["prompts"], len(plan["plans"]), plan["images"]) == (754, 26, 36_192)


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("a nurse\nbeautiful and strange\n", (), "line 2: cannot tell the subject"),
        ("a nurse\na nurse\n", (), "is already in"),
        ("\n", (), "contains no prompts"),
        ("a nurse\na [cook] " + "in a small village " * 9, (), "line 2: "),
        ("a nurse", ("--prompt", "a cook"), "--prompt and --prompts exclude each other"),
        ("a nurse", ("--answers", "a.csv"), "--prompts and --answers exclude each other"),
        ("a nurse", ("--min-is", "-1"), "'--min-is': -1.0 is not in the range"),
        ("a nurse", ("--min-v", "-1"), "'--min-v': -1.0 is not in the range"),
        ("a nurse", ("--delta", "-1"), "'--delta': -1.0 is not in the range"),
        ("a nurse", ("--images", "1000001"), "'--images': 1000001 is not in the range"),
        ("a nurse", ("--prompts", "ocupations"), "Did you mean 'occupations'"),
        ("a nurse", ("--ideal", "no.yaml"), "no.yaml"),
    ],
)
def test_bad_input_is_one_line_and_nothing_written(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: str,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    assert build(tmp_path / "run", content, *arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.slow(reason="interrupts a real build; runs/test_local_engine.py does it with fakes")
def test_an_interrupted_build_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("a librarian\na nurse\na cook\n")
    directory = tmp_path / "run"
    words = ["build", "--prompts", str(path), "-o", str(directory), *SMALL, "--images", "16"]
    errors = interrupt([sys.executable, "-m", "biasgraph", *words], directory)
    assert "rerun the same command" in errors
    made = images_by_prompt(directory)
    assert len(made) == 3 and sum(made.values()) < 3 * SETS * 16
    before = pictures(directory)
    assert not (directory / "prompts").exists()
    assert main([*words, "--quiet"]) == 0
    assert before.items() <= pictures(directory).items()
    assert images_by_prompt(directory) == dict.fromkeys(
        ["a librarian", "a nurse", "a cook"], SETS * 16
    )
