"""`biasgraph search` through the command line, on the sandbox."""

from __future__ import annotations

import signal
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from biasgraph.audits.search.search import search
from biasgraph.audits.search.search_options import SearchOptions
from biasgraph.audits.search.searching import repeats
from biasgraph.commands import main
from biasgraph.data.axes import load_axis_set
from biasgraph.data.found_file import FoundFile
from biasgraph.methods.named_axes import names_axis
from biasgraph.prompts.prompt_lists import PromptList
from tests.command_line import read_document, refusal
from tests.kill_trials import kill_trials

PEOPLE = ["a librarian", "a nurse", "a chef", "a pilot", "a teacher", "a farmer"]
GENDER = load_axis_set("occupation").axis("gender")
SMALL = ["--prompts", "2", "--beams", "3", "--expand", "4", "--latents", "3", "--images", "2"]


SEARCH = pytest.mark.slow(reason="trains probes and searches; methods/ and models/ have the parts")


@pytest.fixture(scope="module")
def probes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("probes")
    (folder / "people.txt").write_text("\n".join(PEOPLE))
    file = folder / "people.safetensors"
    options = ["--axis", "gender", "--prompts", str(folder / "people.txt"), "--images", "4"]
    assert main(["probe", "train", *options, "-q", "-o", str(file)]) == 0
    return file


def searched(probes: Path, folder: Path, *more: str) -> dict[str, Any]:
    options = ["--towards", "gender=male", "--probes", str(probes), *SMALL, "-q", *more]
    assert main(["search", *options, "-o", str(folder)]) == 0
    return read_document(folder / "found.json")


