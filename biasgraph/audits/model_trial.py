"""Whether a model works on this machine: it is loaded and does the least that it is there for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from biasgraph.errors import printable
from biasgraph.models.base import Describer, Message
from biasgraph.models.folder import FolderGenerator
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import (
    EMBEDDER,
    GENERATOR,
    JUDGE,
    LANGUAGE_MODEL,
    load_embedder,
    load_generator,
    load_judge,
    load_language_model,
    refuse_unread,
)
from biasgraph.runs.progress import hear

if TYPE_CHECKING:
    from PIL.Image import Image

    from biasgraph.runs.progress import Progress

PROMPT = "a photo of a person"
SHOWN = 160
"""Characters of a model's own words."""


def try_models(
    used: Mapping[str, str], options: ModelOptions, progress: Progress | None = None
) -> list[dict[str, Any]]:
    """Let each model do one thing; used: role -> spec.

    A generator makes an image of "a photo of a person" (a folder shows one of its own); a judge is
    asked whether it shows a person, or whether a grey square does where no generator is named; an
    embedder embeds it; a language model proposes what may be biased in it. Returns a record for
    each, in JSON types: ``role``, ``spec``, ``fingerprint``, ``seconds`` (loading included) and
    ``said``.

    Raises:
        BiasgraphError: the first one that does not work, as a build would raise it.
    """
    refuse_unread(options, used)
    trial = _Trial(options, progress)
    steps: dict[str, Callable[[str], tuple[str, str]]] = {
        GENERATOR: trial.generator,
        JUDGE: trial.judge,
        EMBEDDER: trial.embedder,
        LANGUAGE_MODEL: trial.language_model,
    }
    records = []
    for role, step in steps.items():
        if role in used:
            begun = time.perf_counter()
            fingerprint, said = step(used[role])
            seconds = round(time.perf_counter() - begun, 3)
            record = {"role": role, "spec": used[role], "fingerprint": fingerprint}
            records.append(record | {"seconds": seconds, "said": said})
    return records


class _Trial:
    """Each step returns the model's fingerprint and, in a line, what it did."""

    def __init__(self, options: ModelOptions, progress: Progress | None) -> None:
        from PIL import Image

        self._options, self._progress = options, progress
        self._image: Image.Image = Image.new("RGB", (224, 224), (128, 128, 128))

    def generator(self, spec: str) -> tuple[str, str]:
        model = load_generator(spec, self._options)
        if isinstance(model, FolderGenerator):  # it has its pictures, whatever the prompt
            self._image = model.sample().image
            return model.fingerprint, f"has an image of {_size(self._image)}"
        model.check_prompts([PROMPT])
        picture = model.generate([PROMPT], [0])[0]
        if picture.withheld is not None:
            return model.fingerprint, f"withheld its image: {picture.withheld[:SHOWN]}"
        self._image = picture.image
        said = f"an image of {_size(picture.image)}"
        if picture.revised_prompt is not None:
            said += f", of a prompt that it made itself: '{picture.revised_prompt[:SHOWN]}'"
        return model.fingerprint, said

    def judge(self, spec: str) -> tuple[str, str]:
        from biasgraph.data.axes import load_axis_set
        from biasgraph.runs.questions import questions_about

        gate, _ = questions_about(load_axis_set("occupation"))
        model = load_judge(spec, self._options)
        answer = model.answer([self._image], [gate])[0][0]
        chosen = "unknown" if answer.choice is None else gate.choices[answer.choice]
        said = f"'{gate.text}' {chosen}"
        if answer.probabilities:
            shares = zip(gate.choices, answer.probabilities, strict=True)
            said += f" ({', '.join(f'{choice} {share:.2f}' for choice, share in shares)})"
        if isinstance(model, Describer):
            caption = model.describe([self._image], "Describe the image in one sentence.")[0]
            said += f"; describes: '{caption[:SHOWN]}'"
        return model.fingerprint, said

    def embedder(self, spec: str) -> tuple[str, str]:
        model = load_embedder(spec, self._options)
        image = model.embed_images([self._image])
        texts = model.embed_texts([PROMPT, "an empty room"])
        near, far = (float(image[0] @ text) for text in texts)
        return model.fingerprint, (
            f"{image.shape[1]} dimensions; cosine with '{PROMPT}' {near:.3f}, "
            f"with 'an empty room' {far:.3f}"
        )

    def language_model(self, spec: str) -> tuple[str, str]:
        from biasgraph.models.json_chat import chat
        from biasgraph.prompts.instructions import Biases, instruction

        model = load_language_model(spec, self._options)
        hear(model, self._progress)
        messages = [
            Message("system", instruction("openbias", "system")),
            Message("user", instruction("openbias", "prompt", prompt=PROMPT)),
        ]
        biases = chat(model, messages, Biases).value.biases
        names = ", ".join(bias.name for bias in biases)
        return model.fingerprint, f"{len(biases)} axes that may be biased: {names[:SHOWN]}"


def _size(image: Image) -> str:
    return f"{image.width}x{image.height} pixels"


def describe_trial(record: Mapping[str, Any]) -> str:
    """A record of `try_models` in a line."""
    return (
        f"{printable(record['spec'])} works ({record['role']}, {record['seconds']:.1f} s): "
        f"{printable(record['said'])}"
    )
