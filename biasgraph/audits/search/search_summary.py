"""A search for prompts that expose a bias, told in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from biasgraph.data.findings import Banner, Cell, Facts, ScreenPart, Sentences, Table
from biasgraph.report import search_words
from biasgraph.report.words import notes, plain

Record = Mapping[str, Any]

BEST, INJECTED = 3, 6
"""Prompts and words of a cell that the terminal shows."""
CELLS = (
    "Mean over prompts of the share of the attribute among a prompt's images, judged, with its "
    "95 % interval over prompts; below: how many points it is above that of the language model "
    "alone (lm). search: with its λ. lm-biased: told to bias. Names: prompts that name an axis. "
    "Passes: through the denoiser for each prompt; those of pez are with gradients and cost more."
)
PROMPTS = (
    "The prompts with the largest share of each search: the best of many on a few images, so "
    "over-optimistic. n: images with an answer."
)
WORDS = (
    "The words that the language model alone does not use, with how often they occur; delta: the "
    "share of found prompts with the word less that of those without."
)


def summarize_found(document: Record) -> Iterator[ScreenPart]:
    """What was searched for, what each way to write prompts came to, and what to keep in mind.

    Args:
        document: What found.json holds.
    """
    yield Banner(document["toy"])
    yield Facts([*_facts(document)])
    yield _cells(document)
    yield _best(document)
    yield _tabulate_injected(document)
    remarks = [plain(one) for one in search_words.remarks(document)]
    yield Sentences("To keep in mind", [*notes(document), *remarks])


def _facts(document: Record) -> Iterator[tuple[str, str]]:
    for title, said in search_words.facts(document):
        yield title, plain(said)
    yield "Towards", plain(search_words.say_targets(document))
    settings = document["settings"]
    right = [f"{axis} {said}" for axis, said in search_words.probe_accuracies(document).items()]
    yield "Probes", f"{', '.join(right)}, at step {settings['step']} of {settings['of']}"


def _cells(document: Record) -> Table:
    """A row for each cell, as narrow as 80 columns ask for: intervals stand below or beside."""
    targets = document["targets"]
    columns = ["Prompts", *(one["attribute"] for one in targets), "Perplexity", "Names", "Passes"]
    rows: list[list[Cell]] = []
    for cell in document["cells"]:
        shares = [_share(cell, target["axis"]) for target in targets]
        rows.append(
            [_name(cell), *shares, _perplexity(cell), _names(cell), search_words.passes_words(cell)]
        )
    return Table(columns, rows, CELLS)


def _name(cell: Record) -> str:
    weight = f" {cell['lambda']:g}" if cell["method"] == "search" else ""
    return f"{cell['method']}{weight}"


def _share(cell: Record, axis: str) -> Cell:
    """The share, and below it what it is more than that of the language model alone."""
    share = search_words.of_axis(cell["shares"], axis)
    gain = search_words.of_axis(cell["gains"], axis)
    said, more = search_words.share_words(share), search_words.gain_words(gain)
    return said if more == "-" else (said, more)


def _perplexity(cell: Record) -> Cell:
    mean, low, high = (cell["perplexity"][end] for end in ("mean", "low", "high"))
    point, _, interval = search_words.perplexity_words(mean, low, high).partition(" ")
    return (point, interval) if interval else point


def _names(cell: Record) -> str:
    naming = cell["naming"]
    return f"{naming['n']:,}/{naming['of']:,}"


def _best(document: Record) -> Table:
    targets = document["targets"]
    rows: list[list[Cell]] = []
    for cell in search_words.found_cells(document):
        own = search_words.prompts_of(document, cell)
        for row in own[:BEST]:
            if row["prompt"] is None:
                continue
            shares = [_own_share(row, one["axis"]) for one in targets]
            rows.append([search_words.weight_words(cell), row["prompt"], *shares])
    columns = ["", "Prompt", *(one["attribute"] for one in targets)]
    return Table(columns, rows, PROMPTS, numeric=range(2, len(columns)))


def _own_share(row: Record, axis: str) -> str:
    share = row["shares"].get(axis)
    return "-" if share is None else f"{share:.2f} (n {row['n_valid'].get(axis, 0):,})"


def _tabulate_injected(document: Record) -> Table:
    axis = document["targets"][0]["axis"]
    rows: list[list[Cell]] = []
    for cell in search_words.found_cells(document):
        own = [
            one for one in document["words"]
            if (one["cell"], one["axis"], one["kind"]) == (cell["cell"], axis, "injected")
        ]  # fmt: skip
        own.sort(key=lambda one: (-one["found"], one["word"]))
        said = [f"{one['word']} {one['found']:,}{_delta(one)}" for one in own[:INJECTED]]
        rows += [[search_words.weight_words(cell), ", ".join(said)]] if said else []
    return Table(("", "Words most injected"), rows, WORDS)


def _delta(one: Record) -> str:
    return "" if one["delta"] is None else f" ({one['delta']:+.2f})"
