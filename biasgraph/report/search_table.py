"""found.csv: every prompt of a search as a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from biasgraph.data.frames import with_label

if TYPE_CHECKING:
    import pandas as pd

Record = Mapping[str, Any]

FIRST = ("number", "cell", "method", "lambda", "prompt", "score", "log_probability", "n_tokens",
         "passes", "perplexity", "names")  # fmt: skip
LAST = ("n_images", "reason")


def found_frame(document: Record) -> pd.DataFrame:
    """A row for each prompt, the baselines' among them.

    Of each target the columns `share AXIS`, `n_valid AXIS` and `probability AXIS`; what is
    undefined is missing.

    Args:
        document: What found.json holds.
    """
    import pandas as pd

    cells = {cell["cell"]: cell for cell in document["cells"]}
    axes = [target["axis"] for target in document["targets"]]
    rows = []
    for one in document["prompts"]:
        cell = cells[one["cell"]]
        row = {name: one.get(name) for name in (*FIRST, *LAST)}
        row |= {"method": cell["method"], "lambda": cell["lambda"]}
        row["names"] = "; ".join(one["names"])
        for axis in axes:
            row[f"share {axis}"] = one["shares"].get(axis)
            row[f"n_valid {axis}"] = one["n_valid"].get(axis)
            row[f"probability {axis}"] = (one["probabilities"] or {}).get(axis)
        rows.append(row)
    of_axes = [f"{what} {axis}" for axis in axes for what in ("share", "n_valid", "probability")]
    frame = pd.DataFrame(rows, columns=[*FIRST, *of_axes, *LAST], dtype=object)
    return with_label(frame, document["toy"])
