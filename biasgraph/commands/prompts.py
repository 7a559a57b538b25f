"""`biasgraph prompts`: what has to be generated, for somebody who does it elsewhere."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from biasgraph.commands.paths import FilePath


@click.command()
@click.option("--prompt", metavar="TEXT", help="The prompt to audit: 'a librarian'.")
@click.option(
    "--prompts",
    metavar="NAME|FILE",
    help="Many prompts instead: a shipped list, or your own file with a prompt on each line.",
)
@click.option(
    "--axes",
    metavar="NAME|FILE",
    default="occupation",
    help="A shipped axis set or your own YAML file. Default: occupation.",
)
@click.option("--only", metavar="AXIS,...", help="These axes only.")
@click.option(
    "--images",
    type=click.IntRange(1, 9999),
    default=48,
    help="Images of each prompt. Default: 48.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    help="What the seeds of the images come from. Default: 0.",
)
@click.option(
    "--to",
    "target",
    type=FilePath(),
    metavar="FILE.csv",
    required=True,
    help="The table to write; the pictures' paths in it are seen from its folder.",
)
def prompts(
    prompt: str | None,
    prompts: str | None,
    axes: str,
    only: str | None,
    images: int,
    seed: int,
    target: Path,
) -> None:
    """Write a table of what to generate: prompt, seed and file name of every picture.

    Make the pictures with whatever you have, a website among it, and save each under the path in
    its row (.jpg or .webp will do as well). Then audit them with --model folder:FILE.csv.
    """
    from biasgraph.audits.prompt_table import write_orders
    from biasgraph.errors import printable

    path, counterfactuals = write_orders(target, prompt, prompts, axes, only, images, seed)
    shown = printable(str(path))
    click.echo(
        f"Wrote to {shown}: {counterfactuals:,} prompts, {images:,} images of each, "
        f"{counterfactuals * images:,} in all"
    )
    usual = "" if axes == "occupation" else f" --axes '{printable(axes)}'"
    click.echo(
        "Save each picture under its path, seen from the table's folder. Then: biasgraph build "
        f"--model 'folder:{shown}'{usual} --vqa SPEC"
    )
