"""Gates for CI: what a comparison may not show (`biasgraph compare --fail-if`).

`worse:AXIS>T`: the axis's distance to its ideal grew by more than T.
`new-edges>N`: more than N pairs are edges, were none in the baseline, and changed.
`amplification>T`: the sum of |IS| grew by more than T.

A gate fails for a run when the lower bound of the 95 % interval of the growth exceeds T, so that
noise does not break a build; new edges are counted only where their change survived
Benjamini-Hochberg.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasgraph.audits.gate_condition import read_condition
from biasgraph.errors import InputError, did_you_mean, printable

KINDS = ("worse", "new-edges", "amplification")
FORMS = "worse:AXIS>NUMBER, new-edges>NUMBER or amplification>NUMBER"


@dataclass(frozen=True)
class Gate:
    """One condition, as it was given: `worse` is about an axis, the others about the graph."""

    text: str
    kind: str
    axis: str | None
    threshold: float

    @classmethod
    def parse(cls, text: str) -> Gate:
        """Raises InputError for an unknown kind, or a number that is missing or not finite."""
        condition, threshold = read_condition(text, FORMS)
        shown = printable(text)
        word, colon, axis = (part.strip() for part in condition.partition(":"))
        if word not in KINDS:
            raise InputError(
                f"the gate '{shown}' is of an unknown kind: give "
                f"{FORMS}.{did_you_mean(word, KINDS)}"
            )
        if word == "worse" and not axis:
            raise InputError(f"the gate '{shown}' names no axis: give worse:AXIS>NUMBER")
        if word != "worse" and colon:
            raise InputError(f"the gate '{shown}' takes no axis: give {word}>NUMBER")
        return cls(text.strip(), word, axis or None, threshold)

    def check_axis(self, axes: Sequence[str]) -> None:
        """Raise InputError unless the gate's axis is among those that are compared."""
        if self.axis is not None and self.axis not in axes:
            raise InputError(
                f"the gate '{printable(self.text)}' is about an axis that is not compared (choose "
                f"from {', '.join(map(printable, axes))}).{did_you_mean(self.axis, axes)}"
            )

    def judge(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """What the gate says of a comparison's document: `failed`, and a line for each failure."""
        runs = [self._judge(comparison) for comparison in document["comparisons"]]
        return {
            "gate": self.text,
            "kind": self.kind,
            "axis": self.axis,
            "threshold": self.threshold,
            "failed": any(run["failed"] for run in runs),
            "runs": runs,
        }

    def _judge(self, comparison: Mapping[str, Any]) -> dict[str, Any]:
        growth, bound, reason = self._growth(comparison)
        failed, limit = bound is None or bound > self.threshold, f"{self.threshold:g} allowed"
        if bound is None:
            words = f"cannot be decided: {reason}"
        elif self.kind == "new-edges":
            new = "1 new edge" if bound == 1 else f"{bound:g} new edges"
            words = f"{new}, {'more than' if failed else 'at most'} the {limit}"
        else:
            what = f"{printable(self.axis)}'s distance to its ideal" if self.axis else self.kind
            words = (
                f"{what} grew by {growth:+.3f}, by at least "
                f"{bound:+.3f} (95 %), {'more' if failed else 'not surely more'} than the {limit}"
            )
        return {
            "run": comparison["run"],
            "growth": growth,
            "lower_bound": bound,
            "failed": failed,
            "words": words,
        }

    def _growth(
        self, comparison: Mapping[str, Any]
    ) -> tuple[float | None, float | None, str | None]:
        """The growth, the number that is held against the threshold, and why there is none."""
        if self.kind == "new-edges":
            new = comparison["new_edges"]
            return new["count"], new["count"], new["reason"]
        if self.kind == "amplification":
            growth = comparison["amplification"]
        else:
            growth = next(one for one in comparison["distances"] if one["axis"] == self.axis)
        interval = growth["growth_ci"]
        return growth["growth"], None if interval is None else interval[0], growth["reason"]


def failures(judged: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Of judged gates those that failed, each with why."""
    return [
        (gate["gate"], "; ".join(f"{r['run']}: {r['words']}" for r in gate["runs"] if r["failed"]))
        for gate in judged
        if gate["failed"]
    ]
