"""Puts a diffusers pipeline to work: safetensors only, on its device, with its adapters."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from biasgraph.errors import InputError, MissingExtra, printable
from biasgraph.models.inference_options import Spec
from biasgraph.models.library_loading import explain_loading_errors, silence_libraries
from biasgraph.models.model_source import NAME, Source
from biasgraph.models.pipeline_card import INDEX, Card, is_auto
from biasgraph.models.prompt_encodings import EncodingCache

if TYPE_CHECKING:
    from biasgraph.models.inference_options import ModelOptions


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter: a safetensors file, or a model or a file of a model on the hub.

    Attributes:
        source: The model on the hub; None for a local file.
        file: The path of a local file, or the name of a file in `source`; None where the model has
            one file only.
    """

    source: Source | None
    file: str | None

    @classmethod
    def of(cls, text: str) -> Adapter:
        """What ``--lora`` names.

        Raises:
            InputError: No such file, or one that is not safetensors.
            MissingExtra: Peft is not installed.
        """
        if find_spec("peft") is None:
            raise MissingExtra("LoRA adapters", "lora")
        said = printable(text)
        path = Path(text).expanduser()
        if path.is_file():
            if path.suffix != ".safetensors":
                raise InputError(
                    f"--lora '{said}' is not a safetensors file; other formats can run code "
                    "when they are loaded"
                )
            return cls(None, str(path))
        if path.is_dir():
            files = sorted(path.glob("*.safetensors"))
            if len(files) != 1:
                raise InputError(
                    f"--lora '{said}' has {len(files) or 'no'} safetensors files; name one file"
                )
            return cls(None, str(files[0]))
        named = re.fullmatch(rf"({NAME.pattern}?)(?:/([\w.-]+\.safetensors))?(@[^@]+)?", text)
        if named is None or text.startswith(("/", ".", "~")) or "/" not in named[1]:
            raise InputError(
                f"--lora '{said}': no such file; give a .safetensors file, or "
                "owner/model[/file.safetensors] on the hub"
            )
        return cls(Source.of(Spec(f"lora:{named[1]}{named[4] or ''}")), named[3])

    @property
    def identity(self) -> str:
        """Changes whenever its weights do. Raises ModelError where it cannot be found."""
        if self.source is None:
            with explain_loading_errors(f"--lora {self.file}"), open(str(self.file), "rb") as file:
                return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()[:32]}"
        return "/".join(filter(None, (self.source.fingerprint, self.file)))

    def put_on(self, pipeline: Any, name: str) -> None:
        """Load it into a pipeline under a name."""
        if not hasattr(pipeline, "load_lora_weights"):
            raise InputError(f"{type(pipeline).__name__} does not take --lora")
        path = Path(str(self.file))
        place = str(path.parent)
        weights: dict[str, str | None] = {"weight_name": path.name}
        if self.source is not None:
            place = self.source.name
            weights = {"weight_name": self.file, "revision": self.source.commit}
        pipeline.load_lora_weights(place, adapter_name=name, use_safetensors=True, **weights)


def load_pipeline(
    source: Source, card: Card, options: ModelOptions, *, device: str, dtype: str
) -> Any:
    """The pipeline with its weights, ready to be called.

    Its ``encode_prompt`` remembers what it encoded (`EncodingCache`).

    Raises:
        ModelError: The weights cannot be had, do not fit, or are not safetensors.
        InputError: An adapter or a scheduler does not fit.
    """
    _tell_of_download(source)
    with explain_loading_errors(source.spec), silence_libraries():
        import diffusers
        import torch

        auto = is_auto(card.pipeline)
        loader = diffusers.AutoPipelineForText2Image if auto else diffusers.DiffusionPipeline
        name, config = card.scheduler(options.scheduler)
        replaced = {}
        if options.scheduler and name:
            replaced["scheduler"] = getattr(diffusers, name).from_config(config)
        pipeline = loader.from_pretrained(
            source.name,
            revision=None if source.local else source.commit,
            dtype=getattr(torch, dtype),
            use_safetensors=True,
            variant=_variant(source, dtype),
            local_files_only=source.local,
            trust_remote_code=source.trust_remote_code,
            **replaced,
        )
        names = [f"lora{number}" for number in range(len(options.lora))]
        for adapter, text in zip(names, options.lora, strict=True):
            Adapter.of(text).put_on(pipeline, adapter)
        if names:
            pipeline.set_adapters(names)
        if options.offload == "model":
            pipeline.enable_model_cpu_offload(device=device)
        elif options.offload == "layers":
            pipeline.enable_sequential_cpu_offload(device=device)
        else:
            pipeline.to(device)
    pipeline.set_progress_bar_config(disable=True)
    if hasattr(pipeline, "encode_prompt"):
        pipeline.encode_prompt = EncodingCache(pipeline.encode_prompt)
    return pipeline


def _tell_of_download(source: Source) -> None:
    """Say on a terminal why nothing moves for a while."""
    if source.local or not sys.stderr.isatty():
        return
    if next(source.folder([INDEX]).glob("*/*.safetensors"), None) is None:
        print(
            f"Downloading {printable(source.name)}; if it is cut short, rerun to resume",
            file=sys.stderr,
        )


def _variant(source: Source, dtype: str) -> str | None:
    """The variant "fp16" where it gives the same weights, or there are no others; else None."""
    weights = [path for path in map(PurePath, _files(source)) if path.match("*/*.safetensors")]
    half = [".fp16" in path.name for path in weights]
    return "fp16" if any(half) and (dtype == "float16" or all(half)) else None


def _files(source: Source) -> Iterable[str | Path]:
    """A model's files; without network those that are in the cache."""
    if not source.local:
        from huggingface_hub import HfApi

        with suppress(Exception):
            info = HfApi().model_info(source.name, revision=source.commit)
            return [sibling.rfilename for sibling in info.siblings or []]
    return source.folder([INDEX]).glob("*/*.safetensors")
