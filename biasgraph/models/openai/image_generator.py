"""Image generation behind a server."""

from __future__ import annotations

import base64
import binascii
import io
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biasgraph.errors import InputError, ModelError, printable
from biasgraph.models.base import Picture, Setting
from biasgraph.models.image_files import FORMATS, lift_pixel_limit, turn_upright
from biasgraph.models.openai.concurrency import run_side_by_side
from biasgraph.models.openai.error_responses import ErrorResponse, document_of
from biasgraph.models.openai.served_model import Facts, MalformedResponse, OpenAIModel, Request
from biasgraph.models.openai.server import NoResponse, Response

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST_PROMPT = 32_000
"""Characters; servers refuse longer ones."""
MAX_PIXELS = 2**24
"""Of a generated image, e.g. 4096 x 4096."""
LARGEST_SIDE = 16_384
NOT_GIVEN = (64, 64)
"""The size of the black picture that stands for one that was withheld."""
DOWNLOADS = 4
GONE = (401, 403, 404, 410)
NO_SEED, NO_FORMAT = "takes no seed", "takes no response_format"


@dataclass(frozen=True)
class ImageResponse:
    """What a response holds: an image, or its address, or why there is neither."""

    image: Image | None = None
    address: str | None = None
    withheld: str | None = None
    revised_prompt: str | None = None


@dataclass(frozen=True)
class OpenAIGenerator(OpenAIModel):
    """Asks for one image at a time, each with its seed, as far as the server takes seeds.

    Where it does not, the seed only numbers the images: image n is kept in the run's journal and
    comes back from there, but nobody could draw it again.
    """

    size: tuple[int, int] | None = None
    negative_prompt: str | None = None
    batch_size: int = 16
    seconds_per_image: float | None = None

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What else decides the results, as a run records it."""
        return {"size": self._size, "negative_prompt": self.negative_prompt}

    def check_prompts(self, prompts: Sequence[str]) -> None:
        """Raise InputError, naming the prompt and the count, if the model would cut one off."""
        for prompt in prompts:
            if len(prompt) > LONGEST_PROMPT:
                raise InputError(
                    f"'{printable(prompt[:60])}...' has {len(prompt):,} characters, and servers "
                    f"take {LONGEST_PROMPT:,}: shorten the prompt"
                )

    def unseen_words(self, prompts: Sequence[str]) -> list[str]:
        """Words that the model is known never to have met."""
        return []

    def requests(self, *, images: int, questions: int) -> int:
        """About how many requests so much work takes."""
        return images

    def notes(self) -> list[str]:
        """What was found out at work, a sentence each."""
        seedless = "takes no seeds: these images cannot be made again"
        return self.served.notes("images", {NO_SEED: seedless})

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        """One picture for each prompt, drawn with the seed of the same place."""
        requests = [self._request(*each) for each in zip(prompts, seeds, strict=True)]
        keys = [self.served.key(request) for request in requests]
        by_key = dict(zip(keys, requests, strict=True))
        responses = dict(zip(keys, self.served.all(requests), strict=True))
        elsewhere = [key for key in by_key if responses[key].address is not None]
        fetched = run_side_by_side(
            lambda key, _: self._fetch(by_key[key], responses[key]),
            elsewhere,
            self.served.concurrency,
        )
        responses.update(zip(elsewhere, fetched, strict=True))
        return [self._picture(responses[key]) for key in keys]

    @property
    def _size(self) -> str | None:
        return None if self.size is None else f"{self.size[0]}x{self.size[1]}"

    def _request(self, prompt: str, seed: int) -> Request[ImageResponse]:
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
        return Request("images", content, body, read_image_response, adapts, images=1)

    def _picture(self, painted: ImageResponse) -> Picture:
        from PIL import Image

        image = painted.image or Image.new("RGB", self.size or NOT_GIVEN)
        return Picture(image, painted.withheld, painted.revised_prompt)

    def _fetch(self, request: Request[ImageResponse], painted: ImageResponse) -> ImageResponse:
        """The image that a response points to, from the journal where it was fetched before.

        Addresses expire: one that is gone is asked for anew, once, as nothing is left of it.
        """
        try:
            return self._fetch_once(request, painted)
        except _Gone:
            self.served.journal.forget(self.served.key(request))
        again = self.served.one(request)
        try:
            return again if again.address is None else self._fetch_once(request, again)
        except _Gone as gone:
            raise self._failure(str(gone)) from gone

    def _fetch_once(self, request: Request[ImageResponse], painted: ImageResponse) -> ImageResponse:
        key, address = f"file:{self.served.key(request)}", str(painted.address)
        stored = self.served.journal.find(key)
        content = self._download(address) if stored is None else stored.body
        if stored is None:
            self.served.journal.keep_file(key, address, content)
        return replace(painted, image=decode_image(content), address=None)

    def _download(self, address: str) -> bytes:
        """A file that holds an image. Raises _Gone; ModelError after a few attempts."""
        problem = ""
        for attempt in range(DOWNLOADS):
            time.sleep(self.served.patience.pause(attempt) if attempt else 0)
            try:
                with ExitStack() as held:
                    response = self.served.server.fetch(address, held)
                    if response.status < 300:
                        decode_image(response.body)
                        return response.body
                problem = str(response.status)
            except (NoResponse, MalformedResponse) as error:
                problem = str(error)
            else:
                if response.status in GONE:
                    raise _Gone(f"its address is gone ({response.status})")
        raise self._failure(problem)

    def _failure(self, problem: str) -> ModelError:
        return ModelError(
            f"{printable(self.spec)} made an image that cannot be fetched: {problem}; what is done "
            "is kept: rerun the same command to resume"
        )


class _Gone(Exception):
    """There is no file any more at an address that a response gave."""


def read_image_response(response: Response) -> ImageResponse:
    """What a response to a request for one image holds. Raises MalformedResponse."""
    if response.status >= 400:
        complaint = ErrorResponse.of(response)
        return ImageResponse(withheld=f"refused by the service: {complaint.moderated or 'refused'}")
    try:
        image = document_of(response.body)["data"][0]
        coded, address = image.get("b64_json"), image.get("url")
        revised = image.get("revised_prompt")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise MalformedResponse("it contains no image") from error
    revised = revised if isinstance(revised, str) and revised else None
    if isinstance(address, str) and address.startswith("data:"):
        coded, address = address.partition(",")[2], None
    if isinstance(coded, str) and coded:
        try:
            content = base64.b64decode(coded.partition(",")[2] if "," in coded else coded)
        except (binascii.Error, ValueError) as error:
            raise MalformedResponse("its image is not base64") from error
        return ImageResponse(decode_image(content), revised_prompt=revised)
    if isinstance(address, str) and address:
        return ImageResponse(address=address, revised_prompt=revised)
    raise MalformedResponse("it contains neither an image nor its address")


def decode_image(content: bytes) -> Image:
    """A file's picture as RGB, read as a folder's would be. Raises MalformedResponse."""
    from PIL import Image

    try:
        with lift_pixel_limit(), Image.open(io.BytesIO(content), formats=FORMATS) as file:
            if max(file.size) > LARGEST_SIDE or file.width * file.height > MAX_PIXELS:
                raise MalformedResponse(f"its image has {file.width}x{file.height} pixels")
            return turn_upright(file)[0]
    except MalformedResponse:
        raise
    except Exception as error:  # Pillow raises whatever its decoders do
        raise MalformedResponse("its image cannot be read") from error
