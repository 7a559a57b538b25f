"""kill -9 at random moments of a small build on the fakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasgraph.runs.directory import read_run
from tests.build_fakes import main
from tests.kill_trials import Trial, kill_trials


def answers(directory: Path) -> bytes:
    run = read_run(directory)
    try:
        return run.answers("fake:judge").to_csv(index=False).encode()
    finally:
        run.close()


@pytest.mark.parametrize(
    ("count", "killed", "halfway"),
    [
        (8, 5, 1),
        pytest.param(20, 15, 3, marks=pytest.mark.slow(reason="more moments; eight stay")),
    ],
)
def test_kills_lose_nothing_and_repeat_nothing(
    tmp_path: Path, count: int, killed: int, halfway: int
) -> None:
    trials = kill_trials(
        main, lambda directory: [directory, 0.01], tmp_path, table=answers, trials=count
    )
    assert sum(trial.killed for trial in trials) >= killed
    assert sum(0 < len(trial.images) < 72 for trial in trials) >= halfway
    assert sum(0 < len(trial.answers) < 72 * 4 for trial in trials) >= halfway
    for trial in trials:
        assert_at_most_the_batch_in_flight_was_repeated(trial)


def assert_at_most_the_batch_in_flight_was_repeated(trial: Trial) -> None:
    home, name = trial.directory.parent, trial.directory.name
    undisturbed = (home / "undisturbed.generated").read_text().splitlines()
    generated = (home / f"{name}.generated").read_text().splitlines()
    repeated = [line for line in set(generated) if generated.count(line) > 1]
    assert len(repeated) <= 1
    assert list(dict.fromkeys(generated)) == undisturbed  # the very same batches, in order
    seeds = [seed for line in repeated for _, seed in json.loads(line)]
    assert not set(seeds) & {image[4] for image in trial.images.values()}

    undisturbed = (home / "undisturbed.judged").read_text().splitlines()
    judged = (home / f"{name}.judged").read_text().splitlines()
    assert list(dict.fromkeys(judged)) == undisturbed
    assert len(judged) <= len(undisturbed) + 1
