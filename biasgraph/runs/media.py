"""The pictures of a run as methods see them: embedded and described once, kept in the ledger."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.errors import InputError, ModelError, printable, show_path
from biasgraph.models.backend import WANTED_EMBEDDER
from biasgraph.models.base import Describer
from biasgraph.models.image_files import reduce_to_kept
from biasgraph.models.registry import traits_of
from biasgraph.runs.local_engine import ask
from biasgraph.runs.other_images import OtherImages, imagine, pair_texts
from biasgraph.runs.progress import showing
from biasgraph.runs.questions import questions_about
from biasgraph.runs.storage import LEDGER
from biasgraph.runs.traced_images import ByAxis, TracedImages, why_no_gradients
from biasgraph.runs.transcripts import answer, describe_writer

if TYPE_CHECKING:
    from PIL.Image import Image

    from biasgraph.data.axes import AxisSet
    from biasgraph.models.base import Embedder, LanguageModel, Message
    from biasgraph.models.json_replies import Schema
    from biasgraph.prompts.counterfactuals import Prompt
    from biasgraph.runs.directory import Run
    from biasgraph.runs.job import Job
    from biasgraph.runs.ledger_rows import ImageRow

PORTION = 64
"""Pictures that are embedded or described, and recorded, at a time."""


@dataclass(frozen=True)
class RunMedia:
    """What models tell of a run's pictures (`biasgraph.methods.base.Media`).

    A model is touched only for what the run does not hold; one that no method needs may be
    missing.

    Attributes:
        run: The open run.
        job: Its generator and judge.
        embedding: Puts images and texts into one space.
        language_model: Proposes.

    Raises:
        InputError: There is no model for what is asked.
        ModelError: A picture's file is damaged, or a model failed.
        Interrupted: The user stopped it.
    """

    run: Run
    job: Job
    embedding: Embedder | None = None
    language_model: LanguageModel | None = None

    @property
    def embedder(self) -> str | None:
        """The spec of the model that embeds."""
        return None if self.embedding is None else self.embedding.spec

    @property
    def describer(self) -> str | None:
        """The judge's spec, if it answers in words of its own."""
        judge = self.job.judge
        return judge.spec if isinstance(judge, Describer) else None

    def picture(self, image: str) -> Image:
        """The picture of an image's id."""
        return self._picture(self.rows[image])

    def embed_images(self, ids: Sequence[str]) -> np.ndarray:
        """The images' unit vectors, (n, d)."""
        return self._embed([self.rows[image] for image in ids])

    def _embed(self, rows: Sequence[ImageRow]) -> np.ndarray:
        embedding = self._embedding
        known = self._vectors()
        new = {row.file.sha256: row for row in rows if row.file.sha256 not in known}
        for portion in self._portions(list(new.values()), "Embeddings", len(rows)):
            vectors = embedding.embed_images([self._picture(row) for row in portion])
            self._keep([row.file.sha256 for row in portion], vectors, known)
        return self._stack([known[row.file.sha256] for row in rows])

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        """The texts' unit vectors, (n, d)."""
        embedding = self._embedding
        keys = [hashlib.sha256(f"text:{text}".encode()).hexdigest() for text in texts]
        known = self._vectors()
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            self._keep(list(new), embedding.embed_texts(list(new.values())), known)
        return self._stack([known[key] for key in keys])

    def describe(self, ids: Sequence[str], question: str) -> list[str]:
        """What the judge says of each image in its own words."""
        judge = self.job.judge
        if not isinstance(judge, Describer):
            name = "nobody" if judge is None else printable(judge.spec)
            raise InputError(f"{name} cannot answer in its own words")
        rows = [self.rows[image] for image in ids]
        known = self.run.ledger.texts(judge.spec, question)
        new = [row for row in rows if row.key not in known]
        for portion in self._portions(new, "Descriptions", len(rows)):
            said = judge.describe([self._picture(row) for row in portion], question)
            _refuse_another_number(judge.spec, len(portion), len(said))
            found = [(row.key, text) for row, text in zip(portion, said, strict=True)]
            self.run.ledger.add_texts(judge.spec, question, found)
            known |= dict(found)
        return [known[row.key] for row in rows]

    def find_shown(self, ids: Sequence[str]) -> list[str]:
        """The images that no service withheld."""
        return [image for image in ids if self.rows[image].withheld is None]

    @property
    def proposer(self) -> str | None:
        """What the language model is called in reports."""
        return None if self.language_model is None else describe_writer(self.language_model)

    def propose(self, task: str, messages: Sequence[Message], form: type[Schema]) -> Schema:
        """What the language model replies, in the form asked for."""
        model = self.language_model
        if model is None:
            raise InputError("a language model is needed: name one with --llm")
        return answer(self.run.directory, task, model, messages, form)

    def imagine(self, prompt: str, texts: Sequence[Prompt], count: int) -> np.ndarray:
        """The vectors of images made of other texts, outside the tables."""
        job = self.job
        made = imagine(self.run, job.generator, prompt, texts, count, job.progress, job.engine)
        return self._embed([row for row in made if row.withheld is None])

    def make_images(
        self, plans: Sequence[Sequence[Prompt]], count: int, first: int = 0
    ) -> dict[str, dict[str, list[str]]]:
        """The ids of images of prompts that stand in no table, which are made where need be."""
        by_prompt = self._other_images(plans, count, first).by_text()
        return {
            prompt: {text: [row.id for row in own] for text, own in by_text.items()}
            for prompt, by_text in by_prompt.items()
        }

    def _other_images(
        self, plans: Sequence[Sequence[Prompt]], count: int, first: int = 0
    ) -> OtherImages:
        images = OtherImages.of(self.run, plans, count, first)
        images.make(self.job.generator, self.job.progress, self.job.engine)
        self.rows.update({row.id: row for row in images.there()})
        return images

    def judge_images(
        self, plans: Sequence[Sequence[Prompt]], axes: AxisSet, count: int, first: int = 0
    ) -> dict[str, dict[str, dict[str, tuple[str, ...]]]]:
        """What the judge says of images of prompts that stand in no table."""
        job = self.job
        if job.judge is None or traits_of(job.vqa).people:
            raise InputError("a judge is needed that can be asked about further images")
        gate, questions = questions_about(axes)
        job.declare(self.run, questions, gate)
        images = self._other_images(plans, count, first)
        ask(
            self.run, job.asked, questions, gate, generator=job.generator, engine=job.engine,
            progress=job.progress, beside=images.there,
        )  # fmt: skip
        said = self.run.ledger.read_answered(job.vqa)
        return {
            prompt: {
                text: {
                    axis.name: tuple(said[row.key][axis.name].answer for row in own)
                    for axis in axes.axes
                }
                for text, own in by_text.items()
            }
            for prompt, by_text in images.by_text().items()
        }

    def judge_pairs(
        self, texts: Mapping[str, Sequence[str]], axes: AxisSet, count: int
    ) -> dict[str, dict[str, dict[str, tuple[str, ...]]]]:
        """What the judge says of images of prompts, and of other texts from the same seeds."""
        return self.judge_images(pair_texts(texts), axes, count)

    def token_scores(
        self,
        prompts: Sequence[str],
        axes: AxisSet,
        count: int,
        *,
        every: int = 1,
        released: bool = False,
    ) -> dict[str, list[ByAxis]]:
        """What each token of a prompt contributes to the answers about its images."""
        job = self.job
        if why := why_no_gradients(job.generator, job.judge):
            raise InputError(why)
        pairs = self._other_images(pair_texts(dict.fromkeys(prompts, ())), count)
        shown = {
            prompt: [row for row in own[prompt] if row.withheld is None]
            for prompt, own in pairs.by_text().items()
        }
        questions = questions_about(axes)[1]
        traced = TracedImages(self.run, job.generator, job.asked, questions, every, released)
        scores = traced.scores([row for own in shown.values() for row in own], job.progress)
        return {prompt: [scores[row.id] for row in own] for prompt, own in shown.items()}

    @property
    def _embedding(self) -> Embedder:
        if self.embedding is None:
            raise InputError(f"an embedder is needed, {WANTED_EMBEDDER}")
        return self.embedding

    @cached_property
    def rows(self) -> dict[str, ImageRow]:
        """The images of the run's request, and those made beside it since, by their ids."""
        return {row.id: row for row in self.run.ledger.images()}

    def _picture(self, row: ImageRow) -> Image:
        picture = self.run.read_image(row)
        if picture is None:
            raise ModelError(
                f"the file of image {printable(row.id)} is missing or damaged: rerun the build "
                "command to make it again"
            )
        return reduce_to_kept(picture)

    def _portions(self, items: list[Any], what: str, total: int) -> Iterator[list[Any]]:
        if not items:
            return
        with showing(self.job.progress, what, total=total, done=total - len(items)) as work:
            for start in range(0, len(items), PORTION):
                portion = items[start : start + PORTION]
                yield portion
                work.advance(len(portion))

    def _vectors(self) -> dict[str, bytes]:
        return self.run.ledger.vectors(self._embedding.fingerprint)

    def _keep(self, keys: Sequence[str], vectors: np.ndarray, known: dict[str, bytes]) -> None:
        _refuse_another_number(self._embedding.spec, len(keys), len(vectors))
        blobs = [np.asarray(vector, dtype="<f4").tobytes() for vector in vectors]
        found = list(zip(keys, blobs, strict=True))
        self.run.ledger.add_vectors(self._embedding.fingerprint, found)
        known |= dict(found)

    def _stack(self, blobs: Sequence[bytes]) -> np.ndarray:
        """(n, d) float32 of vectors as the ledger holds them; (0, 0) of none."""
        if not blobs:
            return np.empty((0, 0), dtype=np.float32)
        if len({len(blob) for blob in blobs}) == 1:
            vectors = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1)
            if np.isfinite(vectors).all():
                return vectors
        raise InputError(
            f"{show_path(self.run.directory / LEDGER)} is damaged: its vectors do not fit each "
            "other"
        )


def _refuse_another_number(spec: str, asked: int, given: int) -> None:
    if given != asked:
        raise ModelError(f"{printable(spec)} was asked about {asked} and answered about {given}")
