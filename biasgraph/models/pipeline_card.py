"""What is known about a diffusers pipeline before its weights, or diffusers itself, are loaded.

Everything is read off configuration files and off the signatures in diffusers' own source, so that
a wrong option is refused, and a finished run read again, without loading torch.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from biasgraph.errors import InputError, ModelError, did_you_mean, printable
from biasgraph.models.base import Setting
from biasgraph.models.library_loading import shorten_error
from biasgraph.models.model_source import Source

INDEX = "model_index.json"
CONFIGURATIONS = (INDEX, "scheduler/*", "tokenizer*/*.json", "tokenizer*/*.txt", "*/config.json")
"""What is fetched of a model on the hub to read its card; the tokenizers with it."""

OFF: Mapping[str, Any] = {
    "caption_upsample_temperature": None,
    "complex_human_instruction": None,
    "enable_prompt_rewrite": False,
    "enhance_prompt": False,
    "prompt_enhancement": False,
    "prompt_rewrite": False,
    "prompt_upsampling": False,
    "use_pe": False,
}
"""Switches, in the signatures of diffusers 0.42, of what rewrites a prompt before it is read."""

FEW_STEPS: Mapping[str, tuple[int, float]] = {
    "flux.1-schnell": (4, 0.0),
    "flux.2-klein-4b": (4, 1.0),
    "flux.2-klein-9b": (4, 1.0),
    "sd-turbo": (1, 0.0),
    "sdxl-turbo": (1, 0.0),
    "stable-diffusion-3.5-large-turbo": (4, 0.0),
    "z-image-turbo": (8, 0.0),
}
"""Steps and guidance of distilled models by the last part of their names, as their cards say; their
pipelines' own defaults are those of the models that they were distilled from."""

DISTILLED = re.compile(r"turbo|lightning|schnell|hyper|distill|flash|few-?step|\d-?step|lcm|dmd")
MADE_FOR_FEW_STEPS = ("LatentConsistencyModelPipeline", "SanaSprintPipeline")
KLEIN = "Flux2KleinPipeline"


