"""The page of all runs: what its table says, and where its links lead."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

from biasgraph.audits.run_list import RunRow
from biasgraph.report.runs_page import address, runs_html
from tests.hostile import HOSTILE, UNWRITABLE
from tests.sampled import sampled


def row(directory: str = "a/b", **fields: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "page": "report.html", "date": "2026-11-02T10:00:00+00:00", "prompt": "a nurse",
        "prompts": 1, "model": "shop:v1", "judge": "vlm:judge", "images": 1392, "edges": 3,
        "measured": 2, "axis": "gender", "attribute": "female", "share": 0.9, "w1": 0.4,
        "w1_ci": [0.3, 0.5], "valid": 48, "ideal": "uniform",
    }  # fmt: skip
    return RunRow(directory, **known | fields).to_json()


class Page(HTMLParser):
    """The rows of the table's body as texts of cells, its links, all elements and attributes."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.rows: list[list[str]] = []
        self.in_cell = False
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self.in_cell = self.in_cell and tag not in ("th", "td")

    def handle_data(self, data: str) -> None:
        if self.in_cell:
            self.rows[-1][-1] += data

    @property
    def links(self) -> list[str | None]:
        return [value for name, value in self.attributes if name == "href"][2:]


def page_of(*rows: dict[str, Any], **options: Any) -> Page:
    return Page(runs_html(rows, **{"title": "outputs", **options}))


def lines(*rows: dict[str, Any]) -> list[list[str]]:
    """The texts of the cells of each run."""
    return page_of(*rows).rows[1 : 1 + len(rows)]


def test_a_run_is_told_with_interval_images_and_ideal() -> None:
    [line] = lines(row())
    far = "gender: 90\u00a0% female0.400 [0.300, 0.500], 48 images, ideal uniform"
    models = ["shop:v1", "vlm:judge"]
    assert line == ["a/b", "“a nurse”", far, *models, "1,392", "3", "2026-11-02"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"prompt": None, "prompts": 26}, "26 prompts"),
        ({"prompt": None, "prompts": None, "kind": "mine"}, "mine"),
        ({"state": "broken", "problem": "graph.json is damaged"}, "broken graph.json is damaged"),
        ({"state": "unfinished", "prompt": None, "prompts": None}, "unfinished build"),
    ],
)
def test_what_a_run_is_about(fields: dict[str, Any], said: str) -> None:
    [line] = lines(row(**fields))
    assert line[1] == said
    state = ("data-state", fields.get("state", "finished"))
    assert state in page_of(row(**fields)).attributes


def test_undefined_is_empty_and_nothing_far_is_said() -> None:
    none = {"axis": None, "attribute": None, "share": None, "w1": None, "w1_ci": None}
    few, whole, broken = lines(
        row(**none, measured=0),
        row(**none),
        RunRow("x", state="broken", problem="no").to_json(),
    )
    assert (few[2], whole[2]) == ("undecidable: too few images", "none clearly away")
    assert broken == ["x", "broken no", *[""] * 6]
    assert page_of(RunRow("x", state="broken", problem="no").to_json()).links == []


@pytest.mark.parametrize(
    ("above", "directory", "href"),
    [
        ("", "a/b", "a/b/report.html"),
        ("../out/", "a", "../out/a/report.html"),
        ("", ".", "report.html"),
        ("../", ".", "../report.html"),
        ("", "javascript:alert(1)", "javascript%3Aalert%281%29/report.html"),
        ("", "a?b#c%d e", "a%3Fb%23c%25d%20e/report.html"),
        ("", "\udcff", "%FF/report.html"),
    ],
)
def test_links_lead_to_files_alone(above: str, directory: str, href: str) -> None:
    assert page_of(row(directory), above=above).links == [href]
    assert address(f"{above}{directory}")[:2] != "//"


@pytest.mark.parametrize("payload", sampled(HOSTILE))
def test_hostile_text_stays_text(payload: str) -> None:
    fields = dict.fromkeys(("prompt", "model", "judge", "axis", "attribute", "ideal"), payload)
    directory = "a" if payload in UNWRITABLE else payload
    page, plain = page_of(row(directory, **fields), title=payload), page_of(row())
    tags = [[tag for tag in one.tags if tag != "wbr"] for one in (page, plain)]
    assert tags[0] == tags[1], "but for places where a long name may break"
    assert {name for name, _ in page.attributes} == {name for name, _ in plain.attributes}


def test_toys_are_said_to_be_toys() -> None:
    assert b"built-in toys" in runs_html([row(toy="These results describe a toy")], title="x")
    assert b"built-in toys" not in runs_html([row()], title="x")


def test_no_run_is_said() -> None:
    assert b"No runs." in runs_html([], title="outputs")
