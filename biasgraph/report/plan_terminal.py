"""A mitigation plan in the terminal, readable at 80 columns.

Prompts, axes and attributes are untrusted: they are shown as plain text, never as markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from biasgraph.causal.flags import FLAG_WORDS
from biasgraph.causal.planning import SURE
from biasgraph.errors import printable
from biasgraph.report.screen import plain, show_list, show_toy
from biasgraph.report.words import clip, enumerated, with_interval

Record = Mapping[str, Any]

SHARES_SHOWN = 6  # attributes of a distribution before the rest is counted


def show_plan(console: Console, document: Record) -> None:
    """Print the document of plan.json: the strategies, the plan, and its verification."""
    graph, strategies, plan = document["graph"], document["strategies"], document["plan"]
    show_toy(console, graph["toy"])
    console.print(plain(_about(graph)))
    console.print()
    console.print(Text("Which single intervention brings each axis closest to its ideal", "bold"))
    console.print(_strategies(strategies["axes"]))
    console.print()
    _list(console, "No recommendation", _open(strategies["axes"]))
    _list(console, "None of its own needed", _spared(strategies["axes"]))
    _list(console, "Brought along, but not all the way", _brought(strategies["axes"]))
    _list(console, "What the recommended interventions do to other axes", _effects(strategies))
    _show_steps(console, plan)
    if document["verification"] is not None:
        _show_verification(console, document["verification"], _attributes(plan))


def _name(text: str) -> str:
    return clip(printable(text), 40)


def _named(axes: Sequence[str]) -> str:
    return enumerated([_name(axis) for axis in axes], "axes")


def _list(console: Console, title: str, sentences: Iterable[str]) -> None:
    show_list(console, title, map(plain, sentences))


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for place, heading in enumerate(headings):
        table.add_column(heading, no_wrap=place > 0, overflow="fold")
    return table


def _about(graph: Record) -> str:
    images = graph["images"]
    prompts = graph["prompts"]
    subject = f"{len(prompts)} prompts" if prompts else f"the prompt '{graph['prompt']}'"
    return (
        f"Mitigation plan for {subject}: {images['initial']:,} initial and "
        f"{images['interventions']:,} counterfactual images of {graph['model']}, judged by "
        f"{graph['vqa'] or 'whoever made the answers table'}; ideal: {graph['ideal']['source']}."
    )


# Strategies


def _strategies(axes: Sequence[Record]) -> Table:
    table = _table("Axis", "Distance", "Diversify", "takes off", "leaves", "best in")
    for axis in axes:
        now = "-" if axis["w1"] is None else f"{axis['w1']:.3f}"
        best = axis["strategies"][0] if axis["recommended"] else None
        if best is None:
            said = "-" if axis["verdict"] != "near_ideal" else "none needed"
            table.add_row(plain(_name(axis["axis"])), now, said, "", "", "")
            continue
        table.add_row(
            plain(_name(axis["axis"])),
            now,
            plain("itself" if best["direct"] else _name(best["axis"])),
            with_interval(best["is"], best["is_ci_low"], best["is_ci_high"], sign="+"),
            f"{best['w1_after']:.3f}",
            f"{best['p_best']:.0%}",
        )
    return table


def _open(axes: Sequence[Record]) -> Iterator[str]:
    for axis in axes:
        said, contenders = _name(axis["axis"]), axis["contenders"]
        shares = [one for one in axis["strategies"] if one["axis"] in contenders]
        each = ", ".join(f"{_name(one['axis'])} {one['p_best']:.0%}" for one in shares[:4])
        more = f" and {len(shares) - 4} more" if len(shares) > 4 else ""
        apart = f"which one is best cannot be told (best of the resamples in: {each}{more})"
        if axis["verdict"] == "any":
            yield f"{said}: {apart}; each of them brings it closer to its ideal: any would do."
        elif axis["verdict"] == "undecided":
            yield f"{said}: {apart}, and not each of them is seen to help."
        elif axis["verdict"] == "nothing":
            yield f"{said}: no intervention is seen to bring it closer to its ideal."
        elif axis["verdict"] == "insufficient":
            yield f"{said}: too few valid answers, or no interventions."
    for axis in axes:
        best = axis["strategies"][0] if axis["recommended"] else None
        if best is not None and "weak_intervention" in best["flags"]:
            yield f"{_name(best['axis'])}: {FLAG_WORDS['weak_intervention']}."


def _spared(axes: Sequence[Record]) -> Iterator[str]:
    for axis in axes:
        chance = f"chance alone gives up to {axis['by_chance'] or 0:.3f}"
        if axis["verdict"] == "near_ideal":
            yield (
                f"{_name(axis['axis'])}: {axis['n_valid']} images cannot tell it from its ideal "
                f"(distance {axis['w1']:.3f}; {chance})."
            )
        for one in axis["brought_by"]:
            if one["all_the_way"]:
                yield (
                    f"{_name(axis['axis'])}: where {_name(one['axis'])} is diversified anyway, "
                    f"that leaves it {one['w1_after']:.3f} from its ideal ({chance})."
                )


def _brought(axes: Sequence[Record]) -> Iterator[str]:
    for axis in axes:
        ways = [
            f"{_name(one['axis'])} (to {one['w1_after']:.3f})"
            for one in axis["brought_by"]
            if not one["all_the_way"]
        ]
        if ways:
            said = f"{_name(axis['axis'])}, from {axis['w1']:.3f}"
            yield f"{said}, by diversifying {', '.join(ways)}."


def _effects(strategies: Record) -> Iterator[str]:
    alone = []
    for one in strategies["interventions"]:
        parts = []
        if one["towards"]:
            parts.append(f"brings {_named(one['towards'])} closer to the ideal")
        if one["away"]:
            parts.append(f"moves {_named(one['away'])} away from the ideal")
        if parts:
            rest = len(one["undetermined"])
            others = "other axis is" if rest == 1 else f"other {rest} axes are"
            yield f"{_name(one['axis'])}: {'; '.join(parts)}; the {others} undetermined."
        else:
            alone.append(_name(one["axis"]))
    if alone:
        yield f"{', '.join(alone)}: undetermined for every other axis."
    if strategies["comparisons"]:
        yield (
            f"{strategies['comparisons']} strategies were weighed. A recommendation is best in "
            f"{SURE:.0%} of the resamples and seen to help; whatever is said to move another axis "
            "is an edge of the graph with a direction."
        )


# The greedy plan


def _attributes(plan: Record) -> dict[str, list[str]]:
    return {goal["axis"]: goal["attributes"] for goal in plan["goals"]}


def _show_steps(console: Console, plan: Record) -> None:
    everything = plan["source"] is None
    console.print(Text("Plan for several axes at once", "bold"))
    if plan["before"] is None:
        console.print("No target has enough valid answers.")
        console.print()
        return
    weights = ", ".join(f"{_name(goal['axis'])} {goal['weight']:g}" for goal in plan["goals"])
    targets = "all axes, of one weight" if everything else weights
    console.print(plain(f"Targets: {targets}. {plan['assumption']}"))
    console.print()
    if everything:
        console.print(_steps(plan))
    else:
        _show_states(console, plan)
    console.print()
    _list(console, "Where it ends", _ending(plan))


def _steps(plan: Record) -> Table:
    table = _table("Diversify", "Sum of distances", "gain", "by chance")
    before = plan["before"]
    table.add_row("nothing", with_interval(before["total"], *before["total_ci"]), "", "")
    for number, step in enumerate(plan["steps"], start=1):
        table.add_row(
            plain(f"{number}. {_name(step['axis'])}"),
            with_interval(step["total"], *step["total_ci"]),
            _gain(step),
            f"to {step['chance']:.3f}",
        )
    return table


def _show_states(console: Console, plan: Record) -> None:
    """Every target's distance and distribution after each step."""
    console.print(plain(f"Now: {_sum(plan['before'])}"))
    console.print(_state(plan["before"], _attributes(plan)))
    for number, step in enumerate(plan["steps"], start=1):
        console.print()
        console.print(
            plain(
                f"{number}. Diversify {_name(step['axis'])}: predicted {_sum(step)}, gain "
                f"{_gain(step)}; chance alone gives up to {step['chance']:.3f}; best next step in "
                f"{step['p_best']:.0%} of the resamples"
            )
        )
        console.print(_state(step, _attributes(plan)))


