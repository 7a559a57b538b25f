"""report.html of a real run, opened in a real browser with the network off."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import biasgraph
from tests.answer_tables import librarian_table
from tests.browser.conftest import DARK, Open, small_targets

Json = dict[str, Any]


@pytest.fixture(scope="module")
def document(run: Path) -> Json:
    document: Json = json.loads((run / "graph.json").read_text())
    assert len(document["links"]) >= 2, "the tests below need edges"
    return document


@pytest.fixture
def page(open_page: Open, run: Path) -> Any:
    return open_page(run / "report.html")


def pair_number(document: Json, link: Json) -> int:
    ids = [node["id"] for node in document["nodes"]]
    return ids.index(link["source"]) * len(ids) + ids.index(link["target"])


def values(page: Any, selector: str) -> list[float]:
    """The whole numbers behind what is shown."""
    found = page.locator(f"{selector} data").evaluate_all("all => all.map(one => one.value)")
    return [float(value) for value in found]


def click_on_graph(page: Any, selection: Json) -> None:
    """Click where the graph shows an edge or an axis."""
    point = page.evaluate("one => biasgraph.page.graph.where(one, 0.6)", selection)
    box = page.locator("#graph").bounding_box()
    page.mouse.click(box["x"] + point["x"], box["y"] + point["y"])


def numbers_of(page: Any, term: str) -> list[float]:
    row = page.locator("#detail .numbers > div", has=page.get_by_text(term, exact=True))
    found = row.first.locator("data").evaluate_all("all => all.map(one => one.value)")
    return [float(value) for value in found]


def check_edge_panel(page: Any, document: Json, link: Json) -> None:
    assert page.locator("#detail h2").inner_text() == f"{link['source']} → {link['target']}"
    assert numbers_of(page, "χ² (degrees of freedom)") == [link["statistic"], link["dof"]]
    assert numbers_of(page, "p") == [link["p"]]
    assert numbers_of(page, "p, adjusted for all pairs") == [link["p_adjusted"]]
    assert numbers_of(page, "Cramér's V") == [link["cramers_v"]]
    assert numbers_of(page, "V, bias-corrected") == [link["cramers_v_corrected"]]
    lines = values(page, "#detail .number-line")
    assert lines == [
        *(link[name] for name in ("is", "is_ci_low", "is_ci_high")),
        *(link[name] for name in ("is_matched", "is_matched_ci_low", "is_matched_ci_high")),
        *(link[name] for name in ("w1_before", "w1_after")),
    ]
    target = next(node for node in document["nodes"] if node["id"] == link["target"])
    rows = page.locator("#detail .contingency tbody tr").count()
    columns = len(target["attributes"])
    cells = page.locator("#detail .contingency tbody td.heat data").evaluate_all(
        "all => all.map(one => Number(one.value))"
    )
    table = [cells[i * columns : (i + 1) * columns] for i in range(rows)]
    used = [target["attributes"].index(column) for column in link["columns"]]
    assert [[row[j] for j in used] for row in table if any(row)] == link["table"]
    assert page.locator("#detail img").count() >= 12


def test_clicking_an_edge_shows_the_numbers_of_graph_json(page: Any, document: Json) -> None:
    for link in document["links"]:
        click_on_graph(page, {"pair": pair_number(document, link)})
        check_edge_panel(page, document, link)


def test_clicking_an_axis_shows_the_numbers_of_graph_json(page: Any, document: Json) -> None:
    for i, node in enumerate(document["nodes"]):
        click_on_graph(page, {"axis": i})
        assert page.locator("#detail h2").inner_text() == node["id"]
        initial = node["initial"]
        bars = values(page, "#detail .bars")
        assert bars[::2] == initial["distribution"]
        assert bars[1::2] == initial["counts"]
        assert numbers_of(page, "Distance to the ideal") == [node["w1"], *node["w1_ci"]]
        assert numbers_of(page, "Valid answers") == [initial["n_valid"], initial["n_total"]]
        assert numbers_of(page, "By chance") == [node["w1_null"]["q95"]]
        diagonal = node["diagonal"]
        assert numbers_of(page, "Naming it worked") == [diagonal["accuracy"], diagonal["cramers_v"]]
        assert page.locator("#detail .film-row img").count() == 12
    page.mouse.click(5, 5)
    click_on_graph(page, {"axis": 0})


def test_the_first_screen_shows_what_most_images_show(page: Any, document: Json) -> None:
    nodes = sorted(
        (node for node in document["nodes"] if node["w1"] is not None),
        key=lambda node: (node["near_ideal"], -node["w1"]),
    )
    bars = page.locator("#seen .bar-row")
    assert bars.count() == len(nodes)
    for node, bar in zip(nodes, bars.all(), strict=True):
        share = max(node["initial"]["distribution"])
        place = node["initial"]["distribution"].index(share)
        assert (
            bar.locator(".bar-label").inner_text() == f"{node['id']}: {node['attributes'][place]}"
        )
        assert float(bar.locator("data").get_attribute("value")) == share
        ends = ", ".join(f"{100 * end:.0f}" for end in node["distribution_ci"][place])
        assert bar.locator("small").inner_text() == f"[{ends}]"
    assert page.locator("#seen img").count() == 8
    graph, seen = page.locator("#graph").bounding_box(), page.locator("#seen").bounding_box()
    assert seen["x"] > graph["x"] + graph["width"] and seen["y"] + seen["height"] < 900


def test_an_arrow_shows_before_and_after(page: Any, document: Json) -> None:
    link = document["links"][0]
    page.click(f"#matrix [data-k='{pair_number(document, link)}']")
    shares = [link["share_before"], link["share_after"]]
    assert values(page, "#detail .before-after") == shares
    mixed = values(page, "#detail .contingency .mixed")
    target = next(node for node in document["nodes"] if node["id"] == link["target"])
    assert mixed[target["attributes"].index(link["moved"])] == pytest.approx(link["share_after"])
    assert sum(mixed) == pytest.approx(1)
    assert page.locator("#detail .more").get_attribute("open") is None


def test_pictures_say_what_they_show(page: Any, document: Json) -> None:
    click_on_graph(page, {"axis": 0})
    image = page.locator("#detail .film img").first
    assert image.get_attribute("src").startswith("data:image/png;base64,")
    assert image.evaluate("one => one.decode().then(() => one.naturalWidth)") == 64
    text = image.get_attribute("alt")
    assert text.startswith("a librarian. The judge says ")
    assert all(f"{node['id']}: " in text for node in document["nodes"])


def test_all_of_it_by_keyboard(page: Any, document: Json) -> None:
    link = document["links"][0]
    cell = page.locator(f"#matrix [data-k='{pair_number(document, link)}']")
    cell.focus()
    page.keyboard.press("Enter")
    check_edge_panel(page, document, link)
    assert page.evaluate("document.activeElement.tagName") == "H2"
    page.keyboard.press("Escape")
    assert page.locator("#detail").is_hidden()
    assert cell.evaluate("one => one === document.activeElement")
    page.keyboard.press("ArrowRight")
    assert int(page.evaluate("document.activeElement.dataset.k")) == pair_number(document, link) + 1
    node = page.locator("#graph .node").first
    node.focus()
    page.keyboard.press("Space")
    assert page.locator("#detail h2").inner_text() == document["nodes"][0]["id"]
    assert document["nodes"][0]["id"] in page.locator("#said").inner_text()
    page.keyboard.press("Escape")
    assert node.evaluate("one => one === document.activeElement")
    row = page.locator(".pairs tbody button").first
    row.focus()
    page.keyboard.press("Enter")
    assert page.locator("#detail h2").is_visible()


def test_everything_that_can_be_clicked_can_be_reached(page: Any) -> None:
    expected = page.locator(
        "button:visible:not([tabindex='-1']), input:visible:enabled, select:visible, a:visible"
    )
    wanted = expected.count()
    page.evaluate("document.activeElement.blur()")
    reached = set()
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)")
        )
    assert len(reached) >= wanted


def shown_edges(page: Any) -> set[int]:
    edges = page.locator("#graph .edge")
    return set(edges.evaluate_all("all => all.map(one => Number(one.dataset.pair))"))


def test_thresholds_hide_edges(page: Any, document: Json) -> None:
    links = {pair_number(document, link): link for link in document["links"]}
    assert shown_edges(page) == set(links)
    middle = sorted(abs(link["is"]) for link in links.values())[len(links) // 2]
    page.fill("#is-number", f"{middle:.3f}")
    page.press("#is-number", "Enter")
    kept = {k for k, link in links.items() if abs(link["is"]) >= round(middle, 3)}
    assert shown_edges(page) == kept
    assert page.locator("#shown").inner_text().startswith(f"{len(kept)} of {len(links)} edge")
    page.locator("#is").fill("0")
    assert shown_edges(page) == set(links)
    page.locator("#p").fill("4")
    few = {k for k, link in links.items() if link["p"] <= 1e-4}
    assert shown_edges(page) == few
    page.click("#reset")
    page.check("#pruned")
    size = len(document["nodes"])
    assert len(shown_edges(page)) == size * (size - 1)


def test_focus_leaves_the_outgoing_edges_of_one_axis(page: Any, document: Json) -> None:
    axis = document["links"][0]["source"]
    page.select_option("#focus", label=axis)
    out = {pair_number(document, one) for one in document["links"] if one["source"] == axis}
    assert shown_edges(page) == out
    page.check("#incoming")
    near = out | {pair_number(document, one) for one in document["links"] if one["target"] == axis}
    assert shown_edges(page) == near
    page.check("#only-shown")
    assert page.locator(".pairs tbody tr:visible").count() == len(near)


def test_the_address_holds_the_view(page: Any, document: Json, open_page: Open, run: Path) -> None:
    link = document["links"][-1]
    page.select_option("#focus", label=link["source"])
    page.check("#pruned")
    page.click("th[data-key='p'] button")
    page.click("#theme")
    page.click(f"#matrix [data-k='{pair_number(document, link)}']")
    fragment = page.evaluate("location.hash").removeprefix("#")
    other = open_page(run / "report.html", fragment)
    check_edge_panel(other, document, link)
    state = "JSON.stringify(biasgraph.page.state)"
    assert page.evaluate(state) == other.evaluate(state)
    rows = ".pairs tbody th"
    assert page.locator(rows).all_inner_texts() == other.locator(rows).all_inner_texts()
    assert other.evaluate("document.documentElement.dataset.theme") == "dark"


def test_sorting_by_p(page: Any) -> None:
    for _ in range(2):
        page.click("th[data-key='p'] button")
    cells = page.locator(".pairs tbody td:nth-child(6) data")
    found = [float(one) for one in cells.evaluate_all("all => all.map(one => one.value)")]
    assert found == sorted(found)
    assert page.locator("th[data-key='p']").get_attribute("aria-sort") == "ascending"


def test_matrix_and_table_hold_every_pair(page: Any, run: Path) -> None:
    import pandas as pd

    pairs = pd.read_csv(run / "pairs.csv")
    pairs = pairs[pairs["source"] != pairs["target"]]
    off = "#matrix td button:not(.own) data"
    cells = page.locator(off).evaluate_all("all => all.map(one => Number(one.value))")
    assert cells == pairs["is"].tolist()
    shown = page.locator(".pairs tbody td:nth-child(3) data")
    numbers = shown.evaluate_all("all => all.map(one => Number(one.value))")
    assert sorted(numbers) == sorted(pairs["is"])


def test_search_finds_axes_and_attributes(page: Any) -> None:
    page.fill("#find", "happ")
    page.click("#found button")
    assert page.locator("#detail h2").inner_text() == "emotion"
    page.fill("#find", "zebra")
    assert "no axis" in page.locator("#found").inner_text()


def test_hovering_tells_and_highlights(page: Any, document: Json) -> None:
    point = page.evaluate("biasgraph.page.graph.where({axis: 0})")
    box = page.locator("#graph").bounding_box()
    page.mouse.move(box["x"] + point["x"] - 60, box["y"] + point["y"])
    page.mouse.move(box["x"] + point["x"], box["y"] + point["y"], steps=5)
    page.wait_for_selector("#tip:visible")
    assert document["nodes"][0]["id"] in page.locator("#tip").inner_text()
    near = {0}
    for link in document["links"]:
        ends = [node["id"] for node in document["nodes"]]
        ends = [ends.index(link["source"]), ends.index(link["target"])]
        near |= set(ends) if 0 in ends else set()
    lit = page.locator("#graph .node:not(.dim)")
    assert set(lit.evaluate_all("all => all.map(one => Number(one.dataset.axis))")) == near


def test_the_keys_reach_and_name_all_of_the_graph(page: Any, document: Json) -> None:
    ids = [node["id"] for node in document["nodes"]]
    page.locator(".skip").focus()
    page.keyboard.press("Tab")
    for _ in range(20):
        if page.evaluate("document.activeElement.closest('#graph') !== null"):
            break
        page.keyboard.press("Tab")
    said = []
    for _ in range(len(ids) + len(document["links"])):
        said.append(page.evaluate("document.activeElement.ariaLabel"))
        assert page.locator("#tip").is_visible(), "the keys tell what the pointer tells"
        page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.ariaLabel") == said[0], "round and round"
    for node in document["nodes"]:
        [text] = [one for one in said if one.startswith(f"{node['id']}, ")]
        assert f"distance to its ideal {node['w1']:.3f}" in text
    for link in document["links"]:
        moves = f"{link['source']} moves {link['target']}"
        [text] = [one for one in said if one.startswith((f"{moves} ", f"{moves},"))]
        sign = {"towards": " towards its ideal", "away": " away from its ideal"}
        number = f"{link['is']:+.2f}".replace("-", "\N{MINUS SIGN}")
        expected = sign.get(link["sign"], ", direction undetermined")
        assert text == f"{moves}{expected}, IS {number}, open the table"
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.ariaLabel").startswith(f"{ids[1]}, ")
    page.keyboard.press("End")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.locator("#detail h2").inner_text() == ids[0]
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.axis") == "0"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#graph')") is None, "one stop of Tab"


def test_the_keys_reach_and_name_every_cell_of_the_matrix(page: Any, document: Json) -> None:
    ids = [node["id"] for node in document["nodes"]]
    page.locator("#matrix [data-k='0']").focus()
    for k in range(len(ids) ** 2):
        source, target = ids[k // len(ids)], ids[k % len(ids)]
        here = page.evaluate("document.activeElement.dataset.k")
        said = page.evaluate("document.activeElement.ariaLabel")
        assert here == str(k) and said.startswith(f"{source} to {target}: ")
        assert ("IS" in said) == (source != target)
        page.keyboard.press("ArrowRight")


def test_the_keys_reach_and_name_every_picture_of_a_panel(page: Any) -> None:
    page.locator("#matrix [data-k='1']").focus()
    page.keyboard.press("Enter")
    count = page.locator("#detail button:has(img)").count()
    assert count >= 12
    reached: dict[int, str] = {}

    def look() -> bool:
        """Whether another picture has the focus."""
        place, name = page.evaluate(
            "(() => { const all = [...document.querySelectorAll('#detail button:has(img)')];"
            " const here = document.activeElement;"
            " return [all.indexOf(here), here.ariaLabel || here.querySelector('img')?.alt]; })()"
        )
        new = place >= 0 and place not in reached
        reached.update({place: name} if new else {})
        return new

    for _ in range(12):  # a strip is one stop of the Tab key
        page.keyboard.press("Tab")
        while look():
            page.keyboard.press("ArrowRight")
    assert len(reached) == count
    assert all("librarian" in name for name in reached.values())


def test_no_name_or_number_covers_another(page: Any, document: Json) -> None:
    boxes = page.locator("#graph .names text, #graph .number rect").evaluate_all(
        "all => all.map(one => { const {x, y, width, height} = one.getBoundingClientRect();"
        " return [x, y, x + width, y + height]; })"
    )
    assert len(boxes) > len(document["nodes"])
    for i, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[:i]:
            apart = right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
            assert apart


def test_downloads(page: Any, document: Json, tmp_path: Path) -> None:
    from PIL import Image

    with page.expect_download() as waiting:
        page.click("#png")
    waiting.value.save_as(tmp_path / "view.png")
    with Image.open(tmp_path / "view.png") as image:
        assert image.width >= 640
        colours = {colour for _, colour in image.convert("RGB").getcolors(1 << 24)}
        assert {(0, 114, 178), (95, 102, 112)} & colours, "there are edges on it"
    with page.expect_download() as waiting:
        page.click("#json")
    waiting.value.save_as(tmp_path / "graph.json")
    assert json.loads((tmp_path / "graph.json").read_text()) == document


def test_the_same_places_in_every_report(page: Any, open_page: Open, run: Path) -> None:
    places = "all => all.map(one => [one.getAttribute('cx'), one.getAttribute('cy')])"
    other = open_page(run / "report.html", "theme=dark", 800)
    circles = [one.locator("#graph circle").evaluate_all(places) for one in (page, other)]
    assert circles[0] == circles[1]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=DARK)])
@pytest.mark.parametrize("width", [360, 768, 1600])
def test_nothing_runs_over_the_edge(
    open_page: Open, run: Path, document: Json, width: int, scheme: str
) -> None:
    page = open_page(run / "report.html", width=width, scheme=scheme)
    for selection in ("null", "{pair: 1}", "{axis: 0}"):
        page.evaluate(f"biasgraph.page.pick({selection})")
        scroll, client = page.evaluate(
            "[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]"
        )
        assert scroll <= client
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor").startswith("rgb(13,")
    assert dark == (scheme == "dark")


PLACES = "all => all.map(one => Math.round(one.getBoundingClientRect().top + scrollY))"


def test_the_page_is_told_in_this_order(page: Any) -> None:
    order = "#seen, #overview, #matrix, #pairs, #axis-table, #graph-findings-section, #json"
    tops = page.locator(order).evaluate_all(PLACES)
    assert tops == sorted(tops)
    folded = page.locator("#graph-findings > details")
    assert [one.inner_text() for one in folded.all() if one.bounding_box()["height"] >= 50] == []


@pytest.mark.parametrize("width", [1440, 1024, 768])
def test_no_column_is_clipped(open_page: Open, run: Path, width: int) -> None:
    page = open_page(run / "report.html", width=width)
    for name in ("#matrix", "#pairs", "#axis-table"):
        inner, outer = page.locator(name).evaluate("one => [one.scrollWidth, one.clientWidth]")
        assert inner <= outer, name
        section = page.locator(f"section:has(> {name})").bounding_box()["width"]
        assert section == page.locator("main").bounding_box()["width"]
    page.click("#matrix [data-k='1']")
    panel = page.locator("#panel").bounding_box()
    assert (panel["x"] > 0) == (width >= 1080)


def test_on_a_phone_the_matrix_stands_for_the_graph(
    open_page: Open, run: Path, document: Json
) -> None:
    page = open_page(run / "report.html", width=390)
    assert page.locator("#graph").is_hidden()
    places = page.locator("#matrix, #overview").evaluate_all(PLACES)
    assert places[0] < places[1], "it stands where the graph stood"
    link = document["links"][0]
    cell = page.locator(f"#matrix [data-k='{pair_number(document, link)}']")
    cell.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    cell.click()
    check_edge_panel(page, document, link)
    panel = page.locator("#panel").bounding_box()
    assert panel["x"] == 0 and panel["y"] > 200 and round(panel["y"] + panel["height"]) == 780
    page.click("#close")
    assert page.locator("#panel").is_hidden() and page.evaluate("scrollY") == before
    assert cell.evaluate("one => one === document.activeElement")
    page.set_viewport_size({"width": 1200, "height": 900})
    page.wait_for_selector("#graph .node", state="visible")
    page.wait_for_selector("#overview ~ #matrix-section")  # it has moved back
    places = page.locator("#overview, #matrix").evaluate_all(PLACES)
    assert places[0] < places[1]


def test_on_a_phone_fingers_have_room_and_numbers_stay_whole(open_page: Open, run: Path) -> None:
    page = open_page(run / "report.html", width=390)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.evaluate("biasgraph.page.pick({ pair: 1 })")
    assert small_targets(page) == []
    whole = page.locator("p .unbroken, li .unbroken").all_inner_texts()
    told = page.locator(".lead, .strongest").all_inner_texts()
    for interval in re.findall(r"\[[\d+-][^]]*\]", " ".join(told)):
        assert interval in whole
    lines = "all => all.every((one) => one.getClientRects().length === 1)"
    assert page.locator(".unbroken").evaluate_all(lines)


def test_sandbox_banner(page: Any, document: Json) -> None:
    assert document["graph"]["toy"] in page.locator(".toy").inner_text()


def test_the_page_opens_in_two_seconds(page: Any) -> None:
    timing = page.evaluate("performance.getEntriesByType('navigation')[0].domComplete")
    assert timing < 2000


def test_pairs_without_pictures_are_not_called_pairs_without_an_edge(
    open_page: Open, tmp_path: Path
) -> None:
    table = librarian_table(images=20)
    some = table[(table["role"] == "initial") | (table["axis"] == "age")]
    for name, answers, said in (
        ("none", table[table["role"] == "initial"], {("not tested", "not tested")}),
        ("some", some, {("no edge", "not tested"), ("not tested", "no edge")}),
    ):
        biasgraph.build(answers=answers, output=tmp_path / name, bootstrap=100)
        rows = open_page(tmp_path / name / "report.html").locator(".axes-table tbody tr").all()
        ends = [tuple(row.locator("td").all_inner_texts()[-2:]) for row in rows]
        assert {*ends} == said
