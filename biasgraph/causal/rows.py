"""The rows of a graph: nodes, pairs, links and counts, each a frozen dataclass.

A field says what it holds, in which unit and range, and where it is defined. graph.json, the tables
and the field tables of docs/files.md follow from the fields. A field's name is its key there, less
an underscore at the end (`is_`: Python keeps the word for itself).
"""

# ruff: noqa: RUF009  (every call makes a field, none a value)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

from biasgraph.causal.fields import UNSET, GraphRow, Unset, change, measure
from biasgraph.causal.settings import MetricName

Sign = Literal["towards", "away", "undetermined"]
Verdict = Literal[
    "towards",
    "away",
    "below_delta",
    "edge_undetermined",
    "common_shift",
    "below_min_v",
    "undecided",
]
Status = Literal["ok", "degenerate", "insufficient"]
Role = Literal["initial", "counterfactual", "control"]
Shares = tuple[float, ...]
Ends = tuple[float, float]

METRICS = "nominal, ordinal, index, values, cost"

_name = partial(measure, unit="name")
_text = partial(measure, unit="text", range="any", source="BiasConnect sec. 3.1")
_axis = partial(measure, unit="name", range="an axis", source="BiasConnect sec. 3.1")
_attributes = partial(measure, unit="names", range="attributes", source="BiasConnect sec. 3.1")
_records = partial(measure, unit="by record", range="by record")
_flags = partial(measure, unit="names", range="flags", source="Flags", default=())
_truth = partial(measure, unit="", range="true, false")
_images = partial(measure, unit="images", range=">= 0")
_share = partial(measure, unit="share", range="0 to 1")
_w1 = partial(measure, unit="W1", range=">= 0", source="BiasConnect eq. 1")
_graph = partial(measure, range=">= 0", source="The graph")
_test = partial(measure, source="BiasConnect sec. 3.3", default=None)
_p = partial(_test, unit="probability", range="0 to 1")
_v = partial(_test, unit="Cramér's V", range="0 to 1", source="Pairs")
_is = partial(measure, unit="W1", range="any", source="BiasConnect eq. 4", default=None)
_end = partial(_is, source="Pairs")
_moved = partial(measure, unit="share", range="0 to 1", source="Pairs", default=None)
_prompts = partial(measure, unit="prompts", range=">= 0", source="Many prompts", default=UNSET)
_mean_w1 = partial(measure, unit="W1", range=">= 0", source="Many prompts", default=UNSET)
_looks = partial(measure, unit="", range=">= 1", source="Until decided", default=UNSET)
_differ = partial(measure, source="Many prompts", default=None)
_differ_p = partial(_differ, unit="probability", range="0 to 1")
_differ_v = partial(_differ, unit="Cramér's V", range="0 to 1")
_errors = {"source": "What is not corrected"}
_corrected = partial(_end, **_errors, default=UNSET)
_wording = {"source": "Wording controls"}
_controlled = partial(_is, **_wording, default=UNSET)


@dataclass(frozen=True, kw_only=True)
class InitialAnswers(GraphRow):
    """The answers about one axis in the initial images."""

    counts: tuple[int, ...] = _images("initial images with each attribute")
    distribution: Shares | None = _share("`counts` / `n_valid`")
    n_total: int = _images("all initial images: `n_gated` + `n_unknown` + `n_valid`")
    n_gated: int = _images("those withheld, or without what the gate question asks for")
    n_unknown: int = _images("those with an unknown answer, or one that is not listed")
    n_valid: int = _images("those with one of the attributes")


@dataclass(frozen=True, kw_only=True)
class NullBand(GraphRow):
    """How far images drawn from the ideal itself lie from it."""

    mean: float | None = _w1("mean of `w1` when as many images follow the ideal", default=None)
    q95: float | None = _w1("95 % quantile of `w1` in that case", default=None)


