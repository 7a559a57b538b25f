"""Mined prompts in other models, told in parts: in short, and in full for a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biasgraph.data import findings as parts
from biasgraph.report import html, words

Record = Mapping[str, Any]

PAGE = "transfer.html"
CAPTION = (
    "Mean score over the prompts that each run mined, with Student's 95 % interval over prompts. A "
    "run's own model: its second score, on fresh images. Others: as many fresh images of the same "
    "prompts; below, the mean difference from the own model over the same prompts."
)
CHOSEN = (
    "The prompts were chosen for one model, not drawn at random: intervals apply to these "
    "prompts alone."
)
NOTE = (
    "After MineTheGap, fig. 9. A bias is a deviation from a declared ideal, or meanings that "
    "images leave out; it is not a verdict. transfer.json beside this page holds all numbers."
)


def summarize_transfer(document: Record) -> Iterator[parts.ScreenPart]:
    """What was scored in which models, the matrix, and what to keep in mind.

    Args:
        document: What transfer.json holds.
    """
    yield parts.Banner(document["toy"])
    yield parts.Facts(list(_facts(document)))
    yield _matrix(document)
    yield parts.Sentences("To keep in mind", list(_remarks(document)))


def transfer_page(document: Record) -> bytes:
    """transfer.html: the matrix, and the prompts of each run in every model; without a script."""
    page: list[parts.ScreenPart] = [
        parts.Banner(document["toy"]),
        parts.Facts(list(_facts(document))),
        parts.Heading("The matrix"),
        _matrix(document),
        parts.Sentences("To keep in mind", list(_remarks(document))),
    ]
    for origin in document["origins"]:
        page += [parts.Heading(f"Prompts of {words.clip(origin['origin'], 80)}"),
                 _prompts(document, origin["origin"])]  # fmt: skip
    title = "Mined prompts in other models"
    return html.render_parts(page, title=title, brand="MineTheGap", note=NOTE)


def _facts(document: Record) -> Iterator[tuple[str, str]]:
    objective = document["objective"]
    yield "Mined for", words.label(objective["about"], 300)
    yield "Worse", "lower scores" if objective["lower_is_worse"] else "higher scores"
    for origin in document["origins"]:
        prompts = words.count_noun(origin["n_prompts"], "prompt")
        yield (
            words.label(origin["origin"], 80),
            (
                f"{prompts} mined in {words.name(origin['model'], 120)}, each scored on "
                f"{origin['fresh_batches']} batches of {document['settings']['images']} images"
            ),
        )
    for role, title in (("vqa", "Judge"), ("embedder", "Embedder")):
        if document.get(role):
            yield title, words.name(document[role], 200)


def _matrix(document: Record) -> parts.Table:
    cells = {(cell["model"], cell["origin"]): cell for cell in document["cells"]}
    origins = [origin["origin"] for origin in document["origins"]]
    drawn = _fits(cell["mean_score"] for cell in document["cells"])
    rows: list[list[parts.Cell]] = [
        [
            words.label(one["model"], 120),
            *(_cell(cells[one["model"], origin], drawn) for origin in origins),
        ]
        for one in document["models"]
    ]
    columns = ("Model", *(f"Prompts of {words.label(origin, 60)}" for origin in origins))
    return parts.Table(columns, rows, CAPTION)


def _cell(cell: Record, drawn: bool) -> parts.Cell:
    mean, low, high = cell["mean_score"], cell["low"], cell["high"]
    prompts = words.count_noun(cell["n_prompts"], "prompt")
    basis = f"{prompts}, {words.count_noun(cell['n_images'], 'image')}"
    if cell["own"]:
        basis = f"own model, {basis}"
    lines: list[str | parts.Bar] = [
        parts.Bar("", mean, low, high) if drawn else words.with_interval(mean, low, high), basis
    ]  # fmt: skip
    if cell["difference"] is not None:
        ends = cell["difference_low"], cell["difference_high"]
        lines.append(f"difference {words.with_interval(cell['difference'], *ends, '+')}")
    if cell["reason"]:
        lines.append(words.label(cell["reason"], 200))
    return tuple(lines)


def _prompts(document: Record, origin: str) -> parts.Table:
    cells = [cell for cell in document["cells"] if cell["origin"] == origin]
    scores = [[row for row in cell["prompts"]] for cell in cells]
    drawn = _fits(row["score"] for rows in scores for row in rows)
    rows: list[list[parts.Cell]] = [
        [words.label(of_prompt[0]["prompt"], 300), *(_score(row, drawn) for row in of_prompt)]
        for of_prompt in zip(*scores, strict=True)
    ]
    columns = ("Prompt", *(words.label(cell["model"], 120) for cell in cells))
    caption = "Score on fresh images, with its 95 % interval over batches of images."
    return parts.Table(columns, rows, caption)


def _score(row: Record, drawn: bool) -> parts.Cell:
    if row["score"] is None:
        return words.label(row["reason"] or "not known why", 200)
    ends = row["low"], row["high"]
    return parts.Bar("", row["score"], *ends) if drawn else words.with_interval(row["score"], *ends)


def _fits(values: Iterator[float | None] | Sequence[float | None]) -> bool:
    """Whether values can be drawn on a scale from 0 to 1."""
    return all(value is None or 0 <= value <= 1 for value in values)


def _remarks(document: Record) -> Iterator[str]:
    yield CHOSEN
    yield from words.notes(document)
