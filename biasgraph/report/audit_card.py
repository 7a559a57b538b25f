"""The audit card: on one page of Markdown, what was audited and what was found, with its limits.

Its words are those of the report; it adds the shares of every attribute, and how to repeat it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from biasgraph.causal.settings import AnalysisSettings
from biasgraph.data import findings as parts
from biasgraph.data.graph_document import Document
from biasgraph.report import judge_words, prompt_tables, rounds_words, style, verdict_words, words
from biasgraph.report.build_record import BuildRecord
from biasgraph.report.caveats import caveats
from biasgraph.report.graph_figure import alternative_text, graph_figure
from biasgraph.report.graph_summary import SECTIONS, ReportInput, graph_facts
from biasgraph.report.lead import lead
from biasgraph.report.markdown import code, image, title_page, to_markdown
from biasgraph.report.provenance import describe_model, describe_models, rows_of

if TYPE_CHECKING:
    from biasgraph.data.result import Result

Record = Mapping[str, Any]
FILE = "card.md"


def card_files(result: Result, kind: str, columns: int) -> dict[str, bytes]:
    """card.md and, unless there are initial images alone, the figure graph.KIND that it shows.

    Args:
        result: What was found.
        kind: Of the figure: "svg" or "png".
        columns: Its width in columns of a page, 1 or 2.

    Raises:
        InputError: the run's record is damaged.
    """
    document = result.document
    told = ReportInput(document, result.pair_records(), [part.document for part in result.prompts])
    figures = {}
    if not words.is_without_interventions(told.graph):
        figures[f"graph.{kind}"] = graph_figure(document, kind, columns)
    text = card(told, BuildRecord.of(result), next(iter(figures), None))
    return {FILE: text.encode("utf-8", "replace"), **figures}


def card(told: ReportInput, record: BuildRecord, figure: str | None) -> str:
    """The card's text; figure: the file of its picture, if it has one."""
    document, graph = dict(told.document), told.graph
    return title_page(
        f"Audit card: {style.subject(document)} by {describe_model(graph, 80)}",
        [
            to_markdown([parts.Banner(graph["toy"])]),
            to_markdown([parts.Text(" ".join(lead(document, told.pairs)))]),
            *_figure(document, figure),
            to_markdown(_describe_audit(document, record)),
            to_markdown(_describe_shares(told)),
            to_markdown(SECTIONS["findings"](told)),
            to_markdown(_judge(graph)),
            to_markdown(_limits(told)),
            *_repetition(record),
        ],
    )


def _figure(document: Document, figure: str | None) -> Iterator[str]:
    """The picture of the graph, if there is one, and how to read it."""
    if figure is not None:
        yield image(alternative_text(document), figure)
        yield to_markdown([parts.Text(f"How to read it: {words.ARROW}")])


def _describe_audit(document: Record, record: BuildRecord) -> Iterator[parts.ScreenPart]:
    """What was audited, with what, when and by which version."""
    graph = document["graph"]
    facts = dict(graph_facts(document))
    if graph["subject"] == graph["prompt"]:
        facts.pop("Subject", None)
    if record.model_settings:
        settings = rows_of(record.model_settings)
        facts["Model settings"] = ", ".join(f"{name} {value}" for name, value in settings)
    facts |= describe_models(graph)
    if record.date is not None:
        facts["Date"] = record.date.strftime("%Y-%m-%d")
    versions = graph["versions"]
    facts["biasgraph"] = versions.get("biasgraph", "version not recorded")
    facts["Settings"] = _settings(graph["settings"])
    yield parts.Heading("What was audited")
    yield parts.Facts(list(facts.items()))


def _settings(settings: Record) -> str:
    """Those that are not the defaults."""
    usual = asdict(AnalysisSettings()) | {"looks": []}
    others = {name: value for name, value in settings.items() if value != usual.get(name)}
    told = ", ".join(f"{name} {value}" for name, value in rows_of(others))
    return told or "the defaults"


