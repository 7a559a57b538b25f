"""`biasgraph mine` through the command line, on the sandbox."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biasgraph.audits.mining.mining import Mining, mine
from biasgraph.audits.mining.mining_options import MineOptions
from biasgraph.commands import main
from biasgraph.errors import InputError
from biasgraph.methods.mining_objectives import Needs, PromptScore
from biasgraph.models.diffusers import DiffusersGenerator
from tests.command_line import read_document, refusal
from tests.kill_trials import kill_trials

SMALL = {
    "iterations": 3, "population": 8, "selected": 2, "mutations": 2, "images": 6, "best": 3,
    "fresh_batches": 2,
}  # fmt: skip
"""A population is one batch of the sandbox."""


MINING = pytest.mark.slow(reason="a search of 24 prompts; methods/ has objectives and mutations")


def flags(**options: object) -> list[str]:
    return [text for name, value in options.items() for text in (_flag(name), str(value))]


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["mine", *map(str, arguments)])
    streams = capsys.readouterr()
    return code, " ".join(streams.out.split()), streams.err


def document(directory: Path) -> dict[str, Any]:
    return read_document(directory / "mined.json")


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("mined") / "run"
    assert main(["mine", *flags(**SMALL), "-q", "-o", str(directory)]) == 0
    return directory


@MINING
def test_the_document(mined: Path) -> None:
    found = document(mined)
    assert found["schema"] == "biasgraph-mined/1" and found["toy"] and found["embedder"]
    assert "vqa" not in found and "sandbox's rules" in found["proposed_by"]
    assert found["settings"]["objective"] == "bias" and found["stopped"] == "iterations"
    assert found["categories"]["categories"] == []
    assert "is not a language model" in found["categories"]["reason"]
    candidates = found["candidates"]
    assert [one["number"] for one in candidates] == [*range(24)]
    assert [one["iteration"] for one in candidates] == [1] * 8 + [2] * 8 + [3] * 8
    for one in candidates:
        if one["origin"] == "mutation":
            parent = candidates[one["parent"]]
            assert parent["selected"] and parent["iteration"] == one["iteration"] - 1
        else:
            assert one["parent"] is None
    assert [one["origin"] for one in candidates].count("initial") == 8
    assert len({one["prompt"] for one in candidates}) == 24
    best = min(candidates, key=lambda one: one["score"])
    assert found["iterations"][-1]["best_prompt"] == best["prompt"]
    assert found["iterations"][-1]["n_images"] == 144 == found["n_images"]["search"]
    assert found["n_images"]["fresh"] == 3 * 2 * 6


@MINING
def test_only_fresh_images_make_the_reported_score(mined: Path) -> None:
    found = document(mined)
    assert [row["rank"] for row in found["mined"]] == [1, 2, 3]
    assert {row["candidate"] for row in found["mined"]} == {
        one["number"] for one in sorted(found["candidates"], key=lambda one: one["score"])[:3]
    }
    for row in found["mined"]:
        assert row["score"] == pytest.approx(np.mean(row["fresh_scores"]))
        assert row["low"] < row["score"] < row["high"] and row["n_images"] == 12
        assert row["first_score"] == found["candidates"][row["candidate"]]["score"]
        numbers = [int(image.rpartition("-")[2]) for image in row["images"]]
        assert numbers == [*range(6, 18)]  # those of the search are 0 to 5
        assert {one["image"] for one in row["evidence"]["least_aligned"]} <= {*row["images"]}
        missed = [one["text"] for one in row["evidence"]["missed"]]
        assert [one["text"] for one in row["variation_images"]] == missed
        assert all(len(one["images"]) == 2 for one in row["variation_images"])
    scores = [row["score"] for row in found["mined"]]
    assert scores == sorted(scores)


@MINING
def test_the_random_prompts_of_the_search_say_what_chance_would_find(mined: Path) -> None:
    found = document(mined)
    scores = [one["score"] for one in found["candidates"] if one["origin"] != "mutation"]
    random = found["random"]
    assert random["n_prompts"] == len(scores) == len(random["expected_best"])
    assert random["expected_best"][0] == pytest.approx(np.mean(scores))
    assert random["expected_best"][-1] == pytest.approx(min(scores))


@MINING
def test_the_files(mined: Path) -> None:
    with (mined / "mined.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["prompt"] for row in rows] == [row["prompt"] for row in document(mined)["mined"]]
    assert "toy" in rows[0]
    page = (mined / "mined.html").read_text("utf-8")
    assert "data:image" in page and document(mined)["mined"][0]["prompt"] in page
    assert (mined / "mined.png").read_bytes()[:4] == b"\x89PNG"
    assert b"<svg" in (mined / "mined.svg").read_bytes()


@pytest.mark.slow(reason="a build of the sandbox")
def test_a_build_takes_what_was_mined(mined: Path, tmp_path: Path, capsys) -> None:
    target = tmp_path / "graph"
    small = flags(only="gender", images=2, controls=0, bootstrap=100)
    code = main(["build", "--prompts", str(mined), *small, "--json", "-o", str(target)])
    prompts = [row["prompt"] for row in document(mined)["mined"]]
    built = json.loads(capsys.readouterr().out)["graph"]["prompts"]
    assert code == 0 and [part["prompt"] for part in built] == prompts


@MINING
def test_a_rerun_makes_and_asks_nothing(mined: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (mined / "mined.json").read_bytes()

    def refuse(*_: object) -> None:
        raise AssertionError("something was made again")

    monkeypatch.setattr(DiffusersGenerator, "generate", refuse)
    assert main(["mine", *flags(**SMALL), "-q", "-o", str(mined)]) == 0
    assert (mined / "mined.json").read_bytes() == before


@pytest.mark.slow(reason="a search of its own; runs/test_batches.py fills batches")
def test_a_population_is_made_in_full_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    generate = DiffusersGenerator.generate

    def counted(self: Any, prompts: Sequence[str], seeds: Sequence[int]) -> Any:
        sizes.append(len(prompts))
        return generate(self, prompts, seeds)

    monkeypatch.setattr(DiffusersGenerator, "generate", counted)
    small = SMALL | {"iterations": 1, "images": 7}
    assert main(["mine", *flags(**small), "-q", "-o", str(tmp_path / "run")]) == 0
    # 56 images of the population, 42 fresh ones and 24 of the missed variations, 48 in a batch.
    assert sizes == [48] * (2 + 1 + 1)


@pytest.mark.slow(reason="searches of their own; methods/test_mining_objectives.py has the scores")
@pytest.mark.parametrize(
    ("objective", "sets"), [("axis:gender", 1), ("edge:gender,age", 3)], ids=["axis", "edge"]
)
def test_other_objectives(objective: str, sets: int, tmp_path: Path, capsys) -> None:
    small = flags(**SMALL | {"iterations": 1, "population": 4, "images": 4})
    target = tmp_path / "run"
    code, _, _ = run(capsys, "--objective", objective, *small, "-q", "-o", target)
    found = document(target)
    assert code == 0 and found["objective"]["name"] == objective
    assert found["vqa"] == "sandbox" and "embedder" not in found
    assert all(one["n_images"] == sets * 4 for one in found["candidates"])
    assert found["n_images"]["search"] == 4 * sets * 4
    assert found["n_images"]["fresh"] == 3 * sets * 8
    first = found["mined"][0]
    assert len(first["images"]) == 8 and first["n_images"] == sets * 8
    shares = first["evidence"]["shares"]
    assert sum(one["share"] for one in shares) == pytest.approx(1)
    assert first["variation_images"] == []
    worst = {True: min, False: max}[found["objective"]["lower_is_worse"]]
    assert first["score"] == worst(row["score"] for row in found["mined"])


@pytest.mark.slow(reason="a search of its own; methods/test_mining_objectives.py has ideals")
def test_an_ideal_of_ones_own(tmp_path: Path, capsys) -> None:
    ideal = tmp_path / "ideal.yaml"
    ideal.write_text("gender: {male: 1, female: 0}\n")
    options = ["--objective", "axis:gender", "--ideal", ideal, "-o", tmp_path / "run"]
    assert run(capsys, *options, *flags(**SMALL | {"iterations": 1}), "-q")[0] == 0
    first = document(tmp_path / "run")["mined"][0]
    shares = first["evidence"]["shares"]
    assert [one["ideal"] for one in shares] == [1, 0]
    assert first["score"] == pytest.approx(shares[1]["share"])


@pytest.mark.slow(reason="a search of its own; the iterations end those above")
def test_the_images_that_may_be_made_end_the_search(tmp_path: Path, capsys) -> None:
    target = tmp_path / "run"
    small = flags(**SMALL, max_images=102)  # of which 36 + 24 come at the end
    code, out, _ = run(capsys, *small, "-o", target)
    found = document(target)
    assert code == 0 and found["stopped"] == "max_images"
    assert "The search ended because --max-images was spent." in out
    assert len(found["candidates"]) == 7
    assert sum(found["n_images"].values()) == 42 + 36 + 24
    code, _, err = run(capsys, *flags(**SMALL, max_images=20), "-q", "-o", tmp_path / "few")
    assert code == 2 and not (tmp_path / "few").exists()
    assert "--max-images 20 is too few: to score one prompt, and --best 3 again" in err
    assert "takes 66" in err


@pytest.mark.slow(reason="a search of its own")
def test_combinations_of_attributes_in_the_place_of_variations(tmp_path: Path, capsys) -> None:
    target = tmp_path / "run"
    small = flags(**SMALL | {"iterations": 1})
    assert run(capsys, "--vary", "gender,age", *small, "-q", "-o", target)[0] == 0
    found = document(target)
    assert found["settings"]["vary"] == ["gender", "age"]
    names = {path.name.rpartition("-")[0] for path in (target / "transcripts").iterdir()}
    assert names == {"mine-random"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--objective", "bais"], "unknown objective 'bais'. Did you mean 'bias'"),
        (["--objective", "axis:gendre"], "no axis 'gendre'.*Did you mean 'gender'"),
        (["--target", "opne"], "unknown mining target 'opne'. Did you mean 'open'"),
        (["--selected", "8"], "--selected 8 times --mutations 2 is more than --population 15"),
        (["--images", "0"], "--images"),
        (["--fresh-batches", "1"], "--fresh-batches"),
        (["--model", "sandbox:debiasd"], "debiasd"),
        (["--model", "folder:pictures"], "a folder makes none"),
        (["--model", "diffusers:some/model"], "an embedder|--embedder|--llm"),
        (["--axes", "ocupation"], "unknown axis set 'ocupation'"),
        (["--vary", "gendr"], "no axis 'gendr'"),
        (["--vary", "gender", "--objective", "axis:age"], "--vary has no effect"),
        (["--objective", "axis:age", "--vqa", "human:labels.csv"], "people cannot answer|labels"),
        (["--ideal", "none.yaml", "--objective", "axis:age"], "cannot read ideal"),
        (["--ideal", "none.yaml"], "--ideal has no effect on --objective bias"),
        (["--alpha", "0.5", "--objective", "axis:age"], "--alpha has no effect on"),
        (["--variations", "9", "--objective", "edge:age,gender"], "--variations has no effect on"),
        (["--embedder", "sandbox", "--objective", "axis:age"], "--embedder has no effect on"),
        (["--iterations", "many"], "many"),
        (["--llm", "sandbx"], "sandbx"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(arguments: list[str], message: str, tmp_path: Path, capsys) -> None:
    target = tmp_path / "run"
    line = refusal(capsys, "mine", *arguments, "-o", target)
    assert re.search(message, line) and not target.exists()


def test_every_target_has_a_directory_of_its_own(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    places = {
        Mining.of(
            MineOptions(target=target, objective=objective), None, (), None, None, None
        ).job.directory.name
        for target in ("open", "style")
        for objective in ("bias", "axis:age")
    }
    assert places == {"mined-bias", "mined-axis-age", "mined-bias-style", "mined-axis-age-style"}


MANY = pytest.mark.slow(reason="ten searches; one of them stays")
COLOURS = Path(__file__).parents[3] / "examples" / "colours" / "colours.py"


def colours() -> Any:
    spec = importlib.util.spec_from_file_location("colours", COLOURS)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("colour", "seeds"),
    [("red", 1), *(pytest.param(one, 10, marks=MANY) for one in ("red", "green", "blue"))],
)
def test_a_search_for_a_colour_converges_in_four_iterations(
    colour: str, seeds: int, tmp_path: Path
) -> None:
    example = colours()
    for seed in range(seeds):
        found = example.search(colour, tmp_path / str(seed), seed).document
        assert len(found["iterations"]) == 4 and found["toy"] is None
        first = found["mined"][0]
        assert first["score"] < 0.01 and first["prompt"].count(colour) == 2, seed


class Varied:
    """An objective that needs variations, as the bias score does, and misses a long one."""

    name, about, lower_is_worse = "varied", "A number.", True

    def needs(self, prompt: str) -> Needs:
        return Needs(variations=True)

    def evaluate(self, population: Sequence[Any], media: Any) -> list[PromptScore]:
        missed = [{"text": "a red barn " * 30, "similarity": 0.1}, {"text": "a", "similarity": 0.2}]
        return [PromptScore(len(one.prompt) / 100, "", {"missed": missed}) for one in population]


class Writer:
    """The example's writer, with variations for so many requests, and then prose."""

    spec, fingerprint, settings = "fickle:writer", "1", {}

    def __init__(self, replies: int) -> None:
        self.inner, self.left = colours().Scenes(), replies

    def reply(self, messages: Sequence[Any], schema: Any = None) -> str:
        if "diverse, short and concise variations" not in messages[-1].text:
            return str(self.inner.reply(messages, schema))
        self.left -= 1
        meanings = json.dumps([f"meaning {number}" for number in range(15)])
        return meanings if self.left >= 0 else "Sorry, no."


