"""The lexicon made of WordNet, and the forms of its words."""

from __future__ import annotations

import subprocess
import sys

import pytest

from biasgraph.io import resources
from biasgraph.prompts import lexicon
from tests.prompts import make_lexicon


@pytest.mark.slow(reason="makes the whole lexicon again")
@pytest.mark.skipif(
    not (make_lexicon.FOLDER / "data.noun").exists(), reason="wordnet-base is not installed"
)
def test_the_file_is_what_its_script_makes() -> None:
    assert "\n".join(make_lexicon.lines()) + "\n" == resources.read_text("words", "wordnet.tsv")


def test_the_file_is_small_and_has_its_licence() -> None:
    text = resources.read_text("words", "wordnet.tsv")
    assert len(text) < 1_000_000
    assert "WordNet 3.0 Copyright 2006 by Princeton University." in text
    assert "Permission to use, copy, modify and distribute this software" in text


def test_it_is_read_when_needed_and_quickly() -> None:
    code = (
        "import time; from biasgraph.prompts import counterfactuals, lexicon\n"
        "assert not lexicon._codes.cache_info().currsize\n"
        "best = 9.9\n"
        "for _ in range(5):\n"
        "    lexicon._codes.cache_clear(); lexicon.resources.read_text.cache_clear()\n"
        "    start = time.process_time(); lexicon._codes()\n"
        "    best = min(best, time.process_time() - start)\n"
        "assert best < 0.1, best"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("noun", "senses"),
    [
        *(("undertaker", "p"), ("undertakers", "p"), ("greyhounds", "a"), ("mahouts", "p")),
        *(("wolves", "a"), ("geese", "a"), ("firewomen", ""), ("kitchens", "s"), ("glass", "o")),
        *(("justice", "x"), ("crowds", "g"), ("paris", "l"), ("qwerty", ""), ("quickly", "")),
    ],
)
def test_what_nouns_name(noun: str, senses: str) -> None:
    assert lexicon.noun_senses(noun)[:1] == senses


def test_pairs_that_are_not_what_their_last_word_is() -> None:
    assert lexicon.pair_sense("teddy", "bears") == "o"
    assert lexicon.pair_sense("brown", "bear") == ""


def test_forms_of_verbs() -> None:
    assert all(map(lexicon.is_ing_form, ("sitting", "baking", "lying", "reading")))
    assert all(map(lexicon.is_s_form, ("sits", "carries", "washes")))
    assert all(map(lexicon.is_past_form, ("sat", "carried", "baked", "stopped", "washed")))
    assert not any(map(lexicon.is_past_form, ("table", "sits", "zorblaxed")))
    assert lexicon.is_verb("paint")
    assert lexicon.is_mostly("paint", "v") != lexicon.is_mostly("paint", "j")


def test_known_words_and_others() -> None:
    assert all(map(lexicon.is_known, ("taller", "happiest", "painted", "children", "slowly")))
    assert not any(map(lexicon.is_known, ("enfermera", "zorblax", "asdfgh", "ihrer")))
