"""The options that say how models run, the same for every command that runs some."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, TypeVar

import rich_click as click

Command = TypeVar("Command", bound=Callable[..., Any])

MODELS = "Models"
"""The panel of the help."""

_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "device": click.option(
        "--device",
        metavar="auto|cpu|cuda|mps",
        panel=MODELS,
        help="Where models of your own machine run. Default: auto, a GPU where there is one.",
    ),
    "dtype": click.option(
        "--dtype",
        type=click.Choice(["float32", "float16", "bfloat16"]),
        panel=MODELS,
        help="Number format of their weights. Default: float32 on a CPU, bfloat16 or float16 on a "
        "GPU.",
    ),
    "steps": click.option("--steps", type=int, panel=MODELS, help="Denoising steps of each image."),
    "guidance": click.option(
        "--guidance", type=float, panel=MODELS, help="Guidance scale. Default: the pipeline's."
    ),
    "size": click.option(
        "--size",
        metavar="N|WxH",
        panel=MODELS,
        help="Size of generated images in pixels: 1024, or 1024x768, width first.",
    ),
    "scheduler": click.option(
        "--scheduler",
        metavar="CLASS",
        panel=MODELS,
        help="Another scheduler of diffusers: DPMSolverMultistepScheduler.",
    ),
    "negative_prompt": click.option(
        "--negative-prompt", metavar="TEXT", panel=MODELS, help="What images should not show."
    ),
    "lora": click.option(
        "--lora",
        multiple=True,
        metavar="FILE|NAME",
        panel=MODELS,
        help="A LoRA adapter (safetensors) for the generator; may be given several times.",
    ),
    "batch_size": click.option(
        "--batch-size",
        type=int,
        panel=MODELS,
        help="Images made at a time. Default: as many as memory allows.",
    ),
    "judge_batch_size": click.option(
        "--vqa-batch-size",
        "judge_batch_size",
        type=int,
        panel=MODELS,
        help="Images asked about at a time.",
    ),
    "offload": click.option(
        "--offload",
        type=click.Choice(["model", "layers"]),
        panel=MODELS,
        help="Keep what is not at work in main memory, whole models or layer by layer: slower, "
        "with less GPU memory.",
    ),
    "trust_remote_code": click.option(
        "--trust-remote-code",
        is_flag=True,
        panel=MODELS,
        help="Run code that a model's repository brings along. Read it first.",
    ),
    "permutations": click.option(
        "--permutations",
        type=int,
        panel=MODELS,
        help="Orders in which a judge is shown the choices; its probabilities are averaged.",
    ),
    "unknown_below": click.option(
        "--unknown-below",
        type=click.FloatRange(0, 1),
        panel=MODELS,
        help="An answer that is less probable than this is unknown.",
    ),
    "base_url": click.option(
        "--base-url",
        metavar="URL",
        panel=MODELS,
        help="The server of openai models. Default: OPENAI_BASE_URL. Keys come from the "
        "environment (OPENAI_API_KEY) only.",
    ),
    "concurrency": click.option(
        "--concurrency", type=int, panel=MODELS, help="Requests to a server in flight at a time."
    ),
    "budget": click.option(
        "--budget",
        metavar="calls=N,images=N",
        panel=MODELS,
        help="The most that a run may ask of a paid server in all; it stops before.",
    ),
    "max_pixels": click.option(
        "--max-pixels",
        type=click.IntRange(min=1),
        panel=MODELS,
        help="Images of a folder with more pixels than this are left out.",
    ),
}

_OF_JUDGES = (
    "device",
    "dtype",
    "judge_batch_size",
    "trust_remote_code",
    "permutations",
    "unknown_below",
    "base_url",
    "concurrency",
    "budget",
)


def llm_option(command: Command) -> Command:
    """``--llm``, for a command that has something proposed."""
    decorated: Command = click.option(
        "--llm",
        metavar="SPEC",
        panel=MODELS,
        help="The language model that proposes what to look at. Default on the sandbox: sandbox, "
        "rules over word lists.",
    )(command)
    return decorated


def language_model_options(command: Command) -> Command:
    """Those that say how language models run."""
    return _decorated(command, _OF_LANGUAGE_MODELS)


def model_options(command: Command) -> Command:
    """All fields of `ModelOptions` as options of a command."""
    return _decorated(command, _OPTIONS)


def judge_options(command: Command) -> Command:
    """Those that say how judges run."""
    return _decorated(command, _OF_JUDGES)


_OF_LANGUAGE_MODELS = ("device", "dtype", "trust_remote_code", "base_url", "concurrency", "budget")


def _decorated(command: Command, names: Iterable[str]) -> Command:
    options = [_OPTIONS[name] for name in names]
    return reduce(lambda decorated, decorate: decorate(decorated), reversed(options), command)
