"""All runs under a folder as one page: a table that its script sorts and filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from biasgraph.report import history_drawing, html, words
from biasgraph.report.history_page import history_view
from biasgraph.report.run_table import explain_no_axis

Record = Mapping[str, Any]

STATES = ("finished", "unfinished", "broken")


@dataclass(frozen=True)
class Line:
    """A run as the table shows it.

    Attributes:
        directory: Where it is.
        href: The address of its page; None where there is none.
        state: As in `STATES`.
        about: What it is about.
        model: The generator.
        judge: The judge.
        toy: Whether one of them is a built-in toy.
        images: How many it has.
        edges: How many it has; None where no pair was tested, or there is no graph.
        untested: Whether there is a graph of which no pair was tested.
        w1: The distance of the axis that is furthest from its ideal; None where none is.
        far: What most of its images show of it, in words.
        basis: That distance with its interval, and what it refers to.
        date: When it was built last, in ISO 8601; empty where that is not known.
    """

    directory: str
    href: str | None
    state: str
    about: str
    model: str
    judge: str
    toy: bool
    images: int | None
    edges: int | None
    untested: bool
    w1: float | None
    far: str
    basis: str
    date: str


def runs_html(
    rows: Sequence[Record], histories: Sequence[Record] = (), *, title: str, above: str = ""
) -> bytes:
    """The page; without scripts, its table stands as it is, those built last first.

    Args:
        rows: `RunRow.to_json` of each run.
        histories: Those of `biasgraph.audits.history.histories`.
        title: What the folder is called.
        above: The address of the folder as seen from the page, with a slash behind it, or nothing.
    """
    lines = [_line(row, above) for row in rows]
    states = Counter(line.state for line in lines)
    return html.render(
        "runs.html",
        model={},
        scripts=["runs.js"],
        styles=["runs.css"],
        drawn=False,
        title=words.label(title),
        facts=[("Runs", f"{len(lines):,}")]
        + [(state.capitalize(), f"{states[state]:,}") for state in STATES[1:] if states[state]],
        states=[state for state in STATES if states[state]],
        toy=any(line.toy for line in lines),
        lines=lines,
        histories=[history_view(one, lambda point: _href(point, above)) for one in histories],
        marks=history_drawing.MARKS,
        size=(history_drawing.WIDTH, history_drawing.HEIGHT),
        left=history_drawing.LEFT,
        right=history_drawing.RIGHT,
    )


def _line(row: Record, above: str) -> Line:
    return Line(
        directory=words.label(row["directory"], 120),
        href=_href(row, above),
        state=row["state"],
        about=_about(row),
        model=words.label(row["model"] or ""),
        judge=words.label(row["judge"] or ""),
        toy=bool(row["toy"]),
        images=row["images"],
        edges=row["edges"],
        untested=row["edges"] is None and row["measured"] is not None,
        w1=row["w1"],
        far=_far(row),
        basis=_basis(row),
        date=row["date"] or "",
    )


def _href(row: Record, above: str) -> str | None:
    """The address of a run's page; None where there is none."""
    place = "" if row["directory"] == "." else f"{row['directory']}/"
    return row["page"] and address(f"{above}{place}{row['page']}")


def address(path: str) -> str:
    """A relative path as an address: nothing in it is a scheme, a host or a fragment."""
    return quote(path.encode("utf-8", "surrogateescape"), safe="/")


def _about(row: Record) -> str:
    if row["state"] == "broken":
        return words.label(row["problem"])
    if row["prompt"] is not None:
        return f"“{words.label(row['prompt'])}”"
    if row["prompts"] is not None:
        return words.count_noun(row["prompts"], "prompt")
    return words.label(row["kind"])


def _far(row: Record) -> str:
    if row["axis"] is None:
        return explain_no_axis(row) or ""
    most = ""
    if row["share"] is not None:
        most = f": {words.percent(row['share'])} {words.label(row['attribute'], 40)}"
    return f"{words.label(row['axis'], 40)}{most}"


def _basis(row: Record) -> str:
    if row["w1"] is None:
        return ""
    images = words.count_noun(row["valid"], "image")
    return (
        f"{words.with_ci(row['w1'], row['w1_ci'])}, {images}, ideal {words.label(row['ideal'], 40)}"
    )
