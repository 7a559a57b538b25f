"""`build --correct`: which files it takes, and what it sets beside the other numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import biasgraph
from biasgraph.audits.agreement.check import check, keep
from biasgraph.audits.agreement.trust import read_correction
from biasgraph.audits.pipeline_options import CheckOptions
from biasgraph.commands import main
from biasgraph.data.result import Result, load
from biasgraph.errors import InputError
from biasgraph.models.registry import BACKENDS, GENERATOR, JUDGE, Backend, Role
from tests.answer_tables import librarian_table
from tests.fake_models import FakeGenerator, FakeJudge
from tests.judged_run import judged_run, labels_of

QUICK = {"bootstrap": 200, "min_valid": 2}
ERROR = 0.2
CORRECTED = (
    "w1_before_corrected",
    "w1_after_corrected",
    "is_corrected",
    "is_corrected_ci_low",
    "is_corrected_ci_high",
)


@pytest.fixture(scope="module")
def truth() -> pd.DataFrame:
    return librarian_table(images=200)


@pytest.fixture(scope="module")
def judged(truth: pd.DataFrame) -> pd.DataFrame:
    """The same table, one answer in five another one."""
    rng = np.random.default_rng(1)
    names = {axis: sorted(rows.unique()) for axis, rows in truth.groupby("target")["answer"]}
    said = [
        str(rng.choice([name for name in names[target] if name != answer]))
        if rng.random() < ERROR
        else answer
        for target, answer in zip(truth["target"], truth["answer"], strict=True)
    ]
    return truth.assign(answer=said)


@pytest.fixture(scope="module")
def labels(truth: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What people say of every third image: the truth."""
    path = tmp_path_factory.mktemp("labels") / "people.csv"
    images = truth["image"].unique()[::3]
    some = truth[truth["image"].isin(images)]
    some[["image", "target", "answer"]].to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def results(
    truth: pd.DataFrame, judged: pd.DataFrame, labels: Path
) -> tuple[Result, Result, Result]:
    plain = biasgraph.analyze(judged, **QUICK)
    corrected = biasgraph.analyze(judged, correct=labels, **QUICK)
    return biasgraph.analyze(truth, **QUICK), plain, corrected


def pair(result: Result, source: str, target: str) -> dict[str, float]:
    return next(
        one for one in result.pair_records() if (one["source"], one["target"]) == (source, target)
    )


def node(result: Result, axis: str) -> dict[str, object]:
    return next(one for one in result.document["nodes"] if one["id"] == axis)


def test_the_raw_numbers_stay_as_they_were(results: tuple[Result, Result, Result]) -> None:
    _, plain, corrected = results
    left = corrected.pairs.drop(columns=list(CORRECTED))
    pd.testing.assert_frame_equal(left, plain.pairs)
    nodes = [dict(one) for one in corrected.document["nodes"]]
    assert all(one.pop("corrected") is not None for one in nodes)
    assert nodes == plain.document["nodes"]


def test_correction_undoes_planted_errors(results: tuple[Result, Result, Result]) -> None:
    true, plain, corrected = results
    shrunk = pair(plain, "gender", "clothing")["is"]
    value = pair(true, "gender", "clothing")["is"]
    found = pair(corrected, "gender", "clothing")
    assert shrunk == pytest.approx((1 - 2 * ERROR) * value, abs=0.06)
    assert found["is_corrected"] == pytest.approx(value, abs=0.06)
    assert found["is_corrected_ci_low"] < value < found["is_corrected_ci_high"]
    for axis in ("gender", "age", "clothing"):
        about = node(corrected, axis)["corrected"]
        assert about["w1"] == pytest.approx(node(true, axis)["w1"], abs=0.08)
        assert sum(about["distribution"]) == pytest.approx(1)
        low, high = about["w1_ci"]
        assert low <= about["w1"] <= high


