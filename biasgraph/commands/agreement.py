"""`biasgraph agreement`: a judge's answers beside somebody else's."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from biasgraph.audits.pipeline_options import COMPARISON, CheckOptions
from biasgraph.commands.click_options import options_from, output_option, run_argument
from biasgraph.commands.output import Output, output_options
from biasgraph.models.inference_options import ENGINE_OPTIONS, JUDGES, ModelOptions


@click.command()
@run_argument
@click.option(
    "--with",
    "references",
    metavar="SPEC|FILE",
    required=True,
    multiple=True,
    panel=COMPARISON,
    help="Another judge (clip:NAME, vlm:NAME ...), which answers the run's questions, or a CSV "
    "file of labels (picture, question, answer) or of answers (image, target, answer). "
    "Repeatable: the truth is all labels together, or else the first FILE, or else the first "
    "SPEC; the agreement of the others is measured, too.",
)
@options_from(CheckOptions)
@output_option(
    "Write the agreement to FILE and leave RUN unchanged. Default: agreement.json in RUN, whose "
    "report then shows how far its judge agrees.",
    "FILE",
)
@output_options("agreement.json")
@options_from(ModelOptions, "models", only=(*JUDGES, *ENGINE_OPTIONS))
def agreement(
    run: Path,
    references: tuple[str, ...],
    options: CheckOptions,
    models: ModelOptions,
    output: Output,
    target: Path | None,
) -> None:
    """Measure how far the judge of RUN agrees with other judges, or with people.

    Accuracy, F1, Cohen's kappa, the distributions and the confusion matrix of every axis; of three
    raters or more also Krippendorff's alpha.
    `biasgraph build --correct` uses the matrix to correct for the judge's errors.
    Corrections collected in a report's pictures are counted, and nothing is estimated from them.
    """
    from biasgraph.audits.agreement import check as agreements
    from biasgraph.audits.agreement.agreement_file import is_agreement
    from biasgraph.audits.agreement.agreement_summary import summarize_agreement
    from biasgraph.io.json_files import to_json
    from biasgraph.io.writing import refuse_foreign, write_files

    if target is not None:
        refuse_foreign(target, is_agreement, "an agreement")
    record = agreements.check(run, references, options, models, output.progress())
    if target is not None:
        paths = write_files(target.parent, {target.name: to_json(record)})
    elif agreements.is_of_corrections(record):
        paths = []  # a run's agreement says how often its judge errs, and these do not
    else:
        paths = agreements.keep(run, record)
    output.present(record, summarize_agreement, paths[0] if paths else None)
