"""What every case would read and compile anew, done once in the process that forks them."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

LIBRARIES = (
    "dateutil.rrule",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "pandas.core.methods.to_dict",
    "pyarrow.pandas_compat",
    "pyarrow.parquet",
    "pydantic.dataclasses",
    "rich._emoji_codes",
    "rich._unicode_data.unicode17-0-0",
)


def warm_up(cache: Path) -> None:
    """Import what the commands import when they need it, and compile the templates of pages.

    Args:
        cache: Where matplotlib keeps its list of fonts.
    """
    os.environ["MPLCONFIGDIR"] = str(cache)
    for name in LIBRARIES:
        importlib.import_module(name)
    from PIL import Image

    from biasgraph.io import resources
    from biasgraph.report import html

    Image.init()
    for name in resources.names(html.FOLDER, ".html"):
        html._environment().get_template(f"{name}.html")


def compute_in_one_thread() -> None:
    """Let torch compute in one thread; for a process that forks no other.

    Threads of several processes wait for each other on few cores, and a case takes ten times as
    long. torch's pool of threads does not survive a fork: a later use of it fails.
    """
    import torch

    torch.set_num_threads(1)
