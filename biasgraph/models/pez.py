"""Prompts written by gradients: new tokens behind an opening, towards an attribute (PEZ).

As BGPS has it for a baseline (app. B; Wen et al., 2023): k new embeddings are learned. In each
iteration they are projected to the nearest ones of the vocabulary and spliced into what the first
text encoder reads; the denoiser looks once at each shared latent, and the loss is the probes' cross
entropy towards the targets. Its gradient is taken at the projection and moves the learned
embeddings. The best projection is read as text and looked at once more, as any prompt is.

Where a pipeline has several text encoders, the gradient goes through the first one alone; the
others read the projection as text.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgraph.errors import InputError, printable
from biasgraph.models.library_loading import silence_libraries
from biasgraph.models.prompt_trace import encoders_of, freeze, tokenizer_of, working

if TYPE_CHECKING:
    from biasgraph.models.middle_activations import ObservedPipeline
    from biasgraph.models.probe import Probe
    from biasgraph.models.shared_latents import SharedLatents

RATE = 0.1
DECAY = 0.1
"""Of AdamW, as PEZ has them."""


@dataclass(frozen=True)
class HardPrompt:
    """A prompt that was written by gradients.

    Attributes:
        text: Opening and new words.
        probabilities: Of each axis the target's probability of this text, the mean over latents;
            of the plain text, whose tokens may be others than those that were found.
        losses: In each iteration the cross entropy of the projection, summed over axes, the mean
            over latents, in nats.
        passes: How many rows went through the denoiser, without those that made the latents.
    """

    text: str
    probabilities: Mapping[str, float]
    losses: tuple[float, ...]
    passes: int

    @property
    def probability(self) -> float:
        """The product over axes, in [0, 1]."""
        return math.prod(self.probabilities.values())


def write_hard_prompt(
    shared: SharedLatents,
    opening: str,
    targets: Sequence[tuple[Probe, str]],
    *,
    tokens: int = 5,
    iterations: int = 100,
    seed: int = 0,
) -> HardPrompt:
    """Find new tokens behind an opening that raise targets' probabilities (app. B).

    Args:
        shared: The latents, at a step that the probes have a head for.
        opening: Stays as it is.
        targets: Probes of several axes, and the attribute of each.
        tokens: k, how many are new.
        iterations: Of the optimiser.
        seed: Draws the tokens that it starts from.

    Raises:
        InputError: A target is none of a probe's attributes, or the pipeline has no text encoder
            whose tokens could be exchanged, or no room for so many.
        ModelError: It fails.
    """
    import torch

    aims = [(probe, _place(probe, attribute)) for probe, attribute in targets]
    with silence_libraries():
        vocabulary = _Vocabulary.of(shared.observed, opening, tokens)
    before = shared.passes
    looked: dict[tuple[int, ...], tuple[float, Any]] = {}  # the same projection, the same gradient
    chance = torch.Generator().manual_seed(seed)
    start = torch.randint(len(vocabulary.words), (tokens,), generator=chance)
    learned = vocabulary.vectors[start].clone().requires_grad_(True)
    optimizer = torch.optim.AdamW([learned], lr=RATE, weight_decay=DECAY)
    tried = []
    for _ in range(iterations):
        rows = vocabulary.nearest(learned.detach())
        key = tuple(rows.tolist())
        if key not in looked:
            looked[key] = _look(shared, vocabulary, aims, rows)
        learned.grad = looked[key][1].clone()
        tried.append(key)
        optimizer.step()
    losses = tuple(looked[key][0] for key in tried)
    text = vocabulary.text(tried[losses.index(min(losses))])
    seen = shared.activations([(shared.encode([text])[0], k) for k in range(len(shared.seeds))])
    found = {
        probe.axis: float(probe.probabilities(seen, shared.step)[:, place].mean())
        for probe, place in aims
    }
    return HardPrompt(text, found, losses, shared.passes - before)


def cross_entropy(logits: Any, place: int) -> Any:
    """The mean over (n, k) logits of -log p of the attribute in a place, in nats."""
    return -logits.log_softmax(dim=1)[:, place].mean()


def _place(probe: Probe, attribute: str) -> int:
    """Of an attribute among a probe's; raises InputError."""
    if attribute not in probe.attributes:
        known = ", ".join(map(printable, probe.attributes))
        raise InputError(
            f"the probe of '{printable(probe.axis)}' tells {known} apart, not "
            f"'{printable(attribute)}'"
        )
    return probe.attributes.index(attribute)


def _untraceable(spec: str) -> InputError:
    return InputError(
        f"{printable(spec)} gives no hard prompts: its pipeline has no text encoder whose token "
        "embeddings can be exchanged and take gradients"
    )


def _look(
    shared: SharedLatents, vocabulary: _Vocabulary, aims: Sequence[tuple[Probe, int]], rows: Any
) -> tuple[float, Any]:
    """The loss of a projection, and its gradient to the new embeddings.

    aims: Probes, and the place of each one's target among its attributes.
    """
    import torch

    vectors = vocabulary.vectors[rows].requires_grad_(True)
    with torch.enable_grad():
        seen = _activate(shared, vocabulary, rows, vectors)
        loss = sum(cross_entropy(probe.logits(seen, shared.step), place) for probe, place in aims)
    if not vocabulary.spliced or not loss.requires_grad:
        raise _untraceable(shared.observed.spec)
    with working(shared.observed.spec):
        return float(loss.detach()), torch.autograd.grad(loss, vectors)[0]


