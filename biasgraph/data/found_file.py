"""What found.json must hold to be read again: the prompts, where they stand, and what they show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from biasgraph.data.axes import PromptText, ShortText
from biasgraph.data.file_names import FOUND
from biasgraph.io.json_files import StrictModel, read_own

SCHEMA = "biasgraph-found/1"
MOST = 10**6
"""Prompts, images; more would be a mistake."""

Count = Annotated[int, Field(ge=0, le=MOST)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Method = Literal["lm", "search", "lm-biased", "pez", "curated"]
"""Who wrote the prompts of a cell: the language model alone, steered by the probes, or told to
bias; PEZ; or people."""


class FoundTarget(StrictModel):
    """An attribute that images were to show more often."""

    axis: ShortText
    attribute: ShortText


class FoundCell(StrictModel):
    """The prompts that were written in one way."""

    cell: Annotated[int, Field(ge=1, le=MOST)]
    method: Method
    weight: Annotated[Number | None, Field(alias="lambda")]
    n_prompts: Count
    n_images: Count


class FoundPrompt(StrictModel):
    """A prompt, or the reason why none was found."""

    number: Annotated[int, Field(ge=1, le=MOST)]
    cell: Annotated[int, Field(ge=1, le=MOST)]
    prompt: PromptText | None
    names: Annotated[list[ShortText], Field(max_length=50)]
    shares: Annotated[dict[ShortText, Share | None], Field(max_length=50)]
    n_valid: Annotated[dict[ShortText, Count], Field(max_length=50)]
    n_images: Count
    reason: str | None


class FoundFile(StrictModel):
    """A search for prompts (`biasgraph search`), as far as other commands read it."""

    schema_: Annotated[Literal["biasgraph-found/1"], Field(alias="schema")]
    toy: str | None = None
    model: str
    model_fingerprint: str
    lm: str
    lm_fingerprint: str
    targets: Annotated[list[FoundTarget], Field(min_length=1, max_length=50)]
    cells: Annotated[list[FoundCell], Field(min_length=1, max_length=1000)]
    prompts: Annotated[list[FoundPrompt], Field(max_length=MOST)]

    @model_validator(mode="after")
    def _consistent(self) -> FoundFile:
        cells = {one.cell for one in self.cells}
        if len(cells) < len(self.cells):
            raise ValueError("a cell is listed twice")
        if any(one.cell not in cells for one in self.prompts):
            raise ValueError("a prompt is of a cell that is not there")
        return self

    @property
    def found(self) -> list[str]:
        """The prompts that were searched for, each once, in their order; no baseline's."""
        searched = {one.cell for one in self.cells if one.method == "search"}
        texts = (one.prompt for one in self.prompts if one.cell in searched)
        return [*dict.fromkeys(text for text in texts if text is not None)]

    @classmethod
    def of(cls, directory: Path) -> FoundFile:
        """What a search left in its directory.

        Raises:
            InputError: There is no found.json, or it is damaged.
        """
        return read_own(cls, directory / FOUND, "search", "the found prompts in")
