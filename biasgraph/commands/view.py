"""`biasgraph view`: all runs under a folder as one page."""

from __future__ import annotations

from pathlib import Path

import rich_click as click


@click.command()
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default=Path("outputs"))
@click.option(
    "--static",
    "target",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the page to a file instead of serving it. It works offline and links to the runs' "
    "reports.",
)
@click.option(
    "--port",
    metavar="INTEGER",
    type=click.IntRange(0, 65535),
    help="The port to serve on. Default: any free one.",
)
def view(folder: Path, target: Path | None, port: int | None) -> None:
    """Show all runs under DIR (outputs) as a page.

    A table of runs, to sort and filter, each with a link to its report, and the history of every
    prompt with several runs, over dates and models. No model is loaded; if a run cannot be read,
    the reason is shown. The page is served to browsers on this machine only, at the address that
    is printed, until Ctrl-C; nothing can be changed there.
    """
    if target is not None:
        if port is not None:
            raise click.UsageError("--port has no effect with --static, which serves nothing")
        _write(folder, target)
        return
    from biasgraph.audits.run_server import RunServer

    with RunServer(folder, port or 0) as server:
        click.echo(f"Open {server.address}")
        click.echo("Ctrl-C ends it")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("Ended")


def _write(folder: Path, target: Path) -> None:
    from biasgraph.audits.run_overview import overview
    from biasgraph.errors import show_path
    from biasgraph.io.writing import refuse_foreign, write_files
    from biasgraph.report.html import is_page

    refuse_foreign(target, is_page, "a page", option="--static")
    write_files(target.parent, {target.name: overview(folder, target)}, option="--static")
    click.echo(f"Wrote {show_path(target)}")
