"""docs/cli.md is what the commands say of themselves."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import pytest
import rich_click as click

from biasgraph.audits.build_options import BuildOptions
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.commands.build import build
from biasgraph.commands.cli_reference import PAGE, reference

OPTIONS = {parameter.name: parameter for parameter in build.params}


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), "run: make docs"


def test_the_page_names_every_option() -> None:
    page = reference()
    for option in (option for parameter in build.params for option in parameter.opts):
        assert option in page


def test_the_command_takes_exactly_the_options_of_a_build() -> None:
    ours = {name for name in OPTIONS if name not in ("as_json", "quiet", "help")}
    assert ours | {"method_options"} == {*BuildOptions.__dataclass_fields__}


@pytest.mark.parametrize("name", ["preset", "fdr", "metric", "mix", "fallback", "unknown", "sign"])
def test_choices_are_those_of_the_analysis(name: str) -> None:
    def literals(hint: Any) -> list[str]:
        inner = [choice for part in get_args(hint) for choice in (get_args(part) or [part])]
        return [choice for choice in inner if isinstance(choice, str)]

    choice = OPTIONS[name].type
    assert isinstance(choice, click.Choice)
    assert [*choice.choices] == literals(get_type_hints(AnalysisSettings)[name])
