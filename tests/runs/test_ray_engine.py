"""Batches at workers of Ray: the same files as without, whatever dies."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

import biasgraph
from biasgraph.audits.build import build
from biasgraph.audits.build_options import BuildOptions
from biasgraph.commands import main
from biasgraph.errors import ModelError
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import load_generator
from biasgraph.runs.directory import open_run
from biasgraph.runs.engines import Asking, Drawing, Task
from biasgraph.runs.local_engine import generate
from biasgraph.runs.progress import Interrupted, Quiet, ShownWork
from biasgraph.runs.ray_engine import MOST_LOST, RayEngine
from biasgraph.runs.ray_worker import BatchWorker, Failure, Terms
from biasgraph.runs.record import identity
from tests.fake_models import FakeGenerator, plan_of
from tests.kill_trials import recorded, results

ROOT = Path(__file__).resolve().parents[2]
SMALL = {"only": "gender", "images": 48, "controls": 0, "min_valid": 2, "bootstrap": 100}
SHARED = "/dev/shm"  # noqa: S108
ON_RAY = {"engine": "ray", "workers": 2}
COMMAND = (
    "build", "--prompt", "a nurse", "--only", "gender", "--images", "48", "--controls", "0",
    "--min-valid", "2", "--bootstrap", "100", "--quiet",
)  # fmt: skip


@pytest.fixture(scope="module")
def plug_ins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on the path of all processes, with the plug-in of `tests.mortal_painter`."""
    folder = tmp_path_factory.mktemp("plug-ins")
    info = folder / "mortal-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mortal\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[biasgraph.models]\nmortal = tests.mortal_painter:BACKEND\n"
    )
    sys.path.append(str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def cluster(plug_ins: Path) -> Iterator[None]:
    """A Ray of two CPUs, started once: that takes seconds."""
    import ray

    path = os.pathsep.join(map(str, (ROOT, plug_ins)))
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setenv("RAY_worker_niceness", "0")
    ray.init(
        address="local", num_cpus=2, include_dashboard=False, object_store_memory=150_000_000,
        log_to_driver=False, logging_level="CRITICAL",
        runtime_env={"env_vars": {"PYTHONPATH": path}},
    )  # fmt: skip
    yield
    ray.shutdown()
    monkeypatch.undo()


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build in this process."""
    directory = tmp_path_factory.mktemp("local") / "run"
    biasgraph.build("a nurse", **SMALL, output=directory)
    return directory


def pictures(directory: Path) -> set[str]:
    return {path.name for path in (directory / "images").iterdir()}


def assert_equal(directory: Path, local: Path) -> None:
    assert results(directory) == results(local)
    assert pictures(directory) == pictures(local)


class Killing(Quiet):
    """Kills a worker when the first batch has arrived."""

    def __init__(self) -> None:
        self.details: list[str] = []
        self.killed = 0

    def advance(self, count: int) -> None:
        if not self.killed:
            own = psutil.Process().children(recursive=True)
            workers = [one for one in own if one.name().startswith("ray::BatchWorker")]
            workers[0].kill()
            self.killed += 1

    def detail(self, text: str) -> None:
        self.details.append(text)


@pytest.mark.slow(reason="two builds, whose workers take their time to start")
def test_a_build_is_the_same_byte_for_byte_also_where_a_worker_dies(
    cluster: None, local: Path, tmp_path: Path
) -> None:
    killing = Killing()
    build(BuildOptions("a nurse", **SMALL, **ON_RAY, output=tmp_path / "run"), killing)
    assert killing.killed == 1
    assert {"1 of 2 workers" in text for text in killing.details} == {True, False}
    assert_equal(tmp_path / "run", local)
    before = recorded(tmp_path / "run")
    assert main([*COMMAND, "-o", str(tmp_path / "run")]) == 0  # nothing is left to do
    assert recorded(tmp_path / "run") == before


class TestWorkersThatDie:
    def made(self, directory: Path, times: int) -> int:
        """How many images a generator makes whose workers die so many times."""
        deaths = directory / "deaths"
        deaths.mkdir()
        generator = load_generator(f"mortal:{deaths}@{times}")
        with open_run(directory / "run", generator, [], seed=0) as run:
            run.request([plan_of("a nurse")], images=4, targets=[], settings={})
            try:
                with closing(RayEngine(ModelOptions(**ON_RAY))) as engine:
                    return generate(run, generator, engine=engine)
            finally:
                self.files = {image.id: image.file.sha256 for image in run.ledger.images()}

    @pytest.mark.slow(reason="starts workers again; a build whose worker is killed does, too")
    def test_some_times_are_replaced(self, cluster: None, tmp_path: Path) -> None:
        assert self.made(tmp_path, 2) == 36
        assert len(list((tmp_path / "deaths").iterdir())) == 2

    @pytest.mark.slow(reason="starts workers again and again")
    def test_always_end_the_work_and_what_is_made_stays(
        self, cluster: None, tmp_path: Path
    ) -> None:
        with pytest.raises(ModelError) as failed:
            self.made(tmp_path, 999)
        message = str(failed.value)
        assert f"died {MOST_LOST + 1} times on the same batch" in message
        assert "rerun the same command" in message and len(message) <= 400
        assert "\n" not in message
        assert 0 < len(self.files) < 36


class TestWorker:
    """Without Ray: what a worker says of itself."""

    @pytest.fixture(autouse=True)
    def here(self, monkeypatch: pytest.MonkeyPatch) -> Terms:
        """Terms of this process; what they set in it is undone."""
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")
        monkeypatch.chdir(".")
        return Terms.here(1)

    def test_other_versions_are_named(self, here: Terms) -> None:
        assert BatchWorker({}, here).hello().problem == ""
        other = Terms({**here.versions, "torch": "1.0"}, 1, "/")
        assert "it has torch" in BatchWorker({}, other).hello().problem
        other = Terms({"biasgraph": "99"}, 1, "/")
        assert "this machine 99: install the same" in BatchWorker({}, other).hello().problem

    def test_it_is_ready_before_it_is_greeted(self, here: Terms, tmp_path: Path) -> None:
        """A worker that Ray starts again between two batches is not greeted."""
        BatchWorker({}, Terms(here.versions, 1, str(tmp_path)))
        assert Path.cwd() == tmp_path
        assert os.environ["OMP_NUM_THREADS"] == "1"

    def test_a_model_that_is_not_there_is_named(self, here: Terms) -> None:
        wanted = {"spec": "diffusers:/nowhere", "fingerprint": "", "settings": {}}
        failure = BatchWorker({}, here).compute(wanted, Drawing(["a nurse"], [0]))
        assert isinstance(failure, Failure) and "/nowhere" in failure.message

    def test_a_plug_in_that_is_not_there_is_named(self, here: Terms) -> None:
        wanted = {"spec": "unheard:of", "fingerprint": "", "settings": {}}
        failure = BatchWorker({}, here).compute(wanted, Asking([], []))
        assert isinstance(failure, Failure) and failure.input
        assert "no backend 'unheard'" in failure.message

    @pytest.mark.parametrize(
        ("changed", "said"),
        [
            ({"fingerprint": "other"}, "has other weights there"),
            ({"settings": {"steps": 99, "guidance": 3.0}}, "with steps 10, and on this machine"),
        ],
    )
    def test_another_model_of_the_same_name_is_refused(
        self, here: Terms, changed, said: str
    ) -> None:
        wanted = {**identity(load_generator("sandbox:stereotyped")), **changed}
        failure = BatchWorker({}, here).compute(wanted, Drawing(["a nurse"], [0]))
        assert isinstance(failure, Failure) and said in failure.message


class Service(FakeGenerator):
    """Speaks of requests, as models behind a server do."""

    def requests(self, *, images: int, questions: int) -> int:
        return images + questions


class Notes(Quiet):
    """Keeps what the user is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, message: str) -> None:
        self.told.append(message)


