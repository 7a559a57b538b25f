"""Where a model's files come from: a folder, the cache of the Hugging Face hub, or the hub."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from biasgraph.errors import InputError, ModelError, printable
from biasgraph.io.text_files import IRREGULAR
from biasgraph.models.inference_options import Spec
from biasgraph.models.library_loading import explain_loading_errors

SAFE = (".safetensors", ".json", ".txt", ".model", ".jinja")
"""What is downloaded: weights that cannot run code, configurations, vocabularies, templates."""

ELSEWHERE = ("original/*", "onnx/*", "openvino/*", "coreml/*", "*.onnx_data", "*.gguf")
"""The same weights over again in formats of other libraries."""

COMMIT = re.compile(r"[0-9a-f]{40}")
NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)


@dataclass(frozen=True)
class Source:
    """A model's files.

    Attributes:
        spec: What the user typed.
        name: A folder, or ``owner/model`` on the hub.
        revision: A branch, tag or commit of the hub; None is the default branch.
        trust_remote_code: Whether code that came with the model may be downloaded and run.
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
            InputError: No name, a folder that is not there or holds what never ends, or what can be
                no name on the hub.
        """
        said, backend = printable(spec.text), printable(spec.backend)
        if not spec.rest.strip():
            raise InputError(f"'{said}' names no model; give {backend}:NAME or {backend}:FOLDER")
        for name, revision in ((spec.rest, None), (spec.name, spec.revision)):
            path = Path(os.path.expanduser(name))
            if path.is_dir():
                if revision is not None:
                    raise InputError(f"'{said}': {printable(name)} is a folder, without revisions")
                _refuse_endless(path)
                return cls(spec.text, str(path), None, True, trust_remote_code=trust_remote_code)
            if path.is_file():
                raise InputError(
                    f"'{said}': {printable(name)} is a file; name the folder that "
                    "save_pretrained wrote, with its configurations"
                )
        if _looks_local(spec.rest):
            raise InputError(f"'{said}': no such folder")
        if not NAME.fullmatch(spec.name):
            raise InputError(
                f"'{said}': {printable(spec.name)} is neither a folder nor a name on the hub, "
                "owner/model[@revision]"
            )
        return cls(spec.text, spec.name, spec.revision, False, trust_remote_code=trust_remote_code)

    @cached_property
    def fingerprint(self) -> str:
        """Changes whenever the weights do, or code that is run; no weights are downloaded.

        Raises ModelError as `explain_loading_errors` does.
        """
        if self.local:
            return fingerprint(Path(self.name), code=self.trust_remote_code)
        return f"hub:{self.name}@{self.commit}"

    @cached_property
    def commit(self) -> str:
        """The commit on the hub; without network the one that was downloaded last.

        Raises ModelError as `explain_loading_errors` does.
        """
        revision = self.revision or "main"
        if COMMIT.fullmatch(revision):
            return revision
        with explain_loading_errors(self.spec):
            from huggingface_hub import HfApi

            hub = HfApi()
            if hasattr(hub, "resolve_revision"):  # keeps what it finds, for times without network
                return str(hub.resolve_revision(self.name, revision=revision).resolved)
            return str(hub.model_info(self.name, revision=revision).sha)

    def folder(
        self, patterns: Sequence[str] | None = None, ignore: Sequence[str] = ELSEWHERE
    ) -> Path:
        """The folder with the model's files, downloaded where they are not there yet.

        patterns: which files, as `fnmatch` reads them; by default `SAFE` ones, of which there
        must be weights. Pickled weights are never downloaded.

        Raises ModelError as `explain_loading_errors` does, and for pickled weights alone;
        InputError for a folder of something else.
        """
        if self.local:
            folder = Path(self.name)
            if patterns is None and not (folder / "config.json").is_file():
                raise InputError(
                    f"'{printable(self.spec)}' is not a transformers model: it has no config.json "
                    "(diffusers: loads pipelines)"
                )
            return folder
        wanted = [*(patterns or [f"*{suffix}" for suffix in SAFE])]
        if self.trust_remote_code:
            wanted.append("*.py")
        with explain_loading_errors(self.spec):
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
                f"{printable(self.spec)} has no safetensors weights; other formats can run code "
                "when they are loaded: convert them, or choose another model"
            )
        return folder


@dataclass(frozen=True)
class SourcedModel:
    """A model that is known by its files.

    Attributes:
        source: Where they are.
    """

    source: Source

    @property
    def spec(self) -> str:
        """What the user typed."""
        return self.source.spec

    @property
    def fingerprint(self) -> str:
        """Changes whenever the weights do."""
        return self.source.fingerprint


def _refuse_endless(folder: Path) -> None:
    """Raise InputError for a folder with a pipe or a device: whoever reads it never comes back."""
    try:
        for path in folder.rglob("*"):
            if path.exists() and not path.is_dir() and not path.is_file():
                raise InputError(f"cannot read the model's {printable(str(path))}: {IRREGULAR}")
    except OSError as error:
        name = printable(str(folder))
        raise InputError(f"cannot read the model {name}: {error.strerror}") from None


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


def fingerprint(*folders: Path, code: bool = False) -> str:
    """``sha256:`` and a digest of every weight and configuration file in model folders.

    Nothing is loaded; 20 MB take some 20 ms. code: of every Python file, too, where these are run.

    Raises:
        ModelError: A folder holds no safetensors file, or cannot be read.
    """
    digest = hashlib.sha256()
    suffixes = (*SAFE, ".py") if code else SAFE
    for folder in folders:
        try:
            files = [path for path in folder.rglob("*") if path.suffix in suffixes]
            files.sort(key=lambda path: path.parts)  # paths themselves compare by system
            if not any(path.suffix == ".safetensors" for path in files):
                raise ModelError(f"no safetensors weights in {printable(str(folder))}")
            for path in files:
                digest.update(path.relative_to(folder).as_posix().encode())
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            raise ModelError(f"cannot read the model {printable(str(folder))}: {error}") from error
    return f"sha256:{digest.hexdigest()[:32]}"
