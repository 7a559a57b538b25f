"""A result as tables in the terminal, readable at 80 columns.

Prompts, axes and attributes are untrusted: they are shown as plain text, never as markup, and
control characters in them are made visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from biasgraph.data.file_names import PROMPTS
from biasgraph.io.writing import TEMPORARY
from biasgraph.report import agreement_words, findings_words, words
from biasgraph.report.screen import captioned, facts, plain, sentence, show_list, show_toy

Record = Mapping[str, Any]


def show(console: Console, document: Record, pairs: Sequence[Record]) -> None:
    """Print the document of a graph and all its pairs: axes, edges, the strongest, the open.

    A graph of several prompts lists them at the end.
    """
    graph = document["graph"]
    show_toy(console, graph["toy"])
    console.print(_origin(graph, document["nodes"]))
    console.print(_axes(document["nodes"]))
    links = sorted(document["links"], key=lambda link: -abs(link["is"]))
    console.print(
        Text(f"\n{len(links)} of {len(words.between(pairs))} pairs of axes are edges", "bold")
    )
    if links:
        console.print(_edges(links))
    console.print()
    _list(console, "In all", words.in_all(graph))
    _list(console, "Other methods (more of each in the report)", findings_words.in_short(graph))
    _list(console, "Mediation", words.mediation(document["links"], graph))
    _list(console, "Undetermined", words.undetermined(document, pairs))
    caveats = (*words.caveats(document), *agreement_words.of_graph(graph))
    _list(console, "To keep in mind", caveats)
    if "prompts" in graph:
        console.print(_prompts(graph["prompts"]))
        console.print()


def show_files(console: Console, directory: Path) -> None:
    """Print where a result is and which files it has."""
    hidden = (TEMPORARY, ".lock", "-shm", "-wal")
    names = sorted(path.name for path in directory.iterdir() if not path.name.endswith(hidden))
    console.print(plain(f"Files in {directory}: {', '.join(names)}"))


def _list(console: Console, title: str, sentences: Iterable[str]) -> None:
    show_list(console, title, map(sentence, sentences))


def _origin(graph: Record, nodes: Sequence[Record]) -> Table:
    images = graph["images"]
    about = (
        ("Prompts", words.prompts_words(graph))
        if "prompts" in graph
        else ("Prompt", words.name(graph["prompt"], 300))
    )
    rows = (
        about,
        ("Subject", graph["subject"] and words.name(graph["subject"], 300)),
        ("Model", words.name(graph["model"], 300)),
        ("Judge", words.name(graph["vqa"] or "not recorded in an answers table", 300)),
        ("Images", f"{images['initial']:,} initial, {images['interventions']:,} counterfactual"),
        ("Ideal", words.ideal_words(graph, len(nodes))),
        ("Metric", words.metric_words(nodes)),
        ("Edges", words.rule_words(graph, nodes)),
    )
    grid = facts((title, text) for title, text in rows if text is not None)
    grid.add_row()
    return grid


def _prompts(parts: Sequence[Record]) -> Table:
    """One line for each prompt of a global graph."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("Prompt")
    table.add_column("Edges", justify="right", no_wrap=True)
    table.add_column(f"Files in {PROMPTS}/", overflow="fold")
    for part in parts:
        table.add_row(
            sentence(words.name(part["prompt"])),
            str(part["edges"]),
            plain(part["directory"].removeprefix(f"{PROMPTS}/")),
        )
    return table


def _axes(nodes: Sequence[Record]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("Axis", "Most images show", "Distance to ideal", "By chance", "Valid"):
        table.add_column(heading, justify="right" if heading in ("By chance", "Valid") else "left")
    for node in nodes:
        initial, null = node["initial"], node["w1_null"]["q95"]
        table.add_row(
            sentence(words.name(node["id"])),
            sentence(_majority(node)),
            _distance(node),
            "-" if null is None else f"to {null:.3f}",
            f"{initial['n_valid']}/{initial['n_total']}",
        )
    return table


def _majority(node: Record) -> str:
    found = words.majority(node)
    return "-" if found is None else f"{words.name(found[0])} {found[1]:.0%}"


def _edges(links: Sequence[Record]) -> Table:
    caption = (
        "IS: what diversifying takes off (+) or adds to (-) the distance to the ideal, with "
        "its 95 % interval. V: strength of the association, 0 to 1."
    )
    if any(link.get("is_corrected") is not None for link in links):
        caption += " Corr.: without the judge's errors."
    if any("n_prompts" in link for link in links):
        caption += (
            " Below IS, the mean of the prompts' own IS: opposite effects cancel in the sum, not "
            "there."
        )
    table = captioned(caption)
    table.add_column("Diversifying")
    table.add_column("moves")
    table.add_column("IS", no_wrap=True)
    table.add_column("p", justify="right", no_wrap=True)
    table.add_column("V", justify="right", no_wrap=True)
    for link in links:
        table.add_row(
            sentence(words.name(link["source"])),
            sentence(f"{words.name(link['target'])} {words.direction(link['sign'])}"),
            words.with_interval(link["is"], link["is_ci_low"], link["is_ci_high"], sign="+")
            + _corrected(link)
            + _by_prompt(link),
            words.p_value(link["p"]),
            "-" if link["cramers_v"] is None else f"{link['cramers_v']:.2f}",
        )
    return table


def _distance(node: Record) -> str:
    found = words.with_interval(node["w1"], *(node["w1_ci"] or (None, None)))
    fixed = node.get("corrected")
    return found + (f"\n{words.with_interval(fixed['w1'], *fixed['w1_ci'])} corr." if fixed else "")


def _corrected(link: Record) -> str:
    if link.get("is_corrected") is None:
        return ""
    ends = (link["is_corrected_ci_low"], link["is_corrected_ci_high"])
    return f"\n{words.with_interval(link['is_corrected'], *ends, sign='+')} corr."


def _by_prompt(link: Record) -> str:
    if "n_prompts" not in link:
        return ""
    mean = link["is_mean_prompt"]
    return f"\n{'-' if mean is None else f'{mean:+.3f}'} mean of {link['n_mean_prompts']}"
