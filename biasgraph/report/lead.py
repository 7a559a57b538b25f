"""What a newcomer should know first: what most images show, and how many pairs are edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from biasgraph.causal.flags import CLAIMS, FLAG_WORDS
from biasgraph.report import verdict_words
from biasgraph.report.power_words import say_needed
from biasgraph.report.share_words import in_pictures
from biasgraph.report.words import (
    LISTED,
    Record,
    between,
    count_noun,
    edge_rule,
    is_without_interventions,
    list_names,
    majority,
    name,
    percent,
    with_ci,
)


def lead(document: Record, pairs: Sequence[Record]) -> Iterator[str]:
    """What most images show, what moves them most, and how many pairs are edges."""
    yield from describe_seen(document)
    yield from strongest(document, pairs)
    yield say_links(document, pairs)


def describe_seen(document: Record) -> Iterator[str]:
    """What most images show on the axes that are clearly away from their ideal.

    Of several prompts, first what their sum hides.
    """
    graph = document["graph"]
    hidden = [node for node in document["nodes"] if is_hidden_by_sum(node)]
    far = [
        node
        for node in document["nodes"]
        if node["near_ideal"] is False and "prompts_cancel" not in node["flags"]
    ]
    ranked = [node for node in sorted(far, key=lambda node: -node["w1"]) if majority(node)]
    shares = [(node["id"], *(majority(node) or ("", 0.0))) for node in ranked]
    most = [f"{name(axis)}: {percent(share)} {name(what)}" for axis, what, share in shares]
    count = graph["images"]["initial"]
    prompt = graph["prompt"]
    of = f"{len(graph['prompts'])} prompts" if prompt is None else f"“{name(prompt, 120)}”"
    about = f"{count_noun(count, 'image')} of {of}"
    if hidden:
        yield _describe_hidden(sorted(hidden, key=lambda node: -node["w1_mean_prompt"]), of)
    if most:
        valid = [node["initial"]["n_valid"] for node in ranked[:LISTED]]
        shown = "; ".join(most[:LISTED])
        yield f"Of {about}, the judge's answers say {shown}{_of_valid(valid, count)}."
    elif all(node["w1"] is None for node in document["nodes"]):
        yield _explain_too_few(document, about)
    elif not hidden:
        yield f"The {about} cannot be distinguished from the ideal on any axis."


def _explain_too_few(document: Record, about: str) -> str:
    """Why no axis has a distance to its ideal, and how many valid answers that takes."""
    graph = document["graph"]
    fewest = graph["settings"]["min_valid"]
    few = graph["images"]["initial"] < fewest
    what = f"The {about} are too few" if few else f"Of the {about} too few have a valid answer"
    return f"{what} to say how far they are from the ideal; it takes {fewest:,}."


def is_hidden_by_sum(node: Record) -> bool:
    """Whether prompts are further from the ideal, one by one, than their sum lets one think."""
    if "prompts_cancel" in node["flags"]:
        return True
    mean = node.get("w1_mean_prompt")
    return (
        node["near_ideal"] is True
        and mean is not None
        and bool(mean > node["w1_mean_prompt_null"]["q95"])
    )


def _describe_hidden(nodes: Sequence[Record], of: str) -> str:
    """What the sum of the prompts hides, by their mean; the numbers of the furthest axis."""
    most, *others = nodes
    mean = with_ci(most["w1_mean_prompt"], most["w1_mean_prompt_ci"])
    also = f"; also {list_names([node['id'] for node in others])}" if others else ""
    return (
        f"One by one, the {of} are further from the ideal than their sum shows, because they lean "
        f"different ways: {name(most['id'])}, on average {mean} "
        f"(their sum: {most['w1']:.3f}){also}."
    )


def strongest(document: Record, pairs: Sequence[Record]) -> Iterator[str]:
    """The clearest of the edges and common shifts, in pictures."""
    for pair in [*verdict_words.strongest(document["links"]), *verdict_words.pick_shifts(pairs)]:
        if told := in_pictures(pair, document):
            yield told
            return


def say_links(document: Record, pairs: Sequence[Record]) -> str:
    """How many pairs are edges, and of how many of these the direction is known."""
    if is_without_interventions(document["graph"]):
        return explain_untested()
    links = document["links"]
    known = [link for link in links if link["sign"] in CLAIMS]
    tested = sum(pair["status"] != "insufficient" for pair in between(pairs))
    shifts = [pair for pair in between(pairs) if pair.get("verdict") == "common_shift"]
    cut = verdict_words.below_cut(pairs)
    if not tested:
        return "No pair of axes could be tested."
    told = []
    if links:
        told.append(
            f"In {len(links)} of {count_noun(tested, 'pair')}, what is asked of one axis decides "
            "another"
            f"{_say_clear(len(known), len(links))} whether diversifying moves it towards its ideal "
            "or away."
        )
    for some, what in (
        (shifts, "whatever is asked of one axis shifts another"),
        (cut, "the answers differ with what is asked, but the measured |IS| is below "
         f"{edge_rule(document['graph'])['min_is']:g}, so they are no edges"),
    ):  # fmt: skip
        if some:
            of = f"{len(some)} of {count_noun(tested, 'pair')}"
            more = count_noun(len(some), "more pair")
            told.append(f"In {more if told else of}, {what}.")
    if not links and not shifts and tested > len(cut):
        of = "the others" if cut else f"{tested} pairs"
        none = f"No link was found in any of {of}."
        if tested == 1:
            none = "No link was found in the one pair that was tested."
        told += [none, say_needed(document, pairs) or ""]
    return " ".join(told).strip()


def _say_clear(known: int, links: int) -> str:
    """Of how many edges the direction is known, as the middle of a sentence."""
    if links == 1:
        return ", and it is clear" if known else ", but it is not clear"
    if not known:
        return "; it is not clear for any of them"
    return f"; for {'all' if known == links else known} of them it is clear"


def explain_untested() -> str:
    """Of initial images alone: why no pair is tested."""
    words = FLAG_WORDS["no_interventions"]
    return f"{words[0].upper()}{words[1:]}."


def _of_valid(valid: Sequence[int], images: int) -> str:
    """How many of the images shares are of, where some have no valid answer."""
    low, high = min(valid), max(valid)
    if low == images:
        return ""
    numbers = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f" (of those with a valid answer: {numbers})"