@dataclass(frozen=True, kw_only=True)
class PromptsTest(GraphRow):
    """Whether prompts differ from one another in their initial images."""

    n_prompts: int = _prompts("prompts with a valid answer", default=0)
    statistic: float | None = _differ(
        "test of the prompts against the answers about the axis", unit="chi-square", range=">= 0"
    )
    dof: int | None = _differ("its degrees of freedom", unit="", range=">= 0")
    p: float | None = _differ_p("its p-value")
    p_adjusted: float | None = _differ_p("Benjamini-Hochberg's, over the axes")
    method: str | None = _differ(
        "how `p` was computed; null: nothing to test", unit="name", range="asymptotic, monte_carlo"
    )
    cramers_v: float | None = _differ_v("how much the prompts differ")
    cramers_v_corrected: float | None = _differ_v("the same, bias-corrected (Bergsma 2013)")


@dataclass(frozen=True, kw_only=True)
class ManipulationCheck(GraphRow):
    """Whether naming an axis's attributes changed the axis itself."""

    p: float | None = _p("test of the axis under its own interventions")
    cramers_v: float | None = _v("strength of that association")
    accuracy: float | None = _share("answers that name the attribute asked for", default=None)


@dataclass(frozen=True, kw_only=True)
class ControlAnswers(GraphRow):
    """The images of neutral rewordings: how far wording alone moves an axis."""

    counts: tuple[int, ...] = _images("their images with each attribute", **_wording)
    n_valid: int = _images("those with one of the attributes", **_wording)
    w1: float | None = _w1("their distance to the ideal", **_wording, default=None)
    is_: float | None = _is("`w1` of the node less theirs", **_wording)
    is_ci_low: float | None = _is("its 95 % interval, lower end", **_wording)
    is_ci_high: float | None = _is("upper end", **_wording)
    shift_p: float | None = _p("the initial images against theirs", **_wording)


@dataclass(frozen=True, kw_only=True)
class CorrectedAnswers(GraphRow):
    """The initial images of one axis without the judge's errors."""

    distribution: Shares = _share("`initial.distribution` without the judge's errors", **_errors)
    distribution_ci: tuple[Ends, ...] = _share("its 95 % bootstrap intervals", **_errors)
    ideal: Shares = _share("`ideal`, corrected where the same judge saw it", **_errors)
    w1: float = _w1("distance between the two", **_errors)
    w1_ci: Ends = _w1("its 95 % bootstrap interval", **_errors)


@dataclass(frozen=True, kw_only=True)
class NodeRow(GraphRow):
    """One axis: its initial images, and its place in the graph."""

    id: str = _axis("the axis")
    metric: MetricName = _name("its ground metric", range=METRICS)
    attributes: tuple[str, ...] = _attributes("its attributes")
    initial: InitialAnswers
    distribution_ci: tuple[Ends, ...] | None = _share("Wilson 95 % interval of each share")
    distribution_bounds: tuple[Ends, ...] | None = _share("how far unknown answers could move it")
    ideal: Shares = _share("ideal distribution", source="BiasConnect sec. 3.4")
    w1: float | None = _w1("Wasserstein-1 distance to the ideal", default=None)
    w1_ci: Ends | None = _w1("its 95 % bootstrap interval", default=None)
    w1_null: NullBand = NullBand()
    near_ideal: bool | None = _truth("whether `w1` is at most `w1_null.q95`", default=None)
    n_mean_prompts: int | Unset = _prompts(
        "prompts with a `w1` of their own; this and what follows, to `prompts_test`, only with "
        "several prompts"
    )
    w1_mean_prompt: float | Unset | None = _mean_w1("mean of the prompts' own `w1`")
    w1_mean_prompt_ci: Ends | Unset | None = _mean_w1("its 95 % interval")
    w1_mean_prompt_null: NullBand | Unset = _mean_w1(
        "the same mean when each prompt's images follow its ideal"
    )
    cancel_p: float | Unset | None = _differ_p(
        "that the prompts are no further from the ideal than their sum, one-sided",
        default=UNSET,
    )
    prompts_test: PromptsTest | Unset = _differ(
        "whether the prompts differ", unit="", range="", default=UNSET
    )
    status: Status = _name("whether `w1` could be computed", range="ok, insufficient")
    flags: tuple[str, ...] = _flags("what to know")
    findings: Mapping[str, object] = _records(
        "what other methods found", source="[methods.md](methods.md)", default_factory=dict
    )
    cost: tuple[Shares, ...] | Unset = _w1(
        "costs between the attributes; only with the metric `cost`", default=UNSET
    )
    reference: tuple[int, ...] | Unset = _images(
        "counts that `ideal` was taken from; only with `--reference`", default=UNSET
    )
    corrected: CorrectedAnswers | Unset | None = UNSET
    control: ControlAnswers | Unset = UNSET
    diagonal: ManipulationCheck = ManipulationCheck()
    out_degree: int = _graph("edges that leave the axis", unit="edges", default=0)
    in_degree: int = _graph("edges that enter it", unit="edges", default=0)
    out_strength: float = _graph("sum of |IS| of the edges that leave it", unit="W1", default=0.0)
    in_strength: float = _graph("sum of |IS| of the edges that enter it", unit="W1", default=0.0)


