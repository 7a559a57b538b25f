"""What a notebook shows of a result."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

import biasgraph
from tests.answer_tables import librarian_table
from tests.hostile import HOSTILE

ALLOWED = {
    "div", "style", "img", "p", "h2", "ul", "li", "figure", "figcaption", "table", "thead", "tbody",
    "tr", "th", "td", "h3", "bdi", "span", "strong", "code", "em", "section", "aside", "small",
}  # fmt: skip


class Tags(HTMLParser):
    """The elements of a fragment, and what text it shows."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def built(*prompts: str) -> biasgraph.Result:
    tables = [librarian_table(prompt=one, seed=i) for i, one in enumerate(prompts)]
    return biasgraph.analyze(pd.concat(tables), bootstrap=100)


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    return built("a librarian")


def test_it_shows_the_graph_and_the_end_of_a_build(result: biasgraph.Result) -> None:
    html = result._repr_html_()
    tags = Tags(html)
    assert tags.seen <= ALLOWED
    words = " ".join(tags.text.split())
    assert "a librarian" in words
    assert "In 1 of 6 pairs, what is asked of one axis decides another" in words
    (figure,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    assert b"<svg" in base64.b64decode(figure)
    assert 'alt="The graph: 3 axes, 1 edges."' in html


def test_several_prompts(result: biasgraph.Result) -> None:
    assert "2 prompts" in Tags(built("a librarian", "a nurse")._repr_html_()).text


@pytest.mark.parametrize("prompt", HOSTILE[:6])
def test_hostile_prompts_are_text(prompt: str) -> None:
    tags = Tags(built(prompt)._repr_html_())
    assert tags.seen <= ALLOWED
    assert not any(name.startswith("on") for name in tags.attributes)


def test_edges_are_those_of_the_graph_the_strongest_first(result: biasgraph.Result) -> None:
    edges = result.edges
    assert {*zip(edges["source"], edges["target"], strict=True)} == {*result.graph.edges}
    assert edges["is"].abs().is_monotonic_decreasing