def _describe_shares(told: ReportInput) -> Iterator[parts.ScreenPart]:
    """The share of every attribute beside its ideal; of many prompts, what their sum hides."""
    yield parts.Heading("What the images show")
    yield share_table(told)
    if told.prompts:
        nodes = told.document["nodes"]
        yield parts.Heading("Prompt by prompt")
        yield prompt_tables.differences(nodes)
        yield prompt_tables.most_different(nodes, told.prompts)


def share_table(told: ReportInput) -> parts.Table:
    """A row for each attribute; the distance to the ideal stands in the first row of its axis."""
    rows: list[tuple[parts.Cell, ...]] = []
    for node in told.document["nodes"]:
        initial, null = node["initial"], node["w1_null"]["q95"]
        shares = initial["distribution"] or [None] * len(node["attributes"])
        ends = node["distribution_ci"] or [None] * len(node["attributes"])
        for place, attribute in enumerate(node["attributes"]):
            share, interval, first = shares[place], ends[place], place == 0
            rows.append(
                (
                    words.name(node["id"]) if first else "",
                    words.name(attribute),
                    f"{initial['counts'][place]:,} of {initial['n_valid']:,}",
                    None if share is None else _share(share, interval),
                    words.percent(node["ideal"][place]),
                    _distance(node) if first else "",
                    "" if not first or null is None else f"to {null:.3f}",
                )
            )
    caption = (
        "Images: initial ones with a valid answer. Share: with its 95 % Wilson interval. Distance: "
        f"Wasserstein-1 ({words.metric_words(told.document['nodes'])}), with its "
        f"{rounds_words.confidence(told.graph)} bootstrap interval. By chance: how far as many "
        "images that follow the ideal lie from it, in 95 % of cases."
    )
    columns = ("Axis", "Called", "Images", "Share", "Ideal", "Distance to ideal", "By chance")
    return parts.Table(columns, rows, caption, numeric=(2, 3, 4, 5, 6))


def _share(share: float, interval: tuple[float, float] | None) -> str:
    return words.percent(share) if interval is None else words.with_ends(share, *interval)


def _distance(node: Record) -> parts.Cell:
    told = words.with_ci(node["w1"], node["w1_ci"])
    if corrected := node.get("corrected"):
        return told, f"{words.with_ci(corrected['w1'], corrected['w1_ci'])} corr."
    return told


def _judge(graph: Record) -> Iterator[parts.ScreenPart]:
    """How often the judge was right, by axis, where it was compared; else that it was not."""
    yield parts.Heading("The judge")
    record = graph.get("agreement")
    yield parts.Sentences("", list(judge_words.caveats_of_graph(graph)))
    if record is None or record["reference"].get("sample"):
        return
    rows: list[tuple[parts.Cell, ...]] = [
        (
            words.name(axis["axis"]),
            f"{axis['n_valid']:,}",
            *(words.with_ci(axis[field], axis[f"{field}_ci"]) for field in ("accuracy", "kappa")),
        )
        for axis in record["axes"]
    ]
    columns = ("Axis", "Images with two valid answers", "Accuracy", "Kappa")
    yield parts.Table(columns, rows, "Intervals are 95 %.", numeric=(1, 2, 3))


def _limits(told: ReportInput) -> Iterator[parts.ScreenPart]:
    """What could not be determined, and what to keep in mind."""
    yield parts.Heading("Limits")
    undetermined = list(verdict_words.describe_undetermined(told.document, told.pairs))
    yield parts.Sentences("What could not be determined", undetermined)
    yield parts.Sentences("To keep in mind", [*_caveats(told)])


def _caveats(told: ReportInput) -> Iterator[str]:
    yield from caveats(told.document)
    yield judge_words.about_labels([told.graph])


def _repetition(record: BuildRecord) -> Iterator[str]:
    """The command to repeat the audit, or why there is none."""
    command = record.shell
    if command:
        how = "As it was typed:"
    elif record.has_run:
        how = "The run was built in Python: no command is recorded."
    else:
        how = "It was made from an answers table, which the result keeps. With the settings above:"
        command = "biasgraph build --answers answers.csv"
    yield to_markdown([parts.Heading("How to repeat it"), parts.Text(how)])
    yield code(command) if command else ""
