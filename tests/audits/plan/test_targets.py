"""The targets file of a mitigation plan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from biasgraph.audits.plan.targets import every_axis, read_targets
from biasgraph.causal.greedy import Target
from biasgraph.causal.tables import Variable
from biasgraph.causal.transport import resolve_ideals
from biasgraph.errors import InputError

VARIABLES = [
    Variable("gender", ("male", "female")),
    Variable("age", ("young", "middle", "old"), "ordinal"),
    Variable("clothing", ("formal", "informal")),
]
IDEALS = resolve_ideals(VARIABLES, None, {"gender": {"male": 0.4, "female": 0.6}}, None)


def read(tmp_path: Path, text: str, **options: str) -> list[Target]:
    path = tmp_path / "targets.yaml"
    path.write_text(text, encoding="utf-8")
    return read_targets(path, VARIABLES, IDEALS, **options)  # type: ignore[arg-type]


def test_weights_and_ideals_are_optional(tmp_path: Path) -> None:
    text = "age:\n  ideal: {young: 0.5, old: 0.5}\ngender: {weight: 2}\n"
    gender, age = read(tmp_path, text)
    assert (gender.variable, gender.weight, gender.ideal) == (0, 2, IDEALS[0])
    assert (age.variable, age.weight, age.ideal.metric) == (1, 1, "ordinal")
    assert age.ideal.shares == pytest.approx([0.5, 0, 0.5])


def test_an_axis_may_just_be_named(tmp_path: Path) -> None:
    assert [target.variable for target in read(tmp_path, "clothing:\ngender: {}\n")] == [0, 2]
    assert [t.variable for t in read(tmp_path, "clothing: {weight: 0}\ngender: {}\n")] == [0]


def test_without_a_file_every_axis_counts() -> None:
    targets = every_axis(IDEALS)
    assert [(target.variable, target.weight) for target in targets] == [(0, 1), (1, 1), (2, 1)]
    assert np.array_equal(targets[0].ideal.shares, [0.4, 0.6])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: must contain lines such as"),
        ("- gender", "line 1: must contain lines such as"),
        ("age: {}\ngendr: {weight: 2}", "line 2: the run has no axis 'gendr'.*mean 'gender'"),
        ("1: {}", "line 1: the run has no axis '1'"),
        ("gender: 2", "line 1: gender must contain a weight or an ideal"),
        ("gender:\n  wieght: 2", "line 2: gender has 'weight' and 'ideal' only.*mean 'weight'"),
        ("gender:\n  weight: -1", "line 2: the weight of gender must be a number of at least 0"),
        ("gender: {weight: .nan}", "the weight of gender"),
        ("gender: {weight: .inf}", "the weight of gender"),
        (f"gender: {{weight: {'9' * 400}}}", "the weight of gender"),
        ("gender: {weight: yes}", "the weight of gender"),
        ("gender: {weight: heavy}", "the weight of gender"),
        ("gender: {weight: 0}", "line 1: every weight is 0"),
        ("gender:\n  ideal: half", "line 2: the ideal of gender must contain shares"),
        ("gender:\n  ideal: {male: 1, female: 1}", "line 2: The ideal of gender sums to 2"),
        ("gender:\n  ideal: {mail: 1}", "line 2: .*unknown attribute: mail.*mean 'male'"),
        ("gender: {}\ngender: {}", "'gender' is repeated"),
        ("gender: {weight: [", "is not readable YAML"),
    ],
)
def test_bad_targets_name_the_file_and_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text)
    assert "targets.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_problems_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "gender: {weight: -1, ideel: {}}\nhair: {}\n")
    assert len(str(caught.value).splitlines()) == 4


def test_the_metric_must_admit_the_ideal(tmp_path: Path) -> None:
    text = "gender: {ideal: {male: 0.3, female: 0.7}}"
    with pytest.raises(InputError, match="values ignores which attribute"):
        read(tmp_path, text, metric="values")


def test_hostile_names_are_made_visible(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, '"\\u202Egender\\e[2J": {}')
    assert "\u202e" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