@dataclass(frozen=True, kw_only=True)
class PairRow(GraphRow):
    """An ordered pair of axes, edge or not."""

    source: str = _axis("the axis that is diversified")
    target: str = _axis("the axis that may move with it")
    metric: MetricName = _name("ground metric of the target", range=METRICS)
    statistic: float | None = _test(
        "test of the interventions on `source` against the answers about `target`",
        unit="chi-square",
        range=">= 0",
    )
    dof: int | None = _test("its degrees of freedom", unit="", range=">= 0")
    p: float | None = _p("its p-value")
    p_adjusted: float | None = _p("Benjamini-Hochberg's, over all pairs of different axes")
    method: str | None = _test(
        "how `p` was computed: chi-square or, within prompts, Cochran-Mantel-Haenszel",
        unit="name",
        range="asymptotic, monte_carlo, cmh, cmh_monte_carlo",
    )
    cramers_v: float | None = _v("strength of the association")
    cramers_v_corrected: float | None = _v("the same, bias-corrected (Bergsma 2013)")
    detectable_v: float | None = _v("smallest V that could be significant")
    detectable_v_80: float | None = _v("V that is detected in 80 % of cases")
    v_high: float | None = _v("upper end of a one-sided 95 % interval of V")
    w1_before: float | None = _w1("the target's distance to its ideal, initially", default=None)
    w1_after: float | None = _w1("the same when `source` is diversified", default=None)
    is_: float | None = _is("Intersectional Sensitivity: `w1_before` - `w1_after`")
    is_matched: float | None = _end(
        "IS at equal sample sizes: has a say in the sign; quoted near the ideal"
    )
    is_matched_ci_low: float | None = _end("95 % interval of `is_matched`, lower end")
    is_matched_ci_high: float | None = _end("upper end")
    is_ci_low: float | None = _end("95 % interval of `is`, lower end")
    is_ci_high: float | None = _end("upper end")
    ci_percentile_low: float | None = _end("percentile bootstrap interval of `is`, lower end")
    ci_percentile_high: float | None = _end("upper end")
    ci_basic_low: float | None = _end("basic bootstrap interval of `is`, lower end")
    ci_basic_high: float | None = _end("upper end")
    moved: str | None = measure(
        "the target's attribute whose share changes most when `source` is diversified",
        unit="name",
        range="an attribute",
        source="Pairs",
        default=None,
    )
    share_before: float | None = _moved("its share of the initial images")
    share_before_ci_low: float | None = _moved("its 95 % interval, lower end")
    share_before_ci_high: float | None = _moved("upper end")
    share_after: float | None = _moved("its share of the mixture of the arms")
    share_after_ci_low: float | None = _moved("its 95 % interval, lower end")
    share_after_ci_high: float | None = _moved("upper end")
    sign: Sign | None = _name(
        "where the target moves, of edges and common shifts alone",
        range="towards, away, undetermined",
        source="Pairs",
        default=None,
    )
    sign_probability: float | None = _p(
        "share of resamples of `is_matched` above 0", source="Pairs"
    )
    shift_p: float | None = _p("initial images against all interventions together", source="Pairs")
    shift_p_adjusted: float | None = _p(
        "Benjamini-Hochberg's, over all pairs of different axes", source="Pairs"
    )
    edge: bool = _truth("whether the pair is an edge", source="Pairs", default=False)
    verdict: Verdict | None = _name(
        "what may be said of the pair", range="verdicts", source="Verdicts", default=None
    )
    status: Status = _name(
        "of the test", range="ok, degenerate, insufficient", source="Pairs", default="insufficient"
    )
    flags: tuple[str, ...] = _flags("what to know; in tables with `;` between them")
    w1_before_corrected: float | Unset | None = _corrected(
        "`w1_before` without the judge's errors; this and the next four only with `--correct`",
        range=">= 0",
    )
    w1_after_corrected: float | Unset | None = _corrected("`w1_after` without them", range=">= 0")
    is_corrected: float | Unset | None = _corrected("`is` without them")
    is_corrected_ci_low: float | Unset | None = _corrected("its 95 % interval, lower end")
    is_corrected_ci_high: float | Unset | None = _corrected("upper end")
    is_controlled: float | Unset | None = _controlled(
        "`is` with the images of neutral rewordings in the place of the initial ones; "
        "this and the next four only with controls"
    )
    is_controlled_ci_low: float | Unset | None = _controlled("its 95 % interval, lower end")
    is_controlled_ci_high: float | Unset | None = _controlled("upper end")
    sign_controlled: Sign | Unset | None = _name(
        "where the target moves from there",
        range="towards, away, undetermined",
        **_wording,
        default=UNSET,
    )
    shift_p_controlled: float | Unset | None = measure(
        "their images against all interventions together",
        unit="probability",
        range="0 to 1",
        **_wording,
        default=UNSET,
    )
    decided: bool | Unset | None = _looks(
        "whether the pair was decided, null where nothing could be; this and the next three only "
        "with `--until decided`",
        unit="",
        range="true, false",
    )
    look: int | Unset | None = _looks(
        "the look at which it was, or the last one at it, which all its numbers are of"
    )
    look_images: int | Unset | None = _looks("images of each prompt by then", unit="images")
    edge_look: int | Unset | None = _looks("the look at which its arms were found to differ")
    log_e: float | Unset | None = _looks(
        "log of the evidence that the arms differ; only with `--fdr` besides", range="any"
    )
    n_prompts: int | Unset = _prompts(
        "prompts with answers about the pair; this and the next two only with several prompts"
    )
    n_mean_prompts: int | Unset = _prompts("prompts with an `is` of their own")
    is_mean_prompt: float | Unset | None = _prompts(
        "mean of their `is`; opposite effects cancel in `is`, not here", unit="W1", range="any"
    )