def strict_painter() -> Any:
    class Strict(colours().Painter):  # type: ignore[misc]
        """Takes no more than 100 characters, and paints anything red that it does not know."""

        def check_prompts(self, prompts: Sequence[str]) -> None:
            if any(len(prompt) > 100 for prompt in prompts):
                raise InputError("too long")

        def paint(self, prompt: str, seed: int) -> Any:
            known = " sky" in prompt
            return super().paint(prompt if known else "a red barn under a red sky", seed)

    return Strict()


def colour_options(directory: Path, **options: Any) -> MineOptions:
    small = {"iterations": 3, "population": 4, "selected": 1, "mutations": 1, "images": 2}
    more = {"best": 2, "fresh_batches": 2, "variations": 15}
    return MineOptions(**small | more | options, output=directory)


@pytest.mark.slow(reason="a search of its own")
def test_a_variation_that_the_generator_does_not_take_is_not_shown(tmp_path: Path) -> None:
    found = mine(
        colour_options(tmp_path / "run"),
        objective=Varied(),
        generator=strict_painter(),
        language_model=Writer(99),
    ).document
    assert [len(row["variation_images"]) for row in found["mined"]] == [1, 1]
    assert found["notes"] == ["2 missed variations are not shown: the generator does not take them"]


@pytest.mark.slow(reason="a search of its own")
def test_an_iteration_without_variations_does_not_end_the_search(tmp_path: Path) -> None:
    found = mine(
        colour_options(tmp_path / "run", iterations=2, population=2, mutations=1),
        objective=Varied(),
        generator=strict_painter(),
        language_model=Writer(2),
    ).document
    assert len(found["iterations"]) == 2
    scored = [one["score"] is not None for one in found["candidates"]]
    assert scored == [True, True, False, False]
    assert "no usable reply" in found["candidates"][2]["reason"]


