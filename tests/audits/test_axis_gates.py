"""Gates on one result: what they understand, when they fail, and what is done before they do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import biasgraph
from biasgraph.audits import build as audit
from biasgraph.audits.axis_gates import AxisGate, judge_gates
from biasgraph.commands import main
from biasgraph.errors import GateFailed, InputError, printable
from tests.answer_tables import librarian_table
from tests.hostile import HOSTILE
from tests.sampled import sampled


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    """48 images, 80 % of which show the first attribute of every axis."""
    return biasgraph.analyze(librarian_table(), bootstrap=200)


@pytest.fixture(scope="module")
def several() -> biasgraph.Result:
    """Two prompts that lean to different sides, so that their sum is near the ideal."""
    tables = []
    for prompt, shown in (("a librarian", "male"), ("a nurse", "female")):
        table = librarian_table(prompt=prompt)
        initial = (table["role"] == "initial") & (table["target"] == "gender")
        table.loc[initial, "answer"] = [shown] * 40 + ["male"] * (initial.sum() - 40)
        tables.append(table)
    return biasgraph.analyze(pd.concat(tables, ignore_index=True), bootstrap=200)


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    librarian_table().to_csv(tmp_path / "answers.csv", index=False)
    return tmp_path / "answers.csv"


def node(result: biasgraph.Result, axis: str) -> dict:
    return next(node for node in result.document["nodes"] if node["id"] == axis)


@pytest.mark.parametrize(
    ("text", "axis", "threshold", "each"),
    [
        ("gender>0.2", "gender", 0.2, False),
        (" gender  >  .2 ", "gender", 0.2, False),
        ("each : gender > 0", "gender", 0, True),
        ("hair: colour>1e-1", "hair: colour", 0.1, False),
        ("each:a>b: c>1", "a>b: c", 1, True),
    ],
)
def test_gates_are_read(text: str, axis: str, threshold: float, each: bool) -> None:
    gate = AxisGate.parse(text)
    assert (gate.axis, gate.threshold, gate.each) == (axis, threshold, each)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no '>'"),
        ("gender<0.2", "has no '>'"),
        ("gender>", "the number is missing"),
        ("gender>=0.2", "'=0.2' is not a finite number"),
        ("gender>20%", "'20%' is not a finite number"),
        ("gender>nan", "not a finite number"),
        ("gender>-0.1", "no distance is below 0"),
        (">0.1", "names no axis"),
        ("each:>0.1", "names no axis"),
    ],
)
def test_malformed_gates_are_refused_before_anything_else(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        biasgraph.build("a librarian", model="diffusers:nobody/nothing", vqa="no", gates=(text,))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("payload", sampled(HOSTILE))
def test_hostile_gates_are_one_safe_line(
    payload: str, result: biasgraph.Result, capsys: pytest.CaptureFixture[str]
) -> None:
    for gate in (payload, f"{payload}>0.1"):
        assert main(["build", "--prompt", "a librarian", "--dry-run", "--fail-if", gate]) == 2
        line = capsys.readouterr().err.rstrip("\n")
        assert printable(line) == line


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("gendr>0.1", "Did you mean 'gender'"),
        ("eahc:gender>0.1", "Did you mean 'each:gender'"),
        ("gender>0.1,age>0.1", "Give each gate its own --fail-if"),
        ("worse:gender>0.1", "is about an unknown axis"),
        ("gender>0.5", "can never fail: gender is at most 0.5 from this ideal"),
        ("each:gender>20", "can never fail: gender is at most 0.5 from"),
    ],
)
def test_what_can_never_fail_is_refused_before_a_model_works(
    gate: str, message: str, csv: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    for source in ({"prompt": "a librarian"}, {"answers": csv}):
        with pytest.raises(InputError, match=r"^the gate .*") as error:
            biasgraph.build(**source, output=out, gates=(gate,))
        assert message in str(error.value)
    assert not out.exists()


def test_what_is_possible_depends_on_the_ideal(csv: Path, tmp_path: Path) -> None:
    for source in ({"prompt": "a librarian", "dry_run": True}, {"answers": csv}):
        ideal = {"gender": {"male": 0.1, "female": 0.9}}
        shared = {**source, "ideal": ideal, "output": tmp_path / "run"}
        biasgraph.build(**shared, gates=("gender>0.89",))
        with pytest.raises(InputError, match=r"gender is at most 0\.9 from this ideal"):
            biasgraph.build(**shared, gates=("gender>0.9",))


def test_a_reference_whose_shares_are_not_known_yet_takes_any_number(csv: Path) -> None:
    counts = {"gender": {"male": 90, "female": 10}}
    plan = biasgraph.build("a librarian", reference=counts, gates=("gender>0.95",), dry_run=True)
    assert plan["prompts"] > 1
    with pytest.raises(InputError, match=r"gender is at most 0\.9 from this ideal"):
        biasgraph.build(answers=csv, reference=counts, gates=("gender>0.95",))


def test_the_lower_end_of_the_interval_decides(result: biasgraph.Result) -> None:
    low, high = node(result, "gender")["w1_ci"]
    w1 = node(result, "gender")["w1"]
    assert low < w1
    above, at, between = f"gender>{low - 0.01}", f"gender>{low!r}", f"gender>{(low + w1) / 2}"
    verdicts = judge_gates((above, at, between), result)
    assert [verdict.failed for verdict in verdicts] == [True, False, False]
    assert verdicts[0].words == (
        f"gender is {w1:.3f} from its ideal (uniform), {low:.3f} to {high:.3f} (95 %, 48 "
        f"images), more than the {low - 0.01:g} allowed"
    )
    assert "not surely more than" in verdicts[2].words


def test_too_few_answers_fail_and_say_so(csv: Path, tmp_path: Path) -> None:
    table = pd.read_csv(csv, keep_default_na=False)
    asked = np.flatnonzero((table["role"] == "initial") & (table["target"] == "gender"))
    table.loc[asked[3:], "answer"] = "unknown"
    with pytest.raises(GateFailed) as error:
        biasgraph.build(answers=table, gates=("gender>0.2", "age>0.6"))
    assert str(error.value) == (
        "gate 'gender>0.2' failed: cannot be decided: it takes 16 valid answers, and there are 3"
    )


def test_of_several_prompts_the_sum_or_each_is_judged(several: biasgraph.Result) -> None:
    total, each = judge_gates(("gender>0.2", "each:gender>0.2"), several)
    assert not total.failed
    assert total.words.startswith("gender is 0.")
    assert each.failed
    assert each.words.startswith("“a librarian”: gender is 0.500 from its ideal")
    assert "; “a nurse”: gender is 0.333 from its ideal" in each.words
    (alone,) = judge_gates(("each:gender>0.4",), several)
    assert [words.partition(":")[0] for words in alone.told] == ["“a librarian”"]
    (passed,) = judge_gates(("each:age>0.6",), several)
    assert not passed.failed
    assert len(passed.told) == 2


def test_one_prompt_is_each_prompt(result: biasgraph.Result) -> None:
    plain, each = judge_gates(("gender>0.1", "each:gender>0.1"), result)
    assert each.words == f"“a librarian”: {plain.words}"


def test_many_prompts_are_counted(several: biasgraph.Result) -> None:
    tables = [librarian_table(prompt=f"prompt {number}") for number in range(5)]
    many = biasgraph.analyze(pd.concat(tables, ignore_index=True), bootstrap=100)
    (gate,) = judge_gates(("each:gender>0.05",), many)
    assert gate.words.count("from its ideal") == 3
    assert gate.words.endswith("; and 2 more prompts")


def test_a_gate_ends_with_3_after_the_files(
    csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    arguments = ["build", "--answers", str(csv), "--bootstrap", "200", "-o", str(out)]
    gates = ["--fail-if", "gender>0.05", "--fail-if", "age>0.6"]
    assert main([*arguments, *gates]) == 3
    captured = capsys.readouterr()
    assert (out / "graph.json").is_file()
    assert "FAILED: gender>0.05 (gender is 0." in " ".join(captured.out.split())
    assert "passed: age>0.6 (age is 0." in " ".join(captured.out.split())
    assert captured.err.startswith("Error: gate 'gender>0.05' failed: gender is 0.")
    assert captured.err.count("\n") == 1

    assert main([*arguments, "--json", *gates]) == 3
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 1
    assert captured.err.count("gate '") == 1

    assert main([*arguments, "-q", "--fail-if", "age>0.6"]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_plan_checks_gates_and_judges_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "build", lambda *_: pytest.fail("nothing is to be built"))
    biasgraph.build("a librarian", dry_run=True, gates="gender>0.2")
    with pytest.raises(InputError, match="Did you mean 'gender'"):
        biasgraph.build("a librarian", dry_run=True, gates="gendre>0.2")
