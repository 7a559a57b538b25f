"""What every screen says of a graph: names, numbers and sentences, in the same words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from biasgraph.data import findings
from biasgraph.errors import printable

Record = Mapping[str, Any]

ARROW = (
    "an arrow from A to B says that what a prompt asks of A decides what the images show of B. Its "
    "number, IS, is what asking for all of A equally takes off (+) or adds to (-) B's distance to "
    "its ideal distribution."
)
"""How to read the graph."""

LISTED = 4  # pairs or axes that a sentence names before it counts the rest
STRONGEST = 3
ISOLATE, END = "\u2068", "\u2069"
"""They stand around names, which may be written from right to left; `printable` shows any other."""
_JOINERS = ("\u200c", "\u200d")  # letters of some scripts and emoji are written with them


# Names


def label(text: str, longest: int = 200) -> str:
    """An untrusted name as a page shows it: what is invisible or turns text around is visible.

    Joiners inside words and emoji stay, unlike in the terminal (`printable`).
    """
    return clip(_printable_but(text, _JOINERS), longest)


def notes(document: Record, longest: int = 400) -> Iterator[str]:
    """The notes of a document as sentences of a page, each clipped to `longest` characters."""
    for note in document["notes"]:
        text = label(note, longest)
        yield text if text.endswith((".", "…")) else f"{text}."


def visible(text: str) -> str:
    """A text as a page shows it: like `label`, with the marks around names that sentences have."""
    return _printable_but(text, (*_JOINERS, ISOLATE, END))


def _printable_but(text: str, kept: Sequence[str]) -> str:
    if text.isascii():
        return printable(text)
    return "".join(letter if letter in kept else printable(letter) for letter in text)


def clip(text: str, longest: int) -> str:
    """`text`, or its beginning and an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def list_names(names: Sequence[str], what: str = "axes") -> str:
    """The first names of several, and how many more there are."""
    return list_first([name(text) for text in names], what)


def name(text: str, longest: int = 40) -> str:
    """An untrusted name in a sentence, whose direction it cannot change; see `plain`."""
    return f"{ISOLATE}{clip(printable(text), longest)}{END}"


def plain(sentence: str) -> str:
    """A sentence for screens that know nothing of Unicode's isolates around its names."""
    return sentence.replace(ISOLATE, "").replace(END, "")


def arrow(pair: Record) -> str:
    """A pair of axes in a sentence."""
    return f"{name(pair['source'])} → {name(pair['target'])}"


def arrows(pairs: Sequence[Record]) -> str:
    """The first pairs of several, and how many more there are."""
    return list_first([arrow(pair) for pair in pairs], "pairs")


def list_first(words: Sequence[str], what: str) -> str:
    """The first of several words, and how many more there are; never just one more."""
    if len(words) <= LISTED + 1:
        return ", ".join(words)
    return f"{', '.join(words[:LISTED])} and {len(words) - LISTED} more {what}"


