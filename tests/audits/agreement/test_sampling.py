"""Which pictures people are asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from biasgraph.audits.agreement.sampling import sample
from biasgraph.runs.directory import open_run, read_run
from biasgraph.runs.local_engine import ask, generate
from tests.fake_models import GATE, QUESTIONS, TARGETS, FakeGenerator, FakeJudge, Prompt, plan_of

CONTROLS = [Prompt("a certain nurse", "control"), Prompt("a nurse who is here", "control")]


def sampled(directory: Path, number: int, controls: Sequence[Prompt] = ()) -> list[str]:
    """What the prompts of the pictures say."""
    generator, judge = FakeGenerator(), FakeJudge()
    with open_run(directory, generator=generator, judges=[judge], seed=0) as run:
        plan = [*plan_of("a nurse"), *controls]
        run.request([plan], images=4, targets=TARGETS, settings={})
        generate(run, generator)
        ask(run, judge, QUESTIONS, GATE, generator=generator)
    with closing(read_run(directory)) as run:
        return [image.text for image in sample(run, judge.spec, number, seed=0)]


def test_controls_are_one_set_among_the_others(tmp_path: Path) -> None:
    plain = sampled(tmp_path / "plain", 18)
    assert Counter(plain) == {prompt.text: 2 for prompt in plan_of("a nurse")}
    texts = sampled(tmp_path / "run", 20, CONTROLS)
    own = {control.text for control in CONTROLS}
    assert sum(text in own for text in texts) == 2
    assert Counter(text for text in texts if text not in own) == Counter(plain)
