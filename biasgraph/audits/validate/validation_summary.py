"""What a validation found, told in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biasgraph.causal.mitigation_trials import CLEAR
from biasgraph.data.findings import (
    Banner,
    Cell,
    Finding,
    Heading,
    Part,
    ScreenPart,
    Table,
    Text,
)
from biasgraph.report.words import clip, count_noun, list_names, name

Record = Mapping[str, Any]

TITLE = "Predictions against mitigations"
ABOUT = (
    "Whether diversifying an axis does to the others what Intersectional Sensitivity predicts "
    "(BiasConnect sec. 5.3)."
)
KINDS = {
    "fresh": "fresh prompts",
    "reweighted": "reweighting",
    "other_model": "other model",
}
SHARES = ("signs_kept", "clear_signs_kept", "harmed", "harmed_clearly")
SHORT = {"fresh": "fresh", "reweighted": "weighed", "other_model": "model"}
WORDS = {
    "fresh": "new images whose prompts spread an axis evenly",
    "reweighted": "the initial images weighed so that the judged attributes of an axis count the "
    "same, as far as they occur; no new images are made, and what causes the attributes still acts",
    "other_model": "another model's images of the same prompts; those axes count as mitigated that "
    "it brings closer to their ideals, and it changes all of them at once",
}
NUMBERS = {
    "r_mean": "r, mean of prompts",
    "r": "r within prompts",
    "ceiling": "its noise ceiling",
    "r_of_ceiling": "r / ceiling",
    "slope": "slope",
    "r_shared": "r, images shared",
}
CAPTION = (
    "r: of predicted IS and observed change of distance, from halves that share no image. Noise "
    "ceiling: what r would be if the prediction were right and all else noise. Slope: of observed "
    "on predicted, without the noise of the latter. Images shared: r if both sides had the same "
    "initial images, which agrees without any effect."
)


AT_ONCE = (
    "Another model changes several axes at once: here the predicted shifts of all axes that it "
    "brings closer are added, along edges, and what the sum does to the other axes is compared."
)


def summarize_validation(document: Record) -> Iterator[ScreenPart]:
    """Where the numbers come from, and what the report's section says.

    Args:
        document: What validation.json holds.
    """
    yield Banner(document["graph"]["toy"])
    yield Heading(TITLE)
    yield from _parts(document)


def section(document: Record) -> Finding:
    """The section of the report."""
    return Finding(TITLE, ABOUT, list(_parts(document)))


def _parts(document: Record) -> Iterator[Part]:
    mitigations = document["mitigations"]
    yield Text(_about(document))
    columns = ("", *(KINDS[one["kind"]] for one in mitigations))
    for what, field in (("edges", "edges"), ("pairs", "all_pairs")):
        rows = list(_agreement(what, [one[field] for one in mitigations]))
        yield Table(columns, rows, CAPTION if field == "edges" else "")
    models = [one for one in mitigations if one["kind"] == "other_model"]
    rows = list(_agreement("other axes", [one["at_once"] for one in models]))
    yield Table(("", KINDS["other_model"])[: 1 + len(models)], rows if models else [], AT_ONCE)
    yield Table(columns, list(_outcomes(mitigations)), _outcome_caption())
    yield _by_prompt(document)
    missing = [f"{KINDS[kind]}: {why}" for kind, why in document["left_out"].items()]
    if missing:
        yield Text(f"Not tried: {'; '.join(missing)}.")
    reasons = list(_reasons(mitigations))
    if reasons:
        yield Text(f"Numbers or intervals are missing: {'; '.join(reasons)}.")


def _about(document: Record) -> str:
    graph, prompts = document["graph"], document["prompts"]
    tried = "; ".join(
        f"{KINDS[one['kind']]}{_describe_images(document, one['kind'])}: {WORDS[one['kind']]}"
        for one in document["mitigations"]
    )
    return (
        f"{count_noun(len(prompts), 'prompt')} of {name(graph['model'], 300)}. Mitigations tried: "
        f"{tried}. All images are split in halves {document['splits']} times, and a number from "
        "one half is compared with one from the other: these are audits with half of the images."
    )


def _describe_images(document: Record, kind: str) -> str:
    """Which images a mitigation has beside the run's own."""
    made = document["further"].get(kind)
    if made is None:
        return ""
    known = document["mitigated_axes"] if kind == "other_model" else ()
    meant = f", known to mitigate {list_names(known)}" if known else ""
    return f" ({made['images']:,} images of each, {name(made['model'], 300)}{meant})"


