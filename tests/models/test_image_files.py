"""Image files as people have them: read as they are meant, or refused with the reason."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from biasgraph.models import image_files as picturefile
from biasgraph.models.image_files import (
    Look,
    lift_pixel_limit,
    natural_order,
    read_picture,
    seed_of,
)

SIZE = (6, 4)


@pytest.fixture(autouse=True)
def within_own_limits(request: pytest.FixtureRequest) -> Iterator[None]:
    with nullcontext() if "own_limits" in request.fixturenames else lift_pixel_limit():
        yield


@pytest.fixture
def own_limits() -> None:
    """For a test that lifts the limit itself."""


def colours() -> Image.Image:
    pixels = np.arange(SIZE[0] * SIZE[1] * 3, dtype=np.uint8).reshape(SIZE[1], SIZE[0], 3) * 3
    return Image.fromarray(pixels)


def read(path: Path, **limits: int) -> tuple[Look, np.ndarray]:
    look, image = read_picture(path, **limits)
    assert image is not None, look.problem
    assert image.mode == "RGB"
    return look, np.asarray(image)


def refused(path: Path, **limits: int) -> str:
    look, image = read_picture(path, **limits)
    assert image is None
    assert look.problem
    return look.problem


def test_a_png_comes_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    colours().save(path)
    look, pixels = read(path)
    assert (pixels == np.asarray(colours())).all()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert look == Look(digest, *SIZE)
    assert look.seed == seed_of(digest) == int(digest[:16], 16) // 2


@pytest.mark.parametrize("suffix", ["bmp", "webp", "tif", "ppm"])
def test_lossless_formats_give_the_same_pixels(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    colours().save(path, **({"lossless": True} if suffix == "webp" else {}))
    assert (read(path)[1] == np.asarray(colours())).all()


def test_the_content_counts_and_not_the_suffix(tmp_path: Path) -> None:
    path = tmp_path / "a.jpeg"
    colours().save(path, "PNG")
    assert (read(path)[1] == np.asarray(colours())).all()


def test_exif_turns_a_picture_upright(tmp_path: Path) -> None:
    path, exif = tmp_path / "a.png", Image.Exif()
    exif[picturefile.ORIENTATION] = 6
    colours().save(path, exif=exif)
    look, pixels = read(path)
    assert (pixels == np.rot90(np.asarray(colours()), -1)).all()
    assert (look.width, look.height) == SIZE[::-1]
    assert look.remarks == (picturefile.TURNED,)


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_sixteen_bits_become_eight(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    grey = np.array([[0, 1, 128, 255]], dtype=np.uint16)
    Image.fromarray(grey * 257).save(path)
    look, pixels = read(path)
    assert abs(pixels[0, :, 0].astype(int) - grey[0]).max() <= 1
    assert look.remarks == (picturefile.SCALED,)


def test_cmyk_becomes_rgb(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    Image.new("CMYK", SIZE, (0, 255, 255, 0)).save(path)
    look, pixels = read(path)
    assert (pixels == (255, 0, 0)).all()
    assert look.remarks == (picturefile.CMYK,)


def test_what_is_transparent_lies_on_white(tmp_path: Path) -> None:
    clear = Image.new("RGBA", SIZE, (9, 9, 9, 0))
    clear.save(tmp_path / "a.png")
    look, pixels = read(tmp_path / "a.png")
    assert (pixels == 255).all()
    assert look.remarks == (picturefile.TRANSPARENT,)
    Image.new("RGBA", SIZE, (9, 9, 9, 255)).save(tmp_path / "b.png")
    look, pixels = read(tmp_path / "b.png")
    assert (pixels == 9).all()
    assert look.remarks == ()


def test_palettes_keep_their_colours(tmp_path: Path) -> None:
    colours().quantize(4).save(tmp_path / "a.gif")
    expected = np.asarray(colours().quantize(4).convert("RGB"))
    assert (read(tmp_path / "a.gif")[1] == expected).all()


@pytest.mark.parametrize("suffix", ["gif", "webp", "png", "tif"])
def test_of_an_animation_the_first_frame_counts(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    options = {"lossless": True} if suffix == "webp" else {}
    red, blue = Image.new("RGB", SIZE, "red"), Image.new("RGB", SIZE, "blue")
    red.save(path, save_all=True, append_images=[blue, red], **options)
    look, pixels = read(path)
    assert (pixels == (255, 0, 0)).all()
    assert look.remarks == (picturefile.ANIMATED,)


@pytest.mark.slow(reason="writes pictures of a gigapixel")
def test_gigapixels_are_refused_before_they_are_decoded(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("1", (40_000, 30_000)).save(path)
    assert refused(path) == "of more than 100,000,000 pixels (--max-pixels)"
    assert read_picture(path)[0].remarks == ("40,000 x 30,000 pixels",)


def test_the_limit_is_the_one_that_is_given(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    colours().save(path)
    assert "23 pixels" in refused(path, max_pixels=23)
    read(path, max_pixels=24)


@pytest.mark.usefixtures("own_limits")
def test_the_limit_may_be_above_pillows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.png"
    Image.new("1", (5000, 5000)).save(path)
    with monkeypatch.context() as patch:
        patch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
        with lift_pixel_limit():
            with lift_pixel_limit():
                read(path)
            read(path)
        assert Image.MAX_IMAGE_PIXELS == 1000


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.png", b"", "empty"),
        ("a.png", b"hello", "no picture"),
        ("a.heic", b"\0\0\0\x18ftypheic", "in a format that is not read (HEIC; convert it to JPEG"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "no picture"),
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no picture"),
        ("a.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "no picture"),
    ],
)
def test_what_is_no_picture_is_refused(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert refused(tmp_path / name).startswith(problem)


@pytest.mark.parametrize("suffix", ["png", "jpg", "gif", "webp", "bmp", "tif"])
def test_what_is_cut_off_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert refused(path).startswith(("cut off", "damaged", "no picture"))


def test_floating_point_pixels_have_no_white(tmp_path: Path) -> None:
    Image.fromarray(np.ones((4, 4), dtype=np.float32)).save(tmp_path / "a.tif")
    assert "white level is unknown" in refused(tmp_path / "a.tif")


def test_what_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.png").startswith("unreadable (No such file")
    assert refused(tmp_path) == "not a plain file"
    os.mkfifo(tmp_path / "pipe.png")
    assert refused(tmp_path / "pipe.png") == "not a plain file"


@given(
    st.binary(max_size=300), st.sampled_from([b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8", b"BM"])
)
def test_no_bytes_bring_it_down(tmp_path_factory: pytest.TempPathFactory, tail, head) -> None:
    path = tmp_path_factory.getbasetemp() / "any.png"
    path.write_bytes(head + tail)
    look, image = read_picture(path, 10_000)
    assert (image is None) == (look.problem is not None)


def test_names_are_ordered_as_a_person_counts() -> None:
    names = ["a10.png", "A2.png", "a1.png", "b.png", "10", "9"]
    assert sorted(names, key=natural_order) == ["9", "10", "a1.png", "A2.png", "a10.png", "b.png"]


class TestLarge:
    """Pictures larger than any model reads are halved as they are decoded."""

    @pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp", "a.tif"])
    def test_they_are_halved_until_they_fit(self, tmp_path: Path, name: str) -> None:
        image = Image.linear_gradient("L").resize((3001, 2000)).convert("RGB")
        image.paste("red", (0, 0, 1500, 1000))
        image.save(tmp_path / name)
        look, pixels = read(tmp_path / name)
        assert (look.width, look.height) == (3001, 2000)
        assert look.remarks == (picturefile.REDUCED,)
        assert pixels.shape == (500, 751, 3)
        assert abs(pixels[50, 50].astype(int) - (255, 0, 0)).max() < 4
        assert abs(pixels[450, 700].astype(int) - 230).max() < 8

    def test_two_megapixels_keep_every_pixel(self, tmp_path: Path) -> None:
        pixels = np.random.default_rng(0).integers(0, 256, (1024, 2048, 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / "a.png")
        look, kept = read(tmp_path / "a.png")
        assert look.remarks == () and (kept == pixels).all()

    @pytest.mark.parametrize("suffix", ["jpg", "tif"])
    def test_one_held_sideways_is_upright(self, tmp_path: Path, suffix: str) -> None:
        exif = Image.Exif()
        exif[picturefile.ORIENTATION] = 6
        image = Image.new("RGB", (3000, 2000))
        image.paste("white", (0, 0, 1500, 2000))
        image.save(tmp_path / f"a.{suffix}", exif=exif)
        look, pixels = read(tmp_path / f"a.{suffix}")
        assert (look.width, look.height) == (2000, 3000)
        assert pixels.shape == (750, 500, 3)
        assert pixels[10, 250].min() > 250 and pixels[-10, 250].max() < 5

    @pytest.mark.parametrize("mode", ["1", "P", "LA", "RGBA", "I;16"])
    def test_every_mode_is_averaged(self, tmp_path: Path, mode: str) -> None:
        stripes = np.zeros((2000, 2000), np.uint8)
        stripes[:, ::2] = 255
        if mode == "I;16":
            image = Image.fromarray(stripes.astype(np.uint16) * 257)
        else:
            image = Image.fromarray(stripes).convert("RGB" if mode == "P" else "L").convert(mode)
        image.save(tmp_path / "a.png")
        _, pixels = read(tmp_path / "a.png")
        assert pixels.shape == (1000, 1000, 3)
        assert abs(pixels.astype(int) - 127).max() <= 1

    @pytest.mark.slow(reason="decodes 17 pictures of 100 megapixels")
    @pytest.mark.skipif(sys.platform != "linux", reason="reads its memory from /proc")
    def test_small_files_of_many_pixels_need_little_memory(self, tmp_path: Path) -> None:
        for number in range(6):
            Image.new("1", (10_000, 10_000), number % 2).save(tmp_path / f"{number}.png")
        program = (
            "import sys; from pathlib import Path\n"
            "from biasgraph.models.folder import FolderGenerator\n"
            "from biasgraph.runs.pictures.inspection import inspect_files\n"
            "folder = Path(sys.argv[1]); names = sorted(path.name for path in folder.iterdir())\n"
            "seen = inspect_files(folder, names, 10**8, {}).seen\n"
            "made = FolderGenerator('folder:x', folder).generate([''] * 6,"
            " [seen[name].look.seed for name in names])\n"
            "assert {picture.image.size for picture in made} == {(625, 625)}\n"
            "status = Path('/proc/self/status').read_text()\n"
            "print(status.partition('VmHWM:')[2].split()[0])"
        )
        peak = subprocess.run(
            [sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True
        )
        assert int(peak.stdout) < 600_000  # KiB; at once and whole they are 2.4 GB
        assert peak.stderr == ""
