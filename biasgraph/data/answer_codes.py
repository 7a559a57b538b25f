"""From a checked answers table to the codes that the analysis counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from biasgraph.causal.tables import GATED, UNKNOWN, Arm, CodedImages, Codes, Variable
from biasgraph.errors import InputError, describe_missing, did_you_mean, list_words, printable

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.data.answers import Answers
    from biasgraph.data.axes import Axis, AxisSet

RESERVED = {"unknown": UNKNOWN, "gated": GATED}
MAX_AXES = 100
MAX_ATTRIBUTES = 200
"""More different answers than this to one question are free text, not a multiple choice."""


@dataclass(frozen=True)
class Coding:
    """The coded images of each initial prompt, and what a reader should know about the coding."""

    images: list[CodedImages]
    notes: list[str]


def code_images(
    answers: Answers,
    axes: AxisSet | None = None,
    unlisted: Literal["error", "unknown"] | None = None,
) -> Coding:
    """Turn the answers into codes, one `CodedImages` for each initial prompt.

    Without `axes`, axes stand in order of first appearance (interventions first) and so do their
    attributes, read from `attribute`, or from `answer` for an axis that is never intervened on;
    every axis is nominal. An axis of `axes` that the table never mentions is left out.
    Images are ordered by their id, so that the order of the rows does not matter.

    Args:
        answers: The checked table.
        axes: Those declared, if any.
        unlisted: What an answer that its axis lacks counts as; without it, "unknown" where no axes
            are declared and "error" where they are. A missing answer is unknown.

    Raises:
        InputError: names the row and column of an axis, attribute or answer that is not declared,
            or the axis that has no attributes or too many.
    """
    variables = _read_declared(answers, axes) if axes else _infer(answers)
    refuse = (unlisted or ("error" if axes else "unknown")) == "error"
    codes, notes = _answer_codes(answers, variables, refuse=refuse)
    if axes is None:
        notes += [
            f"{printable(variable.name)}: every answer is {printable(variable.attributes[0])}, so "
            "without --axes there is no other attribute and no distance from the ideal"
            for variable in variables
            if variable.size == 1
        ]
    return Coding(_by_prompt(answers, variables, codes), notes)


def codes_of(answers: Answers, variables: tuple[Variable, ...]) -> list[CodedImages]:
    """The answers about known variables, one `CodedImages` for each initial prompt.

    Answers that are no attribute of their variable count as unknown.

    Raises:
        InputError: An answer is about another axis, or an intervention names one, or an attribute
            that its axis lacks.
    """
    _refuse_others(answers, variables, "the result")
    codes, _ = _answer_codes(answers, variables, refuse=False)
    return _by_prompt(answers, variables, codes)


def _by_prompt(
    answers: Answers, variables: tuple[Variable, ...], codes: Codes
) -> list[CodedImages]:
    frame, names = answers.frame, [variable.name for variable in variables]
    images = frame.drop_duplicates("image")
    images = images.iloc[np.argsort(images["image"].to_numpy(dtype=object), kind="stable")]
    row_of = np.empty(len(frame["image"].cat.categories), dtype=np.intp)
    row_of[images["image"].cat.codes] = np.arange(len(images))
    matrix = np.full((len(images), len(variables)), UNKNOWN, dtype=np.int16)
    rows = row_of[frame["image"].cat.codes.to_numpy()]
    matrix[rows, _positions(frame["target"], names)] = codes

    x = _positions(images["axis"], names)
    a = _attribute_codes(variables, images["axis"], images["attribute"])
    roles = images["role"].to_numpy(dtype=object)
    coded = []
    about = images.groupby("prompt", observed=True).indices
    for prompt in answers.prompts:
        here = about[prompt]
        sets, own = np.stack([x[here], a[here]], axis=1), matrix[here]
        arms: dict[Arm, Codes] = {
            (int(i), int(j)): own[(sets == (i, j)).all(axis=1)]
            for i, j in np.unique(sets[sets[:, 0] >= 0], axis=0)
        }
        initial, controls = (own[roles[here] == role] for role in ("initial", "control"))
        coded.append(CodedImages(prompt, variables, initial, arms, controls))
    return coded


def _refuse_others(answers: Answers, variables: tuple[Variable, ...], source: str) -> None:
    """Refuse axes that are none of the variables, and interventions that are none of theirs."""
    frame, known = answers.frame, {variable.name: variable.attributes for variable in variables}

    def no_axis(word: str) -> str:
        return describe_missing(f"{source} has no axis", word, known)

    intervened = frame["axis"].notna().to_numpy()
    strange = ~frame["axis"].isin([*known]).to_numpy() & intervened
    answers.refuse(strange, "axis", lambda row: no_axis(row["axis"]))
    strange = ~frame["target"].isin([*known]).to_numpy()
    answers.refuse(strange, "target", lambda row: no_axis(row["target"]))
    lacking = _attribute_codes(variables, frame["axis"], frame["attribute"]) < 0
    answers.refuse(
        lacking & intervened,
        "attribute",
        lambda row: _no_attribute(row["attribute"], known[row["axis"]], row["axis"]),
    )


def _read_declared(answers: Answers, axes: AxisSet) -> tuple[Variable, ...]:
    variables = tuple(map(variable_of, axes.axes))
    _refuse_others(answers, variables, f"axis set '{axes.name}'")
    return tuple(variable for variable in variables if variable.name in answers.axes)


def _infer(answers: Answers) -> tuple[Variable, ...]:
    frame = answers.frame
    answers.refuse(
        frame["attribute"].isin(list(RESERVED)).to_numpy(),
        "attribute",
        lambda row: f"'{row['attribute']}' cannot be an attribute: it is reserved as an answer",
    )
    listed = {
        **_distinct(frame[~frame["answer"].isin(list(RESERVED))], "target", "answer"),
        **_distinct(frame[frame["axis"].notna()], "axis", "attribute"),
    }
    names = answers.axes
    if len(names) > MAX_AXES:
        raise InputError(f"{answers.source} has {len(names):,} axes, more than {MAX_AXES}")
    for name in names:
        if name not in listed:
            raise InputError(
                f"{answers.source}: axis '{printable(name)}' has no attributes: no intervention "
                "names one and every answer is unknown or gated"
            )
        if len(listed[name]) > MAX_ATTRIBUTES:
            raise InputError(
                f"{answers.source}: axis '{printable(name)}' has {len(listed[name]):,} different "
                f"attributes, more than {MAX_ATTRIBUTES}: are its answers free text?"
            )
    return tuple(Variable(name, tuple(listed[name])) for name in names)


def variable_of(axis: Axis) -> Variable:
    """A declared axis as the analysis sees it."""
    cost = None if axis.cost is None else np.array(axis.cost)
    return Variable(axis.name, axis.names, axis.metric, cost)


def _distinct(frame: pd.DataFrame, key: str, value: str) -> dict[str, list[str]]:
    """For each text of column `key`, the texts beside it in `value`, by first appearance."""
    found: dict[str, list[str]] = {}
    for one, other in frame[[key, value]].drop_duplicates().itertuples(index=False):
        found.setdefault(one, []).append(other)
    return found


def _answer_codes(
    answers: Answers, variables: tuple[Variable, ...], *, refuse: bool
) -> tuple[Codes, list[str]]:
    """(rows,) the code of every answer, and a note for each axis with unlisted answers."""
    frame = answers.frame
    codes = _attribute_codes(variables, frame["target"], frame["answer"])
    meaning = np.array([RESERVED.get(text, 0) for text in frame["answer"].cat.categories])
    reserved = meaning[frame["answer"].cat.codes.to_numpy()]
    unlisted = (codes < 0) & (reserved == 0)
    attributes = {variable.name: variable.attributes for variable in variables}
    if refuse:
        answers.refuse(
            unlisted,
            "answer",
            lambda row: (
                _no_attribute(row["answer"], attributes[row["target"]], row["target"])
                + " (--unlisted unknown would count it as unknown)"
            ),
        )
    notes = []
    strays = frame.loc[unlisted, ["target", "answer"]].astype(str)
    for target, texts in strays.groupby("target", sort=False)["answer"]:
        shown = list_words(texts.value_counts().index[:3].tolist())
        notes.append(
            f"{printable(str(target))}: {len(texts):,} unlisted answer{'s' * (len(texts) > 1)} "
            f"counted as unknown ({shown}{', ...' if texts.nunique() > 3 else ''})"
        )
    return np.where(codes < 0, np.where(unlisted, UNKNOWN, reserved), codes).astype(np.int16), notes


def _attribute_codes(
    variables: tuple[Variable, ...], axis: pd.Series, attribute: pd.Series
) -> npt.NDArray[np.intp]:
    """(rows,) the index of each attribute within the axis beside it; -1 where it has none."""
    import pandas as pd

    texts = attribute.cat.categories
    lookup = np.full((len(variables) + 1, len(texts) + 1), -1, dtype=np.intp)
    for i, variable in enumerate(variables):
        lookup[i, :-1] = pd.Index(variable.attributes).get_indexer(texts)
    x = _positions(axis, [variable.name for variable in variables])
    return lookup[x, attribute.cat.codes.to_numpy()]


def _positions(column: pd.Series, names: Sequence[str]) -> npt.NDArray[np.intp]:
    """(rows,) the index in `names` of each text; -1 where it is none of them or missing."""
    import pandas as pd

    positions = pd.Index(list(names)).get_indexer(column.cat.categories)
    return np.append(positions, -1)[column.cat.codes.to_numpy()]


def _no_attribute(word: str, attributes: Sequence[str], axis: str) -> str:
    return f"'{word}' is not an attribute of {axis} ({list_words(attributes)})." + did_you_mean(
        word, attributes
    )
