"""Served image generation: pictures, what is withheld, and what becomes of prompts."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import EpsImagePlugin, Image

from biasgraph.errors import InputError, ModelError
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.openai.image_generator import (
    OpenAIGenerator,
    decode_image,
    read_image_response,
)
from biasgraph.models.openai.journal import BudgetSpent, Journal
from biasgraph.models.openai.served_model import MalformedResponse, Patience
from biasgraph.models.openai.server import Response
from biasgraph.models.registry import load_generator
from tests.openai_server import Behaviour, FakeServer, in_turn, serving, total_spent

PROMPTS, SEEDS = ["a nurse", "a nurse", "a cook"], [1, 2, 1]


def painter(fake: FakeServer, folder: Path | None = None, **options: Any) -> OpenAIGenerator:
    asked = ModelOptions(base_url=fake.base_url, **options)
    loaded = load_generator("openai:painter", asked, folder)
    assert isinstance(loaded, OpenAIGenerator)
    object.__setattr__(loaded.served, "patience", Patience(first=0.001, longest=0.01))
    return loaded


def file_of(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def test_a_picture_for_each_prompt_and_seed_the_same_in_any_batch() -> None:
    with serving() as fake:
        together = painter(fake).generate(PROMPTS, SEEDS)
        apart = [painter(fake).generate([p], [s])[0] for p, s in zip(PROMPTS, SEEDS, strict=True)]
        assert all(request["n"] == 1 for request in fake.counted.requests)
    pixels = [picture.image.tobytes() for picture in together]
    assert pixels == [picture.image.tobytes() for picture in apart]
    assert len(set(pixels)) == 3


def test_repeats_that_fill_a_batch_are_not_paid_for(tmp_path: Path) -> None:
    with serving() as fake:
        painter(fake, tmp_path).generate(["a nurse"] * 4 + ["a cook"], [1, 2, 1, 2, 1])
        assert fake.counted.images == fake.counted.calls == 3
        painter(fake, tmp_path).generate(PROMPTS, SEEDS)
        assert fake.counted.images == 3
    assert total_spent(Journal(tmp_path)) == (3, 3)


def test_the_size_and_the_seed_are_sent_as_long_as_they_are_taken(tmp_path: Path) -> None:
    with serving(Behaviour(rejects=("seed", "response_format"))) as fake:
        seedless = painter(fake, tmp_path, size="64x32", negative_prompt="blur")
        assert seedless.notes() == []
        pictures = seedless.generate(["a nurse", "a nurse"], [1, 2])
        last = fake.counted.requests[-1]
        assert (last["size"], last["negative_prompt"]) == ("64x32", "blur")
        assert "seed" not in last
        assert fake.counted.images == 2  # two images, though the server could not tell them apart
        assert len(pictures) == 2
        assert "takes no seeds" in seedless.notes()[0]
    with serving() as fake:
        painter(fake).generate(["a nurse"], [7])
        assert fake.counted.requests[0]["seed"] == 7
        assert fake.counted.requests[0]["response_format"] == "b64_json"


def test_a_rewritten_prompt_comes_with_the_picture() -> None:
    with serving(Behaviour(revises=True)) as fake:
        assert painter(fake).generate(["a nurse"], [1])[0].revised_prompt == "a nurse, in oil"


def test_a_refusal_is_a_withheld_picture_and_stored(tmp_path: Path) -> None:
    with serving(Behaviour(fault=in_turn("moderated"))) as fake:
        for _ in range(2):
            (picture,) = painter(fake, tmp_path, size="20").generate(["a nurse"], [1])
            assert picture.withheld == "refused by the service: moderation_blocked"
            assert picture.image.size == (20, 20)
            assert picture.image.getextrema() == ((0, 0), (0, 0), (0, 0))
        assert len(fake.counted.requests) == 1


def test_images_count_towards_their_budget(tmp_path: Path) -> None:
    with serving() as fake:
        with pytest.raises(BudgetSpent, match="budget of 2 images"):
            painter(fake, tmp_path, budget="images=2").generate(PROMPTS, SEEDS)
        assert fake.counted.images == 2
        painter(fake, tmp_path, budget="images=3").generate(PROMPTS, SEEDS)
        assert fake.counted.images == 3


def test_pictures_are_fetched_from_their_address_once(tmp_path: Path) -> None:
    with serving() as fake:
        inline = painter(fake).generate(PROMPTS, SEEDS)
    with serving(Behaviour(address=True)) as fake:
        fetched = painter(fake, tmp_path).generate(PROMPTS, SEEDS)
        fake.done.clear()
        again = painter(fake, tmp_path).generate(PROMPTS, SEEDS)
        assert fake.counted.images == 3
    for pictures in (fetched, again):
        assert [p.image.tobytes() for p in pictures] == [p.image.tobytes() for p in inline]


def test_a_picture_whose_address_has_expired_is_made_anew(tmp_path: Path) -> None:
    with serving(Behaviour(address=True)) as fake:
        first = painter(fake, tmp_path)
        request = first._request("a nurse", 1)
        first.served.all([request])  # stored, and then the process died before it fetched
        fake.done.clear()
        (picture,) = painter(fake, tmp_path).generate(["a nurse"], [1])
        assert picture.image.size == (16, 16)
        assert fake.counted.images == 2


def test_a_response_without_a_picture_is_asked_for_again() -> None:
    with serving(Behaviour(fault=in_turn("other", "html", "half"))) as fake:
        assert len(painter(fake).generate(["a nurse"], [1])) == 1
        assert fake.counted.images == 1


@pytest.mark.parametrize(
    "data",
    [
        [],
        None,
        [{}],
        [{"b64_json": ""}],
        [{"b64_json": "!!!!"}],
        [{"b64_json": base64.b64encode(b"<svg/>").decode()}],
        [{"b64_json": 5}],
        ["text"],
    ],
)
def test_what_holds_no_picture_is_garbled(data: object) -> None:
    with pytest.raises(MalformedResponse, match=r"^it|^its"):
        read_image_response(Response(200, json.dumps({"data": data}).encode()))


def test_every_kind_of_file_becomes_rgb() -> None:
    red = Image.new("RGB", (6, 4), (250, 0, 0))
    assert decode_image(file_of(red)).getpixel((0, 0)) == (250, 0, 0)
    assert decode_image(file_of(red, "WEBP", lossless=True)).getpixel((0, 0)) == (250, 0, 0)
    assert decode_image(file_of(red.convert("L"))).mode == "RGB"
    assert decode_image(file_of(red.convert("CMYK"), "JPEG")).mode == "RGB"
    clear = Image.new("RGBA", (6, 4), (250, 0, 0, 0))
    assert decode_image(file_of(clear)).getpixel((0, 0)) == (255, 255, 255)
    turned = Image.Exif()
    turned[0x0112] = 6
    assert decode_image(file_of(red, "JPEG", exif=turned)).size == (4, 6)


def test_pictures_of_no_use_are_refused() -> None:
    half = file_of(Image.effect_noise((64, 64), 50).convert("RGB"))
    with pytest.raises(MalformedResponse, match="cannot be read"):
        decode_image(half[: len(half) // 2])
    bomb = Image.new("1", (20_000, 1))
    with pytest.raises(MalformedResponse, match="20000x1 pixels"):
        decode_image(file_of(bomb))
    with pytest.raises(MalformedResponse, match="cannot be read"):
        decode_image(b"")


def test_no_program_is_run_for_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[object] = []
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *tile, **how: ran.append(tile))
    with pytest.raises(MalformedResponse, match="cannot be read"):
        decode_image(file_of(Image.new("RGB", (8, 8)), "EPS"))
    assert ran == []


def test_sixteen_bits_become_eight() -> None:
    deep = Image.new("I;16", (6, 4), 0x8080)
    assert decode_image(file_of(deep)).getpixel((0, 0)) == (0x80, 0x80, 0x80)


def test_a_rewritten_prompt_can_be_stored_whatever_it_holds() -> None:
    coded = base64.b64encode(file_of(Image.new("RGB", (8, 8)))).decode()
    data = [{"b64_json": coded, "revised_prompt": "a nurse \ud800"}]
    painted = read_image_response(Response(200, json.dumps({"data": data}).encode()))
    assert painted.revised_prompt == "a nurse ?"


def test_a_prompt_too_long_for_any_server() -> None:
    with serving() as fake, pytest.raises(InputError, match="has 40,000 characters"):
        painter(fake).check_prompts(["a nurse", "n" * 40_000])


def test_a_server_that_is_not_there_is_one_line() -> None:
    with serving() as fake:
        gone = painter(fake)
    with pytest.raises(ModelError, match=r"it cannot be reached .* \(tried 3 times\)"):
        gone.generate(["a nurse"], [1])
    assert total_spent(gone.served.journal) == (0, 0)
