"""What every gate of `--fail-if` has in common: CONDITION>NUMBER, and an end in exit code 3."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from biasgraph.errors import GateFailed, InputError, printable

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def read_condition(text: str, forms: str) -> tuple[str, float]:
    """What stands before the last '>' of a gate, and the number behind it.

    Args:
        text: The gate as it was given.
        forms: What gates there are, for the error.

    Raises:
        InputError: There is no '>', or no finite number behind it.
    """
    condition, above, number = (part.strip() for part in text.rpartition(">"))
    shown = printable(text)
    if not above:
        raise InputError(f"the gate '{shown}' has no '>': give {forms}")
    if not _NUMBER.fullmatch(number) or not math.isfinite(float(number)):
        given = f"'{printable(number)}' is not a finite number"
        what = given if number else "the number is missing"
        raise InputError(f"the gate '{shown}': {what} behind '>'")
    return condition, float(number)


def refuse_failed(failures: Iterable[tuple[str, str]]) -> None:
    """Raise GateFailed with a line for each gate that failed, if any did.

    Args:
        failures: Each gate as it was given, and why it failed.
    """
    lines = [f"gate '{printable(gate)}' failed: {why}" for gate, why in failures]
    if lines:
        raise GateFailed("\n".join(lines))
