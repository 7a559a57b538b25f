"""The ranking of biases told in parts: in short, and in full for a page and a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biasgraph.data import findings as parts
from biasgraph.report import html, style, words
from biasgraph.report.bar_figure import Panel, bar_figure

Record = Mapping[str, Any]

PAGE, FIGURE = "openbias.html", "openbias.svg"
MOST_CAPTIONS, MOST_OTHERS = 200, 200
"""Captions of a bias, and proposals, that the page lists; openbias.json has them all."""
COLUMNS = ("Bias, most frequent class", "Intensity", "Chance", "Captions", "Valid")
CAPTION = (
    "Intensity: 0 where all classes are equally frequent, 1 where there is only one; of the mean "
    "distribution over captions (context-free), with its 95 % interval, and below it the mean of "
    "each caption's own (context-aware), which is high by chance where captions have few images. "
    "Chance: uniform classes stay below it in 95 % of cases."
)
FIGURE_NOTE = (
    "Intensity: 0 where all classes are equally frequent, 1 where there is only one (of the mean "
    "distribution over captions). Behind each name: its most frequent class. Dashed marks: answers "
    "drawn from uniform classes stay below them in 95 % of cases."
)
PAGE_NOTE = (
    "A bias is a deviation from a declared ideal, here from uniform classes, and not a verdict. "
    "Classes are labels that the judge, a model, gave to pictures; they are not identities of "
    "people. openbias.json beside this page holds all numbers."
)


def summarize_ranking(document: Record) -> Iterator[parts.ScreenPart]:
    """Where a ranking comes from, the ranking, and what to keep in mind.

    Args:
        document: What openbias.json holds.
    """
    yield from _origin(document)
    scored = [bias for bias in document["biases"] if bias["intensity"] is not None]
    yield _ranking(scored)
    yield parts.Sentences("Others", list(_others(document)))
    yield parts.Sentences("To keep in mind", list(caveats(document)))


def ranking_page(document: Record) -> bytes:
    """openbias.html: the ranking, each bias's classes and captions; it needs no script."""
    page: list[parts.ScreenPart] = [*_origin(document), parts.Heading("Ranking")]
    if document["biases"]:
        page.append(_ranking(document["biases"]))
    else:
        page.append(parts.Text("No bias is left to examine."))
    page.append(parts.Sentences("To keep in mind", list(caveats(document))))
    for bias in document["biases"]:
        page += _bias(bias)
    if document["others"]:
        rows: list[tuple[parts.Cell, ...]] = [
            (other["bias"], ", ".join(other["classes"]), other["n_captions"], other["reason"])
            for other in document["others"][:MOST_OTHERS]
        ]
        columns = ("Bias", "Classes", "Captions", "Reason")
        page += [
            parts.Heading("Proposed but not examined"),
            parts.Table(columns, rows, numeric=(2,)),
        ]
    return html.render_parts(page, title=_title(document), brand="OpenBias", note=PAGE_NOTE)


def ranking_figure(document: Record, kind: str = "svg") -> bytes:
    """A bar for each bias, the most intense first, as "svg" or "png"."""
    scored = [bias for bias in document["biases"] if bias["intensity"] is not None]
    bars = [
        _intensity(bias, f"{style.clip(bias['bias'], 36)}: {style.clip(bias['majority'], 20)}")
        for bias in scored
    ]
    settings, captions = document["settings"], document["captions"]
    caption = (
        f"Biases of {words.name(document['model'], 80)} (OpenBias), proposed by "
        f"{words.name(document['proposed_by'], 120)}. Judge: {words.name(document['vqa'], 80)}. "
        f"{captions['n_used']:,} captions, {settings['images']:,} images of each. {FIGURE_NOTE}"
    )
    more = len(document["biases"]) - len(bars)
    caption += f" {words.count_noun(more, 'bias', 'biases')} without a score." if more else ""
    panels = [Panel("Intensity", [("", bars)])]
    return bar_figure(panels, kind, 2, _title(document), words.plain(caption), document["toy"])


def caveats(document: Record) -> Iterator[str]:
    """What to know of captions that were not used, and of the models."""
    captions = document["captions"]
    repeated = captions["n_given"] - captions["n_different"]
    if repeated:
        yield f"Captions left out because they repeat an earlier one: {repeated:,}."
    for passed_over, what in (
        (captions["left_out"], "cannot be used"),
        (captions["without_proposals"], "got no proposals"),
    ):
        if passed_over:
            first = passed_over[0]
            yield (
                f"{words.count_noun(len(passed_over), 'caption')} {what}; the first "
                f"({words.label(first['place'])}): {words.label(first['reason'], 300)}"
            )
    within = [
        bias["bias"]
        for bias in document["biases"]
        if bias["intensity"] is not None and bias["intensity"] <= bias["intensity_uniform_q95"]
    ]
    if within:
        yield f"No further from uniform than by chance: {words.list_names(within, 'biases')}."
    if document["unseen_words"]:
        unseen = ", ".join(map(words.name, document["unseen_words"]))
        yield f"The model never saw these words: {unseen}."
    yield from words.notes(document)


