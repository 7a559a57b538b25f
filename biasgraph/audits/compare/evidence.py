"""What a saved result was computed from, for those who resample it: codes, ideals and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Floats, Pool, Variable
from biasgraph.causal.transport import Ideal
from biasgraph.causal.unknown_answers import UNKNOWN_CLASS, treat_unknown
from biasgraph.data.answer_codes import codes_of
from biasgraph.data.answers import Answers
from biasgraph.errors import InputError, printable

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.data.result import Result


OWN_METRICS: Mapping[str, Any] = {"ordinal": "ordinal", "index": "ordinal", "cost": "cost"}
"""An axis's own metric by the one that it was analysed with, unless it is nominal."""


@dataclass(frozen=True)
class Evidence:
    """The images of a result as codes, and how they were weighed.

    images: one for each initial prompt, in the order of the answers; all have the same variables.
    ideals: one for each variable.
    """

    images: list[CodedImages]
    ideals: list[Ideal]
    settings: AnalysisSettings

    @property
    def axes(self) -> list[str]:
        """The names of the variables, in their order."""
        return [variable.name for variable in self.images[0].variables]


def evidence_of(result: Result) -> Evidence:
    """Code a result's answers as the analysis did.

    Raises InputError when answers.csv is not the table that graph.json was computed from.
    """
    document = result.document
    settings = AnalysisSettings.of_record(document["graph"]["settings"])
    ideals = [_ideal(node) for node in document["nodes"]]
    evidence = Evidence(code_like(result, result.answers), ideals, settings)
    if _counts(evidence) != [node["initial"]["counts"] for node in document["nodes"]] or (
        sum(len(codes) for one in evidence.images for codes in one.arms.values())
        != document["graph"]["images"]["interventions"]
    ):
        raise InputError(
            f"{printable(_source(result))} does not fit graph.json beside it: build it again"
        )
    return evidence


def code_like(result: Result, answers: pd.DataFrame) -> list[CodedImages]:
    """Answers as codes, one `CodedImages` for each initial prompt, as a result's own were coded.

    Raises:
        InputError: They are no answers about the result's axes.
    """
    document = result.document
    settings = AnalysisSettings.of_record(document["graph"]["settings"])
    with_unknown = settings.unknown == "class"
    variables = tuple(_variable(node, with_unknown) for node in document["nodes"])
    named = {variable.name for variable in variables} if with_unknown else set()
    coded = codes_of(Answers.from_frame(answers, source=_source(result)), variables)
    return [treat_unknown(one, settings, named) for one in coded]


def _source(result: Result) -> str:
    where = "the result" if result.directory is None else str(result.directory)
    return f"answers.csv of {where}"


def _counts(evidence: Evidence) -> list[list[int]]:
    """The answers about every variable in the initial images of all prompts."""
    pool = Pool.of("evidence", evidence.images)
    return [pool.initial(y).sum(axis=0).tolist() for y in range(len(evidence.ideals))]


def _variable(node: Mapping[str, Any], with_unknown: bool) -> Variable:
    attributes = tuple(node["attributes"])
    if with_unknown and attributes[-1] == UNKNOWN_CLASS:  # the analysis put it there
        attributes = attributes[:-1]
    metric = OWN_METRICS.get(node["metric"], "nominal")
    return Variable(node["id"], attributes, metric, _cost(node))


def _ideal(node: Mapping[str, Any]) -> Ideal:
    counts = node.get("reference")
    reference = None if counts is None else np.array(counts, dtype=np.int64)
    return Ideal(node["metric"], np.array(node["ideal"], dtype=float), _cost(node), reference)


def _cost(node: Mapping[str, Any]) -> Floats | None:
    return np.array(node["cost"], dtype=float) if node["metric"] == "cost" else None
