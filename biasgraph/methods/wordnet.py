"""WordNet's synonyms, through NLTK's reader (the extra `nltk`)."""

from __future__ import annotations

import functools
import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

from biasgraph.errors import ModelError, printable
from biasgraph.methods.concepts import Synonyms, SynonymTable

DEBIAN = Path("/usr/share/wordnet")
"""Where the package wordnet-base puts the database."""
_NEEDED = tuple(
    f"{kind}.{pos}" for kind in ("index", "data") for pos in ("noun", "verb", "adj", "adv")
)
_LEXICOGRAPHER_FILES = 45


class WordNet:
    """The senses of words are WordNet's synsets, of every part of speech, inflected forms too.

    Raises ModelError for a database that cannot be read, ImportError without NLTK.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._known: dict[str, frozenset[str]] = {}
        with _reading(place):
            self._reader = _reader(place)
            self.source = f"WordNet {self._reader.get_version()}"

    def senses(self, word: str) -> frozenset[str]:
        """The names of its synsets."""
        if word not in self._known:
            with _reading(self._place):
                synsets = self._reader.synsets(word)
            self._known[word] = frozenset(str(synset.name()) for synset in synsets)
        return self._known[word]


@contextmanager
def _reading(place: Path) -> Iterator[None]:
    """What a damaged database raises becomes a ModelError."""
    from nltk.corpus.reader.wordnet import WordNetError

    try:
        yield
    except (OSError, ValueError, LookupError, AssertionError, WordNetError, BadZipFile) as error:
        what = printable(str(error).partition("\n")[0]) or type(error).__name__
        raise ModelError(f"cannot read WordNet in {printable(str(place))}: {what}") from None


def find_wordnet() -> Path | None:
    """The first WordNet database: NLTK's, in `NLTK_DATA` and elsewhere, `WNSEARCHDIR`'s, Debian's.

    A folder, or NLTK's wordnet.zip.
    """
    return next((place for place in _places() if _holds_wordnet(place)), None)


@functools.cache
def best_synonyms() -> Synonyms:
    """WordNet where NLTK and the database are installed, or else the built-in table."""
    place = find_wordnet()
    if place is not None:
        try:
            return WordNet(place)
        except ImportError:
            pass
    return SynonymTable.built_in()


def _places() -> Iterator[Path]:
    named = [Path(name) for name in os.environ.get("NLTK_DATA", "").split(os.pathsep) if name]
    home = os.path.expanduser("~")  # Path.home() raises where there is none
    shared = (Path(home), Path("/usr/share"), Path("/usr/local/share"))
    for root in (
        *(Path(name) for name in named if name),
        *(folder / "nltk_data" for folder in shared),
    ):
        yield root / "corpora" / "wordnet"
        yield root / "corpora" / "wordnet.zip"  # as NLTK's downloader leaves it
    if os.environ.get("WNSEARCHDIR"):
        yield Path(os.environ["WNSEARCHDIR"])
    yield DEBIAN


def _holds_wordnet(place: Path) -> bool:
    if place.suffix == ".zip":
        return place.is_file()
    return all((place / name).is_file() for name in _NEEDED)


def _reader(place: Path) -> Any:
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class SynsetReader(WordNetCorpusReader):  # type: ignore[misc]
        """NLTK's, without the files that synonyms do not need and that Debian leaves out."""

        def open(self, file: str) -> IO[str]:
            if file == "lexnames":
                lines = (
                    f"{number:02d}\tfile{number}\t1\n" for number in range(_LEXICOGRAPHER_FILES)
                )
                return io.StringIO("".join(lines))
            opened: IO[str] = super().open(file)
            return opened

        def map_wn(self, version: str = "wordnet") -> None:
            """For other languages alone, and it wants `index.sense`."""

    root: Any = str(place.resolve())
    if root not in nltk.data.path:
        nltk.data.path.append(root)  # NLTK reads nothing outside its own search path
    if place.suffix == ".zip":
        root = nltk.data.ZipFilePathPointer(root, "wordnet/")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are no other languages
        return SynsetReader(root, None)
