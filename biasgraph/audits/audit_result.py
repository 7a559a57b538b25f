"""What an audit beside a build comes to: a document, its tables, and where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.data.frames import with_label

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class AuditResult:
    """What was found.

    Attributes:
        document: Everything its JSON file holds.
        directory: Where that file is.
    """

    document: dict[str, Any]
    directory: Path

    def tabulate(
        self, rows: Sequence[Mapping[str, Any]], columns: list[str] | None = None
    ) -> pd.DataFrame:
        """Rows as a frame that says so where they are a toy's; columns: those of the rows."""
        import pandas as pd

        return with_label(pd.DataFrame(rows, columns=columns, dtype=object), self.document["toy"])
