"""Tables of pictures: every column, several prompts, files that are missing, wrong lines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError
from biasgraph.prompts.counterfactuals import plan_prompts
from biasgraph.runs.pictures.layouts import Layout
from biasgraph.runs.pictures.listing import Listing
from biasgraph.runs.pictures.manifest import read_manifest
from biasgraph.runs.pictures.picture_paths import Places, manifest_of
from tests.runs.pictures.pictures import folder_of, picture

AXES = load_axis_set("occupation").only(["gender", "age"])


def manifest(root: Path, *lines: str) -> Path:
    path = root / "m.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def layout_of(path: Path, prompt: str | None = None) -> Layout:
    return read_manifest(path, Listing.of(path.parent), AXES, prompt)


def read(path: Path, prompt: str | None = None) -> dict:
    return {
        text: {(each.axis, each.attribute): (each.text, each.files) for each in sets}
        for text, sets in layout_of(path, prompt).prompts.items()
    }


@pytest.fixture
def pics(tmp_path: Path) -> Path:
    return folder_of(tmp_path, {"a": 4, "b": 2})


def test_the_columns_that_are_needed_are_enough(pics: Path) -> None:
    path = manifest(
        pics,
        "path;role;axis;attribute",
        "a/0.png;initial;;",
        "a/1.png;counterfactual;Gender;Male",
        "a\\2.png;COUNTERFACTUAL;gender;male",
        ";;;",
        "b/0.png;initial;;",
    )
    expected = {
        ("", ""): (None, ("a/0.png", "b/0.png")),
        ("gender", "male"): (None, ("a/1.png", "a/2.png")),
    }
    assert read(path) == {None: expected}
    assert read(path, "a nurse") == {"a nurse": expected}


def test_prompts_say_what_pictures_were_made_from(pics: Path) -> None:
    path = manifest(
        pics,
        "path,role,axis,attribute,prompt",
        "a/0.png,initial,,,a nurse",
        "a/1.png,counterfactual,gender,male,a manly nurse",
    )
    assert read(path)["a nurse"]["gender", "male"] == ("a manly nurse", ("a/1.png",))
    # As answers tables have it: the initial prompt in every row.
    path.write_text(path.read_text().replace("a manly nurse", "a nurse"))
    assert read(path)["a nurse"]["gender", "male"] == (None, ("a/1.png",))


SEVERAL = (
    "path,role,axis,attribute,prompt",
    "a/0.png,initial,,,a nurse",
    "a/1.png,initial,,,a cook",
    "a/2.png,counterfactual,gender,male,a male nurse",
    "a/3.png,counterfactual,gender,male,a male cook",
)


def test_several_prompts_are_told_apart_by_their_counterfactuals(pics: Path) -> None:
    found = read(manifest(pics, *SEVERAL))
    assert found["a cook"] == {
        ("", ""): ("a cook", ("a/1.png",)),
        ("gender", "male"): ("a male cook", ("a/3.png",)),
    }
    assert [*found] == ["a nurse", "a cook"]


def test_or_by_a_column(pics: Path) -> None:
    lines = [f"{SEVERAL[0]},initial", *(f"{line},{line[-4:].strip()}" for line in SEVERAL[1:])]
    lines[3] = lines[3].replace("a male nurse", "someone")
    found = read(manifest(pics, *lines))
    assert [*found] == ["urse", "cook"]
    assert found["urse"]["gender", "male"] == ("someone", ("a/2.png",))


def test_one_prompt_of_several_can_be_picked(pics: Path) -> None:
    path = manifest(pics, *SEVERAL)
    assert [*read(path, "a [cook]")] == ["a cook"]
    with pytest.raises(InputError, match=r"has no prompt 'a cok' .* Did you mean 'a cook'\?"):
        read(path, "a cok")


def test_files_that_are_not_there_are_named(pics: Path) -> None:
    path = manifest(pics, "path,role", "a/0.png,initial", "a/9.png,initial", "c/d.png,initial")
    assert layout_of(path).missing == ("a/9.png", "c/d.png")
    with pytest.raises(InputError, match=r"none of the pictures .* exists: a/9.png is the first"):
        layout_of(manifest(pics, "path,role", "a/9.png,initial"))


def test_no_file_stands_for_two_names(pics: Path) -> None:
    """Twice the same picture would count as two that agree."""
    path = manifest(
        pics,
        "path,role",
        "a/0.jpg,initial",  # the file of the next line
        "a/0.png,initial",
        "a/1.JPG,initial",
        "a/1.webp,initial",  # that of the line before
    )
    layout = layout_of(path)
    assert next(iter(layout.prompts.values()))[0].files == ("a/0.png", "a/1.png")
    assert layout.missing == ("a/0.jpg", "a/1.webp")


def test_another_suffix_will_do(pics: Path) -> None:
    picture(1).save(pics / "a/Fifth.WebP")
    path = manifest(pics, "path,role", "a/fifth.png,initial", "b/0.jpg,initial")
    assert read(path)[None]["", ""] == (None, ("a/Fifth.WebP", "b/0.png"))


def test_a_folders_manifest_speaks_of_the_whole_folder(pics: Path) -> None:
    path = manifest(pics, "path,role", "a/0.jpg,initial", "b/1.png,initial", "b/7.png,initial")
    assert layout_of(path).left_out == {}
    path = path.rename(pics / "manifest.csv")
    picture(1).save(pics / "stray.gif")
    others = ["stray.gif", "a/1.png", "a/2.png", "a/3.png", "b/0.png"]
    assert layout_of(path).left_out == {"not in the manifest": others}


def test_links_out_of_the_folder_are_left_out(pics: Path) -> None:
    outside = folder_of(pics.parent / f"{pics.name}-outside", {"": 1})
    (pics / "a/link.png").symlink_to(outside / "0.png")
    path = manifest(pics, "path,role", "a/0.png,initial", "a/link.png,initial")
    assert layout_of(path).left_out == {"links out of the folder": ["a/link.png"]}


def test_what_a_service_refused_needs_no_file(pics: Path) -> None:
    path = manifest(
        pics,
        "path,role,axis,attribute,withheld",
        "a/0.png,initial,,,",
        ",counterfactual,gender,male,policy",
        "a/9.png,counterfactual,gender,male,policy",
        "a/1.png,counterfactual,gender,male,",
    )
    layout = layout_of(path)
    initial, male = next(iter(layout.prompts.values()))
    assert (initial.files, initial.withheld) == (("a/0.png",), ())
    assert (male.files, male.withheld) == (("a/1.png",), ("policy", "policy"))
    assert layout.missing == ()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("a/1.png,intial,,", "the role 'intial' is not one of.* Did you mean 'initial'"),
        ("a/1.png,,,", "the role '' is not one of"),
        (",initial,,", "the path is empty"),
        ("/etc/passwd,initial,,", "leads out of the manifest's folder"),
        ("../a.png,initial,,", "leads out of the manifest's folder"),
        ("a\\..\\..\\b.png,initial,,", "leads out of the manifest's folder"),
        ("C:\\a.png,initial,,", "leads out of the manifest's folder"),
        ("https://x/a.png,initial,,", "leads out of the manifest's folder"),
        ("a/1.png,initial,gender,male", "an initial picture has no axis"),
        ("a/1.png,counterfactual,gender,", "needs an axis and an attribute"),
        ("a/1.png,counterfactual,gendr,male", "no axis 'gendr'.* Did you mean 'gender'"),
        ("a/1.png,counterfactual,gender,mal", "no attribute 'mal'.* Did you mean 'male'"),
        ("./a/0.png,counterfactual,gender,male", "a/0.png is already in line 2"),
    ],
)
def test_wrong_lines_are_named(pics: Path, line: str, problem: str) -> None:
    path = manifest(pics, "path,role,axis,attribute", "a/0.png,initial,,", line)
    with pytest.raises(InputError, match=rf"m\.csv, line 3: .*{problem}"):
        layout_of(path)


def test_a_pipe_in_its_place_is_refused(pics: Path) -> None:
    os.mkfifo(pics / "m.csv")
    with pytest.raises(InputError, match=r"cannot read .*m\.csv"):
        layout_of(pics / "m.csv")


def test_a_picture_of_several_prompts_must_say_whose_it_is(pics: Path) -> None:
    path = manifest(pics, *SEVERAL[:3], "b/0.png,counterfactual,gender,male,a male teacher")
    with pytest.raises(InputError, match=r"line 4: cannot tell which of 2 initial prompts"):
        layout_of(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("path,role,axis,attribute\n", "lists no pictures"),
        ("pth,role\na,initial\n", "lacks the column 'path'.* Did you mean 'pth'"),
        ("path,role\n\xff", "not UTF-8"),
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "m.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=problem):
        layout_of(tmp_path / "m.csv")
    with pytest.raises(InputError, match="cannot read"):
        layout_of(tmp_path / "none.csv")


def test_a_written_manifest_is_read_as_it_was_meant(tmp_path: Path) -> None:
    plans = [plan_prompts(text, AXES) for text in ("a nurse", "a cook")]
    (tmp_path / "m.csv").write_bytes(manifest_of(plans, 2, seed=0))
    places = Places(["a nurse", "a cook"])
    for plan in plans:
        for prompt in plan.prompts:
            for number in range(2):
                path = tmp_path / places.next(plan.initial.text, prompt.axis, prompt.attribute)
                path.parent.mkdir(parents=True, exist_ok=True)
                picture(number).save(path)
    found = read(tmp_path / "m.csv")
    for plan in plans:
        texts = {arm: text for arm, (text, files) in found[plan.initial.text].items() if files}
        assert texts == {(one.axis, one.attribute): one.text for one in plan.prompts}


def test_seeds_of_a_written_manifest_fit_into_web_forms() -> None:
    rows = manifest_of([plan_prompts("a nurse", AXES)], 20, seed=3).decode().splitlines()
    seeds = [int(row.rpartition(",")[2]) for row in rows[1:]]
    assert len(set(seeds)) == len(seeds) == 6 * 20
    assert max(seeds) < 2**31
    other = manifest_of([plan_prompts("a nurse", AXES)], 20, seed=4).decode().splitlines()
    assert not {*rows[1:]} & {*other[1:]}


SETS = [("", ""), ("initial", "x"), ("a b", "c"), ("a-b", "C"), ("a b", "C")]


def test_places_never_fall_together() -> None:
    prompts = ["a nurse", "A nurse!", "a/nurse", "initial"]
    places = Places(prompts)
    paths = [
        places.next(prompt, axis, attribute)
        for prompt in prompts
        for axis, attribute in [
            ("", ""),
            ("initial", "x"),
            ("a b", "c"),
            ("a-b", "C"),
            ("a b", "C"),
        ]
        for _ in range(2)
    ]
    assert len({os.path.normcase(path).lower() for path in paths}) == len(paths)
    assert not any(".." in path or path.startswith("/") for path in paths)
