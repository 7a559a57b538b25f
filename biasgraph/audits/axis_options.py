"""The options that choose axes, of the audits that are no build."""

from __future__ import annotations

from collections.abc import Sequence

from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.data.options import Settings, optional, settings
from biasgraph.runs.job import AXES


@settings()
class AxisOptions(Settings):
    """Some axes of an axis set."""

    axis: str | Sequence[str] | None = optional(
        "The axes.", kind=list, metavar="AXIS,...", usual="all of the axis set"
    )
    axes: str | None = optional(
        "The axis set, shipped or your own YAML file.", metavar="NAME|FILE", usual=AXES
    )


def choose_axes(axes: str | None, axis: Sequence[str] | None) -> AxisSet:
    """The axes that the options of these names say; raises InputError for one that is not there."""
    whole = load_axis_set(axes or AXES)
    return whole.only(axis) if axis else whole
