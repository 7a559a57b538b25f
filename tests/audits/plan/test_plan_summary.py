"""What a mitigation plan looks like in the terminal."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

import biasgraph
from biasgraph.audits.pipeline_options import PlanOptions
from biasgraph.audits.plan.mitigation import plan
from biasgraph.audits.plan.plan_summary import summarize_plan
from biasgraph.report.words import with_ci
from tests.answer_tables import AXES, librarian_table
from tests.hostile import HOSTILE, NAME, UNWRITABLE, named
from tests.sampled import sampled
from tests.screens import check_name, one_line, screen_of

OUTCOME = {
    "axes": ["gender", "clothing"], "status": "ok", "combinations": 4,
    "images_per_combination": 48, "images": 192, "questions": 2112, "seconds": 4.0,
    "prompts": ["a male librarian in formal attire"],
    "targets": [
        {
            "axis": "gender",
            "predicted": {"distribution": [0.4, 0.6], "distance": 0.1, "distance_ci": [0.0, 0.2]},
            "found": {"distribution": [0.5, 0.5], "distance": 0.0, "distance_ci": [0.0, 0.05],
                      "n_total": 192, "n_valid": 190},
            "error": 0.1, "error_ci": [-0.05, 0.2], "misplaced": 0.1,
        },
        {
            "axis": "clothing",
            "predicted": {"distribution": [0.5, 0.5], "distance": 0.0, "distance_ci": [0.0, 0.1]},
            "found": {"distribution": None, "distance": None, "distance_ci": None,
                      "n_total": 192, "n_valid": 3},
            "error": None, "error_ci": None, "misplaced": None,
        },
    ],
}  # fmt: skip


def screen(document: dict[str, Any]) -> str:
    return screen_of(summarize_plan(document))


def planned(directory: Path, frame: Any, targets: str = "", **options: Any) -> dict[str, Any]:
    biasgraph.save(biasgraph.analyze(frame, bootstrap=200, **options), directory)
    path = None
    if targets:
        path = directory.parent / "targets.yaml"
        path.write_text(targets, encoding="utf-8")
    return plan(PlanOptions(run=directory, targets=path))


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("plan") / "run"
    return planned(folder, librarian_table(), "gender: {weight: 2}\nclothing:\n")


def test_says_what_to_do_and_what_not(document: dict[str, Any]) -> None:
    text = one_line(screen(document))
    best = document["strategies"]["axes"][0]["strategies"][0]
    step = document["plan"]["steps"][0]
    for expected in (
        "for the prompt 'a librarian': 48 initial and 336 counterfactual images of shop:v1",
        "judged by whoever made the answers table; ideal: uniform",
        f"itself +{best['is']:.3f} [+{best['is_ci_low']:.3f}, +{best['is_ci_high']:.3f}]",
        "clothing: where gender is diversified anyway, that leaves it",
        "gender: brings clothing closer to the ideal; the other axis is undetermined.",
        "9 strategies were weighed.",
        "Targets: gender 2, clothing 1. Predictions add the shifts",
        "Weighted sum",
        f"1. gender {with_ci(step['total'], step['total_ci'])}",
        f"After 1. gender, the best next step in {step['p_best']:.0%} of resamples",
        "chance alone gives up to",
        "Where it ends",
    ):
        assert expected in text, expected
    assert "toy" not in text
    assert "fair" not in text.lower()


def test_every_verdict_has_its_words(document: dict[str, Any]) -> None:
    changed = copy.deepcopy(document)
    age, clothing, gender = (
        next(one for one in changed["strategies"]["axes"] if one["axis"] == name)
        for name in ("age", "clothing", "gender")
    )
    for verdict, expected in (
        ("any", "each of them brings it closer to its ideal: any would do."),
        ("undecided", "not each of them is seen to help."),
        ("nothing", "clothing: no intervention is seen to bring it closer to its ideal."),
        ("insufficient", "clothing: too few valid answers, or no interventions."),
    ):
        clothing |= {"verdict": verdict, "recommended": None, "contenders": ["gender", "clothing"]}
        assert expected in one_line(screen(changed))
    age |= {"verdict": "near_ideal", "recommended": None}
    away = f"{age['w1_ci'][1]:.3f}"
    told = "age: 48 images cannot tell it from its ideal, which is not closeness"
    assert f"{told} (distance {age['w1']:.3f}, truly perhaps up to {away};" in one_line(
        screen(changed)
    )
    age["w1_ci"] = None
    assert f"{told} (distance {age['w1']:.3f}; chance" in one_line(screen(changed))
    gender["strategies"][0]["flags"] = ["weak_intervention"]
    assert "hardly changed that axis itself" in one_line(screen(changed))


@pytest.mark.parametrize(
    ("stopped", "expected"),
    [
        ("steps", "The requested number of interventions is reached."),
        ("nothing_left", "No intervention is left."),
        ("all_set", "Every target is diversified itself."),
    ],
)
def test_why_a_plan_ends(document: dict[str, Any], stopped: str, expected: str) -> None:
    changed = copy.deepcopy(document)
    changed["plan"] |= {"stopped": stopped, "left_out": ["age"]}
    changed["plan"]["goals"][0]["status"] = "insufficient"
    text = one_line(screen(changed))
    assert expected in text
    assert "Left out for too few valid answers: age." in text
    assert "Targets left out for too few valid answers: gender." in text


def test_without_targets_the_steps_are_a_table(tmp_path: Path) -> None:
    text = one_line(screen(planned(tmp_path / "run", librarian_table())))
    assert "Targets: all axes, equally weighted." in text
    assert "Sum of distances" in text


def test_too_few_images(tmp_path: Path) -> None:
    text = one_line(screen(planned(tmp_path / "run", librarian_table(images=8))))
    assert "No target has enough valid answers." in text


def test_prediction_against_outcome(document: dict[str, Any]) -> None:
    text = screen({**document, "verification": OUTCOME})
    assert max(cell_len(line) for line in text.splitlines()) <= 80
    for expected in (
        "Images with gender, clothing set at once: 4 combinations, 48 each, 192 in all",
        "such as 'a male librarian in formal attire'",
        "gender 0.100 0.000 [0.000, 0.050] 190/192 +0.100 [-0.050, +0.200]",
        "predicted male 40%, female 60%; found male 50%, female 50%; 10% of the images",
        "clothing: too few valid answers.",
    ):
        assert expected in one_line(text)


@pytest.mark.parametrize("status", ["nothing_planned", "nothing_joint"])
def test_nothing_to_verify(document: dict[str, Any], status: str) -> None:
    text = screen({**document, "verification": {"axes": [], "status": status}})
    assert "there is nothing to verify" in one_line(text)


def test_a_toy_is_called_a_toy(tmp_path: Path) -> None:
    frame = librarian_table(model="sandbox:debiased")
    text = screen(planned(tmp_path / "run", frame))
    assert "describe a toy" in one_line(text.replace("|", ""))


def test_fits_80_columns(document: dict[str, Any]) -> None:
    assert max(cell_len(line) for line in screen(document).splitlines()) <= 80


@pytest.fixture(scope="module")
def unnamed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    axes = {NAME: (NAME, NAME + "!"), "gender": AXES["gender"]}
    frame = librarian_table(images=16, axes=axes, prompt=NAME, model=NAME)
    document = planned(tmp_path_factory.mktemp("unnamed") / "run", frame, min_valid=1)
    document["verification"] = copy.deepcopy(OUTCOME)
    document["verification"]["prompts"] = [NAME]
    document["verification"]["targets"] = [{**OUTCOME["targets"][0], "axis": NAME}]  # type: ignore[index]
    return document


@pytest.mark.parametrize("text", sampled(text for text in HOSTILE if text not in UNWRITABLE))
def test_hostile_names_show_up_as_text(text: str, unnamed: dict[str, Any]) -> None:
    check_name(screen(named(unnamed, text)), text)
