"""Looking into files: once each, again when they changed, with their faults counted by name."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from PIL import Image

from biasgraph.errors import InputError, ModelError
from biasgraph.models.folder import FolderGenerator
from biasgraph.models.image_files import MAX_PIXELS
from biasgraph.models.kept_pictures import KeptPictures
from biasgraph.runs.pictures import inspection as module
from biasgraph.runs.pictures.inspection import (
    PICTURES,
    Inspection,
    inspect_files,
    read_inspection,
    read_paths,
)
from biasgraph.runs.progress import Interrupted
from tests.runs.pictures.pictures import folder_of, picture

FILES = [f"initial/{number}.png" for number in range(6)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = folder_of(tmp_path / "pics", {"initial": 6})
    (root / FILES[1]).write_bytes(b"")
    (root / FILES[2]).write_bytes((root / FILES[2]).read_bytes()[:45])
    (root / FILES[4]).write_text("hello")
    picture(4).convert("RGBA").resize((3, 3)).save(root / FILES[5])
    return root


def stock_of(root: Path, known=None, **changes) -> Inspection:
    return inspect_files(root, FILES, changes.get("max_pixels", MAX_PIXELS), known or {})


def test_faults_are_counted_and_named(root: Path) -> None:
    (root / FILES[3]).write_bytes(b"")
    found = stock_of(root)
    assert [path for path in FILES if found.is_picture(path)] == [FILES[0], FILES[5]]
    notes = found.notes()
    assert notes[0] == "2 files were left out: empty (initial/1.png, initial/3.png)"
    assert notes[2] == "1 file was left out: no picture (initial/4.png)"
    assert notes[1].startswith("1 file was left out: ")
    assert len(notes) == 3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_in_the_place_of_what_was_seen_tells_nothing(root: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / PICTURES)
    assert read_inspection(tmp_path, root, MAX_PIXELS) == {}


def test_large_pictures_are_decoded_once(root: Path) -> None:
    colours = Image.linear_gradient("L").resize((3000, 2000)).convert("RGB")
    colours.paste("red", (0, 0, 1500, 1000))
    for name in ("0.jpg", "1.png"):
        colours.save(root / name)
    picture(2).save(root / "2.png")
    kept = KeptPictures()
    found = inspect_files(root, ["0.jpg", "1.png", "2.png"], MAX_PIXELS, {}, kept=kept)
    seeds = {path: seen.look.seed for path, seen in found.seen.items()}
    files = {seed: root / path for path, seed in seeds.items()}
    decoded = FolderGenerator("folder:x", root, files=files).generate([""] * 2, [*files][:2])
    for path in root.glob("*.*"):
        path.unlink()
    generator = FolderGenerator("folder:x", root, files=files, kept=kept)
    assert generator.generate([""] * 2, [*files][:2]) == decoded
    with pytest.raises(ModelError, match=r"2\.png has changed"):  # a small one is looked up
        generator.generate([""], [seeds["2.png"]])


def test_what_was_seen_is_not_opened_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stock_of(root)
    (tmp_path / PICTURES).write_bytes(before.to_bytes({}))
    known = read_inspection(tmp_path, root, MAX_PIXELS)
    assert known == before.seen
    opened = []
    read = module.read_picture
    monkeypatch.setattr(
        module, "read_picture", lambda path, *rest: (opened.append(path.name), read(path, *rest))[1]
    )
    assert stock_of(root, known) == before
    assert opened == []
    picture(200).save(root / FILES[0])
    os.utime(root / FILES[0], ns=(5, 5))
    again = stock_of(root, known)
    assert opened == ["0.png"]
    assert again.seen[FILES[0]].look.seed != before.seen[FILES[0]].look.seed


def test_another_limit_or_folder_is_looked_at_anew(root: Path, tmp_path: Path) -> None:
    (tmp_path / PICTURES).write_bytes(stock_of(root).to_bytes({}))
    assert read_inspection(tmp_path, root, 5) == {}
    assert read_inspection(tmp_path, tmp_path, MAX_PIXELS) == {}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"schema": "biasgraph-pictures/1"}', b"7"])
def test_a_damaged_memory_is_forgotten(root: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / PICTURES).write_bytes(content)
    assert read_inspection(tmp_path, root, MAX_PIXELS) == {}


def test_names_that_are_no_text_are_kept(tmp_path: Path) -> None:
    root = folder_of(tmp_path / "pics", {"initial": 1})
    name = "initial/\udcff.png"
    os.rename(root / FILES[0], root / name)
    before = inspect_files(root, [name], MAX_PIXELS, {})
    (tmp_path / PICTURES).write_bytes(before.to_bytes({}))
    assert read_inspection(tmp_path, root, MAX_PIXELS) == before.seen


class Interrupting:
    """Presses Ctrl-C when the first file has been looked into."""

    def start(self, description: str, *, total: int, done: int) -> None: ...
    def advance(self, count: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    def finish(self) -> None: ...
    def note(self, message: str) -> None: ...


def test_ctrl_c_stops_it(root: Path) -> None:
    with pytest.raises(Interrupted, match="rerun the same command to resume"):
        inspect_files(root, FILES, MAX_PIXELS, {}, Interrupting())


@pytest.mark.parametrize(
    "change",
    [
        {"bytes": 1e999},
        {"mtime_ns": "1"},
        {"sha256": "../../elsewhere"},
        {"width": -7},
        {"remarks": [3]},
        {"problem": {}},
    ],
)
def test_what_no_look_can_have_shown_tells_nothing(
    root: Path, tmp_path: Path, change: dict[str, object]
) -> None:
    (tmp_path / PICTURES).write_bytes(stock_of(root).to_bytes({"a": FILES[0]}))
    assert len(read_inspection(tmp_path, root, MAX_PIXELS)) == len(FILES)
    assert read_paths(tmp_path) == {"a": FILES[0]}
    record = json.loads((tmp_path / PICTURES).read_bytes())
    record["files"][FILES[0]] |= change
    (tmp_path / PICTURES).write_text(json.dumps(record))
    assert read_inspection(tmp_path, root, MAX_PIXELS) == {}
    with pytest.raises(InputError, match=r"pictures\.json is damaged"):
        read_paths(tmp_path)
