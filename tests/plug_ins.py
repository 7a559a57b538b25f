"""Packages with entry points, as pip leaves them."""

from __future__ import annotations

from pathlib import Path


def add_package(group: str, folder: Path, name: str, entries: dict[str, str], code: str) -> None:
    """Put a package into a folder: a module and its metadata."""
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    info = folder / f"{name}-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.0\n")
    lines = [f"{entry} = {value}" for entry, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))
