"""Corrections from a report's pictures: counted, never taken for a sample of the run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from biasgraph.audits.agreement.agreement_summary import summarize_agreement
from biasgraph.audits.agreement.check import check, keep
from biasgraph.audits.agreement.trust import Trust
from biasgraph.causal.tables import Variable
from biasgraph.commands import main
from biasgraph.data.answers import Answers
from biasgraph.data.result import load
from biasgraph.errors import InputError
from biasgraph.io.json_files import to_json
from biasgraph.report import judge_words
from biasgraph.runs.directory import read_run
from tests.judged_run import judged_run, labels_of

Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_run(tmp_path_factory.mktemp("corrected") / "run")


@pytest.fixture
def corrections(run: Path, tmp_path: Path) -> Callable[..., Path]:
    """corrections(**columns) -> a file of three, with these columns changed."""

    def write(**columns: str) -> Path:
        nodes = load(run).document["nodes"]
        answers = pd.read_csv(run / "answers.csv")
        node = nodes[0]
        of_axis = answers[
            (answers["target"] == node["id"]) & answers["answer"].isin(node["attributes"])
        ]
        ledger = read_run(run)
        files = {image.id: image.file.sha256 for image in ledger.ledger.images()}
        ledger.close()
        rows: Rows = []
        for image, said in zip(of_axis["image"][:3], of_axis["answer"][:3], strict=True):
            other = next(one for one in node["attributes"] if one != said)
            rows.append(
                {
                    "image": image, "target": node["id"], "answer": other, "judge_said": said,
                    "file": files[image], "sample": "corrections",
                }
                | columns
            )  # fmt: skip
        pd.DataFrame(rows).to_csv(tmp_path / "corrections.csv", index=False)
        return tmp_path / "corrections.csv"

    return write


def test_they_are_counted_and_nothing_is_estimated(
    run: Path, corrections: Callable[..., Path]
) -> None:
    record = check(run, str(corrections()))
    first, *others = record["axes"]
    assert (first["n"], first["n_valid"], sum(axis["n"] for axis in others)) == (3, 3, 0)
    assert sum(map(sum, first["table"])) == 3
    assert all(first["table"][i][i] == 0 for i in range(len(first["table"])))
    for name in ("accuracy", "accuracy_ci", "f1", "kappa", "kappa_ci", "coverage", "tv"):
        assert first[name] is None
    assert first["kappa_reason"] == "the images are not a sample"
    assert {part["accuracy"] for part in first["by_role"].values()} == {None}
    told = list(judge_words.caveats(record))
    assert [text.partition(":")[0] for text in told] == [
        "these pictures were picked because the judge looked wrong"
    ]
    assert "kappa" not in " ".join(map(str, summarize_agreement(record))).lower()


def test_the_same_answers_without_the_mark_are_a_reference(
    run: Path, corrections: Callable[..., Path]
) -> None:
    record = check(run, str(corrections(sample="")))
    assert record["reference"]["sample"] is None
    assert record["axes"][0]["accuracy"] == 0


def test_the_mark_counts_however_it_is_written(run: Path, corrections: Callable[..., Path]) -> None:
    record = check(run, str(corrections(sample=" Corrections")))
    assert record["reference"]["sample"] == "corrections"


def test_they_validate_no_run_and_correct_nothing(
    run: Path, corrections: Callable[..., Path], tmp_path: Path
) -> None:
    file, before = corrections(), (run / "graph.json").read_bytes()
    record = check(run, str(file))
    with pytest.raises(InputError, match="corrections do not validate a judge"):
        keep(run, record)
    assert main(["agreement", str(run), "--with", str(file), "-q"]) == 0
    assert (run / "graph.json").read_bytes() == before
    assert not (run / "agreement.json").exists()
    kept = tmp_path / "kept.json"
    assert main(["agreement", str(run), "--with", str(file), "-q", "-o", str(kept)]) == 0
    assert json.loads(kept.read_bytes())["reference"]["sample"] == "corrections"
    assert kept.read_bytes() == to_json(record)
    result = load(run)
    graph = result.document["graph"]
    variables = [Variable(node["id"], node["attributes"]) for node in result.document["nodes"]]
    for given in (file, kept):
        with pytest.raises(InputError, match="cannot correct: these pictures were picked"):
            Trust.of(given, Answers.from_frame(result.answers), variables, graph, run)


def test_they_are_no_rater_beside_a_sample(
    run: Path, corrections: Callable[..., Path], tmp_path: Path
) -> None:
    labels_of(run).to_csv(tmp_path / "labels.csv", index=False)
    with pytest.raises(InputError, match="contains corrections, not a sample: name it alone"):
        check(run, [str(tmp_path / "labels.csv"), str(corrections())])


def test_those_of_another_runs_pictures_are_refused(
    run: Path, corrections: Callable[..., Path]
) -> None:
    with pytest.raises(InputError, match="has another picture under"):
        check(run, str(corrections(file="0" * 64)))
