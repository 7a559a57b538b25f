"""`biasgraph mine --evaluate` through the command line, on the sandbox."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from biasgraph.audits.mining.mining_options import MineOptions
from biasgraph.audits.mining.origins import read_origins
from biasgraph.audits.mining.transfer import Evaluation, _directory
from biasgraph.audits.mining.transfer_summary import summarize_transfer, transfer_page
from biasgraph.commands import main
from biasgraph.models.diffusers import DiffusersGenerator
from biasgraph.runs.progress import Interrupted
from tests.audits.mining.test_mining import flags
from tests.command_line import refusal
from tests.hostile import HOSTILE
from tests.screens import screen_of

MODELS = ("stereotyped", "debiased")
ALL_OF_FOUR = flags(iterations=1, population=4, selected=0, images=4, best=4, fresh_batches=2)
"""One population from the same seed, all of it scored again: models mine the same prompts."""
SEARCHES = pytest.mark.slow(reason="two searches and their matrix; what is refused before stays")
Json = dict[str, Any]


MINED = pytest.mark.slow(reason="two searches are made for it")


def mined(directory: Path, objective: str) -> list[Path]:
    runs = [directory / name for name in MODELS]
    for name, run in zip(MODELS, runs, strict=True):
        arguments = ["--model", f"sandbox:{name}", "--objective", objective, *ALL_OF_FOUR]
        assert main(["mine", *arguments, "-q", "-o", str(run)]) == 0
    return runs


@pytest.fixture(scope="module")
def by_axis(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return mined(tmp_path_factory.mktemp("axis"), "axis:gender")


@pytest.fixture(scope="module")
def matrix(by_axis: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("transfer") / "matrix"
    assert main(["mine", *evaluated(by_axis), "-q", "-o", str(directory)]) == 0
    return directory


def evaluated(runs: Sequence[Path]) -> list[str]:
    return [text for run in runs for text in ("--evaluate", str(run))]


def read(directory: Path, name: str = "transfer.json") -> Json:
    found: Json = json.loads((directory / name).read_bytes())
    return found


def cells(document: Json) -> dict[tuple[str, str], Json]:
    return {(cell["model"].partition(":")[2], cell["origin"]): cell for cell in document["cells"]}


def scores(rows: Sequence[Json]) -> dict[str, tuple[float, list[float]]]:
    return {row["prompt"]: (row["score"], row["fresh_scores"]) for row in rows}


def images(directory: Path) -> dict[str, int]:
    return {path.parent.name: len([*path.rglob("*.png")]) for path in directory.glob("*/images")}


@SEARCHES
def test_fresh_images_score_what_the_models_own_search_scored(
    matrix: Path, by_axis: list[Path]
) -> None:
    document = read(matrix)
    found = cells(document)
    assert [*found] == [(model, origin) for model in MODELS for origin in MODELS]
    of_run = {run.name: scores(read(run, "mined.json")["mined"]) for run in by_axis}
    for (model, origin), cell in found.items():
        assert cell["own"] == (model == origin)
        assert scores(cell["prompts"]) == of_run[model]  # both runs have the same prompts
        assert cell["n_prompts"] == 4 and cell["n_images"] == 4 * 2 * 4
    assert document["toy"] and document["vqa"] == "sandbox" and "embedder" not in document
    assert document["objective"]["name"] == "axis:gender"


@SEARCHES
def test_a_cell_has_the_mean_and_the_interval_over_prompts(matrix: Path) -> None:
    document = read(matrix)
    found = cells(document)
    for (_, origin), cell in found.items():
        own = found[origin, origin]["prompts"]
        values = [row["score"] for row in cell["prompts"]]
        wanted = stats.t.interval(0.95, 3, stats.tmean(values), stats.sem(values))
        assert cell["mean_score"] == pytest.approx(stats.tmean(values))
        assert (cell["low"], cell["high"]) == pytest.approx(wanted)
        changes = [value - row["score"] for value, row in zip(values, own, strict=True)]
        if cell["own"]:
            assert cell["difference"] is cell["difference_low"] is cell["difference_high"] is None
        else:
            paired = stats.ttest_1samp(changes, 0).confidence_interval(0.95)
            assert cell["difference"] == pytest.approx(stats.tmean(changes))
            ends = cell["difference_low"], cell["difference_high"]
            assert ends == pytest.approx((paired.low, paired.high))


@SEARCHES
def test_the_files(matrix: Path, by_axis: list[Path]) -> None:
    with (matrix / "transfer.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 16 and "toy" in rows[0]
    prompts = [row["prompt"] for row in read(by_axis[0], "mined.json")["mined"]]
    assert [row["prompt"] for row in rows[:4]] == prompts
    page = (matrix / "transfer.html").read_text("utf-8")
    assert "sandbox:debiased" in page and prompts[0] in page
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page)
    made = {name.rpartition("-")[0]: count for name, count in images(matrix).items()}
    assert {*made} == {f"sandbox-{model}" for model in MODELS}


@SEARCHES
def test_hostile_texts_and_undefined_scores_are_drawn(matrix: Path) -> None:
    document = read(matrix)
    for place, text in enumerate(HOSTILE):
        for cell in document["cells"]:
            row = cell["prompts"][place % 4]
            cell["prompts"][place % 4] = row | {"prompt": text, "score": None, "reason": text}
            undefined = dict.fromkeys(("mean_score", "low", "high", "difference"))
            cell |= undefined | {"reason": f"4 of 4 prompts have no score {text}"}
        page = transfer_page(document).decode()
        assert page.count("<script") == 2
        assert not any(mark in page for mark in ("<img", "<svg/onload", "<iframe", "\x1b"))
        screen_of(summarize_transfer(document))
    document["cells"][0] |= {"mean_score": -0.2, "low": -0.3, "high": 1.5}
    assert "-0.200 [-0.300, 1.500]" in transfer_page(document).decode()


@SEARCHES
def test_a_rerun_makes_nothing_again(
    matrix: Path, by_axis: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("something was made again")

    monkeypatch.setattr(DiffusersGenerator, "generate", refuse)
    before = (matrix / "transfer.json").read_bytes()
    assert main(["mine", *evaluated(by_axis), "-q", "-o", str(matrix)]) == 0
    assert (matrix / "transfer.json").read_bytes() == before


@SEARCHES
def test_an_interrupted_matrix_goes_on(
    matrix: Path, by_axis: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    generate = DiffusersGenerator.generate

    def once(self: Any, prompts: Sequence[str], seeds: Sequence[int]) -> Any:
        if len(made) == 1:
            made.append(0)
            raise Interrupted("stopped")
        made.append(len(prompts))
        return generate(self, prompts, seeds)

    monkeypatch.setattr(DiffusersGenerator, "generate", once)
    target = tmp_path / "matrix"
    arguments = ["mine", *evaluated(by_axis), "-q", "-o", str(target)]
    assert main(arguments) == 130 and not (target / "transfer.json").exists()
    assert main(arguments) == 0
    assert read(target)["cells"] == read(matrix)["cells"]
    assert sum(made) == sum([48, 0, 48])  # the first model's batch was not made again


@SEARCHES
def test_the_bias_score_of_the_same_variations(tmp_path: Path, capsys) -> None:
    runs = mined(tmp_path, "bias")
    rows = [read(run, "mined.json")["mined"] for run in runs]
    assert all(len(row["variations"]) == 15 for of_run in rows for row in of_run)
    target = tmp_path / "matrix"
    capsys.readouterr()
    arguments = ["--evaluate", str(runs[0]), "--model", "sandbox:debiased", "-o", str(target)]
    assert main(["mine", *arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == read(target)
    found = cells(document)
    assert [*found] == [("stereotyped", "stereotyped"), ("debiased", "stereotyped")]
    wanted = scores(rows[1])
    for prompt, own in scores(found["debiased", "stereotyped"]["prompts"]).items():
        assert own[0] == pytest.approx(wanted[prompt][0])
    assert not [*target.rglob("transcripts")]  # no language model was asked
    assert {name.rpartition("-")[0] for name in images(target)} == {"sandbox-debiased"}


def changed(run: Path, target: Path, change: Callable[[Json], object]) -> Path:
    """A copy of a run whose mined.json was edited."""
    shutil.copytree(run, target, ignore=shutil.ignore_patterns("images", "ledger*"))
    document = read(run, "mined.json")
    change(document)
    (target / "mined.json").write_text(json.dumps(document))
    return target


@MINED
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["settings"].update(objective="axis:age"), "their objectives differ .axis:gen"),
        (lambda d: d["settings"].update(images=5), "images of each prompt differ .4 and 5"),
        (lambda d: d.update(vqa="clip:other"), "their judges differ .sandbox and clip:other"),
        (lambda d: d.update(vqa_fingerprint="2"), "their judges' fingerprints differ"),
        (
            lambda d: d["settings"].update(ideal={"gender": {"male": 1}}),
            "their ideals differ .none",
        ),
        (lambda d: d["settings"].update(axes_digest="1"), "their axis sets differ"),
        (lambda d: d.update(model_fingerprint="1"), "debiased is not what it was when other was"),
        (lambda d: d["mined"].append(d["mined"][0]), "a mined prompt is listed twice"),
        (lambda d: d["mined"][2].update(prompt="an old woman"), "prompt 3: it names the gender"),
        (lambda d: d["mined"][2].update(prompt="a nurse " * 80), "prompt 3: "),
        (lambda d: d.update(model="nothing:\x1b[31m"), "nothing"),
        (lambda d: d.update(schema="biasgraph-mined/2"), "mined.json is damaged: schema"),
    ],
)
def test_runs_that_do_not_fit(
    change: Callable[[Json], object], message: str, by_axis: list[Path], tmp_path: Path, capsys
) -> None:
    other = changed(by_axis[1], tmp_path / "other", change)
    refused([*evaluated([by_axis[0], other])], message, tmp_path, capsys)


@MINED
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda d: d["settings"].update(axes="mine"),
            "other was mined with the axis set 'mine': na",
        ),
        (
            lambda d: d["settings"].update(axes_digest="1"),
            "with another axis set than 'occupation'",
        ),
        (lambda d: d["settings"].update(objective="colour:red"), "unknown objective 'colour:red'"),
        (lambda d: d.update(vqa_fingerprint="1"), "sandbox is not what it was when other was"),
        (lambda d: d["settings"].update(objective="bias"), "its variations are not in mined.json"),
    ],
)
def test_a_run_that_cannot_be_scored_again(
    change: Callable[[Json], object], message: str, by_axis: list[Path], tmp_path: Path, capsys
) -> None:
    other = changed(by_axis[0], tmp_path / "other", change)
    model = ["--model", "sandbox:debiased"]
    refused([*evaluated([other]), *model], message, tmp_path, capsys)


@MINED
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--evaluate", "RUN"], "name another one with --model, or another run"),
        (["--evaluate", "RUN", "--evaluate", "RUN"], "names a run twice"),
        (["--evaluate", "RUN", "--model", "sandbox:stereotyped"], "another one with --model"),
        (["--evaluate", "RUN", "--model", "sandbox:debiasd"], "debiasd"),
        (["--evaluate", "RUN", "--model", "folder:pictures"], "folder"),
        (["--evaluate", "none"], "none is not a run of `biasgraph mine`"),
        (["--evaluate", ""], "empty"),
        (["--evaluate", "RUN", "--iterations", "3"], "--iterations has no effect with --evaluate"),
        (["--evaluate", "RUN", "--objective", "edge:age,gender"], "--objective has no effect"),
        (["--evaluate", "RUN", "--llm", "sandbox"], "--llm has no effect with --evaluate"),
        (["--evaluate", "RUN", "--images", "6"], "--images has no effect with --evaluate"),
        (
            ["--evaluate", "RUN", "--steps", "6"],
            "--steps has no effect with --evaluate without --model",
        ),
    ],
)
def test_bad_options(
    arguments: list[str], message: str, by_axis: list[Path], tmp_path: Path, capsys
) -> None:
    given = [str(by_axis[0]) if text == "RUN" else text for text in arguments]
    refused(given, message, tmp_path, capsys)


def edited(run: Path, change: Callable[[Json], object]) -> Path:
    """The run, what its run.json says changed."""
    record = read(run, "run.json")
    change(record)
    (run / "run.json").write_text(json.dumps(record))
    return run


@MINED
def test_options_of_the_search_alone_are_not_those_of_the_matrix(
    by_axis: list[Path], tmp_path: Path
) -> None:
    runs = [changed(run, tmp_path / run.name, lambda _: None) for run in by_axis]
    given = {"llm_seconds": 30.0, "base_url": "http://127.0.0.1:9/v1", "budget": "calls=9"}
    edited(runs[1], lambda d: d["builds"][-1]["settings"].update(models=given))
    work = Evaluation.of(MineOptions(evaluate=runs, output=tmp_path / "matrix"), None, ())
    assert work.jobs["sandbox:debiased"].options.llm_seconds == 30


@MINED
def test_judges_that_were_asked_otherwise_do_not_fit(
    by_axis: list[Path], tmp_path: Path, capsys
) -> None:
    def otherwise(document: Json) -> None:
        document["judges"]["sandbox"]["settings"]["unknown_below"] = 0.5

    runs = [changed(run, tmp_path / run.name, lambda _: None) for run in by_axis]
    before = read(runs[0], "run.json")["judges"]["sandbox"]["settings"]["unknown_below"]
    edited(runs[1], otherwise)
    message = (
        "stereotyped and debiased cannot be in one matrix: judge settings unknown_below is "
        f"{json.dumps(before)} in the first and 0.5 in the second"
    )
    refused(evaluated(runs), message, tmp_path, capsys)
    message = f"judge settings unknown_below was 0.5 and is now {json.dumps(before)}"
    refused([*evaluated(runs[1:]), "--model", "sandbox:stereotyped"], message, tmp_path, capsys)


@MINED
def test_a_damaged_record_is_one_line(by_axis: list[Path], tmp_path: Path, capsys) -> None:
    other = changed(by_axis[1], tmp_path / "other", lambda _: None)
    edited(other, lambda d: d.pop("judges"))
    refused(evaluated([by_axis[0], other]), "not the record of a", tmp_path, capsys)


@MINED
def test_runs_of_two_models_do_not_share_a_directory(by_axis: list[Path], tmp_path: Path) -> None:
    def place(run: Path) -> str:
        return _directory(MineOptions(model="sandbox:debiased"), read_origins([run])).name

    runs = [changed(run, tmp_path / run.name / "mined", lambda _: None) for run in by_axis]
    assert [*map(place, runs)] == [f"evaluated-sandbox-{name}-mined" for name in MODELS]
    long = [changed(runs[0], tmp_path / ("a" * 70 + end), lambda _: None) for end in "xy"]
    assert place(long[0]) != place(long[1])


@MINED
def test_a_run_is_not_written_into(by_axis: list[Path], capsys) -> None:
    assert main(["mine", *evaluated(by_axis), "-q", "-o", str(by_axis[0])]) == 2
    assert "contains the result of another command" in capsys.readouterr().err
    assert not (by_axis[0] / "transfer.json").exists()


def refused(arguments: list[str], message: str, tmp_path: Path, capsys) -> None:
    target = tmp_path / "matrix"
    line = refusal(capsys, "mine", *arguments, "-o", target)
    assert re.search(message, line) and not target.exists()
