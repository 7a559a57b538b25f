"""Names of folders that are made of texts: prompts, specs and files."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

OUTPUTS = Path("outputs")
"""Where runs go unless -o says otherwise."""


def folder_name(text: str) -> str:
    """`slug` of a text and a hash of it: one safe part of a path, another one for each text."""
    return f"{slug(text)}-{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def slug(text: str) -> str:
    """`text` as one part of a path on any system: letters, digits and dashes, at most 60."""
    return re.sub(r"[\W_]+", "-", text)[:60].strip("-") or "unnamed"
