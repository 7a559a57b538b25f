"""`biasgraph build`: from a prompt, or from answers, to the graph."""

from __future__ import annotations

import sys
from typing import Any

import rich_click as click

from biasgraph.commands.model_options import llm_option, model_options
from biasgraph.commands.output import output_options, present, present_plan
from biasgraph.commands.paths import FilePath
from biasgraph.commands.run_options import fresh_option, vqa_option

FROM, AXES, TESTS = "What to audit", "Axes and ideal", "Analysis"
METHODS, WHERE = "Other methods", "Output"
"""The panels of the help."""


@click.command()
@click.option(
    "--prompt",
    metavar="TEXT",
    panel=FROM,
    help="The prompt to audit: 'a librarian'. Put the subject in brackets where it is not clear: "
    "'a photo of a [bird photographer] in the wild'.",
)
@click.option(
    "--prompts",
    metavar="NAME|FILE",
    panel=FROM,
    help="Many prompts instead, a graph for each and one of them all: 'occupations', the 26 of the "
    "paper, or your own file with a prompt on each line.",
)
@click.option(
    "--model",
    metavar="SPEC",
    panel=FROM,
    help="The image generator, as backend:name, or folder:DIR, pictures made elsewhere. Default: "
    "sandbox:stereotyped, a toy that ships with biasgraph.",
)
@vqa_option(FROM)
@click.option(
    "--images",
    type=click.IntRange(min=1),
    panel=FROM,
    help="Images for the prompt and for each of its counterfactuals. Default: 48; all that are in "
    "a folder.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    panel=FROM,
    help="Seed of the images and of the resampling. Default: 0.",
)
@click.option(
    "--answers",
    type=FilePath(),
    metavar="FILE",
    panel=FROM,
    help="Analyse a finished answers table (CSV or Parquet) instead: no model does any work. "
    "Columns: model, prompt, role, axis, attribute, image, target, answer[, confidence].",
)
@click.option(
    "--axes",
    metavar="NAME|FILE|auto|llm",
    panel=AXES,
    help="A shipped axis set or your own YAML file; auto: the shipped set that suits the prompt; "
    "llm: axes that --llm proposes for it (TIBET), kept in the result as axes.yaml. Default: "
    "occupation; with --answers, the axes that the table holds.",
)
@click.option(
    "--only",
    metavar="AXIS,...",
    panel=AXES,
    help="Look at these axes only.",
)
@click.option(
    "--ideal",
    type=FilePath(),
    metavar="FILE",
    panel=AXES,
    help="The ideal distributions, as YAML: 'axis: {attribute: share}'. An axis that the file "
    "does not name is uniform, as all are by default.",
)
@click.option(
    "--reference",
    type=FilePath(),
    metavar="FOLDER|RUN|FILE",
    panel=AXES,
    help="A real-world distribution as the ideal, resampled with everything else: photographs "
    "(asked by --vqa), the initial images of a run, an answers table, or counts as YAML "
    "'axis: {attribute: count}' or CSV (axis, attribute, count).",
)
@click.option(
    "--correct",
    type=FilePath(),
    metavar="FILE",
    panel=AXES,
    help="Set numbers without the judge's errors beside the others: agreement.json of `biasgraph "
    "agreement`, or the labels themselves (CSV). The errors are taken to be the same in all "
    "images.",
)
@click.option(
    "--unlisted",
    type=click.Choice(["error", "unknown"]),
    panel=AXES,
    help="What an answer is that its axis lacks. Default: error; unknown where no axes are "
    "declared.",
)
@click.option(
    "--preset",
    type=click.Choice(["default", "paper"]),
    panel=TESTS,
    help="The decisions below at once: biasgraph's own, or the literal reading of BiasConnect. "
    "An explicit option beats the preset.",
)
@click.option(
    "--alpha",
    type=float,
    panel=TESTS,
    help="A pair of axes is an edge when p is at most this. Default: 0.0001; 0.00005 in the graph "
    "of several prompts.",
)
@click.option(
    "--min-is",
    type=float,
    panel=TESTS,
    help="In the graph of several prompts an edge also needs an |IS| of at least this, in the "
    "metric of its target. Default: 0.03.",
)
@click.option(
    "--global-test",
    type=click.Choice(["cmh", "pooled"]),
    panel=TESTS,
    help="In the graph of several prompts: compare interventions within each prompt "
    "(Cochran-Mantel-Haenszel, the default), or in the sum of all.",
)
@click.option(
    "--fdr",
    type=click.Choice(["bh", "by"]),
    panel=TESTS,
    help="Let the false discovery rate (.05; Benjamini-Hochberg or -Yekutieli) decide on edges "
    "instead of --alpha.",
)
@click.option(
    "--metric",
    type=click.Choice(["nominal", "ordinal", "index", "values", "cost"]),
    panel=TESTS,
    help="Ground metric of the distance to the ideal, for all axes. Default: each axis's own.",
)
@click.option(
    "--mix",
    type=click.Choice(["equal", "pooled"]),
    panel=TESTS,
    help="How an intervention's attributes are mixed: equal weights (default), or pooled counts.",
)
@click.option(
    "--fallback",
    type=click.Choice(["auto", "off"]),
    panel=TESTS,
    help="Draw null tables where expected counts are low (auto, the default), or never.",
)
@click.option(
    "--min-valid",
    type=click.IntRange(min=1),
    panel=TESTS,
    help="Fewest valid answers that each set of images needs. Default: 16.",
)
@click.option(
    "--yates/--no-yates",
    default=None,
    panel=TESTS,
    help="Yates's correction of 2x2 tables. Default: off.",
)
@click.option(
    "--unknown",
    type=click.Choice(["exclude", "class", "error"]),
    panel=TESTS,
    help="Leave unknown answers out (default), count them as a class (needs --ideal), or refuse "
    "them.",
)
@click.option(
    "--sign",
    type=click.Choice(["matched", "is"]),
    panel=TESTS,
    help="Decide the direction of an edge by sensitivity at matched sample sizes (default), or "
    "by the plain one.",
)
@click.option(
    "--bootstrap",
    type=click.IntRange(min=100),
    panel=TESTS,
    help="Resamples behind each interval. Default: 2000; 10000 for publication.",
)
@click.option(
    "--annotate",
    metavar="METHOD,...",
    panel=METHODS,
    help="Methods whose findings hang on the nodes: tibet, openbias, minethegap, or none. Default: "
    "all on the sandbox, none elsewhere.",
)
@click.option(
    "--embedder",
    metavar="SPEC",
    panel=METHODS,
    help="The model that puts images and texts into one space, for minethegap. Default for the "
    "sandbox: sandbox.",
)
@click.option(
    "--vary",
    metavar="AXIS,...",
    panel=METHODS,
    help="The axes whose combinations minethegap holds the images against. Default: gender and "
    "ethnicity, where there are such axes.",
)
@click.option(
    "--null/--no-null",
    default=None,
    panel=METHODS,
    help="For minethegap: make as many images of the variations as the prompt has, and score them, "
    "too: what this model can do.",
)
@click.option(
    "-o",
    "--output",
    type=FilePath(),
    metavar="DIR",
    panel=WHERE,
    help="Where the result goes. Default: outputs/MODEL/PROMPT, outputs/MODEL/LIST or "
    "outputs/ANSWERS.",
)
@fresh_option(WHERE)
@click.option(
    "--dry-run",
    is_flag=True,
    panel=WHERE,
    help="Say what would be made and asked, and how long it would take; do nothing.",
)
@llm_option
@model_options
@output_options(WHERE)
def build(as_json: bool, quiet: bool, **options: Any) -> None:
    """Build the causal graph of a prompt's biases.

    Images are made for the prompt and for its counterfactuals ("a female librarian"), a judge
    answers questions about each, and every pair of axes is tested and weighed. With --answers,
    the answers are already there. With several prompts there is a graph for each and one of
    their sum.
    """
    from biasgraph.audits.options import BuildOptions

    wanted = BuildOptions.given(options)  # before anything slow is imported
    from biasgraph.audits import build as audit
    from biasgraph.commands.progress_bar import TerminalProgress

    if wanted.dry_run:
        present_plan(audit.plan(wanted), as_json=as_json, quiet=quiet)
        return
    progress = None if quiet else TerminalProgress()
    result = audit.build(wanted, progress, command=sys.argv[1:])
    present(result, as_json=as_json, quiet=quiet)
