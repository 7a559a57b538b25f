"""Texts to concepts, and the arithmetic of TIBET on small inputs worked out by hand."""

from __future__ import annotations

import math
import os
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.errors import ModelError
from biasgraph.io import resources
from biasgraph.methods import wordnet
from biasgraph.methods.association import bav, cas, cas_normalised, mad
from biasgraph.methods.concepts import (
    TABLE,
    Mentions,
    SynonymTable,
    among,
    homes_of,
    tally,
    top,
    words_of,
)
from biasgraph.methods.wordnet import WordNet, find_wordnet

PEOPLE = SynonymTable([["man", "guy"], ["old", "aged"], ["aged", "ripe"]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("?!... -- ''", []),
        ("The man is in a library.", ["man", "library"]),
        ("A MAN, a Man; a man!", ["man", "man", "man"]),
        ("middle-aged, well-dressed", ["middle-aged", "well-dressed"]),
        ("the librarian's desk and the nurses' room", ["librarian", "desk", "nurses", "room"]),
        ("It\u2019s a man\u2019s hat", ["man", "hat"]),
        ("rock'n'roll", ["rock'n'roll"]),
        ("snake_case under_score", ["snake", "case", "score"]),
        ("two men/women (30%)", ["two", "men", "women", "30"]),
        ("Stra\u00dfe cafe\u0301 \u00c9tude", ["stra\u00dfe", "caf\u00e9", "\u00e9tude"]),
        ("\u5973\u6027 \u7537\u6027", ["\u5973\u6027", "\u7537\u6027"]),
        ("<b>bold</b>\x00\u202e", ["b", "bold", "b"]),
    ],
)
def test_words_of_a_text(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_every_mention_has_its_text() -> None:
    mentions = Mentions.of(["a man, a hat", "", "a hat", "a man, a hat"])
    assert mentions.concepts == ("hat", "man")
    assert mentions.text.tolist() == [0, 0, 2, 3, 3]
    assert mentions.concept.tolist() == [1, 0, 0, 1, 0]
    assert mentions.count(np.array([0, 0, 1, 1]), 2).tolist() == [[1, 1], [2, 1]]


def test_no_texts_and_no_words() -> None:
    for texts in ([], ["", "the"]):
        mentions = Mentions.of(texts).merge(PEOPLE)
        assert mentions.concepts == ()
        assert mentions.count(np.zeros(len(texts), dtype=np.int64), 3).shape == (3, 0)


def test_synonyms_go_to_the_most_frequent_word() -> None:
    texts = ["a guy", "a guy", "a man", "a woman"]
    merged = Mentions.of(texts).merge(PEOPLE)
    assert merged.concepts == ("guy", "woman")
    assert merged.count(np.zeros(4, dtype=np.int64), 1).tolist() == [[3, 1]]


def test_equally_frequent_words_go_by_the_alphabet() -> None:
    assert homes_of(["man", "guy"], np.array([2, 2]), PEOPLE).tolist() == [1, 1]


def test_only_a_word_that_stayed_takes_others() -> None:
    """Old takes aged; ripe shares a sense with aged alone, which is gone."""
    words = ["old", "aged", "ripe"]
    assert homes_of(words, np.array([3, 2, 1]), PEOPLE).tolist() == [0, 0, 2]
    assert homes_of(words, np.array([2, 3, 1]), PEOPLE).tolist() == [1, 1, 1]


def test_a_word_goes_to_the_first_of_several_that_it_could_go_to() -> None:
    words = ["ripe", "old", "aged"]
    assert homes_of(words, np.array([5, 4, 1]), PEOPLE).tolist() == [0, 1, 0]
    assert homes_of(words, np.array([4, 5, 1]), PEOPLE).tolist() == [0, 1, 1]


def test_a_word_that_is_never_said_stays_and_takes_none() -> None:
    assert homes_of(["old", "aged", "ripe"], np.array([1, 0, 2]), PEOPLE).tolist() == [0, 1, 2]


def test_synonyms_among_some_words() -> None:
    few = among(["man", "guy", "ripe", "hat"], PEOPLE)
    assert [len(few.senses(word)) for word in ("man", "guy", "ripe", "hat", "aged")] == [
        1,
        1,
        0,
        0,
        0,
    ]
    assert few.source == PEOPLE.source
    assert homes_of(["man", "guy", "hat"], np.array([1, 2, 3]), few).tolist() == [1, 1, 2]


vocabularies = st.lists(st.sampled_from("abcdefghijkl"), min_size=1, max_size=12, unique=True)
groups = st.lists(st.lists(st.sampled_from("abcdefghijkl"), max_size=4), max_size=8)


def slow_homes(words: list[str], counts: list[int], synonyms: SynonymTable) -> dict[str, str]:
    """All pairs, as Algorithm 1 goes over them: a word takes the later ones that are left."""
    left = [word for _, word in sorted(zip((-count for count in counts), words, strict=True))]
    homes = {}
    while left:
        first, *others = left
        taken = [w for w in others if {*synonyms.senses(w)} & {*synonyms.senses(first)}]
        homes |= dict.fromkeys([first, *taken], first)
        left = [word for word in others if word not in taken]
    return homes


@given(vocabularies, groups, st.lists(st.integers(1, 3), min_size=12, max_size=12))
def test_merging_is_that_of_all_pairs(words, grouped, counts) -> None:
    synonyms = SynonymTable(grouped)
    homes = homes_of(words, np.array(counts[: len(words)]), synonyms)
    found = {word: words[home] for word, home in zip(words, homes, strict=True)}
    assert found == slow_homes(words, counts[: len(words)], synonyms)


@given(vocabularies, groups, st.data())
def test_merging_hangs_on_no_order(words, grouped, data) -> None:
    counts = {word: data.draw(st.integers(0, 3)) for word in words}
    shuffled = data.draw(st.permutations(words))
    found = []
    for order, senses in ((words, grouped), (shuffled, grouped[::-1])):
        homes = homes_of(order, np.array([counts[word] for word in order]), SynonymTable(senses))
        found.append({word: order[home] for word, home in zip(order, homes, strict=True)})
    assert found[0] == found[1]


@given(st.lists(st.sampled_from(["a man", "a guy, a hat", "aged ripe old", "", "hat hat"])))
def test_merging_keeps_every_mention(texts) -> None:
    before = Mentions.of(texts)
    after = before.merge(PEOPLE)
    assert after.text.tolist() == before.text.tolist()
    assert len({*after.concepts}) == len(after.concepts)
    if texts:
        assert {*after.concept.tolist()} == {*range(len(after.concepts))}


def test_tallies() -> None:
    rows, columns = np.array([0, 0, 1, 0]), np.array([1, 1, 2, 0])
    assert tally(rows, columns, (2, 3)).tolist() == [[1, 2, 0], [0, 0, 1]]
    nothing = np.zeros(0, dtype=np.int64)
    assert tally(nothing, nothing, (0, 3)).shape == (0, 3)


def test_top_concepts_occur_and_are_in_order() -> None:
    found = top(["hat", "man", "none", "cat"], np.array([0.5, 1.5, 0.0, 0.5]), 3)
    assert found == [("man", 1.5), ("cat", 0.5), ("hat", 0.5)]
    assert top([], np.array([]), 3) == []


@pytest.mark.parametrize(
    ("one", "other", "expected", "normalised"),
    [
        ([1.0, 0.0], [1.0, 0.0], 1.0, 1.0),
        ([1.0, 0.0], [0.0, 1.0], 0.0, 0.0),
        ([0.75, 0.25], [0.25, 0.75], 0.5 / 1.5, 0.5 / 1.5),
        # min 1 + .5 + 0, max 1.5 + .5 + 1; shares (.75, .25, 0) and (.4, .2, .4)
        ([1.5, 0.5, 0.0], [1.0, 0.5, 1.0], 1.5 / 3.0, 0.6 / 1.4),
        ([2.0, 0.0], [1.0, 0.0], 0.5, 1.0),
        ([0.5, 0.0], [0.0, 0.0], 0.0, math.nan),
        ([0.0, 0.0], [0.0, 0.0], math.nan, math.nan),
        ([], [], math.nan, math.nan),
    ],
)
def test_cas_by_hand(one, other, expected, normalised) -> None:
    one, other = np.array(one), np.array(other)
    assert float(cas(one, other)) == pytest.approx(expected, nan_ok=True)
    assert float(cas_normalised(one, other)) == pytest.approx(normalised, nan_ok=True)


def test_cas_of_many_at_once() -> None:
    found = cas(np.array([1.0, 1.0]), np.array([[1.0, 0.0], [1.0, 3.0]]))
    assert found == pytest.approx([0.5, 0.5])


frequencies = st.lists(st.integers(0, 9), min_size=1, max_size=6)


@given(frequencies, frequencies, st.randoms())
def test_cas_is_symmetric_within_0_and_1_and_1_for_the_same(one, other, random) -> None:
    size = min(len(one), len(other))
    a, b = np.array(one[:size]) / 7, np.array(other[:size]) / 7
    order = random.sample(range(size), size)
    for score in (cas, cas_normalised):
        value = float(score(a, b))
        assert math.isnan(value) or 0 <= value <= 1 + 1e-12
        assert float(score(b, a)) == pytest.approx(value, nan_ok=True, abs=1e-12)
        assert float(score(a[order], b[order])) == pytest.approx(value, nan_ok=True, abs=1e-12)
    assert float(cas(a, a)) == pytest.approx(1.0) if a.any() else math.isnan(float(cas(a, a)))


def test_bav_by_hand() -> None:
    assert float(bav(np.array([0.2, 0.6]))) == pytest.approx(0.04)
    assert float(bav(np.array([0.0, 1.0]))) == 0.25, "the largest there is"
    assert bav(np.array([[0.1, 0.4, 0.7], [0.5, 0.5, 0.5]])) == pytest.approx([0.06, 0.0])


def test_mad_by_hand() -> None:
    """Shares .25 and .75: mean deviation .25; that of (1, 0) is .5."""
    assert float(mad(np.array([0.2, 0.6]))) == pytest.approx(math.sqrt(0.5))
    assert float(mad(np.array([0.0, 0.4, 0.0]))) == pytest.approx(1.0)
    assert float(mad(np.array([0.4, 0.4, 0.4]))) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("scores", [[0.4], [0.4, math.nan], []])
def test_spreads_that_are_undefined(scores) -> None:
    assert math.isnan(float(bav(np.array(scores))))
    assert math.isnan(float(mad(np.array(scores))))


def test_no_mad_without_any_resemblance() -> None:
    assert math.isnan(float(mad(np.array([0.0, 0.0]))))
    assert float(bav(np.array([0.0, 0.0]))) == 0


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6), st.randoms())
def test_spreads_hang_on_no_order(scores, random) -> None:
    shuffled = random.sample(scores, len(scores))
    for spread in (bav, mad):
        value = float(spread(np.array(scores)))
        assert float(spread(np.array(shuffled))) == pytest.approx(value, nan_ok=True, abs=1e-7)
        assert math.isnan(value) or 0 <= value <= 1 + 1e-9


