"""Every decision of the analysis that a user may take differently, checked once."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_type_hints

import numpy as np

from biasgraph.errors import InputError, did_you_mean

Preset = Literal["default", "paper"]
MetricName = Literal["nominal", "ordinal", "index", "values", "cost"]
SignRule = Literal["matched", "is"]
Decide = Literal["edges", "directions"]

TAIL = 0.025  # left out on each side of every interval, which is thus a 95 % one
FDR_LEVEL = 0.05
SHIFT_ALPHA = 0.05
BOUND_LEVEL = 0.05  # of a one-sided upper bound
SMALLEST_ALPHA = 1e-6  # below it the Monte Carlo fallback would need over 10 million tables

_PAPER: dict[str, Any] = {
    "metric": "values",
    "mix": "pooled",
    "fallback": "off",
    "min_valid": 1,
    "sign": "is",
    "global_test": "pooled",
}
_RETIRED = ("amplification_replicates",)
_OF_THE_RUN = ("looks", "decide")
LATER_SETTINGS = ("global_alpha", "global_min_is", "global_test", "delta", "min_v", *_OF_THE_RUN)
"""What graphs of version 0.1.0 lack."""
_LEAST = {
    "min_valid": 1,
    "bootstrap": 100,
    "noise_draws": 0,
    "seed": 0,
}


@dataclass(frozen=True)
class EdgeRule:
    """When a pair of axes is an edge: p <= alpha, or as `fdr` says, and |IS| >= min_is.

    Attributes:
        alpha: The level of p, in (0, 1).
        fdr: None where alpha decides, else how p is adjusted to be at most .05.
        min_is: The smallest |IS| of an edge, in the target's metric.
        stratified: Whether p is of the test within prompts, not of the summed table.
    """

    alpha: float
    fdr: Literal["bh", "by"] | None
    min_is: float = 0.0
    stratified: bool = False

    def level(self, family: int) -> float:
        """The strictest level that a pair of this family may have to pass to become an edge."""
        if self.fdr is None or family == 0:
            return self.alpha
        harmonic = sum(1 / i for i in range(1, family + 1)) if self.fdr == "by" else 1.0
        return FDR_LEVEL / (family * harmonic)


@dataclass(frozen=True, kw_only=True)
class AnalysisSettings:
    """The options of one analysis.

    Attributes:
        preset: Where options that are not given come from.
        alpha: An edge of a prompt's graph needs p <= alpha (1e-4: BiasConnect sec. 3.3).
        global_alpha: An edge of a graph of several prompts needs p <= this (5e-5: supp. A.8) ...
        global_min_is: ... and |IS| of at least this, in the target's own metric (.03: supp. A.8).
        global_test: Whether its p is of the test within prompts ("cmh") or of the summed table
            ("pooled").
        fdr: None (alpha decides), or "bh" / "by": the adjusted p at level .05 decides.
        metric: None takes each axis's own; a name overrides all axes.
        mix: Arms of an intervention weigh "equal" or by their valid answers ("pooled", supp. A.8).
        fallback: "auto" draws null tables where expected counts are low; "off" never does.
        yates: Whether 2 x 2 tables get Yates's correction.
        min_valid: Fewest valid answers in the initial images and in every arm.
        unknown: Unknown answers are left out ("exclude"), a class of their own ("class", which
            needs an ideal), or refused ("error").
        sign: Of the matched sensitivity and the shift ("matched"), or of the plain one ("is").
        delta: An edge whose |IS| is bounded below this says that the arms differ, and no more.
        min_v: A pair whose V is bounded below this has no link worth looking for.
        bootstrap: Multinomial resamples for each interval of a node or pair.
        noise_draws: Draws for the amplification's noise floor; 0 skips it.
        seed: Of every random draw, together with the names of what is drawn.
        looks: Images of each prompt at which pairs are looked at until they are decided, in rising
            order (`causal.sequential`); every level and tail is divided by their number. None
            where the number of images was fixed in advance.
        decide: When a pair stops: once it is known whether it is an edge, or also which way.

    Raises:
        InputError: A value is not allowed.
    """

    preset: Preset = "default"
    alpha: float = 1e-4
    global_alpha: float = 5e-5
    global_min_is: float = 0.03
    global_test: Literal["cmh", "pooled"] = "cmh"
    fdr: Literal["bh", "by"] | None = None
    metric: MetricName | None = None
    mix: Literal["equal", "pooled"] = "equal"
    fallback: Literal["auto", "off"] = "auto"
    yates: bool = False
    min_valid: int = 16
    unknown: Literal["exclude", "class", "error"] = "exclude"
    sign: SignRule = "matched"
    delta: float = 0.05
    min_v: float = 0.3
    bootstrap: int = 2000
    noise_draws: int = 500
    seed: int = 0
    looks: tuple[int, ...] = ()
    decide: Decide = "directions"

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self)).items():
            choices = () if name == "looks" else _choices(hint)
            if choices:
                _check_choice(name, getattr(self, name), choices)
        _check_alpha(self.alpha, self.fallback, self.shared)
        _check_alpha(self.global_alpha, self.fallback, self.shared)
        _check_least("min_is", self.global_min_is)
        _check_least("delta", self.delta)
        _check_least("min_v", self.min_v)
        for name, least in _LEAST.items():
            _check_whole(name, getattr(self, name), least)
        if list(self.looks) != sorted({*self.looks}) or min(self.looks, default=1) < 1:
            raise InputError(f"looks must be rising numbers of images, not {self.looks!r}.")

    @property
    def shared(self) -> int:
        """How many looks share every error; 1 where the number of images is fixed."""
        return max(1, len(self.looks))

    @property
    def tail(self) -> float:
        """What every interval leaves out on each side."""
        return TAIL / self.shared

    @property
    def shift_alpha(self) -> float:
        """The level of the shift test, the second witness of a direction."""
        return SHIFT_ALPHA / self.shared

    @property
    def bound_level(self) -> float:
        """The level of the one-sided upper bound of V."""
        return BOUND_LEVEL / self.shared

    @property
    def prompt_rule(self) -> EdgeRule:
        """When a pair is an edge of one prompt's graph."""
        return EdgeRule(self.alpha / self.shared, self.fdr)

    @property
    def global_rule(self) -> EdgeRule:
        """When a pair is an edge of the graph of several prompts."""
        stratified = self.global_test == "cmh"
        alpha = self.global_alpha / self.shared
        return EdgeRule(alpha, self.fdr, self.global_min_is, stratified)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> AnalysisSettings:
        """Those of a graph.json; what earlier versions knew and this one does not is left out.

        So are the looks of a run: what is computed from it afterwards takes its images as they are.

        Raises InputError where a value is not allowed, TypeError where there is none of the name.
        """
        left_out = (*_RETIRED, *_OF_THE_RUN)
        return cls(**{name: value for name, value in record.items() if name not in left_out})

    @classmethod
    def resolve(cls, preset: str = "default", **explicit: Any) -> AnalysisSettings:
        """The settings of a preset with explicit options on top.

        Args:
            preset: "default" or "paper".
            explicit: Options by name; None means "not given". A given alpha holds for graphs of one
                and of several prompts alike.

        Raises:
            InputError: The preset, an option or a value does not exist.
        """
        _check_choice("preset", preset, get_args(Preset))
        known = [field.name for field in fields(cls)]
        for name in explicit:
            if name not in known:
                raise InputError(f"Unknown analysis option {name!r}.{did_you_mean(name, known)}")
        given = {name: value for name, value in explicit.items() if value is not None}
        if "alpha" in given:
            given.setdefault("global_alpha", given["alpha"])
        return cls(**{**(_PAPER if preset == "paper" else {}), **given, "preset": preset})


