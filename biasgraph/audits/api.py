"""What Python users call: `biasgraph.build` and `biasgraph.analyze`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits import build as audit
from biasgraph.audits.options import BuildOptions
from biasgraph.data.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.data.axes import AxisSet


def build(prompt: str | None = None, **options: Any) -> Result:
    """Build the causal graph of a prompt's biases and save it, as `biasgraph build` does.

    Of several prompts it is the graph of their sum; `Result.prompts` holds that of each.

    options: the fields of `BuildOptions`, which are the command line's options
    with underscores: ``build("a librarian", images=96)``, ``build(answers="answers.csv")``,
    ``build(prompts=["a librarian", "a nurse"])``.

    Raises:
        InputError: what was given is wrong; the message says what and where.
        ModelError: a model, the machine or the network failed.
    """
    return audit.build(BuildOptions.given({"prompt": prompt, **options}))


def analyze(
    answers: str | Path | pd.DataFrame, axes: str | AxisSet | None = None, **options: Any
) -> Result:
    """Analyse a finished answers table in memory; `Result.save` writes it.

    answers: a CSV or Parquet file or a data frame with the columns model, prompt, role, axis,
    attribute, image, target, answer and, optionally, confidence.
    axes: a shipped axis set, a YAML file or an `AxisSet`; None reads the axes off the table.
    options: see `build`.

    Raises:
        InputError: what was given is wrong; the message names the row and column.
    """
    given = BuildOptions.given({"answers": answers, "axes": axes, **options})
    return audit.build_from_answers(answers, given)