@pytest.fixture(scope="module")
def run(probes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("search") / "run"
    searched(probes, folder, "--lambda", "100", "--baselines", "lm-biased,pez")
    return folder


@pytest.fixture(scope="module")
def found(run: Path) -> dict[str, Any]:
    return read_document(run / "found.json")


def of(document: dict[str, Any], method: str) -> list[dict[str, Any]]:
    cells = [cell["cell"] for cell in document["cells"] if cell["method"] == method]
    return [one for one in document["prompts"] if one["cell"] in cells]


@SEARCH
def test_a_cell_for_each_way_of_writing(found: dict[str, Any]) -> None:
    cells = [(cell["method"], cell["lambda"], cell["n_prompts"]) for cell in found["cells"]]
    assert cells == [("lm", 0, 2), ("search", 100, 2), ("lm-biased", 0, 2), ("pez", None, 2)]
    assert found["toy"] and found["lm"] == "sandbox:writer"
    assert found["perplexity_by"] == "sandbox:reader"
    assert found["settings"]["step"] == 2


@SEARCH
def test_written_prompts_name_no_gender_and_differ(found: dict[str, Any]) -> None:
    for method in ("lm", "search", "lm-biased"):
        texts = [one["prompt"] for one in of(found, method)]
        assert len(set(texts)) == 2
        assert all(text.startswith("a photo of ") for text in texts)
        assert not any(names_axis(text, GENDER) for text in texts)


AGED = "a photo of an old"
"""An opening that names the age, an axis nobody searches for here."""


@pytest.mark.slow(reason="a search of its own")
def test_words_of_any_axis_are_refused_unless_only_the_wanted_ones_are(
    probes: Path, tmp_path: Path
) -> None:
    refused = searched(probes, tmp_path / "a", "--lambda", "10", "--opening", AGED)
    assert not any(one["prompt"] for one in refused["prompts"])
    assert refused["cells"][0]["shares"][0]["mean"] is None
    let = searched(
        probes, tmp_path / "b", "--lambda", "10", "--opening", AGED, "--naming", "refuse-wanted"
    )
    names = [one["names"] for one in let["prompts"]]
    assert all("age" in one and "gender" not in one for one in names)
    assert [cell["naming"]["n"] for cell in let["cells"]] == [0, 0]


@pytest.mark.parametrize(
    ("text", "length", "told"),
    [
        ("a chef with a toolbox with a toolbox", 3, True),
        ("a chef with a toolbox with a laptop", 3, False),
        ("a chef, with a laptop; With a laptop", 3, True),
        ("a chef with a toolbox with a toolbox", 0, False),
        ("no no", 1, True),
        ("no no", 3, False),
        ("", 3, False),
    ],
)
def test_repeats_are_so_many_words_in_a_row(text: str, length: int, told: bool) -> None:
    assert repeats(text, length) is told


def search_into(directory: Path, probes: Path) -> None:
    search(
        SearchOptions(
            towards="gender=male", probes=probes, prompts=3, beams=3, expand=4, latents=3,
            images=4, weights=(100.0,), baselines=("pez",), output=directory,
        )
    )  # fmt: skip


@pytest.mark.slow(reason="runs the sandbox many times; a rerun above makes nothing again")
@pytest.mark.parametrize(("by", "trials"), [(signal.SIGKILL, 3), (signal.SIGINT, 2)])
def test_a_killed_search_goes_on_and_ends_the_same(
    probes: Path, tmp_path: Path, by: signal.Signals, trials: int
) -> None:
    outcomes = kill_trials(
        search_into,
        lambda path: (path, probes),
        tmp_path,
        table=lambda path: (path / "found.json").read_bytes(),
        trials=trials,
        by=by,
    )
    assert any(trial.killed for trial in outcomes)


@SEARCH
def test_shares_are_those_of_the_judged_images(found: dict[str, Any]) -> None:
    for cell in found["cells"]:
        own = [one for one in found["prompts"] if one["cell"] == cell["cell"]]
        shares = [one["shares"]["gender"] for one in own if one["shares"]["gender"] is not None]
        (told,) = cell["shares"]
        assert told["mean"] == pytest.approx(sum(shares) / len(shares))
        assert told["low"] <= told["mean"] <= told["high"]
        assert told["n_images"] == sum(one["n_valid"]["gender"] for one in own)
        assert told["ideal"] == 0.5


@SEARCH
def test_the_language_model_alone_looks_at_no_image(found: dict[str, Any]) -> None:
    assert all(one["passes"] == 0 for one in of(found, "lm"))
    assert all(one["passes"] > 0 for one in of(found, "search"))


@SEARCH
def test_hard_prompts_are_the_least_natural(found: dict[str, Any]) -> None:
    perplexity = {cell["method"]: cell["perplexity"]["mean"] for cell in found["cells"]}
    assert perplexity["pez"] > 3 * perplexity["lm"]
    for cell in found["cells"]:
        own = [one["perplexity"] for one in found["prompts"] if one["cell"] == cell["cell"]]
        told = cell["perplexity"]
        assert told["mean"] == pytest.approx(statistics.geometric_mean(own))
        assert 1 <= told["low"] <= told["mean"] <= told["high"]


@SEARCH
def test_the_page_shows_every_prompt_with_its_images(run: Path, found: dict[str, Any]) -> None:
    page = (run / "found.html").read_text()
    assert all(f"“<bdi>{one['prompt']}</bdi>”" in page for one in found["prompts"])
    assert page.count("<img ") == sum(len(one["images"]) for one in found["prompts"]) == 16
    assert "not in the run" not in page and found["toy"] in page
    assert (run / "found.png").read_bytes()[:4] == b"\x89PNG"
    assert "share of male" in (run / "found.svg").read_text()


@SEARCH
def test_what_was_found_is_read_as_prompts(run: Path, found: dict[str, Any]) -> None:
    assert FoundFile.of(run)
    texts = [text for text, _ in PromptList.of(run).prompts]
    assert texts == [one["prompt"] for one in of(found, "search")]


@pytest.mark.slow(reason="searches of its own")
def test_a_rerun_finds_the_same_and_goes_on_behind_what_is_kept(
    run: Path, probes: Path, found: dict[str, Any], tmp_path: Path
) -> None:
    kept = sorted((run / "searches").iterdir())
    times = {path.name: path.stat().st_mtime_ns for path in kept}
    kept[0].unlink()
    again = searched(probes, run, "--lambda", "100", "--baselines", "lm-biased,pez")
    assert again == found
    for path in kept[1:]:
        assert path.stat().st_mtime_ns == times[path.name]
    damaged = kept[1]
    damaged.write_text("{")
    assert searched(probes, run, "--lambda", "100", "--baselines", "lm-biased,pez") == found


@pytest.mark.slow(reason="two searches; that with the latents of all steps stays")
@pytest.mark.parametrize("scoring", ["shared", "full"])
def test_other_ways_to_look(scoring: str, probes: Path, tmp_path: Path) -> None:
    document = searched(
        probes, tmp_path / "run", "--scoring", scoring, "--lambda", "10", "--most-tokens", "4"
    )
    assert document["settings"]["scoring"] == scoring
    assert document["settings"]["step"] == 5
    assert all(one["passes"] > 0 for one in of(document, "search"))


@SEARCH
@pytest.mark.parametrize(
    ("more", "line"),
    [
        (["--towards", "gender"], "an axis and one of its attributes, such as gender=male"),
        (["--towards", "gender=mael"], "has no attribute 'mael'"),
        (["--towards", "sex=male"], "sex"),
        (["--and", "gender=female"], "names axis 'gender' twice"),
        (["--lambda", "0"], "numbers above 0"),
        (["--lambda", "much"], "numbers above 0"),
        (["--baselines", "pezz"], "choose from lm-biased, pez"),
        (["--least-tokens", "30"], "is more than --most-tokens 20"),
        (["--step", "77"], "the probes have heads for"),
        (["--lm", "sandbox"], "sandbox gives no logits"),
        (["--lm", "nothing:x"], "--lm 'nothing:x': no backend"),
        (["--perplexity", "sandbox"], "sandbox gives no logits"),
        (["--model", "sandbox:debiased"], "weights are not those of"),
        (["--model", "folder:x"], "a folder makes no images"),
        (["--axes", "tibet", "--towards", "gender=male"], "another axis 'gender'"),
        (["--opening", "a photo of " * 40], "its end would be cut off"),
        (["--scenario", "nowhere"], "nowhere"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    more: Sequence[str],
    line: str,
    probes: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    towards = [] if "--towards" in more else ["--towards", "gender=male"]
    folder = tmp_path / "run"
    options = [*towards, "--probes", probes, *SMALL, "-q", *more, "-o", folder]
    assert line in refusal(capsys, "search", *options)
    assert not folder.exists()
