"""The budget as it is typed."""

from __future__ import annotations

import pytest

from biasgraph.errors import InputError
from biasgraph.models.openai.budget import Budget


def test_both_limits_or_one() -> None:
    assert Budget.of("calls=1000,images=200") == Budget(1000, 200)
    assert Budget.of(" images = 2_000 ") == Budget(None, 2000)
    assert Budget.of(None) == Budget()
    assert Budget.of("calls=0") == Budget(0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("call=5", "Did you mean 'calls'?"),
        ("", "limits neither calls nor images"),
        ("calls", "gives no number of calls"),
        ("calls=many", "gives no number of calls"),
        ("calls=-1", "gives no number"),
        ("calls=1.5", "gives no number"),
        ("calls=٣", "gives no number"),
        ("calls=" + "9" * 5000, "gives no number"),
        ("calls=1,calls=2", "limits calls twice"),
        ("calls=1,\x1b[31m=2", "\\x1b"),
    ],
)
def test_what_is_no_budget(text: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        Budget.of(text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
