"""The layout of TIBET's dataset.

``initial_prompts/0.jpeg``, ``<axis>/<j>/<k>.jpeg`` and a JSON file that says what axis and
counterfactual j are. It is an object with ``initial_prompt``, ``result`` (axis -> its
counterfactual prompts) and, from later steps, ``id`` and ``questions``, one for each axis; or a
list, or an object by id, of such objects. It lies in the folder, or beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from biasgraph.data.axes import Attribute, Axis, AxisSet
from biasgraph.errors import InputError, did_you_mean, printable
from biasgraph.io.json_files import describe_problem
from biasgraph.prompts.counterfactuals import plan_prompts
from biasgraph.prompts.derived_axes import (
    ALPHA,
    LONGEST,
    bare_axis_name,
    find_difference,
    make_distinct,
    trim_phrase,
)
from biasgraph.prompts.subject import find_subject
from biasgraph.prompts.tibet_questions import closed_question
from biasgraph.runs.pictures.layouts import (
    OWN,
    TIBET_INITIAL,
    Layout,
    PictureSet,
    key_of,
    match_name,
)
from biasgraph.runs.pictures.listing import NO_SET, TOO_DEEP, Listing, join

Subject = Literal["person", "animal", "object"]

LARGEST = 64 * 2**20
"""Bytes of a JSON file that is read: the dataset's answers to all questions may stand in it."""
WITHOUT = "Omit --axes to use TIBET's own axes"
ALONE = "of an axis with a single counterfactual"
GATES = {
    "person": "Is there a person in the image (yes or no)?",
    "animal": "Is there an animal in the image (yes or no)?",
    "object": "Does the image show an object (yes or no)?",
}
"""By kind of subject; the first is that of BiasConnect's axes."""


@dataclass(frozen=True)
class TibetPrompts:
    """What the JSON says: the initial prompt, and the counterfactuals of each axis.

    Attributes:
        source: the file, for messages.
        prompt: the initial one.
        axes: axis -> its counterfactual prompts.
        questions: in TIBET's words, by axis, where they were written already.
    """

    source: str
    prompt: str
    axes: Mapping[str, Sequence[str]]
    questions: Mapping[str, str]


def read_tibet(listing: Listing, axes: AxisSet | None, prompt: str | None) -> Layout:
    """The pictures of one prompt of the dataset.

    Args:
        listing: the folder.
        axes: with them, the JSON's axes are looked for among these by name, and counterfactual j is
            the attribute that its prompt says; without them the axes are the JSON's own, and an
            attribute is called what its prompt says otherwise than the initial one.
        prompt: another text for the initial prompt.

    Raises:
        InputError: the JSON or a folder is wrong.
    """
    told = _read_description(listing)
    folders = {key_of(name): name for name in listing.folders()}
    initial = folders.pop(key_of(TIBET_INITIAL))
    listing.leave_out_beside(NO_SET)
    if axes is None:
        axes = _own_axes(told)
        own = {name: axes.axis(_title(name)) for name, texts in told.axes.items() if len(texts) > 1}
        arms = {name: [(axis.name, said) for said in axis.names] for name, axis in own.items()}
    else:
        arms = _match_axes(told, axes)
    sets = [PictureSet("", "", tuple(listing.pictures(initial)))]
    for key, folder in folders.items():
        if not listing.holds_pictures(folder):
            continue
        name = next((axis for axis in told.axes if key_of(axis) == key), None)
        if name is None:
            raise InputError(
                f"{printable(str(listing.root / folder))} contains pictures but is not an axis in "
                f"{told.source} (it has {', '.join(map(printable, told.axes))})."
                f"{did_you_mean(folder, told.axes)}"
            )
        if name in arms:
            sets += _sets(listing, folder, told.axes[name], arms[name])
        else:
            listing.leave_out_below(ALONE, folder)
    return Layout(listing.root, axes, {prompt or told.prompt: tuple(sets)}, (), listing.left_out)


def _sets(
    listing: Listing, folder: str, texts: Sequence[str], meant: Sequence[tuple[str, str]]
) -> Iterator[PictureSet]:
    for name in listing.folders(folder):
        path = join(folder, name)
        if not listing.holds_pictures(path):
            continue
        if not (name.isascii() and name.isdigit() and int(name) < len(texts)):
            raise InputError(
                f"{printable(str(listing.root / path))}: the axis '{printable(folder)}' has "
                f"{len(texts)} counterfactuals, so its folders must be 0 to {len(texts) - 1}"
            )
        listing.leave_out_below(TOO_DEEP, path)
        axis, attribute = meant[int(name)]
        yield PictureSet(axis, attribute, tuple(listing.pictures(path)), texts[int(name)])


# The JSON


def _read_description(listing: Listing) -> TibetPrompts:
    """What a JSON file in the folder or beside it says of this folder."""
    root = listing.root
    candidates = [*sorted(root.glob("*.json")), root.parent / f"{root.name}.json"]
    beside = sorted(root.parent.glob("*.json"))
    candidates += [path for path in beside if not path.with_suffix("").is_dir()]  # another's
    for path in dict.fromkeys(candidates):
        if path.is_file() and (told := _entry(path, root.name)) is not None:
            return told
    raise InputError(
        f"{printable(str(root))} has TIBET's layout, but no JSON file in it or beside it describes "
        f"its axes ('initial_prompt' and 'result'): add one as {printable(root.name)}.json"
    )


