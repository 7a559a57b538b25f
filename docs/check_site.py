"""Checks a built site: python docs/check_site.py FOLDER.

Every link into the site leads to a page or file that is there, and to a place in it; no page loads
anything from elsewhere. Sphinx checks the links of Markdown, and none of those in raw HTML.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ELSEWHERE = re.compile(r"""(?:https?:)?//[^"')\s]+""")
LOADED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "link": "href"}
REPORTS = "reports"
"""The folder of the gallery's reports, whose scripts make places of their own."""


class Page(HTMLParser):
    """What a page links to, what it loads, and its places."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember the links and the place of an element."""
        about = {name: value or "" for name, value in attrs}
        self.places |= {about[name] for name in ("id", "name") if name in about}
        if tag == "a" and "href" in about:
            self.links.append(about["href"])
        elif about.get(LOADED.get(tag, ""), ""):
            self.loaded.append(about[LOADED[tag]])


def mistakes(site: Path) -> Iterator[str]:
    """What is wrong with a site, a line for each."""
    written = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in written}
    if not pages:
        yield f"{site} has no pages"
    for path, page in pages.items():
        here = path.relative_to(site.resolve())
        for link in (*page.links, *page.loaded):
            if link in page.loaded and ELSEWHERE.match(link):
                yield f"{here} loads {link}"
            elif not _is_there(link, path, pages):
                yield f"{here}: {link} leads nowhere"
    for sheet in site.rglob("*.css"):
        for loaded in re.findall(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')\s]+)",
                                 sheet.read_text("utf-8")):  # fmt: skip
            yield f"{sheet.relative_to(site)} loads {loaded}"


def _is_there(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if REPORTS in path.parts or not parts.fragment:
        return target.exists()
    return target in pages and unquote(parts.fragment) in pages[target].places


if __name__ == "__main__":
    found = list(mistakes(Path(sys.argv[1])))
    print(*found, sep="\n")
    raise SystemExit(1 if found else 0)
