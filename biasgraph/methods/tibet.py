"""TIBET: which counterfactual the images of a prompt resemble, and how unevenly (sec. 3.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from biasgraph.causal.intervals import Interval
from biasgraph.causal.tables import Floats
from biasgraph.data.findings import Bar, Bars, Entry, Finding, Number, Part, Ranking, Table, Text
from biasgraph.errors import printable
from biasgraph.methods.base import Annotation, MethodInput, rank_axes
from biasgraph.methods.concepts import TABLE, top
from biasgraph.methods.image_sets import INITIAL, ImageSets, Intervention, closed_sets, open_sets
from biasgraph.methods.open_pairs import add_tests, open_tests
from biasgraph.methods.resemblance import Draws, Scores
from biasgraph.methods.wordnet import best_synonyms

TITLE = "TIBET"
ABOUT = (
    "How alike the prompt's images and those of a counterfactual are in their concepts (concept "
    "association score, CAS: 1 is alike, 0 has nothing in common; eqs. 1-3), and how much that "
    "differs between the counterfactuals of an axis (bias axis variance, BAV; eqs. 4-5)."
)
CLOSED = (
    "Concepts come from a closed vocabulary: they are the judge's choices for the questions about "
    "axes. There are no captions, and synonyms are not merged."
)
OPEN = (
    "Concepts are the words of captions and of answers to open questions about each axis, by "
    "{judge}. Synonyms are merged by {source}."
)
NO_WORDNET = "WordNet was not found: install biasgraph[nltk] and a WordNet database for more."
TOP = 5
"""How many concepts of a set are shown."""


def annotate(given: MethodInput) -> Annotation:
    """Score every counterfactual and axis, and name the concepts.

    A judge that answers in words of its own gives an open vocabulary, any other a closed one: its
    choices. The graph of several prompts gets the means over prompts.
    """
    images, vocabulary = _describe_images(given)
    axes = {
        str(node["id"]): [str(name) for name in node["attributes"]]
        for node in given.document["nodes"]
    }
    scored = []
    for prompt, sets in images.items():
        draws = Draws(sets, prompt, given.settings)
        scored.append({axis: draws.scores(axis, names) for axis, names in axes.items()})
    shown = list(images.values())
    findings = {
        axis: _about(axis, names, Scores.mean([own[axis] for own in scored]), shown, vocabulary)
        for axis, names in axes.items()
    }
    if given.media is not None and given.media.describer is not None:
        findings = {
            axis: add_tests(finding, axis, open_tests(images, axis, given.settings))
            for axis, finding in findings.items()
        }
    return Annotation(graph=_summary(findings, shown, vocabulary), nodes=findings)


def _describe_images(given: MethodInput) -> tuple[dict[str, ImageSets], Text]:
    """The images of every prompt by their concepts, and where these come from."""
    media = given.media
    if media is None or media.describer is None:
        closed = {prompt: closed_sets(given, prompt) for prompt in given.prompts}
        return closed, Text(CLOSED)
    synonyms = best_synonyms()
    said = {p: open_sets(given, p, media, synonyms) for p in given.prompts}
    words = OPEN.format(judge=printable(media.describer), source=synonyms.source)
    if synonyms.source == TABLE:
        return said, Text(f"{words} {NO_WORDNET}", tone="warning")
    return said, Text(words)


def _score(label: str, value: float, draws: Floats, most: float, null: Floats, share: float) -> Bar:
    """A score with its 95 % interval, cut to [0, most], and the quantile `share` of its null."""
    draws, null = draws[~np.isnan(draws)], null[~np.isnan(null)]
    if np.isnan(value):
        return Bar(label, None)
    low, high = Interval.of(float(value), draws).hull if len(draws) else (None, None)
    return Bar(
        label,
        float(value),
        None if low is None else max(0.0, low),
        None if high is None else min(most, high),
        float(np.quantile(null, share)) if len(null) else None,
    )


def _about(
    axis: str,
    attributes: Sequence[str],
    scores: Scores,
    images: Sequence[ImageSets],
    vocabulary: Text,
) -> Finding:
    n = sum(len(sets.sets[INITIAL].counts) for sets in images if INITIAL in sets.sets)
    cas = [
        _score(name, scores.cas[place], scores.draws[:, place], 1.0, scores.null[:, place], 0.05)
        for place, name in enumerate(attributes)
    ]
    bav = _score("BAV", scores.bav, scores.bav_draws, 0.25, scores.bav_null, 0.95)
    numbers: dict[str, float | int | None] = {
        "bav": bav.value,
        "bav_ci_low": bav.low,
        "bav_ci_high": bav.high,
        "bav_null_q95": bav.reference,
        "mad": _null_if_undefined(scores.mad),
        "n_images": n,
        "n_prompts": len(images),
    }
    lists: dict[str, Sequence[Entry]] = {
        "cas": [bar.value for bar in cas],
        "cas_ci": [
            None if bar.low is None or bar.high is None else (bar.low, bar.high) for bar in cas
        ],
        "cas_null_q05": [bar.reference for bar in cas],
        "cas_normalised": [_null_if_undefined(value) for value in scores.normalised],
    }
    reason = "" if bav.value is not None else _why(cas, scores.reasons)
    parts: list[Part] = [Number(bav.label, bav.value, bav.low, bav.high, n, reason)]
    if bav.reference is not None:
        parts.append(
            Text(
                "Counterfactuals that differ by chance alone have a BAV of at most "
                f"{bav.reference:.4f} in 95 % of cases."
            )
        )
    caption = (
        "CAS of every counterfactual. The mark: two sets drawn from the prompt's own images have "
        "a higher one in 95 % of cases."
    )
    parts.append(Bars(cas, caption))
    parts += [
        Text(f"{printable(name)}: undefined, {problem}.", tone="warning")
        for name, problem in zip(attributes, scores.reasons, strict=True)
        if problem
    ]
    parts += [_concepts(axis, attributes, images), vocabulary]
    return Finding(TITLE, ABOUT, parts, numbers, lists)


def _null_if_undefined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _why(cas: Sequence[Bar], reasons: Sequence[str]) -> str:
    """Why an axis has no BAV."""
    if sum(bar.value is not None for bar in cas) == 1:
        return "only one counterfactual has a CAS"
    return next(filter(None, reasons), "no CAS is defined")


def _concepts(axis: str, attributes: Sequence[str], images: Sequence[ImageSets]) -> Table:
    """The most frequent concepts of the initial images and of every counterfactual's."""
    rows = [
        ("of the prompt" if which == INITIAL else which[1], _words(own), _words(all_of_them))
        for which in (INITIAL, *((axis, name) for name in attributes))
        for own, all_of_them in [(_frequent(images, which, axis), _frequent(images, which, None))]
        if own or all_of_them
    ]
    caption = "The most frequent concepts, with how often each is said per image."
    return Table(("Images", f"Concepts about {printable(axis)}", "All concepts"), rows, caption)


