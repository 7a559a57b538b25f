"""Answers of four people in one table, from shares to alpha: one command each."""

from __future__ import annotations

import csv
import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from biasgraph.commands import main

HEAD = ("prompt", "image", "target", "answer", "annotator")
PEOPLE = {"ada": 0.0, "bo": 0.1, "cy": 0.2, "di": 0.4}
"""How often each says something else than the truth."""
Rows = list[tuple[str, ...]]


@pytest.fixture
def rows() -> Rows:
    """Cooks are mostly female, mechanics mostly male."""
    rng = np.random.default_rng(3)
    rows: Rows = []
    for prompt, share in (("a cook", 0.2), ("a mechanic", 0.9)):
        for number in range(30):
            truth = rng.random() < share
            for name, error in PEOPLE.items():
                if name == "di" and number % 3 == 0:  # need not have seen everything
                    continue
                male = truth != (rng.random() < error)
                answer = "male" if male else "female"
                rows.append((prompt, f"{prompt[2:]} {number}", "gender", answer, name))
    return rows


def written(folder: Path, rows: Rows) -> str:
    with (folder / "answers.csv").open("w", newline="") as file:
        csv.writer(file).writerows([HEAD, *rows])
    return str(folder / "answers.csv")


def kappa(rows: Rows, one: str, other: str) -> float:
    """Cohen's, by its definition."""
    said: dict[str, dict[str, str]] = {one: {}, other: {}}
    for _, image, _, answer, name in rows:
        if name in said:
            said[name][image] = answer
    both = [(said[one][image], said[other][image]) for image in said[one] if image in said[other]]
    observed = np.mean([a == b for a, b in both])
    shares = [Counter(side) for side in zip(*both, strict=True)]
    chance = sum(shares[0][a] * shares[1][a] for a in ("male", "female")) / len(both) ** 2
    return float((observed - chance) / (1 - chance))


def test_one_table_of_four_people(
    rows: Rows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, run = written(tmp_path, rows), str(tmp_path / "run")
    build = ["--axes", "occupation", "--bootstrap", "200", "-o", run]
    assert main(["build", "--answers", table, *build]) == 0
    assert "labels of people (4 annotators)" in " ".join(capsys.readouterr().out.split())
    document = json.loads((tmp_path / "run" / "graph.json").read_bytes())
    graph, [gender] = document["graph"], document["nodes"]
    assert (graph["people"], graph["annotators"]) == (True, 4)
    votes: dict[str, Counter[str]] = {}
    for _, image, _, answer, _ in rows:
        votes.setdefault(image, Counter())[answer] += 1
    decided = [own for own in votes.values() if len({*own.values()}) == len(own)]
    most = Counter(own.most_common(1)[0][0] for own in decided)
    assert gender["initial"]["counts"] == [most["male"], most["female"]]
    assert gender["initial"]["n_unknown"] == len(votes) - len(decided) > 0
    assert gender["prompts_test"]["p"] < 0.001
    assert main(["agreement", run, "--with", table, "--bootstrap", "200", "-q"]) == 0
    agreement = json.loads((tmp_path / "run" / "agreement.json").read_bytes())
    assert [rater["name"] for rater in agreement["raters"]] == [*PEOPLE]
    assert {rater["kind"] for rater in agreement["raters"]} == {"people"}
    [axis] = agreement["axes"]
    found = {tuple(pair["raters"]): pair["kappa"] for pair in axis["kappas"]}
    for one, other in combinations(range(4), 2):
        expected = kappa(rows, list(PEOPLE)[one], list(PEOPLE)[other])
        assert found[one, other] == pytest.approx(expected, abs=1e-12)
    assert 0 < axis["alphas"][0]["value"] < 1 and axis["alphas"][0]["raters"] == 4


@pytest.mark.slow(reason="judges a run again")
def test_another_judge_stays_a_rater_beside_them(rows: Rows, tmp_path: Path) -> None:
    own = [row for row in rows if row[-1] == "bo"]
    (tmp_path / "judge").mkdir()
    run = str(tmp_path / "run")
    build = ["--answers", written(tmp_path / "judge", own), "--axes", "occupation", "-o", run, "-q"]
    assert main(["build", *build, "--bootstrap", "200"]) == 0
    assert main(["agreement", run, "--with", written(tmp_path, rows), "-q"]) == 0
    agreement = json.loads((tmp_path / "run" / "agreement.json").read_bytes())
    assert len(agreement["raters"]) == 5 and agreement["notes"] == []


def test_one_persons_second_answer_is_refused(
    rows: Rows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = written(tmp_path, [*rows, (*rows[0][:3], "female", "ada")])
    assert main(["build", "--answers", table, "-o", str(tmp_path / "run"), "-q"]) == 2
    error = capsys.readouterr().err
    assert "image 'cook 0' has a second answer about 'gender' by 'ada'" in error
    assert error.count("\n") == 1
    table = written(tmp_path, [*rows, (*rows[1][:4], "")])
    assert main(["build", "--answers", table, "-o", str(tmp_path / "run"), "-q"]) == 2
    assert "column annotator: the cell is empty" in capsys.readouterr().err


def test_annotators_that_are_models_are_no_people(rows: Rows, tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    table = written(tmp_path, [(*row[:4], f"model:{row[4]}") for row in rows])
    assert main(["build", "--answers", table, "-o", run, "-q", "--bootstrap", "100"]) == 0
    assert main(["agreement", run, "--with", table, "--bootstrap", "100", "-q"]) == 0
    agreement = json.loads((tmp_path / "run" / "agreement.json").read_bytes())
    assert not agreement["reference"]["by_people"] and not agreement["people"]
    assert [rater["name"] for rater in agreement["raters"]] == [f"model:{name}" for name in PEOPLE]
    assert {rater["kind"] for rater in agreement["raters"]} == {"answers"}
