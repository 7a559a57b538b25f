"""Zero-shot choice with a CLIP: the caption nearest to the image, or unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.errors import ModelError, printable
from biasgraph.models.base import Answer, Question, Setting
from biasgraph.models.files import fingerprint

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image


@dataclass(frozen=True)
class ClipJudge:
    """Chooses among a question's captions by softmax over scaled cosine similarities.

    Attributes:
        folder: what ``save_pretrained`` wrote: model, tokenizer and image processor.
        unknown_below: the answer is unknown where the likeliest choice has a lower probability.
    """

    folder: Path
    spec: str
    batch_size: int
    unknown_below: float
    seconds_per_image: float | None = None

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.folder)

    @property
    def settings(self) -> Mapping[str, Setting]:
        return {"unknown_below": self.unknown_below}

    def answer(self, images: Sequence[Image], questions: Sequence[Question]) -> list[list[Answer]]:
        shots = self.embed_images(images)
        captions = list(dict.fromkeys(text for question in questions for text in question.captions))
        table = self._scale * shots @ self._embed_known(captions).T
        columns = {caption: index for index, caption in enumerate(captions)}
        chosen = [
            self._choose(table[:, [columns[caption] for caption in question.captions]])
            for question in questions
        ]
        return [list(row) for row in zip(*chosen, strict=True)]

    def embed_images(self, images: Sequence[Image]) -> np.ndarray:
        """(n, d) float32 unit vectors in the space of :meth:`embed_texts`."""
        import torch

        batch = self._processor(images=list(images), return_tensors="pt")
        with torch.no_grad():
            return _unit(self._model.get_image_features(**batch))

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        """(n, d) float32 unit vectors in the space of :meth:`embed_images`."""
        import torch

        batch = self._tokenizer(list(texts), padding=True, truncation=True, return_tensors="pt")
        with torch.no_grad():
            return _unit(self._model.get_text_features(**batch))

    def _choose(self, logits: np.ndarray) -> list[Answer]:
        import numpy as np

        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = (weights / weights.sum(axis=1, keepdims=True)).astype(float)
        best = shares.argmax(axis=1)
        sure = shares.max(axis=1) >= self.unknown_below
        return [
            Answer(int(choice) if known else None, tuple(row.tolist()))
            for choice, known, row in zip(best, sure, shares, strict=True)
        ]

    def _embed_known(self, captions: Sequence[str]) -> np.ndarray:
        """Captions are embedded once in the judge's life, one at a time.

        One at a time, because a batch pads to its longest and that moves the last bits.
        """
        import numpy as np

        for caption in captions:
            if caption not in self._embedded:
                self._embedded[caption] = self.embed_texts([caption])[0]
        return np.stack([self._embedded[caption] for caption in captions])

    @cached_property
    def _embedded(self) -> dict[str, np.ndarray]:
        return {}

    @cached_property
    def _scale(self) -> float:
        return float(self._model.logit_scale.detach().exp())

    @cached_property
    def _model(self) -> Any:
        import torch

        return self._load("AutoModel", dtype=torch.float32, use_safetensors=True)

    @cached_property
    def _tokenizer(self) -> Any:
        return self._load("AutoTokenizer")

    @cached_property
    def _processor(self) -> Any:
        return self._load("AutoImageProcessor", backend="pil")

    def _load(self, kind: str, **options: Any) -> Any:
        from biasgraph.models.quiet import loading

        try:
            with loading():
                import transformers

                loader = getattr(transformers, kind)
                return loader.from_pretrained(self.folder, local_files_only=True, **options)
        except (OSError, ValueError) as error:
            raise ModelError(f"cannot load {self.spec}: {printable(str(error))}") from error


def _unit(features: Any) -> np.ndarray:
    import numpy as np

    raw = getattr(features, "pooler_output", features).float().numpy()
    return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True))
