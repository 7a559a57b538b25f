"""Judges that read and see: ``vlm:NAME``, any image-text-to-text model of transformers.

A question is put as multiple choice with lettered options (`multiple_choice`), and the model's
probabilities of the letters as its next token are the answer; nothing is generated, and no prose is
parsed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

from biasgraph.errors import ModelError, printable
from biasgraph.models.base import Answer, Question, Setting
from biasgraph.models.devices import Portions
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.models.library_loading import (
    explain_loading_errors,
    explain_working_errors,
    silence_libraries,
)
from biasgraph.models.multiple_choice import (
    LETTERS,
    PERMUTATIONS,
    WORDING,
    LetteredQuestion,
    combine_shares,
    letter_question,
)
from biasgraph.models.transformers_model import TransformersModel, locate, whole_tokens
from biasgraph.models.vlm_gradients import DifferentiableReader
from biasgraph.models.vlm_prompts import Prompter, load_processor
from biasgraph.models.vlm_scoring import Prompts, Scorer

if TYPE_CHECKING:
    from PIL.Image import Image

BATCH = 16
LONGEST_DESCRIPTION = 128  # tokens


def judge(spec: Spec, options: ModelOptions) -> VlmJudge:
    """``vlm:NAME[@revision]`` of the hub, or ``vlm:FOLDER`` that ``save_pretrained`` wrote.

    Raises:
        InputError: No name, no such folder, no such device.
    """
    return VlmJudge(
        *locate(spec, options),
        batch_size=options.judge_batch_size or BATCH,
        permutations=options.permutations or PERMUTATIONS,
        unknown_below=options.unknown_below or 0.0,
    )


@dataclass(frozen=True)
class VlmJudge(TransformersModel):
    """Chooses by the probabilities of the options' letters; describes in words of its own.

    Attributes:
        permutations: Orders of the options that are averaged, at most.
        unknown_below: The answer is unknown where the likeliest choice has a lower probability,
            and where unknown, which is always among the options, is likeliest.
    """

    batch_size: int = BATCH
    permutations: int = PERMUTATIONS
    unknown_below: float = 0.0
    seconds_per_image: float | None = None

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What else decides the results, as a run records it."""
        return {
            "permutations": self.permutations,
            "unknown_below": self.unknown_below,
            "wording": WORDING,
            "dtype": self.dtype,
        }

    def answer(self, images: Sequence[Image], questions: Sequence[Question]) -> list[list[Answer]]:
        """``answers[i][q]``; an image is encoded once for all orders of all questions.

        Raises:
            ModelError: The model cannot be loaded or does not answer in letters, an image that it
                cannot look at, or memory that does not suffice for one image.
        """
        asked = [letter_question(question, self.permutations) for question in questions]
        prompts = self._prompts(tuple(sheet.text for some in asked for sheet in some))
        return self._portions.run(
            images, lambda some: self._answer_portion(some, questions, asked, prompts)
        )

    def log_probabilities(self, images: Any, questions: Sequence[Question]) -> list[Any]:
        """For each question (n, choices), with gradients to (n, 3, h, w) images in [0, 1].

        Letters of all orders are averaged as in `answer`; unknown is set aside.

        Raises:
            InputError: What the image processor does has no gradient.
            ModelError: As `answer`.
        """
        import torch

        asked = [letter_question(question, self.permutations) for question in questions]
        letter_ids = self._letter_ids(max(len(some[0].letters) for some in asked))
        read = self._reader(tuple(images.shape[-2:]))
        logs = []
        for question, sheets in zip(questions, asked, strict=True):
            means = torch.zeros(len(images), len(question.choices), dtype=torch.float64)
            for sheet in sheets:
                with explain_working_errors(self.spec):
                    scores = read(images, self._prompter.prompt(sheet.text))
                logits = _log_shares(letter_ids[: len(sheet.letters)], scores)
                shares = torch.softmax(logits.double().cpu(), -1)
                for place, choice in enumerate(sheet.order):
                    if choice is not None:
                        means[:, choice] += shares[:, place] / len(sheets)
            logs.append(torch.log(means / means.sum(dim=1, keepdim=True)))
        return logs

    def describe(self, images: Sequence[Image], question: str) -> list[str]:
        """One text for each image, the likeliest token each time. Raises as :meth:`answer`."""
        prompt, longest = self._prompter.prompt(question), LONGEST_DESCRIPTION
        texts = self._portions.run(images, lambda some: self._scorer.write(some, prompt, longest))
        return [text.strip() for text in texts]

    def _answer_portion(
        self,
        images: Sequence[Image],
        questions: Sequence[Question],
        asked: Sequence[Sequence[LetteredQuestion]],
        prompts: Prompts,
    ) -> list[list[Answer]]:
        count = max(len(sheet.letters) for some in asked for sheet in some)
        pick = partial(_log_shares, self._letter_ids(count))
        table = self._scorer.scores(images, prompts, self._portions.size, pick)
        answers: list[list[Answer]] = [[] for _ in images]
        for row, rows in zip(answers, map(iter, table.tolist()), strict=True):
            for question, sheets in zip(questions, asked, strict=True):
                shares = [_shares(next(rows)[: len(sheet.letters)]) for sheet in sheets]
                row.append(combine_shares(question, sheets, shares, self.unknown_below))
        return answers

    @cached_property
    def _prompts(self) -> Callable[[tuple[str, ...]], Prompts]:
        """Makes prompts that hold some texts; those of the last call are kept."""
        return lru_cache(maxsize=1)(partial(Prompts.of, self._prompter))

    def _letter_ids(self, count: int) -> list[list[int]]:
        """The tokens that say each letter, with and without a space before it."""
        ids = [whole_tokens(self._prompter.tokenizer, letter) for letter in LETTERS[:count]]
        if not all(ids) or len({token for some in ids for token in some}) < sum(map(len, ids)):
            raise ModelError(
                f"{printable(self.spec)} lacks a single token for each of the letters A to "
                f"{LETTERS[count - 1]}, so it cannot answer by letter"
            )
        return ids

    @cached_property
    def _portions(self) -> Portions:
        return Portions("images", size=self.batch_size, limit=self.batch_size)

    @cached_property
    def _prompter(self) -> Prompter:
        with explain_loading_errors(self.spec), silence_libraries():
            self._class  # noqa: B018  (raises for a model of another kind)
            folder = self.source.folder()
            processor = load_processor(folder, trust_remote_code=self.source.trust_remote_code)
            return Prompter(self.spec, processor)

    @cached_property
    def _scorer(self) -> Scorer:
        return Scorer(self._load_weights(self._class), self._prompter, self.dtype)

    @cached_property
    def _reader(self) -> Callable[[tuple[int, int]], DifferentiableReader]:
        """Reads pictures of a size with gradients; the one of the last size is kept."""
        return lru_cache(maxsize=1)(
            lambda size: DifferentiableReader(self._scorer, size, self.spec)
        )

    @cached_property
    def _class(self) -> str:
        return self._loader("AutoModelForImageTextToText", wanted="a vision-language model")


def _log_shares(letters: Sequence[Sequence[int]], scores: Any) -> Any:
    """Log-probabilities of letters.

    Args:
        letters: The tokens that say each.
        scores: (rows, vocabulary).

    Returns:
        (rows, letters).
    """
    import torch

    logs = torch.log_softmax(scores, dim=-1)
    said = [torch.logsumexp(logs[:, list(tokens)], dim=-1) for tokens in letters]
    return torch.stack(said, dim=-1)


def _shares(logs: Sequence[float]) -> list[float]:
    highest = max(logs)
    return [math.exp(log - highest) for log in logs]
