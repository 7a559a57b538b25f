"""`biasgraph validate`: what was predicted of mitigations against what they do."""

from __future__ import annotations

import sys

import rich_click as click

from biasgraph.audits.pipeline_options import ValidateOptions
from biasgraph.commands.click_options import options_from
from biasgraph.commands.output import Output, output_options


@click.command()
@options_from(ValidateOptions)
@output_options("validation.json")
def validate(options: ValidateOptions, output: Output) -> None:
    """Compare what the finished RUN predicts of mitigations with what they do.

    Intersectional Sensitivity predicts what diversifying one axis does to another. Here axes are
    diversified by other means, and the change of every distance is compared with its prediction.
    The two sides share no images.
    """
    from biasgraph.audits.validate.prediction_check import validate as check
    from biasgraph.audits.validate.validation_summary import summarize_validation

    document = check(options, output.progress(), command=sys.argv[1:])
    output.present(document, summarize_validation)