SHARE_FIELDS = (
    *("moved", "share_before", "share_before_ci_low", "share_before_ci_high"),
    *("share_after", "share_after_ci_low", "share_after_ci_high"),
)
LATER_FIELDS = ("v_high", "shift_p_adjusted", "verdict", *SHARE_FIELDS)
"""Of pairs; runs that were analysed before there were these lack them."""


@dataclass(frozen=True, kw_only=True)
class LinkRow(PairRow):
    """A pair that is an edge, with the table that was tested."""

    rows: tuple[str, ...] = _attributes("attributes of `source`, the rows of `table`")
    columns: tuple[str, ...] = _attributes("attributes of `target`, its columns")
    table: tuple[tuple[int, ...], ...] = _images("contingency table", source="BiasConnect sec. 3.3")
    mediation: tuple[Mapping[str, object], ...] = _records(
        "axes that may stand between, with checks and verdicts", source="Pairs", default=()
    )
    weight: float = _is("the same number as `is`")


@dataclass(frozen=True, kw_only=True)
class CountRow(GraphRow):
    """One count of tables.csv."""

    prompt: str = _text("the initial prompt")
    role: Role = _name(
        "which images were counted; `control`: of its neutral rewordings",
        range="initial, counterfactual, control",
        source="BiasConnect sec. 3.1",
    )
    axis: str = _axis("the axis intervened on; empty but for counterfactuals")
    attribute: str = _text("the attribute it names; empty but for counterfactuals")
    target: str = _axis("the axis asked about")
    answer: str = _text(
        "an attribute of `target`, `unknown` or `gated`", source="BiasConnect sec. 3.2"
    )
    count: int = _images("images with this answer")


Flagged = TypeVar("Flagged", NodeRow, PairRow)


def flag(row: Flagged, *flags: str) -> Flagged:
    """The row with more flags behind those it has."""
    return change(row, flags=(*row.flags, *flags))
