"""Captions as people's files hold them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasgraph.audits.openbias.captions import Captions
from biasgraph.errors import InputError


def written(directory: Path, name: str, content: bytes) -> Path:
    path = directory / name
    path.write_bytes(content)
    return path


def test_lines_without_comments_blanks_and_repetitions(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbfA dog  runs\r\n\r\n# no caption\r\nA cat\tsits\rA dog runs\n"
    captions = Captions.read(written(tmp_path, "c.txt", content))
    assert captions.texts == ("A dog runs", "A cat sits")
    assert captions.n_given == 3
    assert captions.places["A cat sits"].endswith("c.txt, line 4")


def test_coco(tmp_path: Path) -> None:
    document = {
        "images": [{"id": 1}],
        "annotations": [
            {"image_id": 1, "id": 7, "caption": "A man rides a wave."},
            {"image_id": 1, "id": 8, "caption": "A bird\n"},
        ],
    }
    captions = Captions.read(written(tmp_path, "c.json", json.dumps(document).encode()))
    assert captions.texts == ("A man rides a wave.", "A bird")
    assert captions.places["A bird"].endswith("c.json, annotation 2")


@pytest.mark.parametrize("content", ['["A dog", "A cat"]', '[{"caption": "A dog"}, "A cat"]'])
def test_a_json_list(tmp_path: Path, content: str) -> None:
    captions = Captions.read(written(tmp_path, "c.JSON", content.encode()))
    assert captions.texts == ("A dog", "A cat")


def test_a_csv_column_with_commas_and_protected_cells(tmp_path: Path) -> None:
    content = 'id;caption\n1;"a chef, cooking"\n2;\'=a sum\n3;\n'
    captions = Captions.read(written(tmp_path, "c.csv", content.encode()))
    assert captions.texts == ("a chef, cooking", "=a sum")
    assert captions.places["=a sum"].endswith("c.csv, row 2")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("c.txt", b"\n# nothing\n", "contains no captions"),
        ("c.txt", b"good\nb\xe4d\n", "c.txt, line 2: not UTF-8 text"),
        ("c.txt", "turned \u202e around".encode(), r"line 1: 'turned \\u202e around' contains"),
        ("c.txt", b"x" * 2_001, "line 1: a caption of 2,001 characters is too long"),
        ("c.json", b'{"annotations": [', "c.json, line 1: not JSON"),
        ("c.json", b"\xff\xfe", "not JSON"),
        ("c.json", b"[" * 100_000, "not JSON"),
        ("c.json", b'{"captions": []}', "neither a list of captions nor COCO's 'annotations'"),
        ("c.json", b'[{"text": "A dog"}]', "entry 1 has no 'caption'"),
        ("c.json", b'[{"caption": 3}]', "entry 1: a caption must be a text, not 3"),
        ("c.csv", b"id,captoin\n1,a dog\n", "no column 'caption': it has id, captoin. Did you"),
    ],
)
def test_what_is_no_file_of_captions_is_refused_in_a_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message) as raised:
        Captions.read(written(tmp_path, name, content))
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the captions in .*gone"):
        Captions.read(tmp_path / "gone.txt")
