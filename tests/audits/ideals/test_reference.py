"""Real-world distributions as the ideal: runs, answers and counts (BiasConnect supp. A.9)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasgraph
from biasgraph.audits.compare.evidence import evidence_of
from biasgraph.audits.ideals.reference import Reference, read_reference
from biasgraph.causal.baseline import Baseline
from biasgraph.causal.graph import analyze as analyze_codes
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import Variable
from biasgraph.commands import main
from biasgraph.data.answer_codes import code_images
from biasgraph.data.answers import Answers
from biasgraph.data.result import Result, load
from biasgraph.errors import InputError
from tests.answer_tables import librarian_table

COUNTS = {"gender": {"male": 12, "female": 28}, "age": {"young": 10, "middle": 20, "old": 10}}
YAML = "gender: {male: 12, female: 28}\nage: {young: 10, middle: 20, old: 10}\n"
CSV = """axis,attribute,count
gender,male,12
gender,female,28
age,young,10
age,middle,20
age,old,10
"""
GENDER = Variable("gender", ("male", "female"))
AGE = Variable("age", ("young", "middle", "old"))


def analyze(table: pd.DataFrame | None = None, **options: Any) -> Result:
    frame = librarian_table(images=40) if table is None else table
    return biasgraph.analyze(frame, **{"bootstrap": 200, **options})


def nodes(result: Result) -> dict[str, Any]:
    return {node["id"]: node for node in result.document["nodes"]}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished result of another model's answers."""
    directory = tmp_path_factory.mktemp("reference") / "real"
    frame = librarian_table(images=24, seed=3, model="street:v0")
    biasgraph.build(answers=frame, output=directory, bootstrap=100)
    return directory


def test_distances_are_those_of_equations_12_and_13() -> None:
    table = librarian_table(images=40)
    result = analyze(table, reference=COUNTS)
    real = {axis: np.array([*counts.values()]) / 40 for axis, counts in COUNTS.items()}

    def shares(rows: pd.DataFrame, target: str) -> Any:
        answers = rows.loc[rows["target"] == target, "answer"]
        return np.array([(answers == name).mean() for name in COUNTS[target]])

    initial = table[table["role"] == "initial"]
    for target in COUNTS:
        before = np.abs(shares(initial, target) - real[target]).sum() / 2
        assert nodes(result)[target]["w1"] == pytest.approx(before)
        for source in ("gender", "age", "clothing"):
            arms = table[table["axis"] == source].groupby("attribute", sort=False)
            mean = np.mean([shares(rows, target) for _, rows in arms], axis=0)
            after = np.abs(mean - real[target]).sum() / 2
            pair = next(
                one
                for one in result.pair_records()
                if (one["source"], one["target"]) == (source, target)
            )
            assert pair["w1_before"] == pytest.approx(before)
            assert pair["w1_after"] == pytest.approx(after)
            assert pair["is"] == pytest.approx(before - after)
    assert nodes(result)["clothing"]["ideal"] == [0.5, 0.5]  # in no reference: uniform


def test_counts_are_resampled() -> None:
    """Few photographs say less than many, and infinitely many say what declared shares say."""
    table = librarian_table(images=200)

    def width(**options: Any) -> float:
        low, high = nodes(analyze(table, only=("gender",), **options))["gender"]["w1_ci"]
        return float(high - low)

    few, many = ({"gender": {"male": 3 * n, "female": 7 * n}} for n in (3, 10**7))
    declared = width(ideal={"gender": {"male": 0.3, "female": 0.7}})
    assert width(reference=few) > 2 * declared
    assert width(reference=many) == pytest.approx(declared, rel=0.1)
    bands = [
        nodes(analyze(table, only=("gender",), reference=one))["gender"]["w1_null"]["q95"]
        for one in (few, many)
    ]
    assert bands[0] > 2 * bands[1]


