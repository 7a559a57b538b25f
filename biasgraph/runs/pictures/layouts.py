"""Which pictures of a folder belong to which prompt and intervention, told by how they lie."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from biasgraph.data.axes import Axis, AxisSet
from biasgraph.data.file_names import RECORD
from biasgraph.errors import InputError, did_you_mean, list_words, printable, show_path
from biasgraph.io.text_files import at_place
from biasgraph.runs.pictures.listing import NO_SET, TOO_DEEP, Listing, join

INITIAL = "initial"
CONTROL = "control"
TIBET_INITIAL = "initial_prompts"
MANIFEST = "manifest.csv"
OWN = "tibet-json"
"""The name of an axis set that TIBET's JSON file makes."""
SHOWN = 8
"""Names that a message lists."""


@dataclass(frozen=True)
class PictureSet:
    """The pictures of one prompt.

    Attributes:
        axis: the intervention's, empty for the initial prompt.
        attribute: the same.
        files: their paths within the folder, in their order.
        text: what they were made from, where that is told.
        withheld: the reason of each further picture that nobody may see.
        control: what a set of neutral rewordings is called, empty where nothing tells it from
            others; None for any other set.
    """

    axis: str
    attribute: str
    files: tuple[str, ...]
    text: str | None = None
    withheld: tuple[str, ...] = ()
    control: str | None = None


@dataclass(frozen=True)
class Layout:
    """What lies in a folder.

    Attributes:
        root: the folder.
        axes: what is asked about its pictures.
        prompts: initial prompt, None where it is not told -> its sets.
        missing: files that a manifest lists and that do not exist.
        left_out: why -> files that belong to no set.
    """

    root: Path
    axes: AxisSet
    prompts: Mapping[str | None, tuple[PictureSet, ...]]
    missing: tuple[str, ...] = ()
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)


def key_of(name: str) -> str:
    """A name as it is compared: "Middle Eastern", "middle-eastern" and "middle_eastern" are one."""
    return re.sub(r"[\W_]+", "-", name).strip("-").casefold()


def match_name(name: str, names: Iterable[str]) -> str | None:
    """That of `names` which a folder or a cell means; None where none is."""
    return next((candidate for candidate in names if key_of(candidate) == key_of(name)), None)


def find_axis(word: str, axes: AxisSet) -> Axis:
    """The axis that a folder or a cell means.

    Raises:
        InputError: as `AxisSet.axis`.
    """
    return axes.axis(match_name(word, [axis.name for axis in axes.axes]) or word)


def find_attribute(word: str, axis: Axis) -> str:
    """The attribute that a folder or a cell means.

    Raises:
        InputError: as `Axis.attribute`.
    """
    return axis.attribute(match_name(word, axis.names) or word).name


def read_folders(listing: Listing, axes: AxisSet, prompt: str | None) -> Layout:
    """``initial/`` beside ``<axis>/<attribute>/``, or pictures of the initial prompt alone.

    Beside them ``control/`` may hold pictures of neutral rewordings, or a folder for each of these.

    Raises:
        InputError: a folder is none of the axes or their attributes, or there are no pictures.
    """
    folders = {name: key_of(name) for name in listing.folders()}
    initial = next((name for name, key in folders.items() if key == INITIAL), None)
    if initial is None:
        _refuse_without_initial(listing, axes, list(folders))
        files = listing.pictures()
    else:
        files = listing.pictures(initial)
        listing.leave_out_below(TOO_DEEP, initial)
        listing.leave_out_beside(NO_SET)
    sets = [PictureSet("", "", tuple(files))]
    names = [axis.name for axis in axes.axes]
    for folder in folders:
        if folder == initial or not listing.holds_pictures(folder):
            continue
        if folders[folder] == CONTROL and match_name(CONTROL, names) is None:
            sets += _control_sets(listing, folder)
        else:
            with at_place(show_path(listing.root / folder)):
                axis = find_axis(folder, axes)
            sets += _attribute_sets(listing, folder, axis)
    return Layout(listing.root, axes, {prompt: tuple(sets)}, (), listing.left_out)


def _attribute_sets(listing: Listing, folder: str, axis: Axis) -> list[PictureSet]:
    here = show_path(listing.root / folder)
    if loose := listing.pictures(folder):
        raise InputError(
            f"{here} contains pictures such as {printable(os.path.basename(loose[0]))} outside "
            f"the folders of its attributes ({', '.join(axis.names)})"
        )
    sets: dict[str, PictureSet] = {}
    for name in listing.folders(folder):
        path = join(folder, name)
        if not listing.holds_pictures(path):
            continue
        with at_place(show_path(listing.root / path)):
            attribute = find_attribute(name, axis)
        if attribute in sets:
            raise InputError(f"{here} has two folders for the attribute '{attribute}'")
        listing.leave_out_below(TOO_DEEP, path)
        sets[attribute] = PictureSet(axis.name, attribute, tuple(listing.pictures(path)))
    return [sets[attribute] for attribute in axis.names if attribute in sets]


def _control_sets(listing: Listing, folder: str) -> list[PictureSet]:
    """The pictures in ``control/``, and in each of its folders."""
    loose = tuple(listing.pictures(folder))
    sets = [PictureSet("", "", loose, control="")] if loose else []
    for name in listing.folders(folder):
        path = join(folder, name)
        if not listing.holds_pictures(path):
            continue
        if match_name(name, [own.control or "" for own in sets]):
            here = show_path(listing.root / folder)
            raise InputError(f"{here} has two folders called '{printable(name)}'")
        listing.leave_out_below(TOO_DEEP, path)
        sets.append(PictureSet("", "", tuple(listing.pictures(path)), control=name))
    return sets


def _refuse_without_initial(listing: Listing, axes: AxisSet, folders: Sequence[str]) -> None:
    """Refuse folders of pictures that no ``initial/`` stands beside."""
    root = show_path(listing.root)
    if (listing.root / RECORD).is_file():
        raise InputError(
            f"{root} is a run: lay its images out with "
            f"`biasgraph export {shlex.quote(root)} --to folder -o DIR`"
        )
    full = [name for name in folders if listing.holds_pictures(name)]
    whole = [
        name
        for name in full
        if {key_of(folder) for folder in listing.folders(name)} & {INITIAL, key_of(TIBET_INITIAL)}
    ]
    if whole:
        raise InputError(
            f"{root} contains a folder for each of several prompts ({list_words(whole, SHOWN)}): "
            f"name one of them, or write a {MANIFEST} that covers all"
        )
    if full:
        typo = next((hint for name in full if (hint := did_you_mean(name, [INITIAL]))), "")
        raise InputError(
            f"{root} has no folder '{INITIAL}' with the pictures of the prompt itself beside "
            f"{list_words(full, SHOWN)}.{typo}"
        )
    if not listing.pictures():
        raise InputError(
            f"{root} contains no pictures: put those of the prompt into {INITIAL}/, those of its "
            f"counterfactuals into AXIS/ATTRIBUTE/, as in {axes.axes[0].name}/"
            f"{axes.axes[0].names[0]}/"
        )