def _entry(path: Path, name: str) -> TibetPrompts | None:
    """What a JSON file says of the folder `name`; None where it speaks of something else."""
    source = printable(str(path))
    try:
        if path.stat().st_size > LARGEST:
            return None
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror}") from None
    except (ValueError, RecursionError):
        if path.stem == name:
            raise InputError(f"{source} is not readable JSON") from None
        return None
    if _is_entry(data) and ("id" not in data or path.parent.name == name):
        return _check(data, source)
    entries = data if isinstance(data, list) else [data]
    entries = [entry for entry in entries if _is_entry(entry) and str(entry.get("id")) == name]
    if isinstance(data, dict) and _is_entry(data.get(name)):
        entries.append(data[name])
    return _check(entries[0], source) if entries else None


def _is_entry(data: object) -> bool:
    return isinstance(data, dict) and "initial_prompt" in data and "result" in data


def _check(data: Mapping[str, Any], source: str) -> TibetPrompts:
    prompt, axes = data["initial_prompt"], data["result"]
    if not isinstance(prompt, str) or not prompt.strip():
        raise InputError(f"{source}: 'initial_prompt' must be text")
    whole = isinstance(axes, dict) and axes
    if not whole or not all(
        isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts)
        for texts in axes.values()
    ):
        raise InputError(
            f"{source}: 'result' must give a list of prompts for each axis, such as "
            '{"gender": ["a male nurse", "a female nurse"]}'
        )
    asked = data.get("questions")
    told = isinstance(asked, list) and len(asked) == len(axes)
    questions = dict(zip(axes, map(str, asked), strict=True)) if told and asked else {}
    return TibetPrompts(source, prompt.strip(), axes, questions)


# Declared axes


def _match_axes(told: TibetPrompts, axes: AxisSet) -> dict[str, list[tuple[str, str]]]:
    """JSON's axis -> the declared axis and attribute of each of its counterfactuals."""
    names = [axis.name for axis in axes.axes]
    arms = {}
    for name, texts in told.axes.items():
        known = match_name(name, names) or match_name(bare_axis_name(name), names)
        try:
            axis = axes.axis(known or name)
        except InputError as error:
            raise InputError(f"{told.source}: {error} {WITHOUT}") from None
        arms[name] = [(axis.name, _read_attribute(text, axis, axes, told.source)) for text in texts]
        repeated = [arm for arm in arms[name] if arms[name].count(arm) > 1]
        if repeated:
            raise InputError(
                f"{told.source}: two counterfactuals of '{printable(name)}' say '{repeated[0][1]}'"
            )
    return arms


def _read_attribute(text: str, axis: Axis, axes: AxisSet, source: str) -> str:
    """The attribute of an axis that a prompt says."""
    try:
        said = plan_prompts(text, axes.only([axis.name])).fixed.get(axis.name)
    except InputError:
        said = None
    if said not in axis.names:
        raise InputError(
            f"{source}: '{printable(text[:LONGEST])}' names none of the attributes of "
            f"'{axis.name}' ({', '.join(axis.names)}). {WITHOUT}"
        )
    return said


# Axes of the JSON's own


def _own_axes(told: TibetPrompts) -> AxisSet:
    """An axis for each of the JSON's that has counterfactuals to choose between.

    What a counterfactual says otherwise than the initial prompt is an attribute.
    """
    try:
        prompted = find_subject(told.prompt)
        kind, head = prompted.kind, len(told.prompt[: prompted.head_start].split())
    except InputError:
        kind, head = "unknown", 0
    subject: Subject = "person" if kind == "person" else "animal" if kind == "animal" else "object"
    try:
        axes = tuple(
            _own_axis(name, subject, texts, told, head)
            for name, texts in told.axes.items()
            if len(texts) > 1
        )
        return AxisSet(name=OWN, subject=subject, gate=GATES[subject], alpha=ALPHA, axes=axes)
    except ValidationError as error:
        first = printable(describe_problem(error.errors(include_url=False)[0]))
        raise InputError(f"{told.source}: its axes cannot be used: {first}") from None


def _own_axis(
    name: str, subject: Subject, texts: Sequence[str], told: TibetPrompts, head: int
) -> Axis:
    said = [find_difference(told.prompt, text, head) for text in texts]
    names = make_distinct(
        [
            one.phrase if one.phrase == text.strip() else trim_phrase(one.phrase)
            for text, one in zip(texts, said, strict=True)
        ]
    )
    return Axis(
        name=_title(name),
        attributes=tuple(
            Attribute(name=one, phrase=one, placement=words.placement)
            for one, words in zip(names, said, strict=True)
        ),
        question=told.questions.get(name) or closed_question(bare_axis_name(name), subject),
    )


def _title(name: str) -> str:
    """What an axis of the JSON's is called."""
    return printable(name)[:LONGEST].strip()