def _activate(shared: SharedLatents, vocabulary: _Vocabulary, rows: Any, vectors: Any) -> Any:
    """(K, d) activations with new embeddings behind the opening; gradients reach them."""
    import torch

    prompt = vocabulary.text([vocabulary.filler] * len(rows))
    others = {name: [vocabulary.text(rows.tolist())] for name in vocabulary.others}
    with vocabulary.exchange(vectors):
        condition = shared.trace(prompt, others)
    latents = range(len(shared.seeds))
    seen = shared.portions.run(latents, lambda some: shared.observe([(condition, k) for k in some]))
    return torch.stack(seen)


@dataclass
class _Vocabulary:
    """The tokens that may be written, and how they get into what the first text encoder reads.

    Attributes:
        opening: What stands before them.
        embedding: The encoder's.
        ids: Of the tokens in the encoder's vocabulary: those that are words by themselves, as
            others would be read as other tokens again.
        words: Their texts.
        vectors: (n, d) float32 their embeddings.
        filler: One that the opening and the negative prompt have not: what the tokenizer reads in
            the places of the new ones.
        others: The parameters of the pipeline's call for what other text encoders read.
        spliced: Whether embeddings were exchanged at all.
    """

    opening: str
    embedding: Any
    ids: Sequence[int]
    words: Sequence[str]
    vectors: Any
    filler: int
    others: Sequence[str]
    spliced: bool = False

    @classmethod
    def of(cls, observed: ObservedPipeline, opening: str, tokens: int) -> _Vocabulary:
        """Of a pipeline's first text encoder.

        Raises:
            InputError: It has none, or one with no room for so many tokens behind the opening; or
                another encoder cannot be given texts of its own.
        """
        spec, pipeline = observed.spec, observed.pipeline
        freeze(pipeline)
        names = list(encoders_of(pipeline))
        tokenizer: Any = tokenizer_of(pipeline, names[0]) if names else None
        encoder = getattr(pipeline, names[0], None) if names else None
        embeddings = getattr(encoder, "get_input_embeddings", None)
        others = [name.replace("text_encoder", "prompt") for name in names[1:]]
        known = inspect.signature(type(pipeline).__call__).parameters
        if tokenizer is None or embeddings is None or not set(others) <= set(known):
            raise _untraceable(spec)
        embedding = embeddings()
        ids, words = _words(tokenizer, opening, len(embedding.weight))
        vectors = embedding.weight.detach()[ids].float().cpu()
        made = cls(opening, embedding, ids, words, vectors, 0, others)
        most = getattr(tokenizer, "model_max_length", math.inf)
        negative = tokenizer(observed.negative or "")["input_ids"]
        for made.filler in range(len(words)):
            wanted = ids[made.filler]
            read = tokenizer(made.text([made.filler] * tokens))["input_ids"]
            if read.count(wanted) == tokens and wanted not in negative:
                break
        else:
            raise _untraceable(spec)
        if len(read) > most:
            raise InputError(
                f"'{printable(opening[:80])}' and {tokens} more tokens are {len(read)}, and "
                f"{printable(spec)} reads {most}: shorten the opening"
            )
        return made

    def text(self, rows: Sequence[int]) -> str:
        """The opening and words behind it."""
        return " ".join([self.opening, *(self.words[row] for row in rows)]).strip()

    def nearest(self, vectors: Any) -> Any:
        """(k,) the rows of `vectors` that have the highest cosine similarity to (k, d) others."""
        from torch.nn.functional import normalize

        return (normalize(vectors) @ normalize(self.vectors).T).argmax(dim=1)

    @contextmanager
    def exchange(self, vectors: Any) -> Iterator[None]:
        """The encoder reads embeddings in the places of the fillers."""
        filler = self.ids[self.filler]

        def splice(module: Any, args: Any, output: Any) -> Any:
            places = args[0] == filler
            places &= (places.sum(dim=-1) == len(vectors))[..., None]
            if not places.any():
                return output
            self.spliced = True
            output = output.clone()
            output[places] = vectors.to(output).repeat(int(places.any(dim=-1).sum()), 1)
            return output

        hook = self.embedding.register_forward_hook(splice)
        try:
            yield
        finally:
            hook.remove()


def _words(tokenizer: Any, opening: str, count: int) -> tuple[list[int], list[str]]:
    """The tokens, no special ones, that are read as they are when they stand behind an opening."""
    special = set(tokenizer.all_special_ids)
    ids = [token for token in range(min(count, len(tokenizer))) if token not in special]
    texts = [text.strip() for text in tokenizer.batch_decode([[token] for token in ids])]
    before = tokenizer(opening, add_special_tokens=False)["input_ids"]
    read = tokenizer([f"{opening} {text}" for text in texts], add_special_tokens=False)["input_ids"]
    found = [
        (token, text)
        for token, text, tokens in zip(ids, texts, read, strict=True)
        if text.isprintable() and tokens == [*before, token]
    ]
    return [token for token, _ in found], [text for _, text in found]
