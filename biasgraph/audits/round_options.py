"""The options of images in rounds, made until pairs are decided."""

from __future__ import annotations

from typing import Literal

from biasgraph.causal.looks import LOOKS
from biasgraph.data.options import Settings, optional, settings
from biasgraph.errors import InputError

ROUNDS = "Images until decided"
"""The panel of ``--help``."""


@settings(panel=ROUNDS)
class RoundOptions(Settings):
    """Images only where they still decide something."""

    until: Literal["decided"] | None = optional(
        "Make images in rounds, only of prompts whose pairs are still open, until every pair is "
        "an edge with a direction, is an edge whose |IS| is below --delta, or has no link above "
        "--min-v.",
        usual="a fixed number of images of each prompt, --images",
    )
    decide: Literal["edges", "directions"] | None = optional(
        "Stop when an edge is found, or only when its direction is known as well.",
        usual="directions",
    )
    max_images: int | None = optional(
        f"The most images of a prompt; of the looks at {', '.join(map(str, LOOKS))}, later ones "
        "are left out.",
        low=LOOKS[0],
        high=LOOKS[-1],
        usual=str(LOOKS[-1]),
    )
    budget_images: int | None = optional(
        "Begin no round that would bring the images of all prompts above this.",
        low=1,
        usual="no limit",
    )

    def check_rounds(self, others: dict[str, object], sign: str, *, pictured: bool) -> None:
        """Raise InputError for options without effect, or for others that exclude rounds.

        sign: that of the analysis, by --sign or a preset; pictured: no images are made.
        """
        if self.until is None:
            for name in ("decide", "max_images", "budget_images"):
                if getattr(self, name) is not None:
                    flag = "--" + name.replace("_", "-")
                    raise InputError(f"{flag} has no effect without --until decided")
            return
        for name, why in _EXCLUDED.items():
            if others.get(name) is not None:
                raise InputError(f"--{name} and --until decided exclude each other: {why}")
        if pictured and self.budget_images is not None:
            raise InputError(
                "--budget-images has no effect on existing images: --max-images bounds how many "
                "of each prompt are looked at"
            )
        if sign == "is" and self.decide != "edges":
            raise InputError(
                "--sign is (also by --preset paper) and --until decided exclude each other: plain "
                "IS claims a direction without a significance level, so the first look would "
                "decide every pair; give --decide edges or --sign matched"
            )


_EXCLUDED = {
    "images": "rounds say how many images are made; --max-images bounds them",
    "correct": "corrected numbers are of all images, and decisions of those at a look; build "
    "--answers corrects them afterwards",
}
