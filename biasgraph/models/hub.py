"""Where a model's files come from: a folder, the cache of the Hugging Face hub, or the hub."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from biasgraph.errors import FULL_DISK, BiasgraphError, InputError, ModelError, printable
from biasgraph.models.devices import is_out_of_memory, out_of_memory
from biasgraph.models.fingerprints import fingerprint
from biasgraph.models.options import Spec

SAFE_FILES = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja")
"""What is downloaded: weights that cannot run code, configurations, vocabularies, templates."""

ELSEWHERE = ("original/*", "onnx/*", "openvino/*", "coreml/*", "*.onnx_data", "*.gguf")
"""The same weights over again in formats of other libraries."""

COMMIT = re.compile(r"[0-9a-f]{40}")
NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)
OFFLINE = "a model downloaded before, or a folder, works without network"
SHOWN = 300
"""Characters of a library's own words that an error line may hold."""


@dataclass(frozen=True)
class Source:
    """A model's files.

    Attributes:
        spec: what the user typed.
        name: a folder, or ``owner/model`` on the hub.
        revision: a branch, tag or commit of the hub; None is the default branch.
        trust_remote_code: whether code that came with the model may be downloaded and run.
    """

    spec: str
    name: str
    revision: str | None
    local: bool
    trust_remote_code: bool = field(default=False, kw_only=True)

    @classmethod
    def of(cls, spec: Spec, *, trust_remote_code: bool = False) -> Source:
        """Where the model that a spec names is.

        Raises:
            InputError: no name, a folder that is not there, or what can be no name on the hub.
        """
        said, backend = printable(spec.text), printable(spec.backend)
        if not spec.rest.strip():
            raise InputError(f"'{said}' names no model: {backend}:NAME or {backend}:FOLDER")
        for name, revision in ((spec.rest, None), (spec.name, spec.revision)):
            path = Path(os.path.expanduser(name))
            if path.is_dir():
                if revision is not None:
                    raise InputError(f"'{said}': {printable(name)} is a folder, without revisions")
                return cls(spec.text, str(path), None, True, trust_remote_code=trust_remote_code)
            if path.is_file():
                raise InputError(
                    f"'{said}': {printable(name)} is a file; name the folder that "
                    "save_pretrained wrote, with its configurations"
                )
        if _looks_local(spec.rest):
            raise InputError(f"'{said}': there is no folder {printable(spec.rest)}")
        if not NAME.fullmatch(spec.name):
            raise InputError(
                f"'{said}': {printable(spec.name)} is neither a folder nor a name on the hub, "
                "owner/model[@revision]"
            )
        return cls(spec.text, spec.name, spec.revision, False, trust_remote_code=trust_remote_code)

    @cached_property
    def fingerprint(self) -> str:
        """Changes whenever the weights do, or code that is run; no weights are downloaded.

        Raises ModelError as `loading_errors` does.
        """
        if self.local:
            return fingerprint(Path(self.name), code=self.trust_remote_code)
        return f"hub:{self.name}@{self.commit}"

    @cached_property
    def commit(self) -> str:
        """The commit on the hub; without network the one that was downloaded last.

        Raises ModelError as `loading_errors` does.
        """
        revision = self.revision or "main"
        if COMMIT.fullmatch(revision):
            return revision
        with loading_errors(self.spec):
            from huggingface_hub import HfApi

            hub = HfApi()
            if hasattr(hub, "resolve_revision"):  # keeps what it finds, for times without network
                return str(hub.resolve_revision(self.name, revision=revision).resolved)
            return str(hub.model_info(self.name, revision=revision).sha)

    def folder(
        self, patterns: Sequence[str] | None = None, ignore: Sequence[str] = ELSEWHERE
    ) -> Path:
        """The folder with the model's files, downloaded where they are not there yet.

        patterns: which files, as `fnmatch` reads them; by default `SAFE_FILES`, of which there
        must be weights. Pickled weights are never downloaded.

        Raises ModelError as `loading_errors` does, and where there are only pickled weights;
        InputError for a folder of something else.
        """
        if self.local:
            folder = Path(self.name)
            if patterns is None and not (folder / "config.json").is_file():
                raise InputError(
                    f"'{printable(self.spec)}' is no model of transformers: it has no config.json "
                    "(pipelines are loaded by diffusers:)"
                )
            return folder
        wanted = [*(patterns or SAFE_FILES), *(["*.py"] if self.trust_remote_code else [])]
        with loading_errors(self.spec):
            from huggingface_hub import snapshot_download

            with _bars(shown=patterns is None and sys.stderr.isatty()):
                folder = Path(
                    snapshot_download(
                        self.name,
                        revision=self.commit,
                        allow_patterns=wanted,
                        ignore_patterns=list(ignore),
                    )
                )
        if patterns is None and next(folder.rglob("*.safetensors"), None) is None:
            raise ModelError(
                f"{printable(self.spec)} has no safetensors weights, and others can run code when "
                "they are loaded: convert them, or take another model"
            )
        return folder


