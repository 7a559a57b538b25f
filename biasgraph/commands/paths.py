"""The type of options and arguments that name a file or a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click


class FilePath(click.Path):
    """A path as `pathlib` has it; "" is refused, which `Path` takes for the working directory."""

    def __init__(self, **options: Any) -> None:
        super().__init__(path_type=Path, **options)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path. Raises click.BadParameter for an empty one."""
        if value == "":
            self.fail("it is empty", param, ctx)
        return super().convert(value, param, ctx)
