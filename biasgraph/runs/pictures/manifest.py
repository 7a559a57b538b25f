"""A table of pictures: which file belongs to which prompt and intervention.

Columns ``path``, ``role``, ``axis``, ``attribute``; and, as far as they are told, ``prompt``, what
the picture was made from, ``initial``, the initial prompt that it belongs to, and ``withheld``, why
a service refused to make it or to show it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from biasgraph.data.axes import AxisSet
from biasgraph.errors import InputError, did_you_mean, list_words, printable, show_path
from biasgraph.io.csv_files import CsvFile
from biasgraph.io.text_files import at_place, read_bytes, refuse_pipe
from biasgraph.models.image_files import SUFFIXES
from biasgraph.prompts.controls import rewordings
from biasgraph.prompts.counterfactuals import plan_prompts
from biasgraph.prompts.subject import strip_brackets
from biasgraph.runs.pictures.layouts import (
    CONTROL,
    MANIFEST,
    SHOWN,
    Layout,
    PictureSet,
    find_attribute,
    find_axis,
)
from biasgraph.runs.pictures.listing import OUTSIDE, Listing

COLUMNS = ("path", "role", "axis", "attribute", "prompt", "initial", "seed", "withheld")
NEEDED = ("path", "role")
ROLES = ("initial", "counterfactual", CONTROL)
NOT_NAMED = "not in the manifest"


@dataclass(frozen=True)
class Row:
    """A line of the manifest; a withheld picture has no path.

    Attributes:
        place: looks up where it stands, "manifest.csv, line 7", for a message.
        path: within the manifest's folder.
        role: one of `ROLES`.
        axis: the intervention's; empty but for a counterfactual.
        attribute: the intervention's.
        prompt: what the picture was made from, if told.
        initial: the initial prompt that it belongs to, if told.
        withheld: why nobody may see it, or empty.
    """

    place: Callable[[], str]
    path: str
    role: str
    axis: str
    attribute: str
    prompt: str
    initial: str
    withheld: str


def read_manifest(file: Path, listing: Listing, axes: AxisSet, prompt: str | None) -> Layout:
    """The pictures that `file` lists, by their paths from the folder that it lies in.

    Args:
        file: the manifest.
        listing: its folder.
        axes: what its axes and attributes are looked for in.
        prompt: of several initial prompts the one to look at; where the manifest tells none, the
            text of its own.

    Raises:
        InputError: a line is wrong; names it.
    """
    rows = _rows(file, axes)
    files = _Files(listing, frozenset(row.path for row in rows))
    groups = _by_initial(rows, axes, prompt, show_path(file))
    prompts = {initial: tuple(_sets(group, files)) for initial, group in groups.items()}
    if not any(pictures.files for sets in prompts.values() for pictures in sets):
        missing = f": {printable(files.missing[0])} is the first" if files.missing else ""
        raise InputError(f"none of the pictures in {show_path(file)} exists{missing}")
    if file.name.lower() == MANIFEST:  # it is the whole folder's
        _leave_out_others(listing, [row.path for row in rows])
    return Layout(listing.root, axes, prompts, tuple(files.missing), listing.left_out)


def _leave_out_others(listing: Listing, paths: Sequence[str]) -> None:
    """Note the pictures that the manifest does not name, under whatever suffix."""
    stems = {_stem(path) for path in paths}
    others = Listing(listing.root)
    others.leave_out_beside(NOT_NAMED)
    others.leave_out_below(NOT_NAMED, "")
    for path in others.left_out.get(NOT_NAMED, ()):
        if _stem(path) not in stems:
            listing.leave_out(NOT_NAMED, path)


def _stem(path: str) -> str:
    return os.path.splitext(path)[0].casefold()


def _rows(file: Path, axes: AxisSet) -> list[Row]:
    source = show_path(file)
    refuse_pipe(file)
    table = CsvFile(read_bytes(file), source, COLUMNS)
    for name in NEEDED:
        if name not in table.columns:
            hint = did_you_mean(name, [column for column in table.columns if column not in COLUMNS])
            raise InputError(
                f"{source} lacks the column '{name}'; a manifest has path, role, axis, attribute "
                f"and, where it is known, prompt.{hint}"
            )
    frame = table.frame().reindex(columns=list(COLUMNS)).astype(object).fillna("")
    rows, indices = [], dict[str, int]()
    for index, record in enumerate(frame.to_dict("records")):
        cells = {str(name): str(cell).strip() for name, cell in record.items()}
        if not any(cells.values()):
            continue
        place = partial(_place, source, table, index)
        with at_place(place):
            row = _row(cells, place, axes)
            if row.path and row.path in indices:
                raise InputError(
                    f"{printable(row.path)} is already in {table.place(indices[row.path])}"
                )
        indices[row.path] = index
        rows.append(row)
    if not rows:
        raise InputError(f"{source} lists no pictures")
    return rows


def _place(source: str, table: CsvFile, index: int) -> str:
    return f"{source}, {table.place(index)}"


def _row(cells: Mapping[str, str], place: Callable[[], str], axes: AxisSet) -> Row:
    role, path = cells["role"].lower(), cells["path"].replace("\\", "/")
    if role not in ROLES:
        raise InputError(
            f"the role '{printable(cells['role'])}' is not one of {list_words(ROLES)}."
            f"{did_you_mean(role, ROLES)}"
        )
    if not path and not cells["withheld"]:
        raise InputError("the path is empty")
    if path.startswith("/") or ".." in path.split("/") or ":" in path.split("/")[0]:
        raise InputError(f"the path {printable(path)} leads out of the manifest's folder")
    path = "" if cells["withheld"] else os.path.normpath(path).replace(os.sep, "/")
    axis, attribute = cells["axis"], cells["attribute"]
    if role != "counterfactual":
        if axis or attribute:
            article = "a" if role == CONTROL else "an"
            raise InputError(f"{article} {role} picture has no axis and no attribute")
    elif not axis or not attribute:
        raise InputError("a counterfactual picture needs an axis and an attribute")
    else:
        known = find_axis(axis, axes)
        axis, attribute = known.name, find_attribute(attribute, known)
    told = (cells["prompt"], cells["initial"], cells["withheld"])
    return Row(place, path, role, axis, attribute, *told)


def _by_initial(
    rows: Sequence[Row], axes: AxisSet, prompt: str | None, source: str
) -> dict[str | None, list[Row]]:
    """The rows of each initial prompt; None stands for one that is not told."""
    told = [row.initial or row.prompt for row in rows if row.role == "initial"]
    initials = list(dict.fromkeys(filter(None, [*told, *(row.initial for row in rows)])))
    if not initials:
        return {prompt: list(rows)}
    wanted = None if prompt is None else strip_brackets(prompt)[0]
    if wanted is not None and wanted not in initials:
        known = list_words([f"'{initial}'" for initial in initials], SHOWN)
        raise InputError(
            f"{source} has no prompt '{printable(wanted)}' (it has {known})."
            f"{did_you_mean(wanted, initials)}"
        )
    find = _finder(initials, axes) if len(initials) > 1 else lambda row: initials[0]
    groups: dict[str | None, list[Row]] = {}
    for row in rows:
        if wanted in (None, initial := find(row)):
            groups.setdefault(initial, []).append(row)
    return groups


def _finder(initials: Sequence[str], axes: AxisSet) -> Callable[[Row], str]:
    """What tells which of several initial prompts a row belongs to."""
    derived: dict[tuple[str, str, str], str] = {}
    for initial in initials:
        try:
            plan = plan_prompts(initial, axes, len(rewordings(axes)))
        except InputError:
            continue
        for made in plan.prompts[1:]:
            derived[made.text, made.axis, made.attribute] = initial

    def find(row: Row) -> str:
        given = row.initial or (row.prompt if row.role == "initial" else "")
        initial = given or derived.get((row.prompt, row.axis, row.attribute))
        if initial is None and row.prompt in initials:
            initial = row.prompt
        if not initial:
            raise InputError(
                f"{row.place()}: cannot tell which of {len(initials)} initial prompts this picture "
                "belongs to: add a column 'initial'"
            )
        return initial

    return find


def _sets(rows: Sequence[Row], files: _Files) -> Iterator[PictureSet]:
    """The sets of one initial prompt, its own among them even where it has no pictures."""
    initial = {row.initial or row.prompt for row in rows if row.role == "initial"}
    sets: dict[tuple[str, str, str | None], list[Row]] = {("", "", None): []}
    for row in rows:
        named = "" if row.prompt in initial else row.prompt
        control = named if row.role == CONTROL else None
        sets.setdefault((row.axis, row.attribute, control), []).append(row)
    for (axis, attribute, control), own in sets.items():
        texts = {row.prompt for row in own} - {""}
        # An answers table's `prompt` is the initial one, whatever was made.
        if axis or control is not None:
            texts -= initial
        wanted = [row.path for row in own if not row.withheld]
        paths = [path for name in wanted if (path := files.find(name)) is not None]
        text = min(texts) if len(texts) == 1 else None
        withheld = tuple(row.withheld for row in own if row.withheld)
        yield PictureSet(axis, attribute, tuple(paths), text, withheld, control)


@dataclass
class _Files:
    """Finds the files that a manifest names, under another suffix of pictures if need be.

    named: all that it names; under another name none of them is found, nor any file twice.
    """

    listing: Listing
    named: Set[str]

    missing: list[str] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)
    _folders: dict[str, dict[str, str]] = field(default_factory=dict)

    def find(self, path: str) -> str | None:
        """The path of the file, None where there is none or it links out of the folder."""
        folder, name = os.path.split(path)
        there = self._in(folder)
        found = there.get(name) or there.get(_stem(name))
        here = f"{folder}/{found}" if folder and found else found
        if here is None or here in self._taken or (here != path and here in self.named):
            self.missing.append(path)
            return None
        self._taken.add(here)
        if not self.listing.is_within(self.listing.root / here):
            self.listing.leave_out(OUTSIDE, here)
            return None
        return here

    def _in(self, folder: str) -> dict[str, str]:
        """The files in a folder by their names, and picture files by these without a suffix."""
        if folder not in self._folders:
            by_name: dict[str, str] = {}
            try:
                names = sorted(os.listdir(self.listing.root / folder))
            except OSError:
                names = []
            for name in names:
                stem, suffix = os.path.splitext(name)
                if suffix.lower() in SUFFIXES:
                    by_name.setdefault(stem.casefold(), name)
            by_name.update((name, name) for name in names)
            self._folders[folder] = by_name
        return self._folders[folder]
