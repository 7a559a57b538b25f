"""The card's sections on a generator and judges that make no mistake: every figure is known."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.card import generated, glyphs, graphs, harvest, judging, sheets
from benchmarks.card.generated import (
    agreement_section,
    kappa,
    obedience_section,
    planted_section,
    realised_section,
    write_realised,
)
from benchmarks.card.graphs import correlation_section, edges_section
from benchmarks.card.harvest import Harvest, plan_of, texts_of
from benchmarks.card.judging import KEPT, choose_threshold
from benchmarks.card.replies import ABOUT_AXES, AXIS_QUESTIONS, GATE, JUDGES, Replies
from benchmarks.card.sheets import contact_sheets, icon_sheet
from benchmarks.card.tables import NOT_YET, measured_parts
from benchmarks.exact import AXIS_SET, METRICS, VARIABLES
from benchmarks.shares import write_json
from biasgraph.causal.tables import GATED, UNKNOWN
from biasgraph.models.base import Answer
from biasgraph.runs.questions import UNKNOWN as UNKNOWN_WORD
from biasgraph.runs.wanted_images import seed_for
from biasgraph.sandbox.drawing import draw_person
from biasgraph.sandbox.realised import measured, realised_truth
from biasgraph.sandbox.world import AXES, CONTEXTS, OCCUPATIONS
from tests.benchmarks.sandbox_fakes import ExactJudge, ExactPainter, ExactReader

FEW = ("librarian", "mechanic")


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ExactPainter]]:
    """Exact models in place of the shipped ones, two occupations, few images."""
    painters = {name: ExactPainter(name) for name in ("stereotyped", "debiased")}
    judges = {name: ExactJudge(spec) for name, spec in JUDGES.items()}
    monkeypatch.setattr(harvest, "load_generator", lambda spec: painters[spec.split(":")[1]])
    by_spec = {judge.spec: judge for judge in judges.values()}
    monkeypatch.setattr(harvest, "load_judge", lambda spec: by_spec[spec])
    monkeypatch.setattr(harvest, "_models", lambda world: (painters[world], judges))
    monkeypatch.setattr(harvest, "measured_pace", lambda world, jobs: 1000.0)
    monkeypatch.setattr(harvest, "BLOCK", 100)
    readers = {
        "occupation": lambda: ExactReader("occupation", OCCUPATIONS),
        "context": lambda: ExactReader("context", tuple(CONTEXTS)),
    }
    monkeypatch.setattr(harvest, "GLYPHS", readers)
    for module in (generated, graphs, sheets):
        monkeypatch.setattr(module, "OCCUPATIONS", FEW)
        monkeypatch.setattr(module, "AUDIT", 20)
    monkeypatch.setattr(generated, "PLANTED", 60)
    monkeypatch.setattr(generated, "PHRASED", 3)
    yield painters
    harvest._read.cache_clear()


def test_an_exact_model_obeys_and_its_judges_agree(
    exact: dict[str, ExactPainter], tmp_path: Path
) -> None:
    harvests = [Harvest(tmp_path, name, 1) for name in exact]
    obeyed = obedience_section(harvests[0], FEW)
    for axis in AXES:
        for judge in JUDGES:
            assert obeyed["axes"][axis][judge]["share"]["value"] == 1
    assert [obeyed[name]["value"] for name in ("occupation", "context", "person")] == [1, 1, 1]
    agreed = agreement_section(harvests)
    assert agreed["images"] == 2 * 2 * 27 * 20
    assert all(one["kappa"]["value"] > 1 - 1e-9 for one in agreed["axes"].values())
    assert all(one["unanswered"]["either"]["value"] == 0 for one in agreed["axes"].values())
    for name, found in (("obedience", obeyed), ("agreement", agreed)):
        write_json(tmp_path / f"{name}.json", found)
    parts = measured_parts(tmp_path)
    assert "1.000 [" in parts["obedience"]
    assert NOT_YET not in (parts["obedience-attributes"], parts["agreement"])
    assert parts["edges"] == NOT_YET


def test_an_exact_model_is_as_far_from_planted_as_noise(
    exact: dict[str, ExactPainter], tmp_path: Path
) -> None:
    harvests = [Harvest(tmp_path, name, 1) for name in exact]
    found = planted_section(harvests, ["mechanic"])
    overall = [one for one in found["means"] if one["axis"] == "all"]
    assert len(overall) == 2 * 2 * 2  # worlds, judges, initial or not
    for one in overall:
        assert one["distance"]["value"] == pytest.approx(one["noise"], rel=0.35)
    assert len(found["rows"]) == 2 * 2 * (2 * 8 + 26 * 7)
    write_json(tmp_path / "planted.json", found)
    assert "plain prompts" in measured_parts(tmp_path)["planted"]


def test_audits_of_an_exact_model_find_what_is_there(
    exact: dict[str, ExactPainter], tmp_path: Path
) -> None:
    first = Harvest(tmp_path, "stereotyped", 1)
    edges = edges_section([first], ["librarian"], 60)
    planted = edges["planted"]["stereotyped clip"]
    assert planted == edges["planted"]["stereotyped judge2"]
    assert planted["alpha 1e-4"]["0.1"]["precision"]["value"] in (None, 1)
    assert 0 <= planted["BH q .05"]["0.3"]["recall"]["value"] <= 1
    realised = realised_section(first, ["librarian"], 60)
    assert realised["rows"][0]["r_with_planted"] > 0.2
    correlation = correlation_section(first, ["librarian"], 100, repeats=3)
    (row,) = [one for one in correlation["rows"] if one["judge"] == "clip"]
    assert row["n"] == 48
    assert row["crossed"] == row["realised"]  # both judges say the same
    for name, found in (("edges", edges), ("realised", realised), ("correlation", correlation)):
        write_json(tmp_path / f"{name}.json", found)
        json.dumps(found, allow_nan=False)
    parts = measured_parts(tmp_path)
    assert NOT_YET not in (parts["edges"], parts["realised"], parts["correlation"])


def test_the_realised_table_is_read_back(exact: dict[str, ExactPainter], tmp_path: Path) -> None:
    first, path = Harvest(tmp_path, "stereotyped", 1), tmp_path / "realised.csv"
    realised_section(first, ["librarian"], 30)
    write_realised(first, ["librarian"], 30, path)
    assert measured("sandbox:stereotyped", path) == ("a librarian",)
    for judge, spec in JUDGES.items():
        truth = realised_truth("a librarian", "sandbox:stereotyped", spec, METRICS, path)
        counted = generated.realised(first, "librarian", judge, 30)
        assert truth.pairs == counted.pairs
        assert truth.initial["age"] == pytest.approx(counted.initial["age"])
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert sum(int(row["count"]) for row in rows) == 27 * 8 * 2 * 30


def test_no_picture_is_made_twice_and_more_are_added(
    exact: dict[str, ExactPainter], tmp_path: Path
) -> None:
    painter, text = exact["stereotyped"], "a librarian"
    Harvest(tmp_path, "stereotyped", 1).make({text: 10})
    before = Harvest(tmp_path, "stereotyped", 1).replies(text, "clip", 10)
    painter.drawn.clear()
    again = Harvest(tmp_path, "stereotyped", 1)
    again.make({text: 10})
    assert painter.drawn == []
    again.make({text: 14, "an old librarian": 3})
    seeds = {seed for said, seed in painter.drawn if said == text}
    assert seeds == {seed_for(0, "sandbox:stereotyped", text, i) for i in range(10, 14)}
    after = again.replies(text, "clip", 14)
    assert np.array_equal(after.choices[:10], before.choices)
    other = Harvest(tmp_path, "stereotyped", 1)
    painter.fingerprint = "other weights"
    assert len(other.missing({text: 14})) == 14


def test_the_prompts_are_those_of_a_build() -> None:
    texts = texts_of("engineer")
    assert texts[None] == "an engineer"
    assert len(texts) == 27
    for prompt in plan_of("engineer").counterfactuals:
        names = [axis.name for axis in AXIS_SET.axes]
        x = names.index(prompt.axis)
        assert texts[x, AXIS_SET.axes[x].names.index(prompt.attribute)] == prompt.text


def test_replies_are_coded_by_the_engine_s_rules() -> None:
    rng = np.random.default_rng(4)
    questions = [GATE, *AXIS_QUESTIONS]
    choices = np.stack([rng.integers(len(q.choices), size=500) for q in questions], axis=1)
    choices[:, 0] = rng.random(500) < 0.2
    confidences = rng.uniform(0.5, 1.0, size=choices.shape).astype(np.float32)
    codes = Replies(choices.astype(np.int16), confidences).codes(0.6)
    for row in range(500):
        sure = confidences[row] >= np.float32(0.6)
        if sure[0] and choices[row, 0] == 1:
            assert (codes[row] == GATED).all()
            continue
        start = 1
        for y, about in enumerate(ABOUT_AXES):
            end = start + len(about.questions)
            replies = [
                Answer(int(choices[row, q]) if sure[q] else None, (0.5, 0.5))
                for q in range(start, end)
            ]
            said = about.verdict(replies).answer
            names = VARIABLES[y].attributes
            assert codes[row, y] == (UNKNOWN if said == UNKNOWN_WORD else names.index(said))
            start = end


def test_the_threshold_keeps_what_the_rule_promises() -> None:
    n = 1000
    choices = np.zeros((n, 1 + len(AXIS_QUESTIONS)), dtype=np.int16)
    confidences = np.full(choices.shape, 0.999, dtype=np.float32)
    confidences[: n // 50, 1] = 0.825  # 2 % of one axis in eight: a quarter of a percent
    confidences[n // 50 : n // 10, 1] = 0.905  # with these, over one percent
    replies = Replies(choices, confidences)
    truth = replies.codes(0.0)
    assert choose_threshold(replies, truth) == 0.9
    kept = (replies.codes(0.9) == truth).mean()
    assert KEPT <= kept < 1
    wrong = truth.copy()
    wrong[:, :] = UNKNOWN
    assert choose_threshold(replies, wrong) == judging._steps()[-1]  # nothing right, nothing lost


def test_glyphs_are_read_off_drawings() -> None:
    rng = np.random.default_rng(0)
    phrases = [*CONTEXTS, ""]
    pictures = [
        draw_person(
            {axis: str(rng.choice(values)) for axis, values in AXES.items()},
            OCCUPATIONS[i % 26],
            [phrases[i % 17]] if phrases[i % 17] else [],
            rng,
        )
        for i in range(26 * 4)
    ]
    assert glyphs.badges().read(pictures).tolist() == [i % 26 for i in range(26 * 4)]
    assert glyphs.props().read(pictures).tolist() == [i % 17 for i in range(26 * 4)]


def test_kappa_by_hand() -> None:
    assert kappa(np.array([[20, 5], [10, 15]]))["value"] == pytest.approx(0.4)
    assert kappa(np.zeros((2, 2), dtype=int))["value"] is None


def test_sheets_are_drawn(exact: dict[str, ExactPainter], tmp_path: Path) -> None:
    assert icon_sheet().size[0] == 1050
    contact_sheets(Harvest(tmp_path, "stereotyped", 1), tmp_path / "contact", count=12, page=5)
    assert sorted(path.name for path in (tmp_path / "contact").iterdir()) == [
        "contact-1.png",
        "contact-2.png",
        "contact-3.png",
        "contact.csv",
    ]
    table = tmp_path / "contact" / "contact.csv"
    assert measured_parts(tmp_path)["eye"] == NOT_YET
    with table.open(newline="") as lines:
        rows = list(csv.reader(lines))
    for row, wrong in zip(rows[1:], ["age, emotion", *["-"] * 11], strict=True):
        row[-1] = wrong
    with table.open("w", newline="") as lines:
        csv.writer(lines).writerows(rows)
    assert "| emotion | .917" in measured_parts(tmp_path)["eye"]
