"""Prompts ranked through the command line: combinations, rules, nonsense, and a server."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from biasgraph.commands import main
from biasgraph.models.clip import ClipJudge
from biasgraph.runs.directory import read_run
from biasgraph.sandbox import backends as sandbox_models
from tests.command_line import read_document, refusal
from tests.models import tiny_lm
from tests.openai_server import Behaviour, serving

PROMPTS = "a nurse\na photo of a [chef] at home\n"


RANKING = pytest.mark.slow(reason="a ranking with its null; those of a server and of rules stay")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["minethegap", "score", *map(str, arguments)])
    streams = capsys.readouterr()
    return code, streams.out, streams.err


def document(directory: Path) -> dict[str, Any]:
    return read_document(directory / "scores.json")


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prompts") / "p.txt"
    path.write_text(PROMPTS)
    return path


@pytest.fixture(scope="module")
def command(prompts: Path) -> list[object]:
    return ["--prompts", prompts, "--images", 4, "--vary", "gender,age"]


@pytest.fixture(scope="module")
def ranked(command: list[object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("ranked") / "run"
    truth = directory.with_name("t.csv")
    truth.write_text("prompt,male,female\nnurse,6,94\nchef,75,25\nmechanic,96,4\n")
    more = ["--null", "--truth", truth, "-q", "-o", directory]
    assert main(["minethegap", "score", *map(str, [*command, *more])]) == 0
    return directory


@RANKING
def test_the_ranking(ranked: Path) -> None:
    found = document(ranked)
    assert [row["rank"] for row in found["prompts"]] == [1, 2]
    first, second = found["prompts"]
    assert first["score"] < second["score"]
    assert {row["n_images"] for row in found["prompts"]} == {4}
    assert {row["n_variations"] for row in found["prompts"]} == {6}
    assert len(first["missed"]) == 2  # a quarter of six, rounded up
    assert set(first["missed"][0]["says"]) == {"gender", "age"}
    assert all(row["score_null"] > 0 for row in found["prompts"])
    by_prompt = {row["prompt"]: row["truth"] for row in found["prompts"]}
    assert by_prompt == {"a nurse": 0.94, "a photo of a chef at home": 0.75}
    assert abs(found["truth"]["rho"]) == pytest.approx(1)
    assert found["truth"]["low"] is None and "needs 4" in found["truth"]["reason"]
    assert found["toy"]
    with (ranked / "scores.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["prompt"] for row in rows] == [row["prompt"] for row in found["prompts"]]


@RANKING
def test_what_is_made_stands_in_no_table(ranked: Path) -> None:
    opened = read_run(ranked)
    try:
        assert len(opened.ledger.images()) == 8
        pictures = opened.ledger._connection.execute(
            "SELECT role, count(*) FROM images JOIN prompts ON prompts.id = prompt GROUP BY role"
        ).fetchall()
        assert dict(pictures) == {"initial": 8, "other": 8}
    finally:
        opened.close()


@RANKING
def test_nothing_is_done_twice(ranked: Path, command, monkeypatch, capsys) -> None:
    def never(*_: object) -> None:
        raise AssertionError("done again")

    monkeypatch.setattr(ClipJudge, "embed_images", never)
    monkeypatch.setattr(ClipJudge, "embed_texts", never)
    monkeypatch.setattr(sandbox_models, "load_pipeline", never, raising=False)
    before = document(ranked)
    code, out, _ = run(capsys, *command, "--null", "-o", ranked, "--json")
    assert code == 0
    again = json.loads(out)
    assert [row["score"] for row in again["prompts"]] == [row["score"] for row in before["prompts"]]
    assert again["truth"] is None


@RANKING
def test_the_screen(ranked: Path, command, capsys) -> None:
    truth = ranked.with_name("t.csv")
    code, out, _ = run(capsys, *command, "--null", "--truth", truth, "-o", ranked)
    assert code == 0
    words = " ".join(out.split())
    for said in ("a nurse", "every combination of gender and age", "Spearman's rho", "a toy"):
        assert said in words


@pytest.mark.slow(reason="a build of its own; methods/test_minethegap.py has the numbers")
def test_an_annotated_build_scores_the_same(ranked: Path, tmp_path: Path) -> None:
    import biasgraph

    built = biasgraph.build(
        "a nurse",
        images=3,
        only=("gender",),
        bootstrap=100,
        annotate="minethegap",
        method_options={"vary": ("gender",)},
        output=tmp_path / "b",
    )
    target = tmp_path / "s"
    path = tmp_path / "p.txt"
    path.write_text("a nurse\n")
    arguments = ["--prompts", path, "--images", 3, "--vary", "gender", "-o", target, "-q"]
    assert main(["minethegap", "score", *map(str, arguments)]) == 0
    assert document(target)["prompts"][0]["score"] == pytest.approx(
        built.document["graph"]["findings"]["minethegap"]["score"]
    )


@pytest.mark.slow(reason="a score of its own; the server's stays")
def test_rules_propose_for_the_sandbox(prompts: Path, tmp_path: Path, capsys) -> None:
    options = ["--images", 2, "--llm", "sandbox", "--variations", 5, "-o", tmp_path / "r"]
    code, out, _ = run(capsys, "--prompts", prompts, *options)
    assert code == 0
    assert "rules over word lists" in " ".join(out.split())
    found = document(tmp_path / "r")
    assert {row["n_variations"] for row in found["prompts"]} == {5}
    assert len(list((tmp_path / "r" / "transcripts").iterdir())) == 2


@pytest.mark.slow(reason="a score of its own; nonsense of proposers is read in prompts/")
def test_a_model_that_talks_nonsense(prompts: Path, tmp_path: Path, capsys) -> None:
    model = tiny_lm.save_gpt2(tmp_path / "gpt2", positions=4_096)
    target = tmp_path / "r"
    options = ["--images", 2, "--llm", f"lm:{model}", "-o", target, "-q"]
    code, _, err = run(capsys, "--prompts", prompts, *options)
    assert code == 1
    (line,) = err.strip().splitlines()
    assert "gave no usable reply in 3 attempts" in line
    assert str(target / "transcripts") in line
    opened = read_run(target)
    try:
        assert len(opened.ledger.images()) == 4, "what was made is kept"
    finally:
        opened.close()


def test_a_server(prompts: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    """One prompt is answered well at the second attempt, the other never."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    good = [f"a nurse, number {i}" for i in range(20)]

    def says(body: Mapping[str, Any]) -> str:
        texts = [message["content"] for message in body["messages"]]
        if "a nurse" not in str(texts[1]):
            return json.dumps({"variations": ["a chef"] * 500})
        return json.dumps({"variations": good if len(texts) > 2 else good[:3]})

    target = tmp_path / "r"
    with serving(Behaviour(says=says)) as fake:
        options = ["--images", 2, "--llm", "openai:writer", "--base-url", fake.base_url]
        for _ in range(2):
            code, out, err = run(capsys, "--prompts", prompts, *options, "-o", target, "--json")
            assert code == 0, err
            assert fake.counted.calls == 2 + 3
    scored, without = json.loads(out)["prompts"]
    assert (scored["prompt"], scored["n_variations"]) == ("a nurse", 15)
    assert without["score"] is None
    assert "at most 64 items" in without["reason"]
    assert "the transcript is in transcripts/" in without["reason"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--vary", "gendr"], "Did you mean 'gender'"),
        (["--vary", "gender,age,ethnicity,clothing"], "72 variations, more than 64"),
        (["--vary", "gender", "--llm", "sandbox"], "exclude each other"),
        (["--model", "folder:x"], "a folder makes none"),
        (["--model", "openai:painter"], "needs --embedder"),
        (["--truth", "us-ocupations"], "Did you mean 'us-occupations'"),
        (["--axes", "animal"], "line 1: the prompt seems to be about"),
        (["--permutations", "2"], "--permutations has no effect"),
    ],
)
def test_one_line_and_nothing_written(prompts: Path, tmp_path: Path, capsys, more, words) -> None:
    given = ("--prompts", prompts, "-o", tmp_path / "r", *more, "-q")
    assert words in refusal(capsys, "minethegap", "score", *given)
    assert not (tmp_path / "r").exists()


def test_a_prompt_that_stands_twice(tmp_path: Path, capsys) -> None:
    path = tmp_path / "p.txt"
    path.write_text("a nurse\na [nurse]\n")
    code, _, err = run(capsys, "--prompts", path, "-o", tmp_path / "r", "-q")
    assert code == 2
    assert "line 2: the prompt 'a nurse' is listed twice" in err