def _frequent(
    images: Sequence[ImageSets], which: Intervention, axis: str | None, most: int = TOP
) -> list[tuple[str, float]]:
    """The top concepts of a set (sec. 3.4.2), of all or of an axis's; means over prompts."""
    sums: dict[str, float] = {}
    held = [sets for sets in images if which in sets.sets]
    for sets in held:
        own = sets.sets[which]
        values = own.frequencies if axis is None else own.about[sets.axes.index(axis)]
        for name, value in zip(sets.concepts, values.tolist(), strict=True):
            sums[name] = sums.get(name, 0.0) + value / len(held)
    return top(list(sums), np.array(list(sums.values())), most)


def _words(concepts: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{printable(name)} {value:.2f}" for name, value in concepts)


def _summary(
    findings: Mapping[str, Finding], images: Sequence[ImageSets], vocabulary: Text
) -> Finding:
    """The axes by their BAV, and what is in the prompt's images."""
    scored = rank_axes(findings, "bav", "bav_null_q95")
    size = max((int(finding.numbers["n_images"] or 0) for finding in findings.values()), default=0)
    caption = (
        f"BAV of every axis, by {size:,} initial images and those of the counterfactuals, with "
        "what chance alone stays below in 95 % of cases."
    )
    parts: list[Part] = [Ranking(scored, caption)]
    if not scored:
        parts = [Number("BAV", None, reason="no axis has one")]
    concepts = _frequent(images, INITIAL, None, 2 * TOP)
    if concepts:
        caption = "The most frequent concepts of the prompt's images."
        parts.append(Table(("Concept", "Per image"), concepts, caption))
    return Finding(TITLE, ABOUT, [*parts, vocabulary])
