"""`biasgraph models`: what there is to run, and whether it works here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import rich_click as click

from biasgraph.audits.pipeline_options import TrialOptions
from biasgraph.commands.click_options import options_from
from biasgraph.commands.output import Output, json_option
from biasgraph.data.options import options_of
from biasgraph.models.inference_options import ENGINE_OPTIONS

if TYPE_CHECKING:
    from rich.console import Console


@click.command()
@options_from(TrialOptions, only=options_of(TrialOptions).keys() - {*ENGINE_OPTIONS})
@json_option
def models(options: TrialOptions, output: Output) -> None:
    """List the models that can be named in a spec, or try some.

    Without a model: every backend, those of plug-ins too, what each can be asked to be, what it
    needs, a spec to paste, whether it works on this machine now and why not, and the models that
    were downloaded before.

    With models: each is loaded, downloaded first if need be, and does one thing; with a paid
    service that is a paid request.
    """
    how, used = options.model_options(), options.specs()
    if used:
        from biasgraph.audits import model_trial

        records = model_trial.try_models(used, how, output.progress())
        lines = [(model_trial.describe_trial(record), "") for record in records]
        output.print_document({"tried": records}, lambda console: _print(console, lines))
        return
    if how.record():
        raise click.UsageError("model options need a model to try: name one with --model")
    from biasgraph.models.inventory import inventory

    document = inventory()
    output.print_document(document, lambda console: _draw(console, document))


def _draw(console: Console, inventory: dict[str, Any]) -> None:
    from biasgraph.data.findings import Table
    from biasgraph.models.inventory import format_bytes
    from biasgraph.report.terminal import show

    for backend in inventory["backends"]:
        _print(console, _tell_backend(backend))
    rows = [
        (model["spec"], model["role"], format_bytes(model["bytes"]))
        for model in inventory["downloaded"]
    ]
    show(console, [Table(("Downloaded before", "Most likely a", "Size"), rows)])
    _print(console, _tell_machine(inventory["machine"]))


def _print(console: Console, lines: Iterable[tuple[str, str]]) -> None:
    """Print lines with their styles, unbroken: specs are to be pasted."""
    from rich.text import Text

    from biasgraph.errors import printable

    for line, style in lines:
        console.print(Text(printable(line), style), soft_wrap=True)


def _tell_backend(backend: dict[str, Any]) -> Iterator[tuple[str, str]]:
    foreign = "" if backend["package"] == "biasgraph" else f" (plug-in: {backend['package']})"
    state = "works" if backend["works"] else "does not work here"
    yield f"{backend['name']}{foreign}  {state}", "bold green" if backend["works"] else "bold red"
    for field, title in (("obstacle", ""), ("about", ""), ("needs", "needs: ")):
        if backend[field]:
            yield f"  {title}{backend[field]}", "red" if field == "obstacle" else ""
    for role in backend["roles"]:
        yield f"  {role['role']}: {role['option']} {role['example']}", ""


def _tell_machine(machine: dict[str, Any]) -> Iterator[tuple[str, str]]:
    from biasgraph.models.inventory import EXTRAS, format_bytes

    memory, where = format_bytes(machine["memory"]), machine["device"]
    if machine["device_memory"] is not None:
        where += f" with {format_bytes(machine['device_memory'])}"
    cores = f"{machine['cores']} CPU cores" + (f", {memory}" if memory else "")
    slow = " Without a GPU, models of billions of weights take minutes for an image."
    yield f"Models run on {where} ({cores}).{slow if where == 'cpu' else ''}", ""
    versions = machine["versions"].items()
    yield ", ".join(f"{name} {version}" for name, version in versions if version), ""
    for name, version in versions:
        if version is None and name in EXTRAS:
            extra, what = EXTRAS[name]
            yield f"{name} is not installed: pip install 'biasgraph[{extra}]' for {what}", ""