def test_the_built_in_table_is_lower_case_words_of_pictures() -> None:
    lines = resources.lines("concepts", "synonyms.txt")
    assert all(line == line.lower() and len(line.split()) > 1 for line in lines)
    table = SynonymTable.built_in()
    assert table.source == TABLE
    assert {*table.senses("man")} & {*table.senses("gentleman")}
    assert not {*table.senses("man")} & {*table.senses("woman")}
    assert not table.senses("librarian")


@pytest.fixture(scope="module")
def database() -> Path:
    """WordNet's; where CI runs, it must be there."""
    found = find_wordnet()
    if os.environ.get("CI"):
        assert found is not None, "no WordNet database is installed"
        return found
    pytest.importorskip("nltk")
    return found or pytest.skip("no WordNet database is installed (apt install wordnet-base)")


@pytest.fixture(scope="module")
def words(database: Path) -> WordNet:
    return WordNet(database)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("eyeglasses", "spectacles", True),
        ("man", "men", True),
        ("elderly", "aged", True),
        ("car", "automobile", True),
        ("smile", "smiling", True),
        ("male", "female", False),
        ("man", "woman", False),
        ("young", "old", False),
        ("librarian", "teacher", False),
    ],
)
def test_wordnet_knows_synonyms(words: WordNet, one: str, other: str, same: bool) -> None:
    assert bool({*words.senses(one)} & {*words.senses(other)}) is same


