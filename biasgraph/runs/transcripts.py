"""What language models were asked for a run: kept there word for word, and never asked again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from biasgraph.errors import InputError, printable, show_path
from biasgraph.io.json_files import parse_json
from biasgraph.io.text_files import read_regular
from biasgraph.io.writing import write_atomically
from biasgraph.models.base import LanguageModel, Message
from biasgraph.models.json_chat import BrokenOff, Exchange, ReplyError, chat
from biasgraph.models.json_replies import Schema
from biasgraph.runs.record import identity
from biasgraph.runs.storage import storing

FOLDER = "transcripts"
"""The folder of a run that holds them."""


def answer(
    directory: Path,
    task: str,
    model: LanguageModel,
    messages: Sequence[Message],
    schema: type[Schema],
) -> Schema:
    """What the model replies to a conversation, out of the run where it has replied before.

    directory: of the run; task: names the transcript, a word or two with dashes.

    Raises:
        ReplyError: no reply did; the line names the transcript.
        BrokenOff: the model failed in the middle; so does this line.
        BiasgraphError: what the model or the disk raises.
    """
    key = key_of(model, [[turn.role, turn.text] for turn in messages], schema.model_json_schema())
    before = find_reply(directory, task, key, schema)
    if before is not None:
        return before
    return converse(directory, task, key, model, lambda: chat(model, messages, schema))


def converse(
    directory: Path,
    task: str,
    key: str,
    model: LanguageModel,
    conversation: Callable[[], Exchange[Schema]],
) -> Schema:
    """What a conversation comes to, which is kept; raises as `answer`."""
    try:
        exchange = conversation()
    except BrokenOff as error:
        raise record_failure(directory, task, key, model, error) from error
    keep(directory, task, key, model, exchange)
    return exchange.value


def key_of(model: LanguageModel, *asked: object) -> str:
    """The SHA-256 (hex) of who is asked and of what, in JSON types."""
    text = json.dumps([model.spec, model.fingerprint, *asked], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def find_reply(directory: Path, task: str, key: str, schema: type[Schema]) -> Schema | None:
    """What was answered before; None where it was not, or the file says so no more."""
    try:
        path = transcript_path(directory, task, key)
        record = parse_json(read_regular(path), show_path(path))
        if record["key"] != key:
            return None
        return schema.model_validate_json(json.dumps(record["value"]))
    except (InputError, OSError, ValueError, LookupError, TypeError, ValidationError):
        return None


def keep(
    directory: Path, task: str, key: str, model: LanguageModel, exchange: Exchange[Schema]
) -> Path:
    """Write a conversation into the run; returns its file. Raises ModelError as the disk does."""
    value = exchange.value.model_dump(mode="json")
    record = _record(task, key, model, exchange.transcript) | {"value": value}
    return _write(transcript_path(directory, task, key), record, directory)


def record_failure(
    directory: Path, task: str, key: str, model: LanguageModel, error: BrokenOff
) -> BrokenOff:
    """Write a conversation that came to nothing; returns the error, which names the file now."""
    record = _record(task, key, model, error.transcript) | {"failed": str(error)}
    path = transcript_path(directory, task, key)
    path = _write(path.with_name(f"{path.stem}-failed.json"), record, directory)
    line = f"{error}; the transcript is in {show_path(path)}"
    kept = (
        ReplyError(line, error.transcript, error.forget)
        if isinstance(error, ReplyError)
        else BrokenOff(line, error.transcript)
    )
    kept.in_run = f"{error}; the transcript is in {FOLDER}/{path.name}"
    return kept


def transcript_path(directory: Path, task: str, key: str) -> Path:
    """Where a conversation is kept."""
    return directory / FOLDER / f"{task}-{key[:8]}.json"


def _record(task: str, key: str, model: LanguageModel, transcript: Sequence[Any]) -> dict[str, Any]:
    """A toy says so in its settings."""
    return {"task": task, "model": identity(model), "turns": list(transcript), "key": key}


def _write(path: Path, record: dict[str, Any], directory: Path) -> Path:
    with storing(directory):
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
        write_atomically(path, "".join(map(_harmless, text)).encode())
    return path


def _harmless(character: str) -> str:
    """A character of JSON; what a terminal would obey or hide is escaped."""
    unseen = character != "\n" and printable(character) != character
    return json.dumps(character)[1:-1] if unseen else character


def describe_writer(model: LanguageModel) -> str:
    """Who proposed something, for people: its spec, and what it is where it is no model."""
    toy = model.settings.get("written_by")
    return printable(model.spec) + (f" ({printable(str(toy))})" if toy else "")