@dataclass(frozen=True)
class Card:
    """A pipeline as its configurations and diffusers' source tell it.

    Attributes:
        folder: Where the configurations are; of a model on the hub not all of its files.
        name: The last part of the model's name, in small letters.
        pipeline: The text-to-image class that will make the images.
        index: ``model_index.json``: its components and its own settings.
        defaults: Parameters of the class's call with their defaults, where they are literals.
    """

    folder: Path
    name: str
    pipeline: str
    index: Mapping[str, Any]
    defaults: Mapping[str, Any]

    @classmethod
    def of(cls, source: Source) -> Card:
        """The card of a model.

        Raises:
            InputError: It is no text-to-image pipeline, or wants to run code of its own.
            ModelError: Its configurations cannot be had or read.
        """
        folder = source.folder(CONFIGURATIONS)
        said = printable(source.spec)
        if not (folder / INDEX).is_file():
            raise InputError(
                f"'{said}' is not a diffusers pipeline: it has no {INDEX} (judges and language "
                "models are loaded by clip:, vlm: and lm:)"
            )
        index = read_json(folder / INDEX)
        written = index.get("_class_name")
        if not isinstance(written, str) or _brings_code(folder, index):
            if not source.trust_remote_code:
                raise InputError(
                    f"'{said}' runs code from its repository: read the code, then add "
                    "--trust-remote-code, or choose another model"
                )
            written = written[-1] if isinstance(written, list) else str(written)
        pipeline = text_to_image(written)
        signature = _call_of(pipeline, folder if source.trust_remote_code else None)
        if signature is None:
            raise InputError(
                f"'{said}': the installed diffusers has no {printable(pipeline)}; "
                "`pip install -U diffusers` may bring it"
            )
        if "prompt" not in signature or "generator" not in signature:
            raise InputError(f"'{said}': {printable(pipeline)} does not make images from text")
        name = re.split(r"[/\\]", source.name.rstrip("/\\"))[-1].lower()
        return cls(folder, name, pipeline, index, signature)

    def steps(self, given: int | None) -> int:
        """Denoising steps: as given, or what the model was made for.

        Raises InputError for a distilled model that is not known here.
        """
        if given is not None:
            return given
        if "num_inference_steps" not in self.defaults:
            raise InputError(f"{self.pipeline} has no default number of steps; set --steps")
        if self._few is not None:
            return self._few[0]
        marker = DISTILLED.search(self.name)
        if marker is not None and self.pipeline not in MADE_FOR_FEW_STEPS:
            raise InputError(
                f"{printable(self.name)} seems to be distilled to few steps ('{marker[0]}'): set "
                "--steps and --guidance as its model card says, for example --steps 4 --guidance 0"
            )
        return int(self.defaults["num_inference_steps"] or 50)

    def guidance(self, given: float | None) -> float | None:
        """The guidance scale: as given, or what the model was made for; None where it has none."""
        if self.guidance_parameter is None:
            if given is not None:
                raise InputError(f"{self.pipeline} does not take --guidance")
            return None
        if given is not None:
            return given
        if self._few is not None:
            return self._few[1]
        default = self.defaults[self.guidance_parameter]
        return None if default is None else float(default)

    @property
    def guidance_parameter(self) -> str | None:
        """What the scale of classifier-free guidance is called in the pipeline's call.

        Where ``guidance_scale`` is there for models that are not (its default is None), the one
        that is heeded is ``true_cfg_scale`` (Qwen-Image).
        """
        there = [name for name in ("guidance_scale", "true_cfg_scale") if name in self.defaults]
        return min(there, key=lambda name: self.defaults[name] is None, default=None)

    @property
    def switches(self) -> dict[str, Any]:
        """What turns the pipeline's rewriting of prompts off."""
        return {name: value for name, value in OFF.items() if name in self.defaults}

    def size(self, given: tuple[int, int] | None) -> dict[str, int]:
        """Width and height for the pipeline's call; empty where it decides itself."""
        if given is None:
            return {}
        if not {"width", "height"} <= self.defaults.keys():
            raise InputError(f"{self.pipeline} does not take --size")
        width, height = given
        if width % 8 or height % 8:
            raise InputError(f"--size {width}x{height}: both must be multiples of 8")
        return {"width": width, "height": height}

    def negative(self, given: str | None) -> str | None:
        """The negative prompt: as given, or the blank one without which Qwen-Image guides not."""
        if given is not None:
            if "negative_prompt" not in self.defaults:
                raise InputError(f"{self.pipeline} does not take --negative-prompt")
            return given
        guides = (self.defaults.get("true_cfg_scale") or 0) > 1
        return " " if guides and self.defaults.get("negative_prompt", "") is None else None

    def scheduler(self, wanted: str | None) -> tuple[str, dict[str, Any]]:
        """The class and configuration of the scheduler.

        Raises InputError for one that diffusers has not, or that does not fit the model.
        """
        folder = self.folder / "scheduler"
        config = read_json(folder / "scheduler_config.json") if folder.is_dir() else {}
        own = str(config.get("_class_name", ""))
        if wanted is None or wanted == own:
            return own, config
        known = schedulers()
        if wanted not in known:
            raise InputError(
                f"unknown --scheduler '{printable(wanted)}': diffusers does not have it."
                f"{did_you_mean(wanted, known)}"
            )
        fitting = sorted(name for name, kin in known.items() if kin and kin == known.get(own))
        if wanted not in fitting:
            raise InputError(
                f"--scheduler {wanted} does not fit {printable(self.name)}, which was made for "
                f"{printable(own) or 'no scheduler that is named'}"
                + (f"; these do: {', '.join(fitting)}" if fitting else "")
            )
        return wanted, config

    def settings(self, scheduler: str | None) -> dict[str, Setting]:
        """What a run records of the pipeline besides its weights."""
        name, config = self.scheduler(scheduler)
        kept = {key: value for key, value in config.items() if not key.startswith("_")}
        return {
            "pipeline": self.pipeline,
            "scheduler": name or None,
            "scheduler_config": json.dumps(kept, sort_keys=True) if kept else None,
        }

    @property
    def _few(self) -> tuple[int, float] | None:
        if self.pipeline == KLEIN and self.index.get("is_distilled"):
            return FEW_STEPS["flux.2-klein-4b"]
        return FEW_STEPS.get(self.name)


def read_json(path: Path) -> dict[str, Any]:
    """A configuration file. Raises ModelError where it cannot be read."""
    try:
        record = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"cannot read {printable(str(path))}: {shorten_error(error)}") from error
    if not isinstance(record, dict):
        raise ModelError(f"{printable(str(path))} is damaged: not an object")
    return record


def _brings_code(folder: Path, index: Mapping[str, Any]) -> bool:
    """Whether a component's class is in a Python file of the model's own."""
    for name, component in index.items():
        match component:
            case [str(module), _] if (folder / name / f"{Path(module).name}.py").is_file():
                return True
    return False


