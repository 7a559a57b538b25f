"""`biasgraph agreement` and the labels behind it, on a run of the fakes."""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.inter_rater import cohens_kappa as statsmodels_kappa

import biasgraph
from biasgraph.audits.agreement import check as agreement
from biasgraph.audits.agreement.agreement_file import is_agreement, read
from biasgraph.audits.agreement.check import check, keep
from biasgraph.audits.agreement.label_page import label_page
from biasgraph.audits.pipeline_options import CheckOptions, LabelOptions
from biasgraph.commands import main
from biasgraph.data.result import load
from biasgraph.errors import InputError, ModelError
from biasgraph.models import registry
from biasgraph.models.base import Question
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import JUDGE, Backend, Role
from biasgraph.report import judge_words, words
from tests.fake_models import FakeJudge
from tests.judged_run import by_axis, labels_of

FEW = CheckOptions(replicates=100)


@pytest.fixture
def judges(monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeJudge]:
    """Judges that can be named, each by its spec."""
    known = {
        "fake:judge": FakeJudge(),
        "fake:other": FakeJudge(spec="fake:other", fingerprint="3" * 16, batch_size=7),
    }
    fake = Backend("a fake", {JUDGE: Role(lambda spec, options: known[spec.text], "fake:judge")})
    monkeypatch.setitem(registry.BACKENDS, "fake", fake)
    return known


def saved(frame: pd.DataFrame, path: Path) -> str:
    frame.to_csv(path, index=False)
    return str(path)


def test_a_judge_against_itself_agrees(run: Path, judges: dict[str, FakeJudge]) -> None:
    found = check(run, "fake:judge", FEW)
    assert found["images"] == found["images_in_all"] == 108
    for axis in found["axes"]:
        assert (axis["accuracy"], axis["f1"], axis["kappa"]) == (1, 1, 1)
        assert axis["coverage"] == 1
    assert found["notes"] == [agreement.ITSELF]
    assert judges["fake:judge"].calls == []  # its answers are there


def test_another_judge_is_asked_the_same_questions_once(
    run: Path, judges: dict[str, FakeJudge]
) -> None:
    other = judges["fake:other"]
    found = check(run, "fake:other", FEW)
    asked = len(other.calls)
    assert asked == 16  # 108 images in batches of 7
    assert {len(texts) for _, texts in other.calls} == {5}  # the gate and four questions
    assert found["reference"] == {
        "name": "fake:other",
        "kind": "judge",
        "fingerprint": other.fingerprint,
        "by_people": False,
        "sample": None,
    }
    assert check(run, "fake:other", FEW) == found
    assert len(other.calls) == asked


def test_a_sample_asks_about_the_pictures_that_people_label(
    run: Path, judges: dict[str, FakeJudge]
) -> None:
    other = judges["fake:other"]
    few = check(run, "fake:other", CheckOptions(replicates=100, sample=14))
    assert len(other.calls) == 2 and few["images"] == 14
    labels = json.loads(re.findall(r'id="model">(.*?)<', _page(run, 14))[0])
    with sqlite3.connect(run / "ledger.sqlite") as ledger:
        query = (
            "SELECT DISTINCT images.id FROM answers JOIN images ON key = image"
            " JOIN questions ON questions.id = question WHERE judge = 'fake:other'"
        )
        assert {image for (image,) in ledger.execute(query)} == {
            image["image"] for image in labels["images"]
        }
    ledger.close()
    assert check(run, "fake:other", FEW)["images"] == 108  # the rest is asked about now
    assert len(other.calls) == 2 + 14
    assert check(run, "fake:other", CheckOptions(replicates=100, sample=14)) == few


def _page(run: Path, number: int) -> str:
    return label_page(run, LabelOptions(sample=number))[0].decode()


def test_what_was_cut_short_goes_on(run: Path, judges: dict[str, FakeJudge]) -> None:
    other = judges["fake:other"]
    answer = FakeJudge.answer

    class Tired(FakeJudge):
        def answer(self, images, questions):  # type: ignore[no-untyped-def]
            if len(self.calls) == 5:
                raise ModelError("the server is gone")
            return answer(self, images, questions)

    judges["fake:other"] = Tired(spec=other.spec, fingerprint=other.fingerprint, batch_size=7)
    with pytest.raises(ModelError, match="gone"):
        check(run, "fake:other", FEW)
    judges["fake:other"] = other
    check(run, "fake:other", FEW)
    assert len(other.calls) == 16 - 5


