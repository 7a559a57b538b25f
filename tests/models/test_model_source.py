"""Models from folders and from a hub: what is downloaded, what is kept, what may go wrong.

The hub's address is read when its library is imported, so everything that asks for a model runs in
processes of its own.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from biasgraph.errors import InputError, ModelError
from biasgraph.models.inference_options import Spec
from biasgraph.models.library_loading import explain_loading_errors
from biasgraph.models.model_source import Source
from biasgraph.sandbox.backends import WEIGHTS
from tests.models.fake_hub import COMMIT, Hub

CLOSED = "http://127.0.0.1:9"
ASK = """
import json, sys
from biasgraph.errors import BiasgraphError
from biasgraph.models.model_source import Source
from biasgraph.models.inference_options import Spec
found = []
for spec in sys.argv[1:]:
    source = Source.of(Spec(spec))
    try:
        found.append([source.fingerprint, str(source.folder())])
    except BiasgraphError as error:
        found.append([type(error).__name__, str(error)])
print(json.dumps([found, sorted({"torch", "transformers"} & sys.modules.keys())]))
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    pickled = tmp_path_factory.mktemp("pickled")
    (pickled / "config.json").write_text("{}")
    (pickled / "pytorch_model.bin").write_bytes(b"x" * 100)
    models = {
        "acme/painter": WEIGHTS / "stereotyped",
        "acme/pickled": pickled,
        "acme/gated": "GatedRepo",
        "acme/down": "500",
        "acme/moved": "RevisionNotFound",
    }
    with Hub(models).serving() as serving:
        yield serving


def environment(home: Path, url: str, **more: str) -> dict[str, str]:
    return {**os.environ, "HF_HOME": str(home), "HF_ENDPOINT": url, **more}


def ask(home: Path, url: str, *specs: str, **more: str) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ASK, *specs],
        env=environment(home, url, **more),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found, heavy = json.loads(done.stdout)
    assert heavy == []
    return list(found)


def test_what_the_hub_refuses_is_said_in_a_line(hub: Hub, tmp_path: Path) -> None:
    specs = [f"diffusers:acme/{name}" for name in ("gated", "misspeled", "down", "pickled")]
    said = ask(tmp_path, hub.url, *specs, "diffusers:acme/moved@v9")
    assert {kind for kind, _ in said} == {"ModelError"}
    assert all("\n" not in line for _, line in said)
    wanted = (
        "accept its licence first",
        "no such model",
        "answered 500",
        "safetensors",
        "revision",
    )
    for (_, line), words in zip(said, wanted, strict=True):
        assert words in line
    assert not any(file.endswith(".bin") for file in hub.asked)


def test_a_model_is_downloaded_once_and_works_without_network(hub: Hub, tmp_path: Path) -> None:
    hub.asked.clear()
    (first,) = ask(tmp_path, hub.url, "diffusers:acme/painter")
    assert first[0] == f"hub:acme/painter@{COMMIT}"
    assert first[1].endswith(COMMIT)
    fetched = set(hub.asked)
    assert "acme/painter/unet/diffusion_pytorch_model.safetensors" in fetched
    hub.asked.clear()
    assert ask(tmp_path, hub.url, "diffusers:acme/painter") == [first]
    assert ask(tmp_path, CLOSED, "diffusers:acme/painter") == [first]
    assert ask(tmp_path, hub.url, "diffusers:acme/painter", HF_HUB_OFFLINE="1") == [first]
    assert hub.asked == []


def test_without_network_a_model_that_is_not_there_is_said_to_be(tmp_path: Path) -> None:
    (said,) = ask(tmp_path, CLOSED, "diffusers:acme/painter")
    assert said[0] == "ModelError" and "the hub cannot be reached" in said[1]
    (said,) = ask(tmp_path, CLOSED, "diffusers:acme/painter", HF_HUB_OFFLINE="1")
    assert said[0] == "ModelError" and "has not been downloaded" in said[1]


