"""The protocols that models implement, and what travels through them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from biasgraph.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

    from biasgraph.models.continuations import Continuations
    from biasgraph.models.middle_activations import MiddleActivations
    from biasgraph.models.prompt_trace import PromptTrace
    from biasgraph.models.shared_latents import SharedLatents

Setting = str | int | float | bool | None


@dataclass(frozen=True)
class Question:
    """A multiple-choice question about an image.

    Attributes:
        text: The question in words, for judges that read.
        choices: The answers on offer; ``unknown`` is always on offer beside them.
        captions: For each choice a sentence that is true of an image showing it, for judges that
            match images to texts.
    """

    text: str
    choices: tuple[str, ...]
    captions: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.choices) < 2 or len(self.captions) != len(self.choices):
            raise ValueError("a question needs two choices or more, and a caption for each")


@dataclass(frozen=True)
class Answer:
    """A judge's answer.

    Attributes:
        choice: Index into the question's choices; None is ``unknown``.
        probabilities: One a choice, summing to one.
    """

    choice: int | None
    probabilities: tuple[float, ...]

    @property
    def confidence(self) -> float:
        """The probability of the likeliest choice, in (0, 1]."""
        return max(self.probabilities)


@dataclass(frozen=True)
class Picture:
    """An image as a generator gives it.

    Attributes:
        image: RGB pixels; plain black where a service gave none.
        withheld: Why a safety checker or a service kept the picture back; its pixels are not
            looked at then, and every answer about it is ``gated``.
        revised_prompt: What the prompt was rewritten to on the way, where that is told.
    """

    image: Image
    withheld: str | None = None
    revised_prompt: str | None = None


@dataclass(frozen=True)
class Message:
    """One turn of a conversation with a language model."""

    role: Literal["system", "user", "assistant"]
    text: str


class IdentifiedModel(Protocol):
    """What every model tells of itself."""

    @property
    def spec(self) -> str:
        """What the user typed, ``backend:name[@revision]``."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the weights do."""