def test_unknown_and_gated_answers_are_counted(run: Path, tmp_path: Path) -> None:
    table = load(run).answers.astype(str)
    told = table.assign(answer=table["answer"].replace({"unknown": "male"}))
    told = told[told["target"] == "gender"][["image", "target", "answer"]]
    axes = by_axis(check(run, saved(told, tmp_path / "said.csv"), FEW))
    gender = axes["gender"]
    unknown = int((table[table["target"] == "gender"]["answer"] == "unknown").sum())
    gated = int((table[table["target"] == "gender"]["answer"] == "gated").sum())
    assert unknown and gated
    assert gender["table"][0][2] == unknown  # the reference says male, the judge nothing
    assert gender["table"][3][3] == gated
    assert gender["n"] == 108 and gender["n_valid"] == 108 - unknown - gated
    assert axes["age"]["n"] == 0 and axes["age"]["kappa"] is None


def test_labels_are_matched_by_their_pictures(run: Path, tmp_path: Path) -> None:
    labels = labels_of(run).drop(columns=["image", "target"])
    found = by_axis(check(run, saved(labels, tmp_path / "labels.csv"), FEW))
    for axis in found.values():
        assert axis["kappa"] == 1
        assert sum(row[-1] for row in axis["table"]) == axis["table"][-1][-1]  # gated alike


def test_what_nobody_labelled_is_left_out(run: Path, tmp_path: Path) -> None:
    labels = labels_of(run)
    images = labels["image"].unique()[:10]
    some = labels[labels["image"].isin(images) & (labels["target"] != "age")]
    found = check(run, saved(some, tmp_path / "labels.csv"), FEW)
    assert found["images"] == 10
    axes = by_axis(found)
    assert (axes["gender"]["n"], axes["age"]["n"]) == (10, len(_gated(run, images)))
    one_of_two = some[some["question"] != "Wheelchair?"]
    axes = by_axis(check(run, saved(one_of_two, tmp_path / "labels.csv"), FEW))
    assert axes["disability"]["n"] == len(_gated(run, images))


def _gated(run: Path, images: object) -> set[str]:
    table = load(run).answers.astype(str)
    return set(table[table["image"].isin(images) & (table["answer"] == "gated")]["image"])


def test_a_wrong_label_is_a_wrong_answer_of_the_judge(run: Path, tmp_path: Path) -> None:
    def tell(image: str, question: Question, own: str) -> str:
        return "f" if (question.text, own) == ("Gender?", "m") else own

    found = by_axis(check(run, saved(labels_of(run, tell), tmp_path / "labels.csv"), FEW))
    gender = found["gender"]
    assert gender["table"][0][:2] == [0, 0]  # nobody is male
    assert gender["table"][1][0] > 0  # but the judge says so
    assert gender["kappa"] == pytest.approx(0)
    assert found["age"]["kappa"] == 1


def test_the_result_keeps_the_agreement(run: Path, judges: dict[str, FakeJudge]) -> None:
    found = check(run, "fake:other", FEW)
    keep(run, found)
    assert json.loads((run / "agreement.json").read_text()) == found
    assert load(run).document["graph"]["agreement"] == found
    page = (run / "report.html").read_text("utf-8")
    assert "This judge has not been validated" not in page
    about = {"vqa": "fake:judge", "vqa_fingerprint": "2" * 16, "model": "fake:painter"}
    assert agreement.read_kept(run, about) == found
    assert agreement.read_kept(run, {**about, "vqa": "fake:third"}) is None
    assert agreement.read_kept(run, {**about, "vqa_fingerprint": "9"}) is None


def test_a_report_without_an_agreement_says_so(run: Path) -> None:
    assert load(run).document["graph"]["agreement"] is None
    assert "This judge has not been validated" in (run / "report.html").read_text("utf-8")


