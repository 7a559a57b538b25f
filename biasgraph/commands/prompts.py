"""`biasgraph prompts`: what has to be generated, for somebody who does it elsewhere."""

from __future__ import annotations

import rich_click as click

from biasgraph.audits.pipeline_options import PromptTableOptions
from biasgraph.commands.click_options import options_from


@click.command()
@options_from(PromptTableOptions)
def prompts(options: PromptTableOptions) -> None:
    """Write a table of what to generate: prompt, seed and file name of every image.

    Make the images with whatever you have, a website for example, and save each under the path in
    its row (.jpg or .webp will do as well). Then audit them with --model folder:FILE.csv.
    """
    from biasgraph.audits.prompt_table import write_orders
    from biasgraph.errors import printable, show_path

    path, count = write_orders(options)
    click.echo(
        f"Wrote to {show_path(path)}: {count:,} prompts, {options.images:,} images of each, "
        f"{count * options.images:,} in all"
    )
    usual = "" if options.axes == "occupation" else f" --axes '{printable(options.axes)}'"
    click.echo(
        "Save each image under its path, relative to the table's folder. Then: biasgraph build "
        f"--model 'folder:{show_path(path)}'{usual} --vqa SPEC"
    )
