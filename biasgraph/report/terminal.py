"""A result as tables in the terminal, readable at 80 columns.

Prompts, axes and attributes are untrusted: they are shown as plain text, never as markup, and
control characters in them are made visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from biasgraph.causal.flags import FLAG_WORDS, STATUS_WORDS
from biasgraph.causal.settings import FDR_LEVEL
from biasgraph.errors import printable
from biasgraph.imagestore import TEMPORARY
from biasgraph.report.files import PROMPTS

Record = Mapping[str, Any]

LISTED = 4  # pairs or axes that a sentence names before it counts the rest


def show(console: Console, document: Record, pairs: Sequence[Record]) -> None:
    """Print the document of a graph and all its pairs: axes, edges, the strongest, the open.

    A graph of several prompts lists them at the end.
    """
    graph = document["graph"]
    if graph["toy"]:
        console.print(Panel(_plain(graph["toy"]), title="Sandbox", box=box.ASCII, style="yellow"))
    console.print(_origin(graph, document["nodes"]))
    console.print(_axes(document["nodes"]))
    links = sorted(document["links"], key=lambda link: -abs(link["is"]))
    console.print(Text(f"\n{len(links)} of {len(_between(pairs))} pairs of axes are edges", "bold"))
    if links:
        console.print(_edges(links))
    console.print()
    _list(console, "In all", _summary(graph))
    _list(console, "Mediation", _mediation(document["links"], graph))
    _list(console, "Undetermined", _undetermined(document, pairs))
    _list(console, "To keep in mind", _caveats(document))
    if "prompts" in graph:
        console.print(_prompts(graph["prompts"]))
        console.print()


def show_files(console: Console, directory: Path) -> None:
    """Print where a result is and which files it has."""
    hidden = (TEMPORARY, ".lock")
    names = sorted(path.name for path in directory.iterdir() if not path.name.endswith(hidden))
    console.print(_plain(f"Files in {directory}: {', '.join(names)}"))


def _plain(text: str, style: str = "") -> Text:
    """Untrusted text: nothing in it is markup, moves the cursor or hides."""
    return Text(printable(text), style)


def _list(console: Console, title: str, sentences: Iterable[str]) -> None:
    rows = list(sentences)
    if not rows:
        return
    grid = Table.grid(padding=(0, 1))
    for row in rows:
        grid.add_row("-", _plain(row))
    console.print(Text(title, "bold"))
    console.print(grid)
    console.print()


def _origin(graph: Record, nodes: Sequence[Record]) -> Table:
    images = graph["images"]
    ideal = graph["ideal"]
    others = "" if len(ideal["axes"]) in (0, len(nodes)) else " (uniform for the other axes)"
    grid = Table.grid(padding=(0, 2))
    for title, words in (
        (
            "Prompts" if "prompts" in graph else "Prompt",
            _prompt_words(graph) if "prompts" in graph else _clipped(graph["prompt"], 300),
        ),
        ("Subject", graph["subject"]),
        ("Model", graph["model"]),
        ("Judge", graph["vqa"] or "not recorded in an answers table"),
        ("Images", f"{images['initial']:,} initial, {images['interventions']:,} counterfactual"),
        ("Ideal", ideal["source"] + others),
        ("Metric", _metrics(nodes)),
        ("Edges", _rule(graph, nodes)),
    ):
        if words is not None:
            grid.add_row(Text(title, "bold"), _plain(words))
    grid.add_row()
    return grid


def _metrics(nodes: Sequence[Record]) -> str:
    axes: dict[str, list[str]] = {}
    for node in nodes:
        axes.setdefault(node["metric"], []).append(node["id"])
    usual = max(axes, key=lambda metric: len(axes[metric]))
    others = (f"{metric} for {_named(ids)}" for metric, ids in axes.items() if metric != usual)
    return "; ".join([usual, *others])


def _prompt_words(graph: Record) -> str:
    texts = [_clipped(part["prompt"]) for part in graph["prompts"]]
    return f"{len(texts)}: {_enumerated(texts, 'prompts')}; their counts are summed"


def _edge_rule(graph: Record) -> Record:
    rule: Record = graph.get("edge_rule") or graph["settings"]  # 0.1.0 wrote no rule
    return rule


def _rule(graph: Record, nodes: Sequence[Record]) -> str:
    rule = _edge_rule(graph)
    if rule["fdr"]:
        words = f"false discovery rate .05 ({rule['fdr']})"
    else:
        words = f"p of at most {rule['alpha']:g}"
    if rule.get("stratified"):
        words += ", tested within prompts"
    if rule.get("min_is"):
        words += f"; |IS| of at least {rule['min_is']:g} ({_metrics(nodes)})"
    return words


def _prompts(parts: Sequence[Record]) -> Table:
    """One line for each prompt of a global graph."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("Prompt")
    table.add_column("Edges", justify="right", no_wrap=True)
    table.add_column("Sum of |IS|", justify="right", no_wrap=True)
    table.add_column(f"Files in {PROMPTS}/", overflow="fold")
    for part in parts:
        total = part["amplification"]
        table.add_row(
            _plain(_clipped(part["prompt"])),
            str(part["edges"]),
            "-" if total is None else f"{total:.2f}",
            _plain(part["directory"].removeprefix(f"{PROMPTS}/")),
        )
    return table


