"""Options that mean the same in every command that makes a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rich_click as click

Decorator = Callable[[Any], Any]


def model_option(panel: str) -> Decorator:
    """``--model``, for a command that has images made."""
    return click.option(
        "--model",
        metavar="SPEC",
        panel=panel,
        help="The image generator, as backend:name. Default: sandbox:stereotyped, a toy that ships "
        "with biasgraph.",
    )


def vqa_option(panel: str) -> Decorator:
    """``--vqa``."""
    return click.option(
        "--vqa",
        metavar="SPEC",
        panel=panel,
        help="The model that answers questions about the images. Default for the sandbox: sandbox.",
    )


def fresh_option(panel: str) -> Decorator:
    """``--fresh``."""
    return click.option(
        "--fresh",
        is_flag=True,
        panel=panel,
        help="Move a run that is already there aside and begin anew.",
    )
