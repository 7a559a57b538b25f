"""Does setting an axis change what is said about another, in free words?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from biasgraph.data.findings import Table, Text
from biasgraph.methods import open_pairs as openpairs
from biasgraph.methods import tibet
from biasgraph.methods.base import MethodInput
from biasgraph.methods.concepts import SynonymTable
from biasgraph.methods.image_sets import INITIAL, open_sets
from biasgraph.methods.open_pairs import CAPTION, open_tests
from biasgraph.prompts.tibet_questions import CAPTION as DESCRIBE
from biasgraph.prompts.tibet_questions import question_about
from tests.methods.test_tibet import FEMALE, GENDER, MALE, input_of

SIZE = 20
SETS = {
    INITIAL: [FEMALE] * SIZE,
    GENDER: [MALE] * SIZE,
    ("gender", "female"): [FEMALE] * SIZE,
}


class Words:
    """Says of the pictures of men what it is told for men, and so on."""

    embedder = None
    describer = "fake:words"

    def __init__(self, men: dict[str, str], others: dict[str, str]) -> None:
        self.men, self.others = men, others

    def describe(self, ids: Sequence[str], question: str) -> list[str]:
        said = [self.men if "-male-" in image else self.others for image in ids]
        return [one.get(question, "").format(number % 2) for number, one in enumerate(said)]


def found_for(media: Words, **settings: int) -> list[openpairs.OpenTest]:
    given = input_of(SETS, **settings)
    sets = open_sets(given, "a nurse", media, SynonymTable([]))
    return open_tests({"a nurse": sets}, "gender", given.settings)


def test_words_that_an_axis_moves() -> None:
    media = Words(
        {question_about("gender"): "male", DESCRIBE: "hat {0}"},
        {question_about("gender"): "female", DESCRIBE: "hat {0}"},
    )
    gender, *_, captions = found_for(media)
    assert (gender.target, captions.target) == ("gender", CAPTION)
    assert gender.p == pytest.approx(1 / 2_000)
    assert gender.v == pytest.approx(1)
    assert captions.p is not None
    assert captions.p > 0.5


def test_why_there_is_nothing_to_compare() -> None:
    silent = found_for(Words({}, {}), min_valid=16)
    assert silent[0].p is None
    assert silent[0].reason == (
        "fewer than two counterfactuals have 16 images about which anything is said"
    )
    same = Words({DESCRIBE: "hat"}, {DESCRIBE: "hat"})
    assert found_for(same)[-1].reason == "no two words are said about several images"


def test_the_finding_has_them_where_a_judge_describes() -> None:
    media = Words({DESCRIBE: "hat man"}, {DESCRIBE: "hat woman"})
    plain = input_of(SETS)
    given = MethodInput(plain.document, plain.tables, plain.answers, media=media)
    finding = tibet.annotate(given).nodes["gender"]
    axes = [node["id"] for node in plain.document["nodes"]]
    assert len(finding.lists["open_p"]) == len(axes) + 1
    assert finding.lists["open_p"][-1] == pytest.approx(1 / 2_000)
    assert finding.lists["open_p"][0] is None
    table = next(part for part in finding.show if isinstance(part, Table) and "p" in part.columns)
    assert table.rows[-1][0] == CAPTION
    assert "There is no IS here" in table.caption
    assert any(isinstance(part, Text) and "undefined" in part.text for part in finding.show)
    assert "open_p" not in tibet.annotate(plain).nodes["gender"].lists
    assert finding == tibet.annotate(given).nodes["gender"]
