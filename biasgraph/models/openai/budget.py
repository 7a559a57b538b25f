"""The most that a run may ask of paid servers."""

from __future__ import annotations

from dataclasses import dataclass

from biasgraph.errors import InputError, did_you_mean, printable

NAMES = ("calls", "images")
EXAMPLE = "--budget calls=1000,images=200"


@dataclass(frozen=True)
class Budget:
    """The most calls (requests of any kind) and images; None is no limit."""

    calls: int | None = None
    images: int | None = None

    @classmethod
    def of(cls, text: str | None) -> Budget:
        """``calls=1000,images=200`` or one of the two. Raises InputError."""
        limits: dict[str, int] = {}
        for part in [] if text is None else text.split(","):
            name, equals, number = (piece.strip() for piece in part.partition("="))
            if name not in NAMES:
                raise InputError(
                    f"--budget: '{printable(part.strip())}' limits neither calls nor images; "
                    f"give for example {EXAMPLE}.{did_you_mean(name, NAMES)}"
                )
            if name in limits:
                raise InputError(f"--budget limits {name} twice")
            digits = number.replace("_", "")
            if not (equals and digits.isascii() and digits.isdigit() and len(digits) < 16):
                raise InputError(
                    f"--budget: '{printable(part.strip())}' gives no number of {name}; "
                    f"give for example {EXAMPLE}"
                )
            limits[name] = int(digits)
        return cls(**limits)
