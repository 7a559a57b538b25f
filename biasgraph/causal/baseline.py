"""What the distributions of an analysis are compared with, and corrected by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biasgraph.causal.settings import MetricName
from biasgraph.causal.tables import Counts, Variable
from biasgraph.causal.transport import Ideal, resolve_ideals


@dataclass(frozen=True)
class Baseline:
    """Ideal, reference, labels and whether the reference was judged, travelling as one.

    Attributes:
        shares: Declared ideal shares by axis and attribute; axes that neither these nor `counts`
            name are uniform.
        counts: Counts of a reference by axis and attribute (BiasConnect supp. A.9), resampled with
            everything else.
        labelled: (k, k) counts[truth, answer] by axis, to set numbers without the judge's errors
            beside the others.
        judged: Whether the reference has the judge's errors as well.
    """

    shares: Mapping[str, Mapping[str, float]] | None = None
    counts: Mapping[str, Mapping[str, int]] | None = None
    labelled: Mapping[str, Counts] | None = None
    judged: bool = True

    @property
    def axes(self) -> set[str]:
        """The axes with an ideal of their own."""
        return {*(self.shares or {}), *(self.counts or {})}

    def ideals(self, variables: Sequence[Variable], metric: MetricName | None) -> list[Ideal]:
        """The ideal of each variable; raises InputError as `transport.resolve_ideals` does."""
        return resolve_ideals(variables, metric, self.shares, self.counts, judged=self.judged)


UNIFORM = Baseline()
"""Every axis against uniform shares."""
