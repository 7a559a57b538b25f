"""Zero-shot choice with CLIP and its kin: the caption nearest to the image, or unknown.

CLIP learnt to pick the caption of an image out of a batch, by softmax over scaled cosines.  SigLIP
learnt to tell of each caption by itself whether it fits, by the sigmoid of a scaled and shifted
cosine; these probabilities are calibrated to captions of the whole web, where hardly any fits, and
do not sum to one over a question's captions.  Given that exactly one of them fits, though, the
odds of each are what counts, and odds are the exponentials of the scores: the shift cancels and a
softmax over scaled cosines remains.  So both families choose by the same formula.

Neither can say that it does not know.  The answer is unknown where the likeliest caption has a
smaller share than `unknown_below`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.errors import InputError, ModelError, printable
from biasgraph.models.base import Answer, Question, Setting
from biasgraph.models.devices import Portions
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.models.library_loading import explain_working_errors
from biasgraph.models.pixel_map import PixelMap, sample_image
from biasgraph.models.transformers_model import TransformersModel, locate, place_tensors

if TYPE_CHECKING:
    from PIL.Image import Image

BATCH = 64
UNKNOWN_BELOW = 0.6
"""Not calibrated for any model: a clear majority, for a question with two choices too."""


def judge(spec: Spec, options: ModelOptions) -> ClipJudge:
    """``clip:NAME[@revision]`` of the hub, or ``clip:FOLDER`` that ``save_pretrained`` wrote.

    Raises:
        InputError: No name, no such folder, no such device.
    """
    unknown_below = options.unknown_below
    return ClipJudge(
        *locate(spec, options),
        batch_size=options.judge_batch_size or BATCH,
        unknown_below=UNKNOWN_BELOW if unknown_below is None else unknown_below,
    )


embedder = judge
"""The same model as an embedder."""


@dataclass(frozen=True)
class ClipJudge(TransformersModel):
    """Chooses among a question's captions by softmax over scaled cosine similarities.

    Attributes:
        batch_size: Images that go through the model at a time, at most.
        unknown_below: The answer is unknown where the likeliest choice has a lower probability.
        recorded: The settings that a run records, where these are not all that there are.
    """

    batch_size: int
    unknown_below: float
    seconds_per_image: float | None = None
    recorded: Mapping[str, Setting] | None = None

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What else decides the results, as a run records it."""
        return self.recorded or {"unknown_below": self.unknown_below, "dtype": self.dtype}

    def answer(self, images: Sequence[Image], questions: Sequence[Question]) -> list[list[Answer]]:
        """``answers[i][q]``: image by image, question by question.

        Raises:
            InputError: A caption is longer than the model can read.
            ModelError: The model cannot be loaded, or memory does not suffice for one image.
        """
        captions = list(dict.fromkeys(text for question in questions for text in question.captions))
        known = self._embed_captions(captions)
        scale = float(self._model.logit_scale.detach().float().exp())
        table = scale * self.embed_images(images) @ known.T
        columns = {caption: index for index, caption in enumerate(captions)}
        chosen = [
            self._choose(table[:, [columns[caption] for caption in question.captions]])
            for question in questions
        ]
        return [list(row) for row in zip(*chosen, strict=True)]

    def log_probabilities(self, images: Any, questions: Sequence[Question]) -> list[Any]:
        """For each question (n, choices), with gradients to (n, 3, h, w) images in [0, 1].

        Raises:
            InputError: What the image processor does has no gradient.
            ModelError: As `answer`.
        """
        import torch

        with explain_working_errors(self.spec):
            read, beside = self._pixels(tuple(images.shape[-2:]))
            beside = {
                name: tensor.expand(len(images), *tensor.shape[1:])
                for name, tensor in beside.items()
            }
            pixels = read(images.to(self._model.device)).to(self._model.dtype)
            features = self._model.get_image_features(pixel_values=pixels, **beside)
            raw = getattr(features, "pooler_output", features).float()
            vectors = raw / raw.norm(dim=-1, keepdim=True)
            scale = self._model.logit_scale.detach().float().exp()
        logs = []
        for question in questions:
            captions = torch.from_numpy(self._embed_captions(question.captions)).to(vectors)
            logs.append(torch.log_softmax((scale * vectors @ captions.T).double(), dim=-1))
        return logs

    @cached_property
    def _pixels(self) -> Callable[[tuple[int, int]], tuple[PixelMap, dict[str, Any]]]:
        """How pictures of a size become what the model reads, and what it reads beside."""

        @lru_cache(maxsize=1)
        def make_map(size: tuple[int, int]) -> tuple[PixelMap, dict[str, Any]]:
            sample, processor = sample_image(size), self._processor
            batch = place_tensors(processor(images=[sample], return_tensors="pt"), self._model)
            own = batch.pop("pixel_values")
            mapped = PixelMap.of(processor, size, self.spec)
            mapped.check(sample, own.float().cpu().numpy(), self.spec)
            return mapped, batch

        return make_map

    def embed_images(self, images: Sequence[Image]) -> np.ndarray:
        """(n, d) float32 unit vectors in the space of :meth:`embed_texts`.

        Raises ModelError as :meth:`answer` does.
        """
        return self._in_portions(images, self._embed_image_batch)

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        """(n, d) float32 unit vectors in the space of :meth:`embed_images`.

        A text that is longer than the model can read counts up to where it reads. Raises
        ModelError as :meth:`answer` does.
        """
        return self._in_portions(texts, self._embed_text_batch)

    def _in_portions(
        self, items: Sequence[Any], embed: Callable[[Sequence[Any]], np.ndarray]
    ) -> np.ndarray:
        if not items:
            return self._embed_text_batch(["a"])[:0]
        return np.stack(self._portions.run(items, lambda some: list(embed(some))))

    def _embed_image_batch(self, images: Sequence[Image]) -> np.ndarray:
        import torch

        colours = [image.convert("RGB") for image in images]
        processor, model = self._processor, self._model
        with explain_working_errors(self.spec), torch.no_grad():
            batch = processor(images=colours, return_tensors="pt")
            features = model.get_image_features(**place_tensors(batch, model))
        return self._unit(features)

    def _embed_text_batch(self, texts: Sequence[str]) -> np.ndarray:
        import torch

        # SigLIP reads at the end of its window, so its texts are always filled up to that.
        padding = "max_length" if "siglip" in self._model.config.model_type else True
        filled = {"padding": padding, "max_length": self._window}
        tokenizer, model = self._tokenizer, self._model
        with explain_working_errors(self.spec), torch.no_grad():
            batch = tokenizer(list(texts), truncation=True, return_tensors="pt", **filled)
            features = model.get_text_features(**place_tensors(batch, model))
        return self._unit(features)

    def _choose(self, logits: np.ndarray) -> list[Answer]:
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = (weights / weights.sum(axis=1, keepdims=True)).astype(float)
        best = shares.argmax(axis=1)
        sure = shares.max(axis=1) >= self.unknown_below
        return [
            Answer(int(choice) if known else None, tuple(row.tolist()))
            for choice, known, row in zip(best, sure, shares, strict=True)
        ]

    def _embed_captions(self, captions: Sequence[str]) -> np.ndarray:
        """Captions are embedded once in the judge's life, one at a time.

        One at a time, because a batch pads to its longest and that moves the last bits.
        """
        window, tokenizer = self._window, self._tokenizer
        for caption in captions:
            if caption not in self._embedded:
                with explain_working_errors(self.spec):
                    count = len(tokenizer(caption)["input_ids"])
                if window is not None and count > window:
                    raise InputError(
                        f"'{printable(caption)}' has {count} tokens, and {printable(self.spec)} "
                        f"reads {window}: shorten the prompt phrases of the axis"
                    )
                self._embedded[caption] = self.embed_texts([caption])[0]
        return np.stack([self._embedded[caption] for caption in captions])

    @cached_property
    def _embedded(self) -> dict[str, np.ndarray]:
        return {}

    @cached_property
    def _portions(self) -> Portions:
        return Portions("images", size=self.batch_size, limit=self.batch_size)

    @cached_property
    def _window(self) -> int | None:
        """The most tokens that the text tower reads."""
        text = self._model.config.get_text_config()
        window = getattr(text, "max_position_embeddings", None)
        return int(window) if window is not None else None

    @cached_property
    def _model(self) -> Any:
        from transformers import AutoModel

        config = self._load("AutoConfig")
        kind = AutoModel._model_mapping.get(type(config), None)
        if kind is not None and not hasattr(kind, "get_text_features"):
            raise self._other_kind(config, "a CLIP or SigLIP")
        model = self._load_weights("AutoModel")
        if not hasattr(model, "logit_scale"):
            raise ModelError(
                f"{printable(self.spec)} has no scale for its similarities and so no "
                "probabilities: choose a CLIP or SigLIP"
            )
        return model

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = self._load("AutoTokenizer")
        if tokenizer.pad_token is None:
            raise ModelError(
                f"{printable(self.spec)} has no token that fills up texts: its tokenizer's files "
                "are damaged"
            )
        return tokenizer

    @cached_property
    def _processor(self) -> Any:
        return self._load("AutoImageProcessor", backend="pil")

    def _unit(self, features: Any) -> np.ndarray:
        raw = getattr(features, "pooler_output", features).float().cpu().numpy()
        norms = np.linalg.norm(raw, axis=1, keepdims=True)
        if not (np.isfinite(norms) & (norms > 0)).all():
            raise ModelError(
                f"{printable(self.spec)} gives vectors that are zero or not finite: its "
                "weights are damaged, or too large for --dtype"
            )
        return np.asarray(raw / norms)
