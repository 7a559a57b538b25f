"""Tables of reference shares, and rank correlations with hand-computed intervals."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from biasgraph.audits.minethegap.reference_table import ReferenceTable, spearman
from biasgraph.errors import InputError


def table(directory: Path, text: str) -> Path:
    path = directory / "t.csv"
    path.write_text(text)
    return path


def test_the_shipped_table_is_that_of_the_paper() -> None:
    truth = ReferenceTable.of("us-occupations")
    assert len(truth.bias) == 40
    assert truth.of_prompt("Photo portrait of an electrician") == pytest.approx(0.983)
    assert truth.of_prompt("a hairstylist") == pytest.approx(0.924)
    assert truth.of_prompt("Photo portrait of [air conditioning installer]") == pytest.approx(0.985)
    assert truth.of_prompt("a librarian") is None


def test_shares_of_any_scale_and_a_prompt_as_a_whole(tmp_path: Path) -> None:
    truth = ReferenceTable.of(
        table(tmp_path, "prompt;male;female;from\nA nurse;1;3;x\n\nchef at home;2;2;y\n")
    )
    assert truth.of_prompt("a nurse") == 0.75
    assert truth.of_prompt("Chef at home") == 0.5


def test_a_bias_column_is_taken_as_it_stands(tmp_path: Path) -> None:
    truth = ReferenceTable.of(table(tmp_path, "subject,bias,year\nnurse,-2.5,2024\n"))
    assert truth.of_prompt("a photo of the nurse") == -2.5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("job,male,female\nnurse,1,2\n", "no column 'prompt'"),
        ("prompt,male\nnurse,1\n", "shares of two attributes"),
        ("prompt,male,female\n", "does not say how biased a prompt is"),
        ("prompt,male,female\nnurse,0,0\n", "row 2: shares cannot be negative, or all 0"),
        ("prompt,bias\nnurse,high\n", "row 2: 'bias' is not a number: 'high'"),
        ("prompt,bias\nnurse,1\nNurse,2\n", "row 3: 'nurse' is listed twice"),
    ],
)
def test_what_is_wrong_with_a_table(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ReferenceTable.of(table(tmp_path, text))


def test_tables_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Did you mean 'us-occupations'"):
        ReferenceTable.of("us-ocupations")
    with pytest.raises(InputError, match="cannot read --truth"):
        ReferenceTable.of(tmp_path / "none.csv")


def test_the_interval_of_a_rank_correlation() -> None:
    # ranks 1 2 3 4 5 and 2 1 4 3 5: the squared differences sum to 4, rho = 1 - 6 * 4 / 120
    found = spearman([1, 2, 3, 4, 5], [20, 10, 40, 30, 50])
    assert found.rho == pytest.approx(0.8)
    half = 1.959964 * math.sqrt((1 + 0.32) / 2)
    assert found.low == pytest.approx(math.tanh(math.atanh(0.8) - half))
    assert found.high == pytest.approx(math.tanh(math.atanh(0.8) + half))


def test_full_agreement_keeps_an_interval() -> None:
    found = spearman([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6])
    assert found.rho == pytest.approx(1)
    assert found.low is not None and 0 < found.low < 1
    assert found.high == pytest.approx(1)


def test_what_has_no_correlation() -> None:
    assert spearman([1], [2]).reason == "there are too few prompts"
    assert spearman([], []).rho is None
    assert spearman([1, 1, 1, 1], [1, 2, 3, 4]).reason == "all scores, or all truths, are equal"
    three = spearman([1, 2, 3], [1, 3, 2])
    assert (three.rho, three.low, three.reason) == (pytest.approx(0.5), None, three.reason)
    assert "needs 4 prompts" in three.reason
