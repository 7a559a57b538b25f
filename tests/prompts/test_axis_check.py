"""Checking axis sets of one's own, and the file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import IO, get_args

import pytest
import yaml

from biasgraph.data.axes import Attribute, Axis, AxisSet, load_axis_set, shipped_axis_sets
from biasgraph.errors import InputError, ModelError
from biasgraph.prompts.axis_check import AxisCheck, SubjectKind, starter, write_starter
from tests.hostile import HOSTILE
from tests.sampled import sampled

SUBJECTS = get_args(SubjectKind)
MOOD = """\
name: bad
subject: animal
gate: Is there an animal?
axes:
  - name: mood
    question: What is the mood (happy, grumpy) of the animal?
    attributes:
      - {name: happy, phrase: that is happy, placement: before}
      - {name: sad, phrase: sad, placement: after}
"""


@pytest.mark.parametrize("name", shipped_axis_sets())
def test_what_ships_leaves_nothing_to_remark(name: str) -> None:
    check = AxisCheck.of(name)
    assert check.remarks == ()
    assert check.axes == load_axis_set(name)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_new_set_passes_its_check(tmp_path: Path, subject: SubjectKind) -> None:
    path = write_starter("my axes", subject, tmp_path / "deep" / "mine.yaml")
    check = AxisCheck.of(str(path))
    assert (check.axes.name, check.axes.subject) == ("my axes", subject)
    assert check.remarks == ()
    assert {axis.metric for axis in check.axes.axes} == {"nominal", "ordinal", "cost"}
    assert any(axis.yes_no for axis in check.axes.axes)
    text = path.read_text(encoding="utf-8")
    assert not [word for word in ("NAME", "SUBJECT", "ARTICLE", "EXAMPLE", "GATE") if word in text]
    assert text.count("#") > 20  # it explains itself


@pytest.mark.parametrize(
    "name", ["a: b", "- x", "SUBJECT", "EXAMPLE", "null", "é", *sampled(HOSTILE)]
)
def test_names_stay_what_they_are(name: str) -> None:
    try:
        text = starter(name, "person")
    except InputError as error:
        assert len(str(error).splitlines()) == 1
        assert str(error).isprintable()
        return
    assert yaml.safe_load(text)["name"] == name.strip()


def test_nothing_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert write_starter("My ../axes", "scene") == Path("My-axes.yaml")
    before = Path("My-axes.yaml").read_bytes()
    with pytest.raises(InputError, match="already exists"):
        write_starter("My axes", "person")
    assert Path("My-axes.yaml").read_bytes() == before
    with pytest.raises(InputError, match=r"must end in \.yaml"):
        write_starter("x", "person", tmp_path / "x.txt")


def test_remarks_have_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(MOOD, encoding="utf-8")
    check = AxisCheck.of(str(path), "a cat")
    assert check.remarks == (
        "line 6: axis 'mood': the question lists 'grumpy', which is not an attribute",
        "line 6: axis 'mood': the question lists choices, but not 'sad'",
        "line 8: axis 'mood': 'a that is happy animal': should 'that is happy' stand after the "
        "noun?",
        "line 9: axis 'mood': 'an animal sad': should 'sad' stand before the noun?",
    )
    assert [one["prompt"] for one in check.record()["counterfactuals"]] == [
        "a that is happy cat",
        "a cat sad",
    ]


def test_a_phrase_that_is_not_found_again(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    text = MOOD.replace("that is happy, placement: before", "happy, placement: before")
    path.write_text(
        text.replace("{name: sad, phrase: sad", "{name: sad, phrase: 'in [deep] sorrow'")
    )
    assert any("line 9" in remark for remark in AxisCheck.of(str(path)).remarks)


def test_whole_prompts_beside_phrases(tmp_path: Path) -> None:
    path = tmp_path / "cats.yaml"
    text = MOOD.replace("grumpy", "sad").replace(
        "that is happy, placement: before", "happy, placement: before"
    )
    text = text.replace("axes:", "prompt: a cat in a room\naxes:", 1)
    path.write_text(
        text.rstrip() + "\n      - {name: cross, phrase: cross, placement: before, "
        "prompt: a hissing cat}\n"
    )
    check = AxisCheck.of(str(path))
    assert check.plan.counterfactuals[-1].text == "a hissing cat"


def test_problems_come_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(MOOD.replace("placement", "placment").replace("animal\n", "beast\n"))
    with pytest.raises(InputError) as caught:
        AxisCheck.of(str(path))
    lines = str(caught.value).splitlines()
    assert [line.strip().partition(":")[0] for line in lines[1:]] == [
        "line 2",
        *["line 8"] * 2,
        *["line 9"] * 2,
    ]


def test_a_prompt_that_does_not_fit() -> None:
    with pytest.raises(InputError, match="axis set 'scene' is about scenes"):
        AxisCheck.of("scene", "a librarian")


def test_the_record_is_whole() -> None:
    record = AxisCheck.of("animal", "a black cat").record()
    assert record["fixed_by_prompt"] == {"color": "black"}
    assert record["captions"]["color"][0] == "a photo of a black animal"
    assert record["axes"]["gate"] == "Is there an animal in the image (yes or no)?"
    assert len(record["counterfactuals"]) == sum(
        len(axis.attributes) for axis in load_axis_set("animal").axes
    )


def test_the_page_about_axes_is_true(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "axes.md").read_text(encoding="utf-8")
    example = page.partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / "cafes.yaml").write_text(example, encoding="utf-8")
    assert AxisCheck.of(str(tmp_path / "cafes.yaml"), "a café in Vienna").remarks == ()
    for name in shipped_axis_sets():
        axes = ", ".join(axis.name for axis in load_axis_set(name).axes)
        assert f"| `{name}` | " in page
        assert f" | {axes} | " in page
    for model in (AxisSet, Axis, Attribute):
        assert all(f"`{key}`" in page for key in model.model_fields)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_leaves_no_half_of_a_starter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, mode: str) -> IO[bytes]:
        path.touch()
        return open("/dev/full", mode)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ModelError, match="No space left"):
        write_starter("mine", "animal", tmp_path / "mine.yaml")
    assert not list(tmp_path.iterdir())
