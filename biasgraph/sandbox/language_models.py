"""The sandbox's language models: the proposer's rules, and two small models of its captions.

`sandbox:writer` writes prompts and `sandbox:reader` tells how plain they are.  Both were trained on
captions alone (`biasgraph.sandbox.training.prompt_writing`) and understand no instruction; the
writer looks in one for the attribute that stands behind "toward", and leans to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from biasgraph.errors import InputError, did_you_mean, printable
from biasgraph.models.base import Message
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.models.lm import TransformersLanguageModel
from biasgraph.sandbox.backends import weights_of
from biasgraph.sandbox.proposer import Proposer

CAPTIONS = ("writer", "reader")
"""What stands behind ``sandbox:`` for a language model with weights."""


def language_model(spec: Spec, options: ModelOptions) -> Proposer | CaptionModel:
    """The bare ``sandbox``, which proposes by rules, ``sandbox:writer`` or ``sandbox:reader``.

    Raises:
        InputError: another name.
    """
    if spec.text == "sandbox":
        return Proposer(spec.text)
    if spec.rest not in CAPTIONS:
        raise InputError(
            f"--llm '{printable(spec.text)}': the sandbox's proposer is the bare sandbox, its "
            f"language models are sandbox:writer and sandbox:reader."
            f"{did_you_mean(spec.rest, CAPTIONS) or did_you_mean(spec.text, ['sandbox'])}"
        )
    return CaptionModel(weights_of(spec, spec.rest), device="cpu", dtype="float32")


class CaptionModel(TransformersLanguageModel):
    """A language model that was trained on the sandbox's captions and nothing else."""

    def _conversation(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """As it is: the writer's template leaves out all but an attribute, and is meant to."""
        return [{"role": turn.role, "content": turn.text} for turn in messages]
