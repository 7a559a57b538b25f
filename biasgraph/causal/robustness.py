"""How a graph changes with fewer images (BiasConnect sec. 5.4, fig. 4 a and b).

An audit of some of a run's images is compared with another. Where both are drawn without overlap,
what differs is what two audits of so many new images would differ by, since the images of a set
are exchangeable. A part compared with the whole it was taken from shares images with it: that is
the paper's own study, and flatters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from biasgraph.causal.graph import measure_claims
from biasgraph.causal.settings import TAIL, AnalysisSettings, EdgeRule, generator
from biasgraph.causal.tables import CodedImages, Codes, Floats, Pool
from biasgraph.causal.transport import Ideal

Kind = Literal["independent", "nested", "fresh"]
Record = dict[str, Any]
Advance = Callable[[], object]

STRENGTHS = (0.0, 0.1, 0.3, 0.5, 1.0)
"""Between these values of the whole run's V, differences of edges are counted apart."""
STABLE = 0.9
"""The share of audits that must repeat a verdict of the run for it to be called stable."""
FEWEST_AUDITS = 10
"""With fewer audits of a size, their share says nothing of what is stable."""
FEWEST_PAIRS = 3
"""With fewer pairs, neither slope nor rank correlation means anything."""
MEASURES = (
    "edges", "missed", "false", "changed", "verdicts", "opposed", "is_change", "slope", "rank",
)  # fmt: skip


@dataclass(frozen=True)
class Claims:
    """What an audit says of every ordered pair of two axes.

    Attributes:
        pairs: Source and target.
        sensitivity: (pairs,) IS; not a number where it is undefined.
        strength: (pairs,) Cramér's V; not a number where it is undefined.
        edge: (pairs,) whether it is an edge.
        verdict: (pairs,) of the closed list; "" where nothing is said.
    """

    pairs: tuple[tuple[str, str], ...]
    sensitivity: Floats
    strength: Floats
    edge: npt.NDArray[np.bool_]
    verdict: npt.NDArray[np.str_]

    @property
    def defined(self) -> npt.NDArray[np.bool_]:
        """(pairs,) whether the pair could be measured."""
        return np.isfinite(self.sensitivity)


@dataclass(frozen=True)
class Auditor:
    """How the graph of a run is made of its images.

    Attributes:
        name: What random draws are named after.
        ideals: Of the variables.
        settings: Of the analysis.
        rule: When a pair is an edge.
    """

    name: str
    ideals: Sequence[Ideal]
    settings: AnalysisSettings
    rule: EdgeRule

    def claims(self, prompts: Sequence[CodedImages]) -> Claims:
        """What these images of the run's prompts say, or others of as many prompts."""
        pool = Pool.of(self.name, prompts)
        rows = measure_claims(pool, self.ideals, self.settings, self.rule)
        return Claims(
            tuple((row.source, row.target) for row in rows),
            np.array([np.nan if row.is_ is None else row.is_ for row in rows]),
            np.array([np.nan if row.cramers_v is None else row.cramers_v for row in rows]),
            np.array([row.edge for row in rows], dtype=bool),
            np.array([row.verdict or "" for row in rows], dtype=np.str_),
        )


def images_of_each(prompts: Sequence[CodedImages]) -> int:
    """How many images the largest set has: the number that a part of a run is told by."""
    return max((len(codes) for images in prompts for codes in _sets(images)), default=0)


def split(images: CodedImages, n: int, rng: np.random.Generator, of: int) -> list[CodedImages]:
    """Two parts of every set of images, drawn without overlap.

    Args:
        images: Of a prompt.
        n: How many images a part has of each set with `of` images; of smaller sets in proportion.
            Where that is more than half, the second part is what is left.
        rng: To draw with.
        of: See `images_of_each`.
    """
    parts: list[Record] = [{"arms": {}}, {"arms": {}}]

    def cut(codes: Codes) -> list[Codes]:
        size, order = len(codes) * n // of, rng.permutation(len(codes))
        return [codes[order[:size]], codes[order[size : 2 * size]]]

    for name in ("initial", "controls"):
        for part, codes in zip(parts, cut(getattr(images, name)), strict=True):
            part[name] = codes
    for arm in sorted(images.arms):
        for part, codes in zip(parts, cut(images.arms[arm]), strict=True):
            part["arms"][arm] = codes
    return [replace(images, **part) for part in parts]


