"""Seeded cases: which input is broken how, and what is done with it."""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzzing import sound_inputs
from tests.fuzzing.api_calls import API
from tests.fuzzing.kinds import KINDS, Kind, fill
from tests.fuzzing.mutations import Random, break_ledger, break_path
from tests.fuzzing.trial import Outcome, attempt, clean
from tests.fuzzing.warming import compute_in_one_thread, warm_up


@dataclass(frozen=True)
class Case:
    """One case, which its kind, seed and number give again."""

    kind: Kind
    seed: int
    number: int

    @property
    def random(self) -> Random:
        """The same for the same case."""
        return random.Random(f"{self.seed} {self.kind.name} {self.number}")

    @property
    def name(self) -> str:
        """How `python -m tests.fuzzing --case` is told it."""
        return f"{self.kind.name}/{self.seed}/{self.number}"


@dataclass
class Counts:
    """What became of the cases of each kind."""

    cases: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[Case, tuple[str, ...], Outcome]] = field(default_factory=list)
    seconds: Counter[str] = field(default_factory=Counter)
    peak: int = 0
    widest: int = 0
    longest: float = 0.0

    def add(self, case: Case, command: tuple[str, ...], outcome: Outcome) -> None:
        """Count a case."""
        name = case.kind.name
        self.cases[name] += 1
        self.refused[name] += outcome.code not in (0, 3)
        self.seconds[name] += outcome.computed  # type: ignore[assignment]
        self.peak = max(self.peak, outcome.peak)
        self.widest = max(self.widest, outcome.widest)
        self.longest = max(self.longest, outcome.seconds)
        if outcome.failure:
            self.failures.append((case, command, outcome))

    @property
    def extremes(self) -> str:
        """The most memory and time that a case took, and the longest line of its errors."""
        return (
            f"peak memory {self.peak / 1e6:,.0f} MB, longest case {self.longest:.0f} s, "
            f"longest line {self.widest} characters"
        )

    def lines(self) -> Iterator[str]:
        """A table by kind, the same failures together below."""
        failed = Counter(case.kind.name for case, _, _ in self.failures)
        yield f"{'kind':28} {'cases':>6} {'refused':>8} {'failed':>7} {'ms each':>8}"
        for name, cases in self.cases.items():
            each = 1000 * self.seconds[name] / cases
            yield f"{name:28} {cases:6} {self.refused[name]:8} {failed[name]:7} {each:8.0f}"
        cases, seconds = self.cases.total(), self.seconds.total()
        yield (
            f"{'all':28} {cases:6} {self.refused.total():8} {len(self.failures):7} "
            f"{1000 * seconds / max(1, cases):8.0f}"
        )
        yield self.extremes
        seen: dict[tuple[str, str], list[str]] = {}
        for case, command, outcome in self.failures:
            key = (outcome.failure, outcome.detail)
            seen.setdefault(key, []).append(f"{case.name}: {' '.join(command)[:100]!r}")
        for (failure, detail), names in sorted(seen.items(), key=lambda one: -len(one[1])):
            yield f"{len(names)} x {failure}: {detail[:300]!r}; {names[0]}"


def planned(count: int, seed: int, only: Sequence[str] = ()) -> list[Case]:
    """`count` cases, of each kind as many as its weight says and at least one, mixed."""
    kinds = [kind for kind in KINDS if not only or kind.name in only]
    whole = sum(kind.weight for kind in kinds)
    shares = {kind.name: max(1, round(count * kind.weight / whole)) for kind in kinds}
    cases = [Case(kind, seed, number) for kind in kinds for number in range(shares[kind.name])]
    random.Random(seed).shuffle(cases)  # a campaign that is cut short has tried all kinds
    return cases


@contextmanager
def inputs() -> Iterator[Path]:
    """A folder with the sound inputs, in a folder of its own for what the cases leave."""
    with tempfile.TemporaryDirectory(prefix="biasgraph-fuzz-") as root:
        sound = Path(root, "sound")
        log = Path(root, "log")
        sound.mkdir()
        warm_up(Path(root, "cache"))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for stream in (1, 2):
                    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
                os.chdir(sound)
                compute_in_one_thread()
                sound_inputs.make(sound)
                code = 0
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        assert status == 0, log.read_text("utf-8", "replace")
        yield sound


def carry_out(case: Case, sound: Path, *, keep: bool = False) -> tuple[tuple[str, ...], Outcome]:
    """Break the input of a case and run its command; returns both."""
    rng = case.random
    command = rng.choice(case.kind.commands)
    folder = _copied(sound, (*command, case.kind.files))
    writes: tuple[str, ...] = tuple(name for name in case.kind.writes if writes_to(command, name))
    if case.kind.files:
        instead = rng.random() < case.kind.replaced
        places = sorted(folder.glob(case.kind.files))
        path = rng.choice([place for place in places if instead or place.is_file()])
        if instead:
            break_path(path, rng)
        else:
            raw = path.read_bytes()
            breaks = case.kind.breaks
            changed = breaks(raw, rng) if breaks else break_ledger(raw, rng, folder / "tmp")
            path.unlink()  # it may be linked to the sound one
            path.write_bytes(changed)
    else:
        command = fill(command, rng)
    outcome = attempt(command, folder, writes)
    if not keep:
        clean(folder)
    return command, outcome


