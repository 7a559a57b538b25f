"""`biasgraph mine`: prompts for which a model goes wrong."""

from __future__ import annotations

import sys

import rich_click as click

from biasgraph.audits.mining.mining_options import MineOptions
from biasgraph.commands.click_options import options_from
from biasgraph.commands.output import Output, output_options


@click.command()
@options_from(MineOptions)
@output_options("mined.json")
def mine(options: MineOptions, output: Output) -> None:
    """Search for prompts for which a model goes wrong (MineTheGap).

    A language model writes a population of prompts. Images of each are made and scored; the worst
    are mutated, and random prompts fill the next population. The worst prompts of all are scored
    again on fresh images, since the best of many noisy scores is over-optimistic. A rerun makes and
    asks only what the run lacks. With --evaluate, the prompts that runs found are scored in other
    models.
    """
    from biasgraph.audits.mining import mining, transfer
    from biasgraph.audits.mining.mining_summary import summarize_mined
    from biasgraph.audits.mining.transfer_summary import PAGE, summarize_transfer

    if options.evaluate:
        found = transfer.evaluate(options, output.progress(), command=sys.argv[1:])
        output.present(found.document, summarize_transfer, found.directory, PAGE)
        return
    mined = mining.mine(options, output.progress(), command=sys.argv[1:])
    output.present(mined.document, summarize_mined, mined.directory, "mined.html")
