"""What there is to run: backends and plug-ins, whether each works here, and what was downloaded."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from biasgraph.errors import ModelError
from biasgraph.models.backend import FLAGS, OPTION, ROLES, Backend, obstacle_of
from biasgraph.models.devices import device_of
from biasgraph.models.inference_options import ModelOptions, flag_of
from biasgraph.models.plug_ins import load_plug_in, package_of, plug_ins
from biasgraph.models.registry import BACKENDS, HUB

Record = dict[str, Any]
LIBRARIES = ("biasgraph", "torch", "diffusers", "transformers", "openai", "peft", "accelerate")
EXTRAS = {
    "openai": ("openai", "openai models"),
    "peft": ("lora", "--lora"),
    "accelerate": ("offload", "--offload"),
}
"""What brings a library that biasgraph does not require, and what it is for."""


def inventory() -> Record:
    """Everything, in JSON types: ``machine``, ``backends`` and ``downloaded``."""
    version = _version("biasgraph")
    built_in = [_entry(name, "biasgraph", version, each) for name, each in BACKENDS.items()]
    return {
        "machine": machine(),
        "backends": [*built_in, *list_plugged_in()],
        "downloaded": list(find_downloaded()),
    }


def machine() -> Record:
    """Where models would run, with how much memory, and the versions of what runs them."""
    device = device_of(ModelOptions())
    return {
        "device": device,
        "device_memory": _device_memory(device),
        "memory": _memory(),
        "cores": os.cpu_count(),
        "versions": {name: _version(name) for name in LIBRARIES},
    }


def list_plugged_in() -> Iterator[Record]:
    """The backends of other packages; a broken one has no roles and says what is wrong with it."""
    entries = list(plug_ins())
    for entry in entries:
        package, version = package_of(entry), entry.dist.version if entry.dist else None
        rivals = {package_of(other) for other in entries if other.name == entry.name} - {package}
        backend, problem = Backend("", {}), None
        if entry.name in BACKENDS:
            problem = f"biasgraph's own backend {entry.name} takes precedence"
        elif rivals:
            problem = f"{', '.join(sorted(rivals))} has a plug-in of the same name; uninstall one"
        else:
            try:
                backend = load_plug_in(entry)
            except ModelError as error:
                problem = str(error)
        yield _entry(entry.name, package, version, backend, problem)


def _entry(
    name: str, package: str, version: str | None, backend: Backend, problem: str | None = None
) -> Record:
    try:
        obstacle = problem or obstacle_of(backend)
    except ModelError as error:
        obstacle = str(error)
    return {
        "name": name,
        "package": package,
        "version": version,
        "about": str(backend.about),
        "roles": [
            {
                "role": role,
                "option": OPTION[role],
                "example": str(backend.roles[role].example),
                "reads": [flag_of(read) for read in backend.roles[role].reads],
            }
            for role in ROLES
            if role in backend.roles
        ],
        "needs": str(backend.needs),
        **{flag: getattr(backend, flag) for flag in FLAGS},
        "works": obstacle is None,
        "obstacle": obstacle,
    }


def find_downloaded() -> Iterator[Record]:
    """Models in the cache of the Hugging Face hub that some backend takes: they work offline."""
    from huggingface_hub import CacheNotFound, scan_cache_dir

    try:
        cache = scan_cache_dir()
    except (CacheNotFound, OSError):
        return
    for repository in sorted(cache.repos, key=lambda repository: repository.repo_id):
        if repository.repo_type != "model":
            continue
        for revision in sorted(repository.revisions, key=lambda revision: -revision.last_modified):
            role = _role(revision.snapshot_path)
            if role is not None and HUB[role] in BACKENDS:
                yield {
                    "spec": f"{HUB[role]}:{repository.repo_id}",
                    "role": role,
                    "revision": revision.commit_hash,
                    "bytes": revision.size_on_disk,
                }
                break


def _role(folder: Path) -> str | None:
    """What a downloaded model most likely is, by its configuration; nothing of it is loaded."""
    if next(folder.rglob("*.safetensors"), None) is None:
        return None
    if (folder / "model_index.json").is_file():
        return "generator"
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        architecture = str((config.get("architectures") or [""])[0])
        kind = str(config.get("model_type", ""))
    except (OSError, ValueError, AttributeError, LookupError, TypeError, RecursionError):
        return None
    if "clip" in kind.split("_") or kind.startswith("siglip"):
        return "embedder"
    if "vision_config" in config and "ForConditionalGeneration" in architecture:
        return "judge"
    return "language model" if architecture.endswith("ForCausalLM") else None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        if package != "biasgraph":
            return None
    from biasgraph.io.version import __version__

    return __version__


def _memory() -> int | None:
    """The machine's memory in bytes, where the system tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _device_memory(device: str) -> int | None:
    """The memory of a GPU in bytes; None for what shares the machine's."""
    if not device.startswith("cuda"):
        return None
    import torch

    return int(torch.cuda.get_device_properties(device).total_memory)


def format_bytes(size: int | None) -> str:
    """15,032,385,536 -> "14.0 GiB"; "" for None."""
    return "" if size is None else f"{size / 2**30:,.1f} GiB"
