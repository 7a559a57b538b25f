"""The options that choose axes, of the audits that are no build."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from biasgraph.data.options import Settings, optional, settings

if TYPE_CHECKING:
    from biasgraph.data.axes import AxisSet


@settings()
class AxisOptions(Settings):
    """Some axes of an axis set."""

    axis: str | Sequence[str] | None = optional(
        "The axes.", kind=list, metavar="AXIS,...", usual="all of the axis set"
    )
    axes: str | None = optional(
        "The axis set, shipped or your own YAML file.", metavar="NAME|FILE", usual="occupation"
    )


def choose_axes(axes: str | None, axis: Sequence[str] | None) -> AxisSet:
    """The axes that the options of these names say; raises InputError for one that is not there."""
    from biasgraph.data.axes import load_axis_set
    from biasgraph.runs.job import AXES

    whole = load_axis_set(axes or AXES)
    return whole.only(axis) if axis else whole
