"""Unknown answers of an analysis: left out, a class of their own, or refused (STATISTICS (a))."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import UNKNOWN, CodedImages, Codes, Variable
from biasgraph.errors import InputError

UNKNOWN_CLASS = "unknown"


def treat_unknown(
    images: CodedImages, settings: AnalysisSettings, with_ideal: set[str]
) -> CodedImages:
    """Leave unknown answers out, make them a class of their own, or refuse them."""
    if settings.unknown == "exclude":
        return images
    sets = [images.initial, images.controls, *images.arms.values()]
    for y, variable in enumerate(images.variables):
        unknown = sum(int((codes[:, y] == UNKNOWN).sum()) for codes in sets)
        if settings.unknown == "error" and unknown:
            raise InputError(f"{unknown} answers about {variable.name} are unknown.")
        if settings.unknown == "class":
            check_unknown_class(variable, settings, with_ideal)
    if settings.unknown == "error":
        return images
    sizes = np.array([variable.size for variable in images.variables], dtype=np.int16)

    def recode(codes: Codes) -> Codes:
        return np.where(codes == UNKNOWN, sizes, codes)

    return replace(
        images,
        variables=tuple(
            replace(variable, attributes=(*variable.attributes, UNKNOWN_CLASS))
            for variable in images.variables
        ),
        initial=recode(images.initial),
        controls=recode(images.controls),
        arms={arm: recode(codes) for arm, codes in images.arms.items()},
    )


def check_unknown_class(
    variable: Variable, settings: AnalysisSettings, with_ideal: set[str]
) -> None:
    """Raise InputError unless unknown answers can be a class of this variable."""
    if variable.name not in with_ideal:
        raise InputError(
            f"Unknown answers as a class need an ideal share, and {variable.name} has none."
        )
    if UNKNOWN_CLASS in variable.attributes:
        raise InputError(f"{variable.name} already has an attribute named {UNKNOWN_CLASS}.")
    metric = settings.metric or variable.metric
    if metric not in ("nominal", "values"):
        raise InputError(
            f"The metric {metric} of {variable.name} has no place for unknown answers; "
            "choose --metric nominal or leave them out."
        )
