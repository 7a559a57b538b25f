"""Pictures made elsewhere, the whole way on the command line: what comes back is what went out."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pandas as pd
import pytest

from biasgraph.audits.plan.verification import JointPlan
from biasgraph.commands import cli, main
from biasgraph.data.axes import load_axis_set
from biasgraph.data.result import load
from biasgraph.errors import InputError
from biasgraph.models.image_files import FORMATS, MAX_PIXELS
from tests.runs.pictures.pictures import folder_of
from tests.shared_runs import copy_run

SMALL = (
    "--only", "gender,age", "--controls", "0", "--min-valid", "2", "--bootstrap", "100", "--quiet",
)  # fmt: skip
COUNTS = {"initial": 4, "gender/male": 4, "gender/female": 4}
COUNTS |= {"age/young": 4, "age/middle": 4, "age/old": 4}


def build(*arguments: str | Path, expect: int = 0) -> None:
    assert main(["build", *map(str, arguments), *SMALL]) == expect


def answers_of(run: Path) -> pd.DataFrame:
    """All but the model's name; probabilities to what another batch may change of them."""
    table = pd.read_csv(run / "answers.csv")
    return table.drop(columns="model").round({"confidence": 5})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the sandbox's."""
    run = tmp_path_factory.mktemp("made") / "run"
    copy_run(run, "build", "--prompt", "a librarian", "--images", "4", *SMALL)
    return run


@pytest.fixture(scope="module")
def folder(made: Path) -> Path:
    """Its images in sets, without the manifest."""
    pics = made.parent / "pics"
    assert main(["export", str(made), "--to", "folder", "-o", str(pics)]) == 0
    for name in ("manifest.csv", "export.json"):
        (pics / name).unlink()
    return pics


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "pics"))


@pytest.fixture(scope="module")
def judged(folder: Path) -> Path:
    """The folder's own run."""
    run = folder.parent / "judged"
    build("--model", f"folder:{folder}", "--vqa", "sandbox", "--prompt", "a librarian", "-o", run)
    return run


@pytest.fixture
def again(copy: Path, tmp_path: Path) -> Callable[..., Path]:
    """Builds from the copy of the folder."""

    def build_again(*more: str, expect: int = 0) -> Path:
        run = tmp_path / "run"
        arguments = ["--prompt", "a librarian", "-o", run, *more]
        build("--model", f"folder:{copy}", "--vqa", "sandbox", *arguments, expect=expect)
        return run

    return build_again


def same(one: Path, other: Path) -> None:
    pd.testing.assert_frame_equal(answers_of(one), answers_of(other))


