"""biasgraph openbias end to end: rules, nonsense, and a server that answers well."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from biasgraph.commands import main
from biasgraph.methods.openbias import intensity
from biasgraph.runs.directory import read_run
from tests.command_line import read_document, refusal
from tests.models import tiny_lm
from tests.openai_server import Behaviour, serving

CAPTIONS = 18
SMALL = ("--images", "2", "--min-captions", "10", "--bootstrap", "100")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["openbias", *map(str, arguments)])
    streams = capsys.readouterr()
    return code, streams.out, streams.err


@pytest.fixture(scope="module")
def captions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    people = ["nurse", "pilot", "chef", "librarian", "farmer", "judge", "doctor", "teacher"]
    texts = [frame.format(one) for frame in ("a photo of a {}", "a {}") for one in people]
    path = tmp_path_factory.mktemp("captions") / "c.txt"
    path.write_text("\n".join([*texts, "a woman", "a young nurse", "a woman"]) + "\n")
    assert len(set(texts)) == CAPTIONS - 2
    return path


@pytest.fixture(scope="module")
def sandbox(captions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with the sandbox's rules, generator and judge."""
    directory = tmp_path_factory.mktemp("sandbox") / "run"
    command = ["openbias", "--captions", str(captions), "-o", str(directory), *SMALL]
    assert main([*command, "-q"]) == 0
    return directory


def document(directory: Path) -> dict[str, Any]:
    return read_document(directory / "openbias.json")


@pytest.mark.slow(reason="a ranking of its own; test_annotate.py has every method")
class TestSandbox:
    def test_every_axis_of_the_rules_is_ranked(self, sandbox: Path) -> None:
        found = document(sandbox)
        names = {one["bias"] for one in found["biases"]}
        assert {"person gender", "person age", "person disability"} <= names
        assert found["schema"] == "biasgraph-openbias/1"
        assert "toy" in found["toy"]
        assert "no language model wrote this" in found["proposed_by"]
        scores = [one["intensity"] for one in found["biases"]]
        assert scores == sorted(scores, reverse=True)
        captions = found["captions"]
        assert (captions["n_given"], captions["n_different"]) == (CAPTIONS + 1, CAPTIONS)

    def test_captions_that_say_the_answer_are_no_part_of_the_bias(self, sandbox: Path) -> None:
        biases = {one["bias"]: one for one in document(sandbox)["biases"]}
        gender, age = biases["person gender"], biases["person age"]
        assert [one["caption"] for one in gender["filtered"]] == ["a woman"]
        assert [one["caption"] for one in age["filtered"]] == ["a young nurse"]
        assert gender["n_captions"] == CAPTIONS - 1

    def test_scores_are_those_of_the_answers_table(self, sandbox: Path) -> None:
        table = pd.read_csv(sandbox / "answers.csv", keep_default_na=False)
        for one in document(sandbox)["biases"]:
            rows = table[(table["target"] == one["bias"]) & table["answer"].isin(one["classes"])]
            shares = (
                rows.groupby("prompt")["answer"]
                .value_counts(normalize=True)
                .unstack(fill_value=0)
                .reindex(columns=one["classes"], fill_value=0)
            )
            assert one["n_valid"] == len(rows)
            mean = shares.mean().to_numpy(dtype=float)
            assert one["distribution"] == pytest.approx(mean)
            assert one["intensity"] == pytest.approx(float(intensity(mean)))
            aware = intensity(shares.to_numpy(dtype=float)).mean()
            assert one["intensity_context_aware_mean"] == pytest.approx(float(aware))

    def test_the_tables_say_the_same_and_that_it_is_a_toy(self, sandbox: Path) -> None:
        biases = document(sandbox)["biases"]
        ranking = list(csv.DictReader(io.StringIO((sandbox / "openbias.csv").read_text())))
        assert [row["bias"] for row in ranking] == [one["bias"] for one in biases]
        assert [float(row["intensity"]) for row in ranking] == [one["intensity"] for one in biases]
        captions = pd.read_csv(sandbox / "captions.csv")
        assert captions["count"].sum() == sum(one["n_valid"] for one in biases)
        assert all("toy" in row["toy"] for row in ranking)

    def test_page_and_figure_show_every_bias(self, sandbox: Path) -> None:
        page = (sandbox / "openbias.html").read_text()
        figure = (sandbox / "openbias.svg").read_text()
        for one in document(sandbox)["biases"]:
            assert one["bias"] in page
            assert one["bias"] in figure
        assert "describe a toy" in page and "describe a toy" in figure

    def test_a_second_time_nothing_is_done(self, sandbox: Path, captions: Path, capsys) -> None:
        kept = {path: path.read_bytes() for path in sandbox.rglob("*.json")}
        with_lists = read_run(sandbox)
        images = {row.id: row.file.mtime_ns for row in with_lists.ledger.images()}
        with_lists.close()
        command = ("--captions", captions, "-o", sandbox, *SMALL)
        code, out, err = run(capsys, *command, "--json")
        assert (code, json.loads(out)) == (0, document(sandbox))
        assert "Images" not in err and "Answers" not in err
        again = read_run(sandbox)
        assert {row.id: row.file.mtime_ns for row in again.ledger.images()} == images
        again.close()
        assert {path: path.read_bytes() for path in kept} == kept

    def test_the_ranking_in_the_terminal(self, sandbox: Path, captions: Path, capsys) -> None:
        command = ("--captions", captions, "-o", sandbox, *SMALL)
        code, out, _ = run(capsys, *command)
        assert code == 0
        first = document(sandbox)["biases"][0]
        assert f"{first['intensity']:.3f}" in out
        assert "because they repeat an earlier one" in " ".join(out.split())
        assert all(len(line) <= 80 for line in out.splitlines() if str(sandbox.parent) not in line)

    def test_more_captions_are_needed(self, sandbox: Path, captions: Path, capsys) -> None:
        code, out, _ = run(
            capsys, "--captions", captions, "-o", sandbox, "--min-captions", 19, "--images", 2
        )
        assert code == 0
        assert "Nothing was found, and no image was made, because all" in " ".join(out.split())
        assert document(sandbox)["biases"] == []
        others = document(sandbox)["others"]
        assert {one["reason"] for one in others} == {"fewer than 19 captions"}


