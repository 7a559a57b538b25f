"""From an answers table to a result: the answers are coded, counted, weighed and described."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.agreement.trust import Trust
from biasgraph.audits.build_options import BuildOptions
from biasgraph.audits.ideals.declared import DeclaredIdeals
from biasgraph.causal.graph import Analysis, analyze
from biasgraph.causal.pooling import NOTE, analyze_global
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages
from biasgraph.data import frames
from biasgraph.data.answer_codes import code_images
from biasgraph.data.answers import Answers
from biasgraph.data.axes import AxisSet
from biasgraph.data.file_names import PROMPTS
from biasgraph.data.result import Result
from biasgraph.data.result_tables import KnownTables, PromptTables, RowsByPrompt
from biasgraph.io.folder_names import folder_name
from biasgraph.models.registry import traits_of
from biasgraph.runs.job import TOY
from biasgraph.runs.record import installed_versions

if TYPE_CHECKING:
    from biasgraph.runs.progress import Progress

Record = Mapping[str, Any]


def analyze_answers(
    answers: Answers,
    axes: AxisSet | None,
    options: BuildOptions,
    made_with: Record,
    about_prompts: Mapping[str, Record],
    progress: Progress | None = None,
    *,
    declared: DeclaredIdeals | None = None,
    directory: Path | None = None,
) -> Result:
    """Code the answers, test and weigh every pair of axes, and describe it all.

    Args:
        answers: The table.
        axes: As declared; None reads them off the table.
        options: Of the analysis; `prompts` among them makes a graph of several, however many.
        made_with: What a graph says of its origin: model, vqa (or the table does), notes and flags.
        about_prompts: What each prompt's graph says besides: subject, `fixed_by_prompt` (an
            attribute for each axis that the prompt fixes), unseen words, and flags.
        progress: What shows where the work stands.
        declared: The ideals, where they are read already.
        directory: Where the result is, or will be, with what is known of its judge there.

    Returns:
        The graph of the one prompt, or, of several, their global graph with that of each in
        `Result.prompts`.

    Raises:
        InputError: As `code_images`, `DeclaredIdeals.of`, `Trust.of` and `causal.graph.analyze` do.
    """
    coding = code_images(answers, axes, options.unlisted)
    variables = coding.images[0].variables
    judge = made_with.get("vqa", answers.judge), made_with.get("vqa_fingerprint")
    if declared is None:
        declared = DeclaredIdeals.of(options, variables, judge, with_axes=axes is not None)
    several = options.prompts is not None or len(coding.images) > 1
    origin = {
        "subject": None,
        "model": answers.model,
        "vqa": answers.judge,
        "annotators": answers.annotators,
        "fixed_by_prompt": {},
        "toy": TOY if traits_of(answers.model).toy else None,
        "people": traits_of(judge[0] or "").people,
        **made_with,
        "axes": axes and {"name": axes.name, "digest": axes.digest()},
        "ideal": declared.record([images.prompt for images in coding.images]),
        "notes": [*made_with.get("notes", ()), *coding.notes],
    }
    trust = Trust.of(options.correct, answers, variables, origin, directory)
    analyses, whole = _weigh(
        coding.images, options.analysis_settings(), declared, trust, progress, several=several
    )
    described = _Description(declared, {**origin, **trust.record()}, about_prompts)
    if whole is None:
        own, counts = analyses[0], frames.counts_frame(analyses[0].counts)
        document = _document(own, described.of_prompt(coding.images[0].prompt, several=False))
        rows = answers.frame.reset_index(drop=True)
        return Result(document, KnownTables(frames.pairs_frame(own.pairs), counts, rows))
    return _describe_sum(described, [one.prompt for one in coding.images], analyses, whole, answers)


def _weigh(
    images: Sequence[CodedImages],
    settings: AnalysisSettings,
    declared: DeclaredIdeals,
    trust: Trust,
    progress: Progress | None,
    *,
    several: bool,
) -> tuple[list[Analysis], Analysis | None]:
    """The graph of each prompt, and, of several, that of their sum."""
    with _counting(progress, "Graphs", len(images) + 1 if several else 0) as advance:
        analyses = []
        for coded in images:
            baseline = declared.baseline([coded.prompt], trust.labelled)
            analyses.append(analyze(coded, settings, baseline))
            advance()
        if not several:
            return analyses, None
        baseline = declared.baseline([coded.prompt for coded in images], trust.labelled)
        whole = analyze_global(images, analyses, settings, baseline)
        advance()
    return analyses, whole


@contextmanager
def _counting(progress: Progress | None, what: str, total: int) -> Iterator[Callable[[], object]]:
    """Show progress, if there is anything to show; yields what to call after each item."""
    if progress is None or not total:
        yield lambda: None
        return
    progress.start(what, total=total, done=0)
    try:
        yield lambda: progress.advance(1)
    finally:
        progress.finish()


@dataclass(frozen=True)
class _Description:
    """What graphs say of where they come from. origin: what every graph says."""

    declared: DeclaredIdeals
    origin: dict[str, Any]
    about_prompts: Mapping[str, Record]

    def of_prompt(self, prompt: str, *, several: bool) -> dict[str, Any]:
        """What the graph of a prompt says."""
        where = " (in the answers about all prompts)" if several else ""
        notes = [f"{note}{where}" for note in self.origin["notes"]]
        origin = {
            **self.origin,
            "ideal": self.declared.record([prompt]),
            "notes": [*notes, *self.declared.remarks([prompt])],
            **self.about_prompts.get(prompt, {}),
        }
        if several:
            origin.pop("adaptive", None)  # the pairs of the sum decide where images go
        return origin

    def of_sum(self, prompts: Sequence[str], *, intervened: bool) -> dict[str, Any]:
        """What the graph of their sum says."""
        notes = [*self.origin["notes"], *self.declared.remarks(prompts)]
        return {**self.origin, "notes": [*notes, NOTE] if intervened else notes}


def _describe_sum(
    described: _Description,
    prompts: Sequence[str],
    analyses: Sequence[Analysis],
    whole: Analysis,
    answers: Answers,
) -> Result:
    counts, answered = frames.counts_frame(whole.counts), answers.frame.reset_index(drop=True)
    rows = RowsByPrompt(counts), RowsByPrompt(answered)
    parts = tuple(
        Result(
            _document(analysis, described.of_prompt(prompt, several=True)),
            PromptTables(prompt, frames.pairs_frame(analysis.pairs), *rows),
        )
        for prompt, analysis in zip(prompts, analyses, strict=True)
    )
    intervened = "no_interventions" not in whole.graph["flags"]
    document = _document(whole, described.of_sum(prompts, intervened=intervened))
    for about, part in zip(document["graph"]["prompts"], parts, strict=True):
        about["subject"] = part.document["graph"]["subject"]
        about["directory"] = f"{PROMPTS}/{folder_name(about['prompt'])}"
    tables = KnownTables(frames.pairs_frame(whole.pairs), counts, answered)
    return Result(document, tables, prompts=parts)


def _document(analysis: Analysis, origin: Record) -> dict[str, Any]:
    """The document of graph.json: the analysis, where it comes from and what computed it."""
    document = analysis.node_link()
    for node in document["nodes"]:
        if node["id"] in origin["fixed_by_prompt"]:
            node["flags"].append("fixed_by_prompt")
    first = {name: analysis.graph[name] for name in ("kind", "prompt")}
    graph = {**first, **origin, **analysis.graph}
    graph["flags"] = [*analysis.graph["flags"], *origin.get("flags", ())]
    graph |= {"versions": installed_versions(), "findings": {}}
    return {**document, "graph": graph}
