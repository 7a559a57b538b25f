"""The command line as a user meets it: exit codes, stdout and stderr of real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import networkx as nx
import pytest
from click.testing import CliRunner

import biasgraph
from biasgraph.audits import build as audit
from biasgraph.commands import COMMANDS, cli, main
from tests import forked
from tests.answer_tables import librarian_table

ROOT = Path(__file__).parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the command line in an empty directory that holds librarian.csv."""
    librarian_table(images=40).to_csv(tmp_path / "librarian.csv", index=False)

    def run_process(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return forked.biasgraph(*map(str, arguments), cwd=tmp_path)

    return run_process


def start(directory: Path, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """A program that has imported nothing yet."""
    words = [sys.executable, str(ROOT / "cli.py"), *arguments]
    return subprocess.run(words, cwd=directory, text=True, timeout=120, **more)


def test_build_prints_tables_and_writes_files(run: Run, tmp_path: Path) -> None:
    done = run("build", "--answers", "librarian.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert "In 1 of 6 pairs, what is asked of one axis decides another" in done.stdout
    assert done.stdout.endswith("Open outputs/librarian/report.html\n")
    assert {*os.listdir(tmp_path / "outputs" / "librarian")} >= {"graph.json", "pairs.csv"}
    shown = run("show", "outputs/librarian")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout == done.stdout


def test_json_is_one_document_and_all_else_goes_to_stderr(run: Run) -> None:
    done = run("build", "--answers", "librarian.csv", "--json", "-o", "out")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document == json.loads(run("show", "out", "--json").stdout)
    assert nx.node_link_graph(document, edges="links").number_of_edges() == 1
    assert done.stderr == "Open out/report.html\n"


def test_quiet(run: Run) -> None:
    done = run("build", "--answers", "librarian.csv", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = run("build", "--answers", "librarian.csv", "--quiet", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)


def test_every_analysis_option_reaches_the_analysis(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ideal.yaml").write_text("gender: {male: 0.25, female: 0.75}\n")
    options = (
        "--axes occupation --only gender,clothing --ideal ideal.yaml --unlisted unknown "
        "--preset paper --alpha 0.01 --fdr by --metric nominal --mix equal --fallback auto "
        "--min-valid 2 --yates --unknown exclude --sign matched --bootstrap 150 --json -q"
    )
    done = run("build", "--answers", "librarian.csv", *options.split())
    assert done.returncode == 2, "clothing has other attributes in the shipped set"
    assert "column attribute" in done.stderr
    done = run(
        "build", "--answers", "librarian.csv", *options.replace("--axes occupation ", "").split()
    )
    assert (done.returncode, done.stderr) == (0, "")
    graph = json.loads(done.stdout)["graph"]
    expected = {
        "preset": "paper", "alpha": 0.01, "fdr": "by", "metric": "nominal", "mix": "equal",
        "fallback": "auto", "min_valid": 2, "yates": True, "unknown": "exclude",
        "sign": "matched", "bootstrap": 150,
    }  # fmt: skip
    assert graph["settings"] | expected == graph["settings"]
    assert graph["ideal"] == {"source": "ideal.yaml", "axes": ["gender"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bild"], "No such command 'bild'"),
        (["build"], "nothing to build from"),
        (["build", "--promt", "x"], "--promt"),
        (["build", "a librarian"], "unexpected argument 'a librarian'. Did you mean --prompt 'a"),
        (["build", "a", "librarian"], "unexpected argument 'a librarian'. Did you mean --prompt"),
        (["show", ".", "more"], "Got unexpected extra argument (more)"),
        (["build", "--prompt", "x", "--model", "sandbax"], "Did you mean 'sandbox'?"),
        (["build", "--answers", "nothing.csv"], "cannot read nothing.csv"),
        (["build", "--answers", "."], "cannot read ."),
        (["build", "--answers", "librarian.csv", "--seed", "0"], "--seed and --answers exclude"),
        (["build", "--answers", "librarian.csv", "--prompt", "x"], "--prompt and --answers"),
        (["build", "--answers", "librarian.csv", "--dry-run"], "--dry-run and --answers"),
        (["build", "--answers", "librarian.csv", "--alpha", "2"], "alpha must lie between"),
        (["build", "--answers", "librarian.csv", "--alpha", "low"], "'low' is not a valid float"),
        (["build", "--answers", "librarian.csv", "--preset", "papr"], "'papr'"),
        (["build", "--answers", "librarian.csv", "--axes", "ocupation"], "unknown axis set"),
        (["build", "--answers", "librarian.csv", "--only", "gendr"], "no axis 'gendr'"),
        (["build", "--answers", "librarian.csv", "--ideal", "librarian.csv"], "ideal"),
        (
            ["build", "--answers", "librarian.csv", "--metric", "ordinal"],
            "needs ordered attributes",
        ),
        (
            ["build", "--answers", "librarian.csv", "-o", "librarian.csv"],
            "librarian.csv already exists",
        ),
        (["build", "--answers", "librarian.csv", "-o", "."], "already exists"),
        (["build", "--prompt", "a librarian", "--images", "0"], "'--images'"),
        (["show", "nowhere"], "nowhere does not exist"),
        (["show", "."], "holds no result"),
        (["show", "librarian.csv"], "librarian.csv is a file, not the directory of a result"),
        (["build", "--prompt", "a librarian", "--model", ""], "--model is empty"),
        (["build", "--prompt", "a librarian", "--vqa", ""], "--vqa is empty"),
        (["build", "--prompt", "a librarian", "--only", " , "], "--only is empty"),
        (["report", ".", "-o", ""], "it is empty"),
        (["show"], "Missing argument 'RUN'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    librarian_table(images=1).to_csv(tmp_path / "librarian.csv", index=False)
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    [line] = printed.err.splitlines()
    assert line.startswith("Error: ")
    assert message in line
    assert os.listdir(tmp_path) == ["librarian.csv"]


@pytest.mark.slow(reason="processes of their own")
def test_exit_codes_reach_the_shell(run: Run, tmp_path: Path) -> None:
    done = start(tmp_path, "build", "--answers", "nothing.csv", capture_output=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "Error: cannot read nothing.csv: No such file or directory\n"
    done = run("build", "--answers", "librarian.csv", "-o", "librarian.csv/below")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("Error: cannot write to ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_stdout_is_no_success(run: Run, tmp_path: Path) -> None:
    arguments = ("build", "--answers", "librarian.csv", "--bootstrap", "100")
    with open("/dev/full", "w") as full:
        done = start(tmp_path, *arguments, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode != 0


@pytest.mark.slow(reason="a build on a disk that fills")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on a file's size")
def test_a_full_disk_is_exit_code_1_and_leaves_nothing(run: Run, tmp_path: Path) -> None:
    code = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "from biasgraph.commands import main\n"
        "sys.exit(main(['build', '--answers', 'librarian.csv', '-o', 'out']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert "cannot write to out: File too large" in done.stderr
    assert os.listdir(tmp_path) == ["librarian.csv"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", ""],
        ["agreement", "", "--with", "x.csv"],
        ["label", "run", "-o", ""],
        ["label", "run", "--only", ""],
        ["agreement", "run", "--with", "sandbox", "--only", " , "],
        ["annotate", "run", "minethegap", "--vary", ""],
        ["prompts", "--prompt", "a librarian", "--to", ""],
        *(
            ["build", "--prompt", "a librarian", option, ""]
            for option in ("--reference", "--correct", "--ideal", "--axes", "--model", "-o")
        ),
    ],
)
def test_an_empty_name_is_not_the_working_directory(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert " is empty" in said
    assert said.count("\n") == 1


def test_a_misspelt_folder_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--model", "foldr:pictures"]) == 2
    assert "Did you mean 'folder'?" in capsys.readouterr().err


@pytest.mark.slow(reason="starts a program to draw what test_terminal.py draws")
def test_names_from_other_scripts_on_a_narrow_terminal(tmp_path: Path) -> None:
    axes = {"גיל": ("צעיר", "זקן"), "性别": ("男", "女")}
    librarian_table(images=5, axes=axes, prompt="図書館員").to_csv(tmp_path / "図.csv", index=False)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "60"}
    arguments = ("build", "--answers", "図.csv", "--bootstrap", "100")
    done = start(tmp_path, *arguments, env=environment, capture_output=True)
    assert done.returncode == 0
    assert "???" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows counts no children's time")
def test_help_takes_less_than_400_ms() -> None:
    import resource

    def processor_time() -> float:  # on a free machine; the clock would measure its other work
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    times = []
    for _ in range(3):
        start = processor_time()
        subprocess.run([sys.executable, ROOT / "cli.py", "--help"], check=True, capture_output=True)
        times.append(processor_time() - start)
    assert min(times) < 0.4


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process on Windows")
def test_an_interruption_is_exit_code_130(run: Run, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from biasgraph.audits import build as audit\n"
        "from biasgraph.commands import main\n"
        "def build(*arguments, **named):\n"
        "    print('started', flush=True)\n"
        "    import time; time.sleep(60)\n"
        "audit.build = build\n"
        "sys.exit(main(['build', '--answers', 'librarian.csv']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors.strip() == "Interrupted"


def test_a_bug_shows_where_it_happened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*arguments: object, **named: object) -> None:
        raise RuntimeError("unexpected")

    monkeypatch.setattr(audit, "build", broken)
    assert main(["build", "--answers", "x.csv"]) == 1
    errors = capsys.readouterr().err
    assert "RuntimeError: unexpected" in errors
    assert errors.rstrip().endswith("please report it with the lines above")


def test_too_little_memory_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def greedy(*arguments: object, **named: object) -> None:
        raise MemoryError("Unable to allocate 1.46 TiB")

    monkeypatch.setattr(audit, "build", greedy)
    assert main(["build", "--answers", "x.csv"]) == 1
    errors = capsys.readouterr().err
    assert errors == "Error: out of memory (Unable to allocate 1.46 TiB): ask for less\n"


def test_a_report_overwrites_reports_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    librarian_table(images=40).to_csv(tmp_path / "a.csv", index=False)
    arguments = ["--answers", str(tmp_path / "a.csv"), "--bootstrap", "100", "-q"]
    assert main(["build", *arguments, "-o", str(tmp_path / "out")]) == 0
    graph = tmp_path / "out" / "graph.json"
    before = graph.read_bytes()
    assert main(["report", str(tmp_path / "out"), "-o", str(graph)]) == 2
    assert "graph.json already exists and is not a report" in capsys.readouterr().err
    assert graph.read_bytes() == before
    page = tmp_path / "page.html"
    for _ in range(2):
        assert main(["report", str(tmp_path / "out"), "-o", str(page)]) == 0
    assert page.is_file()


def test_errors_of_several_lines_keep_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    librarian_table(images=2).to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "ideal.yaml").write_text("gender: {male: 2}\nage: {yuong: 1}\n")
    arguments = ["build", "--answers", str(tmp_path / "a.csv"), "--ideal"]
    assert main([*arguments, str(tmp_path / "ideal.yaml")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_without_a_command_there_is_help() -> None:
    done = CliRunner().invoke(cli, [])
    assert done.exit_code == 0
    assert "build" in done.output


@pytest.mark.parametrize("name", cli.commands)
def test_help_of_all_says_what_that_of_each_begins_with(name: str) -> None:
    _, command, _ = cli.resolve_command(click.Context(cli), [name])
    assert command is not None and command.help is not None
    first = command.help.partition("\n\n")[0].replace("\n", " ")
    assert cli.commands[name].help == COMMANDS[name] == first


def test_version() -> None:
    done = CliRunner().invoke(cli, ["--version"], prog_name="biasgraph")
    assert done.output == f"biasgraph {biasgraph.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", "--prompt", "a nurse", "--model", "diffusers:{}", "--vqa", "sandbox"],
        ["build", "--prompt", "a nurse", "--reference", "{}"],
        ["agreement", "run", "--with", "{}"],
        ["label", "{}"],
        ["prompts", "--prompt", "a nurse", "--to", "{}.csv"],
    ],
)
def test_a_name_that_no_file_can_have_is_one_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """As what was meant for another option, a prompt or a whole file, is pasted into this one."""
    name = "a" * 300
    assert main([one.format(name) for one in arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_error_of_the_system_that_no_path_explains_is_still_a_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("biasgraph.data.axes.shipped_axis_sets", fail)
    assert main(["axes", "list"]) == 1
    assert "this is a bug" in capsys.readouterr().err


class TestWhatTheSystemDoes:
    def test_a_full_device_is_one_line(self, tmp_path: Path) -> None:
        for words in (["axes", "list"], ["axes", "list", "--json"]):
            with open("/dev/full", "w") as full:
                done = start(tmp_path, *words, stdout=full, stderr=subprocess.PIPE)
            assert done.returncode == 1
            assert done.stderr == "Error: cannot write to stdout: No space left on device\n"

    def test_a_working_directory_that_is_gone_is_one_line(self, tmp_path: Path) -> None:
        gone = tmp_path / "gone"
        gone.mkdir()
        leave = f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); "
        code = (
            leave + "from biasgraph.commands import main; raise SystemExit(main(['axes', 'list']))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True, timeout=120
        )
        assert done.returncode == 2
        assert done.stderr.startswith("Error: cannot work in the working directory: ")
        assert done.stderr.count("\n") == 1

    def test_a_traceback_writes_no_escape_sequence(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def broken(*_: object) -> None:
            raise RuntimeError("\x1b]52;c;ZXZpbA==\x07")

        monkeypatch.setattr("biasgraph.data.axes.load_axis_set", broken)
        assert main(["axes", "show", "occupation"]) == 1
        said = capsys.readouterr().err
        assert "Traceback" in said
        assert "\x1b" not in said
        assert "\\x1b]52" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", "--prompt", "a librarian \udcff", "--dry-run"],
        ["build", "--prompt", f"[{'x' * 1_990}", "--dry-run"],
        ["axes", "propose", "a lib\x1brarian", "--llm", "sandbox", "-o", "axes.yaml"],
        ["build", "--prompt", "a librarian", "--axes", "y" * 5_000, "--dry-run"],
        ["build", "--prompt", "a librarian", "--only", "z" * 5_000, "--dry-run"],
    ],
)
def test_an_error_is_a_short_line(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert len(said) <= 401
    assert said.isprintable() or said[:-1].isprintable()
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
@pytest.mark.parametrize("name", ["graph.json", "pairs.csv", "tables.csv", "answers.csv"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    librarian_table().to_csv(tmp_path / "a.csv", index=False)
    assert main(["build", "--answers", str(tmp_path / "a.csv"), "-o", str(tmp_path / "r")]) == 0
    (tmp_path / "r" / name).unlink()
    os.mkfifo(tmp_path / "r" / name)
    assert main(["show", str(tmp_path / "r")]) == 2
    assert f"{name}: it is not a regular file" in capsys.readouterr().err
