"""What an installed biasgraph consists of: `packages = find:` would leave the templates out."""

from __future__ import annotations

import configparser
from pathlib import Path

ROOT = Path(__file__).parent.parent
CHECKOUT_ONLY = "biasgraph.sandbox.training"
"""Retraining the sandbox needs a checkout; the wheel ships the trained weights."""


def listed(section: str, option: str) -> list[str]:
    """The lines of a list in setup.cfg."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    return setup.get(section, option).split()


def test_every_package_is_installed() -> None:
    files = (ROOT / "biasgraph").rglob("__init__.py")
    packages = {".".join(file.parent.relative_to(ROOT).parts) for file in files}
    assert set(listed("options", "packages")) == packages - {CHECKOUT_ONLY} | {
        "biasgraph.templates"
    }


def test_every_template_is_installed() -> None:
    assert listed("options.package_data", "biasgraph.templates") == ["*/*"]
    files = [path for path in (ROOT / "templates").rglob("*") if path.is_file()]
    deep = [
        path.relative_to(ROOT / "templates") for path in files if "__pycache__" not in str(path)
    ]
    assert {len(path.parts) for path in deep if path.name != "__init__.py"} == {2}
