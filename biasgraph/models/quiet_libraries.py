"""Loading heavy libraries without their chatter: no download bars, no advice, no telemetry."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
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
