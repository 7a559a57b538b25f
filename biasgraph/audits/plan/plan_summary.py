"""A mitigation plan told in parts: the strategies, the plan, and its verification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biasgraph.causal.flags import FLAG_WORDS
from biasgraph.causal.planning import SURE
from biasgraph.data.findings import Banner, Cell, Heading, ScreenPart, Sentences, Table, Text
from biasgraph.report import judge_words
from biasgraph.report.words import count_noun, list_first, list_names, name, with_ci, with_interval

Record = Mapping[str, Any]

NOTHING_TO_VERIFY = {
    "nothing_planned": "The plan holds no intervention: there is nothing to verify.",
    "nothing_joint": "The plan holds a single intervention, whose outcome the run has already "
    "measured: there is nothing to verify.",
}

ENDINGS = {
    "steps": "The requested number of interventions is reached.",
    "all_set": "Every target is diversified itself.",
}


def summarize_plan(document: Record) -> Iterator[ScreenPart]:
    """The strategies for each axis, the plan for several, and what its verification found.

    Args:
        document: What plan.json holds.
    """
    graph, strategies, plan = document["graph"], document["strategies"], document["plan"]
    axes = strategies["axes"]
    yield Banner(graph["toy"])
    yield Text(_about(graph))
    yield Heading("Which single intervention brings each axis closest to its ideal")
    yield _strategies(axes)
    yield Sentences("No recommendation", list(_open(axes)))
    yield Sentences("No intervention of its own called for", list(_describe_spared(axes)))
    yield Sentences("Brought along, but not all the way", list(_brought(axes)))
    effects = list(_effects(strategies))
    yield Sentences("What the recommended interventions do to other axes", effects)
    yield Heading("Plan for several axes at once")
    yield from _steps(plan)
    if document["verification"] is not None:
        yield Heading("Verification")
        yield from _verification(document["verification"], _attributes(plan))


def _about(graph: Record) -> str:
    images, prompts = graph["images"], graph["prompts"]
    subject = f"{len(prompts)} prompts" if prompts else f"the prompt '{name(graph['prompt'], 300)}'"
    judge = judge_words.judge(graph, 300) if graph["vqa"] else "whoever made the answers table"
    return (
        f"Mitigation plan for {subject}: {images['initial']:,} initial and "
        f"{images['interventions']:,} counterfactual images of {name(graph['model'], 300)}, judged "
        f"by {judge}; ideal: {name(graph['ideal']['source'], 300)}."
    )


def _strategies(axes: Sequence[Record]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for axis in axes:
        needed = "not called for" if axis["verdict"] == "near_ideal" else None
        cells: tuple[Cell, ...] = (needed, "", "", "")
        if axis["recommended"]:
            best = axis["strategies"][0]
            gain = with_interval(best["is"], best["is_ci_low"], best["is_ci_high"], sign="+")
            source = "itself" if best["direct"] else name(best["axis"])
            cells = (source, gain, best["w1_after"], f"{best['p_best']:.0%}")
        rows.append((name(axis["axis"]), axis["w1"], *cells))
    columns = ("Axis", "Distance", "Diversify", "takes off", "leaves", "best in")
    return Table(columns, rows, numeric=(1, 3, 4, 5))


def _open(axes: Sequence[Record]) -> Iterator[str]:
    for axis in axes:
        shares = [
            f"{name(strategy['axis'])} {strategy['p_best']:.0%}"
            for strategy in axis["strategies"]
            if strategy["axis"] in axis["contenders"]
        ]
        each = list_first(shares, "axes")
        apart = f"the best one cannot be singled out (best of the resamples in: {each})"
        verdicts = {
            "any": f"{apart}; each of them brings it closer to its ideal: any would do.",
            "undecided": f"{apart}, and not each of them is seen to help.",
            "nothing": "no intervention is seen to bring it closer to its ideal.",
            "insufficient": "too few valid answers, or no interventions.",
        }
        if axis["verdict"] in verdicts:
            yield f"{name(axis['axis'])}: {verdicts[axis['verdict']]}"
    for axis in axes:
        best = axis["strategies"][0] if axis["recommended"] else None
        if best is not None and "weak_intervention" in best["flags"]:
            yield f"{name(best['axis'])}: {FLAG_WORDS['weak_intervention']}."


def _describe_spared(axes: Sequence[Record]) -> Iterator[str]:
    for axis in axes:
        chance = f"chance alone gives up to {axis['by_chance'] or 0:.3f}"
        if axis["verdict"] == "near_ideal":
            away = axis["w1_ci"] and f", truly perhaps up to {axis['w1_ci'][1]:.3f}"
            yield (
                f"{name(axis['axis'])}: {axis['n_valid']} images cannot tell it from its ideal, "
                f"which is not closeness (distance {axis['w1']:.3f}{away or ''}; {chance})."
            )
        for way in axis["brought_by"]:
            if way["all_the_way"]:
                yield (
                    f"{name(axis['axis'])}: where {name(way['axis'])} is diversified anyway, "
                    f"that leaves it {way['w1_after']:.3f} from its ideal ({chance})."
                )


def _brought(axes: Sequence[Record]) -> Iterator[str]:
    for axis in axes:
        partly = [way for way in axis["brought_by"] if not way["all_the_way"]]
        ways = [f"{name(way['axis'])} (to {way['w1_after']:.3f})" for way in partly]
        if ways:
            moved = f"{name(axis['axis'])}, from {axis['w1']:.3f}"
            yield f"{moved}, by diversifying {', '.join(ways)}."


def _effects(strategies: Record) -> Iterator[str]:
    alone = []
    for intervention in strategies["interventions"]:
        towards, away = intervention["towards"], intervention["away"]
        effects = [f"brings {list_names(towards)} closer to the ideal"] if towards else []
        effects += [f"moves {list_names(away)} away from the ideal"] if away else []
        if effects:
            rest = len(intervention["undetermined"])
            others = "other axis is" if rest == 1 else f"other {rest} axes are"
            yield f"{name(intervention['axis'])}: {'; '.join(effects)}; the {others} undetermined."
        else:
            alone.append(name(intervention["axis"]))
    if alone:
        yield f"{', '.join(alone)}: undetermined for every other axis."
    if strategies["comparisons"]:
        yield (
            f"{strategies['comparisons']} strategies were weighed. A recommendation is best in "
            f"{SURE:.0%} of the resamples and seen to help; an axis is said to move only where the "
            "graph has an edge with a direction."
        )


# The greedy plan


def _attributes(plan: Record) -> dict[str, list[str]]:
    return {goal["axis"]: goal["attributes"] for goal in plan["goals"]}


def _steps(plan: Record) -> Iterator[ScreenPart]:
    before, attributes = plan["before"], _attributes(plan)
    if before is None:
        yield Text("No target has enough valid answers.")
        return
    weights = ", ".join(f"{name(goal['axis'])} {goal['weight']:g}" for goal in plan["goals"])
    everything = plan["source"] is None
    yield Text(f"Targets: {'all axes, equally weighted' if everything else weights}.")
    yield Text(plan["assumption"])
    rows = [("nothing", with_ci(before["total"], before["total_ci"]), "", "")]
    rows += [
        (
            f"{number}. {name(step['axis'])}",
            with_ci(step["total"], step["total_ci"]),
            _gain(step),
            f"to {step['chance']:.3f}",
        )
        for number, step in enumerate(plan["steps"], start=1)
    ]
    total = "Sum of distances" if everything else "Weighted sum of distances"
    columns = ("Diversify", total, "gain", "by chance")
    yield Table(columns, rows, numeric=(1, 2, 3))
    if not everything:
        yield Heading("Now")
        yield _state(before, attributes)
        for (label, *_), step in zip(rows[1:], plan["steps"], strict=True):
            yield Heading(f"After {label}, the best next step in {step['p_best']:.0%} of resamples")
            yield _state(step, attributes)
    yield Sentences("Where it ends", list(_ending(plan)))


def _gain(step: Record) -> str:
    return with_ci(step["gain"], step["gain_ci"], sign="+")


def _state(state: Record, attributes: Mapping[str, Sequence[str]]) -> Table:
    """Every target's distance and distribution."""
    rows = [
        (
            name(target["axis"]),
            with_ci(target["distance"], target["distance_ci"]),
            _shares(target["distribution"], attributes[target["axis"]]),
        )
        for target in state["targets"]
    ]
    return Table(("Target", "Distance", "Shares"), rows, numeric=(1,))


