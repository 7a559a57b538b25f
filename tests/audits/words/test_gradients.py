"""`biasgraph words` by gradient, on the sandbox."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import pytest

from biasgraph.audits.words.measurement import measure
from biasgraph.audits.words.words_options import WordsOptions
from biasgraph.commands import main
from biasgraph.models.prompt_trace import PromptTrace
from tests.command_line import read_document, refusal
from tests.kill_trials import kill_trials

PROMPT = "a nurse with a toolbox"
SMALL = ["--prompt", PROMPT, "--axis", "gender,age", "--images", "4", "--every", "5", "-q"]


def document(directory: Path) -> dict[str, Any]:
    return read_document(directory / "words.json")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("words") / "run"
    assert main(["words", *SMALL, "-o", str(directory)]) == 0
    return directory


@pytest.mark.slow(reason="a build with gradients")
def test_the_document(measured: Path) -> None:
    found = document(measured)
    settings = {"by": "gradient", "every": 5, "score": "l1", "join": "mean", "images": 4}
    assert settings.items() <= found["settings"].items() and found["removals"] == []
    assert [(one["axis"], one["method"]) for one in found["influences"]] == [
        ("gender", "gradient"),
        ("age", "gradient"),
    ]
    for one in found["influences"]:
        ranked = [word for word in one["words"] if word["rank"] is not None]
        assert [word["word"] for word in ranked] == ["nurse", "toolbox"]
        assert sum(word["share"] for word in ranked) == pytest.approx(1)
        for word in ranked:
            assert word["low"] <= word["score"] <= word["high"] and word["images"] == 4
            assert word["stands_out"] == (word["score"] > one["threshold"])
        assert one["words"][0]["reason"] == "stop word"


@pytest.mark.slow(reason="a measurement of its own")
def test_readings_of_what_is_there_need_no_model(
    measured: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("followed again")

    monkeypatch.setattr(PromptTrace, "record", never)
    before = (measured / "words.json").read_bytes()
    shares = {}
    for reading in ("l2", "input-times-gradient", "l1"):
        assert main(["words", *SMALL, "--score", reading, "-o", str(measured)]) == 0
        found = document(measured)
        assert found["settings"]["score"] == reading
        shares[reading] = found["influences"][0]["words"][1]["share"]
    assert len({round(share, 6) for share in shares.values()}) == 3
    assert (measured / "words.json").read_bytes() == before
    capsys.readouterr()


@pytest.mark.slow(reason="a build with gradients")
def test_the_screen(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["words", *SMALL[:-1], "-o", str(measured)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for said in ("a toy", "4 of each prompt, followed step by step", "A gradient is local"):
        assert said in out
    assert (measured / "words.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--vqa", "sandbox:judge2"], "sandbox:judge2 gives no gradients .* --by removal` needs"),
        (["--every", "0"], "every"),
        (["--score", "l3"], "l3"),
        (["--join", "max"], "max"),
        (["--axis", "gendr"], "no axis 'gendr'"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "run"
    line = refusal(capsys, "words", "--prompt", PROMPT, *arguments, "-o", target)
    assert re.search(message, line) and not target.exists()


def measure_into(directory: Path) -> None:
    options = WordsOptions(prompt=PROMPT, axis="gender", images=12, every=2, output=directory)
    measure(options)


def words_of(directory: Path) -> bytes:
    return (directory / "words.json").read_bytes()


@pytest.mark.slow(reason="runs the sandbox several times; test_readings_... shows what is kept")
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on_and_ends_the_same(tmp_path: Path, by: signal.Signals) -> None:
    outcomes = kill_trials(
        measure_into, lambda path: (path,), tmp_path, table=words_of, trials=4, by=by
    )
    assert any(trial.killed for trial in outcomes)
