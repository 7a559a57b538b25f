"""What is asked of the sandbox's pictures, and the judges' raw replies as arrays.

Raw replies keep the likeliest choice and its probability, so the threshold of ``unknown`` may
change without any picture being made or asked about again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.exact import AXIS_SET
from biasgraph.causal.tables import GATED, UNKNOWN, Codes
from biasgraph.runs.questions import YES, questions_about

if TYPE_CHECKING:
    from PIL.Image import Image

    from biasgraph.models.base import VisualQA

JUDGES = {"clip": "sandbox", "judge2": "sandbox:judge2"}
"""Name in ``sandbox.json`` -> spec."""

GATE, ABOUT_AXES = questions_about(AXIS_SET)
AXIS_QUESTIONS = [question for axis in ABOUT_AXES for question in axis.questions]

ASKED = [GATE, *AXIS_QUESTIONS]


@dataclass(frozen=True)
class Replies:
    """One judge's replies about n pictures to the q questions of ``ASKED``.

    choices: (n, q) int16, the likeliest choice whatever its probability.
    confidences: (n, q) float32, that probability.
    """

    choices: np.ndarray
    confidences: np.ndarray

    def __len__(self) -> int:
        return len(self.choices)

    def __getitem__(self, rows: slice | np.ndarray) -> Replies:
        return Replies(self.choices[rows], self.confidences[rows])

    @classmethod
    def together(cls, parts: Sequence[Replies]) -> Replies:
        return cls(
            np.concatenate([part.choices for part in parts]),
            np.concatenate([part.confidences for part in parts]),
        )

    @classmethod
    def ask(cls, judge: VisualQA, pictures: Sequence[Image]) -> Replies:
        """Ask in full batches."""
        rows = []
        for start in range(0, len(pictures), judge.batch_size):
            batch = list(pictures[start : start + judge.batch_size])
            full = [batch[i % len(batch)] for i in range(judge.batch_size)]
            rows += judge.answer(full, ASKED)[: len(batch)]
        shares = [[reply.probabilities for reply in row] for row in rows]
        return cls(
            np.array([[int(np.argmax(p)) for p in row] for row in shares], dtype=np.int16),
            np.array([[max(p) for p in row] for row in shares], dtype=np.float32),
        )

    def codes(self, unknown_below: float) -> Codes:
        """(n, 8) attribute indices as an audit codes them, in the order of the axis set.

        The engine's rules: a no to the gate gates every axis; of several yes/no questions the
        first yes counts, and without one an unsure reply leaves the axis unknown.
        """
        sure = self.confidences >= np.float32(unknown_below)
        columns = []
        start = 1
        for axis, about in zip(AXIS_SET.axes, ABOUT_AXES, strict=True):
            end = start + len(about.questions)
            told, known = self.choices[:, start:end], sure[:, start:end]
            if about.default is None:
                column = np.where(known[:, 0], told[:, 0], UNKNOWN)
            else:
                names = [axis.names.index(attribute) for attribute in about.attributes]
                default = axis.names.index(about.default)
                column = np.where(known.all(axis=1), default, UNKNOWN)
                for place in reversed(range(len(names))):
                    yes = known[:, place] & (told[:, place] == YES)
                    column = np.where(yes, names[place], column)
            columns.append(column)
            start = end
        codes = np.stack(columns, axis=1).astype(np.int16)
        codes[sure[:, 0] & (self.choices[:, 0] != YES)] = GATED
        return codes
