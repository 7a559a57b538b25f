"""What mined.json must hold to be read again: the prompts, and what their scores rest on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from biasgraph.data.axes import PromptText
from biasgraph.data.file_names import MINED
from biasgraph.io.json_files import StrictModel, read_own

SCHEMA = "biasgraph-mined/1"
MOST = 10**6
"""Images, batches; more would be a mistake."""

Count = Annotated[int, Field(ge=0, le=MOST)]
Score = Annotated[float, Field(allow_inf_nan=False)]
Texts = Annotated[list[PromptText], Field(max_length=1000)]


class MinedPrompt(StrictModel):
    """A prompt that was scored again on fresh images."""

    rank: Count
    prompt: PromptText
    variations: Texts
    score: Score | None
    low: Score | None
    high: Score | None
    fresh_scores: Annotated[list[Score | None], Field(max_length=MOST)]
    n_images: Count
    n_batches: Count
    reason: str


class MinedSettings(StrictModel):
    """What the scores depend on beside the models."""

    objective: str
    images: Annotated[int, Field(ge=1, le=MOST)]
    variations: Count
    vary: list[str]
    axes: str
    axes_digest: str
    ideal: dict[str, dict[str, Score]] | None
    alpha: Annotated[float, Field(gt=0, le=1)]
    fresh_batches: Annotated[int, Field(ge=2, le=MOST)]


class MinedFile(StrictModel):
    """A search for prompts (`biasgraph mine`), as far as other commands read it."""

    schema_: Annotated[Literal["biasgraph-mined/1"], Field(alias="schema")]
    toy: str | None = None
    model: str
    model_fingerprint: str
    vqa: str | None = None
    vqa_fingerprint: str | None = None
    embedder: str | None = None
    embedder_fingerprint: str | None = None
    proposed_by: str
    settings: MinedSettings
    mined: Annotated[list[MinedPrompt], Field(min_length=1, max_length=10_000)]

    @model_validator(mode="after")
    def _different(self) -> MinedFile:
        if len({row.prompt for row in self.mined}) < len(self.mined):
            raise ValueError("a mined prompt is listed twice")
        return self

    @classmethod
    def of(cls, directory: Path) -> MinedFile:
        """What a search left in its directory, the prompts in their order.

        Raises:
            InputError: There is no mined.json, or it is damaged.
        """
        read = read_own(cls, directory / MINED, "mine", "the mined prompts in")
        return read.model_copy(update={"mined": sorted(read.mined, key=lambda row: row.rank)})
