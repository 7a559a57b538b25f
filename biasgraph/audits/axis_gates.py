"""Gates for CI on one result: how far an axis may be from its ideal (`biasgraph build --fail-if`).

`AXIS>T`: the axis is further than T from its ideal; of several prompts, in the sum of them all.
`each:AXIS>T`: it is in the images of any one prompt.

A gate fails when the lower end of the distance's 95 % interval exceeds T, so that noise does not
break a build, and when the distance is undefined.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgraph.audits.gate_condition import read_condition
from biasgraph.errors import InputError, did_you_mean, list_words, printable

if TYPE_CHECKING:
    from biasgraph.data.result import Result

EACH = "each"
FORMS = "AXIS>NUMBER or each:AXIS>NUMBER"
NAMED = 3
"""Prompts of a gate that are named with their numbers."""


@dataclass(frozen=True)
class AxisGate:
    """One condition.

    Attributes:
        text: As it was given.
        axis: What it is about.
        threshold: The largest distance that it allows, in the axis's ground metric.
        each: Whether every prompt is judged by itself.
    """

    text: str
    axis: str
    threshold: float
    each: bool = False

    @classmethod
    def parse(cls, text: str) -> AxisGate:
        """Raises InputError for a gate without an axis, or without a number of at least 0."""
        condition, threshold = read_condition(text, FORMS)
        word, colon, rest = (part.strip() for part in condition.partition(":"))
        each = bool(colon) and word == EACH
        axis = rest if each else condition
        if not axis:
            raise InputError(f"the gate '{printable(text)}' names no axis: give {FORMS}")
        if threshold < 0:
            raise InputError(f"the gate '{printable(text)}': no distance is below 0")
        return cls(text.strip(), axis, threshold, each)

    def check(self, farthest: Mapping[str, float | None]) -> None:
        """Raise InputError for an axis that is not there, or a threshold that nothing exceeds.

        Args:
            farthest: By axis, the largest distance that images can have; None is not known yet.
        """
        shown = printable(self.text)
        if self.axis not in farthest:
            each = [f"{EACH}:{axis}" for axis in farthest]
            hint = did_you_mean(self.axis, [*each, *farthest] if ":" in self.axis else farthest)
            if "," in self.text:
                hint = " Give each gate its own --fail-if"
            raise InputError(
                f"the gate '{shown}' is about an unknown axis (choose from "
                f"{list_words(list(farthest))}).{hint}"
            )
        most = farthest[self.axis]
        if most is not None and self.threshold >= most:
            raise InputError(
                f"the gate '{shown}' can never fail: {printable(self.axis)} is at most {most:g} "
                "from this ideal"
            )

    def judge(self, result: Result) -> JudgedGate:
        """What the gate says of a result that has its axis."""
        parts = (result.prompts if self.each else ()) or (result,)
        graphs = [part.document["graph"] for part in parts]
        nodes = [
            next(node for node in part.document["nodes"] if node["id"] == self.axis)
            for part in parts
        ]
        told = [
            (self._lower_end(node), self._words(node, graph))
            for node, graph in zip(nodes, graphs, strict=True)
        ]
        told.sort(key=lambda one: one[0], reverse=True)
        failed = [words for low, words in told if low > self.threshold]
        return JudgedGate(self.text, bool(failed), failed or [words for _, words in told])

    @staticmethod
    def _lower_end(node: Mapping[str, Any]) -> float:
        """Of the distance's interval; infinite where it is undefined, which no gate allows."""
        return math.inf if node["w1"] is None else float(node["w1_ci"][0])

    def _words(self, node: Mapping[str, Any], graph: Mapping[str, Any]) -> str:
        about = f"“{printable(graph['prompt'])}”: " if self.each and graph["prompt"] else ""
        valid = node["initial"]["n_valid"]
        if node["w1"] is None:
            needed = graph["settings"]["min_valid"]
            return (
                f"{about}cannot be decided: it takes {needed} valid answers, and there are {valid}"
            )
        low, high = node["w1_ci"]
        than = "more" if low > self.threshold else "not surely more"
        return (
            f"{about}{printable(self.axis)} is {node['w1']:.3f} from its ideal "
            f"({printable(graph['ideal']['source'])}), {low:.3f} to {high:.3f} (95 %, "
            f"{valid:,} images), {than} than the {self.threshold:g} allowed"
        )


@dataclass(frozen=True)
class JudgedGate:
    """A gate's verdict.

    Attributes:
        text: The gate as it was given.
        failed: Whether it failed.
        told: Why, for each prompt on which it failed, or else for all, the worst first.
    """

    text: str
    failed: bool
    told: Sequence[str]

    def __str__(self) -> str:
        return f"{printable(self.text)} ({self.words})"

    @property
    def words(self) -> str:
        """Why, in one line."""
        more = len(self.told) - NAMED
        return "; ".join(self.told[:NAMED]) + (f"; and {more} more prompts" if more > 0 else "")


def read_gates(texts: Iterable[str]) -> list[AxisGate]:
    """Raises InputError as `AxisGate.parse`."""
    return [AxisGate.parse(text) for text in ([texts] if isinstance(texts, str) else texts)]


def check_gates(texts: Iterable[str], farthest: Mapping[str, float | None]) -> None:
    """Raises InputError as `AxisGate.check`."""
    for gate in read_gates(texts):
        gate.check(farthest)


def farthest_of(result: Result) -> dict[str, float | None]:
    """By axis of a result, the largest distance that images can have."""
    import numpy as np

    from biasgraph.causal.transport import Ideal

    return {
        node["id"]: Ideal(node["metric"], np.array(node["ideal"]), node.get("cost")).farthest
        for node in result.document["nodes"]
    }


def judge_gates(texts: Iterable[str], result: Result) -> list[JudgedGate]:
    """The verdicts of gates about a result that has their axes."""
    return [gate.judge(result) for gate in read_gates(texts)]


def failures(judged: Iterable[JudgedGate]) -> list[tuple[str, str]]:
    """Those that failed, each with why."""
    return [(gate.text, gate.words) for gate in judged if gate.failed]