def test_pictures_that_are_missing_are_told(run: Path, judges: dict[str, FakeJudge]) -> None:
    next((run / "images").iterdir()).unlink()
    with pytest.raises(ModelError, match=r"1 image is missing .* rerun its build command"):
        check(run, "fake:other", FEW)


def test_a_run_in_use_is_left_alone(run: Path, judges: dict[str, FakeJudge]) -> None:
    from filelock import FileLock

    with FileLock(run / "run.lock"), pytest.raises(ModelError, match="another process"):
        check(run, "fake:other", FEW)


def test_the_same_judge_with_other_settings_is_refused(
    run: Path, judges: dict[str, FakeJudge]
) -> None:
    judges["fake:judge"].settings["threshold"] = 0.7
    with pytest.raises(InputError, match=r"threshold was 0\.5 and is now 0\.7"):
        check(run, "fake:judge", FEW)


def test_an_answers_table_can_be_checked_too(run: Path, tmp_path: Path) -> None:
    result = load(run)
    biasgraph.save(result, tmp_path / "table")
    path = tmp_path / "table" / "graph.json"
    document = json.loads(path.read_text())
    document["graph"]["vqa"] = document["graph"]["vqa_fingerprint"] = None
    path.write_text(json.dumps(document))
    found = check(tmp_path / "table", str(run / "answers.csv"), FEW)
    assert found["judge"] is None and by_axis(found)["age"]["kappa"] == 1
    with pytest.raises(InputError, match="matched by pictures"):
        check(tmp_path / "table", saved(labels_of(run), tmp_path / "labels.csv"), FEW)
    with pytest.raises(InputError, match="no images to work on"):
        check(tmp_path / "table", "sandbox", FEW)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("image,target,anser\n1,gender,male\n", "lacks answer.*Did you mean 'anser'"),
        ("image,target,answer\n1,gender,mael\n", "line 2, column answer: 'mael'.*'male'"),
        ("image,target,answer\n1,gender,male\n1,gender,female\n", "line 3: image '1' has a second"),
        ("image,target,answer\n1,gender,male\n", "is about other images"),
        ("picture,question,answer\nsha256:1,Gender?,m\n", "none of its 1 is in"),
        ("picture,question,answer\nsha256:1,Sex?,m\n", "answers none of the questions"),
    ],
)
def test_what_cannot_be_a_reference(run: Path, tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "given.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=problem) as raised:
        check(run, str(path), FEW)
    assert "\n" not in str(raised.value)


def test_labels_named_as_a_judge_are_still_labels(run: Path, tmp_path: Path) -> None:
    labels = labels_of(run)
    some = labels[labels["image"].isin(labels["image"].unique()[:10])]
    path = saved(some, tmp_path / "labels.csv")
    assert check(run, f"human:{path}", FEW) == check(run, path, FEW)


def test_a_reference_that_cannot_be_is_named_by_its_option(run: Path) -> None:
    with pytest.raises(InputError, match=r"^--with 'snadbox': .*Did you mean 'sandbox'"):
        check(run, "snadbox", FEW)
    with pytest.raises(InputError, match="is a folder"):
        check(run, str(run), FEW)


def test_options_of_models_mean_nothing_to_a_file(run: Path) -> None:
    with pytest.raises(InputError, match="remove --sample and the model options"):
        check(run, str(run / "answers.csv"), FEW, ModelOptions(permutations=2))


@pytest.mark.parametrize(
    "damage",
    [
        "{",
        "[]",
        '{"schema": "biasgraph-agreement/9"}',
        "table",
        "count",
        "kappa",
        "text",
        "huge",
        "rater",
    ],
)
def test_a_damaged_agreement_is_refused(run: Path, damage: str) -> None:
    found = check(run, str(run / "answers.csv"), FEW)
    if damage == "table":
        found["axes"][0]["table"][0].pop()
        damage = json.dumps(found)
    if damage == "count":
        found["axes"][0]["table"][0][0] = 10**30
        damage = json.dumps(found)
    if damage == "kappa":
        del found["axes"][1]["kappa"]
        damage = json.dumps(found)
    if damage == "text":
        found["images"] = "40"
        damage = json.dumps(found)
    if damage == "huge":
        found["axes"][0]["accuracy"] = 10**400
        damage = json.dumps(found)
    if damage == "rater":
        numbers = {"n": 1, "n_valid": 1, "kappa": None, "kappa_ci": None}
        numbers |= {"kappa_with_unknown": None, "kappa_with_unknown_ci": None}
        found["axes"][0]["kappas"] = [{"raters": [0, 7], **numbers}]
        damage = json.dumps(found)
    (run / "agreement.json").write_text(damage)
    with pytest.raises(InputError):
        read(run / "agreement.json")


def test_the_command(
    run: Path, judges: dict[str, FakeJudge], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["agreement", str(run), "--with", "fake:other", "--bootstrap", "100"]
    assert main([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((run / "agreement.json").read_text())
    assert main([*arguments, "--only", "age", "-o", str(run / "age.json")]) == 0
    out = capsys.readouterr().out
    assert "age: the reference (rows), the judge (columns)" in out and "gender" not in out
    assert [axis["axis"] for axis in json.loads((run / "age.json").read_text())["axes"]] == ["age"]
    assert json.loads((run / "agreement.json").read_text()) == printed
    assert main(["agreement", str(run), "--with", "fake:other", "--only", "agee"]) == 2
    assert "Did you mean 'age'" in capsys.readouterr().err
    assert main(["agreement", str(run), "--with", "nowhere.csv"]) == 2
    (run / "labels.csv").write_text("hours of work")
    assert main([*arguments, "-o", str(run / "age.json"), "-q"]) == 0
    assert main([*arguments, "-o", str(run / "labels.csv")]) == 2
    assert "is not an agreement; nothing was written" in capsys.readouterr().err
    assert (run / "labels.csv").read_text() == "hours of work"
    assert main(["agreement", str(run / "images"), "--with", "fake:other"]) == 2


def test_answers_of_other_judges_stay_in_the_ledger(
    run: Path, judges: dict[str, FakeJudge]
) -> None:
    check(run, "fake:other", FEW)
    with sqlite3.connect(run / "ledger.sqlite") as ledger:
        rows = dict(
            ledger.execute(
                "SELECT judge, count(*) FROM answers JOIN questions ON id = question GROUP BY judge"
            )
        )
    ledger.close()
    assert rows == {"fake:judge": 432, "fake:other": 432}


@pytest.mark.slow(reason="judges a run again")
def test_several_files_and_judges_in_one_command(
    run: Path,
    tmp_path: Path,
    judges: dict[str, FakeJudge],
    capsys: pytest.CaptureFixture[str],
) -> None:
    def flipped(image: str, question: Question, own: str) -> str:
        turn = question.text == "Gender?" and image.endswith(("1", "2"))
        return {"m": "f", "f": "m"}.get(own, own) if turn else own

    labels, other = labels_of(run), labels_of(run, flipped)
    half = labels[labels["image"].isin(labels["image"].unique()[::2])]
    files = [
        saved(labels.assign(annotator="ada"), tmp_path / "ada.csv"),
        saved(other, tmp_path / "nameless.csv"),
        saved(half.assign(annotator="cy"), tmp_path / "cy.csv"),
    ]
    arguments = [part for name in (*files, "fake:other") for part in ("--with", name)]
    assert main(["agreement", str(run), *arguments, "--bootstrap", "100"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "All 5 raters: 1 fake:judge, 2 ada, 3 nameless.csv, 4 cy, 5" in out
    assert "Krippendorff's alpha" in out
    found = read(run / "agreement.json")
    assert found["reference"]["name"] == "ada.csv, nameless.csv, cy.csv"
    assert [rater["kind"] for rater in found["raters"]] == ["judge", *["people"] * 3, "judge"]
    gender = by_axis(found)["gender"]
    among = {(one["among"], one["metric"], one["unknown"]): one for one in gender["alphas"]}
    assert set(among) == {
        (group, "nominal", unknown) for group in ("people", "all") for unknown in (False, True)
    }
    people = among["people", "nominal", False]
    assert people["raters"] == 3 and 0 < people["value"] < 1
    kappas = {tuple(pair["raters"]): pair for pair in gender["kappas"]}
    assert len(kappas) == 10
    ada_nameless, ada_cy = kappas[1, 2], kappas[1, 3]
    assert ada_cy["kappa"] == 1 and ada_cy["n"] == 54  # cy labelled every second picture
    assert ada_nameless["n"] == 108 and ada_nameless["kappa"] < 1
    counts = np.zeros((2, 2))
    names = ("m", "f")
    said = [frame[frame["question"] == "Gender?"].set_index("image") for frame in (labels, other)]
    gated = set(load(run).answers.astype(str).query("answer == 'gated'")["image"])
    for image in set(said[0].index) - gated:
        answers = [frame.loc[image, "answer"] for frame in said]
        if "unknown" not in answers:
            counts[names.index(answers[0]), names.index(answers[1])] += 1
    expected = statsmodels_kappa(counts, return_results=False)
    assert ada_nameless["kappa"] == pytest.approx(expected)
    page = (run / "report.html").read_text("utf-8")
    assert "Krippendorff's alpha among the 3 people" in html.unescape(page).replace("\\u0027", "'")


def test_two_raters_are_no_crowd(run: Path, judges: dict[str, FakeJudge]) -> None:
    found = check(run, ["fake:other"], FEW)
    assert found["raters"] == []
    assert all(axis["alphas"] == axis["kappas"] == [] for axis in found["axes"])
    assert check(run, ["fake:other", "fake:other"], FEW) == found


def test_a_table_of_peoples_answers_is_peoples(
    run: Path, tmp_path: Path, judges: dict[str, FakeJudge], capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.read_csv(run / "answers.csv", dtype=str).assign(judge="human:crowd")
    path = saved(table, tmp_path / "crowd.csv")
    assert main(["agreement", str(run), "--with", path, "--with", "fake:other", "-q"]) == 0
    found = read(run / "agreement.json")
    assert found["reference"]["by_people"] and found["raters"][1]["kind"] == "people"
    assert "people's answers in crowd.csv" in words.plain(judge_words.summary(found))
    assert not check(run, str(run / "answers.csv"), FEW)["reference"]["by_people"]


def test_an_axis_in_order_has_an_ordinal_alpha(
    run: Path, tmp_path: Path, judges: dict[str, FakeJudge]
) -> None:
    path = run / "graph.json"
    document = json.loads(path.read_text())
    [age] = [node for node in document["nodes"] if node["id"] == "age"]
    age["metric"] = "ordinal"
    path.write_text(json.dumps(document))
    found = by_axis(check(run, [str(run / "answers.csv"), "fake:other"], FEW))
    assert {one["metric"] for one in found["age"]["alphas"]} == {"nominal", "ordinal"}
    assert {one["metric"] for one in found["gender"]["alphas"]} == {"nominal"}
    assert {one["among"] for one in found["age"]["alphas"]} == {"all"}


def test_people_are_not_raters_twice(run: Path, tmp_path: Path) -> None:
    def flipped(image: str, question: Question, own: str) -> str:
        turn = question.text == "Gender?" and image.endswith("1")
        return {"m": "f", "f": "m"}.get(own, own) if turn else own

    both = [labels_of(run).assign(annotator="ada"), labels_of(run, flipped).assign(annotator="bo")]
    labels = saved(pd.concat(both), tmp_path / "labels.csv")
    path = run / "graph.json"
    document = json.loads(path.read_text())
    fingerprint = hashlib.sha256(Path(labels).read_bytes()).hexdigest()
    document["graph"] |= {"vqa_fingerprint": fingerprint, "people": True, "annotators": 2}
    path.write_text(json.dumps(document))
    found = check(run, labels, FEW)
    assert found["notes"] == [agreement.ITSELF]
    assert [rater["name"] for rater in found["raters"]] == ["ada", "bo"]
    assert {one["raters"] for one in by_axis(found)["gender"]["alphas"]} == {2}
    assert [pair["raters"] for pair in by_axis(found)["gender"]["kappas"]] == [[0, 1]]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_is_no_agreement(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "agreement.json")
    assert not is_agreement(tmp_path / "agreement.json")
