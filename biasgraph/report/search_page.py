"""found.html: what a search for prompts found, as one page that works with the network off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biasgraph.data import findings as parts
from biasgraph.report import html, search_drawing, search_words, words
from biasgraph.report.provenance import provenance, rows_of
from biasgraph.report.search_words import Record
from biasgraph.report.shots import Gallery, Shot
from biasgraph.report.thumbnails import Pictures, Thumbnails

PAGE = "found.html"
PICTURES, PROMPTS = 600, 30
"""How many pictures the page has about, over all cells, and prompts a cell with pictures."""
MOST_ROWS = 2000
"""Of a table; found.json has all."""
CELLS = (
    "Shares, and how far they exceed those of the language model alone (in percentage points): "
    "means over prompts with 95 % intervals for new prompts written in the same way. Passes: "
    "images that went through the denoiser for each prompt until it was found. The language model "
    "alone looks at none; PEZ follows each of its passes back for a gradient, which costs more."
)
RANKED = (
    f"Words by delta: at most {search_drawing.WORDS} at either end, of those in "
    f"{search_drawing.LEAST} prompts or more where there are any."
)


@dataclass(frozen=True)
class PromptView:
    """A prompt as the page shows it.

    Attributes:
        shares: Of each target its name, its share and, where the probe looked, what that said.
        facts: What else is known of it: titles and texts.
        reason: What it lacks, and why.
        more: How many more pictures the run holds.
    """

    prompt: str
    shares: Sequence[tuple[str, str]]
    facts: Sequence[tuple[str, str]]
    reason: str
    shots: Sequence[Shot]
    more: str


@dataclass(frozen=True)
class Cell:
    """A cell's prompts, best first; `rest` are those that have no pictures on the page."""

    name: str
    about: str
    opened: bool
    prompts: Sequence[PromptView]
    rest: parts.Table
    failed: Sequence[str]


@dataclass(frozen=True)
class Words:
    """What became of the words of a cell, for one target."""

    name: str
    opened: bool
    kinds: str
    bars: search_drawing.WordBars | None
    table: parts.Table


def search_html(document: Record, pictures: Pictures | None = None) -> bytes:
    """The page of one search; it needs no script, its script only closes pictures on Escape.

    Args:
        document: What found.json holds.
        pictures: The images that it names; none are shown without.
    """
    pictures = pictures or Pictures()
    cells = [*reversed(search_words.found_cells(document))]
    cells += [one for one in document["cells"] if one not in cells]
    shown = {one["cell"]: _with_pictures(document, one) for one in cells}
    ids = [image for rows in shown.values() for row in rows for image in row["images"]]
    thumbnails = Thumbnails(others=ids, pictures=pictures)
    gallery = Gallery.of(thumbnails)
    notes = [*words.notes(document), *search_words.remarks(document), *search_words.LIMITS]
    made = provenance(document, ("model", "vqa", "lm", "perplexity"))
    return html.render(
        "search.html",
        model={},
        scripts=["shots.js"],
        styles=["parts.css", "drawings.css", "search.css"],
        drawn=False,
        files=gallery.linked,
        title=words.plain(search_words.title(document)),
        facts=list(search_words.facts(document)),
        toy=document["toy"],
        unseen_words=document["unseen_words"],
        lead=list(search_words.lead(document)),
        tradeoffs=[
            (words.label(one["attribute"], 40), search_drawing.tradeoff(document, one["axis"]))
            for one in document["targets"]
        ],
        table=_table(document),
        cells=[
            _cell(document, cell, shown[cell["cell"]], gallery, opened=place == 0)
            for place, cell in enumerate(cells)
        ],
        about_pictures=gallery.note,
        words_of=_words(document),
        words_note=RANKED,
        notes=parts.Sentences("To keep in mind", notes),
        made={"Probes": rows_of(_probes(document)), **made},
    )


def _with_pictures(document: Record, cell: Record) -> list[Record]:
    """The prompts of a cell whose pictures are shown, the best first."""
    each = PICTURES / len(document["cells"])
    own = [one for one in search_words.prompts_of(document, cell) if one["prompt"] is not None]
    taken: list[Record] = []
    for one in own[:PROMPTS]:
        if taken and sum(len(row["images"]) for row in [*taken, one]) > each:
            break
        taken.append(one)
    return taken


def _table(document: Record) -> parts.Table:
    """The cells with their numbers."""
    columns = ["Prompts by", "Prompts"]
    for target in document["targets"]:
        attribute = words.label(target["attribute"], 40)
        columns += [attribute, f"{attribute}, more than alone"]
    columns += ["Perplexity", f"Name {words.plain(search_words.axes_words(document))}"]
    rows: list[list[parts.Cell]] = []
    for cell in document["cells"]:
        row: list[parts.Cell] = [search_words.cell_name(cell), cell["n_prompts"]]
        for target in document["targets"]:
            share = search_words.of_axis(cell["shares"], target["axis"])
            row += [
                search_words.share_words(share),
                search_words.gain_words(search_words.of_axis(cell["gains"], target["axis"])),
            ]
        row += [
            search_words.of_perplexity(cell),
            search_words.naming_words(cell),
            search_words.passes_words(cell) + " with gradients" * (cell["method"] == "pez"),
        ]
        rows.append(row)
    columns.append("Passes a prompt")
    return parts.Table(columns, rows, CELLS, numeric=range(1, len(columns)))