@pytest.mark.slow(reason="two programs and a hub; downloads alone stay")
def test_a_build_ends_with_one_line_and_the_next_goes_on(hub: Hub, tmp_path: Path) -> None:
    """No network, then a gated model, then the model: nothing half-written is in the way."""
    run = tmp_path / "run"
    command = [sys.executable, "-m", "biasgraph", "build", "--prompt", "a photo of a librarian"]
    command += ["--vqa", f"clip:{WEIGHTS / 'clip'}", "--images", "2", "--only", "gender"]
    command += ["--steps", "1", "--guidance", "1", "-o", str(run), "--quiet", "--model"]
    for model, url in (("painter", CLOSED), ("gated", hub.url)):
        done = subprocess.run(
            [*command, f"diffusers:acme/{model}"],
            env=environment(tmp_path, url),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1
        assert done.stdout == "" and done.stderr.startswith("Error: cannot load diffusers:acme/")
        assert done.stderr.count("\n") == 1
        assert not run.exists()
    done = subprocess.run(
        [*command, "diffusers:acme/painter"],
        env=environment(tmp_path, hub.url),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    record = json.loads((run / "run.json").read_text("utf-8"))
    assert record["generator"]["fingerprint"] == f"hub:acme/painter@{COMMIT}"


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("", "names no model"),
        ("/nowhere/at/all", "no such folder"),
        ("./model", "no such folder"),
        ("a/b/c", "no such folder"),
        ("a b", "neither a folder nor a name on the hub"),
        ("owner/na me", "neither a folder nor a name on the hub"),
        (f"{WEIGHTS / 'sandbox.json'}", "is a file; name the folder"),
        (f"{WEIGHTS / 'clip'}@main", "is a folder, without revisions"),
        ("a/\x1b[31mb", r"\\x1b\[31m"),
    ],
)
def test_names_that_cannot_be_are_refused(rest: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Source.of(Spec(f"diffusers:{rest}"))


def test_a_folder_is_a_folder_whatever_it_is_called(tmp_path: Path) -> None:
    folder = tmp_path / "weights@home"
    folder.mkdir()
    source = Source.of(Spec(f"clip:{folder}"))
    assert source.local and source.name == str(folder) and source.revision is None
    with pytest.raises(ModelError, match="no safetensors weights"):
        source.fingerprint  # noqa: B018
    (folder / "model.safetensors").write_bytes(b"one")
    one = Source.of(Spec(f"clip:{folder}")).fingerprint
    (folder / "model.safetensors").write_bytes(b"two")
    assert one != Source.of(Spec(f"clip:{folder}")).fingerprint


def test_a_folder_is_another_one_when_code_that_is_run_changes(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"one")
    spec, prints = Spec(f"clip:{tmp_path}"), []
    for code in ("first = 1", "second = 2"):
        (tmp_path / "modeling.py").write_text(code)
        prints += [Source.of(spec, trust_remote_code=runs).fingerprint for runs in (False, True)]
    assert prints[0] == prints[2] and len(set(prints)) == 3


def test_what_goes_wrong_while_loading_is_one_line() -> None:
    import torch
    from safetensors import SafetensorError

    full = OSError(errno.ENOSPC, "No space left on device")
    wrapped = ValueError("could not load")
    wrapped.__cause__ = full
    cases = [
        (full, "the disk is full"),
        (wrapped, "the disk is full"),
        (torch.OutOfMemoryError("CUDA out of memory"), "not enough memory for its weights"),
        (SafetensorError("incomplete metadata"), "damaged or cut short"),
        (ModuleNotFoundError("No module named 'sentencepiece'", name="sentencepiece"), "pip inst"),
        (ValueError("two\nlines \x1b[2J " + "and more " * 100), r"two lines \\x1b\[2J and more"),
        (KeyError("unet"), "KeyError: 'unet'"),
    ]
    for error, said in cases:
        matching = pytest.raises(ModelError, match=f"^cannot load clip:x: .*{said}")
        with matching as failed, explain_loading_errors("clip:x"):
            raise error
        assert "\n" not in str(failed.value) and len(str(failed.value)) < 400
    with pytest.raises(InputError), explain_loading_errors("clip:x"):
        raise InputError("as it is")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
@pytest.mark.parametrize("place", ["tokenizer_config.json", "unet/weights.safetensors", "notes"])
def test_a_folder_with_a_file_that_never_ends_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "unet").mkdir()
    (tmp_path / "config.json").write_text("{}")
    assert Source.of(Spec(f"clip:{tmp_path}")).local
    os.mkfifo(tmp_path / place)
    with pytest.raises(InputError, match=rf"{place}: it is not a regular file"):
        Source.of(Spec(f"clip:{tmp_path}"))
    (tmp_path / place).unlink()
    (tmp_path / place).symlink_to("/dev/zero")
    with pytest.raises(InputError, match=rf"{place}: it is not a regular file"):
        Source.of(Spec(f"clip:{tmp_path}"))
