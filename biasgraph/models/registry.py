"""From a spec, ``backend:name[@revision]``, to a model.  Backends load when they are asked for.

A package of somebody else's adds a backend through the entry-point group ``biasgraph.models``:
the entry's name is the backend's, and its object is a `Backend`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from biasgraph.errors import InputError, MissingExtra, ModelError, did_you_mean, printable
from biasgraph.models.backend import (
    EMBEDDER,
    GENERATOR,
    JUDGE,
    LANGUAGE_MODEL,
    OPTION,
    Backend,
    Role,
    import_function,
    obstacle_of,
)
from biasgraph.models.inference_options import ModelOptions, Spec, flag_of
from biasgraph.models.plug_ins import blame, find_plug_in, plug_ins

if TYPE_CHECKING:
    from biasgraph.models.base import (
        Embedder,
        ImageGenerator,
        LanguageModel,
        NextTokens,
        VisualQA,
    )

# What a plug-in needs to declare a backend is to be had here, beside what is defined below.
__all__ = ["EMBEDDER", "GENERATOR", "JUDGE", "LANGUAGE_MODEL", "Backend", "Role"]

HUB = {GENERATOR: "diffusers", JUDGE: "vlm", EMBEDDER: "clip", LANGUAGE_MODEL: "lm"}
"""Which backend takes a bare ``owner/model`` of the hub, most likely."""

WEIGHTS = "weights: a folder, or a name on the Hugging Face hub"
TORCH, CODE = ("device", "dtype"), "trust_remote_code"
"""Options of every model whose weights are loaded here."""
PIXELS = ("steps", "guidance", "size", "scheduler", "negative_prompt", "lora")
SERVER = ("base_url", "concurrency", "budget")
"""Options of everything that is asked of a server."""
SIGLIP = "clip:google/siglip2-so400m-patch14-384"

BACKENDS: dict[str, Backend] = {
    "sandbox": Backend(
        about="toy models that ship with biasgraph, with planted biases",
        roles={
            GENERATOR: Role("biasgraph.sandbox.backends:generator", "sandbox:stereotyped"),
            JUDGE: Role("biasgraph.sandbox.backends:judge", "sandbox"),
            EMBEDDER: Role("biasgraph.sandbox.backends:embedder", "sandbox"),
            LANGUAGE_MODEL: Role("biasgraph.sandbox.language_models:language_model", "sandbox"),
        },
        needs="nothing",
        toy=True,
    ),
    "diffusers": Backend(
        about="any text-to-image pipeline that diffusers loads",
        roles={
            GENERATOR: Role(
                "biasgraph.models.diffusers:generator",
                "diffusers:black-forest-labs/FLUX.2-klein-4B",
                reads=(*TORCH, *PIXELS, "batch_size", "offload", CODE),
            )
        },
        needs=WEIGHTS,
    ),
    "clip": Backend(
        about="CLIP and SigLIP models of transformers: match pictures with captions",
        roles={
            JUDGE: Role(
                "biasgraph.models.clip:judge",
                SIGLIP,
                reads=(*TORCH, "judge_batch_size", CODE, "unknown_below"),
            ),
            EMBEDDER: Role(
                "biasgraph.models.clip:embedder", SIGLIP, reads=(*TORCH, "judge_batch_size", CODE)
            ),
        },
        needs=WEIGHTS,
    ),
    "vlm": Backend(
        about="models of transformers that read and see, asked by multiple choice",
        roles={
            JUDGE: Role(
                "biasgraph.models.vlm:judge",
                "vlm:Qwen/Qwen3-VL-4B-Instruct",
                reads=(*TORCH, "judge_batch_size", "permutations", CODE, "unknown_below"),
            )
        },
        needs=WEIGHTS,
    ),
    "human": Backend(
        about="answers that people gave, from a CSV file (biasgraph label)",
        roles={JUDGE: Role("biasgraph.models.human:judge", "human:labels.csv")},
        needs="the pictures, and people's answers about them (biasgraph label)",
        people=True,
    ),
    "lm": Backend(
        about="language models of transformers",
        roles={
            LANGUAGE_MODEL: Role(
                "biasgraph.models.lm:language_model",
                "lm:Qwen/Qwen3-4B",
                (*TORCH, CODE, "llm_seconds"),
            )
        },
        needs=WEIGHTS,
    ),
    "openai": Backend(
        about="models behind any OpenAI-compatible server, hosted or your own",
        roles={
            GENERATOR: Role(
                "biasgraph.models.openai:generator",
                "openai:gpt-image-1-mini",
                reads=(*SERVER, "size", "negative_prompt", "batch_size"),
            ),
            JUDGE: Role(
                "biasgraph.models.openai:judge",
                "openai:gpt-4.1-mini",
                reads=(*SERVER, "permutations", "unknown_below", "judge_batch_size"),
            ),
            LANGUAGE_MODEL: Role(
                "biasgraph.models.openai:language_model", "openai:gpt-4.1-mini", SERVER
            ),
        },
        packages=("openai",),
        extra="openai",
        needs="a server (--base-url or OPENAI_BASE_URL), its key in OPENAI_API_KEY",
        obstacle="biasgraph.models.openai:obstacle",
    ),
    "folder": Backend(
        about="pictures made elsewhere, in a folder or named by a manifest",
        roles={
            GENERATOR: Role("biasgraph.models.folder:generator", "folder:pictures", ["max_pixels"])
        },
        needs="the pictures (biasgraph prompts says which)",
        pictures_given=True,
    ),
}


def traits_of(spec: str) -> Backend:
    """The backend of a spec, to be asked for its flags; an unknown one has none of them."""
    name = Spec(spec).backend
    try:
        backend = BACKENDS.get(name) or find_plug_in(name)
    except ModelError:
        backend = None
    return backend or Backend(about="", roles={})


def load_generator(
    spec: str, options: ModelOptions | None = None, journal: Path | None = None
) -> ImageGenerator:
    """The generator that a spec names; its weights load with the first image.

    Args:
        spec: ``backend:name[@revision]``.
        options: How to run it.
        journal: A folder of the run for what a paid backend must not lose.

    Raises:
        InputError: No such backend or name.
        ModelError: What the backend needs is not installed or cannot be reached.
    """
    return cast("ImageGenerator", _load(Spec(spec, journal), GENERATOR, options))


def load_judge(
    spec: str, options: ModelOptions | None = None, journal: Path | None = None
) -> VisualQA:
    """The judge that a spec names, as `load_generator`; it loads with the first question."""
    return cast("VisualQA", _load(Spec(spec, journal), JUDGE, options))


def load_embedder(spec: str, options: ModelOptions | None = None) -> Embedder:
    """The embedder that a spec names, as `load_generator`; it loads with the first text."""
    return cast("Embedder", _load(Spec(spec), EMBEDDER, options))


def load_language_model(
    spec: str, options: ModelOptions | None = None, journal: Path | None = None, *, flag: str = ""
) -> LanguageModel:
    """The language model that a spec names, as `load_generator`; it loads with the first turn.

    flag: the option that it was typed with, where that is not --llm.
    """
    return cast("LanguageModel", _load(Spec(spec, journal, flag), LANGUAGE_MODEL, options))


def refuse_unread(options: ModelOptions, used: Mapping[str, str]) -> None:
    """Refuse options without effect.

    Args:
        options: What was given.
        used: Role -> spec of the model in it.

    Raises:
        InputError: None of the models reads one of the options.
    """
    read = {
        name
        for role, spec in used.items()
        for name in find_backend(Spec(spec), role).roles[role].reads
    }
    for name in options.record():
        if name not in read:
            models = " or ".join(printable(spec) for spec in used.values())
            raise InputError(f"{flag_of(name)} has no effect on {models}; remove it")


def find_backend(spec: Spec, role: str) -> Backend:
    """The backend that a spec names. Raises InputError unless there is one with this role."""
    wanted = spec.flag or OPTION[role]
    able = [name for name, backend in BACKENDS.items() if role in backend.roles]
    backend = BACKENDS.get(spec.backend) or find_plug_in(spec.backend)
    if backend is None:
        example = BACKENDS[able[0]].roles[role].example if able else "one of a plug-in"
        names = sorted({*able, *(entry.name for entry in plug_ins())})
        raise InputError(
            f"{wanted} '{printable(spec.text)}': no backend '{printable(spec.backend)}' "
            f"(choose from {', '.join(printable(name) for name in names)}; for example {example})."
            f"{_hint(spec, role) or did_you_mean(spec.backend, names)}"
        )
    if role not in backend.roles:
        raise InputError(
            f"{wanted} '{printable(spec.text)}': {printable(spec.backend)} has no {role} "
            f"(these have: {', '.join(sorted(able))})"
        )
    return backend


def _hint(spec: Spec, role: str) -> str:
    """What somebody may have meant who named no backend."""
    if spec.backend in ("http", "https") and "openai" in BACKENDS:
        flag = spec.flag or OPTION[role]
        return f" Name a server by --base-url, and its model by {flag} openai:MODEL"
    if "/" in spec.text and ":" not in spec.text:
        meant = f"{HUB[role]}:{spec.text}"
        if role == GENERATOR and Path(spec.text).is_dir():
            return f" Did you mean '{printable(meant)}', or 'folder:{printable(spec.text)}'?"
        return f" Did you mean '{printable(meant)}'?"
    return ""


def _load(spec: Spec, role: str, options: ModelOptions | None) -> Any:
    backend = find_backend(spec, role)
    if backend.missing() and backend.extra:
        raise MissingExtra(f"{spec.backend} models", backend.extra)
    if backend.missing():
        raise ModelError(f"{printable(spec.backend)} models: {obstacle_of(backend)}")
    foreign = f"the plug-in {printable(spec.backend)} cannot load '{printable(spec.text)}'"
    with nullcontext() if spec.backend in BACKENDS else blame(foreign):
        return import_function(backend.roles[role].loader)(spec, options or ModelOptions())


def refuse_without_tokens(model: LanguageModel) -> NextTokens:
    """The model, as one that shows the probabilities of all that it might say next.

    Raises:
        InputError: It does not: a server's, or rules.
    """
    from biasgraph.models.base import NextTokens

    if not isinstance(model, NextTokens):
        raise InputError(
            f"{printable(model.spec)} gives no logits for all possible next tokens (a chat service "
            "never does): name a model that runs here, lm:FOLDER, lm:NAME or sandbox:writer"
        )
    return model
