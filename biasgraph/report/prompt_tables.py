"""What each of several prompts shows of each axis, and whether the prompts differ, in tables."""

from __future__ import annotations

from collections.abc import Sequence

from biasgraph.data import findings as parts
from biasgraph.report import words
from biasgraph.report.words import Record

SHOWN = 3  # axes whose prompts the terminal lists


def differences(nodes: Sequence[Record]) -> parts.Table:
    """For each axis, how far a prompt's images are from the ideal, and whether prompts differ."""
    rows: list[tuple[parts.Cell, ...]] = []
    for node in _pick_tested(nodes):
        test, null = node["prompts_test"], node["w1_mean_prompt_null"]["q95"]
        rows.append(
            (
                words.name(node["id"]),
                words.with_ci(node["w1_mean_prompt"], node["w1_mean_prompt_ci"]),
                None if null is None else f"to {null:.3f}",
                node["w1"],
                _strength(test["cramers_v_corrected"]),
                words.p_value(test["p_adjusted"]),
            )
        )
    caption = (
        "Mean: of the prompts' own distances to the ideal. V, corrected: how much the prompts "
        "differ, 0 to 1; p is adjusted over the axes."
    )
    columns = ("Axis", "Mean of prompts", "By chance", "Their sum", "V", "p")
    return parts.Table(columns, rows, caption, numeric=(1, 2, 3, 4, 5))


def most_different(nodes: Sequence[Record], prompts: Sequence[Record]) -> parts.Table:
    """Every prompt's commonest answer and distance on the axes on which prompts differ most.

    Args:
        nodes: Of the sum.
        prompts: The document of each prompt's own graph.
    """
    ranked = sorted(_pick_tested(nodes), key=lambda node: -_differ(node))[:SHOWN]
    shown = [node["id"] for node in ranked]
    rows: list[tuple[parts.Cell, ...]] = []
    for document in prompts if shown else ():
        own = {node["id"]: node for node in document["nodes"]}
        cells = [_in_short(own[axis]) for axis in shown]
        rows.append((words.name(document["graph"]["prompt"]), *cells))
    caption = ""
    if len(shown) < len(nodes):
        caption = f"The {len(shown)} axes on which the prompts differ most; prompts.csv has all."
    return parts.Table(("Prompt", *map(words.name, shown)), rows, caption)


def titles_by_axis(nodes: Sequence[Record]) -> list[tuple[str, str]]:
    """Each axis whose prompts were compared, and how they differ, most different first.

    Args:
        nodes: Of the sum.
    """
    ranked = sorted(_pick_tested(nodes), key=lambda node: -_differ(node))
    return [(node["id"], _title(node)) for node in ranked]


def compare_in_words(node: Record) -> str | None:
    """How much the prompts differ on an axis; None where they were not compared.

    Args:
        node: Of the sum.
    """
    test = node.get("prompts_test")
    if test is None or test["method"] is None:
        return None
    v = _strength(test["cramers_v_corrected"])
    told = f"prompts against one another: p = {words.p_value(test['p_adjusted'])}"
    return told if v is None else f"{told}, V = {v}"


def _pick_tested(nodes: Sequence[Record]) -> list[Record]:
    """The axes whose prompts were compared; earlier versions did not."""
    return [node for node in nodes if "prompts_test" in node]


def _differ(node: Record) -> float:
    return float(node["prompts_test"]["cramers_v_corrected"] or 0.0)


def _strength(v: float | None) -> str | None:
    return None if v is None else f"{v:.2f}"


def _in_short(node: Record) -> parts.Cell:
    most = words.majority(node)
    if most is None:
        return None
    return f"{words.name(most[0], 20)} {most[1]:.0%}", words.with_ci(node["w1"], None)


def _title(node: Record) -> str:
    told = compare_in_words(node) or "nothing to compare"
    mean = "not defined: too few valid answers"
    if node["w1_mean_prompt"] is not None:
        mean = words.with_ci(node["w1_mean_prompt"], node["w1_mean_prompt_ci"])
    return f"{words.name(node['id'])}: {told}; mean distance of a prompt {mean}"