def sound_commands() -> list[tuple[Kind, tuple[str, ...]]]:
    """Every command that reads a file, with what it may write."""
    return [(kind, command) for kind in KINDS if kind.files for command in kind.commands]


def attempt_sound(kind: Kind, command: tuple[str, ...], sound: Path) -> Outcome:
    """What a command makes of the inputs as they are."""
    folder = _copied(sound, (*command, kind.files))
    return attempt(command, folder, [name for name in kind.writes if writes_to(command, name)])


def _copied(sound: Path, named: Sequence[str]) -> Path:
    """A copy of the inputs, of their folders only those that something names."""
    folder = sound.with_name("case")
    clean(folder)
    folder.mkdir()
    whole = "." in named
    for place in sound.iterdir():
        if not place.is_dir():
            _copy(str(place), str(folder / place.name))
        elif whole or any(place.name in part or part[:1] == "*" for part in named):
            shutil.copytree(place, folder / place.name, copy_function=_copy)
    for name in ("out", "tmp"):
        (folder / name).mkdir()
    return folder


def writes_to(command: Sequence[str], name: str) -> bool:
    """Whether a command may write to a place: what changes a run, or what its -o names."""
    if command[0] in ("annotate", "build"):
        return "--dry-run" not in command and name in command
    if command[0] in ("search", "mine", "words"):
        return name in command
    if "-o" not in command:
        return command[0] not in ("show", "list", "view", API)
    return any(part.startswith(name) for part in command[command.index("-o") + 1 :])


def _copy(source: str, target: str) -> None:
    """Pictures and weights are linked: nothing writes into a file of theirs."""
    if source.endswith((".png", ".safetensors")):
        os.link(source, target)
    else:
        shutil.copy2(source, target)


def run(cases: Sequence[Case], *, progress: bool = False) -> Counts:
    """Carry out all cases, one after the other."""
    counts = Counts()
    started = time.monotonic()
    with inputs() as sound:
        for number, case in enumerate(cases, start=1):
            command, outcome = carry_out(case, sound)
            counts.add(case, command, outcome)
            if progress and outcome.failure:
                print(case.name, ascii(command), ascii(outcome), file=sys.stderr, flush=True)
            if progress and number % 100 == 0:
                said = f"{number} of {len(cases)}, {len(counts.failures)} failed"
                print(f"{said}, {time.monotonic() - started:.0f} s, {counts.extremes}", flush=True)
    return counts


def carry_out_planned(count: int, seed: int, only: Sequence[str] = (), done: int = 0) -> int:
    """Carry out `count` cases but for the first `done`, and print the counts; 1 if one failed."""
    started = time.monotonic()
    counts = run(planned(count, seed, only)[done:], progress=True)
    print("\n".join(counts.lines()).encode("ascii", "backslashreplace").decode())
    print(f"{time.monotonic() - started:.1f} s")
    return int(bool(counts.failures))


def carry_out_sound() -> int:
    """Carry out every command on the inputs as they are; returns 1 where one is refused."""
    bad = 0
    with inputs() as sound:
        for kind, command in sound_commands():
            outcome = attempt_sound(kind, command, sound)
            if outcome.failure or outcome.code != 0:
                bad = 1
                said = sound.with_name("stderr").read_text("utf-8", "replace")
                print(kind.name, " ".join(command), outcome, said[-300:], sep="\n  ")
    return bad


def carry_out_one(name: str) -> int:
    """Carry out the case of this name and print all that it says; returns 1 where it failed."""
    kind, seed, number = name.rsplit("/", 2)
    chosen = next(one for one in KINDS if one.name == kind)
    with inputs() as sound:
        command, outcome = carry_out(Case(chosen, int(seed), int(number)), sound, keep=True)
        print(ascii(command), ascii(outcome), sep="\n")
        for stream in ("stdout", "stderr", "writes"):
            text = sound.with_name(stream).read_bytes().decode("utf-8", "backslashreplace")
            print(f"--- {stream}", ascii(text[-6_000:]).replace("\\n", "\n"), sep="\n")
        for path in sorted(sound.glob(chosen.files)) if chosen.files else []:
            changed = sound.with_name("case") / path.relative_to(sound)
            if changed.is_file() and changed.read_bytes() != path.read_bytes():
                print(f"--- {path.name}", ascii(changed.read_bytes()[:3_000]), sep="\n")
    return int(bool(outcome.failure))