def _gain(step: Record) -> str:
    return with_interval(step["gain"], step["gain_ci"][0], step["gain_ci"][1], sign="+")


def _sum(state: Record) -> str:
    return f"weighted sum of distances {with_interval(state['total'], *state['total_ci'])}"


def _state(state: Record, attributes: Mapping[str, Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2))
    table.add_column(max_width=24, overflow="fold")
    table.add_column(no_wrap=True)
    table.add_column()
    for row in state["targets"]:
        table.add_row(
            plain(f"  {_name(row['axis'])}"),
            with_interval(row["distance"], *row["distance_ci"]),
            plain(_shares(row["distribution"], attributes[row["axis"]])),
        )
    return table


def _shares(distribution: Sequence[float], attributes: Sequence[str]) -> str:
    pairs = [f"{_name(a)} {share:.0%}" for a, share in zip(attributes, distribution, strict=True)]
    more = len(pairs) - SHARES_SHOWN
    return ", ".join(pairs[:SHARES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _ending(plan: Record) -> Iterator[str]:
    if plan["stopped"] == "no_gain":
        step = plan["next"]
        yield (
            "No further intervention lowers the sum by more than chance: the best next one would "
            f"be {_name(step['axis'])}, gain {_gain(step)}; chance alone gives up to "
            f"{step['chance']:.3f}."
        )
    elif plan["stopped"] == "steps":
        yield "As many interventions as were asked for."
    elif plan["stopped"] == "all_set":
        yield "Every target is diversified itself."
    else:
        yield "No intervention is left."
    if plan["left_out"]:
        yield f"Left out for too few valid answers: {_named(plan['left_out'])}."
    missing = [goal["axis"] for goal in plan["goals"] if goal["status"] != "ok"]
    if missing:
        yield f"Targets left out for too few valid answers: {_named(missing)}."


# Verification


def _show_verification(
    console: Console, found: Record, attributes: Mapping[str, Sequence[str]]
) -> None:
    console.print(Text("Verification", "bold"))
    if found["status"] != "ok":
        why = {
            "nothing_planned": "The plan holds no intervention: there is nothing to verify.",
            "nothing_joint": "The plan holds a single intervention, whose outcome is what the run "
            "measured: there is nothing to verify.",
        }
        console.print(why[found["status"]])
        return
    console.print(
        plain(
            f"Images with {', '.join(_name(axis) for axis in found['axes'])} set at once: "
            f"{found['combinations']:,} combinations, {found['images_per_combination']:,} each, "
            f"{found['images']:,} in all, such as '{found['prompts'][0]}'."
        )
    )
    table = _table("Distance of", "Predicted", "Found", "Valid", "Error")
    for row in found["targets"]:
        outcome = row["found"]
        table.add_row(
            plain(_name(row["axis"])),
            f"{row['predicted']['distance']:.3f}",
            with_interval(outcome["distance"], *(outcome["distance_ci"] or (None, None))),
            f"{outcome['n_valid']}/{outcome['n_total']}",
            _error(row),
        )
    console.print(table)
    console.print("Error: predicted minus found, what the additive assumption costs.")
    console.print()
    _list(console, "Distributions", _distributions(found["targets"], attributes))


def _error(row: Record) -> str:
    low, high = row["error_ci"] or (None, None)
    return with_interval(row["error"], low, high, sign="+")


def _distributions(
    rows: Sequence[Record], attributes: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    for row in rows:
        names = attributes[row["axis"]]
        if row["found"]["distribution"] is None:
            yield f"{_name(row['axis'])}: too few valid answers."
            continue
        yield (
            f"{_name(row['axis'])}: predicted {_shares(row['predicted']['distribution'], names)}; "
            f"found {_shares(row['found']['distribution'], names)}; {row['misplaced']:.0%} of the "
            "images fall elsewhere."
        )
