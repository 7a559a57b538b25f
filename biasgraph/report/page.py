"""report.html: the graph of a result as one page that works from the disk with the network off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.data.file_names import REPORT
from biasgraph.data.findings import image_ids
from biasgraph.data.result import run_above
from biasgraph.report import html
from biasgraph.report.embedding import PAGE, STEPS, EmbeddedPictures
from biasgraph.report.graph_drawing import drawing
from biasgraph.report.page_data import page_data
from biasgraph.report.prompt_grid import prompt_grid
from biasgraph.report.thumbnails import Pictures, Thumbnails

if TYPE_CHECKING:
    from biasgraph.data.result import Result

SCRIPTS = (
    "pictures.js", "corrections.js", "viewer.js", "browser.js", "findings.js", "agreement.js",
    "strip.js", "panel.js", "tables.js", "seen.js",
)  # fmt: skip
FOR_MANY = ("prompts.js",)
"""Scripts of the page of many prompts."""
LAST = ("page.js",)
STYLES = ("report.css", "pictures.css", "marked_text.css")
SENTENCES = 1_000
"""Bytes for what the page says of its pictures."""

LINKED = "The pictures are files beside this page: a copy of the page alone does not show them."


def report_html(result: Result, *, images: bool = True, links: bool = True) -> bytes:
    """The page of one result; its pictures come from the run in `result.directory`.

    Args:
        result: What it shows.
        images: Show thumbnails, where there is a run that has the images.
        links: Link to the reports and pictures of the same run, for a page that stands in that
            directory.

    Raises:
        InputError: the files of the result do not fit each other.
    """
    folder = result.directory
    pictures = Pictures.of(folder) if images else Pictures()
    files = _files(pictures, folder) if links else None
    return _Page.of(result, pictures, files, links, _is_prompt(folder)).render()


def pages(result: Result) -> dict[str, bytes]:
    """The report of a result to pass on; of many prompts, with theirs, which it links to."""
    if not result.prompts:
        return {REPORT: report_html(result, links=False)}
    return report_files(result, beside=False)


def report_files(
    result: Result,
    *,
    directory: Path | None = None,
    images: bool = True,
    beside: bool = True,
    only_changed: bool = False,
) -> dict[str, bytes]:
    """The reports of a result and of its prompts, by their path in the result's directory.

    Args:
        result: What they show.
        directory: Where the result is or will be saved; `result.directory` unless given.
        images: Show thumbnails.
        beside: Link to the run's pictures, for pages that stand in its directory.
        only_changed: Leave out pages that exist and were made from the same.

    Raises:
        InputError: as `report_html`.
    """
    return dict(
        each_report(
            result, directory=directory, images=images, beside=beside, only_changed=only_changed
        )
    )


def each_report(
    result: Result,
    *,
    directory: Path | None = None,
    images: bool = True,
    beside: bool = True,
    only_changed: bool = False,
) -> Iterator[tuple[str, bytes]]:
    """The same as `report_files`, one after the other."""
    folder = directory or result.directory
    pictures = Pictures.of(folder) if images else Pictures()
    records = result.document["graph"].get("prompts") or ()
    results = {"": result} | {
        f"{record['directory']}/": prompt
        for record, prompt in zip(records, result.prompts, strict=True)
    }
    for place, part in results.items():
        own = folder and folder / place
        files_of = _files(pictures, own) if beside else None
        page = _Page.of(part, pictures, files_of, True, bool(place) or _is_prompt(folder))
        old = own and html.digest_in(own / REPORT)
        if not (only_changed and old == page.digest):
            yield place + REPORT, page.render()


def _files(pictures: Pictures, folder: Path | None) -> str | None:
    """Where a page in a folder finds the pictures; None where there are none, or no folder."""
    return pictures.from_page(folder) if folder is not None and pictures.rows else None


def _is_prompt(folder: Path | None) -> bool:
    """Whether a folder holds one prompt of a result of several."""
    return folder is not None and run_above(folder) is not None


@dataclass(frozen=True)
class _Page:
    """A page before any picture is opened.

    Attributes:
        model: What its scripts draw.
        context: What its template writes.
        thumbnails: Its pictures.
        files: Where it finds the run's pictures; None where it stands apart from the run.
        linked: Whether it embeds none of them: it is one of many pages beside the same pictures.
        digest: Of everything that goes in, the pictures by the hashes of their files.
    """

    model: dict[str, Any]
    context: dict[str, Any]
    thumbnails: Thumbnails
    files: str | None
    linked: bool
    digest: str

    @classmethod
    def of(
        cls, result: Result, pictures: Pictures, files: str | None, links: bool, one_of_many: bool
    ) -> _Page:
        thumbnails = Thumbnails.of(result.answers, pictures, list(image_ids(result.document)))
        model, context = page_data(result, thumbnails)
        context["links"] = links
        places = context.pop("places")
        model["prompts"] = prompt_grid(result, places if links else [None] * len(places))
        context["all_prompts"] = f"../../{REPORT}" if links and one_of_many else None
        linked = one_of_many and files is not None
        digest = html.digest_of(model, context, files, linked, PAGE, STEPS)
        return cls(model, context, thumbnails, files, linked, digest)

    def render(self) -> bytes:
        """The page: its pictures embedded as far as there is room, links to files beyond that."""
        drawn = drawing(self.model["document"]["nodes"], self.model["pairs"])
        if self.linked:
            return self._html(drawn, EmbeddedPictures(left_over=self.thumbnails.images))
        room = (
            PAGE
            - SENTENCES
            - len(self._html(drawn, EmbeddedPictures(left_over=self.thumbnails.images)))
        )
        return self._html(drawn, self.thumbnails.embed(room))

    def _note(self, embedded: EmbeddedPictures) -> str | None:
        return embedded.note(len(self.thumbnails.images), self.files is not None)

    def _html(self, drawn: Mapping[str, Any], embedded: EmbeddedPictures) -> bytes:
        damaged = {*self.thumbnails.images} - {*embedded.sources, *embedded.left_over}
        images = [
            image
            | {"src": embedded.sources.get(image["id"])}
            | ({"file": None} if image["id"] in damaged else {})
            for image in self.model["images"]
        ]
        several = self.model["prompts"] is not None
        return html.render(
            "report.html",
            model=self.model | {"drawing": drawn, "images": images, "files": self.files},
            scripts=(*SCRIPTS, *(FOR_MANY if several else ()), *LAST),
            styles=(*STYLES, *(("prompts.css",) if several else ())),
            files=self.files is not None,
            digest=self.digest,
            pictures=LINKED if self.linked else self._note(embedded),
            **self.context,
        )