def _cell(
    document: Record, cell: Record, shown: Sequence[Record], gallery: Gallery, *, opened: bool
) -> Cell:
    own = search_words.prompts_of(document, cell)
    written = [one for one in own if one["prompt"] is not None]
    shares = [
        f"{search_words.share_words(share)} {words.name(share['attribute'])}"
        for share in cell["shares"]
    ]
    about = [words.count_noun(len(written), "prompt"), *shares]
    failed = [words.label(one["reason"], 200) for one in own if one["prompt"] is None]
    found = [_describe_found(document, one, gallery) for one in shown]
    rest = _rest(document, written[len(shown) :])
    return Cell(search_words.cell_name(cell), ", ".join(about), opened, found, rest, failed)


def _describe_found(document: Record, row: Record, gallery: Gallery) -> PromptView:
    shots = gallery.shots(row["images"], row["prompt"])
    more = len(row["images"]) - len(shots)
    facts = []
    if row["perplexity"] is not None:
        facts.append(("perplexity", search_words.perplexity_words(row["perplexity"])))
    if row["names"]:
        facts.append(("names", words.list_names(row["names"])))
    return PromptView(
        words.label(row["prompt"], 300),
        [_share(row, one) for one in document["targets"]],
        facts,
        words.label(row["reason"] or "", 300),
        shots,
        f"The run holds {words.count_noun(more, 'image')}." if more else "",
    )


def _share(row: Record, target: Record) -> tuple[str, str]:
    """An attribute, and how many of a prompt's images show it."""
    axis, probabilities = target["axis"], row["probabilities"] or {}
    said = search_words.counted_share(row, axis)
    if probabilities.get(axis) is not None:
        said += f"; by the probe {probabilities[axis]:.2f}"
    return words.label(target["attribute"], 40), said


def _remarks(row: Record) -> Iterator[str]:
    if row["names"]:
        yield f"names {words.list_names(row['names'])}"
    if row["reason"]:
        yield words.label(row["reason"], 300)


def _rest(document: Record, rows: Sequence[Record]) -> parts.Table:
    targets = [words.label(one["attribute"], 40) for one in document["targets"]]
    shown: list[list[parts.Cell]] = [
        [
            words.label(row["prompt"], 300),
            *(_share(row, one)[1] for one in document["targets"]),
            search_words.perplexity_words(row["perplexity"]),
            "; ".join(_remarks(row)) or "-",
        ]
        for row in rows[:MOST_ROWS]
    ]
    return parts.Table(("Prompt", *targets, "Perplexity", ""), shown, _cut(rows))


def _words(document: Record) -> list[Words]:
    """Of each cell that was searched for, the largest lambda first, and of each target."""
    found: list[Words] = []
    for cell in reversed(search_words.found_cells(document)):
        for target in document["targets"]:
            own = search_words.words_of(document, cell, target["axis"])
            name = f"{search_words.weight_words(cell)}, {words.name(target['attribute'])}"
            counts = Counter(one["kind"] for one in own)
            kinds = ", ".join(
                f"{counts[kind]:,} {kind} ({about})"
                for kind, about in search_words.KINDS.items()
                if counts[kind]
            )
            bars = search_drawing.word_bars(own)
            opened = len(found) < len(document["targets"])
            found.append(Words(name, opened, kinds, bars, _word_table(own)))
    return found


def _word_table(rows: Sequence[Record]) -> parts.Table:
    shown: list[list[parts.Cell]] = [
        [
            words.label(one["word"], 80),
            one["kind"],
            one["found"],
            one["baseline"],
            "-" if one["delta"] is None else f"{one['delta']:+.2f}",
            one["n_with"],
            one["n_without"],
        ]
        for one in rows[:MOST_ROWS]
    ]
    columns = ("Word", "", "Found", "Alone", "delta", "Prompts with it", "Without it")
    return parts.Table(columns, shown, _cut(rows), numeric=(2, 3, 4, 5, 6))


def _cut(rows: Sequence[Record]) -> str:
    more = len(rows) - MOST_ROWS
    return f"The first {MOST_ROWS:,}; found.json has {more:,} more." if more > 0 else ""


def _probes(document: Record) -> dict[str, str]:
    """How often each probe is right about images of prompts never seen."""
    right = search_words.probe_accuracies(document)
    return {
        f"{words.label(one['axis'], 40)}, accuracy": f"{right[one['axis']]}, "
        f"{words.count_noun(one['n_images'], 'image')} of held-out prompts"
        for one in document["targets"]
    }