def test_files_and_a_mapping_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "real.yaml").write_text(YAML)
    (tmp_path / "real.csv").write_text("\ufeff" + CSV.replace(",", ";") + "\n;;\n")
    want = analyze(reference=COUNTS)
    assert nodes(want)["gender"]["reference"] == [12, 28]
    for name in ("real.yaml", "real.csv"):
        found = analyze(reference=tmp_path / name)
        assert found.document["nodes"] == want.document["nodes"]
        assert found.document["links"] == want.document["links"]
        ideal = found.document["graph"]["ideal"]
        assert ideal["source"] == ideal["reference"]["source"] == name
        assert ideal["axes"] == ["gender", "age"]
        assert ideal["reference"]["kind"] == "counts"


def test_a_run_and_its_answers_say_the_same(built: Path, tmp_path: Path) -> None:
    by_run, by_table = (analyze(reference=one) for one in (built, built / "answers.csv"))
    assert by_run.document["nodes"] == by_table.document["nodes"]
    original = nodes(load(built))
    for axis, node in nodes(by_run).items():
        assert node["reference"] == original[axis]["initial"]["counts"]
    about = by_run.document["graph"]["ideal"]["reference"]
    assert (about["kind"], about["prompts"]) == ("run", ["a librarian"])
    assert about["axes"]["gender"] == {
        "n_total": 24, "n_gated": 0, "n_unknown": 0, "n_valid": 24,
    }  # fmt: skip


def test_a_run_is_at_its_own_distribution(built: Path) -> None:
    result = analyze(load(built).answers, reference=built)
    for node in result.document["nodes"]:
        assert node["w1"] == pytest.approx(0)
        assert node["near_ideal"] is True


def test_only_some_axes_of_a_reference_count(built: Path) -> None:
    result = analyze(only=("gender", "age"), reference=built)
    assert result.document["graph"]["ideal"]["axes"] == ["gender", "age"]


def test_results_are_read_back_as_they_were_computed(tmp_path: Path) -> None:
    biasgraph.build(
        answers=librarian_table(images=40), output=tmp_path / "a", bootstrap=200, reference=COUNTS
    )
    evidence = evidence_of(load(tmp_path / "a"))
    by_axis = dict(zip(evidence.axes, evidence.ideals, strict=True))
    assert by_axis["clothing"].reference is None
    counts = by_axis["age"].reference
    assert counts is not None
    assert counts.tolist() == [10, 20, 10]
    assert main(["plan", str(tmp_path / "a"), "-q"]) == 0


def test_comparisons_want_the_same_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    double = {axis: {a: 2 * n for a, n in counts.items()} for axis, counts in COUNTS.items()}
    for name, reference in (("a", COUNTS), ("b", COUNTS), ("c", double)):
        frame = librarian_table(images=40, seed=ord(name))
        biasgraph.build(answers=frame, output=tmp_path / name, bootstrap=100, reference=reference)
    a, b, c = (str(tmp_path / name) for name in "abc")
    out = str(tmp_path / "comparison")
    assert main(["compare", a, b, "-q", "-o", out]) == 0
    assert main(["compare", a, b, "-q", "-o", out, "--only", "gender,age"]) in (0, 2)
    capsys.readouterr()
    assert main(["compare", a, c, "-q", "-o", out + "2"]) == 2
    assert "answers behind the ideals of gender differ" in capsys.readouterr().err


def test_unknown_answers_as_a_class(built: Path, tmp_path: Path) -> None:
    frame = load(built).answers.astype(str)
    some = (frame["role"] == "initial") & (frame.index % 5 == 0)
    frame.loc[some, "answer"] = "unknown"
    frame.replace("nan", "").to_csv(tmp_path / "real.csv", index=False)
    result = analyze(reference=tmp_path / "real.csv", unknown="class", only=("gender",))
    node = nodes(result)["gender"]
    assert node["attributes"][-1] == "unknown"
    asked = frame[(frame["role"] == "initial") & (frame["target"] == "gender")]["answer"]
    assert node["reference"][-1] == (asked == "unknown").sum() > 0
    counted = {"gender": {"male": 12, "female": 28, "unknown": 4}}
    assert nodes(analyze(reference=counted, unknown="class", only=("gender",)))["gender"][
        "reference"
    ] == [12, 28, 4]


