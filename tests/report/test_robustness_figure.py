"""The figure of a robustness: its lines, also where little or nothing could be measured."""

from __future__ import annotations

import re
from typing import Any

import pytest

from biasgraph.causal.robustness import spread
from biasgraph.report.robustness_figure import LOOKS, robustness_figure
from tests.hostile import HOSTILE

NOTHING = spread([])


def document(prompt: str = "a librarian", *, measured: bool = True) -> dict[str, Any]:
    some = spread([1.0, 2.0, 3.0]) if measured else NOTHING
    one = spread([1.0]) if measured else NOTHING
    measures = {"changed": some, "is_change": some, "slope": some}
    graph = {
        "prompt": prompt, "prompts": None, "model": "shop:v1", "vqa": "j", "people": False,
        "annotators": None, "images": {"initial": 48, "interventions": 96}, "toy": None,
    }  # fmt: skip
    return {
        "graph": graph,
        "draws": 3,
        "images": [
            {"images": size, "kind": kind, **measures}
            for size in (16, 24)
            for kind in ("nested", "independent")
        ]
        + [{"images": 48, "kind": "nested", **dict.fromkeys(measures, one)}],
        "errors": [
            {"rate": 0.1, "kind": kind, "slope_expected": 0.8 if measured else None, **measures}
            for kind in ("another", "unknown")
        ],
    }


def texts(figure: bytes) -> str:
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", figure.decode()))


@pytest.mark.parametrize("columns", [1, 2])
def test_every_line_is_named(columns: int) -> None:
    shown = texts(robustness_figure(document(), "svg", columns))
    for kind in ("nested", "independent", "another", "unknown"):
        assert LOOKS[kind][0] in shown
    assert "expected" in shown
    assert LOOKS["fresh"][0] not in shown
    assert "a librarian" in shown


@pytest.mark.slow(reason="two figures; those of words and prompts are like it")
def test_the_same_again_is_the_same_file() -> None:
    for kind in ("svg", "png"):
        assert robustness_figure(document(), kind) == robustness_figure(document(), kind)


def test_nothing_measured_draws_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    shown = texts(robustness_figure(document(measured=False), "svg"))
    assert "expected" not in shown
    assert LOOKS["nested"][0] not in shown
    assert capsys.readouterr() == ("", "")


def test_a_hostile_prompt_stays_text() -> None:
    assert "<script" not in robustness_figure(document(" ".join(HOSTILE)), "svg").decode()
