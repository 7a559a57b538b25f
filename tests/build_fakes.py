"""A small build on the fakes as a program: python -m tests.build_fakes DIRECTORY [SECONDS].

Every batch that a model has finished is a line of DIRECTORY.generated or DIRECTORY.judged.
"""

from __future__ import annotations

import sys
from pathlib import Path

from biasgraph.runs.directory import open_run
from biasgraph.runs.local_engine import ask, declare, generate
from biasgraph.runs.progress import Interrupted
from tests.fake_models import GATE, QUESTIONS, TARGETS, FakeGenerator, FakeJudge, plan_of


def main(directory: Path, seconds: float) -> None:
    name = directory.name
    generator = FakeGenerator(log=directory.with_name(f"{name}.generated"), seconds=seconds)
    judge = FakeJudge(log=directory.with_name(f"{name}.judged"), seconds=seconds)
    with open_run(directory, generator=generator, judges=[judge], seed=0) as run:
        declare(run, judge, QUESTIONS, GATE)
        run.request([plan_of("a nurse"), plan_of("a cook")], images=4, targets=TARGETS, settings={})
        generate(run, generator)
        ask(run, judge, QUESTIONS, GATE, generator=generator)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), float(sys.argv[2]))
    except Interrupted as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
