"""The command line: parse, call, print. Commands import what they need when they run."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

import rich_click as click

from biasgraph.errors import FULL_DISK, BiasgraphError, InputError, printable, shorten
from biasgraph.io.version import __version__

COMMANDS = {
    "agreement": "Measure how far the judge of RUN agrees with other judges, or with people.",
    "annotate": "Add the findings of other methods to the result in the directory RUN.",
    "axes": "Axis sets: what is varied in a prompt and asked about its images.",
    "build": "Build the graph of a prompt's biases.",
    "compare": "Compare the results in RUN [RUN ...] with the one in BASELINE.",
    "export": "Write the result in the directory RUN for other tools, and as figures for a paper.",
    "label": "Write a page on which people label what they see in images of RUN.",
    "list": "List the runs under DIR (outputs), latest first.",
    "mine": "Search for prompts for which a model goes wrong (MineTheGap).",
    "minethegap": "MineTheGap: how well images span what their prompt may mean.",
    "models": "List the models that can be named in a spec, or try some.",
    "openbias": "Find the biases of a generator from captions, and rank them (OpenBias).",
    "plan": "Plan how to bring the axes of the finished RUN closer to their ideals.",
    "probe": "Probes: what the middle of a denoiser says of the image to come (BGPS).",
    "prompts": "Write a table of what to generate: prompt, seed and file name of every image.",
    "report": "Write the interactive report of the result in the directory RUN.",
    "robustness": "Test how stable the graph of RUN is with fewer images and a worse judge.",
    "sandbox": "The built-in models: toys whose biases are known because they were planted.",
    "search": "Search for natural prompts that make images show an attribute (BGPS).",
    "show": "Show the graph in the directory RUN: axes, edges, and what could not be determined.",
    "validate": "Compare what the finished RUN predicts of mitigations with what they do.",
    "view": "Show all runs under DIR (outputs) as a page.",
    "words": "Find which words of a prompt carry a bias (GradBias).",
}
"""Each is a module here with a command of its name, whose help begins with this line."""

INTERRUPTED = 130
UNREACHABLE = (errno.ENAMETOOLONG, errno.EACCES, errno.ELOOP)
"""What even asking whether a path is there can end with."""
UNWRITABLE = (*FULL_DISK, errno.EPIPE, errno.EIO)
"""What printing can end with: a full device, or a reader that is gone."""


class Commands(click.RichGroup):
    """Commands that are imported when they are used: ``--help`` needs only their first lines."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the command that is named; raises click.UsageError for an unknown one."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, getattr(import_module(f"biasgraph.commands.{name}"), str(name)), rest


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Audit a text-to-image model for bias, and see how its biases pull on each other.

    For a prompt, biasgraph draws a graph: an edge says that diversifying the images along one
    axis moves another axis towards its ideal distribution, or away from it.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for name, line in COMMANDS.items():
    cli.add_command(click.RichCommand(name=name, help=line))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code.

    Exit codes: 0 done; 1 the machine, the network or a model failed; 2 the input is wrong; 3 a
    gate failed; 130 interrupted. An error is one line on stderr; anything unexpected is a bug and
    shows where it happened.
    """
    # Threads that spin while they wait are up to ten times slower where other programs work too.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name in another script ends no audit
    try:
        code = _run(arguments)
    except BiasgraphError as error:
        return _fail(str(error), error.exit_code)
    except click.ClickException as error:
        return _fail(error.format_message(), int(error.exit_code))
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted", err=True)
        return INTERRUPTED
    except MemoryError as error:
        return _fail(f"out of memory ({str(error) or 'no size given'}): ask for less", 1)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in UNREACHABLE and error.filename:
            return _fail(f"{error.filename}: {error.strerror}", 2)
        if isinstance(error, OSError) and error.errno in UNWRITABLE and not error.filename:
            _drop_output()
            return _fail(f"cannot write to stdout: {error.strerror}", 1)
        click.echo("\n".join(map(printable, traceback.format_exc().splitlines())), err=True)
        return _fail("this is a bug in biasgraph: please report it with the lines above", 1)
    return code


def _run(arguments: Sequence[str] | None) -> int:
    """Raises whatever a command raises."""
    try:
        os.getcwd()
    except OSError as error:
        raise InputError(f"cannot work in the working directory: {error.strerror}") from None
    code: object = cli.main(arguments, prog_name="biasgraph", standalone_mode=False)
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _drop_output() -> None:
    """Python would try once more to write what is left when it ends, and say so in its own way."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> int:
    title = "" if code == INTERRUPTED else "Error: "
    lines = [shorten(printable(line)) for line in f"{title}{message}".splitlines()]
    click.secho("\n".join(lines), err=True, fg="red")
    return code
