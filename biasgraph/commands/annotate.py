"""`biasgraph annotate`: what other methods find about a finished run."""

from __future__ import annotations

import rich_click as click

from biasgraph.audits.pipeline_options import AnnotateOptions
from biasgraph.commands.click_options import CommandWithMethods, options_from
from biasgraph.commands.output import Output, output_options
from biasgraph.models.inference_options import ENGINE_OPTIONS, LANGUAGE_MODELS, ModelOptions


@click.command(cls=CommandWithMethods)
@options_from(AnnotateOptions)
@output_options()
@options_from(ModelOptions, "models", only=(*LANGUAGE_MODELS, *ENGINE_OPTIONS))
def annotate(options: AnnotateOptions, models: ModelOptions, output: Output) -> None:
    """Add the findings of other methods to the result in the directory RUN.

    METHOD is one of METHODS.

    Models are asked only for what the run lacks, with the options it was built with unless others
    are given. No images are generated except for --null.
    """
    from biasgraph.audits.annotate import annotate_run
    from biasgraph.methods.registry import parse_methods

    given = {"embedder": options.embedder, "llm": options.llm, **options.method_options}
    result = annotate_run(
        options.run,
        parse_methods(options.methods),
        given,
        axes=options.axes,
        how=models,
        progress=output.progress(),
        save=True,
    )
    output.present_result(result, ["methods"])