def test_wordnet_says_which_it_is_and_knows_no_nonsense(words: WordNet) -> None:
    assert words.source == "WordNet 3.0"
    assert words.senses("xyzzyx") == frozenset()
    assert words.senses("") == frozenset()
    assert "middle-aged.s.01" in words.senses("middle-aged")


def test_concepts_are_merged_by_wordnet(words: WordNet) -> None:
    texts = ["A man with spectacles", "two men, eyeglasses", "a man in a car", "an automobile, car"]
    assert Mentions.of(texts).merge(words).concepts == ("car", "eyeglasses", "man", "two")


@pytest.mark.slow(reason="a process of its own")
def test_a_database_where_nltk_keeps_it(database, tmp_path, monkeypatch) -> None:
    corpora = tmp_path / "corpora"
    corpora.mkdir()
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    with zipfile.ZipFile(corpora / "wordnet.zip", "w") as archive:
        for path in database.iterdir():
            archive.write(path, f"wordnet/{path.name}")
    assert find_wordnet() == corpora / "wordnet.zip"
    zipped = WordNet(corpora / "wordnet.zip")
    assert zipped.senses("spectacles") & zipped.senses("eyeglasses")
    shutil.copytree(database, corpora / "wordnet")
    assert find_wordnet() == corpora / "wordnet"


def test_a_damaged_database_is_one_line(database, tmp_path) -> None:
    shutil.copytree(database, tmp_path / "bad")
    (tmp_path / "bad" / "index.noun").write_text("what is this\n")
    with pytest.raises(ModelError, match="cannot read WordNet in") as caught:
        WordNet(tmp_path / "bad")
    assert "\n" not in str(caught.value)
    (tmp_path / "wordnet.zip").write_bytes(b"PK")
    with pytest.raises(ModelError, match="cannot read WordNet in"):
        WordNet(tmp_path / "wordnet.zip")


def test_without_a_database_there_is_the_table(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(wordnet, "DEBIAN", tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    if find_wordnet() is not None:
        pytest.skip("/usr/share/nltk_data holds a database")
    assert wordnet.best_synonyms.__wrapped__().source == TABLE


def test_without_nltk_there_is_the_table(monkeypatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "nltk"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "nltk", None)
    assert wordnet.best_synonyms.__wrapped__().source == TABLE
