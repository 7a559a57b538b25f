"""How far a judge agrees with a reference, told in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from biasgraph.data.findings import Banner, Cell, Facts, Heading, ScreenPart, Sentences, Table
from biasgraph.report import judge_words, words

Record = Mapping[str, Any]

COLUMNS = ("Axis", "Valid", "Accuracy", "Macro F1", "Kappa", "KL", "TV")
CAPTION = (
    "Valid: images with a valid answer of both. Intervals are 95 %. KL, in nats: of the "
    "distribution of the judge's answers from the reference's, and the other way round; TV: half "
    "the sum of the differences of their shares."
)


def summarize_agreement(record: Record) -> Iterator[ScreenPart]:
    """A row for each axis, its confusion matrix, what to keep in mind.

    Args:
        record: What agreement.json holds.
    """
    yield Banner(record["toy"])
    yield Facts(
        [
            ("Judge", words.name(record["judge"] or "not recorded in an answers table", 300)),
            ("Reference", judge_words.reference(record)),
            ("Images", f"{record['images']:,} of {record['images_in_all']:,}"),
        ]
    )
    rows = [
        (
            words.name(axis["axis"]),
            f"{axis['n_valid']}/{axis['n']}",
            *(_with_interval(axis, field) for field in ("accuracy", "f1", "kappa")),
            tuple(map(_number, (axis["kl_reference_judge"], axis["kl_judge_reference"]))),
            axis["tv"],
        )
        for axis in record["axes"]
    ]
    yield Table(COLUMNS, rows, CAPTION, numeric=range(1, len(COLUMNS)))
    for axis in record["axes"]:
        yield Heading(f"{words.name(axis['axis'])}: the reference (rows), the judge (columns)")
        yield _confusion(axis)
    yield Sentences("To keep in mind", list(judge_words.caveats(record)))


def _with_interval(axis: Record, field: str) -> Cell:
    value, ends = axis[field], axis[f"{field}_ci"]
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
