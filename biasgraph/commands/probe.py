"""`biasgraph probe`: what the middle of a denoiser says of the image to come."""

from __future__ import annotations

import sys

import rich_click as click

from biasgraph.audits.search.probe_options import ProbeOptions
from biasgraph.commands.click_options import options_from
from biasgraph.commands.output import Output, output_options


@click.group()
def probe() -> None:
    """Probes: what the middle of a denoiser says of the image to come (BGPS)."""


@probe.command()
@options_from(ProbeOptions)
@output_options("what the file says of itself")
def train(options: ProbeOptions, output: Output) -> None:
    """Train linear probes of the axes on the denoiser's middle activations, one for each step.

    Images of prompts and of their counterfactuals are made and judged, and their activations are
    recorded in a second pass from the same seeds. Three in ten prompts are held out: the accuracy
    reported for each step is for prompts that the probe never saw. A rerun makes, asks and follows
    only what is missing.
    """
    from biasgraph.audits.search.probe_summary import summarize_probes
    from biasgraph.audits.search.probe_training import train

    trained = train(options, output.progress(), command=sys.argv[1:])
    output.present(trained.document, summarize_probes, trained.path)
