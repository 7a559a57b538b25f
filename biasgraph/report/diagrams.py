"""The graph as text for Graphviz and for Mermaid, looking like the figures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from textwrap import wrap

from biasgraph.data.graph_document import Document
from biasgraph.report import style
from biasgraph.report.circle_layout import positions

_DOT_HEADS = {"triangle": "normal", "bar": "tee", "vee": "vee"}
_MERMAID_DASHES = {"solid": "0", "dashed": "8 4", "dotted": "2 4"}
_IN_NO_COMMENT = re.compile("[%{}]")
"""What would make a comment of Mermaid's a directive."""
_DOT_NUMBERS = ("is", "is_ci_low", "is_ci_high", "p", "cramers_v")


def to_dot(document: Document) -> bytes:
    """DOT for Graphviz, places included: `dot -Tpdf graph.dot` draws the circle of the report.

    Nodes are n0, n1 ... in the order of the axes, with the axis as `label`. Beside Graphviz's own
    attributes, nodes have `w1` and `out_strength`, edges `is` with its interval, `p` and
    `cramers_v`: numbers as in graph.json, those that are undefined left out.
    """
    nodes = document["nodes"]
    names = [node["id"] for node in nodes]
    ids = _ids(names)
    radius = max(2.0, 0.3 * len(nodes))  # inches
    lines = [
        "digraph biasgraph {",
        _attributes(
            "graph",
            {
                "layout": "neato",
                "splines": "true",
                "outputorder": "edgesfirst",
                "label": "\n".join(wrap(" ".join(_words(document)), 100)),
                "labelloc": "b",
                "labeljust": "l",
                "fontname": "Helvetica",
                "fontsize": 8,
            },
        ),
        _attributes("node", {"shape": "ellipse", "style": "filled", "fontname": "Helvetica"}),
        _attributes("edge", {"fontname": "Helvetica", "fontsize": 10}),
    ]
    for node, (x, y) in zip(nodes, positions(names).values(), strict=True):
        numbers = {name: node[name] for name in ("w1", "out_strength")}
        look = {"fillcolor": style.fill(node["w1"])}
        place = {"pos": f"{radius * x:.3f},{radius * y:.3f}!"}
        label = {"label": style.clip(node["id"])}
        lines.append(_attributes(ids[node["id"]], label | look | place | numbers))
    for link in document["links"]:
        look = {
            "label": style.show_sign(link["is"]),
            "color": style.sign_style(link).colour,
            "style": style.dash(link),
            "penwidth": f"{style.width(link['is']):.3f}",
            "arrowhead": _DOT_HEADS[style.sign_style(link).head],
        }
        ends = f"{ids[link['source']]} -> {ids[link['target']]}"
        lines.append(_attributes(ends, look | {name: link[name] for name in _DOT_NUMBERS}))
    return "\n".join([*lines, "}", ""]).encode("utf-8", "replace")


def to_mermaid(document: Document) -> bytes:
    """A Mermaid flowchart for Markdown pages: nodes n0, n1 ..., IS on the edges."""
    ids = _ids([node["id"] for node in document["nodes"]])
    title, *others = _words(document)
    toy = document["graph"]["toy"]
    heading = json.dumps(f"{style.title(document)}. {toy}" if toy else title, ensure_ascii=False)
    lines = ["---", f"title: {heading}", "---", "flowchart LR"]
    lines += ["  %% " + _IN_NO_COMMENT.sub(" ", line) for line in (title, *others)]
    for node in document["nodes"]:
        name = ids[node["id"]]
        lines.append(f'  {name}(["{_mermaid_text(style.clip(node["id"]))}"])')
        lines.append(f"  style {name} fill:{style.fill(node['w1'])},stroke:#333333,color:#000000")
    for number, link in enumerate(document["links"]):
        label = _mermaid_text(style.show_sign(link["is"]))
        lines.append(f'  {ids[link["source"]]} -->|"{label}"| {ids[link["target"]]}')
        lines.append(
            f"  linkStyle {number} stroke:{style.sign_style(link).colour},"
            f"stroke-width:{style.width(link['is']):.2f}px,"
            f"stroke-dasharray:{_MERMAID_DASHES[style.dash(link)]}"
        )
    return "\n".join([*lines, ""]).encode("utf-8", "replace")


def _ids(names: list[str]) -> dict[str, str]:
    return {name: f"n{number}" for number, name in enumerate(names)}


def _words(document: Document) -> list[str]:
    return [line for line in (style.caption(document), document["graph"]["toy"]) if line]


def _attributes(what: str, values: Mapping[str, str | float | None]) -> str:
    pairs = (
        f"{name}={_dot_text(str(value))}" for name, value in values.items() if value is not None
    )
    return f"  {what} [{', '.join(pairs)}];"


def _dot_text(text: str) -> str:
    """A quoted string whose text Graphviz shows as it is: no escapes, no HTML entities."""
    for special, written in (("\\", "\\\\"), ('"', '\\"'), ("&", "&amp;"), ("\n", "\\n")):
        text = text.replace(special, written)
    return f'"{text}"'


def _mermaid_text(text: str) -> str:
    """Text in which nothing can be syntax: all but letters, digits and spaces by code point."""
    return "".join(
        character if character.isalnum() or character in " ." else f"#{ord(character)};"
        for character in text
    )