def test_the_page_and_the_terminal_say_so(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    librarian_table(images=20).to_csv(tmp_path / "a.csv", index=False)
    code = main(
        ["build", "--answers", str(tmp_path / "a.csv"), "--reference", str(built), "-o",
         str(tmp_path / "out"), "--bootstrap", "100"]
    )  # fmt: skip
    assert code == 0
    words = "real, as a reference whose counts are resampled"
    assert words in " ".join(capsys.readouterr().out.split())
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "as a reference whose counts are resampled" in page
    cells = pd.read_csv(tmp_path / "out" / "nodes.csv")
    assert json.loads(cells["reference"][0]) == nodes(load(built))["gender"]["initial"]["counts"]


# Several prompts


def two_prompts(**changes: Any) -> pd.DataFrame:
    frames = [
        librarian_table(images=20, prompt=prompt, seed=seed, **changes)
        for seed, prompt in enumerate(("a librarian", "a nurse"))
    ]
    return pd.concat(frames, ignore_index=True)


def test_each_prompt_has_its_own_reference(tmp_path: Path) -> None:
    two_prompts(model="street:v0").to_csv(tmp_path / "real.csv", index=False)
    result = analyze(two_prompts(), reference=tmp_path / "real.csv")
    own = [nodes(one)["age"]["reference"] for one in result.prompts]
    assert own[0] != own[1]
    assert nodes(result)["age"]["reference"] == np.sum(own, axis=0).tolist()
    for one in result.prompts:
        assert nodes(one)["age"]["w1"] == 0  # the same seeds: the same answers
    assert not any("reference" in note for note in result.document["graph"]["notes"])


def test_where_a_prompt_is_missing_all_count(tmp_path: Path) -> None:
    two_prompts().to_csv(tmp_path / "real.csv", index=False)
    result = analyze(librarian_table(prompt="a cook"), reference=tmp_path / "real.csv")
    assert sum(nodes(result)["gender"]["reference"]) == 40
    assert (
        "the reference real.csv lacks some of the prompts, so that all of its prompts count"
        in (result.document["graph"]["notes"])
    )
    one = librarian_table(prompt="a nurse")
    one.to_csv(tmp_path / "real.csv", index=False)
    notes = analyze(reference=tmp_path / "real.csv").document["graph"]["notes"]
    assert notes == ["the reference real.csv is about another prompt: 'a nurse'"]


# What a reader should know


def reference_of(counts: Mapping[str, Mapping[str, int]]) -> Reference:
    return read_reference(counts, [GENDER, AGE])


def test_few_answers_and_other_judges_are_told() -> None:
    few = reference_of({"gender": {"male": 3, "female": 4}})
    assert few.remarks(["a nurse"], None, None) == [
        "the reference given rests on few valid answers: gender (7)"
    ]
    judged = replace(reference_of(COUNTS), kind="run", judge=("vlm:a", "x"))
    assert judged.remarks(["a nurse"], "vlm:a", "x") == []
    assert "judged by vlm:a" in judged.remarks(["a nurse"], "vlm:b", "x")[0]
    assert "other weights" in judged.remarks(["a nurse"], "vlm:a", "y")[0]
    assert judged.remarks(["a nurse"], None, None) == []  # nobody is known to have answered


def test_only_the_judges_own_errors_are_undone() -> None:
    """Counts were never judged: `--correct` leaves them as they are (STATISTICS (f))."""
    table = librarian_table(images=40, axes={"gender": ("male", "female")})
    images = code_images(Answers.from_frame(table)).images[0]
    labelled = {"gender": np.array([[90, 10], [30, 70]])}
    counts = {"gender": {"male": 60, "female": 40}}

    def corrected(judged: bool) -> Any:
        settings = AnalysisSettings(bootstrap=200)
        found = analyze_codes(images, settings, Baseline(None, counts, labelled, judged))
        return found.nodes[0].corrected.ideal

    assert corrected(judged=False) == pytest.approx([0.6, 0.4])
    assert corrected(judged=True) == pytest.approx([0.5, 0.5])  # 0.9 p + 0.3 (1 - p) = 0.6
    assert not reference_of(COUNTS).is_judged_by("vlm:a", "x")
    photographs = replace(reference_of(COUNTS), kind="photographs", judge=("vlm:a", "x"))
    assert photographs.is_judged_by("vlm:a", "x")
    assert not photographs.is_judged_by("vlm:a", "y")
    assert replace(photographs, judge=None).is_judged_by("vlm:a", "x")


# What is refused

WRONG = [
    ("x.yaml", "gendre: {male: 1}", r"line 1: unknown axis 'gendre'.*Did you mean 'gender'"),
    ("x.yaml", "gender: {mal: 1}\nage: {old: 1.5}", r"2 problems:\n.*line 1.*'male'.*\n.*line 2"),
    ("x.yaml", "gender: {male: 0.5, female: 0.5}", "must be a whole number; for shares, use --id"),
    ("x.yaml", "gender: {male: -1, female: 2}", "must be a whole number from 0"),
    ("x.yaml", "gender: {male: true, female: 2}", "must be a whole number"),
    ("x.yaml", "gender: {male: 0, female: 0}", "all zero"),
    ("x.yaml", "gender: 3", "must contain counts"),
    ("x.yaml", "gender: {}", "must contain counts"),
    ("x.yaml", "[]", "must contain lines"),
    ("x.yaml", "", "must contain lines"),
    ("x.yaml", "gender: {male: [1]}", "whole number"),
    ("x.csv", "axis,attribute,count\ngender,male,x", "line 2: the count 'x' is not a whole number"),
    pytest.param(
        "x.csv",
        f"axis,attribute,count\ngender,male,{'9' * 5000}",
        "line 2: the count of gender 'male' must be a whole number from 0 to 1,000,000,000",
        id="5000 digits",
    ),
    ("x.csv", "axis,attribute,count\ngender,mael,1", "line 2: gender has no attribute 'mael'"),
    (
        "x.csv",
        "axis,attribute,count\ngender,male,1\ngender,male,2",
        "line 3: 'male' of gender is given tw",
    ),
    ("x.csv", "axis,attribute,count\ngender,male,0", "all zero"),
    ("x.csv", "axis,attribute,count\n", "must contain lines"),
    ("x.csv", "axis,count\ngender,1", "lacks the column attribute"),
    (
        "x.csv",
        "axis,attribute,cont\ngender,male,1",
        "lacks the column 'count'.*Did you mean 'cont'",
    ),
    ("x.csv", "prompt,axis,attribute,target,answer,count\n", "is the tables.csv of a run"),
    ("x.csv", "a,b\n1,2\n", "is not an answers table"),
    ("x.csv", "", "is empty"),
    ("x.csv", "\0\1", "contains binary data"),
]


@pytest.mark.parametrize(("name", "text", "message"), WRONG)
def test_wrong_files_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        analyze(reference=tmp_path / name)
    assert name in str(caught.value)


def test_wrong_mappings_are_refused() -> None:
    with pytest.raises(InputError, match="no attribute 'mael'"):
        analyze(reference={"gender": {"mael": 3}})
    with pytest.raises(InputError, match="the reference must contain lines"):
        analyze(reference={})


def test_an_axis_has_one_ideal() -> None:
    ideal = {"clothing": {"formal": 0.3, "casual": 0.7}}
    result = analyze(ideal=ideal, reference=COUNTS)
    assert result.document["graph"]["ideal"]["source"] == "given"
    assert result.document["graph"]["ideal"]["axes"] == ["clothing", "gender", "age"]
    with pytest.raises(InputError, match=r"gender has both an ideal .* and a reference"):
        analyze(ideal={"gender": {"male": 1}}, reference=COUNTS)


def test_the_metric_values_is_refused() -> None:
    with pytest.raises(InputError, match="ignores which attribute is which"):
        analyze(metric="values", reference={"gender": {"male": 5, "female": 5}})


def test_other_choices_give_another_distribution(built: Path) -> None:
    ages = {"gender": ("male", "female"), "age": ("young", "old")}
    with pytest.raises(InputError, match="asked about age with other choices"):
        analyze(librarian_table(axes=ages), reference=built)


def test_answers_that_are_no_attributes(tmp_path: Path) -> None:
    frame = librarian_table(images=20, axes={"gender": ("male", "female")})
    real = frame.replace({"answer": {"female": "femal"}})
    real.to_csv(tmp_path / "real.csv", index=False)
    declared = {"axes": "occupation", "reference": tmp_path / "real.csv"}
    with pytest.raises(InputError, match=r"real.csv.*'femal' is not an attribute.*'female'"):
        analyze(frame, **declared)
    counts = nodes(analyze(frame, **declared, unlisted="unknown"))["gender"]["reference"]
    assert counts[1] == 0
    assert counts[0] > 0


def test_an_axis_that_nobody_answered(tmp_path: Path) -> None:
    frame = librarian_table(images=20)
    frame.loc[frame["target"] == "age", "answer"] = "gated"
    frame.to_csv(tmp_path / "real.csv", index=False)
    with pytest.raises(InputError, match=r"no valid answers about age \(20 gated, 0 unknown\)"):
        analyze(reference=tmp_path / "real.csv")
    assert analyze(reference=tmp_path / "real.csv", only=("gender", "clothing")).pairs.shape[0] == 4


def test_a_reference_about_other_things(tmp_path: Path) -> None:
    frame = librarian_table(images=5, axes={"size": ("small", "large")})
    frame.to_csv(tmp_path / "real.csv", index=False)
    with pytest.raises(InputError, match="is about size, none of which is an axis of this build"):
        analyze(reference=tmp_path / "real.csv")
    frame[frame["role"] != "initial"].to_csv(tmp_path / "real.csv", index=False)
    with pytest.raises(InputError, match="it has no initial images"):
        analyze(reference=tmp_path / "real.csv")


def test_what_is_no_reference(tmp_path: Path, built: Path) -> None:
    for given, message in [
        (tmp_path / "none", "cannot read the reference .*No such file"),
        (tmp_path / "none.yaml", "cannot read reference"),
        ("a\0b.csv", "null"),
        (tmp_path, "is a folder of images, which a model must answer"),
    ]:
        with pytest.raises(InputError, match=message):
            analyze(reference=given)
    unfinished = tmp_path / "run"
    unfinished.mkdir()
    (unfinished / "run.json").write_text("{}")
    with pytest.raises(InputError, match="is unfinished"):
        analyze(reference=unfinished)


def test_nothing_is_written_where_a_reference_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x\x1b[31m.yaml").write_text("gender: {male: 0.5}")
    for asked in (["--prompt", "a cook"], ["--prompts", "occupations"]):
        given = ["--reference", str(tmp_path / "x\x1b[31m.yaml"), "-o", str(tmp_path / "out")]
        assert main(["build", *asked, *given]) == 2
        error = capsys.readouterr().err
        assert "\x1b[31m.yaml" not in error
        assert "\\x1b[31m.yaml', line 1: the count of gender 'male'" in error
    assert not (tmp_path / "out").exists()


def test_counts_of_a_coded_table() -> None:
    """A reference counts as the analysis does: missing and unlisted answers are unknown."""
    frame = librarian_table(images=6, axes={"gender": ("male", "female")})
    frame = frame.drop(index=[0]).replace({"answer": {"female": "?"}})
    both = pd.concat([frame, frame[:5].assign(target="age", answer="old")])
    reference = Reference.of_answers(
        Answers.from_frame(both), [GENDER, AGE], source="x", kind="answers", unlisted_unknown=True
    )
    gender, age = reference.tallies["a librarian"]
    assert (gender.n_total, age.n_total) == (5, 5)
    assert gender.n_unknown == 5 - gender.counts[0]
    assert age.counts.tolist() == [0, 0, 5]
