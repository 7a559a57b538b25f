"""Broken inputs of every kind end in a line of words, fast, and nothing is written elsewhere."""

from __future__ import annotations

import os

import pytest

from tests import forked
from tests.fuzzing.cases import carry_out_planned, carry_out_sound

pytestmark = pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="processes are watched in Linux's way"
)


def carried_out(*arguments: object) -> int | None:
    process = forked.started(*arguments)
    process.join()
    code: int | None = process.exitcode
    return code


def test_some_broken_inputs_of_every_kind() -> None:
    assert carried_out(carry_out_planned, 10, 1) == 0


@pytest.mark.slow(reason="minutes; some of the same cases are tried in every suite")
def test_many_broken_inputs_of_every_kind() -> None:
    assert carried_out(carry_out_planned, 5_000, 2) == 0


@pytest.mark.slow(reason="runs every command of the fuzzer once on what is not broken")
def test_unbroken_inputs_are_read() -> None:
    assert carried_out(carry_out_sound) == 0
