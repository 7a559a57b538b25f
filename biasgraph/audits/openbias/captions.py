"""Captions out of a file: one on a line, COCO's JSON, or a CSV column."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasgraph.errors import InputError, did_you_mean, printable
from biasgraph.io.csv_files import CsvFile
from biasgraph.io.text_files import BOM, lines_of, read_bytes

COLUMNS = ("caption", "captions", "text", "prompt")
"""Columns of a CSV file that hold captions; the first one that is there."""
LONGEST = 2_000  # characters of a caption


@dataclass(frozen=True)
class Captions:
    """Different captions, each with the place where it stands first.

    n_given: captions in the file; the others repeat one that stands there already.
    """

    source: str
    places: dict[str, str]
    n_given: int

    @property
    def texts(self) -> tuple[str, ...]:
        """In the order of the file."""
        return tuple(self.places)

    @classmethod
    def read(cls, path: Path) -> Captions:
        """The captions of a file: ``.json`` (COCO's, or a list), ``.csv``, ``.tsv``, or lines.

        COCO's captions are the ``caption`` of its ``annotations``. Lines that are blank or begin
        with # are left out; blanks around a caption, and runs of blanks in it, count as one.

        Raises InputError, naming the place: a file that cannot be read or is of another form, a
        caption that is no text, holds characters that cannot be shown or is far too long.
        """
        source = printable(str(path))
        raw = read_bytes(path, "the captions in")
        kind = path.suffix.lower()
        if kind == ".json":
            found = _of_json(raw, source)
        elif kind in (".csv", ".tsv"):
            found = _of_csv(raw, source)
        else:
            found = lines_of(raw, source)
        places: dict[str, str] = {}
        given = 0
        for text, place in found:
            caption = _check(text, place)
            if caption:
                given += 1
                places.setdefault(caption, place)
        if not places:
            raise InputError(f"{source} contains no captions")
        return cls(source, places, given)


def _check(text: Any, place: str) -> str:
    if not isinstance(text, str):
        raise InputError(f"{place}: a caption must be a text, not {printable(repr(text)[:60])}")
    caption = " ".join(text.split())
    if printable(caption) != caption:
        raise InputError(
            f"{place}: '{printable(caption[:80])}' contains control characters or invisible marks"
        )
    if len(caption) > LONGEST:
        raise InputError(f"{place}: a caption of {len(caption):,} characters is too long")
    return caption


def _of_json(raw: bytes, source: str) -> Iterator[tuple[Any, str]]:
    try:
        document = json.loads(raw.removeprefix(BOM))
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", None) or "it is not UTF-8 text, or is nested too deeply"
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(f"{source}{line}: not JSON: {reason}") from None
    records, name = document, "entry"
    if isinstance(document, dict):
        records, name = document.get("annotations"), "annotation"
    if not isinstance(records, list):
        raise InputError(f"{source} contains neither a list of captions nor COCO's 'annotations'")
    for number, record in enumerate(records, start=1):
        place = f"{source}, {name} {number}"
        if isinstance(record, dict):
            if "caption" not in record:
                raise InputError(f"{place} has no 'caption'")
            record = record["caption"]
        yield record, place


def _of_csv(raw: bytes, source: str) -> Iterator[tuple[str, str]]:
    table = CsvFile(raw, source, COLUMNS)
    column = next((name for name in COLUMNS if name in table.columns), None)
    if column is None:
        names: Sequence[str] = [name for name in table.columns if name]
        hints = (did_you_mean(name, COLUMNS[:1]) for name in names)
        raise InputError(
            f"{source} has no column 'caption': it has "
            f"{', '.join(printable(name[:40]) for name in names[:8])}."
            f"{next(filter(None, hints), '')}"
        )
    for row, text in enumerate(table.frame()[column].astype(str)):
        yield text, f"{source}, row {row + 1}"
