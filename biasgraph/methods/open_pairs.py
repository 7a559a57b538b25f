"""Does setting an axis change what is said in free words about another (BiasConnect supp. A.4)?

An image is said several things of, so images change places between counterfactuals, not words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biasgraph.causal.permutation import Stratum, permutation_test
from biasgraph.causal.settings import generator
from biasgraph.causal.tables import Counts
from biasgraph.data.findings import Finding, Table, Text
from biasgraph.errors import printable
from biasgraph.methods.concepts import Indices
from biasgraph.methods.image_sets import ImageSets

CAPTION = "whole captions"
ABOUT = (
    "Do the counterfactuals of {axis} differ in what is said about their images? p by permuting "
    "images between them (about 1 in 20 is below .05 by chance); V is the strength, 0 to 1. There "
    "is no IS here: free words have no ideal distribution. That of the declared attributes stands "
    "with the edges."
)


@dataclass(frozen=True)
class OpenTest:
    """What setting an axis does to free words about another, or about nothing in particular.

    Attributes:
        target: The axis that the words are about, or `CAPTION`.
        p: Of the permutation test; None where there is nothing to compare.
        v: Cramér's V, 0 to 1; None as `p`.
        reason: Why there is nothing; "" where there is.
    """

    target: str
    p: float | None
    v: float | None
    reason: str = ""


def open_tests(
    images: Mapping[str, ImageSets], axis: str, settings: Mapping[str, Any]
) -> list[OpenTest]:
    """One test for each axis in the order of the graph, the set one among them, and of captions.

    Args:
        images: Prompt -> its images with the words about each.
        axis: The axis that is set.
        settings: Those of the analysis, of which `seed` and `min_valid` count, the latter as the
            fewest images of a counterfactual about which anything is said.
    """
    first = next(iter(images.values()))
    targets = [*first.axes, CAPTION]
    tests = []
    for question, target in enumerate(targets):
        strata = [
            stratum
            for sets in images.values()
            if (stratum := _stratum(sets, axis, question, int(settings["min_valid"]))) is not None
        ]
        rng = generator(int(settings["seed"]), *images, "open", axis, target)
        test = permutation_test(strata, rng)
        if test is None:
            tests.append(OpenTest(target, None, None, _why(strata, settings)))
        else:
            tests.append(OpenTest(target, test.p, test.v))
    return tests


def add_tests(finding: Finding, axis: str, tests: Sequence[OpenTest]) -> Finding:
    """A finding with what its axis's counterfactuals change in free words, before its last part.

    The lists ``open_p`` and ``open_v`` stand in the order of the graph's axes, captions last.
    """
    *parts, last = finding.show
    table = Table(
        ("Free words about", "V", "p"),
        [(test.target, test.v, test.p) for test in tests],
        ABOUT.format(axis=printable(axis)),
    )
    undefined = [
        Text(f"Free words about {printable(test.target)}: undefined, {test.reason}.", "warning")
        for test in tests
        if test.reason
    ]
    lists = {"open_p": [test.p for test in tests], "open_v": [test.v for test in tests]}
    return replace(
        finding, show=[*parts, table, *undefined, last], lists={**finding.lists, **lists}
    )


def _stratum(sets: ImageSets, axis: str, question: int, fewest: int) -> Stratum | None:
    """The images of an axis's counterfactuals in one prompt, those with enough words."""
    words = sets.words(question)
    arms = [key for key in sets.sets if key[0] == axis]
    counts: list[Counts] = []
    places: list[Indices] = []
    for arm in arms:
        own = words[arm]
        if int(own.any(axis=1).sum()) >= fewest:
            places.append(np.full(len(own), len(counts), dtype=np.int64))
            counts.append(own)
    if len(counts) < 2:
        return None
    return Stratum(np.concatenate(counts), np.concatenate(places))


def _why(strata: Sequence[Stratum], settings: Mapping[str, Any]) -> str:
    if not strata:
        return (
            f"fewer than two counterfactuals have {int(settings['min_valid'])} images about which "
            "anything is said"
        )
    return "no two words are said about several images"
