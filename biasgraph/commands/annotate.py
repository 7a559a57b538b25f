"""`biasgraph annotate`: what other methods find about a finished run."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from biasgraph.commands.model_options import language_model_options, llm_option
from biasgraph.commands.name_lists import names_in
from biasgraph.commands.output import output_options
from biasgraph.commands.paths import FilePath

WHAT, WHERE = "Methods", "Output"
"""The panels of the help."""


@click.command()
@click.argument("run", type=FilePath(), metavar="RUN")
@click.argument("methods", metavar="METHOD,...")
@click.option(
    "--embedder",
    metavar="SPEC",
    panel=WHAT,
    help="The model that puts images and texts into one space, for minethegap. Default for the "
    "sandbox: sandbox.",
)
@click.option(
    "--vary",
    metavar="AXIS,...",
    panel=WHAT,
    help="The axes whose combinations minethegap holds the images against. Default: gender and "
    "ethnicity, where there are such axes.",
)
@click.option(
    "--null/--no-null",
    default=None,
    panel=WHAT,
    help="For minethegap: make as many images of the variations as the prompt has, and score them, "
    "too: what this model can do.",
)
@click.option(
    "--axes",
    metavar="FILE",
    panel=WHAT,
    help="The axis set that RUN was built with, where it is not one that ships.",
)
@output_options(WHERE)
@llm_option
@language_model_options
def annotate(
    run: Path,
    methods: str,
    embedder: str | None,
    vary: str | None,
    null: bool | None,
    llm: str | None,
    axes: str | None,
    as_json: bool,
    quiet: bool,
    **how: object,
) -> None:
    """Add the findings of other methods to the result in the directory RUN.

    METHOD is tibet, openbias or minethegap. No image is made but for --null, and models are asked
    only for what the run does not hold yet, with the options that it was built with where none are
    given here.
    """
    from biasgraph.audits.annotate import annotate_run
    from biasgraph.commands.output import present
    from biasgraph.commands.progress_bar import TerminalProgress
    from biasgraph.methods.registry import parse_methods
    from biasgraph.models.inference_options import ModelOptions

    names = parse_methods(methods)
    varied = list(names_in("--vary", vary))
    progress = None if quiet else TerminalProgress()
    given = {"embedder": embedder, "vary": varied, "llm": llm, "null": null}
    options = ModelOptions(**how)  # type: ignore[arg-type]
    result = annotate_run(run, names, given, axes=axes, how=options, progress=progress, save=True)
    present(result, as_json=as_json, quiet=quiet)
