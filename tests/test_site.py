"""What checks the built site sees what is wrong with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.check_site import mistakes

ROOT = Path(__file__).resolve().parents[1]


def site_of(folder: Path, body: str) -> Path:
    (folder / "deep").mkdir()
    (folder / "index.html").write_text(f"<h1 id='top'>Top</h1>{body}", "utf-8")
    (folder / "deep" / "a b.html").write_text("<a href='../index.html#top'>up</a>", "utf-8")
    (folder / "style.css").write_text("body { background: url('data:image/png;base64,x') }")
    return folder


def test_a_sound_site_has_no_mistakes(tmp_path: Path) -> None:
    body = (
        "<a href='deep/a%20b.html?x=1'>in</a><a href='#top'>top</a><a href='https://x.org'>out</a>"
        "<link rel='stylesheet' href='style.css?digest=1'><img src='data:image/png;base64,x'>"
    )
    assert [*mistakes(site_of(tmp_path, body))] == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<a href='gone.html'>x</a>", "index.html: gone.html leads nowhere"),
        ("<a href='#gone'>x</a>", "index.html: #gone leads nowhere"),
        ("<a href='deep/a%20b.html#gone'>x</a>", "index.html: deep/a%20b.html#gone leads nowhere"),
        ("<img src='gone.png'>", "index.html: gone.png leads nowhere"),
        ("<script src='https://x.org/x.js'></script>", "index.html loads https://x.org/x.js"),
        ("<link href='//x.org/x.css'>", "index.html loads //x.org/x.css"),
    ],
)
def test_a_mistake_is_seen(tmp_path: Path, body: str, said: str) -> None:
    assert [*mistakes(site_of(tmp_path, body))] == [said]


def test_style_sheets_load_nothing_from_elsewhere(tmp_path: Path) -> None:
    site = site_of(tmp_path, "")
    (site / "style.css").write_text("@import 'https://x.org/font.css';")
    assert [*mistakes(site)] == ["style.css loads https://x.org/font.css"]


def test_an_empty_folder_is_no_site(tmp_path: Path) -> None:
    assert [*mistakes(tmp_path)] == [f"{tmp_path} has no pages"]


def test_every_page_stands_in_one_table_of_contents() -> None:
    docs = ROOT / "docs"
    pages = {path.stem for path in docs.glob("*.md")}
    listed = [
        name
        for path in docs.glob("*.md")
        for tree in re.findall(r"```{toctree}\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
        for name in tree.split()
        if not name.startswith(":") and "/" not in name and not name.isdigit()
    ]
    assert sorted(listed) == sorted(pages - {"index"})
