"""What may be said of a pair of axes, in words; each verdict has its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from biasgraph.causal.flags import CLAIMS, FLAG_WORDS, STATUS_WORDS
from biasgraph.report.rounds_words import confidence
from biasgraph.report.share_words import in_pictures
from biasgraph.report.words import (
    STRONGEST,
    Record,
    arrow,
    arrows,
    between,
    count_noun,
    edge_rule,
    group_records,
    ideal_words,
    is_without_interventions,
    list_names,
    min_v,
    name,
    p_value,
    with_interval,
)

UNDETERMINED = {
    "edge_undetermined": "an edge, but its direction lies within chance",
    "below_delta": "an edge, but diversifying hardly changes the distance to the ideal",
}


def direction(sign: str | None) -> str:
    """Where a target moves, in words."""
    if sign in ("towards", "away"):
        return f"{sign} {'from ' if sign == 'away' else ''}its ideal"
    return "in an undetermined direction"


def strongest(links: Sequence[Record]) -> list[Record]:
    """The edges to tell first."""
    return rank_links(links)[:STRONGEST]


def rank_links(links: Sequence[Record]) -> list[Record]:
    """Edges as they are told: those with a direction before the others, by |IS|."""
    return sorted(links, key=lambda link: (link["sign"] not in CLAIMS, -abs(link["is"])))


def pick_shifts(pairs: Sequence[Record]) -> list[Record]:
    """The common shifts to tell first."""
    return common_shifts(pairs)[:STRONGEST]


def common_shifts(pairs: Sequence[Record]) -> list[Record]:
    """The pairs whose arms all moved alike, the clearest first."""
    found = [pair for pair in between(pairs) if pair.get("verdict") == "common_shift"]
    return sorted(found, key=lambda pair: pair["shift_p"])


def is_found(pair: Record) -> bool:
    """Whether a pair is told as a finding."""
    return bool(pair["edge"]) or pair.get("verdict") == "common_shift"


def finding(pair: Record, document: Record) -> str:
    """An edge or a common shift: what it means in pictures, and what may be said of it."""
    claim = f"{_claim(pair, document['graph']['settings'])}."
    if pair["sign"] in CLAIMS and "opposite_mean" in pair["flags"]:
        prompts = count_noun(pair["n_mean_prompts"], "prompt")
        claim += (
            f" The mean IS of {prompts} measured one by one points the other way "
            f"({pair['is_mean_prompt']:+.3f})."
        )
    pictures = in_pictures(pair, document)
    return f"{pictures} {claim}" if pictures else claim


def evidence(pair: Record, document: Record) -> str:
    """What a finding rests on: its numbers with intervals, the images and the ideal."""
    graph, nodes = document["graph"], {node["id"]: node for node in document["nodes"]}
    initial = nodes[pair["target"]]["initial"]["n_valid"]
    counts = f"{initial:,} initial"
    if pair.get("look_images"):  # the node's are all there are
        counts = f"the first {pair['look_images']:,} initial"
    if pair.get("table"):
        counts = f"{sum(map(sum, pair['table'])):,} counterfactual and {counts}"
    shift = pair["shift_p"]
    moved = "" if shift is None else f", of the shift {p_value(shift)}"
    return (
        f"{_effect(pair)}, p = {p_value(pair['p'])}{moved}, distance to the ideal "
        f"{pair['w1_before']:.3f} before and {pair['w1_after']:.3f} after; {counts} images with a "
        f"valid answer; ideal: {ideal_words(graph, len(nodes))}."
    )


def _claim(pair: Record, settings: Record) -> str:
    """What the verdict says, without numbers."""
    source, target = name(pair["source"]), name(pair["target"])
    verdict, unconfirmed = pair.get("verdict"), ""
    if "wording" in pair["flags"]:
        unconfirmed = "; neutral rewordings do not confirm a direction"
    if verdict == "common_shift":
        where = f", {direction(pair['sign'])}" if pair["sign"] in CLAIMS else ""
        return (
            f"Whatever is asked of {source} shifts {target}{where}; no difference between the "
            f"requests is shown{unconfirmed}"
        )
    if pair["sign"] in CLAIMS:
        return f"Diversifying {source} moves {target} {direction(pair['sign'])}"
    decides = f"What is asked of {source} decides {target}"
    if verdict == "below_delta":
        return (
            f"{decides}, but diversifying changes the distance to the ideal by less than "
            f"{settings['delta']:g}"
        )
    return (
        f"{decides}; the direction in which diversifying moves it lies within chance{unconfirmed}"
    )


def _effect(pair: Record) -> str:
    """The sensitivity to quote, with its interval and what stands beside it.

    Near the ideal that is the one at equal sample sizes: IS itself leans upwards there.
    """
    field, what = "is", "IS"
    if "near_ideal" in pair["flags"] and pair["is_matched"] is not None:
        field, what = "is_matched", "IS at equal sample sizes"
    ends = (pair[f"{field}_ci_low"], pair[f"{field}_ci_high"])
    text = f"{what} {with_interval(pair[field], *ends, sign='+')}"
    mean, fixed = pair.get("is_mean_prompt"), pair.get("is_corrected")
    if mean is not None:
        text += f" (mean of {pair['n_mean_prompts']} prompts' own: {mean:+.3f})"
    if fixed is not None:
        ends = (pair["is_corrected_ci_low"], pair["is_corrected_ci_high"])
        text += f" ({with_interval(fixed, *ends, sign='+')} without the judge's errors)"
    if pair.get("is_controlled") is not None:
        ends = (pair["is_controlled_ci_low"], pair["is_controlled_ci_high"])
        controlled = with_interval(pair["is_controlled"], *ends, sign="+")
        text += f" ({controlled} from neutral rewordings)"
    return text


def about_pair(pair: Record, document: Record) -> str:
    """Any ordered pair as a sentence; see `finding`."""
    source, target = name(pair["source"]), name(pair["target"])
    if pair["source"] == pair["target"]:
        return (
            f"Images made for each attribute of {source}, by what the judge saw: the more images "
            "of a row show that row's attribute, the better naming it worked."
        )
    if is_found(pair):
        return finding(pair, document)
    if pair["status"] != "ok":
        return f"{arrow(pair)} could not be decided: {reason(pair)}."
    seen = f"What the judge saw of {target}"
    if "below_min_is" in pair["flags"]:
        return (
            f"{seen} differs between the images made for {source} (p = {p_value(pair['p'])}), but "
            f"|IS| is below {edge_rule(document['graph'])['min_is']:g}, so it is not an edge."
        )
    none = (
        f"{seen} does not differ enough between the images made for {source} to call it an edge "
        f"(p = {p_value(pair['p'])})"
    )
    if pair.get("verdict") == "below_min_v":
        smallest = min_v(document["graph"])
        return (
            f"{none}. If there is a link, it is below V = {smallest:g}: at most "
            f"{pair['v_high']:.2f}, with {confidence(document['graph'])} confidence."
        )
    limit = pair["detectable_v_80"]
    least = "no V" if limit is not None and limit > 1 else f"V = {limit or 0:.2f}"
    power = "" if limit is None else f": {least} is detected in 80 % of cases"
    return f"{none}. That does not prove them independent{power}."


def describe_undetermined(document: Record, pairs: Sequence[Record]) -> Iterator[str]:
    """What could not be determined, and why."""
    yield from edges_without_direction(document)
    yield from describe_undecided(document, pairs)


def edges_without_direction(document: Record) -> Iterator[str]:
    """The edges of which no direction is claimed, and why."""
    for verdict, words in UNDETERMINED.items():
        alike = [link for link in document["links"] if link.get("verdict") == verdict]
        if alike:
            yield f"{arrows(alike)}: {words}."


def describe_undecided(document: Record, pairs: Sequence[Record]) -> Iterator[str]:
    """What could not be decided, of axes and of pairs that are no edges, and why."""
    unmeasured = [node["id"] for node in document["nodes"] if node["w1"] is None]
    if unmeasured:
        fewest = document["graph"]["settings"]["min_valid"]
        yield (
            f"{list_names(unmeasured)}: too few valid answers to measure the distance to the ideal "
            f"(it takes {fewest:,})."
        )
    asked = () if is_without_interventions(document["graph"]) else between(pairs)
    unmeasured_pairs = [pair for pair in asked if pair["status"] != "ok"]
    for why, group in group_records((reason(pair), pair) for pair in unmeasured_pairs).items():
        yield f"{arrows(group)}: {why}."
    rule = edge_rule(document["graph"])
    cut = below_cut(pairs)
    if cut:
        yield (
            f"{arrows(cut)}: the answers differ between the interventions, but |IS| is below "
            f"{rule['min_is']:g}: not an edge."
        )
    yield from describe_missed(without_link(pairs))


def below_cut(pairs: Sequence[Record]) -> list[Record]:
    """The pairs whose arms differ, but |IS| is below the graph's cut."""
    return [pair for pair in between(pairs) if "below_min_is" in pair["flags"]]


