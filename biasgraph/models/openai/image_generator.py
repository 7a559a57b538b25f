"""Image generation behind a server."""

from __future__ import annotations

import base64
import binascii
import io
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biasgraph.errors import InputError, ModelError, printable
from biasgraph.models.base import Picture, Setting
from biasgraph.models.image_files import FORMATS, MAX_PIXELS, upright
from biasgraph.models.openai.concurrency import run_side_by_side
from biasgraph.models.openai.error_responses import Complaint, document_of
from biasgraph.models.openai.journal import Stored
from biasgraph.models.openai.served_model import Asking, Facts, Garbled, Request
from biasgraph.models.openai.server import Cut, Response

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST_PROMPT = 32_000
"""Characters; servers refuse longer ones."""
LARGEST_SIDE = 16_384
NOT_GIVEN = (64, 64)
"""The size of the black picture that stands for one that was withheld."""
DOWNLOADS = 4
GONE = (401, 403, 404, 410)
NO_SEED, NO_FORMAT = "takes no seed", "takes no response_format"


@dataclass(frozen=True)
class Painted:
    """What a response holds: an image, or its address, or why there is neither."""

    image: Image | None = None
    address: str | None = None
    withheld: str | None = None
    revised_prompt: str | None = None


@dataclass(frozen=True)
class OpenAIGenerator:
    """Asks for one image at a time, each with its seed, as far as the server takes seeds.

    Where it does not, the seed only numbers the images: image n is kept in the run's journal and
    comes back from there, but nobody could draw it again.
    """

    asking: Asking
    size: tuple[int, int] | None = None
    negative_prompt: str | None = None
    batch_size: int = 16
    seconds_per_image: float | None = None

    @property
    def spec(self) -> str:
        return self.asking.spec

    @property
    def fingerprint(self) -> str:
        return self.asking.fingerprint

    @property
    def settings(self) -> Mapping[str, Setting]:
        return {"size": self._size, "negative_prompt": self.negative_prompt}

    def check_prompts(self, prompts: Sequence[str]) -> None:
        for prompt in prompts:
            if len(prompt) > LONGEST_PROMPT:
                raise InputError(
                    f"'{printable(prompt[:60])}...' has {len(prompt):,} characters, and servers "
                    f"take {LONGEST_PROMPT:,}: shorten the prompt"
                )

    def unseen_words(self, prompts: Sequence[str]) -> list[str]:
        return []

    def requests(self, *, images: int, questions: int) -> int:
        return images

    def notes(self) -> list[str]:
        seedless = "takes no seeds: nobody could draw these images again"
        return self.asking.notes("images", {NO_SEED: seedless})

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        requests = [self._request(*each) for each in zip(prompts, seeds, strict=True)]
        painted = dict(zip(map(self.asking.key, requests), self.asking.all(requests), strict=True))
        elsewhere = {
            self.asking.key(request): request
            for request in requests
            if painted[self.asking.key(request)].address is not None
        }
        fetched = run_side_by_side(
            lambda key, _: self._fetched(elsewhere[key], painted[key]),
            list(elsewhere),
            self.asking.concurrency,
        )
        painted.update(zip(elsewhere, fetched, strict=True))
        return [self._picture(painted[self.asking.key(request)]) for request in requests]

    @property
    def _size(self) -> str | None:
        return None if self.size is None else f"{self.size[0]}x{self.size[1]}"

    def _request(self, prompt: str, seed: int) -> Request[Painted]:
        content = {"prompt": prompt, "seed": seed, **self.settings}

        def body(facts: Facts) -> Mapping[str, Any]:
            parameters: dict[str, Any] = {"prompt": prompt, "n": 1}
            if self._size is not None:
                parameters["size"] = self._size
            if self.negative_prompt is not None:
                parameters["negative_prompt"] = self.negative_prompt
            if NO_SEED not in facts:
                parameters["seed"] = seed
            if NO_FORMAT not in facts:
                parameters["response_format"] = "b64_json"
            return parameters

        adapts = {NO_SEED: ("seed",), NO_FORMAT: ("response_format",)}
        return Request("images", content, body, read_painted, adapts, images=1)

    def _picture(self, painted: Painted) -> Picture:
        from PIL import Image

        image = painted.image or Image.new("RGB", self.size or NOT_GIVEN)
        return Picture(image, painted.withheld, painted.revised_prompt)

    def _fetched(self, request: Request[Painted], painted: Painted) -> Painted:
        """The image that a response points to, from the journal where it was fetched before.

        Addresses expire: one that is gone is asked for anew, once, as nothing is left of it.
        """
        try:
            return self._at(request, painted)
        except _Gone:
            self.asking.journal.forget(self.asking.key(request))
        again = self.asking.one(request)
        try:
            return again if again.address is None else self._at(request, again)
        except _Gone as gone:
            raise self._failure(str(gone)) from gone

    def _at(self, request: Request[Painted], painted: Painted) -> Painted:
        key, address = f"file:{self.asking.key(request)}", str(painted.address)
        stored = self.asking.journal.find(key)
        if stored is None:
            self.asking.journal.keep_file(key, address, self._download(address))
            stored = self.asking.journal.find(key)
        return replace(painted, image=decoded(stored.body if stored else b""), address=None)

    def _download(self, address: str) -> bytes:
        """A file that holds an image. Raises _Gone; ModelError after a few attempts."""
        problem = ""
        for attempt in range(DOWNLOADS):
            time.sleep(self.asking.patience.pause(attempt) if attempt else 0)
            try:
                response = self.asking.server.fetch(address)
                if response.status < 300:
                    decoded(response.body)
                    return response.body
                problem = str(response.status)
            except (Cut, Garbled) as error:
                problem = str(error)
            else:
                if response.status in GONE:
                    raise _Gone(f"its address is gone ({response.status})")
        raise self._failure(problem)

    def _failure(self, problem: str) -> ModelError:
        return ModelError(
            f"{printable(self.spec)} made an image that cannot be fetched: {problem}; what is done "
            "is kept: give the same command again to go on"
        )


class _Gone(Exception):
    """There is no file any more at an address that a response gave."""


def read_painted(stored: Stored) -> Painted:
    """What a response to a request for one image holds. Raises Garbled."""
    if stored.status >= 400:
        complaint = Complaint.of(Response(stored.status, {}, stored.body))
        return Painted(withheld=f"refused by the service: {complaint.moderated or 'refused'}")
    try:
        data = document_of(stored.body)["data"]
        image = data[0]
        coded, address = image.get("b64_json"), image.get("url")
        revised = image.get("revised_prompt")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Garbled("it holds no image") from error
    revised = revised if isinstance(revised, str) and revised else None
    if isinstance(address, str) and address.startswith("data:"):
        coded, address = address.partition(",")[2], None
    if isinstance(coded, str) and coded:
        try:
            content = base64.b64decode(coded.partition(",")[2] if "," in coded else coded)
        except (binascii.Error, ValueError) as error:
            raise Garbled("its image is no base64") from error
        return Painted(decoded(content), revised_prompt=revised)
    if isinstance(address, str) and address:
        return Painted(address=address, revised_prompt=revised)
    raise Garbled("it holds neither an image nor its address")


def decoded(content: bytes) -> Image:
    """A file's picture as RGB, read as a folder's would be. Raises Garbled."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as file:
            if max(file.size) > LARGEST_SIDE or file.width * file.height > MAX_PIXELS:
                raise Garbled(f"its image has {file.width}x{file.height} pixels")
            return upright(file)[0]
    except Garbled:
        raise
    except Exception as error:  # Pillow raises whatever its decoders do
        raise Garbled("its image cannot be read") from error
