"""report.html: the graph of a result as one page that works from the disk with the network off."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from biasgraph.findings import image_ids
from biasgraph.report import html, words
from biasgraph.report.drawing import drawing
from biasgraph.report.page_data import REPORT, PageData, page_data
from biasgraph.report.thumbnails import Thumbnails, run_directory, thumbnails_of

if TYPE_CHECKING:
    from biasgraph.result import Result

SCRIPTS = ("findings.js", "panel.js", "tables.js", "page.js")
STYLES = ("report.css",)


def report_html(result: Result, *, images: bool = True) -> bytes:
    """The page of one result; its pictures come from the run in `result.directory`.

    images: show thumbnails, where there is a run that has the images.
    Raises InputError when the files of the result do not fit each other.
    """
    return _Page.of(result, result.directory, images).render()


def report_files(
    result: Result,
    *,
    directory: Path | None = None,
    images: bool = True,
    only_changed: bool = False,
) -> dict[str, bytes]:
    """The reports of a result and of its prompts, by their path in the result's directory.

    directory: where the result is or will be saved; `result.directory` unless given.
    only_changed: leave out what stands there already and was made from the same.
    Raises InputError as `report_html`.
    """
    folder = directory or result.directory
    records = result.document["graph"].get("prompts") or ()
    results = {"": result} | {
        f"{record['directory']}/": prompt
        for record, prompt in zip(records, result.prompts, strict=True)
    }
    files = {}
    for place, one in results.items():
        page = _Page.of(one, folder and folder / place, images)
        old = folder and html.digest_in(folder / place / REPORT)
        if not (only_changed and old == page.digest):
            files[place + REPORT] = page.render()
    return files


@dataclass(frozen=True)
class _Page:
    """A page before any picture is opened.

    digest: of everything that goes in, the pictures by the hashes of their files.
    """

    data: PageData
    thumbnails: Thumbnails
    digest: str

    @classmethod
    def of(cls, result: Result, directory: Path | None, images: bool) -> _Page:
        shown = list(image_ids(result.document))
        thumbnails = thumbnails_of(result.answers, directory, shown) if images else Thumbnails()
        data = page_data(result, thumbnails)
        root = run_directory(directory)
        inside = directory is not None and root not in (None, directory.absolute())
        data.context["all_prompts"] = f"../../{REPORT}" if inside else None
        digest = html.digest_of(data.model, data.context, sorted(thumbnails.hashes.items()))
        return cls(data, thumbnails, digest)

    def render(self) -> bytes:
        model = self.data.model
        found = self.thumbnails.encode()
        images = [image | {"src": found.get(image["id"])} for image in model["images"]]
        drawn = drawing(model["document"]["nodes"], model["pairs"])
        return html.render(
            "report.html",
            model=model | {"drawing": drawn, "images": images},
            scripts=SCRIPTS,
            styles=STYLES,
            digest=self.digest,
            pictures=words.pictures(sum(image["src"] is None for image in images)),
            **self.data.context,
        )