def test_a_service_is_asked_by_this_process_which_is_told_once() -> None:
    progress, made = Notes(), []
    tasks = [
        Task(Service(), Drawing([text], [0]), lambda got: made.append(got) or 1) for text in "ab"
    ]
    with closing(RayEngine(ModelOptions(**ON_RAY))) as engine:
        assert engine.run(tasks, ShownWork(progress)) == len(made) == 2
    assert progress.told == ["fake:painter is a service, which this process asks: workers do not."]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--engine", "rey"], 2, "invalid --engine 'rey': give local, ray, ray:auto, or"),
        (["--engine", "rey"], 2, "Did you mean 'ray'?"),
        (["--engine", "ray://head:10001"], 2, "without //"),
        (["--engine", "ray:head"], 2, "ray:HOST:PORT"),
        (["--workers", "2"], 2, "--workers has no effect without --engine ray"),
        (["--engine", "local", "--gpus-per-worker", ".5"], 2, "--gpus-per-worker has no effect"),
        (["--engine", "ray", "--workers", "0"], 2, "--workers"),
    ],
)
def test_what_cannot_be_is_one_line(
    options: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*COMMAND, "-o", str(tmp_path / "run"), *options]) == code
    lines = capsys.readouterr().err.splitlines()
    assert said in " ".join(lines) and len(lines) == 1 and len(lines[0]) <= 400
    assert not (tmp_path / "run").exists()


