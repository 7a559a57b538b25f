"""What every command that has a result does with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import rich_click as click

from biasgraph.audits.panels import OUTPUT

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from biasgraph.audits.axis_gates import JudgedGate
    from biasgraph.commands.progress_bar import TerminalProgress
    from biasgraph.data.findings import ScreenPart
    from biasgraph.data.result import Result

Command = Callable[..., None]


@dataclass(frozen=True)
class Output:
    """Where a command's result goes.

    Attributes:
        as_json: One JSON document to stdout, everything else to stderr.
        quiet: Nothing but errors.
    """

    as_json: bool
    quiet: bool

    def progress(self) -> TerminalProgress | None:
        """What shows progress; None where nothing is to be shown."""
        from biasgraph.commands.progress_bar import TerminalProgress

        return None if self.quiet else TerminalProgress()

    def print_document(self, document: object, draw: Callable[[Console], object]) -> Console:
        """Print a document: as one line of JSON, as `draw` does, or not at all.

        Returns:
            The console for all that is said besides.
        """
        from rich.console import Console

        console = Console(highlight=False, stderr=self.as_json)
        if self.as_json:
            click.echo(json.dumps(document))
        elif not self.quiet:
            draw(console)
        return console

    def present(
        self,
        document: object,
        summarize: Callable[[Any], Iterable[ScreenPart]],
        written: Path | None = None,
        page: str = "report.html",
    ) -> None:
        """Print what was found and where it is.

        Args:
            document: What was found.
            summarize: Tells the document in parts.
            written: The directory or the file that holds it, if there is one.
            page: The file in that directory to open.
        """
        from biasgraph.report.terminal import show

        console = self.print_document(document, lambda console: show(console, summarize(document)))
        if written is not None and written.is_dir() and not self.quiet:
            self._print_files(console, written)
        self._print_place(console, written, page)

    def present_result(
        self, result: Result, sections: Sequence[str] = (), gates: Sequence[JudgedGate] = ()
    ) -> None:
        """Print a graph in short or some sections of it, and if it was saved, where.

        Args:
            result: The graph.
            sections: Of `report.graph_summary.SECTIONS`.
            gates: What they say of it.
        """
        from biasgraph.data.findings import Sentences
        from biasgraph.errors import show_path
        from biasgraph.report import graph_summary, overview, terminal

        directory, prompts = result.directory, [part.document for part in result.prompts]
        told = graph_summary.ReportInput(result.document, result.pair_records(), prompts)

        def draw(console: Console) -> None:
            if sections:
                terminal.show(console, graph_summary.summarize(told, sections))
                return
            ways = overview.overviews(told, None if directory is None else show_path(directory))
            left = overview.LINES - (directory is not None)
            terminal.show_shortened(console, ways, left)
            verdicts = [f"{'FAILED' if gate.failed else 'passed'}: {gate}" for gate in gates]
            terminal.show(console, [Sentences("Gates", verdicts)])

        console = self.print_document(result.document, draw)
        self._print_place(console, directory)

    @staticmethod
    def _print_files(console: Console, folder: Path) -> None:
        from biasgraph.errors import printable, show_path
        from biasgraph.io.writing import TEMPORARY

        hidden = (TEMPORARY, ".lock", "-shm", "-wal")
        files = (path.name for path in folder.iterdir() if not path.name.endswith(hidden))
        names = f"Files in {show_path(folder)}: {printable(', '.join(sorted(files)))}"
        console.print(names, markup=False)

    def _print_place(
        self, console: Console, written: Path | None, page: str = "report.html"
    ) -> None:
        """Say what there is to open; see `present`."""
        from biasgraph.errors import show_path

        if written is None or self.quiet:
            return
        is_folder = written.is_dir()
        path = written / page if is_folder else written
        if path.is_file():
            sentence = f"{'Open' if is_folder else 'Wrote'} {show_path(path)}"
            console.print(sentence, markup=False, soft_wrap=True)


def output_options(document: str = "graph.json") -> Callable[[Command], Command]:
    """The options --json and --quiet, as `output`; document: what --json prints."""

    def decorate(command: Command) -> Command:
        quiet = click.option(
            "--quiet", "-q", is_flag=True, panel=OUTPUT, help="Print nothing but errors."
        )
        return _json_option(document)(quiet(_with_output(command)))

    return decorate


def json_option(command: Command) -> Command:
    """The option --json alone, as `output`."""
    return _json_option("one JSON document")(_with_output(command))


def _json_option(document: str) -> Callable[[Command], Command]:
    text = f"Print {document} and nothing else to stdout."
    return click.option("--json", "as_json", is_flag=True, panel=OUTPUT, help=text)


def _with_output(command: Command) -> Command:
    @wraps(command)
    def call(as_json: bool, quiet: bool = False, **values: Any) -> None:
        command(output=Output(as_json, quiet), **values)

    return call