def _title(document: Record) -> str:
    number = words.count_noun(len(document["biases"]), "bias", "biases")
    return words.plain(f"{number} proposed for {words.name(document['model'], 80)}")


def _origin(document: Record) -> list[parts.ScreenPart]:
    captions, settings = document["captions"], document["settings"]
    rows = [
        ("Model", words.name(document["model"], 200)),
        ("Judge", words.name(document["vqa"], 200)),
        ("Proposed by", words.name(document["proposed_by"], 200)),
        ("Captions", f"{captions['n_used']:,} of {captions['n_different']:,}"),
        ("Images", f"{settings['images']:,} of each caption"),
        ("Synonyms", words.name(document["synonyms"], 200)),
    ]
    return [parts.Banner(document["toy"]), parts.Facts(rows)]


def _ranking(biases: Sequence[Record]) -> parts.Table:
    rows: list[tuple[parts.Cell, ...]] = []
    for bias in biases:
        name = words.clip(bias["bias"], 80)
        valid = f"{bias['n_valid']:,}/{bias['n_images']:,}"
        if bias["intensity"] is None:
            rows.append((name, bias["reason"], None, bias["n_captions"], valid))
            continue
        field = "intensity_context_aware"
        aware = words.with_interval(
            *(bias[f"{field}_mean{end}"] for end in ("", "_ci_low", "_ci_high"))
        )
        chance = tuple(f"{bias[f'{one}_uniform_q95']:.3f}" for one in ("intensity", field))
        majority, intensity = _majority(bias), _intensity(bias)
        rows.append(((name, majority), (intensity, aware), chance, bias["n_captions"], valid))
    return parts.Table(COLUMNS, rows, CAPTION, numeric=(1, 2, 3, 4))


def _intensity(bias: Record, label: str = "") -> parts.Bar:
    low, high = bias["intensity_ci_low"], bias["intensity_ci_high"]
    return parts.Bar(label, bias["intensity"], low, high, bias["intensity_uniform_q95"])


def _majority(bias: Record) -> str:
    """The most frequent class, with its share."""
    names = " / ".join(words.name(name) for name in (bias["majority"], *bias["ties"]))
    return f"{names} ({words.percent(bias['majority_share'])})"


def _bias(bias: Record) -> Iterator[parts.ScreenPart]:
    """A bias by itself: how its answers fall on its classes, and its captions."""
    yield parts.Heading(words.clip(bias["bias"], 80))
    yield parts.Text(_about(bias))
    uniform = 1 / max(len(bias["classes"]), 1)
    shares = bias["distribution"] or [None] * len(bias["classes"])
    ends = bias["distribution_ci"] or [[None, None]] * len(bias["classes"])
    rows: list[tuple[parts.Cell, ...]] = [
        (name, parts.Bar("", share, span[0], span[1], uniform), count)
        for name, count, share, span in zip(
            bias["classes"], bias["counts"], shares, ends, strict=True
        )
    ]
    caption = "Share: the mean over the captions; line: its 95 % interval; mark: uniform classes."
    yield parts.Table(("Class", "Share", "Answers"), rows, caption, numeric=(1, 2))
    captions = bias["captions"][:MOST_CAPTIONS]
    if captions:
        rows = [
            (
                words.clip(row["caption"], 300),
                words.clip(row["question"], 300),
                row["intensity"],
                row["majority"],
                row["n_valid"],
            )
            for row in captions
        ]
        columns = ("Caption", "Question", "Intensity", "Most frequent", "Valid answers")
        table = parts.Table(columns, rows, numeric=(2, 4))
        more = f": the first {MOST_CAPTIONS}" if len(captions) < bias["n_captions"] else ""
        yield parts.Details(f"Captions by themselves{more}", table)


def _about(bias: Record) -> str:
    """What was put together and filtered, in sentences."""
    text = words.count_noun(bias["n_captions"], "caption")
    if number := len(bias["filtered"]):
        said = "says the answer and was" if number == 1 else "say the answer and were"
        text += f"; {number:,} more {said} left out"
    text += (
        f". {words.count_noun(bias['n_images'], 'image')}: "
        f"{words.count_noun(bias['n_valid'], 'valid answer')}, {bias['n_unknown']:,} unknown, "
        f"{bias['n_gated']:,} withheld."
    )
    if bias["merged"]:
        text += (
            f" Merged with {words.list_names(bias['merged'], 'biases')}, which share its classes."
        )
    if number := len(bias["classes_left_out"]):
        text += f" {number:,} rarer {'class was' if number == 1 else 'classes were'} left out."
    return text


def _others(document: Record) -> Iterator[str]:
    """The biases that were asked about and have no score; proposals that were not looked at."""
    unscored = [bias for bias in document["biases"] if bias["intensity"] is None]
    if unscored:
        each = [f"{words.name(bias['bias'])} ({bias['reason']})" for bias in unscored]
        yield f"No score: {', '.join(each)}."
    if document["others"]:
        each = [
            f"{words.name(other['bias'])} ({other['reason']}: {other['n_captions']})"
            for other in document["others"]
        ]
        yield f"Proposed but not examined: {words.list_first(each, 'biases')}."
