"""Which models work where a user names none, and which cannot; none is loaded for that."""

from __future__ import annotations

from biasgraph.errors import InputError, printable
from biasgraph.models.inference_options import Spec
from biasgraph.models.registry import GENERATOR, JUDGE, LANGUAGE_MODEL, find_backend, traits_of

MODEL = "sandbox:stereotyped"
EXAMPLE = "lm:Qwen/Qwen3-4B"


def generator_of(named: str | None, refusal: str) -> str:
    """The spec of a generator that makes images: the one that is named, or the usual toy.

    Args:
        named: What the user named.
        refusal: What to tell of one whose images are made elsewhere.

    Raises:
        InputError: Its images are.
    """
    spec = named or MODEL
    if traits_of(spec).pictures_given:
        raise InputError(refusal)
    return spec


def companion_of(spec: str, role: str) -> str | None:
    """The model that stands in for `role` where none is named: a toy's own; None for any other."""
    backend = traits_of(spec)
    return Spec(spec).backend if backend.toy and role in backend.roles else None


def judge_of(spec: str, named: str | None) -> str:
    """The judge's spec for a generator's: the one that is named, or a toy's own.

    Raises:
        InputError: None is named and the generator has none of its own, or is not known; suggests
            one.
    """
    judge = named or companion_of(spec, JUDGE)
    if judge is None:
        find_backend(Spec(spec), GENERATOR)  # a misspelt generator is named first
        raise InputError(
            f"--vqa is needed for {printable(spec)}: name the model that answers questions about "
            "its images, for example --vqa vlm:Qwen/Qwen3-VL-2B-Instruct (`biasgraph models` lists "
            "more)"
        )
    return judge


def model_judge_of(spec: str, named: str | None, command: str) -> str:
    """`judge_of` for images that a command makes on the way; raises InputError for people."""
    judge = judge_of(spec, named)
    if traits_of(judge).people:
        raise InputError(
            f"{command} asks about images that it makes, which people cannot answer during a run: "
            "name a model with --vqa"
        )
    return judge


def llm_of(spec: str | None, named: str | None, purpose: str) -> str:
    """The language model's spec beside a generator's: the one that is named, or a toy's own.

    Args:
        spec: The generator's; None where there is none.
        named: What the user named.
        purpose: What needs it, for people: "--axes llm".

    Raises:
        InputError: None is named and the generator has none of its own; suggests one.
    """
    llm = named or (companion_of(spec, LANGUAGE_MODEL) if spec else None)
    if llm is None:
        raise InputError(
            f"{purpose} needs a language model: name one with --llm, for example --llm {EXAMPLE} "
            "(`biasgraph models` lists more), or --llm sandbox, rules over word lists that need "
            "no model"
        )
    return llm