@pytest.mark.slow(reason="a search of its own")
def test_what_was_dropped_at_the_end_is_told(tmp_path: Path) -> None:
    found = mine(
        colour_options(tmp_path / "run", iterations=30, population=15),
        objective=colours().Colour("red"),
        generator=colours().Painter(),
        language_model=colours().Scenes(),
    ).document  # there are 96 such prompts
    assert found["stopped"] == "prompts" and len(found["iterations"]) < 30
    last = len(found["iterations"]) + 1
    assert any(one["iteration"] == last for one in found["dropped"])


@pytest.mark.slow(reason="a build and a search")
def test_the_run_of_another_command_is_refused(tmp_path: Path, capsys) -> None:
    target = tmp_path / "run"
    prompts = tmp_path / "p.txt"
    prompts.write_text("a nurse\n")
    score = ["minethegap", "score", "--prompts", prompts, "--images", 2, "-q", "-o", target]
    assert main([*map(str, score)]) == 0
    capsys.readouterr()
    code, _, err = run(capsys, *flags(**SMALL), "-q", "-o", target)
    assert code == 2 and "contains the run of another command, about 'a nurse'" in err


def mine_into(directory: Path) -> None:
    mine(MineOptions(**SMALL, output=directory))


def mined_of(directory: Path) -> bytes:
    return (directory / "mined.json").read_bytes()


@pytest.mark.slow(reason="runs the sandbox many times; a rerun above makes nothing again")
@pytest.mark.parametrize(("by", "trials"), [(signal.SIGKILL, 3), (signal.SIGINT, 2)])
def test_a_killed_search_goes_on_and_ends_the_same(
    tmp_path: Path, by: signal.Signals, trials: int
) -> None:
    outcomes = kill_trials(
        mine_into, lambda path: (path,), tmp_path, table=mined_of, trials=trials, by=by
    )
    assert any(trial.killed for trial in outcomes)
    assert any(trial.images for trial in outcomes)
