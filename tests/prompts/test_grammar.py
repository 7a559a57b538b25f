"""Articles by sound, plurals, and word lists that keep to their form."""

from __future__ import annotations

import pytest

from biasgraph.io.resources import lines, names
from biasgraph.prompts.grammar import (
    capitalize_like,
    indefinite_article,
    is_plural,
    pluralize,
    singular_in,
    word_rows,
    words,
)


@pytest.mark.parametrize(
    "phrase",
    [
        *("a nurse", "an old nurse", "an hour", "an honest politician", "an heir", "a hotel"),
        *("a university student", "a unique chef", "a unicorn", "a uniformed officer"),
        *("an uninvited guest", "an unimportant man", "an unidentified man", "an umpire"),
        *("a European chef", "a one-eyed pirate", "an onion seller", "a once famous actor"),
        *("a used car dealer", "a user", "an usher", "a utility worker", "an ugly duckling"),
        *("an MRI technician", "an FBI agent", "a NASA engineer", "a UFO", "an IT expert"),
        *("an SQL expert", "a CEO", "an AI researcher", "an HVAC technician", "an X-ray nurse"),
        *("an mri technician", "a us navy seal", "a SWAT officer", "a LIBRARIAN", "an OLDER man"),
        *(
            "an 8-year-old boy",
            "an 11 year old",
            "an 18-year-old",
            "a 100-year-old",
            "a 1 year old",
        ),
        *("an 80 year old", "an 1800s farmer", "a 118 year old", "a 70 year old"),
        *("an élite athlete", "a 'young' man", 'an "old" man', "a 老人", "an A student"),
    ],
)
def test_indefinite_article(phrase: str) -> None:
    article, following = phrase.split(" ", 1)
    assert indefinite_article(following) == article


@pytest.mark.parametrize("nothing", ["", " ", "!?", "😀"])
def test_article_before_nothing(nothing: str) -> None:
    assert indefinite_article(nothing) == "a"


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        *(("nurse", "nurses"), ("boss", "bosses"), ("church", "churches"), ("box", "boxes")),
        *(("city", "cities"), ("boy", "boys"), ("man", "men"), ("Woman", "Women")),
        *(("policewoman", "policewomen"), ("salesperson", "salespeople"), ("child", "children")),
        *(("grandchild", "grandchildren"), ("midwife", "midwives"), ("human", "humans")),
        *(("thief", "thieves"), ("hero", "heroes"), ("chef", "chefs"), ("MAN", "MEN")),
    ],
)
def test_plurals(singular: str, plural: str) -> None:
    assert pluralize(singular) == plural
    assert is_plural(plural)
    assert not is_plural(singular)


@pytest.mark.parametrize("noun", ["police", "sheep", "boss", "bus", "lens", "lucas", "iris", "gas"])
def test_singulars_that_look_plural(noun: str) -> None:
    assert not is_plural(noun)


def test_nouns_are_found_in_either_number() -> None:
    assert singular_in("persons", "Nurses") == singular_in("persons", "nurse") == "nurse"
    assert singular_in("persons", "people") == "person"
    assert singular_in("persons", "table") is None


def test_capitals() -> None:
    assert capitalize_like("Woman", "man") == "Man"
    assert capitalize_like("WOMAN", "man") == "MAN"
    assert capitalize_like("woman", "man") == "man"


@pytest.mark.parametrize("name", names("words", ".txt"))
def test_word_lists_are_lower_case_without_repetition(name: str) -> None:
    if name == "articles":  # abbreviations in capitals, one pattern a line
        assert {row[0] for row in word_rows(name)} == {"a", "an"}
        assert all(len(row) == 2 for row in word_rows(name))
        return
    text = "\n".join(lines("words", f"{name}.txt"))
    assert text == text.lower()
    assert words(name)


def test_rows_have_their_shape() -> None:
    assert all(len(row) == 2 and row[1] in ("s", "p", "-") for row in word_rows("determiners"))
    assert all(len(row) == 2 for row in word_rows("irregular_plurals"))
    assert all(len(row) == 2 for row in word_rows("collocations"))
    assert all(len(row) == 3 for row in word_rows("pronouns"))
    for row in word_rows("counterparts"):
        assert row[-2] == "|"
        assert "|" not in row[:-2]
        assert len(row) >= 3