def test_it_says_what_it_rests_on(results: tuple[Result, Result, Result], labels: Path) -> None:
    graph = results[2].document["graph"]
    assert graph["correction"] == {
        "source": labels.name,
        "axes": ["gender", "age", "clothing"],
        "left_out": {},
    }
    assert graph["agreement"]["reference"]["name"] == labels.name
    accuracy = {axis["axis"]: axis["accuracy"] for axis in graph["agreement"]["axes"]}
    assert accuracy["age"] == pytest.approx(1 - ERROR, abs=0.05)


def test_links_carry_the_corrected_numbers(results: tuple[Result, Result, Result]) -> None:
    links = results[2].document["links"]
    assert links and all({*CORRECTED} <= {*link} for link in links)
    assert not any(field in link for link in results[1].document["links"] for field in CORRECTED)


def test_the_same_in_memory_and_from_the_disk(
    results: tuple[Result, Result, Result], tmp_path: Path
) -> None:
    biasgraph.save(results[2], tmp_path / "saved")
    assert load(tmp_path / "saved").pair_records() == results[2].pair_records()
    page = (tmp_path / "saved" / "report.html").read_text("utf-8")
    assert "without the judge" in page


def test_several_prompts_are_corrected_alike(
    truth: pd.DataFrame, judged: pd.DataFrame, labels: Path
) -> None:
    other = librarian_table(images=60, prompt="a nurse", seed=5)
    both = biasgraph.analyze(pd.concat([judged, other]), correct=labels, **QUICK)
    for result in (both, *both.prompts):
        assert result.document["graph"]["correction"]["axes"] == ["gender", "age", "clothing"]
        assert pair(result, "gender", "clothing")["is_corrected"] is not None


@pytest.fixture
def few(truth: pd.DataFrame, tmp_path: Path) -> Path:
    """Labels that know of no old people, and nothing of clothing."""
    told = truth[~truth["answer"].eq("old") & ~truth["target"].eq("clothing")]
    path = tmp_path / "few.csv"
    told[["image", "target", "answer"]].to_csv(path, index=False)
    return path


def test_an_axis_that_labels_do_not_cover_is_left_out(judged: pd.DataFrame, few: Path) -> None:
    result = biasgraph.analyze(judged, correct=few, **QUICK)
    left = result.document["graph"]["correction"]["left_out"]
    assert left["age"].startswith("the reference never says old")
    assert {*left} == {"age", "clothing"}
    assert node(result, "age")["corrected"] is None
    assert pair(result, "gender", "age")["is_corrected"] is None
    assert pair(result, "age", "gender")["is_corrected"] is not None


