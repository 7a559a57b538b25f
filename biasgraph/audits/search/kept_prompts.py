"""The prompts of a search, kept one by one in its run: a rerun goes on behind the last."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from biasgraph.data.axes import PromptText
from biasgraph.data.found_file import Count, Number, Share
from biasgraph.errors import InputError, show_path
from biasgraph.io.json_files import parse_json
from biasgraph.io.text_files import read_regular
from biasgraph.io.writing import write_atomically
from biasgraph.runs.storage import storing
from biasgraph.runs.wanted_images import digest

FOLDER = "searches"
"""The folder of a run that holds them."""


class FoundPrompt(BaseModel):
    """A prompt as it was found; what a method does not know of it is None.

    Attributes:
        prompt: None where the search came to nothing, which `reason` says.
        score: J.
        log_probability: Of what was written behind the opening, by the language model.
        n_tokens: How many tokens that was.
        probabilities: By the probes, axis -> mean probability of the attribute that was wanted.
        passes: Images that went through the denoiser for it.
        reason: Why there is no prompt.
    """

    model_config = ConfigDict(strict=True, frozen=True)

    prompt: PromptText | None
    score: Number | None = None
    log_probability: Number | None = None
    n_tokens: Count | None = None
    probabilities: dict[str, Share] | None = None
    passes: Count | None = None
    reason: str = ""


class _File(BaseModel):
    model_config = ConfigDict(strict=True)

    schema_: Literal["biasgraph-found-prompt/1"] = Field(alias="schema")
    key: str
    found: FoundPrompt


@dataclass(frozen=True)
class KeptPrompts:
    """The found prompts of a run; directory: its."""

    directory: Path

    def keep(self, asked: object, found: FoundPrompt) -> FoundPrompt:
        """Keep what was found for a request, in JSON types. Raises ModelError as the disk does."""
        record = {"schema": "biasgraph-found-prompt/1", "key": digest(asked)}
        text = json.dumps({**record, "found": found.model_dump(mode="json")}, indent=2)
        with storing(self.directory):
            path = self._path(asked)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, f"{text}\n".encode())
        return found

    def before(self, asked: object) -> FoundPrompt | None:
        """What was found for a request before; None where nothing was that can be read."""
        try:
            path = self._path(asked)
            file = _File.model_validate(parse_json(read_regular(path), show_path(path)))
        except (InputError, OSError, ValueError, ValidationError):
            return None
        return file.found if file.key == digest(asked) else None

    def _path(self, asked: object) -> Path:
        return self.directory / FOLDER / f"{digest(asked)[:16]}.json"
