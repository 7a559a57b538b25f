"""found.json as it is read again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from biasgraph.data.found_file import FoundFile
from biasgraph.errors import InputError
from tests.found import Json, found_document


def written(folder: Path, document: Json) -> Path:
    (folder / "found.json").write_text(json.dumps(document))
    return folder


def test_cells_and_prompts_are_read(tmp_path: Path) -> None:
    document = found_document(n_prompts=4)
    read = FoundFile.of(written(tmp_path, document))
    assert [(one.method, one.weight) for one in read.cells] == [
        (one["method"], one["lambda"]) for one in document["cells"]
    ]
    assert [one.shares for one in read.prompts] == [one["shares"] for one in document["prompts"]]
    assert [(one.axis, one.attribute) for one in read.targets] == [
        ("gender", "male"),
        ("age", "old"),
    ]
    assert any(one.prompt is None for one in read.prompts)


def test_a_folder_without_it_is_no_search(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"is not a run of `biasgraph search`: it contains no found\.json"
    ):
        FoundFile.of(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["prompts"][0].update(cell=99), "a prompt is of a cell that is not there"),
        (lambda d: d["cells"][0].update(cell=2), "a cell is listed twice"),
        (lambda d: d["cells"][0].update(method="magic"), "cells.0.method: "),
        (lambda d: d["prompts"][0].update(prompt="a\nb"), "prompts.0.prompt: "),
        (lambda d: d["prompts"][0]["shares"].update(gender=1.2), "prompts.0.shares.gender: "),
        (lambda d: d["prompts"][0].update(n_images="10"), "prompts.0.n_images: "),
        (lambda d: d["cells"][1].pop("lambda"), "cells.1.lambda: "),
    ],
)
def test_what_does_not_fit_is_named(
    tmp_path: Path, change: Callable[[Json], object], said: str
) -> None:
    document = found_document(n_prompts=2)
    change(document)
    with pytest.raises(InputError) as raised:
        FoundFile.of(written(tmp_path, document))
    assert "found.json is damaged: " in str(raised.value) and said in str(raised.value)
    assert "\n" not in str(raised.value)
