"""Why a prompt has no subject that one can be sure of, and what to do."""

from __future__ import annotations

TO_SEE = "name a person, an animal, a thing or a place, or put it in brackets"
WHOSE = "name whose it is, or put it in brackets"
IN_ENGLISH = "write it in English, or put its subject in brackets"


class Unsure(Exception):
    """Why a prompt has no subject that one can be sure of, and what to do."""

    def __init__(self, reason: str, advice: str = "put it in brackets") -> None:
        super().__init__(reason)
        self.advice = advice


class PictureOnly(Unsure):
    """A noun phrase is about the picture itself: "an oil painting in the style of Vermeer"."""
