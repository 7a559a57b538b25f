"""`biasgraph compare`: several runs or models side by side, and gates for CI."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from biasgraph.audits.pipeline_options import CompareOptions
from biasgraph.commands.click_options import options_from, output_option
from biasgraph.commands.output import Output, output_options


@click.command()
@options_from(CompareOptions)
@output_option("Where compare.html, compare.json and compare.csv go.", required=True)
@output_options("compare.json")
def compare(options: CompareOptions, target: Path, output: Output) -> None:
    """Compare the results in RUN [RUN ...] with the one in BASELINE.

    They must share axes, ideals, metrics and judge; models, seeds and numbers of images may
    differ.
    """
    from biasgraph.audits.compare import comparison
    from biasgraph.audits.compare.gates import failures
    from biasgraph.audits.gate_condition import refuse_failed
    from biasgraph.report.comparison_summary import summarize_comparison

    compared = comparison.compare(options)
    compared.save(target)
    output.present(compared.document, summarize_comparison, target, "compare.html")
    refuse_failed(failures(compared.document["gates"]))