def _looks_local(name: str) -> bool:
    return name.startswith(("/", "./", "../", "~", ".\\")) or "\\" in name or name.count("/") > 1


@contextmanager
def _bars(*, shown: bool) -> Iterator[None]:
    """Bars of downloads: of weights and on a terminal only."""
    from huggingface_hub.utils.tqdm import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    before = are_progress_bars_disabled()
    if not shown:
        disable_progress_bars()
    try:
        yield
    finally:
        if not before and not shown:
            enable_progress_bars()


@contextmanager
def loading_errors(spec: str) -> Iterator[None]:
    """Whatever goes wrong while a model is found, downloaded and loaded, as a line of ModelError.

    The libraries wrap errors in errors: the first cause that can be named is.
    """
    try:
        yield
    except BiasgraphError:
        raise
    except Exception as error:  # of four libraries and of code that came with a model
        reason = next(filter(None, map(_reason, _causes(error))), None)
        raise ModelError(f"cannot load {printable(spec)}: {reason or shortened(error)}") from error


def shortened(error: BaseException) -> str:
    """A library's own words on one line, cut."""
    words = printable(" ".join(str(error).split()))
    if not isinstance(error, (OSError, ValueError)):
        words = f"{type(error).__name__}: {words}"
    return words if len(words) <= SHOWN else words[:SHOWN].rstrip() + " ..."


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    ahead: list[BaseException | None] = [error]
    while ahead:
        this = ahead.pop(0)
        if this is not None and id(this) not in seen:
            seen.add(id(this))
            yield this
            ahead += [this.__cause__, this.__context__]


def _reason(error: BaseException) -> str | None:
    """What an error means to somebody who wants to run a model; None where it is not known."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "GatedRepoError" in kinds:
        return (
            "its owner wants its licence accepted first: open its page on the hub, accept, then "
            "log in with `hf auth login` or set HF_TOKEN"
        )
    if "RevisionNotFoundError" in kinds:
        return "the hub has the model, but not this revision (what stands behind the @)"
    if "RepositoryNotFoundError" in kinds:
        return (
            "the hub has no such model (nor is there such a folder), or it is private: check the "
            "name, or log in with `hf auth login` or HF_TOKEN"
        )
    if "IncompleteSnapshotError" in kinds:
        return f"its download was cut short, and the hub cannot be reached now ({OFFLINE})"
    if kinds & {"OfflineModeIsEnabled"}:
        return f"it was not downloaded yet, and HF_HUB_OFFLINE forbids it ({OFFLINE})"
    if kinds & {"ConnectError", "ConnectionError", "TimeoutException", "NetworkError"}:
        return f"the hub cannot be reached: is there a network? ({OFFLINE})"
    if "HfHubHTTPError" in kinds:
        status = getattr(getattr(error, "response", None), "status_code", "an error")
        return f"the hub answered {status}; try again later, the same command goes on"
    if isinstance(error, OSError) and error.errno in FULL_DISK:
        return (
            "the disk is full: make room, or set HF_HOME to a folder on another disk; the same "
            "command goes on"
        )
    if is_out_of_memory(error):
        return out_of_memory("its weights")
    if "SafetensorError" in kinds:
        return f"a weights file is damaged or cut short ({shortened(error)}): download it again"
    if isinstance(error, ValueError) and "trust_remote_code" in str(error):
        return "it brings code of its own: read it first, then --trust-remote-code runs it"
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = printable(error.name.partition(".")[0])
        return f"it needs a package that is not installed: pip install {package}"
    if isinstance(error, ImportError):
        named = re.search(r"pip install ([\w-]+)|requires the (\w+) library", str(error))
        if named:
            package = (named[1] or named[2]).lower()
            return f"it needs a package that is not installed: pip install {package}"
    return None
