"""What a build compares with: shares that were declared, answers as a reference, or neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from biasgraph.audits.build_options import BuildOptions
from biasgraph.audits.ideals.ideal_file import read_ideal
from biasgraph.audits.ideals.reference import (
    Counts,
    Reference,
    admit,
    is_folder_of_images,
    read_reference,
)
from biasgraph.causal.baseline import Baseline
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import Counts as Labelled
from biasgraph.causal.tables import Variable
from biasgraph.causal.transport import resolve_ideals
from biasgraph.causal.unknown_answers import check_unknown_class
from biasgraph.errors import InputError, printable

UNIFORM = "uniform"
Judge = tuple[str | None, str | None]


@dataclass(frozen=True)
class DeclaredIdeals:
    """The ideals of a build; axes that neither part names are uniform.

    Attributes:
        shares: By axis and attribute.
        shares_from: The name of where they come from.
        reference: Answers or counts that serve as ideal.
        expected: Axes about which photographs will be the reference once they are asked.
        unknown_class: Whether unknown answers are an attribute of their own.
        judge: Who answered about the images, as spec and fingerprint, where that is known.
    """

    shares: Mapping[str, Mapping[str, float]] | None
    shares_from: str | None
    reference: Reference | None
    expected: Sequence[str]
    unknown_class: bool
    judge: Judge

    @classmethod
    def of(
        cls,
        options: BuildOptions,
        variables: Sequence[Variable],
        judge: Judge = (None, None),
        *,
        with_axes: bool,
        expected: Sequence[str] = (),
    ) -> DeclaredIdeals:
        """The ideals that options name, for some variables.

        Args:
            options: They name an ideal, a reference, both or neither.
            variables: The axes of the build.
            judge: Who answered about the images.
            with_axes: Whether the variables were declared, so that other answers in a reference
                are mistakes.
            expected: The axes of photographs that are still to be asked about.

        Raises:
            InputError: A file is wrong, an axis has both an ideal and a reference, or the
                reference is a folder of images that nobody will be asked about.
        """
        unknown_class = options.unknown == "class"
        shares, shares_from = _declared_shares(options, variables)
        reference = None
        if not expected and options.reference is not None:
            if is_folder_of_images(options.reference):
                raise InputError(
                    f"--reference {printable(str(options.reference))} is a folder of images, which "
                    "a model must answer questions about, and with --answers no model runs: build "
                    "the folder first (--model folder:DIR) and give that run's directory"
                )
            unlisted = options.unlisted or ("error" if with_axes else "unknown")
            reference = read_reference(
                options.reference,
                variables,
                unlisted_unknown=unlisted == "unknown",
                unknown_class=unknown_class,
            )
        referred = [variable.name for variable in reference.variables] if reference else expected
        both = [name for name in referred if name in (shares or {})]
        if both:
            raise InputError(
                f"{printable(both[0])} has both an ideal (--ideal) and a reference (--reference): "
                "give one of them"
            )
        return cls(shares, shares_from, reference, expected, unknown_class, judge)

    def with_reference(self, reference: Reference, prompts: Sequence[str]) -> DeclaredIdeals:
        """The same with what photographs show, once that is known.

        Raises:
            InputError: An axis has no valid answer about any of the photographs.
        """
        declared = replace(self, reference=reference, expected=())
        declared._check_counts(prompts)
        return declared

    def baseline(self, prompts: Sequence[str], labelled: Mapping[str, Labelled] | None) -> Baseline:
        """What a graph of some prompts is compared with, and corrected by."""
        judged = self.reference is None or self.reference.is_judged_by(*self.judge)
        return Baseline(self.shares, self.counts(prompts), labelled, judged)

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
        # What photographs will show is not known yet, only that it is no uniform ideal.
        to_come = {
            variable.name: dict.fromkeys(variable.attributes, 1)
            for variable in variables
            if variable.name in self.expected
        }
        counts = self._check_counts(prompts) or to_come or None
        if not self.unknown_class:
            resolve_ideals(variables, settings.metric, self.shares, counts)
            return
        for variable in variables:  # the ideal has one attribute more than the axes
            check_unknown_class(variable, settings, {*(self.shares or {}), *(counts or {})})

    def farthest(
        self, variables: Sequence[Variable], settings: AnalysisSettings
    ) -> dict[str, float | None]:
        """By variable, the largest distance that any images can have to its ideal.

        None where the ideal is a reference, whose shares may be another's for each prompt, or has
        an attribute more than the variable.
        """
        if self.unknown_class:
            return {variable.name: None for variable in variables}
        referred = {*self.expected, *(v.name for v in getattr(self.reference, "variables", ()))}
        known = [variable for variable in variables if variable.name not in referred]
        ideals = resolve_ideals(known, settings.metric, self.shares, None)
        most = {v.name: ideal.farthest for v, ideal in zip(known, ideals, strict=True)}
        return {variable.name: most.get(variable.name) for variable in variables}

    def _check_counts(self, prompts: Sequence[str]) -> Counts | None:
        """The counts for all prompts; refuses a reference that has none for one of them."""
        for prompt in prompts:
            self.counts([prompt])
        return self.counts(prompts)

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


def _declared_shares(
    options: BuildOptions, variables: Sequence[Variable]
) -> tuple[Mapping[str, Mapping[str, float]] | None, str | None]:
    """The shares that options declare, and the name of where they come from."""
    if not isinstance(options.ideal, str | Path):
        return options.ideal, None if options.ideal is None else "given"
    allowed = admit(variables, unknown_class=options.unknown == "class")
    return read_ideal(options.ideal, allowed), Path(options.ideal).name
