"""How far three raters or more agree: a judge, the people behind labels, and further judges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from biasgraph.audits.agreement.trusted_answers import Said, TrustedAnswers
from biasgraph.causal.agreement import Agreement, cross_table
from biasgraph.causal.alpha import Raters
from biasgraph.causal.settings import generator
from biasgraph.causal.tables import GATED, UNKNOWN, Codes

if TYPE_CHECKING:
    import pandas as pd

SILENT = GATED - 1
"""The code of an image about which a rater said nothing."""
Kind = Literal["people", "judge", "answers"]
MOST = 12  # raters of whom every two are compared

Record = dict[str, Any]


@dataclass(frozen=True)
class Rater:
    """Somebody who answered, and what; kind: "people" of one annotator or of several's majority."""

    name: str
    kind: Kind
    said: Said

    def record(self) -> Record:
        """Who it is."""
        return {"name": self.name, "kind": self.kind}


def raters_of(
    answers: pd.DataFrame, about: Mapping[str, Any], trusted: Sequence[TrustedAnswers]
) -> list[Rater]:
    """Everybody who answered, the judge first; none where that is only the judge and another.

    A judge that is the majority of the very people behind the labels is no rater beside them.

    Args:
        answers: The judge's, the hinge table.
        about: What a graph says of its origin.
        trusted: What the judge is held against; several annotators count each for themselves.
    """
    raters = []
    itself = any(is_itself(answers, about, one) for one in trusted)
    if not itself:
        own = _read_answers(answers)
        judge = about.get("vqa") or "the answers table"
        raters.append(Rater(str(judge), "people" if about.get("people") else "judge", own))
    for one in trusted:
        of_people = one.by_people or one.kind == "labels"
        kind: Kind = "people" if of_people else "judge" if one.kind == "judge" else "answers"
        people = one.people or {one.name: one.said}
        raters += [Rater(name, kind, said) for name, said in people.items()]
    return raters if len(raters) > (1 if itself else 2) else []


def is_itself(answers: pd.DataFrame, about: Mapping[str, Any], trusted: TrustedAnswers) -> bool:
    """Whether a judge is what it is held against: by fingerprint, or its annotators' majority."""
    if trusted.fingerprint == about.get("vqa_fingerprint"):
        return True
    if not (trusted.people and (about.get("people") or about.get("annotators"))):
        return False
    own = _read_answers(answers)
    return all(trusted.said.get(place) == answer for place, answer in own.items())


def _read_answers(answers: pd.DataFrame) -> Said:
    columns = (answers[name].astype(str) for name in ("image", "target", "answer"))
    return {(image, target): answer for image, target, answer in zip(*columns, strict=True)}


def agreement_among(
    raters: Sequence[Rater],
    axis: str,
    attributes: Sequence[str],
    images: Sequence[str],
    coded: Callable[[Sequence[str]], Codes],
    *,
    ordered: bool,
    replicates: int,
    seed: int,
) -> Record:
    """Kappa of every two raters and Krippendorff's alpha of all, and of the people among them.

    Args:
        raters: Three or more; of none there is nothing to say.
        axis: What they were asked about.
        attributes: Its attributes.
        images: Those to count.
        coded: Turns answers into codes.
        ordered: Whether the attributes have an order: then there is an ordinal alpha as well.
        replicates: How often to resample.
        seed: Of the resampling.
    """
    if not raters:
        return {"kappas": [], "alphas": []}
    rng = generator(seed, "raters", axis)
    columns = [_column(rater, axis, images, coded) for rater in raters]
    size = len(attributes)
    kappas = []
    for one, other in combinations(range(len(raters)) if len(raters) <= MOST else (), 2):
        both = (columns[one] != SILENT) & (columns[other] != SILENT)
        table = Agreement(cross_table(columns[one][both], columns[other][both], size))
        kappas.append({"raters": [one, other], **table.kappas(replicates, rng)})
    people = [i for i, rater in enumerate(raters) if rater.kind == "people"]
    groups: dict[str, Collection[int]] = {"people": people} if 1 < len(people) < len(raters) else {}
    groups["all"] = range(len(raters))
    ratings = np.stack(columns, axis=1)
    alphas = [
        {
            "among": among,
            "raters": len(group),
            "unknown": unknown,
            **_raters(ratings[:, [*group]], size, unknown, by_rank).fields(replicates, rng),
        }
        for among, group in groups.items()
        for unknown, by_rank in (
            (False, False),
            (True, False),
            *([(False, True)] if ordered else []),
        )
    ]
    return {"kappas": kappas, "alphas": alphas}


def _column(
    rater: Rater, axis: str, images: Sequence[str], coded: Callable[[Sequence[str]], Codes]
) -> Codes:
    said = [rater.said.get((image, axis)) for image in images]
    codes = np.full(len(said), SILENT, dtype=np.int16)
    there = [place for place, answer in enumerate(said) if answer is not None]
    codes[there] = coded([answer for answer in said if answer is not None])
    return codes


def _raters(ratings: Codes, size: int, unknown: bool, ordered: bool) -> Raters:
    """Codes (images, raters) without unknown and gated answers, or with both as two answers."""
    if not unknown:
        return Raters(np.where(ratings < 0, -1, ratings), size, ordered)
    answers = [ratings == UNKNOWN, ratings == GATED, ratings == SILENT]
    return Raters(np.select(answers, [size, size + 1, -1], ratings), size + 2)
