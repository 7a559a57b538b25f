"""compare.html of two real runs, opened in a real browser with the network off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import biasgraph as package
from biasgraph.audits.compare.comparison import compare_results
from biasgraph.audits.compare.gates import Gate
from biasgraph.report.comparison_summary import is_clear
from tests.answer_tables import librarian_table
from tests.browser.conftest import SMALL, Open, biasgraph, broken_words, small_targets
from tests.hostile import HOSTILE, UNWRITABLE
from tests.shared_runs import copy_run

Json = dict[str, Any]
VERBS = ("moves", "to")
"""Between the ends of an edge, in a run's own graph and in the graph of changes."""

pytestmark = pytest.mark.slow(
    reason="another build; report/test_comparison_page.py reads the page, test_report.py clicks"
)


@pytest.fixture(scope="module")
def comparison(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The debiased sandbox as the baseline of the stereotyped one."""
    folder = tmp_path_factory.mktemp("compared")
    baseline = folder / "a baseline & more"
    model = ("--model", "sandbox:debiased")
    copy_run(baseline, "build", "--prompt", "a librarian", *model, *SMALL)
    biasgraph("compare", baseline, run, "-o", folder / "out", "-q", "--fail-if", "new-edges>9")
    return folder / "out"


@pytest.fixture(scope="module")
def document(comparison: Path) -> Json:
    document: Json = json.loads((comparison / "compare.json").read_bytes())
    return document


@pytest.fixture
def page(open_page: Open, comparison: Path) -> Any:
    return open_page(comparison / "compare.html")


def numbers(page: Any, selector: str) -> list[float]:
    found = page.locator(f"{selector} data").evaluate_all("all => all.map(one => one.value)")
    return [float(value) for value in found]


def edges_of(comparison: Path) -> list[int]:
    """The pairs that are edges of the second run."""
    document = json.loads((comparison / "compare.json").read_bytes())
    ids = [axis["id"] for axis in document["axes"]]
    [found] = document["comparisons"]
    return [
        ids.index(pair["source"]) * len(ids) + ids.index(pair["target"])
        for pair in found["pairs"]
        if pair["edge_run"]
    ]


def test_a_phone_shows_the_graphs(open_page: Open, comparison: Path) -> None:
    page = open_page(comparison / "compare.html", width=390)
    assert page.locator("#graphs svg").first.is_visible()


def test_a_phone_shows_every_verdict_and_has_room_for_fingers(
    open_page: Open, comparison: Path
) -> None:
    page = open_page(comparison / "compare.html", width=390)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    wide, seen = page.locator("#pairs").evaluate("one => [one.scrollWidth, one.clientWidth]")
    assert wide <= seen
    assert page.locator("#pairs td.class bdi").first.inner_text()
    assert broken_words(page, "#pairs bdi") == []
    page.evaluate("biasgraph.page.pick({ pair: 1 })")
    assert small_targets(page) == []


def test_every_axis_of_every_graph_keeps_its_name(open_page: Open, comparison: Path) -> None:
    for width in (1440, 768, 390):
        page = open_page(comparison / "compare.html", width=width)
        names = page.locator("#graphs .names > text:not(.covered) .name")
        assert names.count() == 3 * 4
        assert names.first.is_visible()


CROSSED = """graph => {
  const places = [...graph.querySelectorAll(".edge .line")].flatMap((path) => {
    const steps = [...Array(40).keys()].map((i) => (path.getTotalLength() * i) / 39);
    return steps.map((at) => path.getPointAtLength(at).matrixTransform(path.getScreenCTM()));
  });
  return [...graph.querySelectorAll(".names > text:not(.covered)")].filter((name) => {
    const box = name.getBoundingClientRect();
    const inside = ({ x, y }) => x > box.left && x < box.right && y > box.top && y < box.bottom;
    return places.some(inside);
  }).map((name) => name.textContent);
}"""


def test_an_arrow_from_below_does_not_run_through_a_name(open_page: Open, tmp_path: Path) -> None:
    others = {name: (f"low {name}", f"high {name}") for name in "abcdef"}
    pulls = {"gender": ("male", "female"), "clothing": ("formal", "casual")}
    axes = dict([*[*others.items()][:5], *pulls.items(), *[*others.items()][5:]])
    runs = [
        package.analyze(librarian_table(images=60, axes=axes, seed=i), bootstrap=100)
        for i in range(2)
    ]
    compare_results(runs).save(tmp_path)
    page = open_page(tmp_path / "compare.html", width=390)
    for graph in page.locator("#graphs figure").all()[:2]:
        assert graph.locator(".edge").count() > 0
        assert graph.evaluate(CROSSED) == []


def click(page: Any, graph: int, selection: Json) -> None:
    """Click where a graph shows an edge or an axis."""
    box = page.locator("figure .canvas").nth(graph)
    box.scroll_into_view_if_needed()
    point = page.evaluate(
        "([i, one]) => biasgraph.page.graphs[i].where(one, 0.6)", [graph, selection]
    )
    corner = box.bounding_box()
    page.mouse.click(corner["x"] + point["x"], corner["y"] + point["y"])


def highlighted(page: Any) -> list[list[int]]:
    """The edges that each graph marks as selected."""
    found: list[list[int]] = page.evaluate(
        "biasgraph.page.graphs.map((graph) => [...graph.element.querySelectorAll('.edge.selected')]"
        ".map((edge) => Number(edge.dataset.pair)))"
    )
    return found


def test_an_edge_clicked_in_one_graph_is_selected_in_all(
    page: Any, comparison: Path, document: Json
) -> None:
    [found] = document["comparisons"]
    ids = [axis["id"] for axis in document["axes"]]
    edges = edges_of(comparison)
    assert edges
    for k in edges:
        click(page, 1, {"pair": k})
        assert highlighted(page) == [[k]] * 3
        pair = next(
            p for p in found["pairs"] if [p["source"], p["target"]] == [ids[k // 4], ids[k % 4]]
        )
        assert page.locator("#detail h2").inner_text() == f"{pair['source']} → {pair['target']}"
        shown = numbers(page, "#detail > .scroll:last-child")
        assert shown == [
            *(pair[name] for name in ("is_baseline", "is_run", "difference")),
            *pair["difference_ci"],
            pair["difference_matched"],
            *pair["difference_matched_ci"],
            *(pair[name] for name in ("p", "p_adjusted", "n_initial", "n_interventions")),
        ]
        assert page.locator("#detail .class").inner_text() == pair["class"]


def test_an_axis_shows_its_distances_and_strengths(page: Any, document: Json) -> None:
    for i, axis in enumerate(document["axes"]):
        click(page, 0, {"axis": i})
        assert page.locator("#detail h2").inner_text() == axis["id"]
        expected: list[float] = []
        for run in document["runs"]:
            here = (axis["id"], run["name"])
            distance = next(d for d in document["distances"] if (d["axis"], d["run"]) == here)
            strength = next(d for d in document["strengths"] if (d["axis"], d["run"]) == here)
            expected += [distance["w1"], *distance["w1_ci"]]
            if run is not document["runs"][0]:
                growth = document["comparisons"][0]["distances"][i]
                expected += [growth["growth"], *growth["growth_ci"]]
            for end in ("in", "out"):
                expected.append(strength[end]["value"])
        assert numbers(page, "#detail") == expected


def test_lines_and_table_hold_the_numbers_of_compare_json(page: Any, document: Json) -> None:
    growth = document["comparisons"][0]["distances"]
    for clear, place in ((True, "#distances"), (False, "#unchanged")):
        expected = [
            number
            for axis, grown in zip(document["axes"], growth, strict=True)
            if is_clear(grown) == clear
            for one in document["distances"]
            if one["axis"] == axis["id"]
            for number in (one["w1"], *one["w1_ci"], one["probability_closest"])
        ]
        assert numbers(page, place) == expected
    within = sum(not is_clear(row) for row in growth)
    assert page.locator("#unchanged > summary").all_inner_texts() == [
        f"Within chance: {within} {'axis' if within == 1 else 'axes'}"
    ]
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    expected = [
        number
        for axis in document["axes"]
        for one in document["strengths"]
        if one["axis"] == axis["id"]
        for number in (one["in"]["value"], one["in"]["lowest_of_runs"])
    ]
    assert numbers(page, "#incoming-lines") == expected
    expected = [
        number
        for one in document["amplification"]
        for number in (one["value"], one["lowest_of_runs"])
    ]
    assert numbers(page, "#amplification") == expected
    pairs = document["comparisons"][0]["pairs"]
    assert page.locator("#pairs tbody tr").count() == len(pairs) == 12
    page.locator("#pairs").get_by_role("button", name="Change", exact=True).click()
    changes = page.locator("#pairs tbody tr td:nth-child(5) > data")
    shown = changes.evaluate_all("all => all.map(one => Number(one.value))")
    assert shown == sorted((pair["difference"] for pair in pairs), reverse=True)


def test_the_difference_view_tells_the_classes_apart(page: Any, document: Json) -> None:
    ids = [axis["id"] for axis in document["axes"]]
    drawn = page.evaluate("biasgraph.model.differences[0].drawing.edges")
    looks = {(ids[edge["from"]], ids[edge["to"]]): edge for edge in drawn}
    for pair in document["comparisons"][0]["pairs"]:
        edge = looks[pair["source"], pair["target"]]
        rose = "rose" if pair["difference"] > 0 else "fell"
        wanted = {"changed": rose, "in both": "both"}.get(pair["class"], "undecided")
        assert edge["sign"] == wanted
        assert edge["edge"] == (pair["class"] != "in neither")
        assert edge["is"] == pair["difference"]
    for view, count in (("own", 2), ("changes", 1), ("both", 3)):
        page.locator(f"[data-view={view}]").click()
        assert page.locator("figure:visible").count() == count


def test_scale_and_places_are_shared(page: Any) -> None:
    there = None
    for width in (1600, 900):
        page.set_viewport_size({"width": width, "height": 900})
        there = page.wait_for_function(
            """before => {
              const all = biasgraph.page.graphs.map((graph) =>
                JSON.stringify([...Array(4).keys()].map((axis) => graph.where({axis}))));
              return all.length === 3 && all[0] !== before && new Set(all).size === 1 && all[0];
            }""",
            arg=there,
        ).json_value()


def test_by_keyboard(page: Any, document: Json) -> None:
    page.locator("#axes .chip").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.locator("#detail h2").inner_text() == document["axes"][1]["id"]
    assert page.evaluate("document.activeElement.tagName") == "H2"
    assert document["axes"][1]["id"] in page.locator("#said").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#detail").is_hidden()
    assert page.evaluate("document.activeElement.className") == "chip"
    folded = page.locator("details", has=page.locator("#pairs")).locator("summary")
    folded.focus()
    page.keyboard.press("Enter")
    page.locator("#pairs tbody button").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#detail h2").is_visible()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.tagName") == "BUTTON"
    folded.click()
    page.evaluate("biasgraph.page.pick({pair: 1})")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_the_keys_reach_and_name_all_of_every_graph(page: Any, document: Json) -> None:
    ids = [axis["id"] for axis in document["axes"]]
    for graph in page.locator("#graphs .canvas").all():
        items = graph.locator("[data-axis], [data-pair]")
        graph.locator("[tabindex='0']").focus()
        said: dict[str, str] = {}
        for _ in range(items.count()):
            kind, name = page.evaluate(
                "(() => { const {axis, pair} = document.activeElement.dataset;"
                " return [pair === undefined ? `axis ${axis}` : `pair ${pair}`,"
                " document.activeElement.ariaLabel]; })()"
            )
            said[kind] = name
            page.keyboard.press("ArrowRight")
        assert len(said) == items.count() >= len(ids)
        for kind, name in said.items():
            number = int(kind.split()[1])
            if kind.startswith("axis"):
                assert name.startswith(f"{ids[number]}, ")
            else:
                ends = ids[number // len(ids)], ids[number % len(ids)]
                assert name.startswith(tuple(f"{ends[0]} {verb} {ends[1]}" for verb in VERBS))
        last = [*said][-1].replace("axis ", "data-axis=").replace("pair ", "data-pair=")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "detail-title"
        page.keyboard.press("Escape")
        back = graph.locator(f"[{last.replace('=', '=' + chr(39))}']")
        assert back.evaluate("one => one === document.activeElement")


def test_thresholds_and_focus(page: Any) -> None:
    shown = "biasgraph.page.graphs.map((graph) => graph.shown().edges + graph.shown().pruned)"
    page.locator("#pruned").check()
    assert page.evaluate(shown) == [12, 12, 12]
    page.locator("#focus").select_option("1")
    assert page.evaluate(shown) == [3, 3, 3]
    page.locator("#is").fill("0.5")
    assert page.evaluate(shown) == [0, 0, 0]
    page.locator("#reset").click()
    assert not page.locator("#pruned").is_checked()


def test_gates_toy_and_links(page: Any, run: Path, comparison: Path) -> None:
    assert "They say nothing about any real model" in page.locator(".banner").inner_text()
    assert "Passed" in page.locator(".gates").inner_text()
    links = page.locator(".runs a")
    for link, report in ((0, comparison.parent / "a baseline & more"), (1, run)):
        assert (report / "report.html").exists()
        href = links.nth(link).evaluate("one => one.href")
        assert href == (report / "report.html").as_uri().replace("&", "%26")


@pytest.mark.parametrize("width", [360, 390, 768])
def test_names_break_behind_their_separators(open_page: Open, comparison: Path, width: int) -> None:
    page = open_page(comparison / "compare.html", width=width)
    page.evaluate("biasgraph.page.pick({ pair: 1 })")
    names = "table.side th, table.ranking th"
    assert "sandbox:stereotyped" in " ".join(page.locator(names).all_inner_texts())
    assert broken_words(page, names) == []


@pytest.mark.parametrize("width", [360, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_the_screen(
    open_page: Open, comparison: Path, tmp_path: Path, width: int, scheme: str
) -> None:
    page = open_page(comparison / "compare.html", "", width, scheme)
    page.locator("#axes .chip").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=tmp_path / "compare.png", full_page=True)


def test_hostile_names_are_nothing_but_text(open_page: Open, tmp_path: Path) -> None:
    words = [text for text in HOSTILE if text not in UNWRITABLE]
    axes = {words[4 * i]: tuple(words[4 * i + 1 : 4 * i + 4]) for i in range(len(words) // 4)}
    axes = dict(list(axes.items())[:26])
    for part, (prompt, model) in enumerate((words[:2], words[2:4], words[60:62])):
        chosen = dict(list(axes.items())[9 * part : 9 * part + 9])
        table = librarian_table(images=16, axes=chosen, prompt=prompt, model=model)
        result = package.analyze(table, bootstrap=100)
        found = compare_results(
            [result, result], gates=[Gate.parse(f"worse:{next(iter(chosen))}>9")]
        )
        found.save(tmp_path / str(part))
        page = open_page(tmp_path / str(part) / "compare.html")
        for k in range(len(chosen)):
            page.evaluate("k => biasgraph.page.pick({axis: k})", k)
            page.evaluate("k => biasgraph.page.pick({pair: k})", k + 1)
        text = page.locator("body").inner_text()
        assert page.locator("script").count() == page.evaluate("document.scripts.length")
        assert page.locator("img, iframe, object, embed").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 1600
        assert text