class TestTheSameAnswers:
    def test_from_folders(self, made: Path, judged: Path) -> None:
        same(judged, made)
        assert len(answers_of(judged)) == 6 * 4 * 2

    def test_from_an_exported_folder_with_its_manifest(self, made: Path, tmp_path: Path) -> None:
        pics = tmp_path / "pics"
        assert main(["export", str(made), "--to", "folder", "-o", str(pics)]) == 0
        build("--model", f"folder:{pics}", "--vqa", "sandbox", "-o", tmp_path / "run")
        same(tmp_path / "run", made)
        assert load(tmp_path / "run").document["graph"]["prompt"] == "a librarian"

    def test_from_a_manifest_filled_by_hand(self, made: Path, folder: Path, tmp_path: Path) -> None:
        orders = tmp_path / "orders.csv"
        arguments = ["--prompt", "a librarian", "--images", "4", *SMALL[:4]]
        assert main(["prompts", *arguments, "--to", str(orders)]) == 0
        for path in pd.read_csv(orders)["path"]:
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / path, target.with_suffix(".webp"))  # what a website gave
        build("--model", f"folder:{orders}", "--vqa", "sandbox", "-o", tmp_path / "run")
        same(tmp_path / "run", made)

    @pytest.mark.parametrize("declared", [True, False])
    def test_from_tibets_layout(
        self, made: Path, folder: Path, tmp_path: Path, declared: bool
    ) -> None:
        root = tmp_path / "images" / "P_1"
        said = {
            "gender_biases": ["a male librarian", "a female librarian"],
            "age": ["a young librarian", "a middle-aged librarian", "an old librarian"],
        }
        sets = {"gender_biases": ["male", "female"], "age": ["young", "middle", "old"]}
        self._copy(folder / "initial", root / "initial_prompts")
        for axis, names in sets.items():
            for number, name in enumerate(names):
                self._copy(folder / axis.split("_")[0] / name, root / axis / str(number))
        told = {"initial_prompt": "a librarian", "result": said, "id": "P_1"}
        (tmp_path / "images" / "P_1.json").write_text(json.dumps(told))
        run = tmp_path / "run"
        arguments = ["--model", f"folder:{root}", "--vqa", "sandbox", "-o", run]
        if declared:
            build(*arguments, "--axes", "occupation")
            same(run, made)
            return
        assert main(["build", *map(str, arguments), *SMALL[2:]]) == 0
        own = answers_of(run).replace({"gender_biases": "gender", "middle-aged": "middle"})
        expected = answers_of(made).drop(columns="image")  # their ids hold the axis's name
        pd.testing.assert_frame_equal(own.drop(columns="image"), expected)
        kept = load_axis_set(str(run / "axes.yaml"))  # for commands that ask for the axes
        graph = load(run).document["graph"]
        assert kept.digest() == graph["axes"]["digest"]
        assert graph["settings"]["alpha"] == 0.05  # BiasConnect supp. A.4
        assert any(note.startswith("edges need p <= 0.05") for note in graph["notes"])
        assert main(["build", *map(str, arguments), *SMALL[2:], "--alpha", "0.001"]) == 0
        assert load(run).document["graph"]["settings"]["alpha"] == 0.001

    @staticmethod
    def _copy(source: Path, target: Path) -> None:
        target.mkdir(parents=True)
        for path in source.iterdir():
            shutil.copy(path, target / f"{int(path.stem)}.jpeg")

    @pytest.mark.slow(reason="two more builds; that of one prompt stays")
    def test_of_several_prompts(self, tmp_path: Path) -> None:
        (tmp_path / "two.txt").write_text("a librarian\na nurse\n")
        images = ("--images", "2", "-o")
        build("--prompts", tmp_path / "two.txt", *images, tmp_path / "made")
        pics = tmp_path / "pics"
        assert main(["export", str(tmp_path / "made"), "--to", "folder", "-o", str(pics)]) == 0
        build("--model", f"folder:{pics}", "--vqa", "sandbox", "-o", tmp_path / "run")
        same(tmp_path / "run", tmp_path / "made")
        assert len(load(tmp_path / "run").prompts) == 2


def test_a_rerun_loads_no_model(judged: Path, folder: Path) -> None:
    code = (
        "import sys; from biasgraph.commands import main; code = main(sys.argv[1:]);"
        "assert not {'torch', 'diffusers', 'transformers', 'PIL.JpegImagePlugin'} & {*sys.modules};"
        "sys.exit(code)"
    )
    arguments = ["build", "--model", f"folder:{folder}", "--vqa", "sandbox", "-o", str(judged)]
    arguments += ["--prompt", "a librarian", *SMALL]
    before = (judged / "answers.csv").read_bytes()
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)
    assert (judged / "answers.csv").read_bytes() == before


def test_what_was_found_is_told(folder: Path, judged: Path) -> None:
    found = json.loads((judged / "pictures.json").read_bytes())
    assert found["folder"] == str(folder)
    assert len(found["files"]) == 24
    assert {*found["images"]} == {*answers_of(judged)["image"]}
    assert {*found["images"].values()} == {*found["files"]}
    graph = load(judged).document["graph"]
    assert "the sandbox's own icons" in graph["toy"]
    assert graph["model"] == f"folder:{folder}"