class TestNonsense:
    def test_it_stops_soon_with_a_line_that_names_the_transcript(
        self, captions: Path, tmp_path: Path, capsys
    ) -> None:
        model = tiny_lm.save_gpt2(tmp_path / "lm")
        run_directory = tmp_path / "run"
        arguments = ("--captions", captions, "-o", run_directory, "--llm", f"lm:{model}")
        code, _, err = run(capsys, *arguments, "-q")
        assert code == 1
        (line,) = err.strip().splitlines()
        assert "gave no usable reply in 3 attempts" in line
        named = re.search(r"the transcript is in (\S+-failed\.json)", line)
        assert named is not None
        transcript = json.loads(Path(named[1]).read_text())
        assert transcript["turns"][0]["role"] == "system"
        assert len(list((run_directory / "transcripts").iterdir())) == 3
        assert not (run_directory / "openbias.json").exists()


GOOD = {
    "biases": [
        {
            "name": "Person gender",
            "classes": ["Male", "Female"],
            "question": "What is the gender of the {}?",
            "present_in_prompt": False,
        },
        {
            "name": "Time of day",
            "classes": ["day", "night", "dusk"],
            "question": "What time is it?",
            "present_in_prompt": False,
        },
    ]
}
BAD = {
    "a photo of a nurse": "As a language model I cannot.",
    "a photo of a pilot": json.dumps({"biases": []}),
    "a photo of a farmer": '{"biases": [{"name": "age", ',
    "a photo of a doctor": json.dumps({"axes": ["gender"]}),
    "a pilot": json.dumps(
        {"biases": [{**GOOD["biases"][0], "classes": [f"class {i}" for i in range(500)]}]}
    ),
    "a nurse": json.dumps({"biases": [{**GOOD["biases"][0], "classes": ["Male", "male"]}]}),
}


