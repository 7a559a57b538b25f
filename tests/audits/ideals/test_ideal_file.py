"""The ideal file."""

from __future__ import annotations

from pathlib import Path

import pytest

from biasgraph.audits.ideals.ideal_file import read_ideal
from biasgraph.causal.tables import Variable
from biasgraph.errors import InputError

VARIABLES = [Variable("gender", ("male", "female")), Variable("age", ("young", "middle", "old"))]


def read(tmp_path: Path, text: str) -> dict[str, dict[str, float]]:
    path = tmp_path / "ideal.yaml"
    path.write_text(text, encoding="utf-8")
    return read_ideal(path, VARIABLES)


def test_shares_of_some_axes(tmp_path: Path) -> None:
    text = "gender: {male: 0.3, female: 0.7}\nage:\n  young: 1\n"
    assert read(tmp_path, text) == {"gender": {"male": 0.3, "female": 0.7}, "age": {"young": 1}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: must contain lines such as"),
        ("- gender", "line 1: must contain lines such as"),
        ("age: {young: 1}\ngender: 0.5", "line 2: gender must contain shares"),
        ("age: {young: 1}\ngendr: {male: 1}", "line 2: .*unknown axis: gendr.*mean 'gender'"),
        ("gender: {mail: 1}", "line 1: .*gender names an unknown attribute: mail.*mean 'male'"),
        (
            "gender: {male: 0.5, female: 0.6}",
            "line 1: The ideal of gender sums to 1.1 instead of 1",
        ),
        ("gender: {male: 0.50001, female: 0.5}", "gender sums to 1.00001"),
        (
            "gender: {male: 1.5, female: -0.5}",
            "gender has an invalid share: shares are numbers of at least 0",
        ),
        (
            "gender: {male: .nan, female: 1}",
            "gender has an invalid share: shares are numbers of at least 0",
        ),
        (f"gender: {{male: {'9' * 400}}}", "gender has an invalid share"),
        (
            "gender: {male: half, female: 0.5}",
            "gender has an invalid share: shares are numbers of at least 0",
        ),
        ("gender: {male: 1, male: 0}", "'male' is repeated"),
        ("gender: {male: [", "is not readable YAML"),
    ],
)
def test_bad_ideals_name_the_file_and_the_axis(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text)
    assert "ideal.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_problems_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "gender: {male: 2}\nage: {yuong: 1}\n")
    assert [line.split(":")[0].strip() for line in str(caught.value).splitlines()[1:]] == [
        "line 1",
        "line 2",
    ]


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read ideal"):
        read_ideal(tmp_path / "nothing.yaml", VARIABLES)
