"""Probes in files: read back as they were, and refused for what they are not for."""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError
from biasgraph.models.probe import RECORD, Probe, is_probe_file, load_probes, probe_file

AXES = load_axis_set("occupation").only(["gender", "age"])
SETTINGS = {"steps": 10, "guidance": 1.0, "device": "cpu"}
STEPS, OF, D = (0, 4, 8), 10, 6


def model(**changed: Any) -> Any:
    told = {"spec": "sandbox:stereotyped", "fingerprint": "f1", "settings": SETTINGS, **changed}
    return SimpleNamespace(**told)


def probes() -> list[Probe]:
    rng = torch.Generator().manual_seed(0)
    made = []
    for axis in AXES.axes:
        k = len(axis.names)
        parts = [torch.randn(3, k, D, generator=rng), torch.randn(3, k, generator=rng)]
        parts += [torch.randn(3, D, generator=rng), torch.rand(3, D, generator=rng) + 0.5]
        made.append(Probe(axis.name, axis.names, STEPS, OF, *parts))
    return made


def record(**changed: Any) -> dict[str, Any]:
    told = [
        {"axis": a.name, "digest": AXES.only([a.name]).digest(), "attributes": list(a.names)}
        for a in AXES.axes
    ]
    own = {"model": "sandbox:stereotyped", "model_fingerprint": "f1", "generator": SETTINGS}
    return {**own, "steps": list(STEPS), "of": OF, "probes": told, **changed}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "probes.safetensors"
    file.write_bytes(probe_file(record(), probes()))
    return file


def test_read_back_as_written(path: Path) -> None:
    assert is_probe_file(path)
    found = load_probes(path, model(), AXES)
    assert list(found) == ["gender", "age"]
    values = torch.randn(5, D)
    for probe in probes():
        read = found[probe.axis]
        assert (read.attributes, read.steps, read.of) == (probe.attributes, STEPS, OF)
        for step in STEPS:
            own = probe.probabilities(values, step)
            assert own.shape == (5, len(probe.attributes))
            assert torch.allclose(own.sum(dim=1), torch.ones(5, dtype=torch.float64))
            assert torch.equal(read.probabilities(values, step), own)


def test_probabilities_by_hand() -> None:
    probe = probes()[1]
    values = np.arange(D, dtype=np.float64)[None]
    weight, bias, mean, scale = (
        getattr(probe, name)[1].double().numpy() for name in ("weight", "bias", "mean", "scale")
    )
    logits = ((values - mean) / scale) @ weight.T + bias
    expected = np.exp(logits) / np.exp(logits).sum()
    assert np.allclose(probe.probabilities(torch.from_numpy(values), 4).numpy(), expected)
    assert probe.fractions == (0, 0.4, 0.8)


def test_a_step_or_a_width_that_it_has_not() -> None:
    with pytest.raises(InputError, match="no head for step 5, only for 0, 4, 8"):
        probes()[0].probabilities(torch.zeros(1, D), 5)
    with pytest.raises(InputError, match="reads 6 numbers"):
        probes()[0].probabilities(torch.zeros(1, 7), 4)


@pytest.mark.parametrize(
    ("generator", "said"),
    [
        (model(fingerprint="f2", spec="sandbox:debiased"), "is for sandbox:stereotyped, whose"),
        (model(settings={**SETTINGS, "guidance": 7.5}), "guidance 1.0, not 7.5"),
        (model(settings={**SETTINGS, "lora": "x"}), "lora None, not x"),
    ],
)
def test_another_model_is_refused(path: Path, generator: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        load_probes(path, generator, AXES)
    assert len(str(caught.value)) < 400 and "\n" not in str(caught.value)


def test_more_steps_on_another_device_are_no_other_model(path: Path) -> None:
    other = model(settings={**SETTINGS, "steps": 50, "device": "cuda"})
    assert load_probes(path, other, AXES)


def test_other_axes_are_refused(path: Path) -> None:
    whole = load_axis_set("occupation")
    with pytest.raises(InputError, match="no probe for axis 'emotion', only for gender, age"):
        load_probes(path, model(), whole.only(["gender", "emotion"]))
    gender = whole.axis("gender").model_copy(update={"question": "What gender is shown?"})
    others = whole.model_copy(update={"axes": (gender,)})
    with pytest.raises(InputError, match="is for another axis 'gender'"):
        load_probes(path, model(), others)
    assert list(load_probes(path, model(), whole.only(["age"]))) == ["age"]


def test_what_is_damaged_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[-3] ^= 64
    for raw in (b"", b"\x00" * 40, whole[:-5], whole[:100], b"no tensors at all", bytes(flipped)):
        path.write_bytes(raw)
        with pytest.raises(InputError, match="damaged"):
            load_probes(path, model(), AXES)


def test_whatever_happens_to_a_file_is_said_in_a_line(path: Path) -> None:
    whole, rng = path.read_bytes(), random.Random(0)
    header = 8 + int.from_bytes(whole[:8], "little")
    for _ in range(400):
        raw = bytearray(whole)
        for _ in range(rng.choice((1, 1, 2, 8))):
            # Half of the hits go to the header, where what the file says of itself is.
            place = rng.randrange(header if rng.random() < 0.5 else len(raw))
            raw[place] = rng.randrange(256) if rng.random() < 0.5 else rng.choice(b'"{}[],:0 ')
        path.write_bytes(raw[: rng.randrange(len(raw))] if rng.random() < 0.2 else raw)
        if raw == whole:
            continue
        with pytest.raises(InputError) as caught:
            load_probes(path, model(), AXES)
        said = str(caught.value)
        assert len(said) <= 400 and said.isprintable(), said


@pytest.mark.parametrize(
    "changed", [{"steps": []}, {"steps": [0, 4]}, {"of": "ten"}, {"probes": []}, {"model": None}]
)
def test_a_record_that_does_not_fit_is_refused(path: Path, changed: dict[str, Any]) -> None:
    path.write_bytes(probe_file(record(**changed), probes()))
    with pytest.raises(InputError, match="damaged"):
        load_probes(path, model(), AXES)


def test_other_safetensors_files_are_refused(path: Path, tmp_path: Path) -> None:
    path.write_bytes(save({"weight": torch.zeros(2)}, metadata={"format": "pt"}))
    assert not is_probe_file(path)
    with pytest.raises(InputError, match="contains no probes"):
        load_probes(path, model(), AXES)
    path.write_bytes(save({"weight": torch.zeros(2)}, metadata={RECORD: "{"}))
    with pytest.raises(InputError, match="not JSON"):
        load_probes(path, model(), AXES)
    for missing in (tmp_path / "none.safetensors", tmp_path):
        with pytest.raises(InputError, match="cannot read the probes in"):
            load_probes(missing, model(), AXES)


def test_the_same_probes_are_the_same_bytes() -> None:
    assert len({probe_file(record(), probes()) for _ in range(8)}) == 1


def test_a_record_that_was_changed_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"gender", b"gander", 1))
    with pytest.raises(InputError, match="not what was written"):
        load_probes(path, model(), AXES)


def test_the_file_says_where_it_is_from(path: Path) -> None:
    raw = path.read_bytes()
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    said = json.loads(header["__metadata__"][RECORD])
    assert said["schema"] == "biasgraph-probes/1" and said["model_fingerprint"] == "f1"
    assert len(load(raw)) == 8
