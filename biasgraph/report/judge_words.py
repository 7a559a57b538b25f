"""What screens say of a judge's agreement with a reference, in the same words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from biasgraph.errors import printable
from biasgraph.models.registry import traits_of
from biasgraph.report.words import count_noun, label, list_first, list_names, name, p_value, with_ci

Record = Mapping[str, Any]

UNCHECKED = (
    "This judge has not been validated: nothing here says how often its answers are right "
    "(`biasgraph label` and `biasgraph agreement` measure it)."
)
BY_PEOPLE = (
    "The answers are {judge}; how far other people would agree is not measured (`biasgraph "
    "agreement` measures it)."
)
DIGITS = 8  # of its fingerprint that stand at the end of the name of a file of labels
FAIR = 0.6
"""Kappa below which a judge is usually held to agree only moderately (Landis and Koch 1977)."""
UNEVEN = 0.05

PERSON, MODEL, NOBODY_KNOWN = "people", "a model", "a judge that is not recorded"
"""Who gives labels to pictures."""

KINDS = {
    "judge": "another judge, {name}",
    "labels": "the labels in {name}",
    "answers": "the answers in {name}",
    "people": "people's answers in {name}",
}


def caveats_of_graph(graph: Record) -> Iterator[str]:
    """What to keep in mind about a graph's judge: whether it was validated, and corrected for."""
    record = graph.get("agreement")
    if record is None:
        yield BY_PEOPLE.format(judge=judge(graph)) if graph.get("people") else UNCHECKED
    else:
        yield summary(record)
        yield from caveats(record)
    correction = graph.get("correction")
    if correction is not None:
        yield (
            f"Numbers corrected for the judge's errors rest on {name(correction['source'], 60)} "
            "and assume that error rates are the same in all images."
        )
        for axis, why in correction["left_out"].items():
            yield f"{name(axis)} is not corrected: {printable(why)}."


def describe_validation(graph: Record) -> str | None:
    """Whether the judge was validated, in a few words; None for people whom nobody compared."""
    record = graph.get("agreement")
    if record is None:
        return None if graph.get("people") else "no"
    return f"against {short(record)}"


def judge(graph: Record, longest: int = 200) -> str:
    """Who gave the answers: a judge's spec, or whose labels they are."""
    if graph["vqa"] is None:
        return "not recorded"
    if not traits_of(graph["vqa"]).people:
        return label(graph["vqa"], longest)
    source = str(graph["vqa"]).partition(":")[2]
    source = source.removesuffix(f"@{(graph.get('vqa_fingerprint') or '')[:DIGITS]}")
    labels, number = "labels of people", graph.get("annotators")
    if graph.get("people") is False:  # older graphs do not say
        labels = "labels of a model"
    if source:
        labels += f": {label(source, longest)}"
    return labels if number is None else f"{labels} ({count_noun(number, 'annotator')})"


def about_labels(graphs: Iterable[Record]) -> str:
    """What a bias and a category are here, and whose labels the categories are."""
    return (
        "A bias is a deviation from a declared ideal, not a verdict. Categories are labels that "
        f"{_labellers(graphs)} gave to pictures; they are not identities of people."
    )


def _labellers(graphs: Iterable[Record]) -> str:
    """Who it was that gave labels to pictures, as a part of a sentence."""
    found = {_labeller(graph) for graph in graphs}
    if found == {MODEL}:
        return "the judge, a model,"
    return " and ".join(who for who in (PERSON, MODEL, NOBODY_KNOWN) if who in found)


def _labeller(graph: Record) -> str:
    if graph.get("people"):
        return PERSON
    return NOBODY_KNOWN if graph.get("vqa") is None else MODEL


def name_judge_of(record: Record) -> str:
    """Whose answers an agreement is about."""
    names = {"vqa": record["judge"], "vqa_fingerprint": record.get("judge_fingerprint")}
    return judge({**record, **names}, 300)


def _subject(record: Record) -> str:
    return "these labels" if record.get("people") else "the judge"


def reference(record: Record) -> str:
    """What the judge was compared with, in words."""
    given = record["reference"]
    kind = "people" if given.get("by_people") else given["kind"]
    return KINDS[kind].format(name=name(given["name"], 60))


