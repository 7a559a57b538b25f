"""How far a judge agrees with a reference, told in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from biasgraph.data.findings import Banner, Cell, Facts, Heading, ScreenPart, Sentences, Table
from biasgraph.report import judge_words, words

Record = Mapping[str, Any]

COLUMNS = ("Axis", "Valid", "Accuracy", "Macro F1", "Kappa", "with unknown", "KL", "TV")
CAPTION = (
    "Valid: images with a valid answer from both. Intervals are 95 %. Kappa: Cohen's, for those "
    "images; with unknown: for all images, with unknown and gated counted as answers. KL, in "
    "nats: of the distribution of the judge's answers from the reference's, and the other way "
    "round; TV: half the sum of the differences of their shares."
)

NUMBERS = ("accuracy", "f1", "kappa", "kappa_with_unknown")
ALPHA = (
    "1 is agreement on every image, 0 what chance alone would give; images with fewer than two "
    "answers do not count. With unknown: unknown and gated are answers, too. Ordinal: answers "
    "further apart disagree more."
)


def summarize_agreement(record: Record) -> Iterator[ScreenPart]:
    """A row for each axis, its confusion matrix, what to keep in mind.

    Args:
        record: What agreement.json holds.
    """
    yield Banner(record["toy"])
    yield Facts(
        [
            ("Judge", judge_words.name_judge_of(record)),
            ("Reference", judge_words.reference(record)),
            ("Images", f"{record['images']:,} of {record['images_in_all']:,}"),
        ]
    )
    if record["reference"].get("sample"):
        yield from _corrections(record)
        return
    rows = [
        (
            words.name(axis["axis"]),
            f"{axis['n_valid']}/{axis['n']}",
            *(_with_interval(axis, field) for field in NUMBERS),
            tuple(map(_number, (axis["kl_reference_judge"], axis["kl_judge_reference"]))),
            axis["tv"],
        )
        for axis in record["axes"]
    ]
    yield Table(COLUMNS, rows, CAPTION, numeric=range(1, len(COLUMNS)))
    yield from _raters(record)
    for axis in record["axes"]:
        yield Heading(f"{words.name(axis['axis'])}: the reference (rows), the judge (columns)")
        yield _confusion(axis)
    yield Sentences("To keep in mind", list(judge_words.caveats(record)))


def _corrections(record: Record) -> Iterator[ScreenPart]:
    """What was corrected, counted; of pictures picked for their errors nothing is estimated."""
    corrected = [axis for axis in record["axes"] if axis["n"]]
    rows: list[list[Cell]] = [[words.name(axis["axis"]), axis["n"]] for axis in corrected]
    yield Table(("Axis", "Corrections"), rows, numeric=(1,))
    for axis in corrected:
        yield Heading(f"{words.name(axis['axis'])}: what is right (rows), the judge (columns)")
        yield _confusion(axis)
    yield Sentences("To keep in mind", list(judge_words.caveats(record)))


def _raters(record: Record) -> Iterator[ScreenPart]:
    """Of three raters or more, their alpha and the kappa of every two."""
    raters = record.get("raters") or ()
    if not raters:
        return
    names = [f"{number} {words.name(one['name'])}" for number, one in enumerate(raters, start=1)]
    yield Heading(f"All {len(raters)} raters: {', '.join(names)}")
    alphas: list[tuple[Cell, ...]] = [
        (
            words.name(axis["axis"]),
            f"{alpha['among']} ({alpha['raters']})",
            alpha["metric"] + (", with unknown" if alpha["unknown"] else ""),
            alpha["images"],
            alpha["reason"] or _with_interval(alpha, "value", "ci"),
        )
        for axis in record["axes"]
        for alpha in axis["alphas"]
    ]
    yield Table(("Axis", "Among", "Difference", "Images", "Krippendorff's alpha"), alphas, ALPHA)
    kappas: list[tuple[Cell, ...]] = [
        (
            words.name(axis["axis"]),
            " and ".join(str(place + 1) for place in pair["raters"]),
            f"{pair['n_valid']}/{pair['n']}",
            *(_with_interval(pair, field) for field in ("kappa", "kappa_with_unknown")),
        )
        for axis in record["axes"]
        for pair in axis["kappas"]
    ]
    yield Table(("Axis", "Raters", "Valid", "Cohen's kappa", "with unknown"), kappas)


def _with_interval(axis: Record, field: str, interval: str = "") -> Cell:
    value, ends = axis.get(field), axis.get(interval or f"{field}_ci")
    if value is None:
        return None
    return (f"{value:.2f}", f"[{ends[0]:.2f}, {ends[1]:.2f}]") if ends else f"{value:.2f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _confusion(axis: Record) -> Table:
    """Every attribute, and unknown and gated where either side has them."""
    labels, counts = [*axis["attributes"], "unknown", "gated"], axis["table"]
    used = [
        place
        for place in range(len(labels))
        if place < len(axis["attributes"]) or any(counts[place]) or any(r[place] for r in counts)
    ]
    columns = ["", *(words.name(labels[place], 14) for place in used)]
    rows: list[list[Cell]] = [
        [words.name(labels[row], 20), *(counts[row][column] for column in used)] for row in used
    ]
    return Table(columns, rows, numeric=range(1, len(columns)))