def test_a_judge_that_cannot_tell_corrects_nothing(truth: pd.DataFrame, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    noise = truth[truth["target"] == "gender"].copy()
    noise["answer"] = rng.choice(["male", "female"], len(noise))
    noise[["image", "target", "answer"]].to_csv(tmp_path / "noise.csv", index=False)
    with pytest.raises(InputError, match=r"can correct no axis: gender: .*condition number") as e:
        biasgraph.analyze(truth, correct=tmp_path / "noise.csv", **QUICK)
    assert "\n" not in str(e.value)


def test_unknown_as_a_class_cannot_be_corrected(truth: pd.DataFrame, labels: Path) -> None:
    with pytest.raises(InputError, match="exclude each other"):
        biasgraph.analyze(truth, correct=labels, unknown="class")


SMALL = (
    "--images", "4", "--only", "gender", "--controls", "0", "--min-valid", "2",
    "--bootstrap", "100", "--quiet",
)  # fmt: skip
FAKES = ("--model", "fake:painter", "--vqa", "fake:judge")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run of the command line on fakes, and its agreement with another fake."""
    directory = tmp_path_factory.mktemp("trust") / "run"
    judges = {spec: FakeJudge(spec=spec) for spec in ("fake:judge", "fake:other")}
    fake = Backend(
        "fakes",
        {
            GENERATOR: Role(lambda spec, options: FakeGenerator(), "fake:painter"),
            JUDGE: Role(lambda spec, options: judges[spec.text], "fake:judge"),
        },
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(BACKENDS, "fake", fake)
        assert rebuild(directory) == 0
        assert main(["agreement", str(directory), "--with", "fake:other", "--quiet"]) == 0
        yield directory


def rebuild(run: Path, *more: str) -> int:
    return main(["build", "--prompt", "a librarian", "-o", str(run), *FAKES, *SMALL, *more])


def graph_of(run: Path) -> dict[str, object]:
    return dict(json.loads((run / "graph.json").read_text("utf-8"))["graph"])


def test_a_later_build_keeps_the_agreement(run: Path) -> None:
    record = json.loads((run / "agreement.json").read_text("utf-8"))
    assert graph_of(run)["agreement"] == record
    assert rebuild(run, "--alpha", "0.05") == 0
    assert graph_of(run)["agreement"] == record
    assert rebuild(run, "--correct", str(run / "agreement.json")) == 0
    assert graph_of(run)["correction"]["axes"] == ["gender"]


def test_a_table_names_its_judge_but_no_weights(run: Path) -> None:
    path = run / "agreement.json"
    judge = json.loads(path.read_text("utf-8"))["judge"]
    assert read_correction(path, judge, None) == read_correction(path, None, None)
    with pytest.raises(InputError, match="with other weights"):
        read_correction(path, judge, "sha256:0")
    with pytest.raises(InputError, match=f"is about the judge {judge}, and"):
        read_correction(path, "fake:third", None)


def test_another_judges_errors_say_nothing(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = json.loads((run / "agreement.json").read_text("utf-8"))
    (tmp_path / "other.json").write_text(json.dumps(record | {"judge": "fake:third"}))
    before = (run / "run.json").read_bytes()
    assert rebuild(run, "--correct", str(tmp_path / "other.json")) == 2
    assert "is about the judge fake:third" in capsys.readouterr().err
    (tmp_path / "old.json").write_text(json.dumps(record | {"judge_fingerprint": "sha256:0"}))
    assert rebuild(run, "--correct", str(tmp_path / "old.json")) == 2
    assert "with other weights" in capsys.readouterr().err
    assert rebuild(run, "--correct", str(tmp_path / "none.json")) == 2
    assert (run / "run.json").read_bytes() == before


def test_labels_of_a_runs_pictures_correct_its_build(run: Path, tmp_path: Path) -> None:
    answers = load(run).answers.astype(str)
    answers[["image", "target", "answer"]].to_csv(tmp_path / "same.csv", index=False)
    assert rebuild(run, "--correct", str(tmp_path / "same.csv")) == 0
    assert graph_of(run)["correction"]["source"] == "same.csv"


@pytest.mark.slow(reason="graphs of its own")
def test_labels_about_pictures_correct_by_picture(tmp_path: Path) -> None:
    run = judged_run(tmp_path / "run")
    labels_of(run).to_csv(tmp_path / "labels.csv", index=False)
    found = check(run, str(tmp_path / "labels.csv"), CheckOptions(replicates=100))
    keep(run, found)
    table = load(run).answers
    result = biasgraph.analyze(table, correct=run / "agreement.json", **QUICK)
    assert result.document["graph"]["correction"]["axes"] == ["gender", "age", "disability"]
    first = pair(result, "gender", "age")
    assert first["is_corrected"] == pytest.approx(first["is"], abs=1e-9)


def test_tables_of_nodes_have_no_column_for_what_is_left_out(
    judged: pd.DataFrame, few: Path, tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    result = biasgraph.analyze(judged, correct=few, **QUICK)
    assert "corrected" not in result.nodes and "corrected.w1" in result.nodes
    biasgraph.save(result, tmp_path / "run")
    assert main(["export", str(tmp_path / "run"), "--to", "parquet", "-o", str(tmp_path)]) == 0
    table = parquet.read_table(tmp_path / "nodes.parquet")
    assert str(table.schema.field("corrected.w1").type) == "double"
    assert table["corrected.w1"].to_pylist()[1] is None
    assert len(table["corrected.distribution"].to_pylist()[0]) == 2