def without_link(pairs: Sequence[Record]) -> list[Record]:
    """The tested pairs of which nothing was found: neither an edge, a shift nor a difference."""
    return [
        pair
        for pair in between(pairs)
        if pair["status"] == "ok" and not is_found(pair) and "below_min_is" not in pair["flags"]
    ]


def reason(pair: Record) -> str:
    """Why a pair's numbers are undefined."""
    if "no_intervention" in pair["flags"]:
        return FLAG_WORDS["no_intervention"]
    return STATUS_WORDS.get(pair["status"], str(pair["status"]))


def describe_missed(absent: Sequence[Record]) -> Iterator[str]:
    """A missing edge is no independence: say how strong a link would have had to be."""
    limits = [pair["detectable_v_80"] for pair in absent if pair["detectable_v_80"] is not None]
    if limits:
        low, high = f"{min(limits):.2f}", f"{max(limits):.2f}"
        limit = low if low == high else f"{low} to {high}" if max(limits) <= 1 else f"{low} or more"
        needed = f"a link needs V = {limit} to be" if min(limits) <= 1 else "not even V = 1 is"
        pairs = count_noun(len(absent), "pair")
        yield (
            f"{pairs} without an edge need not be independent: with this many images {needed} "
            "detected in 80 % of cases."
        )
