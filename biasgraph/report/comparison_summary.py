"""A comparison told in parts: runs, distances, rankings, changed pairs, gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from biasgraph.data.findings import Banner, Cell, Heading, ScreenPart, Sentences, Table
from biasgraph.report import words

Record = Mapping[str, Any]

TOGETHER = 3  # changed pairs with one target, from which on a sentence says what they share
CHANGE = (
    "Before: in the baseline; now: in the run. Change: IS now less IS before, with its 95 % "
    "interval. p is adjusted over all pairs of the comparison."
)
FIRST = (
    "Least, Most: in what share of resamples it is the run's least influenced or most influential "
    "axis."
)


def summarize_comparison(document: Record) -> Iterator[ScreenPart]:
    """What compare.json says, in parts; its tables name a run by its number."""
    numbers = {run["name"]: number for number, run in enumerate(document["runs"], start=1)}
    yield Banner(document["toy"])
    yield _runs(document)
    for comparison in document["comparisons"]:
        yield Heading(f"What changed from 1 to {numbers[comparison['run']]}")
        yield Sentences("", list(describe_distributions(comparison, document)))
        if not comparison.get("same_answers"):
            yield changed_pairs(comparison)
            yield Sentences("", list(describe_changes(comparison)))
    if all(comparison.get("same_answers") for comparison in document["comparisons"]):
        yield Sentences("Gates", list(describe_gates(document)))
        return
    yield Heading("Distance to the ideal")
    yield _distances(document, numbers)
    if any(row[end]["value"] is not None for row in document["strengths"] for end in ("in", "out")):
        yield Heading("Influence: the sum of |IS| over an axis's pairs")
        yield _strengths(document, numbers)
    yield Sentences("Gates", list(describe_gates(document)))
    yield Sentences("To keep in mind", list(words.notes(document, 2000)))


def describe_distributions(comparison: Record, document: Record) -> Iterator[str]:
    """Which axes are further from their ideal than in the baseline, or closer; else why not.

    A change is told where its interval leaves out 0.
    """
    if comparison.get("same_answers"):
        yield "Both runs have the same answers about the same images, so nothing can have changed."
        return
    rows, baseline = comparison["distances"], document["runs"][0]["name"]
    before = {row["axis"]: row for row in document["distances"] if row["run"] == baseline}
    after = {row["axis"]: row for row in document["distances"] if row["run"] == comparison["run"]}
    clear = [row for row in rows if is_clear(row)]
    for row in sorted(clear, key=lambda row: -abs(row["growth"])):
        axis = row["axis"]
        where = "further from" if row["growth"] > 0 else "closer to"
        yield (
            f"{words.name(axis)} {words.with_ci(row['growth'], row['growth_ci'], '+')} {where} its "
            f"ideal: {before[axis]['w1']:.3f} before, {after[axis]['w1']:.3f} now."
        )
    within = [row["axis"] for row in rows if row["growth"] is not None and not is_clear(row)]
    if within and clear:
        yield f"Within chance: {words.list_names(within)}."
    elif within:
        yield (
            f"No distribution is clearly closer to its ideal or further from it "
            f"({words.count_noun(len(within), 'axis', 'axes')} within chance)."
        )
    unknown = ((row["reason"], row) for row in rows if row["growth"] is None)
    for reason, some in words.group_records(unknown).items():
        yield f"Not comparable, {words.list_names([row['axis'] for row in some])}: {reason}."


def is_clear(row: Record) -> bool:
    """Whether the interval of a growth leaves out 0."""
    interval = row["growth_ci"]
    return interval is not None and (interval[0] > 0 or interval[1] < 0)


def describe_changes(comparison: Record) -> Iterator[str]:
    """What changed between the baseline and one run, and what cannot be said."""
    classes = comparison["classes"]
    total = sum(classes.values()) - classes["not comparable"]
    reasons = {pair["reason"] for pair in comparison["pairs"]}
    if not total and len(reasons) == 1:
        yield f"No pair can be compared: {reasons.pop()}."
        return
    compared = words.count_noun(total, "pair")
    yield (
        f"{classes['changed']} of {compared} changed. Of the others, edges in both graphs: "
        f"{classes['in both']}; in one of them alone, which is no evidence of a change: "
        f"{classes['undecided in the other']}."
    )
    targets = Counter(p["target"] for p in comparison["pairs"] if p["class"] == "changed")
    for target, number in targets.items():
        if number >= TOGETHER:
            yield (
                f"{number} of the changes are of {words.name(target)}: they share its initial "
                "images, so that one lucky or unlucky draw of those would move them all."
            )
    undecided = [p for p in comparison["pairs"] if p["class"] == "undecided in the other"]
    for end, what in (("edge_run", "here"), ("edge_baseline", "in the baseline")):
        pairs = [pair for pair in undecided if pair[end]]
        if pairs:
            yield f"Edges {what} only, undecided in the other: {words.arrows(pairs)}."
    told = ((pair["reason"], pair) for pair in comparison["pairs"] if pair["reason"] is not None)
    for reason, pairs in words.group_records(told).items():
        yield f"Not comparable, {words.arrows(pairs)}: {reason}."
    cut = [pair for pair in comparison["pairs"] if pair["at_common_size"]]
    if cut:
        yield (
            f"{len(cut)} pairs rest on different numbers of images and are compared at the smaller "
            "one; their IS are not those of the runs' own reports."
        )
    growth = comparison["amplification"]
    if growth["growth"] is not None:
        grown = words.with_ci(growth["growth"], growth["growth_ci"], "+")
        moved = "grew by" if growth["growth"] > 0 else "fell:"
        yield f"Amplification {moved if is_clear(growth) else 'moved within chance:'} {grown}."


def describe_gates(document: Record) -> Iterator[str]:
    """The verdict of each gate about each run."""
    for gate in document["gates"]:
        for run in gate["runs"]:
            verdict = "FAILED" if run["failed"] else "passed"
            yield f"{verdict}: {gate['gate']} ({run['run']}: {run['words']})"


def _runs(document: Record) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for run, total in zip(document["runs"], document["amplification"], strict=True):
        images, floor = run["images"], total["floor"] and total["floor"]["q95"]
        about = (len(rows) + 1, words.name(run["name"], 60))
        edges = run["edges"] if images["interventions"] else None  # without arms, none was tested
        size = (f"{images['initial']:,} + {images['interventions']:,}", edges)
        amplification = words.with_ci(total["value"], None)
        rows.append((*about, *size, amplification, None if floor is None else f"to {floor:.2f}"))
    columns = ("", "Run", "Images", "Edges", "Sum of |IS|", "By chance")
    return Table(columns, rows, numeric=(0, 2, 3, 4, 5))


def _distances(document: Record, numbers: Mapping[str, int]) -> Table:
    growth = {
        (comparison["run"], row["axis"]): row
        for comparison in document["comparisons"]
        for row in comparison["distances"]
    }
    rows: list[tuple[Cell, ...]] = []
    for axis, row in _by_axis(document, "distances"):
        grown = growth.get((row["run"], row["axis"]), {"growth": None, "growth_ci": None})
        change = words.with_ci(grown["growth"], grown["growth_ci"], "+")
        distance = words.with_ci(row["w1"], row["w1_ci"])
        closest = _share(row["probability_closest"])
        rows.append((axis, numbers[row["run"]], distance, change, closest))
    columns = ("Axis", "Run", "Distance", "Growth from 1", "Closest")
    return Table(columns, rows, numeric=(1, 2, 3, 4))


def _strengths(document: Record, numbers: Mapping[str, int]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for axis, row in _by_axis(document, "strengths"):
        cells: list[Cell] = [axis, numbers[row["run"]]]
        for end in (row["in"], row["out"]):
            cells += [words.with_ci(end["value"], None), _share(end["first_of_axes"])]
        rows.append(tuple(cells))
    columns = ("Axis", "Run", "Influenced", "Least", "Influences", "Most")
    return Table(columns, rows, FIRST, numeric=range(1, len(columns)))


def _by_axis(document: Record, field: str) -> Iterator[tuple[str, Record]]:
    """The rows of each axis, with its name before the first of them."""
    for axis in (axis["id"] for axis in document["axes"]):
        rows = [row for row in document[field] if row["axis"] == axis]
        for line, row in enumerate(rows):
            yield "" if line else words.name(axis), row


def changed_pairs(comparison: Record) -> Table:
    """The pairs that changed, the clearest first."""
    pairs = [pair for pair in comparison["pairs"] if pair["class"] == "changed"]
    rows: list[tuple[Cell, ...]] = [
        (
            words.name(pair["source"]),
            words.name(pair["target"]),
            f"{pair['is_baseline']:+.3f}",
            f"{pair['is_run']:+.3f}",
            words.with_ci(pair["difference"], pair["difference_ci"], "+"),
            words.p_value(pair["p_adjusted"]),
        )
        for pair in sorted(pairs, key=lambda pair: pair["p_adjusted"])
    ]
    columns = ("Diversifying", "moves", "IS before", "IS now", "Change", "p")
    return Table(columns, rows, CHANGE, numeric=(2, 3, 4, 5))


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
