"""Where models run, in which number format, and how much goes through them at a time."""

from __future__ import annotations

import gc
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from biasgraph.errors import InputError, ModelError, did_you_mean, printable

if TYPE_CHECKING:
    from biasgraph.models.inference_options import ModelOptions

DEVICES = ("auto", "cpu", "cuda", "mps")

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


def device_of(options: ModelOptions) -> str:
    """The device that ``--device`` names; "auto" takes cuda, then mps, then cpu.

    Raises InputError for a device that this machine, or this build of torch, has not.
    """
    wanted = options.device or "auto"
    kind, _, number = wanted.partition(":")
    if kind not in DEVICES or not re.fullmatch(r"(cuda:\d{1,3})|[^:]+", wanted):
        raise InputError(
            f"invalid --device '{printable(wanted)}': choose from {', '.join(DEVICES)}, cuda:1 ..."
            f"{did_you_mean('cuda' if wanted.lower() == 'gpu' else wanted, DEVICES)}"
        )
    if kind == "auto":
        return next((device for device in ("cuda", "mps") if _count(device)), "cpu")
    if kind != "cpu" and int(number or 0) >= _count(kind):
        raise InputError(
            f"--device {wanted}: not available on this machine, or torch was installed without it; "
            "--device auto picks one that is"
        )
    return wanted


def dtype_of(options: ModelOptions, device: str) -> str:
    """The number format of weights, as torch names it: ``--dtype``, or what suits the device.

    float32 on a CPU; on a GPU bfloat16 where it computes in it, else float16.
    """
    if options.dtype is not None:
        return options.dtype
    if device == "cpu":
        return "float32"
    if device == "mps":
        return "float16"
    import torch

    return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float16"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory, the machine's or a GPU's, did not suffice."""
    if isinstance(error, MemoryError):
        return True
    if not isinstance(error, RuntimeError):  # torch.OutOfMemoryError is one
        return False
    said = str(error).lower()
    return type(error).__name__ == "OutOfMemoryError" or any(
        words in said
        for words in ("out of memory", "can't allocate memory", "alloc_failed", "not enough memory")
    )


def release_memory() -> None:
    """Give back what a failed attempt still holds."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
    if torch is not None and torch.backends.mps.is_available():
        torch.mps.empty_cache()


@dataclass
class Portions:
    """How many items go through a model at a time: ever more, until memory says no.

    Attributes:
        what: Names the items in an error, "images".
        size: The portion to try next; it doubles after a success and halves when memory does not
            suffice, and then stays below what failed.
        limit: The largest portion to try; None without a bound.
    """

    what: str
    size: int = 1
    limit: int | None = None
    _failed: int | None = field(default=None, init=False)

    def run(
        self, items: Sequence[Item], work: Callable[[Sequence[Item]], Sequence[Outcome]]
    ) -> list[Outcome]:
        """``work`` over all `items` in their order, a portion at a time.

        work returns one outcome an item; what it raises is passed on, but for out-of-memory,
        after which it is called with half as many.

        Raises:
            ModelError: Memory does not suffice for a single item.
        """
        done: list[Outcome] = []
        while len(done) < len(items):
            portion = items[len(done) : len(done) + self.size]
            tried = len(portion)
            try:
                done += work(portion)
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                if tried == 1:
                    raise ModelError(out_of_memory(self.what)) from error
                self._failed = min(tried, self._failed or tried)
                self.size = tried // 2
            else:
                if tried == self.size:
                    larger = min(2 * tried, self.limit or 2 * tried)
                    self.size = max(tried, larger) if larger < (self._failed or math.inf) else tried
                continue
            release_memory()  # here, where no traceback keeps the tensors alive
        return done


@contextmanager
def enough_memory(what: str) -> Iterator[None]:
    """Let what runs out of memory become a ModelError that names `what` it was needed for."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise ModelError(out_of_memory(what)) from error


def out_of_memory(what: str) -> str:
    """What to tell somebody whose memory does not suffice for one of `what`."""
    return (
        f"not enough memory for {what}, one at a time: try --offload model or --offload layers, "
        "--dtype bfloat16, a smaller --size, or a smaller model; then rerun the command to resume"
    )


def _count(kind: str) -> int:
    """How many devices of a kind torch sees."""
    if kind == "cpu":
        return 1
    if kind == "mps" and sys.platform != "darwin":
        return 0
    if kind == "cuda" and _has_no_gpu_build():
        return 0
    import torch

    if kind == "mps":
        return int(torch.backends.mps.is_available())
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def _has_no_gpu_build() -> bool:
    """Whether torch was built for CPUs only, which its version file tells without loading it.

    A finished build is read again without torch; looking for a GPU must not load it either.
    """
    torch_module: Any = find_spec("torch")
    if torch_module is None or not torch_module.origin:
        return True
    try:
        said = (Path(torch_module.origin).parent / "version.py").read_text("utf-8")
    except OSError:
        return False
    built_for = dict(re.findall(r"^(cuda|hip|xpu)\b[^=\n]*= *(.+)$", said, re.MULTILINE))
    return built_for.get("cuda") == "None" and built_for.get("hip", "None") == "None"