def test_an_extra_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main([*COMMAND, "-o", str(tmp_path / "run"), "--engine", "ray"]) == 1
    assert "pip install 'biasgraph[ray]'" in capsys.readouterr().err


def test_a_cluster_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    process = _command(tmp_path, "--engine", "ray:127.0.0.1:9")
    error = process.communicate(timeout=120)[1]
    assert process.returncode == 1
    assert error.startswith("Error: cannot join the Ray at 127.0.0.1:9") and error.count("\n") == 1


def _command(directory: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    """The build as a program, with a group of processes of its own as a terminal would give it."""
    # Not by the environment: Ray's own programs warn on Python 3.12, and would not start.
    program = [sys.executable, "-W", "error", ROOT / "cli.py"]
    return subprocess.Popen(
        [*program, *COMMAND, "-o", directory / "run", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **environment},
    )


def _has_images(run: Path) -> bool:
    """Whether the ledger of a build at work has recorded any."""
    with suppress(sqlite3.Error):
        uri = f"{(run / 'ledger.sqlite').as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as ledger:
            return bool(ledger.execute("SELECT count(*) FROM images").fetchone()[0])
    return False


def _marked(mark: str) -> list[psutil.Process]:
    """The processes with a variable in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("MARK") == mark and process.status() != "zombie":
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.mark.slow(reason="stops real programs, whose moments depend on the machine's load")
@pytest.mark.skipif("CI" in os.environ, reason="its moments depend on the machine's load")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_build_leaves_nothing_and_goes_on(
    local: Path, tmp_path: Path, number: signal.Signals
) -> None:
    mark, shared = uuid4().hex, set(os.listdir(SHARED))
    process = _command(tmp_path, "--engine", "ray", "--workers", "2", MARK=mark)
    while not _has_images(tmp_path / "run") and process.poll() is None:
        time.sleep(0.01)
    (os.kill if number == signal.SIGKILL else os.killpg)(process.pid, number)
    said, error = process.communicate(timeout=60)
    assert process.returncode in (130, -number)
    stopped = "stopped; rerun the same command to resume\n"
    assert (said, error) == ("", "" if number == signal.SIGKILL else stopped)
    for _ in range(100):
        if not (left := _marked(mark)):
            break
        time.sleep(0.1)
    assert not left, error
    assert not [name for name in set(os.listdir(SHARED)) - shared if "plasma" in name]
    images, _ = recorded(tmp_path / "run")
    assert len(images) > 0
    assert main([*COMMAND, "-o", str(tmp_path / "run")]) == 0
    assert images.items() <= recorded(tmp_path / "run")[0].items()
    assert_equal(tmp_path / "run", local)


@pytest.mark.slow(reason="starts Ray")
def test_a_second_interrupt_while_ray_waits_is_one(cluster: None) -> None:
    import ray

    work = ShownWork(Quiet())
    work.requested = True
    before = signal.signal(signal.SIGALRM, work.hear)
    try:
        with closing(RayEngine(ModelOptions(**ON_RAY))) as engine:
            asleep = ray.remote(lambda: time.sleep(30)).remote()
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Interrupted, match="stopped at once"):
                for _ in range(10):
                    list(engine._land({asleep: None}, deque(), work))  # type: ignore[dict-item]
            ray.cancel(asleep, force=True)
    finally:
        signal.signal(signal.SIGALRM, before)
