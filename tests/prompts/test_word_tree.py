"""The order of words from the subject outward, by a parser and without one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from biasgraph.errors import ModelError
from biasgraph.prompts import word_tree
from biasgraph.prompts.grammar import words
from biasgraph.prompts.prompt_words import PromptWord, split_words
from biasgraph.prompts.subject import find_subject, strip_brackets
from biasgraph.prompts.word_tree import PHRASES, tree_order

CHEF = "a smiling chef cooking fresh rice in a kitchen"
HEADS = [2, 2, 2, 2, 5, 3, 3, 8, 6]
DEPENDENCIES = ["det", "amod", "ROOT", "acl", "amod", "dobj", "prep", "det", "pobj"]
PHOTO = "a photo of a chef"
PHOTO_HEADS = [1, 1, 1, 4, 2]
PHOTO_DEPENDENCIES = ["det", "ROOT", "prep", "det", "pobj"]


def content(prompt: str) -> list[PromptWord]:
    return [
        word
        for word in split_words(prompt)
        if word.text[0].isalnum() and word.text.lower() not in words("stop_words")
    ]


def in_order(prompt: str) -> list[str]:
    ranked = content(prompt)
    order = tree_order(prompt, ranked)
    assert sorted(order.places) == [*range(len(ranked))]
    return [ranked[order.places.index(place)].text for place in range(len(ranked))]


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_tree, "_parser", lambda: None)


@pytest.mark.usefixtures("no_parser")
@pytest.mark.parametrize(
    ("prompt", "order"),
    [
        (CHEF, "chef smiling cooking kitchen rice fresh"),
        ("a chef in a busy kitchen", "chef kitchen busy"),
        (PHOTO, "chef photo"),
        ("Two men are playing chess on a wooden table", "men Two playing table chess wooden"),
        ("a nurse", "nurse"),
        ("kitchen, kitchen", "kitchen kitchen"),
        ("glowing blah", "blah glowing"),
    ],
)
def test_without_a_parser_phrases_stand_around_the_subject(prompt: str, order: str) -> None:
    assert in_order(prompt) == order.split()
    assert tree_order(prompt, content(prompt)).source == PHRASES


@pytest.mark.usefixtures("no_parser")
def test_a_bracketed_subject_is_the_root() -> None:
    prompt = "a chef beside a [nurse]"
    plain, _ = strip_brackets(prompt)
    ranked = content(plain)
    order = tree_order(plain, ranked, find_subject(prompt))
    assert [ranked[order.places.index(i)].text for i in range(2)] == ["nurse", "chef"]


@pytest.mark.usefixtures("no_parser")
def test_nothing_to_rank_is_no_fault() -> None:
    assert tree_order("of the", []).places == ()


@pytest.fixture(scope="module")
def pipeline() -> Any:
    """A parser of spaCy's, trained on two sentences until it knows them."""
    pytest.importorskip("spacy", reason="pip install 'biasgraph[spacy]'")
    import spacy
    from spacy.training import Example

    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en", meta={"name": "tiny", "version": "0.1.0"})
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    examples = [
        Example.from_dict(nlp.make_doc(text), {"heads": heads, "deps": dependencies})
        for text, heads, dependencies in (
            (CHEF, HEADS, DEPENDENCIES),
            (PHOTO, PHOTO_HEADS, PHOTO_DEPENDENCIES),
        )
    ]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(60):
        nlp.update(examples, sgd=optimizer)
    assert [token.head.i for token in nlp(CHEF)] == HEADS
    return nlp


@pytest.mark.slow(reason="loads spaCy")
def test_with_spacy_the_tree_is_hung_up_at_the_subject(
    pipeline: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_tree, "_parser", lambda: pipeline)
    assert in_order(CHEF) == ["chef", "smiling", "cooking", "rice", "fresh", "kitchen"]
    assert in_order(PHOTO) == ["chef", "photo"]  # photo is the root of the sentence
    assert tree_order(PHOTO, content(PHOTO)).source.endswith(", en_tiny 0.1.0")


@pytest.fixture
def installed(
    pipeline: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[str]]:
    """Names of pipelines to be found; en_tiny is one, and the others are none."""
    import spacy

    for name, loads in (("en_tiny", True), ("de_tiny", True), ("en_broken_sm", False)):
        package = tmp_path / name
        info = tmp_path / f"{name}-0.1.0.dist-info"
        package.mkdir()
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
        code = "raise OSError('half\\nof it')"
        if loads:
            pipeline.to_disk(package / "data")
            code = "from spacy.util import load_model_from_path\nfrom pathlib import Path\n"
            code += "def load(**how):\n"
            code += "    return load_model_from_path(Path(__file__).parent / 'data', **how)\n"
        (package / "__init__.py").write_text(code)
    names: list[str] = []
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(spacy.util, "get_installed_models", lambda: names)
    word_tree._parser.cache_clear()
    yield names
    word_tree._parser.cache_clear()
    for name in ("en_tiny", "de_tiny", "en_broken_sm"):
        sys.modules.pop(name, None)


def test_an_english_pipeline_is_found_among_those_installed(installed: list[str]) -> None:
    installed += ["de_tiny", "en_tiny"]
    assert "en_tiny" in tree_order(CHEF, content(CHEF)).source
    assert in_order(CHEF)[:2] == ["chef", "smiling"]


def test_spacy_without_an_english_pipeline_is_as_none(installed: list[str]) -> None:
    installed += ["de_tiny"]
    assert tree_order(CHEF, content(CHEF)).source == PHRASES


def test_a_broken_pipeline_is_named_in_one_line(installed: list[str]) -> None:
    installed += ["en_broken_sm", "en_tiny"]
    with pytest.raises(ModelError, match="spaCy's pipeline en_broken_sm does not load") as refused:
        tree_order(CHEF, content(CHEF))
    assert "\n" not in str(refused.value)
