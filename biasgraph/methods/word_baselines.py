"""What gradients are held against (GradBias sec. 4.2.2): chance, the sentence's tree, and asking.

Each baseline gives every word a score, of which the order alone counts: words with equal scores may
stand in any order (`biasgraph.causal.word_accuracy`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, cast

import numpy as np

from biasgraph.causal.tables import Floats
from biasgraph.causal.word_accuracy import RankedPair
from biasgraph.data.word_influence import WordInfluence
from biasgraph.errors import InputError, printable
from biasgraph.models.base import Describer, Message, Question, YesNo
from biasgraph.prompts.instructions import instruction
from biasgraph.prompts.prompt_words import PromptWord
from biasgraph.prompts.word_tree import tree_order

if TYPE_CHECKING:
    from biasgraph.models.base import LanguageModel, VisualQA
    from biasgraph.prompts.subject import Subject

PARAPHRASES = 4
YES, NO = "yes", "no"


@dataclass(frozen=True)
class BaselineScores:
    """What a baseline makes of the words of one prompt.

    Attributes:
        name: "random", "tree", "language model" or "judge".
        scores: One a word; the larger, the earlier it stands.
        source: What gave them.
    """

    name: str
    scores: tuple[float, ...]
    source: str


def random_scores(words: Sequence[PromptWord]) -> BaselineScores:
    """No word before another: what a random order gives on average, not one that was drawn."""
    return BaselineScores("random", (0.0,) * len(words), "the mean over all orders")


def tree_scores(
    prompt: str, words: Sequence[PromptWord], subject: Subject | None = None
) -> BaselineScores:
    """Breadth first from the subject; arguments and errors are those of `tree_order`."""
    order = tree_order(prompt, words, subject)
    return BaselineScores("tree", tuple(-float(place) for place in order.places), order.source)


def language_model_scores(
    model: LanguageModel,
    prompt: str,
    words: Sequence[PromptWord],
    bias: str,
    kept: Callable[[Sequence[str]], Sequence[float]] | None = None,
) -> BaselineScores:
    """How probable "yes" is when a language model is asked about each word.

    Args:
        model: One with the power `YesNo`.
        prompt: Without brackets.
        words: Those to rank.
        bias: The axis's name, as the questions say it.
        kept: Gives the probabilities of "yes" to texts where the model is not to be asked twice.

    Raises:
        InputError: The model lacks the power.
        ModelError: It does not load or cannot hold the question.
    """
    asked = require_yes_no(model)
    answer = instruction("gradbias", "answer")
    texts = [text for word in words for text in questions(prompt, word, bias, answer)]
    if kept is None:
        shares = [asked.yes_probability([Message("user", text)]) for text in texts]
    else:
        shares = [*kept(texts)]
    return BaselineScores("language model", _over_paraphrases(shares), model.spec)


def judge_questions(prompt: str, words: Sequence[PromptWord], bias: str) -> list[Question]:
    """What a judge is asked beside each image, word by word."""
    return [
        Question(text, (YES, NO), (YES, NO))
        for word in words
        for text in questions(prompt, word, bias)
    ]


def answered_scores(judge: VisualQA, shares: Sequence[Sequence[float]]) -> BaselineScores:
    """What a judge's answers to `judge_questions` come to.

    Args:
        judge: Who answered.
        shares: Of each image, how probable "yes" is to each question; at least one image.
    """
    means = [fmean(of_question) for of_question in zip(*shares, strict=True)]
    return BaselineScores("judge", _over_paraphrases(means), judge.spec)


def _over_paraphrases(shares: Sequence[float]) -> tuple[float, ...]:
    """One number a word, of one for each wording of its question."""
    return tuple(
        fmean(shares[start : start + PARAPHRASES]) for start in range(0, len(shares), PARAPHRASES)
    )


def shared_words(
    truth: WordInfluence, others: Iterable[WordInfluence] = ()
) -> tuple[PromptWord, ...]:
    """The words of a prompt that the truth and every other way of ranking have a rank for."""
    ranked = [{(word.start, word.end) for word in one.ranked} for one in (truth, *others)]
    return tuple(
        PromptWord(word.word, word.start, word.end)
        for word in truth.words
        if all((word.start, word.end) in places for places in ranked)
    )


def ranked_pair(
    words: Sequence[PromptWord],
    truth: WordInfluence,
    others: Mapping[str, WordInfluence],
    baselines: Iterable[BaselineScores] = (),
    *,
    within_chance: bool = False,
) -> RankedPair:
    """One prompt along one axis, to be counted by `accuracy_rows`.

    Args:
        words: Of `shared_words`; at least one.
        truth: By removal.
        others: Of the same prompt and axis, by the name of what is held against the truth.
        baselines: Their scores are of `words`.
        within_chance: Count as first, beside the words of the largest score, those that cannot be
            told from the truth's first.
    """
    true = {word.start: word for word in truth.ranked}
    predicted = {name: _scores(words, one) for name, one in others.items()}
    predicted |= {one.name: np.array(one.scores) for one in baselines}
    tied = [true[word.start].tied for word in words] if within_chance else []
    return RankedPair(truth.prompt, _scores(words, truth), predicted, tied)


def _scores(words: Sequence[PromptWord], influence: WordInfluence) -> Floats:
    scores = {word.start: word.score for word in influence.ranked}
    return np.array([scores[word.start] for word in words], dtype=np.float64)


def questions(prompt: str, word: PromptWord, bias: str, answer: str = "") -> Iterator[str]:
    """The paraphrases of one question about a word; `answer` says behind each how to reply."""
    for number in range(1, PARAPHRASES + 1):
        text = instruction(
            "gradbias", f"question_{number}", word=word.text, bias=bias, prompt=prompt
        )
        yield f"{text} {answer}".strip()


def require_yes_no(model: LanguageModel) -> YesNo:
    """The model, as one that shows the probability of its next word. Raises InputError."""
    if not isinstance(model, YesNo):
        raise InputError(
            f"--llm '{printable(model.spec)}' does not show how probable its 'yes' is, so it "
            "cannot be asked about words: lm:NAME does"
        )
    return cast("YesNo", model)


def require_reader(judge: VisualQA, option: str = "--vqa") -> None:
    """Raise InputError for a judge that cannot read a question about a word."""
    if not isinstance(judge, Describer):
        raise InputError(
            f"{option} '{printable(judge.spec)}' knows only the captions of its axes and reads no "
            "questions, so it cannot be asked about words: vlm:NAME and openai:NAME do"
        )
