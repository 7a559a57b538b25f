"""`biasgraph compare`: several runs or models side by side, and gates for CI."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from biasgraph.commands.output import output_options
from biasgraph.commands.paths import FilePath

WHAT, WHERE = "Comparison", "Output"
"""The panels of the help."""


@click.command()
@click.argument("baseline", type=FilePath(), metavar="BASELINE")
@click.argument("runs", type=FilePath(), metavar="RUN [RUN ...]", nargs=-1, required=True)
@click.option(
    "--common",
    is_flag=True,
    panel=WHAT,
    help="Leave out the axes, and of several prompts the prompts, that not all runs have.",
)
@click.option(
    "--fail-if",
    "gates",
    metavar="GATE",
    multiple=True,
    panel=WHAT,
    help="End with exit code 3 when a run is worse than BASELINE: 'worse:AXIS>0.05' (the axis's "
    "distance to its ideal grew by more), 'new-edges>0', 'amplification>0.5'; each judged by the "
    "lower end of the 95 % interval. Repeatable.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    panel=WHAT,
    help="Seed of the resampling. Default: BASELINE's.",
)
@click.option(
    "-o",
    "--output",
    type=FilePath(),
    metavar="DIR",
    required=True,
    panel=WHERE,
    help="Where compare.html, compare.json and compare.csv go.",
)
@output_options(WHERE, "compare.json")
def compare(
    baseline: Path,
    runs: tuple[Path, ...],
    output: Path,
    common: bool,
    gates: tuple[str, ...],
    seed: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare the results in RUN [RUN ...] with the one in BASELINE.

    The same axes, ideals, metrics and judge are needed; models, seeds and numbers of images may
    differ.
    """
    from biasgraph.audits.compare.comparison import compare as compare_runs
    from biasgraph.audits.compare.gates import refuse_failed
    from biasgraph.commands.output import present_document
    from biasgraph.report.comparison_summary import summarize_comparison

    comparison = compare_runs([baseline, *runs], common=common, gates=gates, seed=seed)
    comparison.save(output)
    document = comparison.document
    present_document(
        document, output, "compare.html", summarize_comparison, as_json=as_json, quiet=quiet
    )
    refuse_failed(document["gates"])