def _axes(nodes: Sequence[Record]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("Axis", "Most images show", "Distance to ideal", "By chance", "Valid"):
        table.add_column(heading, justify="right" if heading in ("By chance", "Valid") else "left")
    for node in nodes:
        initial, null = node["initial"], node["w1_null"]["q95"]
        table.add_row(
            _plain(_clipped(node["id"])),
            _plain(_majority(node)),
            _with_interval(node["w1"], *(node["w1_ci"] or (None, None))),
            "-" if null is None else f"to {null:.3f}",
            f"{initial['n_valid']}/{initial['n_total']}",
        )
    return table


def _majority(node: Record) -> str:
    shares = node["initial"]["distribution"]
    if shares is None:
        return "-"
    most = max(range(len(shares)), key=shares.__getitem__)
    return f"{_clipped(node['attributes'][most])} {shares[most]:.0%}"


def _edges(links: Sequence[Record]) -> Table:
    caption = (
        "IS: what diversifying takes off (+) or adds to (-) the distance to the ideal, with "
        "its 95 % interval. V: strength of the association, 0 to 1."
    )
    if any("n_prompts" in link for link in links):
        caption += (
            " Below IS, the mean of the prompts' own IS: opposite effects cancel in the sum, not "
            "there."
        )
    table = Table(
        caption=Text(caption),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    table.add_column("Diversifying")
    table.add_column("moves")
    table.add_column("IS", no_wrap=True)
    table.add_column("p", justify="right", no_wrap=True)
    table.add_column("V", justify="right", no_wrap=True)
    for link in links:
        table.add_row(
            _plain(_clipped(link["source"])),
            _plain(f"{_clipped(link['target'])} {_direction(link['sign'])}"),
            _with_interval(link["is"], link["is_ci_low"], link["is_ci_high"], sign="+")
            + _by_prompt(link),
            _p(link["p"]),
            "-" if link["cramers_v"] is None else f"{link['cramers_v']:.2f}",
        )
    return table


def _direction(sign: str | None) -> str:
    if sign in ("towards", "away"):
        return f"{sign} {'from ' if sign == 'away' else ''}its ideal"
    return "in an undetermined direction"


def _with_interval(
    value: float | None, low: float | None, high: float | None, sign: str = ""
) -> str:
    if value is None:
        return "-"
    point = f"{value:{sign}.3f}"
    return point if low is None or high is None else f"{point} [{low:{sign}.3f}, {high:{sign}.3f}]"


def _by_prompt(link: Record) -> str:
    if "n_prompts" not in link:
        return ""
    mean = link["is_mean_prompt"]
    return f"\n{'-' if mean is None else f'{mean:+.3f}'} mean of {link['n_prompts']}"


def _p(p: float | None) -> str:
    if p is None:
        return "-"
    return f"{p:.1e}" if p < 0.001 else f"{p:.3f}"


def _summary(graph: Record) -> Iterator[str]:
    for field, what in (
        ("max_impact", "The strongest axis is"),
        ("max_influenced", "The most influenced axis is"),
    ):
        best = graph[field]
        if best is not None:
            tied = f"; as many edges: {_named(best['tied'])}" if best["tied"] else ""
            edges = "1 edge" if best["edges"] == 1 else f"{best['edges']} edges"
            strength = f"|IS| {best['strength']:.3f} in all"
            yield f"{what} {_clipped(best['axis'])}: {edges}, {strength}{tied}."
    total = graph["amplification"]
    if total["value"] is not None:
        low, high = total["ci"] or (None, None)
        floor = total["noise_floor"]
        chance = (
            f"; with no effect anywhere it would be about {floor['mean']:.2f}, "
            f"and below {floor['q95']:.2f} in 95 % of cases"
            if floor["mean"] is not None
            else ""
        )
        yield (
            f"Amplification, the sum of |IS| over {total['pairs_defined']} pairs, is "
            f"{_with_interval(total['value'], low, high)}{chance}."
        )


def _mediation(links: Sequence[Record], graph: Record) -> Iterator[str]:
    for link in links:
        for check in link["mediation"]:
            yield f"{_arrow(link)}: {check['verdict']} (candidate: {_clipped(check['through'])})."
    if graph["mediation_assumptions"]:
        yield "Assumed: " + " ".join(graph["mediation_assumptions"])


def _undetermined(document: Record, pairs: Sequence[Record]) -> Iterator[str]:
    unmeasured = [node["id"] for node in document["nodes"] if node["w1"] is None]
    if unmeasured:
        yield f"{_named(unmeasured)}: too few valid answers to measure the distance to the ideal."
    open_signs = [link for link in document["links"] if link["sign"] not in ("towards", "away")]
    if open_signs:
        yield f"{_arrows(open_signs)}: an edge, but its direction lies within chance."
    reasons: dict[str, list[Record]] = {}
    for pair in _between(pairs):
        if pair["status"] != "ok":
            reasons.setdefault(_reason(pair), []).append(pair)
    for reason, group in reasons.items():
        yield f"{_arrows(group)}: {reason}."
    rule = _edge_rule(document["graph"])
    tested = [pair for pair in _between(pairs) if pair["status"] == "ok" and not pair["edge"]]
    cut = [pair for pair in tested if _significant(pair, rule)]
    if cut:
        yield (
            f"{_arrows(cut)}: the answers differ between the interventions, but |IS| is below "
            f"{rule['min_is']:g}: no edge."
        )
    yield from _missed([pair for pair in tested if pair not in cut])


def _significant(pair: Record, rule: Record) -> bool:
    """Whether p would have made an edge of the pair, were it not for the cut at |IS|."""
    if not rule.get("min_is"):
        return False
    if rule["fdr"]:
        return bool(pair["p_adjusted"] <= FDR_LEVEL)
    return bool(pair["p"] <= rule["alpha"])


def _reason(pair: Record) -> str:
    if "no_intervention" in pair["flags"]:
        return FLAG_WORDS["no_intervention"]
    return STATUS_WORDS.get(pair["status"], str(pair["status"]))


def _missed(absent: Sequence[Record]) -> Iterator[str]:
    """A missing edge is no independence: say how strong a link would have had to be."""
    limits = [pair["detectable_v_80"] for pair in absent if pair["detectable_v_80"] is not None]
    if limits:
        low, high = f"{min(limits):.2f}", f"{max(limits):.2f}"
        limit = low if low == high else f"{low} to {high}"
        yield (
            f"{len(absent)} pairs without an edge need not be independent: with this many images "
            f"a link needs V = {limit} to be found in 80 % of cases."
        )


def _caveats(document: Record) -> Iterator[str]:
    nodes, graph = document["nodes"], document["graph"]
    for flag in graph["flags"]:
        yield f"{FLAG_WORDS.get(flag, flag)}.".capitalize()
    axes: dict[str, list[str]] = {}
    for node in nodes:
        for flag in node["flags"]:
            axes.setdefault(flag, []).append(node["id"])
    for flag, ids in axes.items():
        yield f"{_named(ids)}: {FLAG_WORDS.get(flag, flag)}."
    edges: dict[str, list[Record]] = {}
    for link in document["links"]:
        known = {flag for node in nodes if node["id"] in (link["source"], link["target"])
                 for flag in node["flags"]}  # fmt: skip
        for flag in link["flags"]:
            if flag not in known:
                edges.setdefault(flag, []).append(link)
    for flag, links in edges.items():
        yield f"{_arrows(links)}: {FLAG_WORDS.get(flag, flag)}."
    unseen = graph.get("unseen_words")
    if unseen:
        yield f"Words that the model never saw and may ignore: {', '.join(unseen)}."
    yield from (f"{note}." for note in graph["notes"])


def _between(pairs: Sequence[Record]) -> list[Record]:
    """The pairs of different axes."""
    return [pair for pair in pairs if pair["source"] != pair["target"]]


def _arrow(pair: Record) -> str:
    return f"{_clipped(pair['source'])} → {_clipped(pair['target'])}"


def _arrows(pairs: Sequence[Record]) -> str:
    return _enumerated([_arrow(pair) for pair in pairs], "pairs")


def _named(axes: Sequence[str]) -> str:
    return _enumerated([_clipped(axis) for axis in axes], "axes")


def _enumerated(words: Sequence[str], what: str) -> str:
    more = len(words) - LISTED
    return ", ".join(words[:LISTED]) + (f" and {more} more {what}" if more > 0 else "")


def _clipped(text: str, longest: int = 40) -> str:
    text = printable(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"
