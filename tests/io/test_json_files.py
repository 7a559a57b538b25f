"""JSON of runs: what is refused, and in which words."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from biasgraph.errors import InputError
from biasgraph.io.json_files import DEEPEST, check, parse_json


class Record(BaseModel, strict=True):
    names: list[str]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[NaN]", "not JSON"),
        (b"[-Infinity]", "not JSON"),
        (b'{"a": [1e999]}', "not finite"),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), "nested too deeply"),
        (b"[" * 100_000, "not JSON"),
        (b"9" * 5_000, "not JSON"),
    ],
)
def test_what_is_no_sound_json_is_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(InputError, match=f"^FILE is damaged: .*{reason}"):
        parse_json(raw, "FILE")


def test_numbers_and_texts_come_back() -> None:
    assert parse_json(b'{"a": [1, 2.5, null, "x\\ud800"]}', "FILE") == {
        "a": [1, 2.5, None, "x\ud800"]
    }


def test_the_field_that_does_not_fit_is_named() -> None:
    check(Record, {"names": ["a"]}, "FILE")
    with pytest.raises(InputError, match=r"^FILE is damaged: names\.1: .*string"):
        check(Record, {"names": ["a", 2]}, "FILE")
