"""What a response that is no success means: for the budget, for trying again, and in words."""

from __future__ import annotations

import email.utils
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasgraph.models.openai.server import Response

TURNED_AWAY = {408, 409, 425, 429, 500, 503, 529}
"""Worth another try, and no server charges for them."""
IN_DOUBT = {502, 504, 520, 521, 522, 523, 524}
"""Worth another try; behind a gateway the work may have been done, and charged for."""
OUT_OF_MONEY = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
MODERATED = {
    "moderation_blocked",
    "content_policy_violation",
    "content_filter",
    "responsibleaipolicyviolation",
    "safety_violation",
}
MOST_VALUES = 200_000
"""Commas and brackets in a response; what is read of a reply has a few thousand."""
MODERATED_WORDS = (
    "safety system",
    "content policy",
    "content management policy",
    "usage policy",
    "usage policies",
    "moderation",
    "flagged",
)


@dataclass(frozen=True)
class ErrorResponse:
    """A server's error message, in whichever of the usual shapes it came."""

    status: int
    message: str = ""
    code: str = ""
    parameter: str = ""

    @classmethod
    def of(cls, response: Response) -> ErrorResponse:
        """What a response with an error status says."""
        try:
            document = parse_json(response.body)
        except ValueError:
            # A gateway's page: its status says all there is to know.
            text = response.body[:500].decode("utf-8", "replace")
            return cls(response.status, "" if "<" in text else text)
        record = document.get("error", document) if isinstance(document, Mapping) else document
        if not isinstance(record, Mapping):
            return cls(response.status, record if isinstance(record, str) else "")
        message = record.get("message") or record.get("detail") or record.get("error") or ""
        return cls(
            response.status,
            message if isinstance(message, str) else json.dumps(message),
            str(record.get("code") or record.get("type") or ""),
            str(record.get("param") or ""),
        )

    @property
    def may_pass(self) -> bool:
        """Whether the same request may succeed later."""
        if self.code in OUT_OF_MONEY:
            return False
        return self.status in TURNED_AWAY | IN_DOUBT

    @property
    def in_doubt(self) -> bool:
        """Whether the request may have been charged for."""
        return self.status in IN_DOUBT

    @property
    def moderated(self) -> str | None:
        """What the request was refused for by a moderation, in a word; None if it was not."""
        if self.status not in (400, 403, 422, 451):
            return None
        if self.code.lower() in MODERATED:
            return self.code
        said = self.message.lower()
        return next((words for words in MODERATED_WORDS if words in said), None)

    def names(self, words: Sequence[str]) -> bool:
        """Whether it complains about one of these parameters."""
        if self.status not in (400, 422):
            return False
        return any(
            self.parameter == word or self.parameter.startswith(f"{word}.") or word in self.message
            for word in words
        )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait, at least 0; None where it does not say."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    try:
        date = email.utils.parsedate_tz(headers.get("retry-after", ""))
        return None if date is None else max(email.utils.mktime_tz(date) - time.time(), 0.0)
    except (ValueError, OverflowError):  # of a year that no calendar has
        return None


def parse_json(body: bytes) -> Any:
    """The JSON value that a response is. Raises ValueError.

    Lone surrogates, which JSON can hold and neither UTF-8 nor SQLite can, become question marks.
    """
    if sum(map(body.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise ValueError("it is not usable JSON")
    try:
        return _make_encodable(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise ValueError("it is not JSON") from error


def _make_encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_make_encodable(item) for item in value]
    if isinstance(value, dict):
        return {_make_encodable(name): _make_encodable(item) for name, item in value.items()}
    return value


def document_of(body: bytes) -> dict[str, Any]:
    """The JSON object that a response is, as `parse_json` reads it. Raises ValueError."""
    document = parse_json(body)
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    return document


def error_inside(body: bytes) -> str:
    """The message of an error that came with a status of success; empty if there is none."""
    try:
        error = document_of(body).get("error")
    except ValueError:
        return ""
    return ErrorResponse.of(Response(200, body)).message if error else ""
