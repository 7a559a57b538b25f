"""The story of `biasgraph search`: probes, prompts, images of them, and what it all came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from biasgraph.audits.audit_result import AuditResult
from biasgraph.audits.search.found_document import (
    SCHEMA,
    CellPrompts,
    Evidence,
    found_parts,
    perplexities,
)
from biasgraph.audits.search.probes_at_hand import accuracy_at
from biasgraph.audits.search.search_options import SearchOptions
from biasgraph.audits.search.searching import Searching
from biasgraph.data.file_names import FOUND
from biasgraph.io.csv_files import to_csv
from biasgraph.io.json_files import to_json
from biasgraph.io.writing import write_files
from biasgraph.prompts.counterfactuals import Prompt
from biasgraph.report.search_figure import search_figure
from biasgraph.report.search_page import PAGE, search_html
from biasgraph.report.search_table import found_frame
from biasgraph.report.thumbnails import Pictures
from biasgraph.runs.directory import IMAGES
from biasgraph.runs.image_store import ImageStore
from biasgraph.runs.media import RunMedia
from biasgraph.runs.other_images import readable
from biasgraph.runs.record import installed_versions

if TYPE_CHECKING:
    from biasgraph.models.base import NextTokens
    from biasgraph.runs.directory import Run
    from biasgraph.runs.progress import Progress

TABLE, FIGURE = "found.csv", "found"
Record = dict[str, Any]


@dataclass(frozen=True)
class SearchResult(AuditResult):
    """The prompts that were found; document: everything found.json holds."""

    def files(self, pictures: Pictures) -> dict[str, bytes]:
        """The contents of all files by their names; pictures: of the images on the page."""
        figures = {
            f"{FIGURE}.{kind}": search_figure(self.document, kind) for kind in ("svg", "png")
        }
        return {
            FOUND: to_json(self.document),
            TABLE: to_csv(found_frame(self.document)),
            PAGE: search_html(self.document, pictures),
            **figures,
        }


def search(
    options: SearchOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> SearchResult:
    """Search for prompts; what the run has already is not done again.

    command: what was typed, for the run's record.

    Raises:
        InputError: The options are wrong, or do not fit the models or the probes; nothing has
            been written then but probes that were trained.
        ModelError: A model, the machine or the network failed.
        Interrupted: The user stopped the work; the same call goes on from there.
    """
    work = Searching.of(options, progress, command)
    job = work.job
    with job.open() as run:
        job.request(run, [], options.images, work.settings())
        cells = work.write_prompts()
        media = RunMedia(run, job)
        document = _document(work, run, cells, media)
        found = SearchResult(document, job.directory)
        pictures = Pictures(media.rows, ImageStore(job.directory / IMAGES))
        write_files(job.directory, found.files(pictures))
    return found


def _document(work: Searching, run: Run, cells: Sequence[CellPrompts], media: RunMedia) -> Record:
    """Everything found.json holds; the prompts' images are made and judged for it."""
    job, reader = work.job, work.reader
    texts = list(dict.fromkeys(text for cell in cells for text in cell.texts()))
    taken, refused = readable(texts, job.generator.check_prompts)
    plans = [[Prompt(text, "initial")] for text in taken]
    made = media.make_images(plans, work.options.images)
    said = media.judge_images(plans, work.axes, work.options.images)
    read = {} if reader is None else perplexities(cast("NextTokens", reader), texts)
    evidence = Evidence(
        images={text: media.find_shown(made[text][text]) for text in taken},
        answers={text: said[text][text] for text in taken},
        refused=refused,
        perplexities=read,
        names={text: work.find_named_axes(text) for text in texts},
    )
    notes = [*job.withheld_notes(run, "left out"), *job.notes()]
    return {
        "schema": SCHEMA,
        "toy": job.toy,
        **job.identities(),
        "lm": work.writer.spec,
        "lm_fingerprint": work.writer.fingerprint,
        "perplexity_by": reader and reader.spec,
        "perplexity_fingerprint": reader and reader.fingerprint,
        "settings": work.settings(),
        "targets": [
            {
                "axis": target.axis,
                "attribute": target.attribute,
                **accuracy_at(work.probes, target.axis, work.step),
            }
            for target in work.targets
        ],
        **found_parts(cells, evidence, work.targets, work.axes, work.opening, job.seed),
        "unseen_words": job.generator.unseen_words(texts),
        "notes": notes,
        "seed": job.seed,
        "versions": installed_versions(),
    }
