"""Initial images alone, the whole way on the command line: one command, no word about pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from biasgraph.commands import main
from biasgraph.data.result import load
from tests.report.test_prompt_tables import initial_table
from tests.runs.pictures.pictures import folder_of
from tests.screens import one_line

PROFESSIONS = {f"profession {i}": 0.04 if i % 2 else 0.96 for i in range(12)}
QUICK = ("--bootstrap", "100")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve professions, half of them men and half women."""
    folder = tmp_path_factory.mktemp("professions")
    initial_table(PROFESSIONS, images=24).to_csv(folder / "answers.csv", index=False)
    table = str(folder / "answers.csv")
    assert main(["build", "--answers", table, "-o", str(folder / "out"), *QUICK]) == 0
    return folder / "out"


@pytest.mark.slow(reason="a build of its own")
def test_four_columns_say_what_prompts_show(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(run), "--section", "all"]) == 0
    text = one_line(capsys.readouterr().out)
    assert "One by one, the 12 prompts are further from the ideal" in text
    assert text.count("No counterfactual images were given") == 1
    assert text.count("pair") == text.count("pairs.csv") + 1
    assert "Warning" not in text and "enough valid answers" not in text
    result = load(run)
    gender = next(node for node in result.document["nodes"] if node["id"] == "gender")
    assert gender["w1"] == 0 and gender["w1_mean_prompt"] == pytest.approx(11 / 24)
    assert gender["prompts_test"]["p_adjusted"] < 1e-20
    assert len(result.by_prompt) == 12 * 4 and len(pd.read_csv(run / "prompts.csv")) == 12 * 4


@pytest.mark.slow(reason="every command on a result; each has tests of its own")
def test_what_reads_a_result_reads_it(run: Path, tmp_path: Path) -> None:
    assert main(["report", str(run), "-o", str(tmp_path / "page.html")]) == 0
    everything = "html,json,graphml,gexf,csv,parquet,pyvis,dot,mermaid,svg,png"
    assert main(["export", str(run), "--to", everything, "-o", str(tmp_path / "all")]) == 0
    assert (tmp_path / "all" / "prompts.csv").read_bytes() == (run / "prompts.csv").read_bytes()


@pytest.mark.slow(reason="two builds of the sandbox")
def test_two_such_runs_are_compared(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = initial_table(dict.fromkeys(PROFESSIONS, 0.7), images=24)
    other.to_csv(tmp_path / "other.csv", index=False)
    made = str(tmp_path / "other")
    assert main(["build", "--answers", str(tmp_path / "other.csv"), "-o", made, *QUICK]) == 0
    capsys.readouterr()
    assert main(["compare", str(run), made, "-o", str(tmp_path / "compared")]) == 0
    text = one_line(capsys.readouterr().out)
    assert "No pair can be compared: there is no intervention on the source." in text
    assert "Influence" not in text
    document = json.loads((tmp_path / "compared" / "compare.json").read_text("utf-8"))
    [grown] = [row for row in document["comparisons"][0]["distances"] if row["axis"] == "gender"]
    assert grown["growth"] == pytest.approx(17 / 24 - 0.5)


@pytest.mark.slow(reason="a build of its own")
def test_a_manifest_of_initial_pictures_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_of(tmp_path / "pics", {"nurses": 4, "pilots": 4})
    rows = [
        (f"{job}s/{i}.png", "initial", f"a photo of a {job}")
        for job in ("nurse", "pilot")
        for i in range(4)
    ]
    pd.DataFrame(rows, columns=["path", "role", "prompt"]).to_csv(
        folder / "manifest.csv", index=False
    )
    options = ("--vqa", "sandbox", "--only", "gender,age", "--min-valid", "2", *QUICK)
    command = ["build", "--model", f"folder:{folder}", "-o", str(tmp_path / "out"), *options]
    assert main(command) == 0
    assert "No counterfactual images were given" in one_line(capsys.readouterr().out)
    assert len(load(tmp_path / "out").by_prompt) == 2 * 2
