"""Errors: exit codes, suggestions, and text made safe for a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgraph.errors import (
    WIDEST,
    BiasgraphError,
    GateFailed,
    InputError,
    MissingExtra,
    ModelError,
    describe_missing,
    did_you_mean,
    printable,
)


def test_exit_codes() -> None:
    assert (BiasgraphError.exit_code, InputError.exit_code, ModelError.exit_code) == (1, 2, 1)
    assert issubclass(MissingExtra, ModelError)


def test_missing_extra_names_the_feature_and_the_command() -> None:
    error = MissingExtra("Parquet files", "parquet")
    assert error.feature == "Parquet files"
    assert error.command == "pip install 'biasgraph[parquet]'"
    assert str(error) == "Parquet files need an optional package: pip install 'biasgraph[parquet]'"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("occupatoin", " Did you mean 'occupation'?"),
        ("OCCUPATION", " Did you mean 'occupation'?"),
        ("animals", " Did you mean 'Animal'?"),
        ("xyz", ""),
        ("", ""),
    ],
)
def test_did_you_mean(word: str, expected: str) -> None:
    assert did_you_mean(word, ["occupation", "Animal"]) == expected


def test_what_is_missing_is_named_beside_what_is_there() -> None:
    told = describe_missing("the run has no axis", "gendr\n", ["gender", "a\x1b"])
    assert told == (
        "the run has no axis 'gendr\\n' (it has gender, a\\x1b). Did you mean 'gender'?"
    )
    many = [f"axis {number}" for number in range(50)]
    assert describe_missing("it has no axis", "z", many).endswith("axis 11, ...).")


def test_did_you_mean_without_choices() -> None:
    assert did_you_mean("gender", []) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a nurse", "a nurse"),
        ("élève 老人 👩", "élève 老人 👩"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\u202eb\u200bc\u2028d", "a\\u202eb\\u200bc\\u2028d"),
        ("\ud800", "\\ud800"),
        ("\x9b", "\\x9b"),
    ],
)
def test_printable(text: str, expected: str) -> None:
    assert printable(text) == expected


@settings(deadline=None)
@given(st.text())
def test_printable_text_holds_nothing_invisible(text: str) -> None:
    shown = printable(text)
    assert not any(unicodedata.category(c)[0] == "C" for c in shown)
    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown


@pytest.mark.parametrize("kind", [InputError, ModelError, GateFailed])
def test_every_line_of_an_error_is_short_whoever_catches_it(kind: type[BiasgraphError]) -> None:
    error = kind(f"first: {'x' * 5_000}\nsecond")
    first, second = str(error).split("\n")
    assert len(f"Error: {first}") == WIDEST and first.startswith("first: xx") and second == "second"
    assert str(kind()) == ""