def generator(seed: int, *names: str) -> np.random.Generator:
    """A random generator that depends on the seed and the names alone, never on call order."""
    key = "\x1f".join((str(seed), *names)).encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest(), "big"))


def _choices(hint: Any) -> tuple[Any, ...]:
    """The values of a Literal, an optional one (None among them) or a truth value."""
    if hint is bool:
        return (True, False)
    optional = (None,) if type(None) in get_args(hint) else ()
    parts = (get_args(part) or (part,) for part in get_args(hint) if part is not type(None))
    return (*optional, *itertools.chain.from_iterable(parts))


def _check_choice(name: str, value: object, allowed: tuple[Any, ...]) -> None:
    if value not in allowed:
        words = [str(choice) for choice in allowed if choice is not None]
        hint = did_you_mean(str(value), words)
        raise InputError(f"{name} must be one of {', '.join(words)}, not {value!r}.{hint}")


def _check_alpha(alpha: float, fallback: str, looks: int) -> None:
    if not (isinstance(alpha, float) and 0 < alpha < 1):
        raise InputError(f"alpha must lie between 0 and 1, not {alpha!r}.")
    if fallback == "auto" and alpha / looks < SMALLEST_ALPHA:
        raise InputError(
            f"alpha below {SMALLEST_ALPHA * looks:g} needs fallback off: "
            "too many tables would have to be drawn."
        )


def _check_least(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise InputError(f"{name} must be a number of at least 0, not {value!r}.")


def _check_whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}.")
