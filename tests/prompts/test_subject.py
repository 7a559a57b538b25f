"""Finding the subject of a prompt."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgraph.errors import InputError
from biasgraph.prompts.grammar import words
from biasgraph.prompts.subject import MAX_PROMPT, Subject, find_subject, strip_brackets

# fmt: off
MIXED = [
    "photo", "of", "portrait", "group", "nurse", "nurses", "man", "police", "cat", "king", "books",
    "Americans", "zorblax", "old", "young", "happy", "smiling", "sitting", "made", "dressed", "who",
    "wearing", "is", "and", ",", ".", "[", "]", "-", "'s", "quickly", "very", "8", "k", "8k",
    "digital", "art", "70", "year", "photo of", "a group of", "draw", "there is", "close up of",
]
# fmt: on
TIBET = Path(__file__).parents[1] / "data" / "tibet_prompts.tsv"


def tibet() -> list[dict[str, str]]:
    with TIBET.open(encoding="utf-8", newline="") as file:
        rows = (line for line in file if not line.startswith("#"))
        return list(csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_tibet_96_of_100_right_and_the_rest_ask() -> None:
    right: list[dict[str, str]] = []
    wrong: list[dict[str, str]] = []
    asked: list[str] = []
    for row in tibet():
        try:
            subject = find_subject(row["prompt"])
        except InputError as error:
            assert "put it in brackets" in str(error)
            asked.append(row["prompt"])
            continue
        read = (subject.text, subject.head, "plural" if subject.plural else "singular")
        (right if read == (row["subject"], row["head"], row["number"]) else wrong).append(row)
    assert wrong == []
    assert len(right) == 96
    assert asked == [
        "pepes the male clown wearing stylish modest clown clothes",
        "colorful stars planets and galaxies",
        "why cant i hold all these lemons",
        "a beautiful portrait mario as a grandpa",
    ]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("a librarian", "a librarian"),
        ("A photo of an elderly librarian in Paris", "an elderly librarian"),
        ("two nurses", "two nurses"),
        ("the computer programmer who won", "the computer programmer"),
        ("2 nurses and", None),
        ("photo of a tall, bearded mechanic under a car", "a tall, bearded mechanic"),
        ("a black and white photo of a jazz musician", "a jazz musician"),
        ("Librarian sits at a desk", "Librarian"),
        ("The accountant climbed the ladder", "The accountant"),
        ("the mechanic won the lottery", "the mechanic"),
        ("dogs run in the park", "dogs"),
        ("a software developer named Bob", "a software developer"),
        ("a 70 year old librarian", "a 70 year old librarian"),
        ("In Paris, a librarian reads the news", "a librarian"),
        ("masterpiece, best quality, a nurse", "a nurse"),
        ("digital art, a knight fighting a dragon", "a knight"),
        ("draw me a librarian", "a librarian"),
        ("there is a nurse in the hall", "a nurse"),
        ("generate an image of a CEO", "a CEO"),
        ("one of the nurses", "the nurses"),
        ("the face of a farmer", "a farmer"),
        ("a close up of a chef", "a chef"),
        ("cinematic shot of a lonely astronaut drifting through space, 8k", "a lonely astronaut"),
        ("a quokka eating dumplings", "a quokka"),
        ("the spilled milk", "the spilled milk"),
        ("a zorblax with a hat", "a zorblax"),
        ("Marie Curie in her laboratory", "Marie Curie"),
        ("a librarian portrait", "a librarian"),
        ("a formally dressed lawyer", "a formally dressed lawyer"),
        ("a girl in a yellow raincoat and a red hat", "a girl"),
        ("a street light at night", "a street light"),
        ("a fire engine with its ladder up", "a fire engine"),
        ("a movie poster on a bedroom wall", "a movie poster"),
        ("a dance studio with mirrors", "a dance studio"),
        ("a sea view from a balcony", "a sea"),
        ("a bronze bust of a man", "a bronze bust"),
        ("a cat studio lighting", "a cat"),
        ("a kitchen with a stove and a fridge", "a kitchen"),
        ("a bowl of apples and oranges", "a bowl"),
        ("an old man feeding ducks in the park", "an old man"),
        ("a nurse helping a patient and a doctor", "a nurse"),
        # Words that say how many, and words that do not.
        ("a murmuration of starlings at dusk", "starlings"),
        ("the crew of a submarine", "the crew"),
        ("a crowd of people watches a parade", "people"),
        # Kinds of pictures.
        ("paparazzi photo of a celebrity leaving a club", "a celebrity"),
        ("circa 1900 photo of coal miners", "coal miners"),
        ("concept art for a floating market", "a floating market"),
        ("a cross stitch of a cactus", "a cactus"),
        ("a painting hanging on a wall", "a painting"),
        ("logo for a bakery", "logo"),
        ("what would a medieval peasant look like", "a medieval peasant"),
        # Participles and adjectives behind a noun.
        ("a corridor painted mint green", "a corridor"),
        ("two women arm wrestling in a diner", "two women"),
        ("a window depicting Saint George", "a window"),
        ("a robot painting a self portrait", "a robot"),
        ("a volcano spewing lava at night", "a volcano"),
        ("a moss themed teapot", "a moss themed teapot"),
        ("a salt flat after rain", "a salt flat"),
        ("a horse stable at dawn", "a horse stable"),
        ("a cardinal on a branch", "a cardinal"),
        ("Teddy bears dressed as pirates", "Teddy bears"),
        ("desert highway, heat haze", "desert highway"),
        ("mid-century living room", "mid-century living room"),
        ("inside a crowded bazaar", "a crowded bazaar"),
        ("tacos al pastor", "tacos"),
        ("hi can you make a picture of a plumber please", "a plumber"),
        ("i want an image with a ballet dancer on the moon", "a ballet dancer"),
        ("make it a porcelain teapot", "a porcelain teapot"),
        ("class photo of first graders 1986", "first graders"),
        ("worn out leather boots by the door", "worn out leather boots"),
        ("a red umbrella left open on a sidewalk", "a red umbrella"),
        ("an avocado doing yoga", "an avocado"),
        ("floating above the desert hovers a huge cube", "a huge cube"),
        # What leaves two readings open, or has no subject, asks.
        ("a bull riding cowboy", None),
        ("fairy lights in a jar", None),
        ("a model of a ship", None),
        ("a nurse in a hospital and a doctor", None),
        ("a bowl of soup and a sandwich", None),
        ("Cup of coffee and laptop on a table", None),
        ("a cat on a sofa and a dog on the floor", None),
        ("a vase on a shelf and a lamp", None),
        ("A man in a suit and a woman in a dress", None),
        ("a man eating tiger", None),
        ("a bird watching trip", None),
        ("a nurse and a doctor", None),
        ("a doctor, a nurse and a patient", None),
        ("a doctor, a nurse, and a patient", None),
        ("the hands of a surgeon", None),
        ("a firefighter's hands", None),
        ("sitting on a bench", None),
        ("running quickly", None),
        ("in the morning", None),
        ("beautiful", None),
        ("beautiful in red", None),
        ("a happy", None),
        ("someone cooking dinner", None),
        ("she is happy", None),
        ("go home", None),
        ("the old man the boat", None),
        ("a sits", None),
        ("a librarians", None),
        ("portrait, 8k, digital art", None),
        ("blue green fluffy zorblax grumble snurf wibble", None),
        ("!!!", None),
        ("12345", None),
        ("😀", None),
    ],
)
def test_subjects(prompt: str, expected: str | None) -> None:
    if expected is not None:
        assert find_subject(prompt).text == expected
        return
    with pytest.raises(InputError, match=r"cannot tell the subject.*put it in brackets") as caught:
        find_subject(prompt)
    assert len(str(caught.value).splitlines()) == 1


def test_a_subject_says_where_and_what_it_is() -> None:
    assert find_subject("A photo of two tall nurses") == Subject(
        text="two tall nurses",
        head="nurses",
        start=11,
        end=26,
        plural=True,
        noun_start=15,
        head_start=20,
        kind="person",
    )
    assert find_subject("a cat").kind == "animal"
    assert find_subject("a kitchen table").kind == "thing"
    assert find_subject("a zorblax").kind == "unknown"


@pytest.mark.parametrize(
    ("prompt", "plural"),
    [
        ("nurses", True),
        ("nurse", False),
        ("the police", True),
        ("a police", False),
        ("police at work", True),
        ("people in a park", True),
        ("a few nurses", True),
        ("every nurse", False),
        ("3 nurses", True),
        ("1 nurse", False),
        ("a dozen chefs", True),
        ("some nurses", True),
        ("a group of chefs", True),
        ("a couple dancing", False),
        ("two sheep", True),
    ],
)
def test_number(prompt: str, plural: bool) -> None:
    assert find_subject(prompt).plural is plural


@pytest.mark.parametrize(
    ("prompt", "text", "head"),
    [
        ("a photo of a [bird photographer] in the wild", "a bird photographer", "photographer"),
        ("a kitchen with an elderly [chef]", "an elderly chef", "chef"),
        ("[a nurse] and a doctor", "a nurse", "nurse"),
        ("[two tall nurses] and a doctor", "two tall nurses", "nurses"),
        ("a [ nurse ] at work", "a nurse", "nurse"),
        ("a [zorblax snurf wibble grumble]", "a zorblax snurf wibble grumble", "grumble"),
        ("colorful [stars] planets and galaxies", "colorful stars", "stars"),
        ("[librarian reading a book]", "librarian", "librarian"),
        ("the [老人]", "the 老人", "老人"),
        ("a super[man] flying", "a superman", "superman"),
        ("0[0]", "00", "00"),
    ],
)
def test_brackets(prompt: str, text: str, head: str) -> None:
    clean, _ = strip_brackets(prompt)
    subject = find_subject(prompt)
    assert (subject.text, subject.head) == (text, head)
    assert clean[subject.start : subject.end] == text
    assert "[" not in clean
    assert "  " not in clean


@pytest.mark.parametrize(
    "prompt", ["a [nurse", "a nurse]", "]a nurse[", "[a] [nurse]", "[[nurse]]", "a []", "a [!]"]
)
def test_wrong_brackets(prompt: str) -> None:
    with pytest.raises(InputError, match="brackets must enclose exactly one subject"):
        find_subject(prompt)


def test_empty_and_endless_prompts() -> None:
    for empty in ("", "  ", "\n\t"):
        with pytest.raises(InputError, match="the prompt is empty"):
            find_subject(empty)
    with pytest.raises(InputError, match=r"10,000 characters; at most 2,000"):
        find_subject("a" * 10_000)
    assert find_subject("a nurse" + " " * (MAX_PROMPT - 7)).text == "a nurse"


def test_errors_show_hostile_prompts_harmlessly() -> None:
    with pytest.raises(InputError) as caught:
        find_subject("\x1b[31mevil\u202e why\nnot" * 20)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 400


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_a_subject_or_an_input_error(text: str) -> None:
    check(text)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from([*MIXED, *sorted(words("determiners")), *sorted(words("prepositions"))]),
        max_size=12,
    ).map(" ".join)
)
def test_any_words_have_a_subject_or_an_input_error(text: str) -> None:
    check(text)


def check(text: str) -> None:
    try:
        subject = find_subject(text)
    except InputError as error:
        assert len(str(error).splitlines()) == 1
        return
    clean, _ = strip_brackets(text)
    assert clean[subject.start : subject.end] == subject.text
    assert subject.start <= subject.noun_start <= subject.head_start < subject.end
    assert clean[subject.head_start : subject.end] == subject.head
    assert find_subject(text) == subject


@pytest.mark.parametrize("word", ["zorblax" * 200, "\x1b[31m" * 300, "\u202enurse " * 200])
@pytest.mark.parametrize("frame", ["{} and a cat", "a [{}", "{}", "a photo of {} is"])
def test_messages_cut_long_prompts(word: str, frame: str) -> None:
    try:
        find_subject(frame.format(word))
    except InputError as error:
        assert len(str(error)) <= 400
        assert str(error).isprintable()
