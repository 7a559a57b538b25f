"""How stable a graph is, told in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biasgraph.causal.flags import VERDICT_NAMES
from biasgraph.causal.robustness import STABLE
from biasgraph.data.findings import (
    Banner,
    Bar,
    Bars,
    Cell,
    Finding,
    Heading,
    Number,
    Part,
    ScreenPart,
    Sentences,
    Table,
    Text,
    is_empty,
)
from biasgraph.report.words import arrow, count_noun, label, list_names

Record = Mapping[str, Any]

TITLE = "Robustness"
ABOUT = (
    "How edges, verdicts and sensitivities change with fewer images and with a judge that errs "
    "more (BiasConnect sec. 5.4)."
)
ONE_RUN = (
    "Draws share the images of one run: the larger they are, the more alike they are, and they "
    "say nothing about another run."
)
CHANGED = "Sum of |dIS| over the sum of |IS|, by images: mean and middle 95 % of the draws"
SLOPES = "Slope of IS on the run's, by the share of wrong answers, against what is expected"
KINDS = {"independent": "apart", "nested": "nested", "fresh": "new"}
"""What is compared, by the kind of a row; `CAPTION` says it at length."""
CAPTION = (
    "apart: two audits without a shared image, which differ as two new ones would; nested: a part "
    "and the whole run, which agree too well because they share images; new: an audit of the "
    "run's images and one of new images. Mean over the draws, and their middle 95 %: where a "
    "single audit falls. Differ: edges that only one of the two has; few images find few edges, "
    "so few can differ. Claims: pairs with another verdict. |dIS|: its sum over that of |IS|. "
    "Slope: of IS on the other audit's. Rank: Spearman's."
)
ERRORS = {"another": "another attribute", "unknown": "unknown"}
"""What wrong answers say, by the kind of a row."""
DIFFERENCES = ("Edges", "Differ", "Claims", "|dIS|", "Slope", "Rank")
BY_STRENGTH = (
    "V: of the whole run. Missed: edges of the other audit that an audit lacks; false: edges that "
    "the other one lacks."
)


def summarize_robustness(document: Record) -> Iterator[ScreenPart]:
    """What robustness.json says, in parts."""
    yield Banner(document["graph"]["toy"])
    yield Text(f"{_about(document)} {ONE_RUN}")
    for heading, parts in _sections(document):
        if not all(map(is_empty, parts)):
            yield Heading(heading)
            yield from parts


def section(document: Record) -> Finding:
    """The section of the report: the same tables, and what they show as bars."""
    parts: list[Part] = [*_headline(document["images"]), Text(_about(document))]
    for (heading, of_section), bars in zip(_sections(document), _bars(document), strict=True):
        parts += [bars] if bars.items else []
        for part in of_section:
            if isinstance(part, Sentences) and part.rows:
                parts.append(Text(" ".join([f"{part.title}:", *part.rows])))
            elif isinstance(part, Table) and part.rows:
                rows = [[_in_a_line(cell) for cell in row] for row in part.rows]
                parts.append(Table(part.columns, rows, f"{heading}. {part.caption}"))
    return Finding(TITLE, ABOUT, parts)


def _sections(document: Record) -> Iterator[tuple[str, Sequence[Table | Sentences]]]:
    rows, verdicts = document["images"], document["verdicts"]
    missing = Sentences("Could not be measured", list(_describe_undefined(rows)))
    yield "With fewer images", (_sizes(rows), missing)
    yield "Missed and false edges by strength", (_strengths(rows),)
    for kind, answer in ERRORS.items():
        yield f"With more answers wrong: {answer}", (_errors(document, kind),)
    edges = Sentences("Verdicts of the edges", list(_edges(verdicts)))
    yield "Images needed for stable verdicts", (_stability(verdicts), edges)


def _in_a_line(cell: Cell) -> Cell:
    if not isinstance(cell, tuple):
        return cell
    return " ".join(str(line).replace(" ", "\u00a0") for line in cell)


def _headline(rows: Sequence[Record]) -> Iterator[Number]:
    """How many edges differ between two audits of the largest size that share no image."""
    apart = [row for row in rows if row["kind"] != "nested" and row["status"] == "ok"]
    if apart:
        last = apart[-1]
        label = f"edges that only one of two audits of {last['images']} images has"
        value = last["changed"]
        yield Number(label, value["mean"], value["low"], value["high"])


def _bars(document: Record) -> Iterator[Bars]:
    """What stands above the table of each section; no bars where there are no items."""
    sizes = [row for row in document["images"] if row["is_change"]["mean"] is not None]
    yield Bars([_bar(_which(row), row["is_change"]) for row in sizes], CHANGED)
    yield Bars([])
    for kind, answer in ERRORS.items():
        rows = [row for row in document["errors"] if row["kind"] == kind]
        yield Bars(
            [
                _bar(f"{row['rate']:.0%} {answer}", row["slope"], row["slope_expected"])
                for row in rows
                if row["slope"]["mean"] is not None
            ],
            SLOPES,
        )
    yield Bars([])


def _bar(label: str, record: Record, reference: float | None = None) -> Bar:
    return Bar(label, record["mean"], record["low"], record["high"], reference)


def _about(document: Record) -> str:
    graph = document["graph"]
    prompts = graph["prompts"]
    subject = count_noun(len(prompts), "prompt") if prompts else f"'{label(graph['prompt'])}'"
    return (
        f"Robustness of the graph of {subject}: {document['edges']} of {document['pairs']} pairs "
        f"are edges, from {document['images_of_each']:,} images of each prompt; "
        f"{count_noun(document['draws'], 'draw')} of each kind, seed {document['seed']}."
    )


def _sizes(rows: Sequence[Record]) -> Table:
    cells: list[tuple[Cell, ...]] = [
        (_which(row), *_differences(row)) for row in rows if row["status"] == "ok"
    ]
    return Table(("Images", *DIFFERENCES), cells, CAPTION, numeric=range(7))


def _differences(row: Record) -> tuple[tuple[str, ...], ...]:
    """What differs in a row, under `DIFFERENCES`."""
    return (
        *(spread(row[field], 0) for field in ("edges", "changed", "verdicts")),
        _percent(row["is_change"]),
        *(spread(row[field]) for field in ("slope", "rank")),
    )


def _percent(record: Record) -> tuple[str, ...]:
    """`spread` of a share that may exceed 1."""
    numbers = {name: record[name] for name in ("mean", "low", "high")}
    hundredfold = {name: None if n is None else 100 * n for name, n in numbers.items()}
    return spread(hundredfold, 0, "%")


def _errors(document: Record, kind: str) -> Table:
    cells: list[tuple[Cell, ...]] = []
    for row in document["errors"]:
        if row["kind"] == kind:
            *others, slope, rank = _differences(row)
            if row["slope_expected"] is not None:
                slope = (*slope, f"({row['slope_expected']:.2f})")
            cells.append((f"{row['rate']:.0%}", *others, slope, rank))
    known = document["confusion_of"]
    confused = "any other attribute alike"
    if known:
        confused = f"as the judge errs for {list_names(known)}, any other attribute alike elsewhere"
    caption = (
        "Errors added to those that the answers already have; the run itself is the other audit. "
        f"In brackets: the slope without chance{f' ({confused})' if kind == 'another' else ''}."
    )
    return Table(("Errors", *DIFFERENCES), cells, caption, numeric=range(7))


def _which(row: Record) -> str:
    return f"{row['images']:,} {KINDS[row['kind']]}"


def spread(record: Record, digits: int = 1, unit: str = "") -> tuple[str, ...]:
    """A mean with the middle of its draws below it, where there are several."""
    if record["mean"] is None:
        return ()
    mean = f"{record['mean']:.{0 if unit else digits + 1}f}{unit}"
    if record["low"] is None:
        return (mean,)
    return mean, f"[{record['low']:.{digits}f}, {record['high']:.{digits}f}]"


def _describe_undefined(rows: Sequence[Record]) -> Iterator[str]:
    reasons: dict[tuple[int, str], list[str]] = {}
    for row in rows:
        if row["status"] != "ok":
            kinds = reasons.setdefault((row["images"], row["status"]), [])
            kinds.append(KINDS[row["kind"]])
    for (images, reason), kinds in reasons.items():
        yield f"{count_noun(images, 'image')} ({', '.join(kinds)}): {reason}."


def _strengths(rows: Sequence[Record]) -> Table:
    """Where there are edges; of the audits that share no image, or else of the nested ones."""
    apart = [row for row in rows if row["kind"] != "nested" and row["status"] == "ok"]
    cells: list[tuple[Cell, ...]] = [
        (
            _which(row),
            f"{bin['v_from']:g} to {bin['v_to']:g}",
            bin["pairs"],
            *(spread(bin[field], 0) for field in ("edges", "missed", "false")),
        )
        for row in apart or rows
        for bin in row["by_strength"]
        if bin["edges"]["mean"] or bin["false"]["mean"]
    ]
    columns = ("Images", "V", "Pairs", "Edges", "Missed", "False")
    return Table(columns, cells, BY_STRENGTH, numeric=(2, 3, 4, 5))


def _stability(verdicts: Sequence[Record]) -> Table:
    """Of each verdict, how many pairs are stable from which number of images on."""
    sizes = [one["images"] for one in verdicts[0]["same"]] if verdicts else []
    cells: list[list[Cell]] = []
    for verdict in dict.fromkeys(pair["verdict"] for pair in verdicts) if sizes else ():
        pairs = [pair for pair in verdicts if pair["verdict"] == verdict]
        stable = [sum(pair["stable_from"] == size for pair in pairs) for size in sizes]
        cells.append([_verdict(verdict), len(pairs), *stable, len(pairs) - sum(stable)])
    caption = (
        f"Pairs by the number of images from which at least {STABLE:.0%} of the audits that share "
        "no image repeat the run's verdict."
    )
    columns = ("Verdict", "Pairs", *(f"from {size}" for size in sizes), "not yet")
    return Table(columns, cells, caption, numeric=range(1, len(columns)))


def _verdict(verdict: str | None) -> str:
    return "none" if verdict is None else VERDICT_NAMES[verdict]


def _edges(verdicts: Sequence[Record]) -> Iterator[str]:
    for pair in verdicts:
        if pair["edge"] and pair["same"]:
            shares = ", ".join(f"{one['share']:.0%} at {one['images']}" for one in pair["same"])
            told = f"stable from {pair['stable_from']}" if pair["stable_from"] else "not yet stable"
            yield f"{arrow(pair)}, {_verdict(pair['verdict'])}: {told} ({shares})."
