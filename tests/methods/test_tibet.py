"""TIBET's findings on answers and texts small enough to score by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import biasgraph
from biasgraph.data.answers import COLUMNS
from biasgraph.methods import tibet
from biasgraph.methods.base import MethodInput
from biasgraph.methods.concepts import SynonymTable
from biasgraph.methods.image_sets import INITIAL, closed_sets, open_sets, question_about
from biasgraph.methods.resemblance import Draws
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import load_judge
from biasgraph.runs.job import Job
from biasgraph.runs.media import RunMedia
from tests.answer_tables import librarian_table

Answers = dict[tuple[str, str], list[dict[str, str]]]
GENDER, MALE, FEMALE = ("gender", "male"), {"gender": "male"}, {"gender": "female"}


def frame_of(prompts: dict[str, Answers]) -> pd.DataFrame:
    """Of each prompt the answers about every image of every set."""
    rows = []
    for prompt, sets in prompts.items():
        for (axis, attribute), images in sets.items():
            role = "counterfactual" if axis else "initial"
            for number, answers in enumerate(images):
                image = f"{prompt}-{axis}-{attribute}-{number:03d}"
                rows += [
                    ("m", prompt, role, axis, attribute, image, target, answer)
                    for target, answer in answers.items()
                ]
    return pd.DataFrame(rows, columns=COLUMNS)


def input_of(sets: Answers | dict[str, Answers], **settings) -> MethodInput:
    prompts = sets if isinstance(next(iter(sets)), str) else {"a nurse": sets}
    result = biasgraph.analyze(frame_of(prompts), **{"min_valid": 1, "bootstrap": 200, **settings})
    return MethodInput(result.document, result.tables, result.answers)


def two_axes() -> Answers:
    """Frequencies: female .75, male .25, old .5, young .5; the arms are pure in gender."""
    old, young = {"age": "old"}, {"age": "young"}
    return {
        INITIAL: [FEMALE | old, FEMALE | old, FEMALE | young, MALE | young],
        GENDER: [MALE | old, MALE | old, MALE | old, MALE | old],
        ("gender", "female"): [FEMALE | old, FEMALE | old, FEMALE | young, FEMALE | young],
        ("age", "young"): [FEMALE | young, MALE | young],
        ("age", "old"): [FEMALE | old, FEMALE | old, FEMALE | old, MALE | {"age": "unknown"}],
    }


def test_scores_by_hand() -> None:
    found = tibet.annotate(input_of(two_axes())).nodes
    # male: min .25 + .5 of max .75 + 1 + 1 + .5; female: min .75 + .5 + .5, max 1 + .25 + .5 + .5;
    # young: min .5 + .25 + .5, max .75 + .5 + 1 + .5; old: min .75 + .25 + .5, max .75 + .25 + .75
    # + .5
    male, female = 0.75 / 3.25, 1.75 / 2.25
    young, old = 1.25 / 2.75, 1.5 / 2.25
    attributes = {"gender": [male, female], "age": [young, old]}
    for axis, scores in attributes.items():
        numbers = found[axis].numbers
        assert found[axis].lists["cas"] == pytest.approx(scores)
        assert numbers["bav"] == pytest.approx(np.var(scores))
        low, high = numbers["bav_ci_low"], numbers["bav_ci_high"]
        assert 0 <= low <= numbers["bav"] <= high <= 0.25
        for value, (low, high) in zip(scores, found[axis].lists["cas_ci"], strict=True):
            assert 0 <= low <= value <= high <= 1
    # sums are 2 everywhere but for "old" of age, 1.75: shares .375 .125 .25 .25 and 3/7 1/7 3/7
    normalised = found["age"].lists["cas_normalised"]
    shared = 0.375 + 0.125 + 0.25
    assert normalised == pytest.approx([young, shared / (2 - shared)])
    shares = np.array(normalised) / sum(normalised)
    expected = math.sqrt(np.abs(shares - 0.5).mean() / 0.5)
    assert found["age"].numbers["mad"] == pytest.approx(expected)


def test_the_same_images_are_alike_and_others_have_nothing_in_common() -> None:
    sets = {INITIAL: [FEMALE] * 3, GENDER: [MALE] * 5, ("gender", "female"): [FEMALE]}
    [finding] = tibet.annotate(input_of(sets)).nodes.values()
    assert finding.lists["cas"] == [0.0, 1.0]
    assert finding.lists["cas_ci"] == [(0.0, 0.0), (1.0, 1.0)]
    assert finding.lists["cas_null_q05"] == [1.0, 1.0]
    assert finding.numbers["bav"] == 0.25
    assert finding.numbers["mad"] == pytest.approx(1.0)
    assert (finding.numbers["n_images"], finding.numbers["n_prompts"]) == (3, 1)


def test_images_without_an_answer_count_among_the_images() -> None:
    """Frequency is per image: female .5 of the prompt's, .25 of the counterfactual's."""
    gone = {"gender": "unknown"}
    sets = {
        INITIAL: [FEMALE, gone, FEMALE, {"gender": "gated"}],
        GENDER: [MALE] * 4,
        ("gender", "female"): [FEMALE, gone, gone, gone],
    }
    [finding] = tibet.annotate(input_of(sets)).nodes.values()
    assert finding.lists["cas"] == [0.0, 0.5]
    assert finding.lists["cas_normalised"] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("initial", "female", "reason"),
    [
        ([{"gender": "unknown"}] * 4, [FEMALE] * 4, "0 of 4 initial images have concepts"),
        ([FEMALE] * 4, [{"gender": "unknown"}] * 4, "0 of 4 images of it have concepts"),
        ([{"gender": "gated"}], [{"gender": "gated"}], "0 of 1 initial images have concepts"),
        ([FEMALE] * 4, [], "there are no images of it"),
        ([], [FEMALE] * 4, "there are no initial images"),
    ],
)
def test_what_is_undefined_has_a_reason(initial, female, reason) -> None:
    sets = {INITIAL: initial, GENDER: [MALE] * 4, ("gender", "female"): female}
    given = input_of(sets)
    if not female:  # the table alone does not say that there is another attribute
        document = json.loads(json.dumps(given.document))
        document["nodes"][0]["attributes"] = ["male", "female"]
        given = MethodInput(document, given.tables, given.answers)
    [finding] = tibet.annotate(given).nodes.values()
    place = list(given.document["nodes"][0]["attributes"]).index("female")
    assert finding.lists["cas"][place] is None
    assert finding.lists["cas_ci"][place] is None
    assert finding.lists["cas_normalised"][place] is None
    assert (finding.numbers["bav"], finding.numbers["mad"]) == (None, None)
    assert reason in json.dumps(finding.to_json())


def test_too_few_images_for_the_analysis_are_too_few_here() -> None:
    sets = {INITIAL: [FEMALE] * 20, GENDER: [MALE] * 15, ("gender", "female"): [FEMALE] * 16}
    [finding] = tibet.annotate(input_of(sets, min_valid=16)).nodes.values()
    assert finding.lists["cas"] == [None, 1.0]
    assert finding.numbers["bav"] is None
    assert "15 of 15 images of it have concepts, and 16 are needed" in json.dumps(finding.to_json())


def test_an_axis_without_counterfactuals() -> None:
    """The table alone does not say that gender has another attribute: female is unknown."""
    sets = {INITIAL: [FEMALE | {"age": "old"}] * 3, GENDER: [MALE | {"age": "old"}] * 3}
    found = tibet.annotate(input_of(sets)).nodes
    assert found["age"].lists["cas"] == [None]
    assert found["gender"].lists["cas"] == [0.5]
    assert found["gender"].numbers["bav"] is None
    assert "only one counterfactual has a CAS" in json.dumps(found["gender"].to_json())


def test_an_attribute_of_the_same_name_is_another_concept() -> None:
    sets = {
        INITIAL: [{"age": "middle", "class": "upper"}] * 2,
        ("age", "middle"): [{"age": "old", "class": "middle"}] * 2,
        ("age", "old"): [{"age": "old", "class": "upper"}] * 2,
    }
    found = tibet.annotate(input_of(sets)).nodes["age"]
    assert found.lists["cas"] == pytest.approx([0.0, 1 / 3])
    assert "middle (age) 1.00" in json.dumps(found.to_json())


def test_several_prompts_give_means_over_prompts() -> None:
    nurse = {INITIAL: [FEMALE] * 4, GENDER: [MALE] * 4, ("gender", "female"): [FEMALE] * 4}
    cook = {**nurse, INITIAL: [FEMALE, MALE]}
    none = {**nurse, INITIAL: [{"gender": "unknown"}]}
    prompts = {"a nurse": nurse, "a cook": cook, "a ghost": none}
    result = biasgraph.analyze(frame_of(prompts), min_valid=1, bootstrap=200)
    whole = tibet.annotate(MethodInput(result.document, result.tables, result.answers))
    finding = whole.nodes["gender"]
    # alone: the nurse has 0 and 1, the cook .5 / 1.5 twice, the ghost none
    assert finding.lists["cas"] == pytest.approx([(0 + 1 / 3) / 2, (1 + 1 / 3) / 2])
    assert finding.numbers["bav"] == pytest.approx(0.25 / 2)
    assert finding.numbers["mad"] == pytest.approx(0.5)
    assert finding.numbers["n_prompts"] == 3
    assert "1.00, male" not in json.dumps(finding.to_json())
    [cook_alone] = [part for part in result.prompts if part.document["graph"]["prompt"] == "a cook"]
    own = tibet.annotate(MethodInput(cook_alone.document, cook_alone.tables, cook_alone.answers))
    assert own.nodes["gender"].lists["cas"] == pytest.approx([1 / 3, 1 / 3])


def test_findings_name_the_concepts_and_the_closed_vocabulary() -> None:
    annotation = tibet.annotate(input_of(two_axes()))
    for finding in (annotation.graph, *annotation.nodes.values()):
        assert "closed vocabulary" in json.dumps(finding.to_json(), allow_nan=False)
    [table] = [part for part in annotation.nodes["gender"].show if part.kind == "table"]
    assert table.rows[0] == (
        "of the prompt",
        "female 0.75, male 0.25",
        "female 0.75, old 0.50, young 0.50, male 0.25",
    )
    assert table.rows[1] == ("male", "male 1.00", "male 1.00, old 1.00")
    ranked = [bar.label for bar in annotation.graph.show[0].items]
    assert ranked == ["gender", "age"]


def test_it_is_the_same_every_time_and_hangs_on_no_order_of_rows() -> None:
    table = librarian_table(images=20)
    found = []
    for rows in (table, table.sample(frac=1, random_state=1)):
        result = biasgraph.analyze(table, bootstrap=100)
        given = MethodInput(result.document, result.tables, rows)
        annotation = tibet.annotate(given)
        found.append([finding.to_json() for finding in annotation.nodes.values()])
    assert found[0] == found[1]


def test_another_seed_moves_the_intervals_and_not_the_scores() -> None:
    given = input_of(_even(30))
    other_seed = json.loads(json.dumps(given.document))
    other_seed["graph"]["settings"]["seed"] = 1
    again = MethodInput(other_seed, given.tables, given.answers)
    one, other = (tibet.annotate(found).nodes["gender"] for found in (given, again))
    assert one.lists["cas"] == other.lists["cas"]
    assert one.lists["cas_ci"] != other.lists["cas_ci"]


def _even(images: int) -> Answers:
    half = [MALE if number % 3 else FEMALE for number in range(images)]
    return {INITIAL: half, GENDER: half, ("gender", "female"): half[::-1]}


@pytest.mark.slow(reason="hundreds of sets")
def test_counterfactuals_that_change_nothing_are_within_what_chance_gives() -> None:
    """Means over 40 made-up prompts: the level of chance holds in about 95 % of them."""
    rng = np.random.default_rng(5)
    above = below = 0
    for _ in range(40):
        sets = {
            key: [MALE if draw else FEMALE for draw in rng.random(48) < 0.4]
            for key in (INITIAL, GENDER, ("gender", "female"))
        }
        finding = tibet.annotate(input_of(sets, bootstrap=100)).nodes["gender"]
        above += finding.numbers["bav"] > finding.numbers["bav_null_q95"]
        below += finding.lists["cas"][0] < finding.lists["cas_null_q05"][0]
    assert above <= 7
    assert below <= 7


class Words:
    """A describer whose words are given: question -> image -> text."""

    embedder = None
    describer = "fake:words"

    def __init__(self, said: dict[str, dict[str, str]]) -> None:
        self.said = said
        self.asked: list[tuple[str, str]] = []

    def describe(self, ids: Sequence[str], question: str) -> list[str]:
        self.asked += [(image, question) for image in ids]
        return [self.said.get(question, {}).get(image, "") for image in ids]


def test_open_answers_and_captions_are_split_into_words() -> None:
    sets = {
        INITIAL: [FEMALE, FEMALE, {"gender": "gated"}],
        GENDER: [MALE],
        ("gender", "female"): [FEMALE],
    }
    given = input_of(sets)
    about = question_about("gender")
    assert about == "What is the gender (male, female, other) of the person in the image?"
    media = Words(
        {
            about: {"a nurse---000": "Female.", "a nurse-gender-male-000": "It's a guy!"},
            "Describe the image.": {
                "a nurse---000": "A woman, and a man's hat",
                "a nurse---001": "A hat; a hat",
                "a nurse-gender-male-000": "a man, a man",
            },
        }
    )
    synonyms = SynonymTable([["man", "guy"], ["woman", "lady"]])
    found = open_sets(given, "a nurse", media, synonyms)
    assert found.concepts == ("female", "hat", "man", "woman")
    initial = found.sets[INITIAL]
    assert initial.counts.tolist() == [[1, 1, 1, 1], [0, 2, 0, 0], [0, 0, 0, 0]]
    assert initial.about == pytest.approx(np.array([[1 / 3, 0, 0, 0]]))
    assert (initial.telling, len(initial.counts)) == (2, 3)
    male = found.sets[GENDER]
    assert male.counts.tolist() == [[0, 0, 3, 0]]
    assert male.about.tolist() == [[0, 0, 1, 0]]
    assert "a nurse---002" not in {image for image, _ in media.asked}, "nobody in it"
    # min: man 1/3; max: female 1/3, hat 1, man 3, woman 1/3
    scores = Draws(found, "a nurse", given.settings).scores("gender", ["male", "female"])
    assert scores.cas[0] == pytest.approx((1 / 3) / (1 / 3 + 1 + 3 + 1 / 3))
    assert scores.reasons == ("", "0 of 1 images of it have concepts, and 1 are needed")


def test_findings_say_where_words_come_from() -> None:
    captions = {f"a nurse---{number:03d}": "A person" for number in range(3)}
    captions |= {"a nurse-gender-male-000": "A person", "a nurse-gender-female-000": "a cat"}
    media = Words({"Describe the image.": captions})
    given = input_of({INITIAL: [FEMALE] * 3, GENDER: [MALE], ("gender", "female"): [FEMALE]})
    given = MethodInput(given.document, given.tables, given.answers, media=media)
    finding = tibet.annotate(given).nodes["gender"]
    assert finding.lists["cas"] == [1.0, 0.0]
    shown = json.dumps(finding.to_json())
    assert "closed vocabulary" not in shown
    assert "fake:words" in shown
    assert len(media.asked) == 2 * 5, "a caption and an answer for each image"


def test_a_describer_that_says_nothing() -> None:
    given = input_of({INITIAL: [FEMALE] * 3, GENDER: [MALE], ("gender", "female"): [FEMALE]})
    found = open_sets(given, "a nurse", Words({}), SynonymTable([]))
    assert found.concepts == ()
    scores = Draws(found, "a nurse", given.settings).scores("gender", ["male", "female"])
    assert np.isnan(scores.cas).all()


class Captioner:
    """The sandbox's judge, with captions by how light a picture is."""

    def __init__(self) -> None:
        self.judge = load_judge("sandbox", ModelOptions())
        self.described = 0

    def __getattr__(self, name: str):
        return getattr(self.judge, name)

    def describe(self, images, question: str) -> list[str]:
        self.described += len(images)
        light = [np.asarray(image.convert("L")).mean() > 128 for image in images]
        return [f"A {'bright' if one else 'dark'} picture of somebody." for one in light]


