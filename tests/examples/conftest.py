"""Example packages as pip installs them, with what they bring, in folders of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Installs packages from PyPI into a folder, without what they depend on."""

    def fetch(*packages: str) -> Path:
        target = tmp_path_factory.mktemp("packages")
        done = subprocess.run(
            [*PIP, "--no-deps", "--only-binary", ":all:", "--target", target, *packages],
            capture_output=True,
            encoding="utf-8",
        )
        if done.returncode:
            why = f"pip cannot install {' '.join(packages)}: {done.stderr.strip()[-300:]}"
            if os.environ.get("CI"):
                pytest.fail(why)
            pytest.skip(why)
        return target

    return fetch


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a Python file of the checkout in an empty directory, with folders of packages."""

    def run_process(*arguments: object, packages: Path, expect: int = 0):
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": f"{packages}{os.pathsep}{ROOT}"},
            capture_output=True,
            encoding="utf-8",
            timeout=300,
        )
        assert done.returncode == expect, done.stderr
        return done

    return run_process
