"""`biasgraph validate` on the real sandbox: further images, made once, outside the tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasgraph.audits.further_images import FurtherImages, why_no_images, why_no_judge
from biasgraph.audits.pipeline_options import ValidateOptions
from biasgraph.audits.validate.prediction_check import validate
from biasgraph.data.result import load
from biasgraph.errors import InputError
from tests import forked
from tests.forked import run_command
from tests.further_images import check_tables, die_after_a_batch, new_images
from tests.ledger_queries import IMAGES, REQUEST, query
from tests.shared_runs import copy_of, copy_run

BUILD = (
    "build", "--prompt", "a [librarian] at a conference", "--images", "16", "--only",
    "gender,environment,clothing", "--bootstrap", "200", "--annotate", "none", "-q",
)  # fmt: skip
ALL = (
    "--images", "8", "--mitigated-model", "sandbox:debiased", "--mitigated-axes", "gender",
)  # fmt: skip
PROMPTS = 1 + 2 + 2 + 2


ANSWERS = "SELECT count(*) FROM answers"


pytestmark = pytest.mark.slow(reason="runs of two models")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("validation") / "run"
    copy_run(directory, *BUILD)
    return directory


@pytest.fixture(scope="module")
def validated(built: Path) -> Path:
    directory = built.with_name("validated")
    copy_of(built, directory)
    done = run_command("validate", directory, *ALL)
    assert "fresh prompts: 56 images of sandbox:stereotyped" in done.stderr
    shown = " ".join(done.stdout.split())
    assert "fresh prompts (8 images of each, sandbox:stereotyped): new images" in shown
    assert "(8 images of each, sandbox:debiased, known to mitigate gender)" in shown
    return directory


def other(directory: Path) -> Path:
    (found,) = (directory / "other-models").iterdir()
    return found


def test_three_mitigations(validated: Path) -> None:
    document = json.loads((validated / "validation.json").read_text("utf-8"))
    kinds = {one["kind"]: one for one in document["mitigations"]}
    assert list(kinds) == ["fresh", "reweighted", "other_model"]
    assert document["left_out"] == {}
    assert document["further"] == {
        "fresh": {"model": "sandbox:stereotyped", "images": 8},
        "other_model": {"model": "sandbox:debiased", "images": 8},
    }
    assert kinds["fresh"]["all_pairs"]["pairs"] == kinds["reweighted"]["all_pairs"]["pairs"] == 6
    assert kinds["fresh"]["after"] < 0.1, "the sandbox obeys"
    assert document["mitigated_axes"] == ["gender"]
    assert 0 <= kinds["other_model"]["axes"] <= 1
    text = (validated / "report.html").read_text("utf-8")
    assert "Predictions against mitigations" in text


def test_the_run_is_as_it_was(built: Path, validated: Path) -> None:
    check_tables(validated, built)
    new = new_images(validated, built)
    assert len(new) == 8 * PROMPTS
    assert {role for _, role, _ in new} == {"initial", "counterfactual"}
    assert not {sha for *_, sha in query(built, IMAGES)} & {sha for *_, sha in new}, "fresh ones"
    assert len(query(other(validated), IMAGES)) == 8


def test_nothing_is_made_or_asked_twice(built: Path, validated: Path, tmp_path: Path) -> None:
    directory = copy_of(validated, tmp_path / "run")
    counts = [query(place, sql) for place in (directory, other(directory))
              for sql in (IMAGES, ANSWERS)]  # fmt: skip
    written = (directory / "validation.json").read_bytes()
    done = run_command("validate", directory, *ALL, "--json")
    assert json.loads(done.stdout) == json.loads(written)
    assert (directory / "validation.json").read_bytes() == written
    assert counts == [query(place, sql) for place in (directory, other(directory))
                      for sql in (IMAGES, ANSWERS)]  # fmt: skip
    run_command(*BUILD, "-o", directory)
    assert "Predictions against mitigations" in (directory / "report.html").read_text("utf-8")
    assert query(directory, IMAGES) == counts[0]
    check_tables(directory, built)


def validate_and_die(directory: Path) -> None:
    die_after_a_batch()
    validate(ValidateOptions(run=directory, images=8))


def test_a_validation_that_died_goes_on(built: Path, validated: Path, tmp_path: Path) -> None:
    directory = copy_of(built, tmp_path / "run")
    process = forked.started(validate_and_die, directory)
    process.join()
    assert process.exitcode == 9
    made = query(directory, IMAGES)
    assert len(query(built, IMAGES)) < len(made) < len(query(validated, IMAGES))
    again = copy_of(directory, tmp_path / "again")
    run_command(*BUILD, "-o", again)
    check_tables(again, built)
    run_command("validate", directory, *ALL, "-q")
    assert set(query(directory, IMAGES)) == set(query(validated, IMAGES))
    assert query(directory, REQUEST) == query(built, REQUEST)
    assert (directory / "validation.json").read_bytes() == (
        validated / "validation.json"
    ).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--mitigated-model", "sandbox:stereotyped"), "name another"),
        (("--mitigated-model", "sandbx:debiased"), "sandbx"),
        (("--images", "0"), "--images"),
        (("--images", "4", "--axes", "nowhere.yaml"), "nowhere.yaml"),
        (("--axes", "occupation"), "--axes needs --images"),
        (("--mitigated-axes", "gender"), "--mitigated-axes needs --mitigated-model"),
        (
            ("--mitigated-model", "sandbox:debiased", "--mitigated-axes", "gendr"),
            "Did you mean 'gender'",
        ),
    ],
)
def test_bad_input_leaves_nothing(
    built: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    directory = copy_of(built, tmp_path / "run")
    before = sorted(path.name for path in directory.iterdir()), query(directory, IMAGES)
    done = run_command("validate", directory, *arguments, expect=2)
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert (sorted(path.name for path in directory.iterdir()), query(directory, IMAGES)) == before


def test_who_can_make_and_judge_further_images(built: Path) -> None:
    result = load(built)
    assert why_no_images(result) is None
    assert why_no_judge(result) is None
    graph = result.document["graph"]
    graph["model"] = "folder:pictures"
    assert "no model can make more of them" in (why_no_images(result) or "")
    assert why_no_judge(result) is None, "another model's images can be judged all the same"
    graph["vqa"] = "human:labels.csv"
    assert "people answered" in (why_no_judge(result) or "")
    with pytest.raises(InputError, match="no images of another model can be judged: people"):
        FurtherImages.of_other_model(result, "sandbox:debiased", 4)
