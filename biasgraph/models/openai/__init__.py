"""Models behind any OpenAI-compatible server: image generation, judging, conversation.

Every response is stored in the run's journal before it is used, so that nothing is paid for
twice; a budget in calls and images is never exceeded; keys come from the environment and are
written nowhere.
"""

from __future__ import annotations

from biasgraph.errors import InputError
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.models.openai.budget import Budget
from biasgraph.models.openai.image_generator import OpenAIGenerator
from biasgraph.models.openai.journal import Journal
from biasgraph.models.openai.judge import BATCH, PERMUTATIONS, OpenAIJudge
from biasgraph.models.openai.language_model import OpenAILanguageModel
from biasgraph.models.openai.served_model import ServedModel
from biasgraph.models.openai.server import KEY_VARIABLE, URL_VARIABLE, Server

CONCURRENCY = 8
IMAGE_BATCH = 16


def generator(spec: Spec, options: ModelOptions) -> OpenAIGenerator:
    """The image model that a spec names. Raises InputError."""
    return OpenAIGenerator(
        _asking(spec, options),
        size=options.pixels,
        negative_prompt=options.negative_prompt,
        batch_size=options.batch_size or IMAGE_BATCH,
    )


def judge(spec: Spec, options: ModelOptions) -> OpenAIJudge:
    """The vision model that a spec names. Raises InputError."""
    return OpenAIJudge(
        _asking(spec, options),
        permutations=options.permutations or PERMUTATIONS,
        unknown_below=options.unknown_below,
        batch_size=options.judge_batch_size or BATCH,
    )


def language_model(spec: Spec, options: ModelOptions) -> OpenAILanguageModel:
    """The chat model that a spec names. Raises InputError."""
    return OpenAILanguageModel(_asking(spec, options))


def obstacle() -> str | None:
    """Why nothing can be asked as things are, in a line; None where something can."""
    if Server.at(None).needs_key:
        return f"{KEY_VARIABLE} is not set, and {URL_VARIABLE} names no other server"
    return None


def _asking(spec: Spec, options: ModelOptions) -> ServedModel:
    # All behind the colon is the name: servers have models called llama3.2:3b and x@y.
    if not spec.rest.strip():
        raise InputError(
            "openai: names no model; give for example openai:gpt-4.1-mini, or any name that the "
            "server of --base-url lists"
        )
    return ServedModel(
        spec.text,
        spec.rest,
        Server.at(options.base_url),
        Journal(spec.journal),
        Budget.of(options.budget),
        options.concurrency or CONCURRENCY,
    )