def _library() -> Path:
    """The folder of the installed diffusers, which is not imported for it."""
    package = find_spec("diffusers")
    if package is None or not package.submodule_search_locations:
        raise ModelError("diffusers is not installed: pip install diffusers")
    return Path(next(iter(package.submodule_search_locations)))


@lru_cache(maxsize=1)
def _auto_classes() -> tuple[dict[str, str], dict[str, str]]:
    """Of diffusers' auto pipelines: class -> family, and family -> its text-to-image class."""
    source = (_library() / "pipelines" / "auto_pipeline.py").read_text("utf-8")
    families: dict[str, str] = {}
    classes: dict[str, str] = {}
    for title, body in re.findall(r"^(\w+) = OrderedDict\(\n(.*?)^\)", source, re.M | re.S):
        for family, name in re.findall(r'\("([^"]+)", (\w+)\)', body):
            families.setdefault(name, family)
            if title == "AUTO_TEXT2IMAGE_PIPELINES_MAPPING":
                classes[family] = name
    return families, classes


def text_to_image(written: str) -> str:
    """The text-to-image class for what a model was saved as, as AutoPipeline finds it."""
    families, classes = _auto_classes()
    return classes.get(families.get(written, ""), written)


def is_auto(pipeline: str) -> bool:
    """Whether `AutoPipelineForText2Image` knows a class; others load as what they were saved as."""
    return pipeline in _auto_classes()[1].values()


CALL = re.compile(r"^    def __call__\(\n.*?^    \)[^\n]*:$", re.M | re.S)
"""The head of a call as diffusers formats it: parsing a whole file takes 60 ms."""


@lru_cache(maxsize=8)
def _call_of(pipeline: str, beside: Path | None) -> dict[str, Any] | None:
    """Parameters of a pipeline's call with their defaults; None where there is no such class.

    A default that is no literal counts as None. beside: a model's folder with code of its own.
    """
    needle = re.compile(rf"^class {re.escape(pipeline)}\b", re.M)
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", pipeline.removesuffix("Pipeline")).lower()
    likely = f"pipeline_{words}.py"  # StableDiffusionPipeline: spares the reading of hundreds
    places = [_library() / "pipelines", *([beside] if beside is not None else [])]
    paths = [path for place in places for path in sorted(place.rglob("*.py"))]
    for path in sorted(paths, key=lambda path: path.name != likely):
        try:
            source = path.read_text("utf-8")
            at = needle.search(source)
            call = CALL.search(source, at.end()) if at and path.name == likely else None
            if call is not None:
                source = f"class {pipeline}:\n{call[0]}\n        pass"
            tree = ast.parse(source) if at else None
        except (OSError, ValueError, SyntaxError, RecursionError):  # of a model's own code
            continue
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.ClassDef) and node.name == pipeline:
                return _signature(node)
    return None


def _signature(node: ast.ClassDef) -> dict[str, Any]:
    for call in node.body:
        if isinstance(call, ast.FunctionDef) and call.name == "__call__":
            names = [argument.arg for argument in call.args.args[1:]]
            defaults = map(_literal, reversed(call.args.defaults))
            given = dict(zip(reversed(names), defaults, strict=False))
            return {name: given.get(name) for name in names}
    return {}


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


@lru_cache(maxsize=1)
def schedulers() -> dict[str, str]:
    """The schedulers of diffusers by name, each with its kind: of one kind they can be exchanged.

    "diffusion" predict noise over many timesteps, "flow" match flows; "" fit their own models.
    Left out: those of videos, those that run backwards, and DPMSolverSDEScheduler, which draws
    noise that no seed of an image decides.
    """
    kinds: dict[str, str] = {}
    for path in sorted((_library() / "schedulers").glob("scheduling_*.py")):
        if "flax" in path.name:
            continue
        source = path.read_text("utf-8")
        for name, body in re.findall(
            r"^class (\w+Scheduler)\(.*?\):\n(.*?)(?=^class |\Z)", source, re.M | re.S
        ):
            if re.search(r"^    _compatibles = .*KarrasDiffusionSchedulers", body, re.M):
                kinds[name] = "diffusion"
            else:
                kinds[name] = "flow" if name.startswith("FlowMatch") else ""
    kinds.update(dict.fromkeys({"LCMScheduler", "TCDScheduler"} & kinds.keys(), "diffusion"))
    strange = re.compile(r"CogVideoX|Inverse|DPMSolverSDE")
    return {name: kind for name, kind in kinds.items() if not strange.search(name)}
