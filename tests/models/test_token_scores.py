"""What each token of a prompt contributes to a judge's answer."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.models.base import DifferentiableJudge, TraceableGenerator
from biasgraph.models.registry import load_generator, load_judge
from biasgraph.models.token_scores import (
    LIKELIEST,
    RANDOM,
    RELEASED,
    SCORES,
    TokenScores,
    examined_steps,
    score_tokens,
)
from biasgraph.runs.questions import questions_about

PROMPTS = ["a librarian holding a bouquet", "a nurse at night"]
AXES = load_axis_set("occupation").only(["gender", "disability"])
QUESTIONS = {about.axis: about.questions for about in questions_about(AXES)[1]}


def models() -> tuple[TraceableGenerator, DifferentiableJudge]:
    return (
        cast("TraceableGenerator", load_generator("sandbox:stereotyped")),
        cast("DifferentiableJudge", load_judge("sandbox")),
    )


def scored(prompts: list[str], seeds: list[int], **how: Any) -> list[Any]:
    generator, judge = models()
    return score_tokens(generator.trace(prompts, seeds), judge, QUESTIONS, **how)


@pytest.mark.parametrize(
    ("steps", "every", "examined"),
    [(10, 1, list(range(10))), (10, 2, [1, 3, 5, 7, 9]), (10, 3, [2, 5, 8]), (5, 50, [4])],
)
def test_examined_steps_end_each_stretch(steps: int, every: int, examined: list[int]) -> None:
    assert examined_steps(steps, every) == examined


def test_every_token_has_a_score_in_every_reading() -> None:
    found = scored(PROMPTS, [3, 4], every=5)
    for prompt, own in zip(PROMPTS, found, strict=True):
        assert own.keys() == {"gender", "disability"}
        for by in own.values():
            assert by.keys() == {LIKELIEST, RANDOM}
            for one in by.values():
                assert one.scores.keys() == SCORES.keys() - {RELEASED}
                (spans,) = one.spans.values()
                assert [prompt[start:end] for start, end in spans] == prompt.split()
                for values in one.scores.values():
                    (tokens,) = values.values()
                    assert len(tokens) == len(spans) and min(tokens) >= 0 < max(tokens)
                assert TokenScores.of_record(one.record()) == one


def test_l1_is_the_sum_of_absolute_derivatives_of_the_cross_entropy() -> None:
    import torch

    generator, judge = models()
    trace = generator.trace(PROMPTS[:1], [3])
    with torch.no_grad():
        final = judge.log_probabilities(trace.images, QUESTIONS["gender"])[0].argmax(dim=1)
    logs = judge.log_probabilities(trace.predict(trace.steps - 1), QUESTIONS["gender"])[0]
    loss = torch.nn.functional.cross_entropy(logs, final, reduction="none")
    ((gradient, embedding),) = trace.gradients([loss])[0][0]
    (own,) = score_tokens(trace, judge, {"gender": QUESTIONS["gender"]}, every=50)
    values = own["gender"][LIKELIEST].scores
    assert np.allclose(values["l1"]["text_encoder"], gradient.abs().sum(dim=1), rtol=1e-4)
    products = (gradient * embedding).sum(dim=1).abs()
    assert np.allclose(values["input-times-gradient"]["text_encoder"], products, rtol=1e-3)


@pytest.mark.slow(reason="gradients of several batches")
def test_an_image_does_not_depend_on_those_beside_it() -> None:
    together, alone = scored(PROMPTS, [3, 4], every=5), scored(PROMPTS[1:], [4], every=5)
    for kind in (LIKELIEST, RANDOM):
        one = together[1]["gender"][kind].scores["l1"]["text_encoder"]
        other = alone[0]["gender"][kind].scores["l1"]["text_encoder"]
        assert np.allclose(one, other, rtol=0.01)


def test_the_authors_reading_stands_alone() -> None:
    (own,) = scored(PROMPTS[:1], [3], every=5, released=True)
    assert own["gender"][LIKELIEST].scores.keys() == {RELEASED}
    assert max(own["gender"][LIKELIEST].scores[RELEASED]["text_encoder"]) > 0


@pytest.mark.slow(reason="gradients of several batches")
def test_of_two_answers_the_other_needs_no_second_way_back() -> None:
    import torch

    generator, judge = models()
    trace = generator.trace(PROMPTS[:1] * 6, [3, 4, 5, 6, 7, 8])
    question = {"gender": QUESTIONS["gender"]}
    with torch.no_grad():
        final = judge.log_probabilities(trace.images, question["gender"])[0].argmax(dim=1)
    found = score_tokens(trace, judge, question, every=5)
    sums = [0.0] * 6
    for step in examined_steps(trace.steps, 5):
        logs = judge.log_probabilities(trace.predict(step), question["gender"])[0]
        loss = torch.nn.functional.cross_entropy(logs, 1 - final, reduction="none")
        for place, ((gradient, _),) in enumerate(trace.gradients([loss])[0]):
            sums[place] += float(gradient.abs().sum()) / 2
    drawn = [one["gender"][RANDOM].scores["l1"]["text_encoder"] for one in found]
    likeliest = [one["gender"][LIKELIEST].scores["l1"]["text_encoder"] for one in found]
    for own, same, other in zip(drawn, likeliest, sums, strict=True):
        assert own == same or sum(own) == pytest.approx(other, rel=1e-3)
    assert any(own != same for own, same in zip(drawn, likeliest, strict=True))