@dataclass(frozen=True)
class DrawnAudits:
    """Audits that a run's images are drawn for.

    Attributes:
        auditor: How a graph is made of images.
        run: The images of each prompt.
        whole: What the run says.
        draws: How many audits of each kind or size are drawn.
        seed: Of the draws.
    """

    auditor: Auditor
    run: Sequence[CodedImages]
    whole: Claims
    draws: int
    seed: int


@dataclass(frozen=True)
class FewerImages(DrawnAudits):
    """Audits of some of a run's images, beside others and beside the whole.

    Attributes:
        fresh: As many prompts' new images, of which the run has none.
    """

    fresh: Sequence[CodedImages] = ()

    @property
    def most(self) -> int:
        """Images of each set."""
        return images_of_each(self.run)

    def audits(self, sizes: Sequence[int]) -> int:
        """How many audits `measure` analyses for these sizes."""
        return sum(
            self._draws(size) * len(self._kinds(size)) for size in sizes if not self._too_few(size)
        )

    def _draws(self, size: int) -> int:
        """How many audits of a size are drawn: there is but one of all images."""
        everything = size == self.most == images_of_each(self.fresh)
        return 1 if everything else self.draws

    def _kinds(self, size: int) -> list[Kind]:
        """What audits of this size can be compared with, the whole run aside."""
        kinds: list[Kind] = ["nested"] if size < self.most else []
        if 2 * size <= self.most:
            kinds.append("independent")
        if size <= min(self.most, images_of_each(self.fresh)):
            kinds.append("fresh")
        return kinds

    def measure(self, size: int, advance: Advance) -> tuple[list[Record], list[Claims]]:
        """What differs at this size, a row for each kind; and the audits that share no image.

        Each such row has every field of `MEASURES` as `spread` has it, and `by_strength`.
        """
        kinds, reason = self._kinds(size), self._too_few(size)
        if reason is not None:
            return [_leave_undefined(size, kind, reason) for kind in kinds], []
        drawn: dict[Kind, list[tuple[Claims, Claims]]] = {kind: [] for kind in kinds}
        apart: list[Claims] = []
        for draw in range(self._draws(size)):
            rng = generator(self.seed, self.auditor.name, "robustness", str(size), str(draw))
            parts = [split(images, size, rng, self.most) for images in self.run]
            first = self.whole
            if size < self.most:
                first = self.auditor.claims([part[0] for part in parts])
                advance()
            if "nested" in kinds:
                drawn["nested"].append((first, self.whole))
            if "independent" in kinds:
                second = self.auditor.claims([part[1] for part in parts])
                advance()
                drawn["independent"].append((first, second))
                apart += [first, second]
            if "fresh" in kinds:
                drawn["fresh"].append((self._of_fresh(size, rng), first))
                advance()
        if "fresh" in kinds:
            apart = [found for found, _ in drawn["fresh"]]
        about = {"images": size, "status": "ok"}
        rows = [
            {**about, "kind": kind, **compare(pairs, self.whole)} for kind, pairs in drawn.items()
        ]
        if "independent" not in kinds:
            reason = f"two audits of {size} need {2 * size} images, and the run has {self.most}"
            rows.append(_leave_undefined(size, "independent", reason))
        return rows, apart

    def _of_fresh(self, size: int, rng: np.random.Generator) -> Claims:
        most = images_of_each(self.fresh)
        return self.auditor.claims([split(one, size, rng, most)[0] for one in self.fresh])

    def _too_few(self, size: int) -> str | None:
        """Why no audit of this size could measure anything, if none could."""
        least = self.auditor.settings.min_valid
        taken = sum(len(images.initial) * size // self.most for images in self.run)
        if taken >= least:
            return None
        return f"{taken} images are fewer than the {least} valid answers that a number needs"


def compare(audits: Sequence[tuple[Claims, Claims]], whole: Claims) -> Record:
    """How audits differ from their references: see `differences`, over all of them.

    Args:
        audits: Each with its reference.
        whole: The run, whose V sorts the pairs.
    """
    each = [differences(found, reference) for found, reference in audits]
    return {
        "draws": len(audits),
        **{name: spread([one[name] for one in each]) for name in MEASURES},
        "by_strength": _by_strength(audits, whole),
    }


def differences(found: Claims, reference: Claims) -> dict[str, float | None]:
    """What an audit says otherwise than its reference.

    Returns:
        edges: How many it has. missed: Edges of the reference that it lacks. false: Edges that
        the reference lacks. changed: Both. verdicts: Pairs with another verdict. opposed: Pairs
        whose IS is said to point the other way. is_change: sum |dIS| / sum |IS of the reference|.
        slope: Of the least-squares line of its IS on the reference's. rank: Spearman's correlation.
        Undefined is None.
    """
    missed, false = reference.edge & ~found.edge, found.edge & ~reference.edge
    claims = {"towards": 1, "away": -1}
    signs = [np.vectorize(claims.get)(one.verdict, 0) for one in (found, reference)]
    both = found.defined & reference.defined
    said: dict[str, float | None] = {
        "edges": float(found.edge.sum()),
        "missed": float(missed.sum()),
        "false": float(false.sum()),
        "changed": float((missed | false).sum()),
        "verdicts": float((found.verdict != reference.verdict).sum()),
        "opposed": float((signs[0] * signs[1] < 0).sum()),
    }
    return said | agreement_of(found.sensitivity[both], reference.sensitivity[both])


def agreement_of(found: Floats, reference: Floats) -> dict[str, float | None]:
    """is_change, slope and rank (see `differences`) of sensitivities (pairs,), all defined."""
    from scipy.stats import spearmanr

    total = np.abs(reference).sum()
    agreement: dict[str, float | None] = {
        "is_change": float(np.abs(found - reference).sum() / total) if total else None,
        "slope": None,
        "rank": None,
    }
    if len(found) >= FEWEST_PAIRS and np.ptp(reference):
        agreement["slope"] = float(np.polyfit(reference, found, 1)[0])
        agreement["rank"] = float(spearmanr(found, reference)[0]) if np.ptp(found) else None
    return agreement


def spread(values: Sequence[float | None]) -> Record:
    """Mean of what is defined and the ends of its middle 95 %: where one draw falls, not the mean.

    What a single draw, or none, cannot tell is None.
    """
    known = [value for value in values if value is not None]
    record: Record = {"mean": None, "low": None, "high": None, "draws": len(known)}
    if known:
        record["mean"] = float(np.mean(known))
    if len(known) > 1:
        ends = np.quantile(known, [TAIL, 1 - TAIL], method="inverted_cdf")
        record["low"], record["high"] = ends.tolist()
    return record


def _by_strength(audits: Sequence[tuple[Claims, Claims]], whole: Claims) -> list[Record]:
    """Edges, missed and false ones among the pairs of each strength in the whole run."""
    places = np.searchsorted(STRENGTHS[1:-1], whole.strength, side="right")
    known, records = np.isfinite(whole.strength), []
    for place, (low, high) in enumerate(pairwise(STRENGTHS)):
        within = known & (places == place)
        counts = [
            (
                float((reference.edge & within).sum()),
                float((reference.edge & ~found.edge & within).sum()),
                float((found.edge & ~reference.edge & within).sum()),
            )
            for found, reference in audits
        ]
        edges, missed, false = (spread(column) for column in zip(*counts, strict=True))
        records.append(
            {
                "v_from": low, "v_to": high, "pairs": int(within.sum()), "edges": edges,
                "missed": missed, "false": false,
            }
        )  # fmt: skip
    return records


def verdict_stability(whole: Claims, apart: Mapping[int, Sequence[Claims]]) -> list[Record]:
    """For each pair that the run measured, how often audits of fewer images say the same of it.

    Args:
        whole: What the run says.
        apart: By their number of images, audits that share no image with another, or with the run.

    Returns:
        `same`: the share of audits of each size with the run's verdict; `stable_from`: the smallest
        size from which on that is `STABLE` at least, None where it is not even at the largest one
        of those with `FEWEST_AUDITS` or more.
    """
    records = []
    for place in np.flatnonzero(whole.defined):
        said = whole.verdict[place]
        same = [
            {
                "images": size,
                "share": float(np.mean([one.verdict[place] == said for one in audits])),
                "audits": len(audits),
            }
            for size, audits in sorted(apart.items())
        ]
        stable = None
        for one in reversed([one for one in same if one["audits"] >= FEWEST_AUDITS]):
            if one["share"] < STABLE:
                break
            stable = one["images"]
        source, target = whole.pairs[place]
        strength = whole.strength[place]
        records.append(
            {
                "source": source, "target": target, "is": float(whole.sensitivity[place]),
                "cramers_v": float(strength) if np.isfinite(strength) else None,
                "edge": bool(whole.edge[place]), "verdict": str(said), "same": same,
                "stable_from": stable,
            }
        )  # fmt: skip
    return records


def _sets(images: CodedImages) -> list[Codes]:
    return [images.initial, *images.arms.values()]


def _leave_undefined(size: int, kind: Kind, reason: str) -> Record:
    none = {name: spread([]) for name in MEASURES}
    return {
        "images": size, "kind": kind, "status": reason, "draws": 0, **none, "by_strength": [],
    }  # fmt: skip
