"""Which pictures belong to which set, told by how they lie; and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError, printable
from biasgraph.runs.pictures.layouts import Layout, read_folders
from biasgraph.runs.pictures.listing import Listing
from tests.hostile import HOSTILE
from tests.runs.pictures.pictures import folder_of, picture

AXES = load_axis_set("occupation")


def layout_of(root: Path, prompt: str | None = None) -> Layout:
    return read_folders(Listing.of(root), AXES, prompt)


def sets_of(layout: Layout) -> dict[tuple[str, str], list[str]]:
    (sets,) = layout.prompts.values()
    return {(one.axis, one.attribute): list(one.files) for one in sets}


def refusal(root: Path) -> str:
    with pytest.raises(InputError) as caught:
        layout_of(root)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_folders_are_sets(tmp_path: Path) -> None:
    folder_of(tmp_path, {"initial": 2, "age/old": 1, "age/young": 1, "gender/female": 1})
    assert sets_of(layout_of(tmp_path, "a nurse")) == {
        ("", ""): ["initial/0.png", "initial/1.png"],
        ("age", "young"): ["age/young/0.png"],
        ("age", "old"): ["age/old/0.png"],
        ("gender", "female"): ["gender/female/0.png"],
    }


def test_names_may_be_written_as_people_write_them(tmp_path: Path) -> None:
    folder_of(tmp_path, {"Initial": 1, "BodyType/Fat": 1, "ethnicity/South_Asian": 1})
    folder_of(tmp_path, {"ethnicity/middle-eastern": 1})
    assert [*sets_of(layout_of(tmp_path))] == [
        ("", ""),
        ("bodytype", "fat"),
        ("ethnicity", "south asian"),
        ("ethnicity", "middle eastern"),
    ]


def test_pictures_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"initial": 0}) / "initial"
    for name in ("10.png", "2.JPG", "1.png", "image 3.webp"):
        picture(1).save(folder / name)
    files = sets_of(layout_of(tmp_path))["", ""]
    assert files == [f"initial/{name}" for name in ("1.png", "2.JPG", "10.png", "image 3.webp")]


def test_a_folder_of_pictures_is_the_initial_prompt_alone(tmp_path: Path) -> None:
    folder_of(tmp_path, {"": 3})
    (tmp_path / "notes").mkdir()
    assert sets_of(layout_of(tmp_path)) == {("", ""): ["0.png", "1.png", "2.png"]}


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    root = folder_of(tmp_path / "pics", {"initial": 1, "initial/more": 1, "gender/male": 1, "": 1})
    outside = folder_of(tmp_path / "secret", {"": 1})
    (root / "initial/notes.txt").write_text("these are the good ones")
    (root / "initial/.DS_Store").write_text("")
    (root / "initial/Thumbs.db").write_text("")
    (root / "initial/link.png").symlink_to(outside / "0.png")
    (root / "gender/female").symlink_to(outside)
    (root / "initial/circle").symlink_to(root / "initial")
    (root / "initial/inside.png").symlink_to(root / "gender/male/0.png")
    layout = layout_of(root)
    assert sets_of(layout) == {
        ("", ""): ["initial/0.png", "initial/inside.png"],
        ("gender", "male"): ["gender/male/0.png"],
    }
    assert layout.left_out == {
        "no pictures": ["initial/notes.txt"],
        "links out of the folder": ["initial/link.png", "gender/female"],
        "in folders within those of the sets": ["initial/more/0.png"],
        "beside the folders of the sets": ["0.png"],
    }


@pytest.mark.parametrize(
    ("sets", "problem"),
    [
        ({"initial": 1, "gendr/male": 1}, "gendr: axis set 'occupation' has no axis 'gendr'"),
        ({"initial": 1, "gendr/male": 1}, "Did you mean 'gender'?"),
        ({"initial": 1, "gender/mal": 1}, "no attribute 'mal' (it has male, female)."),
        ({"initial": 1, "gender/mal": 1}, "Did you mean 'male'?"),
        ({"initial": 1, "gender": 1}, "0.png outside the folders of its attributes"),
        ({"initial": 1, "age/old": 1, "age/OLD": 1}, "two folders for the attribute 'old'"),
        ({"inital": 1, "gender/male": 1}, "Did you mean 'initial'?"),
        ({"gender/male": 1}, "has no folder 'initial'"),
        (
            {"nurse/initial": 1, "cook/initial": 1},
            "a folder for each of several prompts (cook, nurse)",
        ),
        ({"P_1/initial_prompts": 1}, "a folder for each of several prompts (P_1): name one of"),
        ({}, "contains no pictures: put those of the prompt into initial/"),
    ],
)
def test_what_lies_wrongly_is_refused(tmp_path: Path, sets, problem: str) -> None:
    assert problem in refusal(folder_of(tmp_path, sets))


def test_a_run_is_no_folder_of_pictures(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    folder_of(tmp_path, {"images": 1})
    assert "export" in refusal(tmp_path)


def test_folders_that_are_not_there(tmp_path: Path) -> None:
    folder_of(tmp_path, {"pictures": 1})
    (tmp_path / "file.png").write_text("")
    (tmp_path / "orders.csv").write_text("")
    for name, problem in {
        "pictuers": "Did you mean 'pictures'?",
        "orders.tsv": "folder or table",
        "orders.csvv": "Did you mean 'orders.csv'?",
        "file.png": "is a file",
        "a\0b": "does not exist",
    }.items():
        with pytest.raises(InputError) as caught:
            Listing.of(tmp_path / name)
        assert problem in str(caught.value)


@pytest.mark.parametrize("name", [name for name in HOSTILE if "/" not in name and "\0" not in name])
def test_hostile_names_are_made_visible(tmp_path: Path, name: str) -> None:
    name = os.fsdecode(name.encode("utf-8", "surrogatepass"))[:40].strip() or "x"
    if name in (".", "..") or name.startswith("."):
        name = f"x{name}"
    folder_of(tmp_path, {"initial": 1})
    (tmp_path / "initial" / f"{name}.png").write_bytes((tmp_path / "initial/0.png").read_bytes())
    assert len(sets_of(layout_of(tmp_path))["", ""]) == 2
    folder_of(tmp_path, {f"x{name}y/z": 1})
    message = refusal(tmp_path)
    assert printable(message) == message


def test_names_that_are_no_text(tmp_path: Path) -> None:
    folder_of(tmp_path, {"initial": 1})
    os.rename(tmp_path / "initial/0.png", os.fsencode(tmp_path / "initial") + b"/\xff\xfe.png")
    assert sets_of(layout_of(tmp_path))["", ""] == ["initial/\udcff\udcfe.png"]
