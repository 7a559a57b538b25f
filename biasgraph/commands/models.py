"""`biasgraph models`: what there is to run, and whether it works here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import rich_click as click

from biasgraph.audits.pipeline_options import TrialOptions
from biasgraph.commands.click_options import json_option, options_from

if TYPE_CHECKING:
    from rich.console import Console


@click.command()
@options_from(TrialOptions)
@json_option
def models(options: TrialOptions, as_json: bool) -> None:
    """List the models that can be named in a spec, or try some.

    Without a model: every backend, those of plug-ins too, what each can be asked to be, what it
    needs, a spec to paste, whether it works on this machine now and why not, and the models that
    were downloaded before.

    With models: each is loaded, downloaded first if need be, and does one thing; with a paid
    service that is a paid request.
    """
    how, used = options.model_options(), options.specs()
    if used:
        _try(used, how, as_json)
        return
    if how.record():
        raise click.UsageError("model options need a model to try: name one with --model")
    from biasgraph.models.inventory import inventory

    found = inventory()
    if as_json:
        click.echo(json.dumps(found))
    else:
        _show(found)


def _try(used: dict[str, str], options: Any, as_json: bool) -> None:
    from biasgraph.audits import model_trial as trial

    records = trial.try_models(used, options)
    if as_json:
        click.echo(json.dumps({"tried": records}))
    else:
        for record in records:
            click.echo(trial.shown(record))


def _show(found: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    for backend in found["backends"]:
        _show_backend(console, backend)
    if found["downloaded"]:
        _show_downloaded(console, found["downloaded"])
    _show_machine(console, found["machine"])


def _show_backend(console: Console, backend: dict[str, Any]) -> None:
    from rich.markup import escape

    from biasgraph.errors import printable

    def line(text: str, style: str = "") -> None:
        console.print(f"  {escape(printable(text))}", style=style, soft_wrap=True)

    name = escape(printable(backend["name"]))
    state = "[green]works[/]" if backend["works"] else "[red]does not work here[/]"
    foreign = "" if backend["package"] == "biasgraph" else f" (plug-in: {backend['package']})"
    console.print(f"[bold]{name}[/]{escape(printable(foreign))}  {state}")
    if not backend["works"]:
        line(backend["obstacle"], style="red")
    if backend["about"]:
        line(backend["about"])
    if backend["needs"]:
        line(f"needs: {backend['needs']}")
    for role in backend["roles"]:
        line(f"{role['role']}: {role['option']} {role['example']}")


def _show_downloaded(console: Console, downloaded: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from biasgraph.errors import printable
    from biasgraph.models.inventory import format_bytes

    table = Table("Downloaded before", "Most likely a", "Size", title_justify="left")
    for model in downloaded:
        spec = escape(printable(model["spec"]))
        table.add_row(spec, model["role"], format_bytes(model["bytes"]))
    console.print(table)


def _show_machine(console: Console, machine: dict[str, Any]) -> None:
    from biasgraph.models.inventory import EXTRAS, format_bytes

    memory = format_bytes(machine["memory"])
    where = machine["device"]
    if machine["device_memory"] is not None:
        where += f" with {format_bytes(machine['device_memory'])}"
    cores = f"{machine['cores']} CPU cores" + (f", {memory}" if memory else "")
    slow = ""
    if where == "cpu":
        slow = " Without a GPU, models of billions of weights take minutes for an image."
    console.print(f"Models run on {where} ({cores}).{slow}", soft_wrap=True)
    versions = machine["versions"].items()
    known = ", ".join(f"{name} {version}" for name, version in versions if version)
    console.print(known, markup=False, soft_wrap=True)
    for name, version in versions:
        if version is None and name in EXTRAS:
            extra, what = EXTRAS[name]
            line = f"{name} is not installed: pip install 'biasgraph[{extra}]' for {what}"
            console.print(line, markup=False, soft_wrap=True)
