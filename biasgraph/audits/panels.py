"""The panels of ``--help``; that of models is in `biasgraph.models.inference_options`."""

from __future__ import annotations

AUDIT, AXES, ANALYSIS = "What to audit", "Axes and ideal", "Analysis"
METHODS, OUTPUT = "Other methods", "Output"
