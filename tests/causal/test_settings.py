from __future__ import annotations

from typing import Any

import pytest

from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.errors import InputError


def test_the_default_preset_is_the_documented_one() -> None:
    settings = AnalysisSettings.resolve()
    assert settings == AnalysisSettings()
    assert (settings.alpha, settings.fdr, settings.metric, settings.mix) == (
        1e-4,
        None,
        None,
        "equal",
    )
    assert (settings.fallback, settings.yates, settings.min_valid, settings.sign) == (
        "auto",
        False,
        16,
        "matched",
    )
    assert settings.bootstrap == 2000


def test_the_paper_preset_is_the_literal_reading() -> None:
    paper = AnalysisSettings.resolve("paper")
    assert (paper.metric, paper.mix, paper.fallback) == ("values", "pooled", "off")
    assert (paper.min_valid, paper.sign, paper.yates, paper.preset) == (1, "is", False, "paper")


def test_an_explicit_option_beats_the_preset_and_none_does_not() -> None:
    settings = AnalysisSettings.resolve("paper", metric="nominal", mix=None, alpha=0.05)
    assert (settings.metric, settings.mix, settings.alpha) == ("nominal", "pooled", 0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "papers"}, "preset must be one of default, paper"),
        ({"metric": "nominl"}, "Did you mean 'nominal'"),
        ({"fdr": "bonferroni"}, "fdr must be one of bh, by"),
        ({"mix": "even"}, "mix must be one of equal, pooled"),
        ({"fallback": "on"}, "fallback must be one of auto, off"),
        ({"unknown": "drop"}, "unknown must be one of exclude, class, error"),
        ({"sign": "either"}, "sign must be one of matched, is"),
        ({"yates": "no"}, "yates must be one of True, False"),
        ({"alpha": 0.0}, "between 0 and 1"),
        ({"alpha": 1.0}, "between 0 and 1"),
        ({"alpha": float("nan")}, "between 0 and 1"),
        ({"alpha": "small"}, "between 0 and 1"),
        ({"alpha": 1e-7}, "needs fallback off"),
        ({"min_valid": 0}, "min_valid must be a whole number of at least 1"),
        ({"min_valid": True}, "min_valid must be a whole number"),
        ({"bootstrap": 99}, "bootstrap must be a whole number of at least 100"),
        ({"noise_draws": -1}, "noise_draws"),
        ({"noise_draws": 1.5}, "noise_draws"),
        ({"seed": -1}, "seed"),
        ({"alhpa": 0.1}, "Did you mean 'alpha'"),
    ],
)
def test_a_wrong_option_is_refused_by_name(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        AnalysisSettings.resolve(**options)


def test_a_tiny_alpha_is_fine_without_the_fallback() -> None:
    assert AnalysisSettings.resolve(alpha=1e-9, fallback="off").alpha == 1e-9


def test_generators_depend_on_every_name_and_on_nothing_else() -> None:
    first = generator(1, "a librarian", "gender").integers(0, 2**62, 4)
    generator(5, "something between").random()
    assert (generator(1, "a librarian", "gender").integers(0, 2**62, 4) == first).all()
    others = [
        generator(2, "a librarian", "gender"),
        generator(1, "a librarian", "age"),
        generator(1, "a nurse", "gender"),
        generator(1, "a librariangender"),
        generator(1, "a librarian", "gender", ""),
    ]
    assert all((other.integers(0, 2**62, 4) != first).any() for other in others)


def test_the_strictest_level_follows_the_rule_that_decides() -> None:
    def level(family: int, **given: Any) -> float:
        return AnalysisSettings(**given).prompt_rule.level(family)

    assert level(56) == 1e-4
    assert level(56, fdr="bh") == pytest.approx(0.05 / 56)
    assert level(56, fdr="by") == pytest.approx(0.05 / 56 / sum(1 / i for i in range(1, 57)))
    assert level(0, fdr="bh") == 1e-4


def test_the_rule_of_several_prompts_is_that_of_the_paper() -> None:
    rule = AnalysisSettings().global_rule
    assert (rule.alpha, rule.min_is, rule.stratified) == (5e-5, 0.03, True)
    literal = AnalysisSettings.resolve("paper").global_rule
    assert (literal.alpha, literal.min_is, literal.stratified) == (5e-5, 0.03, False)
    given = AnalysisSettings.resolve("paper", alpha=0.01, global_min_is=0.0, global_test="cmh")
    assert given.prompt_rule.alpha == given.global_rule.alpha == 0.01
    assert given.prompt_rule.min_is == given.global_rule.min_is == 0
    assert given.global_rule.stratified and not given.prompt_rule.stratified


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "0.1", True])
def test_a_cut_that_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="min_is must be a number of at least 0"):
        AnalysisSettings(global_min_is=value)