def short(record: Record) -> str:
    """The agreement in a few words, for a list of facts."""
    known = [axis["kappa"] for axis in record["axes"] if axis["kappa"] is not None]
    about = f"{reference(record)}, on {record['images']:,} images"
    if not known:
        return f"{about}: kappa is not defined"
    low, high = f"{min(known):.2f}", f"{max(known):.2f}"
    return f"{about}: kappa {low if low == high else f'{low} to {high}'}"


def summary(record: Record) -> str:
    """How far the judge agrees, in a sentence."""
    axes = [axis for axis in record["axes"] if axis["kappa"] is not None]
    images = f"{record['images']:,} of {record['images_in_all']:,} images"
    if not axes:
        return (
            f"{_subject(record).capitalize()} compared with {reference(record)}, on {images}: too "
            "few answers vary to measure how far they agree."
        )
    kappas = _ends(axes, "kappa", "kappa_ci")
    told = f"Cohen's kappa of {_subject(record)} with {reference(record)}, on {images}, is "
    return " ".join([f"{told}{kappas}.", *_alphas(record)])


def _alphas(record: Record) -> Iterator[str]:
    """Krippendorff's nominal alpha of valid answers, lowest and highest; a sentence each group."""
    for among in ("people", "all"):
        kind = among, "nominal", False
        known = [
            {**alpha, "axis": axis["axis"]}
            for axis in record["axes"]
            for alpha in axis.get("alphas", ())
            if (alpha["among"], alpha["metric"], alpha["unknown"]) == kind
            and alpha["value"] is not None
        ]
        if known:
            raters = known[0]["raters"]
            who = f"the {raters} people" if among == "people" else f"all {raters} raters"
            yield f"Krippendorff's alpha among {who} is {_ends(known, 'value', 'ci')}."


def _ends(records: Sequence[Record], field: str, interval: str) -> str:
    """The lowest and the highest of a number, each with its axis."""
    ranked = sorted(records, key=lambda record: record[field])
    ends = ranked[:1] if len(ranked) == 1 else [ranked[0], ranked[-1]]
    told = " to ".join(
        f"{with_ci(one[field], one[interval])} for {name(one['axis'])}" for one in ends
    )
    return f"from {told}" if len(ends) > 1 else told


def caveats(record: Record) -> Iterator[str]:
    """What to keep in mind about the agreement; a sentence each."""
    if record["reference"].get("sample"):  # nothing is estimated
        yield from (f"{printable(note)}." for note in record["notes"])
        return
    axes = record["axes"]
    none = [axis["axis"] for axis in axes if axis["kappa"] is None]
    if none:
        yield (
            f"{list_names(none)}: kappa is not defined, because both sides always gave the same "
            "answer, or none."
        )
    weak = [axis["axis"] for axis in axes if axis["kappa"] is not None and axis["kappa"] < FAIR]
    if weak:
        errors = "differences between people" if record.get("people") else "the judge's errors"
        yield (
            f"{list_names(weak)}: kappa is below {FAIR:g}, so much of what is found there may be "
            f"{errors}."
        )
    few = [axis["axis"] for axis in axes if "few_images" in axis["flags"]]
    if few:
        yield f"{list_names(few)}: fewer than 30 images with two valid answers."
    lost = [axis for axis in axes if axis["coverage"] is not None and axis["coverage"] < 0.9]
    if lost:
        told = [f"{name(axis['axis'])} {1 - axis['coverage']:.0%}" for axis in lost]
        yield (
            f"No valid answer of the judge where the reference has one: {list_first(told, 'axes')}."
        )
    uneven = [axis for axis in axes if (axis["uneven_p"] or 1) < UNEVEN / max(len(axes), 1)]
    if uneven:
        told = [f"{name(axis['axis'])} (p = {p_value(axis['uneven_p'])})" for axis in uneven]
        yield (
            "The judge's error rate differs between initial and counterfactual images, which "
            f"--correct does not undo: {list_first(told, 'axes')}."
        )
    yield from (f"{printable(note)}." for note in record["notes"])
