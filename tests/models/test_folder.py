"""Pictures behind the generators' protocol: found by their bytes, wherever they lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from biasgraph.errors import InputError, ModelError
from biasgraph.models.folder import FolderGenerator
from biasgraph.models.image_files import hash_of, seed_of
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import load_generator
from tests.runs.pictures.pictures import folder_of, picture


@pytest.fixture
def generator(tmp_path: Path) -> FolderGenerator:
    folder_of(tmp_path / "pics", {"initial": 3, "gender/male": 2})
    model = load_generator(f"folder:{tmp_path}/pics")
    assert isinstance(model, FolderGenerator)
    return model


def seed(path: Path) -> int:
    return seed_of(hash_of(path))


def test_a_picture_is_found_by_its_seed(generator: FolderGenerator) -> None:
    paths = ["gender/male/1.png", "initial/2.png", "initial/0.png", "initial/2.png"]
    seeds = [seed(generator.root / path) for path in paths]
    made = generator.generate(["whatever"] * 4, seeds)
    colours = [each.image.getpixel((0, 0)) for each in made]
    assert colours == [picture(n).getpixel((0, 0)) for n in (4, 2, 0, 2)]


def test_it_may_be_renamed_and_moved(generator: FolderGenerator) -> None:
    known = seed(generator.root / "initial/1.png")
    (generator.root / "initial/1.png").rename(generator.root / "elsewhere.PNG")
    assert generator.generate([""], [known])[0].image.getpixel((0, 0)) == (1, 0, 77)


def test_one_that_is_gone_or_changed_is_named(generator: FolderGenerator) -> None:
    path = generator.root / "initial/1.png"
    known = seed(path)
    generator.files = {known: path}
    picture(99).save(path)
    with pytest.raises(ModelError, match=r"initial/1\.png has changed"):
        generator.generate([""], [known])
    generator.files = {}
    with pytest.raises(ModelError, match="is missing from"):
        generator.generate([""], [known])


def test_links_are_not_followed(generator: FolderGenerator, tmp_path: Path) -> None:
    picture(50).save(tmp_path / "outside.png")
    (generator.root / "link.png").symlink_to(tmp_path / "outside.png")
    with pytest.raises(ModelError, match="is missing from"):
        generator.generate([""], [seed(tmp_path / "outside.png")])


def test_a_spec_is_the_same_however_it_is_typed() -> None:
    specs = ["folder:a/b", "folder:a/b/", "folder:./a//b", "folder:a/c/../b"]
    assert {load_generator(spec).spec for spec in specs} == {"folder:a/b"}
    assert load_generator("folder:a/m.csv").root == Path("a")
    assert load_generator("folder:a@b").root == Path("a@b")


def test_no_name_and_no_new_prompts() -> None:
    with pytest.raises(InputError, match="names no folder"):
        load_generator("folder:")
    model = load_generator("folder:a", ModelOptions(max_pixels=5))
    assert model.max_pixels == 5
    with pytest.raises(InputError, match="contains existing pictures and cannot make new ones"):
        model.check_prompts(["a nurse"])
