"""Which options go together, and what they add up to."""

from __future__ import annotations

import re
import typing
from pathlib import Path
from typing import Any

import pytest

import biasgraph
from biasgraph.audits.build_options import BuildOptions
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.errors import InputError
from biasgraph.io.folder_names import folder_name, slug
from biasgraph.models.inference_options import ModelOptions
from tests.answer_tables import librarian_table
from tests.hostile import HOSTILE


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("prompt", "a librarian"),
        ("prompt", ""),
        ("prompts", "occupations"),
        ("model", "sandbox:stereotyped"),
        ("vqa", "sandbox"),
        ("images", 48),
        ("seed", 0),
        ("fresh", True),
        ("dry_run", True),
    ],
)
def test_an_answers_table_needs_no_model(option: str, value: Any) -> None:
    name = option.replace("_", "-")
    with pytest.raises(InputError, match=f"^--{name} and --answers exclude each other"):
        BuildOptions(answers="answers.csv", **{option: value})


def test_something_must_be_built_from() -> None:
    with pytest.raises(InputError, match="nothing to build from"):
        BuildOptions()


def test_one_prompt_or_many() -> None:
    with pytest.raises(InputError, match="--prompt and --prompts exclude each other"):
        BuildOptions(prompt="a librarian", prompts="occupations")
    for given in ({"min_is": 0.1}, {"global_test": "pooled"}):
        with pytest.raises(InputError, match="applies to the graph of several prompts"):
            BuildOptions(prompt="a librarian", **given)
        options = BuildOptions(prompts="occupations", **given).analysis_settings()
        assert options.global_min_is == 0.1 or options.global_test == "pooled"


def test_an_option_that_does_not_exist() -> None:
    with pytest.raises(InputError, match=r"unknown option 'promt'. Did you mean 'prompt'"):
        biasgraph.build(promt="a librarian")


@pytest.mark.parametrize("only", ["gender, age,", ("gender", "age")])
def test_only_is_a_list_or_one_text(only: Any) -> None:
    assert BuildOptions(prompt="a librarian", only=only).only == ("gender", "age")


def test_bad_settings_are_found_before_anything_is_read() -> None:
    with pytest.raises(InputError, match="alpha must lie between 0 and 1"):
        BuildOptions(answers="nothing.csv", alpha=7.0)


def test_a_preset_fills_what_is_not_given() -> None:
    options = BuildOptions(prompt="a librarian", preset="paper", mix="equal", seed=3)
    expected = AnalysisSettings.resolve("paper", mix="equal", seed=3)
    assert options.analysis_settings() == expected


def test_where_the_result_of_a_table_goes() -> None:
    def directory(**options: Any) -> Path | None:
        return BuildOptions(**options).directory

    assert directory(answers="some/where/My answers.v2.csv") == Path("outputs/My-answers-v2")
    assert directory(answers=Path("a.csv"), output="b") == Path("b")
    assert directory(answers=librarian_table(images=1)) is None


def test_folder_names_differ_where_texts_do() -> None:
    assert folder_name("a nurse") == "a-nurse-19ec70d3"
    texts = ["a nurse", "a  nurse", "A nurse", "a-nurse", "x" * 300, "x" * 301, *HOSTILE]
    assert len({folder_name(text) for text in texts}) == len(texts)
    assert all(re.fullmatch(r"[\w-]{1,69}", folder_name(text)) for text in texts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a librarian", "a-librarian"),
        ("../../etc", "etc"),
        ("...", "unnamed"),
        ("図書館員", "図書館員"),
        ("x" * 300, "x" * 60),
        ("a_b\0\n", "a-b"),
    ],
)
def test_slugs_are_one_safe_part_of_a_path(text: str, expected: str) -> None:
    assert slug(text) == expected


def test_options_offer_every_setting_of_the_analysis() -> None:
    offered = {*typing.get_type_hints(AnalysisSettings)}
    internal = {"noise_draws", "global_alpha", "global_min_is", "looks"}
    assert offered - internal <= {field for field in BuildOptions.__dataclass_fields__}


@pytest.mark.parametrize("share", [float("nan"), -0.1, 2.0])
def test_unknown_below_is_a_share(share: float) -> None:
    with pytest.raises(InputError, match="--unknown-below must be from 0 to 1"):
        ModelOptions(unknown_below=share)


@pytest.mark.parametrize("guidance", [float("nan"), float("inf")])
def test_a_guidance_is_a_number(guidance: float) -> None:
    with pytest.raises(InputError, match="--guidance must be a number"):
        ModelOptions(guidance=guidance)
