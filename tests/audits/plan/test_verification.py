"""`biasgraph plan --verify` on the real sandbox: joint images, made once, outside the tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasgraph.audits.pipeline_options import PlanOptions
from biasgraph.audits.plan.mitigation import plan
from biasgraph.audits.plan.verification import JointPlan
from biasgraph.data.result import load
from biasgraph.errors import InputError
from tests import forked
from tests.forked import run_command
from tests.further_images import check_tables, die_after_a_batch, new_images
from tests.ledger_queries import FEWER, IMAGES, REQUEST, query
from tests.shared_runs import copy_of, copy_run

TABLES = ("answers.csv", "tables.csv", "pairs.csv", "nodes.csv", "graph.json", "graph.graphml")
BUILD = (
    "build", "--prompt", "a [librarian] at a conference", "--images", "8", "--only",
    "gender,environment", "--min-valid", "2", "--bootstrap", "200", "--annotate", "none", "-q",
)  # fmt: skip
UNEQUAL = (
    "build", "--prompt", "a [librarian] at a conference", "--until", "decided", "--decide", "edges",
    "--max-images", "48", "--min-v", "0.6", "--only", "environment,clothing,gender",
    "--min-valid", "2", "--bootstrap", "200", "--annotate", "none", "--controls", "0", "-q",
)  # fmt: skip


pytestmark = pytest.mark.slow(reason="runs of planned mixtures")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("verification") / "run"
    copy_run(directory, *BUILD)
    return directory


@pytest.fixture(scope="module")
def verified(built: Path) -> Path:
    directory = built.with_name("verified")
    copy_of(built, directory)
    run_command("plan", directory, "--verify", "--verify-images", "10")
    return directory


def test_prediction_against_outcome(verified: Path) -> None:
    document = json.loads((verified / "plan.json").read_text("utf-8"))
    assert {step["axis"] for step in document["plan"]["steps"]} == {"gender", "environment"}
    found = document["verification"]
    assert (found["axes"], found["status"]) == (["gender", "environment"], "ok")
    assert found["combinations"] == 4
    assert found["images"] == 40
    assert found["prompts"][0] == "a male librarian working indoors at a conference"
    assert [row["axis"] for row in found["targets"]] == ["gender", "environment"]
    for row in found["targets"]:
        assert row["found"]["n_total"] == 40
        assert row["found"]["distance"] < 0.1, "the sandbox obeys"
        assert row["error"] == pytest.approx(
            row["predicted"]["distance"] - row["found"]["distance"]
        )


def test_the_run_is_as_it_was(built: Path, verified: Path) -> None:
    check_tables(verified, built, TABLES)
    roles = [role for _, role, _ in new_images(verified, built)]
    assert {*roles} == {"other", "initial"}, "with more images for each, the prompt itself gets two"
    assert roles.count("other") == 40
    record = json.loads((verified / "run.json").read_text("utf-8"))
    assert [build["command"][0] for build in record["builds"]] == ["build", "plan"]
    assert record["builds"][0]["settings"] == record["builds"][1]["settings"]


def test_nothing_is_made_twice_and_a_build_is_not_confused(
    built: Path, verified: Path, tmp_path: Path
) -> None:
    directory = copy_of(verified, tmp_path / "run")
    images, plan = query(directory, IMAGES), (directory / "plan.json").read_bytes()
    run_command("plan", directory, "--verify", "--verify-images", "10", "-q")
    assert query(directory, IMAGES) == images
    assert (directory / "plan.json").read_bytes() == plan
    run_command(*BUILD, "-o", directory)
    assert query(directory, IMAGES) == images
    check_tables(directory, built, TABLES)


def verify_and_die(directory: Path) -> None:
    die_after_a_batch()
    plan(PlanOptions(run=directory, verify=True, verify_images=16))


@pytest.mark.parametrize("build", [BUILD, UNEQUAL], ids=["equal", "unequal"])
def test_a_verification_that_died_confuses_nobody(build: tuple[str, ...], tmp_path: Path) -> None:
    """Killed in the middle: the ledger asks for the joint prompts, half of them are made."""
    built = tmp_path / "built"
    copy_run(built, *build)
    directory = copy_of(built, tmp_path / "run")
    process = forked.started(verify_and_die, directory)
    process.join()
    assert process.exitcode == 9
    made = [one for one in query(directory, IMAGES) if one[1] == "other"]
    assert 0 < len(made) < 64
    again = copy_of(directory, tmp_path / "again")
    run_command(*build, "-o", again)
    check_tables(again, built, TABLES)
    run_command("plan", directory, "--verify", "--verify-images", "16", "-q")
    assert set(made) < set(query(directory, IMAGES))
    assert query(directory, REQUEST) == query(built, REQUEST)
    assert bool(query(built, FEWER)) is (build is UNEQUAL)
    assert query(directory, FEWER) == query(built, FEWER)


def test_brackets_are_found_again_and_images_kept_within_the_run(built: Path) -> None:
    result = load(built)
    work = JointPlan.of(result, ["gender", "environment"])
    assert work.images == 8
    assert work.plan.initial.text == "a librarian at a conference"
    size = work.size()
    assert size["images"] == 32
    assert size["questions"] == 32 * 3
    assert size["seconds"] > 0
    assert JointPlan.of(result, ["gender", "environment"], 3).images == 3


def test_other_axes_than_the_runs_are_refused(built: Path, tmp_path: Path) -> None:
    result = load(built)
    result.document["graph"]["axes"]["digest"] = "0" * 64
    with pytest.raises(InputError, match=r"built with other axes than .* give its axis set"):
        JointPlan.of(result, ["gender", "environment"])
    result.document["graph"]["axes"]["name"] = "mine"
    with pytest.raises(InputError, match=r"an axis set named 'mine'.* --axes FILE"):
        JointPlan.of(result, ["gender", "environment"])
    with pytest.raises(InputError, match="unknown axis set 'ocupation'"):
        JointPlan.of(result, ["gender", "environment"], axes="ocupation")


def test_prompts_of_another_version_are_refused(built: Path) -> None:
    result = load(built)
    result.document["graph"]["prompt"] = "a nurse at a conference"
    with pytest.raises(InputError, match="another version of biasgraph"):
        JointPlan.of(result, ["gender", "environment"])


def test_bad_input_leaves_nothing(built: Path, tmp_path: Path) -> None:
    directory = copy_of(built, tmp_path / "run")
    before = sorted(path.name for path in directory.iterdir()), query(directory, IMAGES)
    targets = tmp_path / "targets.yaml"
    targets.write_text("gendr: {weight: 2}\n")
    done = run_command("plan", directory, "--targets", targets, "--verify", expect=2)
    assert done.stdout == ""
    assert "Did you mean 'gender'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    for options in (
        ["--verify-images", "4"],
        ["--verify", "--axes", "nowhere.yaml"],
        ["--steps", "0"],
    ):
        run_command("plan", directory, *options, expect=2)
    assert (sorted(path.name for path in directory.iterdir()), query(directory, IMAGES)) == before


def test_a_single_intervention_needs_no_joint_images(built: Path, tmp_path: Path) -> None:
    directory = copy_of(built, tmp_path / "run")
    images = query(directory, IMAGES)
    done = run_command("plan", directory, "--verify", "--steps", "1", "--json")
    assert json.loads(done.stdout)["verification"] == {
        "axes": [json.loads(done.stdout)["plan"]["steps"][0]["axis"]],
        "status": "nothing_joint",
    }
    assert query(directory, IMAGES) == images
