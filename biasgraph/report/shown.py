"""What the writers of this package need of a result; `biasgraph.result.Result` has it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pandas as pd


class Shown(Protocol):
    """A result as `Result` describes it, to be read only."""

    @property
    def document(self) -> dict[str, Any]: ...
    @property
    def pairs(self) -> pd.DataFrame: ...
    @property
    def nodes(self) -> pd.DataFrame: ...
    @property
    def tables(self) -> pd.DataFrame: ...
    @property
    def answers(self) -> pd.DataFrame: ...
    @property
    def directory(self) -> Path | None: ...
    @property
    def prompts(self) -> Sequence[Shown]: ...
    def pair_records(self) -> list[dict[str, Any]]: ...
