"""pyvis.html: the graph as pyvis draws it, to drag about in a browser and to change in Python."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

from biasgraph.data.graph_document import Document
from biasgraph.report import style, verdict_words, words
from biasgraph.report.circle_layout import positions
from biasgraph.report.graph_drawing import RADIUS, node_size

if TYPE_CHECKING:
    from pyvis.network import Network

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
HEADS = {"triangle": "arrow", "bar": "bar", "vee": "vee"}
OPTIONS = {
    "physics": {"enabled": False},
    "interaction": {"hover": True, "navigationButtons": True, "keyboard": True},
    "edges": {"smooth": {"type": "curvedCW", "roundness": 0.08}, "font": {"strokeWidth": 4}},
}


def to_pyvis(document: Document) -> bytes:
    """A page that works from the disk with the network off; names in it are nothing but text."""
    heading = html.escape(style.title(document))
    about = html.escape(" ".join(filter(None, [style.caption(document), document["graph"]["toy"]])))
    page = network_of(document).generate_html()
    # pyvis's page asks for a style sheet and a script of Bootstrap's, and shows its heading twice.
    page = re.sub(r"<center>.*?</center>", "", page, flags=re.DOTALL)
    page = re.sub(r"<link\s[^>]*>|<script\s[^>]*\bsrc=[^>]*></script>", "", page)
    page = page.replace(
        "<head>",
        f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{heading}</title>",
        1,
    ).replace("<body>", f"<body><h1>{heading}</h1><p>{about}</p>", 1)
    return f"<!doctype html>\n{page}".encode("utf-8", "replace")


def network_of(document: Document) -> Network:
    """The graph as pyvis holds it, places and looks as in the report."""
    from pyvis.network import Network

    network = Network("80vh", "100%", directed=True, cdn_resources="in_line")
    network.options = json.loads(json.dumps(OPTIONS))
    places = positions([node["id"] for node in document["nodes"]])
    for node in document["nodes"]:
        x, y = places[node["id"]]
        network.add_node(
            node["id"],
            label=_lines(words.label(node["id"]), _majority(node)),
            shape="dot",
            x=round(RADIUS * x, 2),
            y=round(-RADIUS * y, 2),
            size=round(node_size(node["out_strength"]), 2),
            color={"background": style.fill(node["w1"]), "border": "#333333"},
        )
    for link in document["links"]:
        sign = style.sign_style(link)
        network.add_edge(
            link["source"],
            link["target"],
            label=style.show_sign(link["is"]),
            title=verdict_words.finding(link, document),
            width=round(3 * style.width(link["is"]), 2),
            color=sign.colour,
            dashes=style.dash(link) != "solid",
            arrows={"to": {"enabled": True, "type": HEADS[sign.head]}},
        )
    return network


def _majority(node: dict[str, Any]) -> str:
    most = words.majority(node)
    return "" if most is None else f"{words.label(most[0])} {words.percent(most[1])}"


def _lines(*lines: str) -> str:
    return "\n".join(filter(None, lines)) or " "
