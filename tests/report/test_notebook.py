"""What a notebook shows of a result."""

from __future__ import annotations

import base64
import copy
import dataclasses
import io
import re
import sqlite3
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from IPython.core.pylabtools import print_figure
from PIL import Image

import biasgraph
from biasgraph.causal.flags import CLAIMS
from biasgraph.causal.rows import LATER_FIELDS
from biasgraph.data.findings import Finding, Text
from biasgraph.report import verdict_words
from biasgraph.report.words import plain
from tests.answer_tables import librarian_table
from tests.hostile import HOSTILE
from tests.judged_run import judged_run
from tests.report.pictured import renamed

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
    assert "This judge has not been validated" in words and "--section" not in words
    assert "-o DIR" not in words, "a notebook has no options"
    (figure,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    assert b"<svg" in base64.b64decode(figure)
    assert 'alt="The graph: 3 axes, 1 edge."' in html


def test_several_prompts(result: biasgraph.Result) -> None:
    assert "2 prompts" in Tags(built("a librarian", "a nurse")._repr_html_()).text


@pytest.mark.slow(reason="figures for six payloads")
@pytest.mark.parametrize("prompt", HOSTILE[:6])
def test_hostile_prompts_are_text(prompt: str) -> None:
    tags = Tags(built(prompt)._repr_html_())
    assert tags.seen <= ALLOWED
    assert not any(name.startswith("on") for name in tags.attributes)


def test_plot_is_a_figure_for_screens_that_saves_for_papers(
    result: biasgraph.Result, tmp_path: Path
) -> None:
    figure = result.plot()
    assert figure.get_figwidth() == 7.2
    assert figure.dpi == 150
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {"gender", "age", "clothing"} <= texts
    assert any("a librarian" in text.get_text() for text in figure.texts)
    with Image.open(io.BytesIO(print_figure(figure))) as shown:  # as notebooks do
        assert shown.height > 0.97 * figure.get_figheight() * 150, "the caption is cut off"
    figure.savefig(tmp_path / "graph.png")
    with Image.open(tmp_path / "graph.png") as saved:
        assert saved.width == round(7.2 * 300)


def test_findings_are_told_in_words_and_percent(result: biasgraph.Result) -> None:
    (found,) = result.findings.to_dict("records")
    (edge,) = result.edges.to_dict("records")
    assert (found["source"], found["target"]) == ("gender", "clothing")
    assert found["verdict"] == edge["verdict"]
    assert found["before"] == pytest.approx(100 * edge["share_before"])
    assert found["after_high"] == pytest.approx(100 * edge["share_after_ci_high"])
    assert found["sensitivity_low"] == pytest.approx(edge["is_ci_low"])
    assert "male and female" in found["finding"]
    assert "96 counterfactual and 48 initial images" in found["evidence"]
    assert found["finding"] == plain(found["finding"]), "no marks for browsers"


def test_a_result_without_findings_has_an_empty_frame(result: biasgraph.Result) -> None:
    alone = biasgraph.analyze(librarian_table(images=4), bootstrap=100).findings
    assert alone.empty
    assert list(alone.columns) == list(result.findings.columns)
    assert alone["before"].dtype == float


def test_findings_of_earlier_versions_lack_verdict_and_shares(result: biasgraph.Result) -> None:
    document = copy.deepcopy(result.document)
    for name in LATER_FIELDS:
        del document["links"][0][name]
    (found,) = dataclasses.replace(result, document=document).findings.to_dict("records")
    assert found["finding"] and found["sensitivity"] == document["links"][0]["is"]
    assert pd.isna(found["verdict"]) and pd.isna(found["before"])


def test_findings_with_a_direction_come_first(result: biasgraph.Result) -> None:
    document = renamed(result.document, list("abcdefg"))
    found = dataclasses.replace(result, document=document).findings
    links = document["links"]
    told = [(link["sign"] in CLAIMS, abs(link["is"])) for link in links]
    assert len(found) == len(links) > verdict_words.STRONGEST
    ends = [*zip(found["source"], found["target"], strict=True)]
    by_ends = {(link["source"], link["target"]): told[i] for i, link in enumerate(links)}
    assert [by_ends[pair] for pair in ends] == sorted(told, reverse=True)


def test_sensitivity_can_be_written_with_a_dot(result: biasgraph.Result) -> None:
    edges = result.edges
    assert edges.sensitivity.tolist() == edges["is"].tolist()
    assert [row.sensitivity for row in edges.itertuples()] == edges["is"].tolist()


def test_nodes_have_numbers_of_findings_and_nothing_to_display(tmp_path: Path) -> None:
    result = biasgraph.load(judged_run(tmp_path / "run"))
    document = copy.deepcopy(result.document)
    found = Finding("Title", "About.", [Text("Words.")], {"score": 0.5}).to_json()
    document["nodes"][0]["findings"]["method"] = found
    nodes = dataclasses.replace(result, document=document).nodes
    assert [name for name in nodes if name.startswith("findings.method")] == [
        "findings.method.score"
    ]


def test_an_image_is_the_picture_in_the_runs_file(tmp_path: Path) -> None:
    result = biasgraph.load(judged_run(tmp_path / "run"))
    image = result.image(result.answers["image"].iloc[-1])
    path = Path(image.filename)  # type: ignore[attr-defined]
    assert path.parent == tmp_path / "run" / "images"
    with Image.open(path) as kept:
        assert image.tobytes() == kept.tobytes()
    with pytest.raises(biasgraph.InputError, match=r"no image 'x'.*column image of answers"):
        result.image("x")
    path.write_bytes(b"no picture")
    with pytest.raises(biasgraph.InputError, match="missing or damaged: rerun"):
        result.image(result.answers["image"].iloc[-1])


def test_an_image_that_was_withheld_is_said_to_be(tmp_path: Path) -> None:
    result = biasgraph.load(judged_run(tmp_path / "run"))
    with closing(sqlite3.connect(tmp_path / "run" / "ledger.sqlite")) as ledger, ledger:
        ledger.execute("UPDATE images SET withheld = 'policy'")
    with pytest.raises(biasgraph.InputError, match="was withheld: policy"):
        result.image(result.answers["image"].iloc[0])


def test_a_table_has_no_pictures(result: biasgraph.Result, tmp_path: Path) -> None:
    with pytest.raises(biasgraph.InputError, match="has no pictures: it came from a table"):
        result.image("a librarian/initial-0")
    biasgraph.save(result, tmp_path / "saved")
    with pytest.raises(biasgraph.InputError, match="has no pictures: it came from a table"):
        biasgraph.load(tmp_path / "saved").image("a librarian/initial-0")


def test_edges_are_those_of_the_graph_the_strongest_first(result: biasgraph.Result) -> None:
    edges = result.edges
    assert {*zip(edges["source"], edges["target"], strict=True)} == {*result.graph.edges}
    assert edges["is"].abs().is_monotonic_decreasing