@pytest.mark.slow(reason="a build of its own")
def test_a_run_is_described_once(tmp_path) -> None:
    run = biasgraph.build(
        "a librarian", images=4, only=("gender",), annotate="none", bootstrap=100,
        min_valid=1, output=tmp_path / "r",
    )  # fmt: skip
    judge, found = Captioner(), []
    for _ in range(2):
        job = replace(Job.reopen(tmp_path / "r"), judge=judge)
        with job.open() as opened:
            media = RunMedia(opened, job)
            given = MethodInput(run.document, run.tables, run.answers, media=media)
            found.append(tibet.annotate(given))
    assert judge.described == 2 * 12, "a caption and an answer about gender for each image"
    assert found[0] == found[1]
    [table, _] = [part for part in found[0].nodes["gender"].show if part.kind == "table"]
    assert {"somebody", "picture"} <= {*table.rows[0][2].replace(",", "").split()}
    assert all(0 < score <= 1 for score in found[0].nodes["gender"].lists["cas"])


@pytest.mark.parametrize(
    ("axis", "question"),
    [
        ("Age", "What age group (young, middle, old) is the person in the image?"),
        ("race", "What is the ethnicity of the person in the image?"),
        ("fashion", "What is the person wearing?"),
        ("bodytype", "What is bodytype in the image?"),
    ],
)
def test_open_questions(axis: str, question: str) -> None:
    assert question_about(axis) == question


@pytest.mark.parametrize(
    ("axis", "subject", "question"),
    [
        ("age", "animal", "What is the age (young, adult, old) of the animal?"),
        ("Color", "object", "What is the main color (black, white, red, blue, green, brown) of the "
                            "object?"),
        ("culture", "object", "What is the culture depicted in the image?"),
        ("age", "object", "What is age in the image?"),
    ],
)  # fmt: skip
def test_open_questions_about_other_subjects_than_persons(
    axis: str, subject: str, question: str
) -> None:
    assert question_about(axis, subject) == question


def test_choices_of_no_axis_say_nothing() -> None:
    given = input_of({INITIAL: [FEMALE] * 2, GENDER: [MALE]})
    answers = given.answers.assign(answer=given.answers["answer"].astype(str).str.upper())
    sets = closed_sets(MethodInput(given.document, given.tables, answers), "a nurse")
    assert [found.telling for found in sets.sets.values()] == [0, 0]