def join_words(words: Sequence[str]) -> str:
    """All of several words, as a sentence has them."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def group_records(records: Iterable[tuple[str, Record]]) -> dict[str, list[Record]]:
    """Records by what each stands beside, in the order of appearance."""
    groups: dict[str, list[Record]] = {}
    for key, record in records:
        groups.setdefault(key, []).append(record)
    return groups


# Numbers


def count_noun(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: "1 caption", "2 captions"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def with_interval(
    value: float | None, low: float | None, high: float | None, sign: str = ""
) -> str:
    """A number to three digits with its interval, as far as they are defined."""
    if value is None:
        return "-"
    point = f"{value:{sign}.3f}"
    return point if low is None or high is None else f"{point} [{low:{sign}.3f}, {high:{sign}.3f}]"


def cell_words(cell: findings.Bar | str | float | None) -> str:
    """A cell of a table as text: numbers to three digits, a bar as its number."""
    if isinstance(cell, findings.Bar):
        return with_interval(cell.value, cell.low, cell.high)
    if isinstance(cell, float):
        return f"{cell:.3f}"
    if isinstance(cell, int):
        return f"{cell:,}"
    return "-" if cell is None else cell


def with_ci(value: float | None, ends: Sequence[float] | None, sign: str = "") -> str:
    """`with_interval` for an interval that is a pair, or None."""
    low, high = ends or (None, None)
    return with_interval(value, low, high, sign)


def percent(share: float) -> str:
    """A share as a page shows it."""
    return f"{share * 100:.0f}\u00a0%"


def with_ends(share: float, low: float, high: float) -> str:
    """A share with its interval, in percent."""
    return f"{percent(share)} [{low * 100:.0f}, {high * 100:.0f}]"


def p_value(p: float | None) -> str:
    """A p-value to two or three digits."""
    if p is None:
        return "-"
    return f"{p:.1e}" if p < 0.001 else f"{p:.3f}"


def images_words(images: Mapping[str, int]) -> str:
    """How many images there are, by their roles."""
    controls = f", {images['controls']:,} control" if images.get("controls") else ""
    return f"{images['initial']:,} initial, {images['interventions']:,} counterfactual{controls}"


def majority(node: Record) -> tuple[str, float] | None:
    """The attribute that most initial images show, and its share; None without valid answers."""
    shares = node["initial"]["distribution"]
    if shares is None:
        return None
    most = max(range(len(shares)), key=shares.__getitem__)
    return node["attributes"][most], shares[most]


# What a graph is about


def ideal_words(graph: Record, axes: int) -> str:
    """Where the ideal comes from, for a graph of so many axes."""
    ideal = graph["ideal"]
    others = "" if len(ideal["axes"]) in (0, axes) else " (uniform for the other axes)"
    if ideal.get("reference") is None:
        return f"{name(ideal['source'])}{others}"
    return f"{name(ideal['source'])}, as a reference whose counts are resampled{others}"


def metric_words(nodes: Sequence[Record]) -> str:
    """The usual ground metric first, then the axes that have another."""
    axes: dict[str, list[str]] = {}
    for node in nodes:
        axes.setdefault(node["metric"], []).append(node["id"])
    usual = max(axes, key=lambda metric: len(axes[metric]))
    others = (f"{metric} for {list_names(ids)}" for metric, ids in axes.items() if metric != usual)
    return "; ".join([usual, *others])


def edge_rule(graph: Record) -> Record:
    """What makes a pair of this graph an edge."""
    rule: Record = graph.get("edge_rule") or graph["settings"]  # 0.1.0 wrote no rule
    return {"min_is": 0.0, **rule}


def min_v(graph: Record) -> float:
    """The smallest V worth looking for in this graph."""
    return float(graph["settings"].get("min_v", 0.3))  # 0.1.0 wrote none


def rule_words(graph: Record, nodes: Sequence[Record]) -> str:
    """What makes a pair an edge, in words."""
    rule = edge_rule(graph)
    if rule["fdr"] and graph["settings"].get("looks"):
        words = "e-values, false discovery rate .05 (e-BH)"
    elif rule["fdr"]:
        words = f"false discovery rate .05 ({rule['fdr']})"
    else:
        words = f"p of at most {rule['alpha']:g}"
    if rule.get("stratified"):
        words += ", tested within prompts"
    if rule.get("min_is"):
        words += f"; |IS| of at least {rule['min_is']:g} ({metric_words(nodes)})"
    return words


def prompts_words(graph: Record) -> str:
    """How many prompts a global graph has, and the first of them."""
    texts = [name(part["prompt"]) for part in graph["prompts"]]
    return f"{len(texts)}: {list_first(texts, 'prompts')}; their counts are summed"


# What was found


def is_without_interventions(graph: Record) -> bool:
    """Whether there are initial images alone, so that there is nothing to say of pairs."""
    return "no_interventions" in graph["flags"]


def between(pairs: Sequence[Record]) -> list[Record]:
    """The pairs of different axes."""
    return [pair for pair in pairs if pair["source"] != pair["target"]]


def in_all(graph: Record) -> Iterator[str]:
    """The strongest axes and the amplification."""
    for field, what in (
        ("max_impact", "The strongest axis is"),
        ("max_influenced", "The most influenced axis is"),
    ):
        best = graph[field]
        if best is not None:
            have = "has" if len(best["tied"]) == 1 else "have"
            tied = f"; {list_names(best['tied'])} {have} as many edges" if best["tied"] else ""
            edges = count_noun(best["edges"], "edge")
            strength = f"|IS| {best['strength']:.3f} in all"
            yield f"{what} {name(best['axis'])}: {edges}, {strength}{tied}."
    total = graph["amplification"]
    if total["value"] is not None:
        floor, chance = total["noise_floor"], ""
        if floor["mean"] is not None:
            chance = (
                f"; with no effect anywhere it would be about {floor['mean']:.2f}, "
                f"and up to {floor['q95']:.2f} in 95 % of audits"
            )
        yield (
            f"The sum of |IS| over {count_noun(total['pairs_defined'], 'pair')} (amplification) is "
            f"{total['value']:.2f}{chance}."
        )


def mediation(links: Sequence[Record], graph: Record) -> Iterator[str]:
    """The verdict about every candidate mediator, and what it assumes."""
    for link in links:
        for check in link["mediation"]:
            verdict, through = printable(check["verdict"]), name(check["through"])
            explained = check.get("explained") or {"low": None}
            share = ""
            if explained["low"] is not None:
                share = (
                    f"; the chain through it gives {explained['share']:.0%} of the differences, "
                    f"at least {explained['low']:.0%}"
                )
            yield f"{arrow(link)}: {verdict} (candidate: {through}{share})."
    if graph["mediation_assumptions"]:
        yield "Assumed: " + " ".join(graph["mediation_assumptions"])
