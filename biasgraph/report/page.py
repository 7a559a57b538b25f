"""report.html: the graph of a result as one page that works from the disk with the network off."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.data.file_names import PROMPTS, REPORT
from biasgraph.data.findings import image_ids
from biasgraph.report import html, words
from biasgraph.report.page_data import page_data
from biasgraph.report.thumbnails import Pictures, Thumbnails
from biasgraph.report.vis_network import drawing

if TYPE_CHECKING:
    from biasgraph.data.result import Result

SCRIPTS = ("findings.js", "agreement.js", "strip.js", "panel.js", "tables.js", "seen.js", "page.js")
STYLES = ("report.css", "marked_text.css")


def report_html(result: Result, *, images: bool = True, links: bool = True) -> bytes:
    """The page of one result; its pictures come from the run in `result.directory`.

    Args:
        result: What it shows.
        images: Show thumbnails, where there is a run that has the images.
        links: Link to the reports of the same run, for a page that stands in that directory.

    Raises:
        InputError: the files of the result do not fit each other.
    """
    pictures = Pictures.of(result.directory) if images else Pictures()
    return _Page.of(result, pictures, links, _is_one_of_many(result.directory)).render()


def pages(result: Result) -> dict[str, bytes]:
    """The report of a result to pass on; of many prompts, with theirs, which it links to."""
    return report_files(result) if result.prompts else {REPORT: report_html(result, links=False)}


def report_files(
    result: Result,
    *,
    directory: Path | None = None,
    images: bool = True,
    only_changed: bool = False,
) -> dict[str, bytes]:
    """The reports of a result and of its prompts, by their path in the result's directory.

    Args:
        result: What they show.
        directory: Where the result is or will be saved; `result.directory` unless given.
        images: Show thumbnails.
        only_changed: Leave out pages that exist and were made from the same.

    Raises:
        InputError: as `report_html`.
    """
    folder = directory or result.directory
    pictures = Pictures.of(folder) if images else Pictures()
    records = result.document["graph"].get("prompts") or ()
    results = {"": result} | {
        f"{record['directory']}/": prompt
        for record, prompt in zip(records, result.prompts, strict=True)
    }
    files = {}
    for place, part in results.items():
        page = _Page.of(part, pictures, True, bool(place) or _is_one_of_many(folder))
        old = folder and html.digest_in(folder / place / REPORT)
        if not (only_changed and old == page.digest):
            files[place + REPORT] = page.render()
    return files


def _is_one_of_many(directory: Path | None) -> bool:
    """Whether the result in `directory` is that of one prompt in a run of several."""
    if directory is None or directory.absolute().parent.name != PROMPTS:
        return False
    return (directory.absolute().parent.parent / "graph.json").is_file()


@dataclass(frozen=True)
class _Page:
    """A page before any picture is opened.

    Attributes:
        model: What its scripts draw.
        context: What its template writes.
        thumbnails: Its pictures.
        digest: Of everything that goes in, the pictures by the hashes of their files.
    """

    model: dict[str, Any]
    context: dict[str, Any]
    thumbnails: Thumbnails
    digest: str

    @classmethod
    def of(cls, result: Result, pictures: Pictures, links: bool, one_of_many: bool) -> _Page:
        thumbnails = Thumbnails.of(result.answers, pictures, list(image_ids(result.document)))
        model, context = page_data(result, thumbnails)
        context["links"] = links
        context["all_prompts"] = f"../../{REPORT}" if links and one_of_many else None
        digest = html.digest_of(model, context, sorted(thumbnails.hashes().items()))
        return cls(model, context, thumbnails, digest)

    def render(self) -> bytes:
        model = self.model
        encoded = self.thumbnails.encode()
        images = [image | {"src": encoded.get(image["id"])} for image in model["images"]]
        drawn = drawing(model["document"]["nodes"], model["pairs"])
        return html.render(
            "report.html",
            model=model | {"drawing": drawn, "images": images},
            scripts=SCRIPTS,
            styles=STYLES,
            digest=self.digest,
            pictures=words.pictures(sum(image["src"] is None for image in images)),
            **self.context,
        )
