"""Word influence on the nodes of a graph, of one prompt and of several, on the sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import biasgraph
from biasgraph.commands import main
from biasgraph.errors import InputError
from biasgraph.models.clip import ClipJudge
from biasgraph.runs.directory import read_run
from tests.shared_runs import copy_of

SMALL: dict[str, Any] = {"only": ("gender", "age"), "controls": 0, "bootstrap": 100}
PROMPT = "a nurse with a toolbox"


GRADIENTS = pytest.mark.slow(reason="a build with gradients; audits/words has them, too")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> biasgraph.Result:
    directory = tmp_path_factory.mktemp("run") / "r"
    by = {"method_options": {"word_by": "removal"}}
    return biasgraph.build(PROMPT, images=20, annotate="gradbias", output=directory, **by, **SMALL)


def node(result: biasgraph.Result, axis: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in result.document["nodes"] if one["id"] == axis)
    return found["findings"]["gradbias"]


@pytest.mark.slow(reason="a build with gradients")
def test_each_axis_has_its_words(built: biasgraph.Result) -> None:
    gender = node(built, "gender")
    assert (gender["n_words"], gender["n_images"]) == (2, 20)
    assert gender["largest_ci_low"] <= gender["largest"] <= gender["largest_ci_high"]
    assert gender["n_stand_out"] == (gender["largest"] > gender["threshold"])
    shaded, ranking = gender["show"][:2]
    assert shaded["kind"] == "marked_text"
    assert [word["text"] for word in shaded["views"][0]["words"]] == PROMPT.split()
    assert [bar["label"] for bar in ranking["items"]] == ["nurse", "toolbox"]
    assert {bar["reference"] for bar in ranking["items"]} == {gender["threshold"]}
    graph = built.document["graph"]["findings"]["gradbias"]
    assert (graph["n_images"], graph["n_axes"]) == (20, 2)
    assert graph["n_axes_with_words"] == sum(
        node(built, axis)["n_stand_out"] > 0 for axis in ("gender", "age")
    )
    assert [part["kind"] for part in graph["show"]] == ["marked_text", "table", "text"]


@GRADIENTS
def test_the_tables_hold_the_run_s_own_images_alone(built: biasgraph.Result) -> None:
    assert built.answers["image"].nunique() == 20 * (1 + 2 + 3)
    with_words = read_run(str(built.directory))
    try:
        assert len(with_words.ledger.images()) == 20 * 6
    finally:
        with_words.close()


@GRADIENTS
def test_where_no_word_stands_out_it_says_so(built: biasgraph.Result) -> None:
    for axis in ("gender", "age"):
        texts = [part["text"] for part in node(built, axis)["show"] if part["kind"] == "text"]
        assert bool(texts) == (node(built, axis)["n_stand_out"] == 0)


@GRADIENTS
def test_a_finished_run_is_annotated_and_nothing_done_twice(
    built: biasgraph.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("asked again")

    copy = copy_of(built.directory, tmp_path / "r")
    again = {**SMALL, "images": 20, "annotate": "none", "output": copy}
    assert "gradbias" not in biasgraph.build(PROMPT, **again).document["graph"]["findings"]
    monkeypatch.setattr(ClipJudge, "embed_images", never)
    assert main(["annotate", str(copy), "gradbias", "--word-by", "removal", "--quiet"]) == 0
    added = biasgraph.load(copy)
    assert node(added, "gender") == node(built, "gender")
    assert added.document["graph"]["methods"] == {"gradbias": {"word_by": "removal"}}
    assert (copy / "report.html").stat().st_size > 1000


def test_what_would_be_made_is_said_beforehand(tmp_path: Path) -> None:
    planned = biasgraph.build(
        PROMPT, images=20, annotate="gradbias", method_options={"word_by": "removal"},
        output=tmp_path / "r", dry_run=True, **SMALL,
    )  # fmt: skip
    assert any("gradbias" in note and "40" in note for note in planned["notes"])
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompt": "a person"}, "has no word whose influence on any axis"),
        ({"prompt": "a nurse", "method_options": {"word_by": "magic"}}, "magic"),
        ({"answers": "answers.csv"}, "gradbias needs images"),
    ],
)
def test_what_has_no_words_is_refused_beforehand(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    more = {} if "answers" in options else {"output": tmp_path / "r", **SMALL, "images": 4}
    with pytest.raises(InputError, match=message):
        biasgraph.build(annotate="gradbias", **options, **more)
    assert not (tmp_path / "r").exists()


def test_a_folder_of_pictures_is_refused(tmp_path: Path) -> None:
    from PIL import Image

    folder = tmp_path / "pictures" / "initial"
    folder.mkdir(parents=True)
    Image.new("RGB", (64, 64)).save(folder / "a.png")
    with pytest.raises(InputError, match="gradbias follows images while they are made"):
        biasgraph.build(
            model=f"folder:{folder.parent}", vqa="sandbox", annotate="gradbias", prompt="a nurse",
            output=tmp_path / "r", **SMALL,
        )  # fmt: skip


@pytest.mark.slow(reason="a build of two prompts")
def test_several_prompts_tell_which_words_matter_over_all(tmp_path: Path) -> None:
    built = biasgraph.build(
        prompts=["a nurse", "a chef", "a person"],
        images=6,
        only=("gender",),
        controls=0,
        bootstrap=100,
        min_valid=2,
        annotate="gradbias",
        output=tmp_path / "r",
    )
    gender = node(built, "gender")
    assert (gender["n_prompts"], gender["n_words"]) == (3, 2)
    assert {bar["label"] for bar in gender["show"][0]["items"]} == {"nurse", "chef"}
    graph = built.document["graph"]["findings"]["gradbias"]
    assert (graph["n_prompts"], graph["n_pairs"]) == (3, 3)
    person = next(one for one in built.prompts if one.document["graph"]["prompt"] == "a person")
    assert node(person, "gender")["n_words"] == 0 and node(person, "gender")["largest"] is None


@pytest.mark.slow(reason="a build of the sandbox; the readings alone stay")
def test_both_ways_stand_side_by_side(built: biasgraph.Result, tmp_path: Path) -> None:
    copy = copy_of(built.directory, tmp_path / "r")
    assert main(["annotate", str(copy), "gradbias", "--word-by", "both", "--quiet"]) == 0
    found = node(biasgraph.load(copy), "gender")
    views = found["show"][0]["views"]
    assert [view["label"] for view in views] == ["gender, by gradient", "gender, by removal"]
    assert (found["gradient_n_images"], found["removal_n_images"]) == (10, 20)
    assert found["removal_largest"] == node(built, "gender")["largest"]
    assert {part["kind"] for part in found["show"]} >= {"marked_text", "ranking"}


def test_a_judge_without_gradients_is_refused_beforehand(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"judge2 gives no gradients.*--word-by removal needs none"
    ):
        biasgraph.build(
            PROMPT, images=4, annotate="gradbias", vqa="sandbox:judge2", output=tmp_path / "r",
            **SMALL,
        )  # fmt: skip
    assert not (tmp_path / "r").exists()
