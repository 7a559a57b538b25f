"""`biasgraph models`: what is listed, what works, and trying models of every role."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from biasgraph.commands import main
from biasgraph.models.backend import OPTION, ROLES
from biasgraph.models.inference_options import MODEL_OPTIONS, flag_of
from biasgraph.models.registry import BACKENDS

ROOT = Path(__file__).parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def _listed(capsys: pytest.CaptureFixture[str]) -> dict:
    assert main(["models", "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def test_every_backend_is_listed_with_a_spec_to_paste(capsys) -> None:
    listed = _listed(capsys)
    entries = {entry["name"]: entry for entry in listed["backends"]}
    assert set(BACKENDS) <= set(entries)
    for name, backend in BACKENDS.items():
        entry = entries[name]
        assert entry["about"] and entry["needs"], name
        assert {role["role"] for role in entry["roles"]} == set(backend.roles)
        for role in entry["roles"]:
            assert role["role"] in ROLES
            assert role["option"] == OPTION[role["role"]]
            assert role["example"].partition(":")[0] == name
            assert set(role["reads"]) <= {flag_of(known) for known in MODEL_OPTIONS}
    machine = listed["machine"]
    assert machine["device"] in ("cpu", "cuda", "mps")
    assert machine["versions"]["torch"]


def test_every_option_is_read_by_some_backend() -> None:
    read = {
        name
        for backend in BACKENDS.values()
        for role in backend.roles.values()
        for name in role.reads
    }
    assert read == set(MODEL_OPTIONS)


def test_what_does_not_work_says_why(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {entry["name"]: entry for entry in _listed(capsys)["backends"]}
    assert (entries["sandbox"]["works"], entries["sandbox"]["obstacle"]) == (True, None)
    assert entries["openai"]["works"] is False
    assert "OPENAI_API_KEY" in entries["openai"]["obstacle"]
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-mine")
    assert main(["models"]) == 0
    printed = capsys.readouterr().out
    assert "sk-secret-of-mine" not in printed
    assert "openai  works" in printed


def test_a_missing_package_names_the_command_that_brings_it(
    capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    from biasgraph.models import backend

    hidden = backend.find_spec
    monkeypatch.setattr(
        backend, "find_spec", lambda name: None if name == "openai" else hidden(name)
    )
    assert main(["models"]) == 0
    assert "not installed: openai; pip install 'biasgraph[openai]'" in capsys.readouterr().out
    assert main(["models", "--llm", "openai:gpt-4.1-mini"]) == 1
    assert "pip install 'biasgraph[openai]'" in capsys.readouterr().err


def _cached(cache: Path, name: str, config: dict[str, object], file: str = "config.json") -> None:
    """A model in the layout of the hub's cache."""
    repository = cache / f"models--{name.replace('/', '--')}"
    snapshot = repository / "snapshots" / COMMIT
    (snapshot / "unet").mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    (snapshot / file).write_text(json.dumps(config))
    (snapshot / "unet" / "model.safetensors").write_bytes(b"x" * 100)


