"""Gates: what they understand, when they fail, and what they say."""

from __future__ import annotations

from typing import Any

import pytest

from biasgraph.audits.compare.gates import Gate, failures
from biasgraph.audits.gate_condition import refuse_failed
from biasgraph.errors import GateFailed, InputError, printable
from tests.hostile import HOSTILE
from tests.sampled import sampled


def document(
    growth: float | None = 0.2, low: float | None = 0.1, new: int | None = 2, sums: float = 0.3
) -> dict[str, Any]:
    interval = None if low is None else [low, 0.4]
    reason = "too few valid answers in a run" if growth is None else None
    one = {
        "run": "shop:v2 (new)",
        "distances": [
            {"axis": "gender", "growth": growth, "growth_ci": interval, "reason": reason},
            {"axis": "a>b: c", "growth": 0.0, "growth_ci": [-0.1, 0.1], "reason": None},
        ],
        "amplification": {"growth": sums + 0.5, "growth_ci": [sums, sums + 1], "reason": None},
        "new_edges": {"count": new, "reason": None if new is not None else "no pair"},
    }
    calm = {
        "run": "shop:v3 (calm)",
        "distances": [d | {"growth": 0.0, "growth_ci": [-0.1, 0.1]} for d in one["distances"]],
        "amplification": {"growth": 0.0, "growth_ci": [-0.5, 0.5], "reason": None},
        "new_edges": {"count": 0, "reason": None},
    }
    return {"comparisons": [calm, one]}


@pytest.mark.parametrize(
    ("text", "kind", "axis", "threshold"),
    [
        ("worse:gender>0.05", "worse", "gender", 0.05),
        ("  worse : gender  >  .05 ", "worse", "gender", 0.05),
        ("new-edges>0", "new-edges", None, 0),
        ("new-edges > 1e1", "new-edges", None, 10),
        ("amplification>-0.5", "amplification", None, -0.5),
        ("worse:a>b: c>1", "worse", "a>b: c", 1),
    ],
)
def test_gates_are_read(text: str, kind: str, axis: str | None, threshold: float) -> None:
    gate = Gate.parse(text)
    assert (gate.kind, gate.axis, gate.threshold) == (kind, axis, threshold)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no '>'"),
        ("worse:gender", "has no '>'"),
        ("worse:gender<0.1", "has no '>'"),
        ("worse:gender>", "the number is missing"),
        ("worse:gender>x", "'x' is not a finite number"),
        ("worse:gender>nan", "'nan' is not a finite number"),
        ("worse:gender>inf", "'inf' is not a finite number"),
        ("worse:gender>1e999", "not a finite number"),
        ("worse:gender>0,1", "not a finite number"),
        ("worse:gender>1_0", "not a finite number"),
        ("worse:gender>٣", "not a finite number"),
        ("worse>0.1", "names no axis"),
        ("worse:>0.1", "names no axis"),
        ("new-edges:gender>0", "takes no axis"),
        ("amplification:>0", "takes no axis"),
        ("wors:gender>0.1", "Did you mean 'worse'"),
        ("new-edge>0", "Did you mean 'new-edges'"),
        (">1", "unknown kind"),
    ],
)
def test_malformed_gates_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=r".") as error:
        Gate.parse(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2


@pytest.mark.parametrize("payload", sampled(HOSTILE))
def test_hostile_gates_are_one_safe_line(payload: str) -> None:
    with pytest.raises(InputError) as error:
        Gate.parse(payload)
    assert printable(str(error.value)) == str(error.value)


def test_an_unknown_axis_gets_a_hint() -> None:
    with pytest.raises(InputError, match="Did you mean 'gender'"):
        Gate.parse("worse:gendr>0").check_axis(["gender", "age"])
    Gate.parse("new-edges>0").check_axis([])


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("worse:gender>0.09", True),
        ("worse:gender>0.1", False),  # the lower bound has to exceed it
        ("worse:gender>0.15", False),  # the growth does, its lower bound does not
        ("worse:a>b: c>0", False),
        ("new-edges>1", True),
        ("new-edges>2", False),
        ("amplification>0.2", True),
        ("amplification>0.3", False),
    ],
)
def test_the_lower_bound_of_any_run_decides(text: str, failed: bool) -> None:
    judged = Gate.parse(text).judge(document())
    assert judged["failed"] is failed
    assert [run["failed"] for run in judged["runs"]] == [False, failed]
    if not failed:
        refuse_failed(failures([judged]))
        return
    with pytest.raises(GateFailed) as error:
        refuse_failed(failures([judged]))
    assert error.value.exit_code == 3
    assert str(error.value).startswith(f"gate '{text}' failed: shop:v2 (new): ")


@pytest.mark.parametrize("text", ["worse:gender>99", "new-edges>99"])
def test_an_undefined_number_fails_and_says_so(text: str) -> None:
    judged = Gate.parse(text).judge(document(growth=None, low=None, new=None))
    assert judged["runs"][1]["lower_bound"] is None
    with pytest.raises(GateFailed, match="cannot be decided"):
        refuse_failed(failures([judged]))


def test_every_failed_gate_has_a_line() -> None:
    gates = [Gate.parse(t) for t in ("worse:gender>0", "new-edges>0", "amplification>99")]
    with pytest.raises(GateFailed) as error:
        refuse_failed(failures([gate.judge(document()) for gate in gates]))
    assert len(str(error.value).splitlines()) == 2