def _shares(distribution: Sequence[float], attributes: Sequence[str]) -> str:
    pairs = [f"{name(a)} {share:.0%}" for a, share in zip(attributes, distribution, strict=True)]
    return list_first(pairs, "attributes")


def _ending(plan: Record) -> Iterator[str]:
    if plan["stopped"] == "no_gain":
        step = plan["next"]
        yield (
            "No further intervention lowers the sum by more than chance: the best next one would "
            f"be {name(step['axis'])}, gain {_gain(step)}; chance alone gives up to "
            f"{step['chance']:.3f}."
        )
    else:
        yield ENDINGS.get(plan["stopped"], "No intervention is left.")
    missing = [goal["axis"] for goal in plan["goals"] if goal["status"] != "ok"]
    for what, axes in (("Left out", plan["left_out"]), ("Targets left out", missing)):
        if axes:
            yield f"{what} for too few valid answers: {list_names(axes)}."


# Verification


def _verification(
    verification: Record, attributes: Mapping[str, Sequence[str]]
) -> Iterator[ScreenPart]:
    if verification["status"] != "ok":
        yield Text(NOTHING_TO_VERIFY[verification["status"]])
        return
    yield Text(
        f"Images with {', '.join(map(name, verification['axes']))} set at once: "
        f"{count_noun(verification['combinations'], 'combination')}, "
        f"{verification['images_per_combination']:,} each, {verification['images']:,} in all, "
        f"such as '{name(verification['prompts'][0], 300)}'."
    )
    rows: list[tuple[Cell, ...]] = [
        (
            name(row["axis"]),
            row["predicted"]["distance"],
            with_ci(row["found"]["distance"], row["found"]["distance_ci"]),
            f"{row['found']['n_valid']}/{row['found']['n_total']}",
            with_ci(row["error"], row["error_ci"], sign="+"),
        )
        for row in verification["targets"]
    ]
    columns = ("Distance of", "Predicted", "Found", "Valid", "Error")
    caption = "Error: predicted minus found, the cost of the additive assumption."
    yield Table(columns, rows, caption, numeric=(1, 2, 3, 4))
    yield Sentences("Distributions", list(_distributions(verification["targets"], attributes)))


def _distributions(
    targets: Sequence[Record], attributes: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    for target in targets:
        axis, names = name(target["axis"]), attributes[target["axis"]]
        if target["found"]["distribution"] is None:
            yield f"{axis}: too few valid answers."
            continue
        yield (
            f"{axis}: predicted {_shares(target['predicted']['distribution'], names)}; "
            f"found {_shares(target['found']['distribution'], names)}; "
            f"{target['misplaced']:.0%} of the images fall elsewhere."
        )
