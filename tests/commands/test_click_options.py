"""Click's options, made from settings, and those that methods bring along."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import rich_click as click
from click.testing import CliRunner

from biasgraph.commands import cli
from biasgraph.commands.click_options import options_from
from biasgraph.data.options import Option, Settings, option, settings
from biasgraph.methods import registry
from biasgraph.methods.registry import Method

COLOURS = Method(
    about="which colours there are",
    function="colours:annotate",
    options={"colours_bins": Option("How many colours.", usual="8", kind=int, low=1)},
)


@settings(panel="Output")
class Late(Settings):
    """Settings whose panel is listed last."""

    output: Path | None = option("Where it goes.", default=None, flags=("-o", "--output"))
    names: tuple[str, ...] = option("Names.", default=(), repeat=True)
    size: int = option("How big.", default=3, low=1, panel="First")
    fill: bool | None = option("Fill it.", default=None, flags=("--fill/--no-fill",))
    needed: str = option("What is needed.", panel="First")
    run: Path = option("A directory.", argument=True, metavar="RUN")


def late() -> tuple[click.Command, list[Late]]:
    taken: list[Late] = []

    @click.command()
    @options_from(Late, "given")
    def command(given: Late) -> None:
        taken.append(given)

    return command, taken


def test_a_command_gets_settings() -> None:
    command, taken = late()
    arguments = ["here", "--needed", "x", "--names", "a", "--names", "b", "--no-fill", "-o", "out"]
    done = CliRunner().invoke(command, arguments)
    assert (done.exit_code, done.output) == (0, "")
    [given] = taken
    assert (given.run, given.output) == (Path("here"), Path("out"))
    assert (given.names, given.size, given.fill) == (("a", "b"), 3, False)


def test_help_lists_what_is_required_first_and_output_last() -> None:
    command, _ = late()
    assert [parameter.name for parameter in command.params] == [
        "needed", "run", "size", "output", "names", "fill",
    ]  # fmt: skip
    missing = CliRunner().invoke(command, ["here"])
    assert missing.exit_code == 2
    assert "Missing option '--needed'" in missing.output
    shown = CliRunner().invoke(command, ["--help"], env={"COLUMNS": "100"}).output
    assert "How big. Default: 3." in shown


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method of another package."""
    entry = EntryPoint("colours", "colours:METHOD", registry.GROUP)
    monkeypatch.setattr(registry, "plug_ins", lambda group: [entry])
    monkeypatch.setattr(registry, "find_method", lambda name: {"colours": COLOURS}.get(name))


@pytest.mark.usefixtures("plug_in")
@pytest.mark.parametrize("command", ["annotate", "build"])
def test_the_options_of_a_plug_in_are_those_of_the_command(command: str) -> None:
    shown = CliRunner().invoke(cli, [command, "--help"], env={"COLUMNS": "100"}).output
    assert "--colours_bins" not in shown
    assert "--colours-bins" in shown
    assert "How many colours. Default: 8." in shown
    if command == "annotate":
        assert "which colours there are" in shown
    done = CliRunner().invoke(cli, [command, "x", "colours", "--colours-bins", "0"][:2])
    assert "--colours-bins" not in done.output


@pytest.mark.usefixtures("plug_in")
def test_the_options_of_a_plug_in_are_read() -> None:
    refused = CliRunner().invoke(cli, ["annotate", "x", "colours", "--colours-bins", "0"])
    assert refused.exit_code == 2
    assert "'--colours-bins': 0 is not in the range x>=1" in refused.output
