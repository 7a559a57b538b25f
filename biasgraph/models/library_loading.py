"""Loading heavy libraries without their chatter, and their errors in one clear line."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from biasgraph.errors import FULL_DISK, BiasgraphError, ModelError, printable
from biasgraph.models.devices import is_out_of_memory, out_of_memory

OFFLINE = "a model downloaded before, or a folder, works offline"
SHOWN = 300
"""Characters of a library's own words that an error line may hold."""


@contextmanager
def silence_libraries() -> Iterator[None]:
    """Silence diffusers and transformers while a model loads or works; errors still raise."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("DISABLE_TELEMETRY", "YES")
    names = ("diffusers", "transformers", "huggingface_hub")
    from diffusers.utils import logging as diffusers_logging
    from transformers.utils import logging as transformers_logging

    before = {name: logging.getLogger(name).level for name in names}
    diffusers_logging.disable_progress_bar()
    transformers_logging.disable_progress_bar()
    for name in names:
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.filterwarnings("ignore", message=".*deprecated", category=UserWarning)
            yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def explain_loading_errors(spec: str) -> Iterator[None]:
    """Whatever goes wrong while a model is found, downloaded and loaded, as a line of ModelError.

    The libraries wrap errors in errors: the first cause that can be named is.
    """
    try:
        yield
    except BiasgraphError:
        raise
    except Exception as error:  # of four libraries and of code that came with a model
        reason = next(filter(None, map(_reason, _causes(error))), None)
        raise ModelError(
            f"cannot load {printable(spec)}: {reason or shorten_error(error)}"
        ) from error


@contextmanager
def explain_working_errors(spec: str) -> Iterator[None]:
    """Whatever a model's own files make go wrong while it works, as a line of ModelError.

    Lack of memory passes: smaller portions may fit. For calls of the libraries alone.
    """
    import numpy as np

    try:
        with np.errstate(all="ignore"):  # what comes of it is looked at
            yield
    except BiasgraphError:
        raise
    except Exception as error:  # a setting may be anything, and is read anywhere
        if is_out_of_memory(error):
            raise
        raise ModelError(
            f"{printable(spec)} fails when it is used, its files may be damaged: "
            f"{shorten_error(error)}"
        ) from error


def shorten_error(error: BaseException) -> str:
    """A library's own words on one line, cut."""
    words = printable(" ".join(str(error).split()))
    if not isinstance(error, (OSError, ValueError)):
        words = f"{type(error).__name__}: {words}"
    return words if len(words) <= SHOWN else words[:SHOWN].rstrip() + " ..."


def _causes(error: BaseException) -> Iterator[BaseException]:
    ahead = [error]
    for this in ahead:  # which grows meanwhile
        yield this
        ahead += [e for e in (this.__cause__, this.__context__) if e and e not in ahead]


HUB_UNREACHABLE = f"the hub cannot be reached; check the network ({OFFLINE})"
REASONS = {
    "GatedRepoError": "its owner asks you to accept its licence first: accept it on its hub page, "
    "then log in with `hf auth login` or set HF_TOKEN",
    "RevisionNotFoundError": "the hub has the model but not this revision (the part after the @)",
    "RepositoryNotFoundError": "the hub has no such model (and there is no such folder), or it is "
    "private: check the name, or log in with `hf auth login` or HF_TOKEN",
    "IncompleteSnapshotError": "its download was cut short, and the hub cannot be reached "
    f"({OFFLINE})",
    "OfflineModeIsEnabled": "it has not been downloaded, and HF_HUB_OFFLINE forbids that "
    f"({OFFLINE})",
    "ConnectError": HUB_UNREACHABLE,
    "ConnectionError": HUB_UNREACHABLE,
    "TimeoutException": HUB_UNREACHABLE,
    "NetworkError": HUB_UNREACHABLE,
}
"""What errors of the hub's libraries mean, by the names of their classes, the most telling first;
their modules are not imported to ask."""


def _reason(error: BaseException) -> str | None:
    """What an error means to somebody who wants to run a model; None where it is not known."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    for kind, reason in REASONS.items():
        if kind in kinds:
            return reason
    if "HfHubHTTPError" in kinds:
        status = getattr(getattr(error, "response", None), "status_code", "an error")
        return f"the hub answered {status}; rerun the same command later to resume"
    if isinstance(error, OSError) and error.errno in FULL_DISK:
        return (
            "the disk is full: make room, or set HF_HOME to a folder on another disk, and "
            "rerun the same command to resume"
        )
    if is_out_of_memory(error):
        return out_of_memory("its weights")
    if "SafetensorError" in kinds:
        return f"a weights file is damaged or cut short ({shorten_error(error)}): download it again"
    if isinstance(error, ValueError) and "trust_remote_code" in str(error):
        return "it comes with code of its own: read it, then run it with --trust-remote-code"
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = printable(error.name.partition(".")[0])
        return f"it needs a package that is not installed: pip install {package}"
    if isinstance(error, ImportError):
        named = re.search(r"pip install ([\w-]+)|requires the (\w+) library", str(error))
        if named:
            package = (named[1] or named[2]).lower()
            return f"it needs a package that is not installed: pip install {package}"
    return None
