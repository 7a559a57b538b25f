"""Options: what they read and refuse, and functions that take settings."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from biasgraph.data.options import TEXT, Settings, option, options_of, reuse, settings, takes
from biasgraph.errors import InputError


@settings(panel="Shapes")
class Shape(Settings):
    """A settings dataclass with one option of every kind."""

    name: str = option("What to call it.", kw_only=False)
    label: str | None = option("Any text.", default=None, metavar=TEXT)
    sides: int | None = option("How many sides.", default=None, low=3, usual="as many as fit")
    share: float | None = option("A share.", default=None, low=0, high=1)
    tail: int | None = option("A tail.", default=None, high=8)
    tilt: float = option("Degrees.", default=1.5)
    colours: str | Sequence[str] | None = option("Colours.", default=None, kind=list)
    fill: Literal["none", "solid"] | None = option("How to fill it.", default=None)
    judge_size: int | None = option("Pixels.", default=None, flags=("-s", "--vqa-size"))
    closed: bool = option("Whether it is closed.", default=False, panel="Lines")
    file: Path | None = option("Where it goes.", default=None)


@settings()
class Square(Shape):
    """Another one, which uses options of the first again."""

    side: int = reuse(Shape, "sides", default=4, help="Its side.")


def test_options_are_completed_by_annotations_and_panels() -> None:
    options = options_of(Shape)
    assert {name: about.kind for name, about in options.items()} == {
        "name": str, "label": str, "sides": int, "share": float, "tail": int, "tilt": float,
        "colours": list, "fill": str, "judge_size": int, "closed": bool, "file": Path,
    }  # fmt: skip
    assert options["fill"].choices == ("none", "solid")
    assert (options["fill"].panel, options["closed"].panel) == ("Shapes", "Lines")
    assert options["judge_size"].flag("judge_size") == "--vqa-size"
    assert options["sides"].flag("sides") == "--sides"


def test_defaults_are_said_in_one_way() -> None:
    options = options_of(Square)
    assert options["sides"].text() == "How many sides. Default: as many as fit."
    assert options["side"].text(4) == "Its side. Default: 4."
    assert options["tilt"].text(1.5) == "Degrees. Default: 1.5."
    assert options["closed"].text(False) == "Whether it is closed."


@pytest.mark.parametrize("colours", ["red, blue,", ("red", "blue"), ["red ", "blue"]])
def test_names_are_a_list_or_one_text(colours: Any) -> None:
    assert Shape("a", colours=colours).colours == ("red", "blue")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": " "}, "--name is empty"),
        ({"colours": ","}, "--colours is empty"),
        ({"colours": []}, "--colours is empty"),
        ({"sides": 2}, "--sides must be at least 3, not 2"),
        ({"sides": 3.5}, "--sides must be a whole number, not 3.5"),
        ({"sides": True}, "--sides must be a whole number, not True"),
        ({"sides": "4\n"}, r"--sides must be a whole number, not '4\\n'"),
        ({"judge_size": "big"}, "--vqa-size must be a whole number"),
        ({"share": 2}, "--share must be from 0 to 1, not 2"),
        ({"sides": 10**400}, "--sides must be a whole number of at most 63 bits$"),
        ({"tail": -(10**400)}, "--tail must be a whole number of at most 63 bits$"),
        ({"tail": 9}, "--tail must be at most 8, not 9"),
        ({"share": float("nan")}, "--share must be from 0 to 1, not nan"),
        ({"tilt": float("inf")}, "--tilt must be a number, not inf"),
        ({"fill": "solis"}, "invalid --fill 'solis': choose from none, solid. Did you mean 'solid"),
    ],
)
def test_what_an_option_does_not_take_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        Shape(**{"name": "a", **given})


def test_what_an_option_takes() -> None:
    shape = Shape("a", label="", sides=np.int64(3), share=0, tilt=2)
    assert (shape.label, shape.sides, shape.share, shape.tilt) == ("", 3, 0, 2)
    assert replace(shape, sides=4).sides == 4
    with pytest.raises(FrozenInstanceError):
        shape.sides = 5  # type: ignore[misc]


def test_a_function_that_takes_settings() -> None:
    @takes(Square)
    def draw(square: Square) -> str:
        """Draw it.

        Returns:
            Its name and side.
        """
        return f"{square.name} {square.side}"

    assert draw("a", side=5) == "a 5"
    assert draw.__doc__ is not None
    assert draw.__doc__.startswith("Draw it.\n\nArgs:\n    name: What to call it.\n    label: ")
    assert draw.__doc__.endswith("side: Its side. Default: 4.\n\nReturns:\n    Its name and side.")
    signature = inspect.signature(draw)
    assert [*signature.parameters] == [*options_of(Square)]
    assert signature.parameters["name"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert signature.parameters["side"].kind is inspect.Parameter.KEYWORD_ONLY
    assert signature.return_annotation == "str"
    with pytest.raises(InputError, match=r"^unknown option 'sidez'. Did you mean 'side'\?$"):
        draw("a", sidez=5)  # type: ignore[call-arg]
