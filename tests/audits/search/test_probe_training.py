"""`biasgraph probe train` through the command line, on the sandbox and on tiny pipelines."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
import torch

from biasgraph.audits.search.probe_options import ProbeOptions
from biasgraph.audits.search.probe_training import train
from biasgraph.commands import main
from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError
from biasgraph.models.clip import ClipJudge
from biasgraph.models.diffusers import DiffusersGenerator
from biasgraph.models.probe import load_probes
from biasgraph.models.registry import load_generator
from tests.command_line import refusal
from tests.kill_trials import kill_trials
from tests.models import tiny_pipelines

PROMPTS = ["a librarian", "a nurse", "a chef", "a pilot", "a teacher", "a farmer"]
IMAGES = 4
FEW = ["--images", str(IMAGES), "--every", "4"]
AXES = load_axis_set("occupation").only(["gender", "age"])


TRAINING = pytest.mark.slow(reason="trains probes; test_search.py and one tiny pipeline do, too")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["probe", "train", *map(str, arguments)])
    streams = capsys.readouterr()
    return code, " ".join(streams.out.split()), streams.err


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("lists") / "people.txt"
    file.write_text("\n".join(PROMPTS))
    return file


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, prompts: Path) -> Path:
    file = tmp_path_factory.mktemp("probes") / "people.safetensors"
    options = ["--axis", "gender,age", "--prompts", str(prompts), *FEW, "-q", "-o", str(file)]
    assert main(["probe", "train", *options]) == 0
    return file


def said(file: Path) -> dict[str, Any]:
    raw = file.read_bytes()
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    found: dict[str, Any] = json.loads(header["__metadata__"]["biasgraph"])
    assert found.pop("sha256")
    return found


@TRAINING
def test_what_the_file_says(trained: Path) -> None:
    found = said(trained)
    assert found["schema"] == "biasgraph-probes/1" and found["toy"]
    assert found["model"] == "sandbox:stereotyped" and found["vqa"] == "sandbox"
    assert (found["steps"], found["of"]) == ([0, 4, 8], 10)
    held, training = found["prompts"]["held_out"], found["prompts"]["training"]
    assert len(held) == 2 and sorted(held + training) == sorted(PROMPTS)
    gender, age = found["probes"]
    assert (gender["axis"], gender["attributes"]) == ("gender", ["male", "female"])
    assert (age["axis"], len(age["attributes"])) == ("age", 3)
    # Of each of 6 prompts, and of its 2 + 3 counterfactuals.
    assert found["n_images"] == 6 * 6 * IMAGES
    for probe, named in ((gender, 2), (age, 3)):
        assert sum(probe["n_training"]) <= 4 * 6 * IMAGES
        assert [one["fraction"] for one in probe["steps"]] == [0, 0.4, 0.8]
        for one in probe["steps"]:
            counts = one["unnamed"]["n_images"], one["named"]["n_images"]
            assert counts[0] <= 2 * IMAGES * (6 - named)
            assert counts[1] <= 2 * IMAGES * named
            assert one["unnamed"]["n_prompts"] == 2
    late = gender["steps"][-1]
    assert late["unnamed"]["accuracy"] >= 0.9 and late["named"]["accuracy"] >= 0.9


@TRAINING
def test_the_probes_are_those_of_the_model(trained: Path) -> None:
    generator = load_generator("sandbox:stereotyped")
    probes = load_probes(trained, generator, AXES)
    seen = generator.middle_activations(["a male chef", "a female chef"] * 4, range(8), every=4)
    male = probes["gender"].probabilities(seen.values[:, 2], 8)[:, 0]
    assert (male[::2] > 0.5).all() and (male[1::2] < 0.5).all()
    with pytest.raises(InputError, match="whose weights are not those of sandbox:debiased"):
        load_probes(trained, load_generator("sandbox:debiased"), AXES)


@TRAINING
def test_nothing_is_done_twice(trained: Path, prompts: Path, monkeypatch, capsys) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("done again")

    options = ["--prompts", prompts, *FEW, "-o", trained, "--json", "-q"]
    before = trained.read_bytes()
    with monkeypatch.context() as patched:
        for owner, name in (
            (DiffusersGenerator, "generate"),
            (DiffusersGenerator, "middle_activations"),
            (ClipJudge, "embed_images"),
        ):
            patched.setattr(owner, name, never)
        code, out, err = run(capsys, *options, "--axis", "gender,age")
        assert code == 0, err
        assert json.loads(out) == said(trained)
        assert trained.read_bytes() == before
    images = sorted((trained.with_suffix("") / "images").iterdir())
    code, out, err = run(capsys, *options, "--axis", "gender")
    assert code == 0, err
    assert [probe["axis"] for probe in json.loads(out)["probes"]] == ["gender"]
    assert sorted((trained.with_suffix("") / "images").iterdir()) == images
    trained.write_bytes(before)


@pytest.mark.slow(reason="trains probes again; a rerun above trains none")
def test_cut_short_it_comes_to_the_same(trained: Path, prompts: Path, tmp_path, monkeypatch):
    watch, calls = DiffusersGenerator.middle_activations, []

    def cut(self: Any, *arguments: Any, **named: Any) -> Any:
        calls.append(len(arguments[0]))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return watch(self, *arguments, **named)

    options = ProbeOptions(
        prompts=prompts,
        axis="gender,age",
        images=IMAGES,
        every=4,
        output=tmp_path / "x" / "people.safetensors",
    )
    with monkeypatch.context() as patched:
        patched.setattr(DiffusersGenerator, "middle_activations", cut)
        with pytest.raises(KeyboardInterrupt):
            train(options)
    assert not options.output.exists()
    assert train(options).document == said(trained)
    assert options.output.read_bytes() == trained.read_bytes()


def train_into(directory: Path) -> None:
    options = ProbeOptions(
        prompts=PROMPTS[:4],
        axis="gender",
        images=4,
        every=4,
        output=directory.with_name(directory.name + ".safetensors"),
    )
    train(options)


@pytest.mark.slow(reason="runs the sandbox several times; the test above is cut short in one place")
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on_and_ends_the_same(tmp_path: Path, by: signal.Signals) -> None:
    outcomes = kill_trials(
        train_into,
        lambda path: (path,),
        tmp_path,
        table=lambda path: path.with_name(path.name + ".safetensors").read_bytes(),
        trials=4,
        by=by,
    )
    assert any(trial.killed for trial in outcomes)


@TRAINING
def test_the_screen(trained: Path, prompts: Path, capsys) -> None:
    options = ["--axis", "gender,age", "--prompts", prompts, *FEW, "-o", trained]
    code, out, _ = run(capsys, *options)
    assert code == 0
    for part in ("a toy", "4 to train on, 2 held out", "3 of 10", "Unnamed", "4 (40%)", "Wrote"):
        assert part in out


MORE = pytest.mark.slow(reason="one pipeline more; models/ has the activations of every one")


@pytest.mark.slow(reason="trains probes; the sandbox's are trained in test_search.py")
@pytest.mark.parametrize(
    "name", ["sd15", *(pytest.param(name, marks=MORE) for name in ("sdxl", "sd3", "flux"))]
)
def test_tiny_pipelines_labelled_by_their_prompts(name: str, tmp_path: Path, capsys) -> None:
    folder = tiny_pipelines.save(name, tmp_path / name)
    people = tmp_path / "people.txt"
    people.write_text("a librarian\na nurse\na doctor\n")
    model = ["--model", f"diffusers:{folder}", "--device", "cpu", "--steps", 3, "--size", 64]
    labels = ["--labels", "prompt", "--vqa", "sandbox", "--axis", "gender", "--prompts", people]
    file = tmp_path / "tiny.safetensors"
    code, out, err = run(capsys, *model, *labels, "--images", 2, "-o", file, "--json", "-q")
    assert code == 0, err
    found = json.loads(out)
    assert (found["steps"], found["of"]) == ([0, 1, 2], 3)
    assert found["probes"][0]["n_training"] == [4, 4]
    for one in found["probes"][0]["steps"]:
        assert one["named"]["n_images"] == 4
        unnamed = one["unnamed"]  # of which the judge may know nothing
        assert unnamed["n_images"] <= 2 and (unnamed["accuracy"] is None) == (
            unnamed["n_images"] == 0
        )
    probes = load_probes(file, _tiny(folder), AXES.only(["gender"]))
    seen = _tiny(folder).middle_activations(["a nurse"], [1])
    assert torch.isfinite(probes["gender"].probabilities(seen.values[:, 1], 1)).all()
    with pytest.raises(InputError, match="whose weights are not those of sandbox:stereotyped"):
        load_probes(file, load_generator("sandbox:stereotyped"), AXES.only(["gender"]))


def _tiny(folder: Path) -> Any:
    from biasgraph.models.inference_options import ModelOptions

    return load_generator(f"diffusers:{folder}", ModelOptions(device="cpu", steps=3, size="64"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--axis", "gendre"], "has no axis 'gendre'"),
        (["--prompts", "ONE"], "probes need 3 or more"),
        (["--prompts", "NONE"], "contains no prompts"),
        (["--model", "openai:gpt-image-1-mini", "--vqa", "sandbox"], "shows no activations"),
        (["--model", "folder:."], "a folder makes no images"),
        (["--vqa", "human:labels.csv"], "people cannot answer"),
        (["--model", "diffusers:x/y"], "--vqa is needed"),
        (["-o", "probes.pt"], "its name must end in .safetensors"),
        (["-o", "..safetensors"], "is not a file of probes"),
        (["-o", "new/...safetensors"], "is not a file of probes"),
        (["-o", "THERE"], "already exists and is not a file of probes"),
        (["--every", "0"], "--every"),
        (["--labels", "guess"], "guess"),
    ],
)
def test_bad_input_is_one_line(arguments, says, tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    (tmp_path / "one.txt").write_text("a nurse\n")
    (tmp_path / "none.txt").write_text("\n")
    (tmp_path / "there.safetensors").write_bytes(b"something else")
    files = {"ONE": "one.txt", "NONE": "none.txt", "THERE": "there.safetensors"}
    given = (files.get(word, word) for word in arguments)
    assert says in refusal(capsys, "probe", "train", *given)
    assert (tmp_path / "there.safetensors").read_bytes() == b"something else"
    assert not (tmp_path / "outputs").exists()


@pytest.mark.slow(reason="trains probes again")
def test_an_attribute_that_no_image_shows(tmp_path: Path, capsys) -> None:
    """No picture of the sandbox shows what a word means that it never met."""
    people = tmp_path / "people.txt"
    people.write_text("a librarian\na nurse\na chef\n")
    axes = tmp_path / "axes.yaml"
    axes.write_text(
        "name: people\nsubject: person\ngate: Is there a person in the image?\n"
        "axes:\n- name: gender\n  question: What is the gender of the person?\n  attributes:\n"
        "  - {name: male, phrase: male, placement: before}\n"
        "  - {name: female, phrase: female, placement: before}\n"
        "  - {name: martian, phrase: martian, placement: before}\n"
    )
    file = tmp_path / "x.safetensors"
    options = ["--axes", axes, "--prompts", people, "--images", 4, "-q", "-o", file]
    code, _, err = run(capsys, *options)
    assert code == 2 and len(err.strip()) <= 400
    assert "no image to train on shows 'martian' of axis 'gender'" in err and not file.exists()
