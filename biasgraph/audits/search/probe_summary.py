"""Probes told in parts: where they come from, and how right they are at each step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from biasgraph.data.findings import Banner, Cell, Facts, ScreenPart, Sentences, Table
from biasgraph.report.words import count_noun, notes, with_interval

Record = Mapping[str, Any]

CAPTION = (
    "Accuracy about held-out prompts, with its 95 % interval over prompts. Unnamed: images whose "
    "prompt does not name the axis, which is what a search relies on. Named: counterfactuals, "
    "where a probe may read the prompt's word instead of the image. ECE: expected calibration "
    "error. Largest: the share of the commonest attribute, which a probe that always says it gets "
    "right."
)


def summarize_probes(document: Record) -> Iterator[ScreenPart]:
    """Origin, accuracy by step, and what to keep in mind.

    Args:
        document: What the file of probes says of itself.
    """
    settings, prompts = document["settings"], document["prompts"]
    yield Banner(document["toy"])
    yield Facts(
        [
            ("Model", document["model"]),
            ("Judge", document["vqa"]),
            ("Labels", f"by {settings['labels']}"),
            (
                "Prompts",
                f"{len(prompts['training'])} to train on, {len(prompts['held_out'])} held out",
            ),
            ("Images", f"{document['n_images']:,}"),
            ("Steps", f"{len(document['steps'])} of {document['of']}"),
        ]
    )
    *others, last = document["probes"]
    yield from (_by_step(probe, "") for probe in others)
    yield _by_step(last, CAPTION)
    yield Sentences("To keep in mind", [*_remarks(document), *notes(document)])


def _by_step(probe: Record, caption: str) -> Table:
    rows: list[list[Cell]] = [
        [
            probe["axis"],
            f"{one['step']} ({one['fraction']:.0%})",
            _cell(one["unnamed"]),
            _ece(one["unnamed"]),
            _share(one["unnamed"]),
            _cell(one["named"]),
            _ece(one["named"]),
        ]
        for one in probe["steps"]
    ]
    titles = ("Axis", "Step", "Unnamed", "ECE", "Largest", "Named", "ECE")
    return Table(titles, rows, caption, numeric=(3, 4, 6))


def _cell(found: Record) -> Cell:
    if found["accuracy"] is None:
        return str(found["reason"])
    return with_interval(found["accuracy"], found["low"], found["high"])


def _ece(found: Record) -> Cell:
    return "" if found["ece"] is None else f"{found['ece']:.3f}"


def _share(found: Record) -> Cell:
    return "" if found["largest_share"] is None else f"{found['largest_share']:.2f}"


def _remarks(document: Record) -> Iterator[str]:
    judged = document["settings"]["labels"] == "judge"
    for probe in document["probes"]:
        if judged and probe["n_unknown"]:
            yield (
                f"{count_noun(probe['n_unknown'], 'image')} without an answer about "
                f"{probe['axis']} were left out."
            )
    if not judged:
        yield (
            "Only counterfactuals were trained on, whose prompts name what they show: such probes "
            "may read the word. Look at the accuracy about prompts that do not name the axis."
        )