class Proposing:
    """Replies well about every caption, after one wrong reply about some."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}

    def __call__(self, body: Mapping[str, Any]) -> str | None:
        texts = [turn["content"] for turn in body["messages"] if isinstance(turn["content"], str)]
        named = [found for text in texts if (found := re.match('Prompt: "(.*?)"', text))]
        if not named:
            return None  # a judge's question: answered from the pixels
        caption = named[0][1]
        self.asked[caption] = self.asked.get(caption, 0) + 1
        if caption in BAD and self.asked[caption] == 1:
            return BAD[caption]
        first, second = GOOD["biases"]
        own = {**first, "question": first["question"].format(caption.split()[-1])}
        return f"Sure!\n```json\n{json.dumps({'biases': [own, second]})}\n```"


@pytest.fixture(scope="module")
def served(captions: Path, tmp_path_factory: pytest.TempPathFactory):
    """A run on a server, done twice; the document, what was asked, and what the server counted."""
    patch = pytest.MonkeyPatch()
    patch.setenv("OPENAI_API_KEY", "sk-test")
    directory = tmp_path_factory.mktemp("served") / "run"
    proposing = Proposing()
    with serving(Behaviour(says=proposing)) as fake:
        command = [
            *("openbias", "--captions", str(captions), "-o", str(directory), *SMALL),
            *("--model", "openai:painter", "--vqa", "openai:judge", "--llm", "openai:writer"),
            *("--base-url", fake.base_url, "--permutations", "1", "-q"),
        ]
        codes, charged = [], []
        for _ in range(2):
            codes.append(main(command))
            charged.append((fake.counted.calls, fake.counted.images))
    patch.undo()
    return document(directory), proposing, codes, charged, directory


class TestServer:
    @pytest.mark.slow(reason="an audit of its own")
    def test_nothing_is_paid_twice(self, served) -> None:
        _, proposing, codes, charged, _ = served
        assert codes == [0, 0]
        assert charged[0] == charged[1]
        replies = sum(proposing.asked.values())
        assert replies == CAPTIONS + len(BAD)
        calls, images = charged[0]
        assert images == 2 * CAPTIONS
        # "a woman" says her gender: her images are asked about the time of day alone.
        assert calls - images - replies == 2 * (2 * CAPTIONS - 1)

    def test_wrong_replies_are_asked_for_again_and_kept(self, served) -> None:
        found, _, _, _, directory = served
        assert found["captions"]["without_proposals"] == []
        assert [one["n_captions"] for one in found["biases"]].count(CAPTIONS) == 1
        problems = {
            turn["problem"]
            for path in (directory / "transcripts").iterdir()
            for turn in json.loads(path.read_text())["turns"]
            if "problem" in turn
        }
        assert len(problems) == len(BAD)

    def test_every_caption_has_a_question_of_its_own(self, served) -> None:
        found, *_ = served
        gender = next(one for one in found["biases"] if one["bias"] == "Person gender")
        asked = {one["caption"]: one["question"] for one in gender["captions"]}
        assert asked["a photo of a chef"] == "What is the gender of the chef?"
        assert gender["n_images"] == 2 * (CAPTIONS - 1)
        assert np.isclose(sum(gender["distribution"]), 1)
        assert found["toy"] is None


class TestRefusals:
    @pytest.mark.parametrize(
        ("more", "message"),
        [
            (["--overlap", "0"], "--overlap must be above 0"),
            (["--min-captions", "0"], "'--min-captions': 0 is not in the range x>=1"),
            (["--model", "folder:pictures"], "a folder makes none"),
            (["--model", "openai:painter", "--vqa", "openai:judge"], "openbias needs a language"),
            (["--model", "openai:painter"], "--vqa is needed for openai:painter"),
            (["--llm", "lm:gone/gone/gone"], "gone/gone/gone"),
            (["--steps", "4"], "--steps has no effect on"),
        ],
    )
    def test_one_line_and_nothing_written(
        self, captions: Path, tmp_path: Path, capsys, more, message
    ) -> None:
        given = ("--captions", captions, "-o", tmp_path / "run", *more, "-q")
        assert message in refusal(capsys, "openbias", *given)
        assert not (tmp_path / "run").exists()

    def test_the_directory_of_a_build_is_left_alone(self, captions: Path, tmp_path, capsys) -> None:
        (tmp_path / "graph.json").write_text("{}")
        code, _, err = run(capsys, "--captions", captions, "-o", tmp_path, "-q")
        assert code == 2
        assert "contains the result of a build" in err

    def test_captions_that_no_generator_takes(self, tmp_path: Path, capsys) -> None:
        path = tmp_path / "long.txt"
        path.write_text("a photo of a nurse " * 40)
        code, _, err = run(capsys, "--captions", path, "-o", tmp_path / "run", "-q")
        assert code == 2
        assert "no caption of" in err and "tokens" in err


@pytest.mark.slow(reason="an audit of its own")
def test_captions_that_cannot_be_used_are_passed_over_and_named(tmp_path: Path, capsys) -> None:
    path = tmp_path / "c.csv"
    path.write_text(f'caption\n"a nurse"\n"{"a nurse " * 60}"\n"of the and"\n')
    code, out, _ = run(
        capsys, "--captions", path, "-o", tmp_path / "run", "--images", 4,
        "--min-captions", 1, "--bootstrap", 100,
    )  # fmt: skip
    assert code == 0
    found = document(tmp_path / "run")["captions"]
    assert [one["place"][-5:] for one in found["left_out"]] == ["row 2"]
    assert found["n_used"] in (1, 2)
    assert "1 caption cannot be used; the first" in " ".join(out.split())


def test_hostile_names_are_shown_and_do_no_harm(tmp_path: Path) -> None:
    from biasgraph.audits.openbias.ranking_summary import ranking_figure, ranking_page

    hostile = "<script>alert(1)</script> $x_1$ \u202e [bold]"
    record = {
        "bias": hostile, "merged": [hostile], "classes": [hostile, "b"], "classes_left_out": [],
        "n_captions": 1, "filtered": [], "n_images": 16, "n_valid": 16, "n_unknown": 0,
        "n_gated": 0, "counts": [16, 0], "reason": None, "intensity": 1.0,
        "intensity_ci_low": 0.5, "intensity_ci_high": 1.0, "intensity_uniform_q95": 0.1,
        "intensity_context_aware_mean": 1.0, "intensity_context_aware_mean_ci_low": 0.5,
        "intensity_context_aware_mean_ci_high": 1.0, "intensity_context_aware_uniform_q95": 0.2,
        "distribution": [1.0, 0.0], "distribution_ci": [[0.9, 1.0], [0.0, 0.1]],
        "majority": hostile, "majority_share": 1.0, "ties": [],
        "captions": [{"caption": hostile, "question": hostile, "n_valid": 16, "counts": [16, 0],
                      "intensity": None, "majority": None}],
    }  # fmt: skip
    whole = {
        "model": hostile, "vqa": hostile, "proposed_by": hostile, "synonyms": "none", "toy": None,
        "unseen_words": [hostile], "notes": [hostile], "settings": {"images": 16},
        "captions": {"n_used": 1, "n_different": 1, "n_given": 1, "left_out": [],
                     "without_proposals": []},
        "biases": [record],
        "others": [{"bias": hostile, "classes": [hostile], "n_captions": 0, "reason": hostile}],
    }  # fmt: skip
    page = ranking_page(whole).decode()
    assert "<script>alert" not in page
    assert "\u202e" not in page
    figure = ranking_figure(whole).decode()
    assert "<script>alert" not in figure and "$x_1$" in figure


@pytest.mark.parametrize("caption", sorted(BAD))
def test_wrong_replies_without_end_cost_three_calls(
    caption: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    path = tmp_path / "c.txt"
    path.write_text(f"{caption}\n")
    with serving(Behaviour(says=lambda body: BAD[caption])) as fake:
        command = (
            *("--captions", path, "-o", tmp_path / "run", "--model", "openai:painter", "-q"),
            *("--vqa", "openai:judge", "--llm", "openai:writer", "--base-url", fake.base_url),
        )
        for calls in (3, 6):  # given again, the command asks anew
            code, _, err = run(capsys, *command)
            (line,) = err.strip().splitlines()
            assert code == 1
            assert "gave no usable reply in 3 attempts" in line
            assert "-failed.json" in line
            assert len(line) < 1_000
            assert (fake.counted.calls, fake.counted.images) == (calls, 0)