class ConfiguredModel(IdentifiedModel, Protocol):
    """A model whose results also depend on how it is run."""

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What else decides the results: steps, guidance, scheduler, size of a generator."""


class BatchModel(ConfiguredModel, Protocol):
    """A model that works on many images."""

    @property
    def batch_size(self) -> int:
        """How many images to ask for, or about, at a time."""

    @property
    def seconds_per_image(self) -> float | None:
        """A rough pace for estimates, all questions together; None where it is not known."""


class ImageGenerator(BatchModel, Protocol):
    """Makes images from prompts.

    Image *n* depends on its prompt and seed, never on the batch it travelled in, up to rounding.
    """

    def check_prompts(self, prompts: Sequence[str]) -> None:
        """Raise InputError, naming the prompt and the count, if the encoder would cut one off."""

    def unseen_words(self, prompts: Sequence[str]) -> list[str]:
        """Words that the model is known never to have met; empty where that is not known."""

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        """One picture for each prompt, drawn with the seed of the same place."""


class VisualQA(BatchModel, Protocol):
    """Answers multiple-choice questions about images."""

    def answer(self, images: Sequence[Image], questions: Sequence[Question]) -> list[list[Answer]]:
        """``answers[i][q]`` is the answer about image ``i`` to question ``q``.

        An image is encoded once for all of its questions.
        """


@runtime_checkable
class Describer(Protocol):
    """A power that some judges have: answers in words of their own."""

    def describe(self, images: Sequence[Image], question: str) -> list[str]:
        """One text for each image: the answer to an open question, or a caption if it asks so."""


@runtime_checkable
class DifferentiableJudge(Protocol):
    """A power of judges that gradients can be traced through: their answers as tensors."""

    @property
    def spec(self) -> str:
        """What the user typed."""

    def log_probabilities(self, images: Any, questions: Sequence[Question]) -> list[Any]:
        """For each question an (n, choices) float64 tensor; its exponentials sum to one in a row.

        In float64, because the gradient of a sure answer is what 1 - p leaves.

        `images` is an (n, 3, h, w) tensor in [0, 1], and gradients reach it. The likeliest choice
        is that of :meth:`VisualQA.answer`, where that is not unknown.

        Raises InputError where the judge's own processing of pictures has no gradient.
        """


@runtime_checkable
class TraceableGenerator(Protocol):
    """A power of generators whose every step can be run again with gradients to the prompt."""

    def trace(self, prompts: Sequence[str], seeds: Sequence[int]) -> PromptTrace:
        """The images as :meth:`ImageGenerator.generate` makes them, with what made them.

        Raises InputError where the pipeline gives no gradients.
        """


@runtime_checkable
class ObservableGenerator(Protocol):
    """A power of generators whose denoiser can be watched at work."""

    def middle_activations(
        self, prompts: Sequence[str], seeds: Sequence[int], every: int | None = None
    ) -> MiddleActivations:
        """What the denoiser's middle gives on the way to the images of prompts and seeds.

        Args:
            prompts: One an image.
            seeds: One an image.
            every: Look at each so many-th step, the first one among them; None for about ten.

        Raises InputError where the pipeline has no such part.
        """

    def middle_at(
        self, prompts: Sequence[str], seeds: Sequence[int], step: int
    ) -> MiddleActivations:
        """The same at one step alone, from 0; what comes after it is not computed.

        Raises InputError where the pipeline has no such part or step.
        """

    def shared_latents(self, prompt: str, seeds: Sequence[int], step: int) -> SharedLatents:
        """The noisy latents of seeds, denoised to a step with one prompt, to try others on.

        Raises InputError where the pipeline has no such part or step, or cannot be followed so.
        """


@runtime_checkable
class AnnotatedJudge(Protocol):
    """A power of judges whose answers stand in a file, each by an annotator."""

    @property
    def annotators(self) -> int | None:
        """How many answered; None where that is not known."""

    @property
    def by_people(self) -> bool:
        """Whether any of them is a person."""

    @property
    def names(self) -> Sequence[str]:
        """What they are called, in order of appearance."""


@runtime_checkable
class Noting(Protocol):
    """A power of models that find something out at work which the results should be read with."""

    def notes(self) -> list[str]:
        """One sentence each, about all that was done in the run; loads nothing."""


@runtime_checkable
class Remote(Protocol):
    """A power of models behind a server: they say what they would ask of it."""

    def requests(self, *, images: int, questions: int) -> int:
        """About how many, to make `images`, or to answer `questions` about images in all."""


class Embedder(IdentifiedModel, Protocol):
    """Puts images and texts into one space."""

    def embed_images(self, images: Sequence[Image]) -> np.ndarray:
        """(n, d) float32 unit vectors."""

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        """(n, d) float32 unit vectors in the space of the images."""


class CannotContinue(ModelError):
    """A conversation too long for a language model, or of a form that it does not take."""


@runtime_checkable
class Telling(Protocol):
    """A power of language models that talk slowly: they say meanwhile how far they are."""

    def tell(self, hear: Callable[[str], object]) -> None:
        """Call `hear` with a line now and then while replying."""


@runtime_checkable
class YesNo(Protocol):
    """A power of language models that show the scores of what they might say next."""

    def yes_probability(self, messages: Sequence[Message]) -> float:
        """How probable "yes" is as the next turn, "yes" and "no" together being 1."""


@runtime_checkable
class NextTokens(Protocol):
    """A power of language models that show the probabilities of all that they might say next."""

    def continuations(self, messages: Sequence[Message], opening: str) -> Continuations:
        """Texts that reply to a conversation and begin with an opening, one at first.

        Args:
            messages: The conversation so far; empty for a text that replies to nothing.
            opening: What the reply begins with; may be empty.

        Raises InputError where the opening does not fit, or no token ends a text.
        """

    def log_probabilities(self, texts: Sequence[str]) -> list[tuple[float, int]]:
        """Of each text the sum of its tokens' natural log-probabilities, and how many they are.

        The first token counts if one that begins texts, or else the end token, can stand before
        it; a token that ends the text does not.
        """


class LanguageModel(ConfiguredModel, Protocol):
    """Continues a conversation.

    One that gives back what it said before may have a method `forget`, with the parameters of
    `reply`: it drops the replies to a conversation, so that they are made anew.
    """

    def reply(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> str:
        """The next turn, as text.

        Args:
            messages: The conversation so far.
            schema: A JSON schema that the reply should keep to, as far as the model can be held
                to it; `biasgraph.models.json_chat` checks whether it did.
        """
