"""`biasgraph build --until decided`, the whole way, on fakes with one link: gender -> bodytype."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from biasgraph.commands import main
from biasgraph.data.result import load
from biasgraph.models.base import Answer, Question
from biasgraph.models.registry import BACKENDS, GENERATOR, JUDGE, Backend, Role
from biasgraph.report.rounds_words import describe_savings
from biasgraph.runs.directory import Run, read_run
from tests.fake_models import FakeGenerator, FakeJudge
from tests.shared_runs import copy_of

ROUNDS = (
    "--until", "decided", "--decide", "edges", "--only", "gender,bodytype", "--controls", "1",
    "--bootstrap", "200", "--annotate", "none", "--quiet",
)  # fmt: skip
FAKES = ("--model", "fake:painter", "--vqa", "fake:judge")
BUILD = ("build", "--prompt", "a librarian", *FAKES, *ROUNDS)
FIXED = tuple(part for part in BUILD if part not in ("--until", "decided", "--decide", "edges"))
MOST = ("--max-images", "48")
SETS = 7  # the initial prompt, two of gender, three of bodytype, a rewording
TABLES = ("answers.csv", "pairs.csv", "tables.csv")


class Painter(FakeGenerator):
    """Its pictures tell whether their prompts name a gender, in their first byte."""

    seconds_per_image = None

    def _draw(self, prompt: str, seed: int) -> Image.Image:
        content = bytearray(hashlib.sha256(f"{prompt}{seed}".encode()).digest()[:24])
        content[0] = next(
            (i for i, word in enumerate(("male ", "female ")) if f" {word}" in prompt), 2
        )
        return Image.frombytes("RGB", (4, 2), bytes(content))


class Judge(FakeJudge):
    """Where a gender was named, a man is always fat, and a woman slim; all else is chance."""

    seconds_per_image = None

    def answer(
        self, images: Sequence[Image.Image], questions: Sequence[Question]
    ) -> list[list[Answer]]:
        return [[self._reply(image.tobytes(), one) for one in questions] for image in images]

    def _reply(self, content: bytes, question: Question) -> Answer:
        count = len(question.choices)
        chosen = hashlib.sha256(content + question.text.encode()).digest()[0] % count
        if count == 2 and "gender" not in question.text:
            chosen = 0  # there is a person
        elif content[0] < 2:
            chosen = content[0]
        return Answer(chosen, tuple(float(place == chosen) for place in range(count)))


@pytest.fixture(scope="module", autouse=True)
def fakes() -> Iterator[None]:
    roles = {
        GENERATOR: Role(lambda spec, options: Painter(batch_size=32), "fake:painter"),
        JUDGE: Role(lambda spec, options: Judge(), "fake:judge"),
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(BACKENDS, "fake", Backend("fakes", roles))
        yield


def build(directory: Path, *more: str, expect: int = 0) -> None:
    assert main([*BUILD, *more, "-o", str(directory)]) == expect


def files_of(directory: Path) -> dict[str, bytes]:
    """The tables; the graph also says when it was made of what."""
    return {name: (directory / name).read_bytes() for name in TABLES}


def pictures_of(directory: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (directory / "images").iterdir()}


def sizes_of(directory: Path) -> Counter[tuple[str, str, str]]:
    """Images of each set, by role, axis and attribute."""
    table = pd.read_csv(directory / "answers.csv", keep_default_na=False)
    sets = table[["role", "axis", "attribute", "image"]].drop_duplicates()
    return Counter(zip(sets["role"], sets["axis"], sets["attribute"], strict=True))


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("until") / "run"
    build(directory, *MOST)
    return directory


def test_images_go_where_pairs_are_open(decided: Path) -> None:
    result = load(decided)
    pairs = [pair for pair in result.pair_records() if pair["source"] != pair["target"]]
    assert {pair["look_images"] for pair in pairs} <= {24, 48}
    assert all((pair["look"], pair["look_images"]) in ((1, 24), (2, 48)) for pair in pairs)
    sizes = sizes_of(decided)
    for (role, axis, _), size in sizes.items():
        using = [pair for pair in pairs if pair["source"] == axis or role != "counterfactual"]
        assert size == max(pair["look_images"] for pair in using)
    assert len({*sizes.values()}) > 1  # or nothing was saved
    about = result.document["graph"]["adaptive"]
    assert about["images"] == sizes.total() < about["fixed"] == 48 * len(sizes)
    still = [[pair["source"], pair["target"]] for pair in pairs if not pair["decided"]]
    assert about["open"] == still
    assert about["ended"] == ("max_images" if still else "decided")
    notes = " ".join(result.document["graph"]["notes"])
    assert all(f"{source} -> {target}" in notes for source, target in still)


def test_the_same_again_makes_and_changes_nothing(decided: Path, tmp_path: Path) -> None:
    directory = copy_of(decided, tmp_path / "run")
    before = files_of(directory), pictures_of(directory)
    build(directory, *MOST)
    assert (files_of(directory), pictures_of(directory)) == before


@pytest.mark.slow(reason="a build of its own")
def test_other_bounds_make_only_what_they_need(decided: Path, tmp_path: Path) -> None:
    directory, fresh = copy_of(decided, tmp_path / "run"), tmp_path / "fresh"
    before = pictures_of(directory)
    build(directory, *MOST, "--min-v", "0.7")
    assert pictures_of(directory) == before  # all that are needed are there
    build(fresh, *MOST, "--min-v", "0.7")
    assert files_of(directory) == files_of(fresh)
    assert {*sizes_of(fresh).values()} == {24}  # so little bounds V below .7
    build(directory, *MOST)
    assert pictures_of(directory) == before
    assert files_of(directory) == files_of(decided)


@pytest.mark.slow(reason="a build of its own")
def test_it_goes_on_from_a_fixed_number_of_images(decided: Path, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    assert main([*FIXED, "--images", "30", "-o", str(directory)]) == 0
    before = pictures_of(directory)
    build(directory, *MOST)
    assert before.items() <= pictures_of(directory).items()
    assert files_of(directory) == files_of(decided)


class Killed(BaseException):
    """What ends a build in the place of a kill."""


@pytest.mark.parametrize("batches", [1, 6, 9])
def test_what_ends_between_rounds_goes_on_the_same(
    decided: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    directory, kept = tmp_path / "run", Run.add_images
    made: list[int] = []

    def add(run: Run, *arguments: object, **named: object) -> object:
        if len(made) == batches:
            raise Killed
        made.append(1)
        return kept(run, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Run, "add_images", add)
    with pytest.raises(Killed):
        build(directory, *MOST)
    monkeypatch.undo()
    before = pictures_of(directory)
    build(directory, *MOST)
    assert before.items() <= pictures_of(directory).items()
    assert files_of(directory) == files_of(decided)


def test_a_budget_ends_the_rounds(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    build(directory, "--budget-images", "200")
    graph = load(directory).document["graph"]
    assert graph["adaptive"]["ended"] == "budget"
    assert graph["adaptive"]["images"] == 24 * SETS == 168
    assert graph["adaptive"]["looks"] == 1 and graph["adaptive"]["open"]
    assert any("the next round would exceed --budget-images" in note for note in graph["notes"])
    with closing(read_run(directory)) as run:
        assert {*run.ledger.requested_images().values()} == {24}
    said = describe_savings(graph)
    assert said is not None and said.startswith("168; 1 pair open after 1 of 5 looks")


BELOW = "--budget-images 150 is too small for the first round, which takes 168 images"


def test_a_budget_below_the_first_round_begins_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in ([], ["--dry-run"]):
        build(tmp_path / "run", "--budget-images", "150", *more, expect=2)
        assert BELOW in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_budget_below_the_first_round_leaves_the_run_in_its_place(
    decided: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = copy_of(decided, tmp_path / "run")
    before = files_of(directory), pictures_of(directory)
    build(directory, "--budget-images", "150", "--fresh", expect=2)
    assert BELOW in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert (files_of(directory), pictures_of(directory)) == before


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_rounds_without_a_pair_to_decide_are_refused(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(tmp_path / "run", "--only", "gender", *MOST, *more, expect=2)
    assert "--until decided has no pair to decide: it needs two axes" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--decide", "edges"], "--decide has no effect without --until decided"),
        (["--max-images", "48"], "--max-images has no effect without --until decided"),
        (["--until", "decided", "--images", "48"], "--images and --until decided exclude each"),
        (["--until", "decided", "--correct", "a"], "--correct and --until decided exclude each"),
        (["--until", "decided", "--max-images", "20"], "--max-images"),
        (
            ["--until", "decided", "--model", "folder:a", "--budget-images", "99"],
            "--budget-images has no effect on existing images",
        ),
        (["--until", "decided", "--sign", "is"], "--sign is (also by --preset paper) and --until"),
        (
            ["--until", "decided", "--preset", "paper"],
            "claims a direction without a significance level",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build", "--prompt", "a nurse", *options]) == 2
    assert words in capsys.readouterr().err


def test_the_sign_of_is_alone_is_enough_for_edges(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*BUILD, "--preset", "paper", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["images"]


def test_a_plan_says_what_the_rounds_may_take(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*BUILD, "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert "168 in the first round, at most 2,688" in " ".join(plan["notes"])


@pytest.mark.slow(reason="a build of its own")
def test_the_sum_of_several_prompts_decides(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("a librarian\na nurse\n")
    directory = tmp_path / "run"
    rounds = [*MOST, *ROUNDS]
    assert main(["build", "--prompts", str(prompts), *FAKES, *rounds, "-o", str(directory)]) == 0
    result = load(directory)
    about = result.document["graph"]["adaptive"]
    assert about["fixed"] == 2 * SETS * 48 >= about["images"] == sizes_of(directory).total()
    for part in result.prompts:
        assert "adaptive" not in part.document["graph"]
        own = [pair for pair in part.pair_records() if pair["source"] != pair["target"]]
        assert {pair["look"] for pair in own} <= {1, 2}


@pytest.mark.slow(reason="builds of a folder")
def test_pictures_are_ordered_for_the_next_look(
    decided: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pictures, run = tmp_path / "pictures", tmp_path / "looked"
    assert main([*FIXED, "--images", "24", "-o", str(tmp_path / "made")]) == 0
    assert main(["export", str(tmp_path / "made"), "--to", "folder", "-o", str(pictures)]) == 0
    audit = ["build", "--model", f"folder:{pictures}", "--vqa", "fake:judge", "-o", str(run)]
    capsys.readouterr()
    assert main([*audit, *[part for part in ROUNDS if part != "1" and part != "--controls"]]) == 0
    graph = load(run).document["graph"]
    assert graph["adaptive"]["ended"] == "pictures" and graph["adaptive"]["looks"] == 1
    orders = pd.read_csv(run / "wanted.csv", keep_default_na=False)
    waiting = {source for source, _ in graph["adaptive"]["open"]}
    assert {*orders["axis"]} == {*waiting, ""}
    assert {*orders.groupby(["role", "axis", "attribute"]).size()} == {24}
    assert not [path for path in orders["path"] if (pictures / path).exists()]
    said = f"wait for {len(orders)} more pictures of"
    assert said in " ".join(graph["notes"])
    manifest = pictures / "manifest.csv"
    assert f"append the rows that {manifest} lacks to it" in " ".join(graph["notes"])
    there = pd.read_csv(manifest, keep_default_na=False)
    pd.concat([there, orders]).to_csv(manifest, index=False)
    painter = Painter(batch_size=32)
    for path, prompt, seed in zip(orders["path"], orders["prompt"], orders["seed"], strict=True):
        (picture,) = painter.generate([prompt], [int(seed)])
        picture.image.save(pictures / path)
    assert main([*audit, *[part for part in ROUNDS if part != "1" and part != "--controls"]]) == 0
    assert load(run).document["graph"]["adaptive"]["looks"] == 2
    assert {*sizes_of(run).values()} == {24, 48}


@pytest.mark.slow(reason="builds of a folder")
def test_no_more_pictures_are_asked_about_than_the_last_look_takes(tmp_path: Path) -> None:
    pictures, run = tmp_path / "pictures", tmp_path / "looked"
    assert main([*FIXED, "--images", "30", "-o", str(tmp_path / "made")]) == 0
    assert main(["export", str(tmp_path / "made"), "--to", "folder", "-o", str(pictures)]) == 0
    audit = ["build", "--model", f"folder:{pictures}", "--vqa", "fake:judge", "-o", str(run)]
    audit += [part for part in ROUNDS if part != "1" and part != "--controls"]
    assert main([*audit, "--max-images", "24"]) == 0
    about = load(run).document["graph"]["adaptive"]
    assert {*sizes_of(run).values()} == {24}
    assert about["images"] == about["fixed"] == 24 * SETS
    assert main(audit) == 0
    assert {*sizes_of(run).values()} == {30}


def test_terminal_and_page_say_when_pairs_were_decided(
    decided: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(decided), "--section", "all"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    about = load(decided).document["graph"]["adaptive"]
    share = f"{about['images'] / about['fixed']:.0%} of the {about['fixed']:,} that a fixed"
    assert share in printed and "Decided at" in printed
    assert printed.count("mages were made until pairs were decided") == 1
    assert "with its 97.5 % interval" in printed and "95 % interval" not in printed
    page = (decided / "report.html").read_text("utf-8")
    assert "Until decided" in page and share in page and '"confidence":"97.5 %"' in page
    assert "48 counterfactual and the first 24 initial images with a valid answer" in page
