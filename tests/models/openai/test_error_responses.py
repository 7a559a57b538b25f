"""What responses that are no success mean."""

from __future__ import annotations

import email.utils
import json
import time

import pytest

from biasgraph.models.openai.error_responses import ErrorResponse, document_of, retry_after
from biasgraph.models.openai.server import Response


def response(status: int, document: object) -> Response:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return Response(status, body)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"error": {"message": "too much"}}, "too much"),
        ({"error": "too much"}, "too much"),
        ({"detail": "too much"}, "too much"),
        ({"object": "error", "message": "too much", "code": 400}, "too much"),
        ({"detail": [{"loc": ["seed"]}]}, '[{"loc": ["seed"]}]'),
        ("too much", "too much"),
        (b"too much", "too much"),
        (b"<html><h1>Nginx</h1></html>", ""),
        ([1, 2], ""),
        (b"", ""),
        (b"[" * 100_000, "[" * 500),
    ],
)
def test_the_message_is_found_in_every_usual_shape(document: object, message: str) -> None:
    assert ErrorResponse.of(response(400, document)).message == message


def test_what_may_pass_and_what_may_have_been_charged() -> None:
    def complaint(status: int, code: str = "") -> ErrorResponse:
        return ErrorResponse.of(response(status, {"error": {"message": "m", "code": code}}))

    assert [s for s in range(300, 600) if complaint(s).may_pass] == (
        [408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529]
    )
    assert [s for s in range(300, 600) if complaint(s).in_doubt] == (
        [502, 504, 520, 521, 522, 523, 524]
    )
    assert not complaint(429, "insufficient_quota").may_pass


def test_moderation_is_told_from_mistakes() -> None:
    def moderated(status: int, message: str, code: str = "") -> str | None:
        error = {"message": message, "code": code}
        return ErrorResponse.of(response(status, {"error": error})).moderated

    assert moderated(400, "no", "moderation_blocked") == "moderation_blocked"
    assert moderated(400, "Rejected as a result of our safety system.") == "safety system"
    assert moderated(400, "Invalid size", "invalid_value") is None
    assert moderated(429, "our safety system is busy") is None
    assert moderated(500, "content policy") is None


def test_a_parameter_is_found_by_name() -> None:
    def names(status: int, error: object) -> bool:
        return ErrorResponse.of(response(status, {"error": error})).names(("seed",))

    assert names(400, {"message": "Unknown", "param": "seed"})
    assert names(422, "Unexpected keyword 'seed'")
    assert not names(400, {"message": "Unknown", "param": "size"})
    assert not names(500, "seed")


def test_the_time_to_wait() -> None:
    assert retry_after({"retry-after": "2"}) == 2
    assert retry_after({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert retry_after({"retry-after": "-5"}) == 0
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({"retry-after": "inf"}) is None
    assert retry_after({"retry-after": "nan"}) is None
    assert retry_after({}) is None
    assert retry_after({"retry-after": "Wed, 21 Oct 99999999999 07:28:00 GMT"}) is None
    later = email.utils.formatdate(time.time() + 30, usegmt=True)
    assert 25 < (retry_after({"retry-after": later}) or 0) <= 30
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'{"a": ', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_json_object(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"it is not (JSON|a JSON object)"):
        document_of(body)


def test_what_no_file_can_hold_becomes_question_marks() -> None:
    body = rb'{"a\ud800": ["\udfff", "\ud83d\ude00", 1, null, "\u00e9"]}'
    assert document_of(body) == {"a?": ["?", "\U0001f600", 1, None, "é"]}
    assert ErrorResponse.of(Response(400, rb'{"error": {"message": "\ud800"}}')).message == "?"
