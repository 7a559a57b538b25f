"""Every command with `--engine`: the same files from workers of Ray as from this process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from biasgraph.commands import main
from tests.kill_trials import results

PEOPLE = ["nurse", "pilot", "chef", "librarian", "farmer", "judge", "doctor", "teacher"]
ON_RAY = ("--engine", "ray", "--workers", "2")
COMMANDS = {
    "openbias": (
        "openbias --captions captions.txt --images 2 --min-captions 10 --bootstrap 100 -o {}"
    ),
    "score": "minethegap score --prompts people.txt --images 4 --vary gender,age --null -o {}",
    "words": "words --prompt nurse --by removal --axis gender,age --images 24 -o {}",
    "words by gradient": "words --prompt nurse --by gradient --axis gender --images 4 -o {}",
    "evaluate": (
        "words evaluate --prompts two.txt --axis gender --images 8 --gradient-images 2 --every 5 "
        "-o {}"
    ),
    "mine": (
        "mine --iterations 3 --population 8 --selected 2 --mutations 2 --images 6 --best 3 "
        "--fresh-batches 2 -o {}"
    ),
    "mine an edge": (
        "mine --objective edge:gender,clothing --iterations 2 --population 4 --selected 1 "
        "--mutations 1 --images 6 --best 2 --fresh-batches 2 -o {}"
    ),
    "search": (
        "search --towards gender=male --probes probes.safetensors --prompts 2 --beams 3 "
        "--expand 4 --latents 3 --images 2 -o {}"
    ),
}
TRAIN = "probe train --axis gender --prompts people.txt --images 4 -o {}"
BUILD = (
    "build --prompt nurse --only gender,clothing --images 8 --min-valid 2 --bootstrap 100 "
    "--annotate none -o {}"
)

pytestmark = pytest.mark.slow(reason="every command twice; test_ray_engine.py has the parts")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A Ray of two CPUs, started once."""
    import ray

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")
        ray.init(
            address="local", num_cpus=2, include_dashboard=False, object_store_memory=150_000_000,
            log_to_driver=False, logging_level="CRITICAL",
        )  # fmt: skip
        yield
        ray.shutdown()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    frames = ("a photo of a {}", "a {}")
    (folder / "captions.txt").write_text(
        "\n".join(frame.format(one) for frame in frames for one in PEOPLE)
    )
    (folder / "people.txt").write_text("\n".join(f"a {one}" for one in PEOPLE))
    (folder / "two.txt").write_text("a nurse with a toolbox\na young chef in a kitchen")
    return folder


def run(command: str, target: str, *more: str) -> None:
    words = command.format(target).split()
    words = ["a nurse with a toolbox" if word == "nurse" else word for word in words]
    assert main([*words, "-q", *more]) == 0


@pytest.fixture(scope="module")
def probes(folder: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run(TRAIN, "probes.safetensors")
    return folder / "probes.safetensors"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_files_are_equal(
    cluster: None, folder: Path, probes: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    local, ray = f"{name.replace(' ', '-')}-local", f"{name.replace(' ', '-')}-ray"
    run(COMMANDS[name], local)
    run(COMMANDS[name], ray, *ON_RAY)
    assert results(folder / local) == results(folder / ray)


def test_probes_are_equal(
    cluster: None, folder: Path, probes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    run(TRAIN, "on-ray.safetensors", *ON_RAY)
    assert (folder / "on-ray.safetensors").read_bytes() == probes.read_bytes()


def test_what_is_measured_later_is_equal(
    cluster: None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    run(BUILD, "later-local")
    shutil.copytree("later-local", "later-ray", copy_function=shutil.copy2)
    for target, more in (("later-local", ()), ("later-ray", ON_RAY)):
        run("annotate {} tibet,openbias,minethegap,gradbias", target, *more)
        run("agreement {} --with sandbox:judge2 --bootstrap 100", target, *more)
    names = ("graph.json", "nodes.csv", "agreement.json")
    for name in names:
        local, ray = folder / "later-local" / name, folder / "later-ray" / name
        assert local.read_bytes() == ray.read_bytes(), name
