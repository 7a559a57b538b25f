"""A real server of somebody else's, `transformers serve`, with a tiny model that sees."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from biasgraph.models.base import Message, Question
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.openai.journal import Journal
from biasgraph.models.openai.judge import OpenAIJudge
from biasgraph.models.registry import load_judge, load_language_model
from tests.models.tiny_vlms import llava
from tests.openai_server import total_spent

pytestmark = pytest.mark.slow(reason="starts a server of transformers and loads a model in it")

QUESTION = Question("What is the gender?", ("male", "female"), ("a man", "a woman"))
SERVE = "import sys; from transformers.cli.transformers import main; sys.exit(main())"
SECONDS = 120


@dataclass(frozen=True)
class Served:
    """A model's folder, which is its name, too, and where it is served."""

    name: str
    base_url: str


def says_b(folder: Path) -> Path:
    """A model whose every reply is "B": its logits are all the same, and only B may begin."""
    import safetensors.torch
    from transformers import AutoTokenizer

    llava(folder)
    words = AutoTokenizer.from_pretrained(folder)
    letter, end = words.convert_tokens_to_ids("B"), words.pad_token_id
    file = folder / "model.safetensors"
    weights = safetensors.torch.load_file(file)
    for name in weights:
        if "lm_head" in name:
            weights[name].zero_()
    safetensors.torch.save_file(weights, file, {"format": "pt"})
    settings = {
        "eos_token_id": end,
        "pad_token_id": end,
        "begin_suppress_tokens": [token for token in range(len(words)) if token != letter],
    }
    (folder / "generation_config.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("served")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (home / "cache").mkdir()
    settings = {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(home / "cache"), "OMP_NUM_THREADS": "1"}
    where = ("--host", "127.0.0.1", "--port", str(port), "--device", "cpu")
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, "serve", *where],
            env={**os.environ, **settings},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            folder = says_b(home / "model")  # meanwhile: it is loaded when it is first asked for
            wait_for(port, process, home / "log")
            yield Served(str(folder), f"http://127.0.0.1:{port}/v1")
        finally:
            process.terminate()
            process.wait()


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)


def test_it_judges(served: Served, tmp_path: Path) -> None:
    """It ignores logprobs silently: the letter stands alone. Always B is no knowledge."""
    options = ModelOptions(base_url=served.base_url, permutations=1, concurrency=2)
    judge = load_judge(f"openai:{served.name}", options, tmp_path)
    assert isinstance(judge, OpenAIJudge)
    images = [Image.new("RGB", (32, 32), (n, 90, 200)) for n in (5, 99)]
    answers = judge.answer(images, [QUESTION])
    assert [(row[0].choice, row[0].probabilities) for row in answers] == [(1, ()), (1, ())]
    assert total_spent(Journal(tmp_path)) == (2, 0)
    assert judge.describe(images[:1], "Describe the image.") == ["B"]
    thrice = ModelOptions(base_url=served.base_url, permutations=3)
    torn = load_judge(f"openai:{served.name}", thrice).answer(images[:1], [QUESTION])
    assert torn[0][0].choice is None


def test_it_converses(served: Served) -> None:
    """A schema is ignored silently, too: what comes back is for `chat` to check."""
    options = ModelOptions(base_url=served.base_url)
    talker = load_language_model(f"openai:{served.name}", options)
    assert talker.reply([Message("user", "Name an axis.")], {"type": "object"}) == "B"