def _agreement(what: str, found: Sequence[Record]) -> Iterator[list[Cell]]:
    yield [f"{what} (prompts)", *(f"{one['pairs']} ({one['prompts']})" for one in found)]
    for field, title in NUMBERS.items():
        yield [title, *(_show_estimate(one[field]) for one in found)]


def _outcomes(mitigations: Sequence[Record]) -> Iterator[list[Cell]]:
    yield ["axes mitigated", *(str(one["axes"]) for one in mitigations)]
    yield ["their distance", *(_describe_move(one) for one in mitigations)]
    yield ["directions claimed", *(str(one["signs"]) for one in mitigations)]
    yield ["came true", *(_show_estimate(one["signs_kept"]) for one in mitigations)]
    yield ["seen clearly", *(str(one["clear_signs"]) for one in mitigations)]
    yield ["came true of these", *(_show_estimate(one["clear_signs_kept"]) for one in mitigations)]
    yield ["pairs", *(str(one["pairs"]) for one in mitigations)]
    yield ["moved away", *(_show_estimate(one["harmed"]) for one in mitigations)]
    yield ["clearly so", *(_show_estimate(one["harmed_clearly"]) for one in mitigations)]


def _outcome_caption() -> str:
    return (
        "Directions claimed: towards or away, for edges, from half of the initial images, where "
        f"|IS| is at least {CLEAR:g}; the other half shows what came true; seen clearly: where the "
        "95 % interval of its change lies on one side of 0. Moved away: pairs in which mitigating "
        "one axis moved the other away from its ideal (29.4 % in BiasConnect's study); clearly "
        "so: by more than resampling the images explains."
    )


def _describe_move(one: Record) -> str:
    if one["before"] is None:
        return "-"
    return f"{one['before']:.3f} to {one['after']:.3f}"


def _by_prompt(document: Record) -> Table:
    kinds = [one["kind"] for one in document["mitigations"]]
    rows: list[list[Cell]] = [
        [
            clip(row["prompt"] or "", 60),
            str(row["edges"]),
            *(row["mitigations"][kind]["r"]["value"] for kind in kinds),
            row["max_influenced"] or "-",
            row["max_impact"] or "-",
        ]
        for row in document["prompts"]
    ]
    if len(rows) > 1:
        means = [one["edges"]["r_mean"]["value"] for one in document["mitigations"]]
        ends = [document[which] or "-" for which in ("max_influenced", "max_impact")]
        rows.append(["all", "", *means, *ends])
    columns = ("Prompt", "Edges", *(SHORT[kind] for kind in kinds), "MaxInf", "MaxImp")
    caption = (
        "r of each prompt along its edges. MaxInf: the most influenced axis; MaxImp: the one with "
        "the greatest impact."
    )
    return Table(columns, rows, caption, numeric=tuple(range(1, 2 + len(kinds))))


def _reasons(mitigations: Sequence[Record]) -> Iterator[str]:
    """Why numbers or their intervals are undefined, each reason once, with where it holds."""
    places: dict[str, list[str]] = {}
    for one in mitigations:
        found = [one[name] for name in SHARES]
        found += [one[field][number] for field in ("edges", "all_pairs") for number in NUMBERS]
        if one["kind"] == "other_model":
            found += [one["at_once"][number] for number in NUMBERS]
        for reason in dict.fromkeys(estimate["reason"] for estimate in found):
            places.setdefault(reason or "", []).append(KINDS[one["kind"]])
    for reason, kinds in places.items():
        if reason:
            yield f"{reason} ({', '.join(kinds)})"


def _show_estimate(estimate: Record) -> Cell:
    """A number with its interval below it."""
    value, low, high = (estimate[name] for name in ("value", "low", "high"))
    if value is None:
        return "-"
    return f"{value:.3f}" if low is None else (f"{value:.3f}", f"[{low:.3f}, {high:.3f}]")
