"""`biasgraph agreement`: a judge's answers beside somebody else's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from biasgraph.commands.model_options import judge_options
from biasgraph.commands.name_lists import names_in
from biasgraph.commands.output import output_options
from biasgraph.commands.paths import FilePath

WHAT, WHERE = "Comparison", "Output"
"""The panels of the help."""


@click.command()
@click.argument("run", type=FilePath(), metavar="RUN")
@click.option(
    "--with",
    "reference",
    metavar="SPEC|FILE",
    required=True,
    panel=WHAT,
    help="What is taken for the truth: another judge (clip:NAME, vlm:NAME ...), which is asked the "
    "run's questions, or a CSV file of labels (picture, question, answer) or of answers (image, "
    "target, answer).",
)
@click.option("--only", metavar="AXIS,...", panel=WHAT, help="Look at these axes only.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    panel=WHAT,
    help="Ask another judge about so many pictures only, the same that `biasgraph label` takes.",
)
@click.option(
    "--bootstrap",
    type=click.IntRange(min=100),
    default=2000,
    show_default=True,
    panel=WHAT,
    help="Resamples behind each interval.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    panel=WHAT,
    help="Seed of the sample and of the resampling.",
)
@click.option(
    "-o",
    "--output",
    type=FilePath(dir_okay=False),
    metavar="FILE",
    panel=WHERE,
    help="Write the agreement to FILE and leave RUN as it is. Without it, agreement.json goes into "
    "RUN, and RUN's report says how far its judge agrees.",
)
@judge_options
@output_options(WHERE, "agreement.json")
def agreement(
    run: Path,
    reference: str,
    only: str | None,
    sample: int | None,
    bootstrap: int,
    seed: int,
    output: Path | None,
    as_json: bool,
    quiet: bool,
    **models: Any,
) -> None:
    """Say how far the judge of the result in RUN agrees with another judge, or with people.

    Accuracy, F1, Cohen's kappa, the distributions and the confusion matrix of every axis.
    `biasgraph build --correct` takes the matrix to undo the judge's errors.
    """
    from biasgraph.models.inference_options import ModelOptions

    options = ModelOptions(**models)
    from biasgraph.audits.agreement import check as agreements
    from biasgraph.audits.agreement.agreement_file import refuse_other, to_json
    from biasgraph.commands.output import present_agreement
    from biasgraph.commands.progress_bar import TerminalProgress
    from biasgraph.io.writing import write_files

    names = names_in("--only", only)
    if output is not None:
        refuse_other(output)
    asked = agreements.CheckOptions(names, bootstrap, sample, seed)
    progress = None if quiet else TerminalProgress()
    found = agreements.check(run, reference, asked, options, progress)
    if output is None:
        paths = agreements.keep(run, found)
    else:
        paths = write_files(output.parent, {output.name: to_json(found)})
    present_agreement(found, paths[0], as_json=as_json, quiet=quiet)
