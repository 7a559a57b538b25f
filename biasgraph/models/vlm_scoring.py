"""Scores of a model's next token, for many questions about each picture, encoded once.

All prompts about a picture begin alike: up to the question they hold the same tokens, the
picture's among them.  That prefix goes through the model once, and each question is read against
the keys and values that it left behind.  Not every architecture allows it (some attend in both
directions, or read pictures by cross-attention), and no list of those that do would last.  So
every way of saving work is tried on the first picture and must give what the plain way gives.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from biasgraph.models.devices import is_out_of_memory
from biasgraph.models.transformers_model import greedy_decoding, place_tensors
from biasgraph.models.vlm_prompts import ALONG_THE_TEXT, Prompter

if TYPE_CHECKING:
    from PIL.Image import Image

Pick = Callable[[Any], Any]

NEAR = {"float32": 1e-3, "bfloat16": 0.1, "float16": 0.05}
"""How far a way may be from the plain one: the norm of the difference of all next-token scores
over the norm of the scores, which rounding alone moves less and another computation more."""


@dataclass(frozen=True)
class Prompts:
    """Prompts about one picture, cut where they begin to differ.

    Attributes:
        texts: Each as a whole.
        tails: The token ids of each behind what all share.
    """

    texts: tuple[str, ...]
    tails: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, prompter: Prompter, questions: Sequence[str]) -> Prompts:
        """The prompts that ask `questions`."""
        texts = tuple(prompter.prompt(question) for question in questions)
        ids = [prompter.token_ids(text) for text in texts]
        shared = 0
        shortest = min(map(len, ids)) - 1  # each keeps a token to be read
        while shared < shortest and len({tokens[shared] for tokens in ids}) == 1:
            shared += 1
        return cls(texts, tuple(tuple(tokens[shared:]) for tokens in ids))


@dataclass(frozen=True)
class PictureBatch:
    """Pictures that go through a model together, with the prompts about each of them.

    Attributes:
        images: The pictures.
        tensors: Of the pictures, each with the first prompt; all rows are of one length.
        prompts: The prompts.
        rows: How many sequences may go through the model at a time.
        pick: Gets (rows, vocabulary) float32 scores and returns as many rows of what is wanted.
    """

    images: Sequence[Image]
    tensors: Mapping[str, Any]
    prompts: Prompts
    rows: int
    pick: Pick


@dataclass
class Scorer:
    """Next-token scores of one model.

    Attributes:
        model: Of transformers, loaded and placed.
        prompter: Puts pictures and prompts into its numbers.
        dtype: Its number format.
    """

    model: Any
    prompter: Prompter
    dtype: str
    _way: Callable[[PictureBatch], Any] | None = field(default=None, init=False)

    def scores(self, images: Sequence[Image], prompts: Prompts, rows: int, pick: Pick) -> Any:
        """What `pick` takes of the scores of each prompt's next token, about each picture.

        Args:
            images: The pictures.
            prompts: What is asked about each.
            rows: How many sequences may go through the model at a time.
            pick: Gets (rows, vocabulary) float32 scores and returns as many rows.

        Returns:
            (images, prompts, ...), a tensor.
        """
        import torch

        encoded = [self.tensors(image, prompts.texts[0]) for image in images]
        if self._way is None:
            self._way = self._choose(images[0], encoded[0], prompts, rows)
        scores: dict[int, Any] = {}
        with torch.no_grad():
            for places, tensors in _join_alike(encoded):
                group = [images[place] for place in places]
                scored = self._way(PictureBatch(group, tensors, prompts, rows, pick))
                scores.update(zip(places, scored, strict=True))
        return torch.stack([scores[place] for place in range(len(images))])

    def write(self, images: Sequence[Image], prompt: str, longest: int) -> list[str]:
        """What the model writes about each picture, its likeliest token each time.

        Args:
            images: The pictures.
            prompt: What it is asked to write.
            longest: The longest text, in tokens.
        """
        import torch

        tokenizer = self.prompter.tokenizer
        decoding = greedy_decoding(
            self.model, tokenizer, max_new_tokens=longest, decoder_start_token_id=self._start
        )
        encoded = [self.tensors(image, prompt) for image in images]
        written: dict[int, str] = {}
        for places, batch in _join_alike(encoded):
            with torch.no_grad():
                made = self.model.generate(**batch, generation_config=decoding)
            ids = batch["input_ids"]
            if made.shape[1] >= ids.shape[1] and bool((made[:, : ids.shape[1]] == ids).all()):
                made = made[:, ids.shape[1] :]
            texts = tokenizer.batch_decode(made, skip_special_tokens=True)
            written.update(zip(places, texts, strict=True))
        return [written[place] for place in range(len(images))]

    @property
    def way(self) -> str | None:
        """How work is saved, once it is known: the name of one of the methods below."""
        return self._way.__name__.strip("_") if self._way is not None else None

    def tensors(self, image: Image, prompt: str) -> dict[str, Any]:
        """A picture with a prompt, where the model is."""
        return place_tensors(self.prompter.tensors(image, prompt), self.model)

    def _choose(
        self, image: Image, encoded: Mapping[str, Any], prompts: Prompts, rows: int
    ) -> Callable[[PictureBatch], Any]:
        """The first way that gives what the plain one gives."""
        import torch

        # The first, whose tokens `encoded` holds, and the one that differs most.
        some = Prompts((prompts.texts[0], prompts.texts[-1]), (prompts.tails[0], prompts.tails[-1]))
        batch = PictureBatch([image], encoded, some, max(rows, 2), lambda scores: scores)
        with torch.no_grad():
            plain = self._apart(batch)
            spread = (plain - plain.mean(dim=-1, keepdim=True)).norm()
            for way in (self._prefix_at_once, self._prefix_one_by_one, self._features):
                try:
                    if (way(batch) - plain).norm() <= NEAR[self.dtype] * spread:
                        return way
                except Exception as error:  # of any architecture's code
                    if is_out_of_memory(error):
                        raise
        return self._apart

    def _prefix_at_once(self, batch: PictureBatch) -> Any:
        """The prefix once, then as many prompts together as there may be rows."""
        return self._behind_prefix(batch, max(1, batch.rows // len(batch.images)))

    def _prefix_one_by_one(self, batch: PictureBatch) -> Any:
        """The prefix once, then prompt by prompt."""
        return self._behind_prefix(batch, 1)

    def _behind_prefix(self, batch: PictureBatch, size: int) -> Any:
        """The prefix that all prompts share once, then their tails, `size` of them together."""
        import torch

        count = len(batch.images)
        kept = self._prefix(batch)
        scores = []
        for start in range(0, len(batch.prompts.tails), size):
            tails = batch.prompts.tails[start : start + size]
            cache = copy.deepcopy(kept)
            if len(tails) > 1:
                cache.batch_repeat_interleave(len(tails))
            # Padded on the right, where nothing that counts can see it.
            longest = max(map(len, tails))
            ids = torch.tensor([[*tail, *tail[-1:] * (longest - len(tail))] for tail in tails])
            ends = [len(tail) - 1 for tail in tails]
            picked = batch.pick(self._read(ids.repeat(count, 1), cache, ends * count))
            scores.append(picked.reshape(count, len(tails), -1))
        return torch.cat(scores, dim=1)

    def _features(self, batch: PictureBatch) -> Any:
        """What the model sees in the pictures once, then each prompt as a whole."""
        import torch

        tensors = batch.tensors
        encode = self.model.base_model.get_image_features
        accepted = inspect.signature(encode).parameters
        seen = encode(
            **{name: tensors[name] for name in accepted if name in tensors}, return_dict=True
        )
        text = self._cut_tail(batch)
        pictures = {
            name: value
            for name, value in tensors.items()
            if name not in ALONG_THE_TEXT and not name.startswith("pixel_values")
        }
        needed = {"pixel_values": None} if "pixel_values" in self._parameters else {}
        scores = []
        for tail in batch.prompts.tails:
            whole = {name: _extend(name, value, tail) for name, value in text.items()}
            made = self.model(
                **whole,
                **pictures,
                **needed,
                **self.decoder_start(len(whole["input_ids"])),
                mm_encoder_outputs={"image": copy.copy(seen)},
            )
            scores.append(batch.pick(made.logits[:, -1].float()))
        return torch.stack(scores, dim=1)

    def _apart(self, batch: PictureBatch) -> Any:
        """Picture by picture and prompt by prompt, each as a whole."""
        import torch

        scores = []
        for image in batch.images:
            for text in batch.prompts.texts:
                made = self.model(**self.tensors(image, text), **self.decoder_start(1))
                scores.append(batch.pick(made.logits[:, -1].float()))
        return torch.cat(scores).reshape(len(batch.images), len(batch.prompts.texts), -1)

    def _prefix(self, batch: PictureBatch) -> Any:
        """The keys and values of what all prompts share."""
        if self.decoder_start(1):
            raise ValueError("a decoder that reads by cross-attention has no prefix")
        made = self.model(
            **{**batch.tensors, **self._cut_tail(batch)}, use_cache=True, **self._limit_scores([0])
        )
        return made.past_key_values

    def _cut_tail(self, batch: PictureBatch) -> dict[str, Any]:
        """The tensors along the text, without the first prompt's tail."""
        tail, tensors = batch.prompts.tails[0], batch.tensors
        if any(row[-len(tail) :].tolist() != list(tail) for row in tensors["input_ids"]):
            raise ValueError("the processor changes the text in its own ways")
        return {name: tensors[name][:, : -len(tail)] for name in ALONG_THE_TEXT if name in tensors}

    def _read(self, ids: Any, cache: Any, ends: Sequence[int]) -> Any:
        """(rows, vocabulary) scores of what follows ``ids[row, :ends[row] + 1]``."""
        import torch

        kept = sorted(set(ends))
        only = self._limit_scores(kept)
        made = self.model(
            input_ids=ids.to(self.model.device), past_key_values=cache, use_cache=True, **only
        )
        columns = [kept.index(end) for end in ends] if only else list(ends)
        return made.logits[torch.arange(len(ends)), columns].float()

    def _limit_scores(self, places: Sequence[int]) -> dict[str, Any]:
        """The argument that has scores computed at some places only; empty if there is none."""
        import torch

        if "logits_to_keep" not in self._parameters:
            return {}
        return {"logits_to_keep": torch.tensor(list(places), device=self.model.device)}

    def decoder_start(self, count: int) -> dict[str, Any]:
        """What the decoder of an encoder-decoder starts from; empty for other models."""
        import torch

        if self._start is None:
            return {}
        start = torch.full((count, 1), self._start, device=self.model.device)
        return {"decoder_input_ids": start}

    @cached_property
    def _start(self) -> int | None:
        for part in (self.model, getattr(self.model, "language_model", self.model)):
            if getattr(part.config, "is_encoder_decoder", False):
                known = (getattr(part, "generation_config", None), part.config)
                starts = (getattr(config, "decoder_start_token_id", None) for config in known)
                return next((int(start) for start in starts if start is not None), 0)
        return None

    @cached_property
    def _parameters(self) -> frozenset[str]:
        return frozenset(inspect.signature(self.model.forward).parameters)


def _join_alike(
    encoded: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[list[int], dict[str, Any]]]:
    """Pictures that can go together without padding: same tokens, same shapes.

    Yields their places and their tensors, joined.
    """
    import torch

    groups: dict[Any, list[int]] = {}
    for place, tensors in enumerate(encoded):
        shapes = tuple((name, tuple(tensor.shape)) for name, tensor in sorted(tensors.items()))
        key = (shapes, tuple(tensors["input_ids"].flatten().tolist()))
        groups.setdefault(key, []).append(place)
    for places in groups.values():
        names = encoded[places[0]]
        yield places, {name: torch.cat([encoded[at][name] for at in places]) for name in names}


def _extend(name: str, head: Any, tail: Sequence[int]) -> Any:
    """A tensor along the text with a prompt's tail behind it."""
    import torch

    filled = {"input_ids": list(tail), "attention_mask": [1] * len(tail)}
    end = torch.tensor([filled.get(name, [0] * len(tail))], dtype=head.dtype, device=head.device)
    return torch.cat([head, end.repeat(len(head), 1)], dim=1)
