"""`biasgraph search`: natural prompts that a model answers with one attribute."""

from __future__ import annotations

import sys

import rich_click as click

from biasgraph.audits.search.search_options import SearchOptions
from biasgraph.commands.click_options import options_from
from biasgraph.commands.output import Output, output_options


@click.command()
@options_from(SearchOptions)
@output_options("found.json")
def search(options: SearchOptions, output: Output) -> None:
    """Search for natural prompts that make images show an attribute (BGPS).

    A language model writes prompts word by word. Probes look at the denoiser while the image is
    still noise, and steer the writing towards the attribute; the prompts do not name it. Images of
    all prompts are then judged, beside those of prompts that the language model wrote alone. A
    rerun searches, makes and asks only what the run lacks.
    """
    from biasgraph.audits.search.search import search
    from biasgraph.audits.search.search_summary import summarize_found

    found = search(options, output.progress(), command=sys.argv[1:])
    output.present(found.document, summarize_found, found.directory, "found.html")