def test_a_grown_folder_extends_the_run(again: Callable[..., Path], copy: Path) -> None:
    before = answers_of(again())
    shutil.copy(copy / "gender/female/0003.png", copy / "initial/0001b.png")
    (copy / "initial/0002.png").rename(copy / "initial/last.png")
    after = answers_of(again())
    new = after[~after["image"].isin(before["image"])]
    assert [*new["image"].str[-5:].unique()] == ["-0004"]
    rest = after[after["image"].isin(before["image"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(rest, before)


def test_the_first_images_are_taken(again: Callable[..., Path]) -> None:
    few = answers_of(again("--images", "2"))
    assert few["image"].nunique() == 12
    run = again("--images", "99")
    assert answers_of(run)["image"].nunique() == 24
    assert answers_of(run).merge(few).shape[0] == len(few)


def test_a_file_that_is_gone_is_named(
    again: Callable[..., Path], copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = again()
    before = answers_of(run)
    (copy / "age/old/0001.png").unlink()
    again(expect=2)
    error = capsys.readouterr().err
    assert "age/old/0001.png is missing" in error
    assert error.count("\n") == 1
    pd.testing.assert_frame_equal(answers_of(run), before)
    again("--fresh")
    assert answers_of(run)["image"].nunique() == 23


def test_a_lost_copy_is_fetched_again(again: Callable[..., Path]) -> None:
    run = again()
    kept = next((run / "images").glob("*.png"))
    whole = kept.read_bytes()
    kept.write_bytes(b"lost")
    again()
    assert kept.read_bytes() == whole


def test_sets_may_differ_and_files_may_be_bad(
    again: Callable[..., Path], copy: Path, tmp_path: Path
) -> None:
    (copy / "age/old/0000.png").write_bytes(b"")
    (copy / "age/old/0001.png").unlink()
    shutil.rmtree(copy / "age/young")
    document = load(again()).document
    notes = document["graph"]["notes"]
    assert "1 file was left out: empty (age/old/0000.png)" in notes
    assert answers_of(tmp_path / "run").query("axis == 'age'")["attribute"].unique().tolist() == [
        "middle",
        "old",
    ]


class TestTheSamePictureTwice:
    def test_a_set_counts_it_once(self, again: Callable[..., Path], copy: Path) -> None:
        before = answers_of(again())
        shutil.copy(copy / "initial/0001.png", copy / "initial/0001b.png")
        shutil.copy(copy / "initial/0001.png", copy / "initial/9999.jpg")
        run = again()
        pd.testing.assert_frame_equal(answers_of(run), before)
        graph = load(run).document["graph"]
        assert (
            "2 files were left out: with the same bytes as another picture of their set "
            "(initial/0001b.png, initial/9999.jpg)"
        ) in graph["notes"]
        assert "shared_images" not in graph["flags"]

    def test_several_sets_keep_it_and_are_flagged(
        self, again: Callable[..., Path], copy: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shutil.copy(copy / "gender/female/0003.png", copy / "initial/0004.png")
        run = again()
        assert answers_of(run)["image"].nunique() == 25
        graph = load(run).document["graph"]
        where = "1 picture is in several sets (initial/0004.png = gender/female/0003.png)"
        assert where in graph["notes"]
        assert "shared_images" in graph["flags"]
        assert main(["show", str(run), "--section", "caveats"]) == 0
        assert "same pictures are in several sets" in " ".join(capsys.readouterr().out.split())

    def test_those_that_do_not_count_are_not_flagged(
        self, again: Callable[..., Path], copy: Path
    ) -> None:
        shutil.copy(copy / "gender/female/0003.png", copy / "initial/0004.png")
        graph = load(again("--images", "4")).document["graph"]
        assert "shared_images" not in graph["flags"]
        assert not [note for note in graph["notes"] if "several sets" in note]

    def test_of_several_prompts_the_sum_is_flagged(self, copy: Path, tmp_path: Path) -> None:
        shutil.copy(copy / "initial/0000.png", copy / "initial/0009.png")
        said = {"a cook": ("0000", "0001", "0002"), "a nurse": ("0009", "0003")}
        rows = [f"initial/{n}.png,initial,{text}" for text, own in said.items() for n in own]
        (copy / "pictures.csv").write_text("\n".join(["path,role,prompt", *rows]))
        run = tmp_path / "run"
        build("--model", f"folder:{copy}/pictures.csv", "--vqa", "sandbox", "-o", run)
        result = load(run)
        assert "shared_images" in result.document["graph"]["flags"]
        assert [("shared_images" in own.document["graph"]["flags"]) for own in result.prompts] == [
            False,
            False,
        ]

    def test_photographs_as_the_ideal_count_it_once(
        self, folder: Path, copy: Path, tmp_path: Path
    ) -> None:
        shutil.copy(copy / "initial/0001.png", copy / "initial/0009.png")
        words = ["--model", f"folder:{folder}", "--vqa", "sandbox", "-o", tmp_path / "run"]
        build(*words, "--reference", f"folder:{copy}/initial")
        document = load(tmp_path / "run").document
        assert [sum(node["reference"]) for node in document["nodes"]] == [4, 4]
        assert any("with the same bytes" in note for note in document["graph"]["notes"])

    def test_withheld_ones_all_count(self, copy: Path, tmp_path: Path) -> None:
        rows = ["initial/0000.png,initial,", ",initial,policy", ",initial,policy"]
        (copy / "pictures.csv").write_text("\n".join(["path,role,withheld", *rows]))
        words = ["--model", f"folder:{copy}/pictures.csv", "--vqa", "sandbox"]
        build(*words, "-o", tmp_path / "run")
        graph = load(tmp_path / "run").document["graph"]
        assert graph["images"]["initial"] == 3 and graph["withheld"] == {"policy": 2}
        assert "shared_images" not in graph["flags"]


def test_what_a_service_refused_is_gated(made: Path, copy: Path, tmp_path: Path) -> None:
    rows = [f"{path},initial,,,a cook," for path in ("initial/0000.png", "initial/0001.png")]
    refused = [f",counterfactual,gender,{name},a {name} cook,policy" for name in ("male", "female")]
    table = "\n".join(["path,role,axis,attribute,prompt,withheld", *rows, *refused, refused[0]])
    (copy / "pictures.csv").write_text(table)
    run = tmp_path / "run"
    words = ["--model", f"folder:{copy}/pictures.csv", "--vqa", "sandbox", "-o", run]
    build(*words)
    answers = answers_of(run)
    assert answers.query("role == 'counterfactual'")["answer"].tolist() == ["gated"] * 6
    graph = load(run).document["graph"]
    assert graph["withheld"] == {"policy": 3}
    assert main(["export", str(run), "--to", "folder", "-o", str(tmp_path / "out")]) == 0
    build("--model", f"folder:{tmp_path}/out", "--vqa", "sandbox", "-o", tmp_path / "again")
    same(tmp_path / "again", run)


def test_photographs_are_audited_as_if_a_model_had_made_them(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    build("--model", f"folder:{folder}/initial", "--vqa", "sandbox", "-o", run)
    result = load(run)
    assert result.document["graph"]["prompt"] == "initial"
    assert result.document["graph"]["images"] == {"initial": 4, "interventions": 0}
    assert result.pairs["status"].eq("insufficient").all()


def test_a_dry_run_does_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    arguments = ["--model", f"folder:{folder}", "--vqa", "sandbox", "-o", run, *SMALL[:-1]]
    assert main(["build", *map(str, arguments), "--dry-run", "--max-pixels", "9"]) == 2
    assert "of more than 9 pixels" in capsys.readouterr().err
    assert main(["build", *map(str, arguments), "--dry-run"]) == 0
    assert "6 prompts, 24 images, 72 questions" in capsys.readouterr().out
    assert not run.exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--model", "folder:{pics}"], "--vqa is needed for folder:"),
        (["--model", "folder:{pics}x", "--vqa", "sandbox"], "Did you mean 'pics'?"),
        (["--model", "folder:", "--vqa", "sandbox"], "names no folder"),
        (["--model", "folder:{pics}", "--vqa", "sandbox", "--steps", "4"], "--steps has no effect"),
        (["--model", "folder:{pics}", "--vqa", "sandbox", "--prompts", "occupations"], "--prompts"),
        (["--model", "folder:{made}", "--vqa", "sandbox"], "is a run"),
        (["--model", "sandbox:debiased", "--prompt", "x", "--max-pixels", "9"], "--max-pixels"),
    ],
)
def test_wrong_input_is_one_line(
    arguments: list[str],
    problem: str,
    folder: Path,
    made: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [word.format(pics=folder, made=made) for word in arguments]
    build(*words, "-o", tmp_path / "run", expect=2)
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_folder_cannot_verify_a_plan(judged: Path) -> None:
    with pytest.raises(InputError, match="contains existing pictures and cannot make new ones"):
        JointPlan.of(load(judged), ["gender", "age"])


class TestOrders:
    def test_nothing_is_overwritten(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        target = tmp_path / "new" / "orders.csv"
        words = ["prompts", "--prompt", "a cook", "--only", "gender", "--to", str(target)]
        assert main(words) == 0
        assert "5 prompts, 48 images of each, 240 in all" in capsys.readouterr().out
        before = target.read_bytes()
        assert main(words) == 0
        assert main([*words, "--images", "3"]) == 2
        assert "already exists and is not this manifest" in capsys.readouterr().err
        assert target.read_bytes() == before
        assert main([*words[:-1], str(tmp_path)]) == 0
        assert (tmp_path / "manifest.csv").read_bytes() == before

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            ([], "give either --prompt"),
            (["--prompt", "x", "--prompts", "occupations"], "give either --prompt"),
            (["--prompt", "beautiful and strange"], "bracket"),
            (["--prompts", "ocupations"], "Did you mean 'occupations'?"),
            (["--prompt", "a cook", "--only", "gendr"], "Did you mean 'gender'?"),
            (["--prompt", "a cook", "--axes", "occupatio"], "Did you mean 'occupation'?"),
        ],
    )
    def test_wrong_input_is_one_line(
        self,
        arguments: list[str],
        problem: str,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        assert main(["prompts", *arguments, "--to", str(tmp_path / "m.csv")]) == 2
        error = capsys.readouterr().err
        assert problem in error
        assert error.count("\n") == 1
        assert not (tmp_path / "m.csv").exists()

    def test_the_name_must_be_a_tables(self, tmp_path: Path) -> None:
        assert main(["prompts", "--prompt", "a cook", "--to", str(tmp_path / "m.txt")]) == 2


class TestExport:
    def test_it_goes_on_where_it_was_cut_short(self, made: Path, tmp_path: Path) -> None:
        words = ["export", str(made), "--to", "folder", "-o", str(tmp_path / "pics")]
        assert main(words) == 0
        files = {path: path.read_bytes() for path in tmp_path.rglob("*.png")}
        assert len(files) == 24
        (tmp_path / "pics/manifest.csv").unlink()
        next(iter(files)).unlink()
        assert main(words) == 0
        assert {path: path.read_bytes() for path in tmp_path.rglob("*.png")} == files
        assert len(pd.read_csv(tmp_path / "pics/manifest.csv")) == 24

    def test_foreign_files_are_left_alone(
        self, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder_of(tmp_path, {"initial": 1})
        (tmp_path / "initial/0.png").rename(tmp_path / "initial/0000.png")
        before = (tmp_path / "initial/0000.png").read_bytes()
        assert main(["export", str(made), "--to", "folder", "-o", str(tmp_path)]) == 2
        assert "already exists and is not an export" in capsys.readouterr().err
        assert (tmp_path / "initial/0000.png").read_bytes() == before
        assert len([*tmp_path.rglob("*.png")]) == 1

    def test_a_damaged_image_is_named(
        self, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run = Path(shutil.copytree(made, tmp_path / "run"))
        next((run / "images").glob("*.png")).write_bytes(b"x")
        assert main(["export", str(run), "--to", "folder", "-o", str(tmp_path / "pics")]) == 1
        assert "is missing or damaged" in capsys.readouterr().err
        assert not (tmp_path / "pics/manifest.csv").exists()


DOCS = Path(__file__).parents[2] / "docs" / "folder.md"


@pytest.mark.parametrize(
    "line",
    re.findall(r"^ +biasgraph (.*)$", DOCS.read_text("utf-8").replace("\\\n", " "), re.MULTILINE),
)
def test_commands_of_the_page_are_commands(line: str) -> None:
    name, *words = shlex.split(line)
    _, command, words = cli.resolve_command(click.Context(cli), [name, *words])
    assert command is not None
    command.make_context(name, words, resilient_parsing=False)


def test_the_page_names_what_is_read() -> None:
    page = DOCS.read_text("utf-8")
    assert all(name in page.replace("PNM", "PPM").replace("WebP", "WEBP") for name in FORMATS)
    assert "100 million pixels" in page and MAX_PIXELS == 100_000_000