@pytest.mark.slow(reason="a process of its own")
def test_models_downloaded_before_are_listed_with_their_specs(tmp_path: Path) -> None:
    cache = tmp_path / "hub"
    vision: dict[str, object] = {"vision_config": {}}
    _cached(cache, "a/painter", {"_class_name": "FluxPipeline"}, "model_index.json")
    _cached(cache, "b/writer", {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"})
    _cached(cache, "c/clip", {"architectures": ["SiglipModel"], "model_type": "siglip2", **vision})
    _cached(
        cache,
        "d/viewer",
        {"architectures": ["LlavaForConditionalGeneration"], "model_type": "llava", **vision},
    )
    _cached(cache, "e/bert", {"architectures": ["BertModel"], "model_type": "bert"})
    _cached(cache, "f/odd", {"architectures": 3, "model_type": None})
    environment = {**os.environ, "HF_HOME": str(tmp_path), "PYTHONWARNINGS": "error"}
    environment.pop("HF_HUB_CACHE", None)
    arguments = [sys.executable, ROOT / "cli.py", "models"]
    done = subprocess.run(
        [*arguments, "--json"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = {model["spec"]: model for model in json.loads(done.stdout)["downloaded"]}
    expected = {
        "diffusers:a/painter": "generator",
        "lm:b/writer": "language model",
        "clip:c/clip": "embedder",
        "vlm:d/viewer": "judge",
    }
    assert {spec: model["role"] for spec, model in found.items()} == expected
    assert found["lm:b/writer"]["revision"] == COMMIT
    assert found["lm:b/writer"]["bytes"] > 100
    shown = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=60)
    assert "diffusers:a/painter" in shown.stdout


@pytest.mark.slow(reason="loads four models")
def test_models_of_every_role_are_tried_together(capsys) -> None:
    arguments = ["models", "--model", "sandbox:stereotyped", "--vqa", "sandbox"]
    arguments += ["--embedder", "sandbox", "--llm", "sandbox"]
    assert main([*arguments, "--json"]) == 0
    tried = json.loads(capsys.readouterr().out)["tried"]
    assert [record["role"] for record in tried] == list(ROLES)
    assert all(record["fingerprint"] and record["seconds"] >= 0 for record in tried)
    assert tried[0]["said"] == "an image of 64x64 pixels"
    assert re.search(r"person in the image .* yes \(yes (0\.9|1\.0)", tried[1]["said"])
    assert "dimensions; cosine with" in tried[2]["said"]
    assert main(arguments) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--model", ""], 2, "--model is empty"),
        (["--model", "sandbox"], 2, "sandbox:stereotyped"),
        (["--model", "sandbox:stereotypd"], 2, "Did you mean 'stereotyped'?"),
        (["--model", "Sandbox:stereotyped"], 2, "Did you mean 'sandbox'?"),
        (["--model", "human:labels.csv"], 2, "human has no generator"),
        (["--vqa", "lm:Qwen/Qwen3-4B"], 2, "lm has no judge"),
        (["--vqa", "Qwen/Qwen3-VL-4B"], 2, "Did you mean 'vlm:Qwen/Qwen3-VL-4B'?"),
        (["--embedder", "google/siglip2"], 2, "Did you mean 'clip:google/siglip2'?"),
        (["--llm", "Qwen/Qwen3-4B"], 2, "Did you mean 'lm:Qwen/Qwen3-4B'?"),
        (["--model", "black-forest/flux"], 2, "Did you mean 'diffusers:black-forest/flux'?"),
        (["--model", "./"], 2, "'diffusers:./', or 'folder:./'?"),
        (["--llm", "http://localhost:8000/v1"], 2, "--llm openai:MODEL"),
        (["--llm", "lm:\x1b[31m\u202e"], 2, "\\x1b[31m\\u202e"),
        (["--llm", "lm:gpt2", "--device", "gpu"], 2, "Did you mean 'cuda'?"),
        (["--llm", "lm:gpt2", "--steps", "4"], 2, "--steps has no effect on lm:gpt2"),
        (["--llm", "lm:gpt2", "--dtype", "int3"], 2, "int3"),
        (["--device", "cpu"], 2, "name one with --model"),
    ],
)
def test_wrong_specs_are_one_line(capsys, arguments: list[str], code: int, said: str) -> None:
    assert main(["models", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert len(captured.err.splitlines()) == 1 and captured.err.strip().isprintable()


def test_a_folder_shows_a_picture_of_its_own(tmp_path: Path, capsys) -> None:
    from PIL import Image

    assert main(["models", "--model", f"folder:{tmp_path / 'nowhere'}"]) == 2
    assert "no such folder" in capsys.readouterr().err
    assert main(["models", "--model", f"folder:{tmp_path}"]) == 2
    assert "no picture file" in capsys.readouterr().err
    Image.new("RGB", (48, 32)).save(tmp_path / "a.png")
    assert main(["models", "--model", f"folder:{tmp_path}"]) == 0
    assert "has an image of 48x32 pixels" in capsys.readouterr().out
