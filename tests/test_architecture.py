"""The rooms of the package and the arrows between them, as docs/architecture.md draws them."""

from __future__ import annotations

import ast
import functools
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
PACKAGE = ROOT / "biasgraph"
FLOORS = [
    ["commands"],
    ["audits"],
    ["report"],
    ["methods", "runs", "sandbox"],
    ["prompts"],
    ["models"],
    ["data"],
    ["causal"],
    ["io"],
    ["errors"],
]
"""From the top down; rooms of one floor do not import each other in a circle."""


def room_of(module: str) -> str:
    return module.removeprefix("biasgraph.").partition(".")[0]


def imports_of(path: Path) -> Iterator[str]:
    """The modules of biasgraph that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path}: relative import"
        yield from (name for name in names if name.startswith("biasgraph."))


@functools.cache
def arrows() -> frozenset[tuple[str, str]]:
    """(room, a room that it imports) of the code."""
    rooms = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()}
    return frozenset(
        (room_of(".".join(path.relative_to(ROOT).with_suffix("").parts)), room_of(name))
        for path in PACKAGE.rglob("*.py")
        if path.parent != PACKAGE or path.stem == "errors"
        for name in imports_of(path)
        if room_of(name) in rooms
    )


def described(page: str) -> dict[str, set[str]]:
    """The rooms of the page's list, from the top down, and what each is said to import."""
    block = re.search(r"```text\n(.*?)```", page, re.S)
    assert block
    lines = [line.split() for line in block[1].splitlines()]
    return {room: set(imported) - {"nothing"} for room, _, *imported in lines}


def drawn(page: str) -> set[tuple[str, str]]:
    """The arrows of the page's picture."""
    block = re.search(r"```mermaid\n(.*?)```", page, re.S)
    assert block
    return {
        (start, end)
        for line in block[1].splitlines()
        for starts, _, ends in [line.partition(" --> ")]
        for start in starts.strip().split(" & ")
        for end in ends.split(" & ")
        if end
    }


def test_the_page_lists_the_imports_of_every_room() -> None:
    listed = described(PAGE.read_text("utf-8"))
    assert set(listed) == {room for floor in FLOORS for room in floor}
    between = {(room, other) for room, other in arrows() if room != other}
    assert {(room, other) for room in listed for other in listed[room]} == between


def test_every_arrow_runs_downward() -> None:
    floor_of = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
    up = {(room, other) for room, other in arrows() if floor_of[other] < floor_of[room]}
    assert up == set()
    beside = {(a, b) for a, b in arrows() if a != b and floor_of[a] == floor_of[b]}
    assert not {(b, a) for a, b in beside} & beside
    listed = [*described(PAGE.read_text("utf-8"))]
    assert sorted(listed, key=floor_of.__getitem__) == listed


def test_the_picture_has_the_arrows_that_do_not_follow_from_others() -> None:
    graph = nx.DiGraph((room, other) for room, other in arrows() if room != other)
    assert drawn(PAGE.read_text("utf-8")) == {*nx.transitive_reduction(graph).edges}


def test_what_the_page_names_is_there() -> None:
    page = PAGE.read_text("utf-8")
    rooms = "|".join(room for floor in FLOORS for room in floor)
    names = set(re.findall(rf"`((?:{rooms})(?:\.\w+)+)`", page))
    assert len(names) > 20
    for name in names:
        assert pkgutil.resolve_name(f"biasgraph.{name}") is not None, name
    paths = set(re.findall(r"`((?:biasgraph|templates|tests|docs)/[\w./]+)`", page))
    assert len(paths) > 8
    for path in paths:
        assert (ROOT / path).exists(), path


def test_an_arrow_that_is_not_drawn_would_be_seen(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        "def f():\n    from biasgraph.report import page\n    import biasgraph.io.version\n"
    )
    assert [*imports_of(file)] == ["biasgraph.report.page", "biasgraph.io.version"]
    assert drawn("```mermaid\nflowchart TD\n    a --> b & c\n```") == {("a", "b"), ("a", "c")}
    assert described("```text\na: b c\nb -> nothing\n```".replace(":", " ->")) == {
        "a": {"b", "c"},
        "b": set(),
    }
