"""What a build compares with: shares that were declared, answers as a reference, or neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from biasgraph.audits.ideals.ideal_file import read_ideal
from biasgraph.audits.ideals.reference import Counts, Reference, is_folder_of_images, read_reference
from biasgraph.audits.options import BuildOptions
from biasgraph.causal.graph import UNKNOWN_CLASS, check_unknown_class
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import Variable
from biasgraph.causal.transport import resolve_ideals
from biasgraph.errors import InputError, printable

UNIFORM = "uniform"
Judge = tuple[str | None, str | None]


@dataclass(frozen=True)
class Declared:
    """The ideals of a build; axes that neither part names are uniform.

    shares: by axis and attribute, and the name of where they come from. judge: who answered about
    the images, as spec and fingerprint, where that is known.
    """

    shares: Mapping[str, Mapping[str, float]] | None
    shares_from: str | None
    reference: Reference | None
    unknown_class: bool
    judge: Judge

    @classmethod
    def of(
        cls,
        options: BuildOptions,
        variables: Sequence[Variable],
        reference: Reference | None = None,
        judge: Judge = (None, None),
        *,
        with_axes: bool,
    ) -> Declared:
        """The ideals that options name, for some variables.

        reference: the one of photographs, which the options' folder has become; with_axes:
        whether the variables were declared, so that other answers in a reference are mistakes.

        Raises InputError: a file is wrong, an axis has both an ideal and a reference, or the
        reference is a folder of images that nobody has been asked about.
        """
        unknown_class = options.unknown == "class"
        shares = _shares(options, variables, unknown_class=unknown_class)
        if reference is None and options.reference is not None:
            if is_folder_of_images(options.reference):
                raise InputError(
                    f"--reference {printable(str(options.reference))} is a folder of images: a "
                    "model has to be asked about them, and with --answers none is. Build the "
                    "folder itself first (--model folder:DIR) and give that run's directory"
                )
            unlisted = options.unlisted or ("error" if with_axes else "unknown")
            reference = read_reference(
                options.reference,
                variables,
                unlisted_unknown=unlisted == "unknown",
                unknown_class=unknown_class,
            )
        both = [one.name for one in (reference.variables if reference else ())]
        both = [name for name in both if name in (shares or {})]
        if both:
            raise InputError(
                f"{printable(both[0])} has both an ideal (--ideal) and a reference (--reference): "
                "give one of them"
            )
        return cls(shares, _shares_from(options), reference, unknown_class, judge)

    @property
    def judged(self) -> bool:
        """Whether the reference has the errors of the judge of the images."""
        return self.reference is None or self.reference.is_judged_by(*self.judge)

    def counts(self, prompts: Sequence[str]) -> Counts | None:
        """The reference's counts for a graph of some prompts; None without a reference."""
        if self.reference is None:
            return None
        return self.reference.counts(prompts, unknown_class=self.unknown_class)

    def check(
        self, variables: Sequence[Variable], settings: AnalysisSettings, prompts: Sequence[str]
    ) -> None:
        """Raise InputError for an ideal or a metric that the variables do not admit.

        prompts: those of the build; the reference needs valid answers for the graph of each.
        """
        counts = self.counts(prompts)
        for prompt in prompts:
            self.counts([prompt])
        if not self.unknown_class:
            resolve_ideals(variables, settings.metric, self.shares, counts)
            return
        for variable in variables:  # the ideal has one attribute more than the axes
            check_unknown_class(variable, settings, {*(self.shares or {}), *(counts or {})})

    def record(self, prompts: Sequence[str]) -> dict[str, Any]:
        """What graph.json says of where the ideal comes from."""
        sources = [self.shares_from, self.reference and self.reference.source]
        named = dict.fromkeys(name for name in sources if name)
        record: dict[str, Any] = {
            "source": " and ".join(named) or UNIFORM,
            "axes": list(self.shares or {}),
        }
        if self.reference is not None:
            record["axes"] += [variable.name for variable in self.reference.variables]
            record["reference"] = self.reference.record(prompts)
        return record

    def remarks(self, prompts: Sequence[str]) -> list[str]:
        """What a reader of the graph should know of the reference."""
        return [] if self.reference is None else self.reference.remarks(prompts, *self.judge)


def _shares(
    options: BuildOptions, variables: Sequence[Variable], *, unknown_class: bool
) -> Mapping[str, Mapping[str, float]] | None:
    if not isinstance(options.ideal, str | Path):
        return options.ideal
    if unknown_class:
        variables = [
            replace(variable, attributes=(*variable.attributes, UNKNOWN_CLASS))
            for variable in variables
        ]
    return read_ideal(options.ideal, variables)


def _shares_from(options: BuildOptions) -> str | None:
    if options.ideal is None:
        return None
    return Path(options.ideal).name if isinstance(options.ideal, str | Path) else "given"
