"""How edges, verdicts and sensitivities of a run change with fewer images and a worse judge.

BiasConnect's sec. 5.4, computed from the run's own answers: no model is called unless fresh images
are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.audits.compare.evidence import Evidence, evidence_of
from biasgraph.audits.further_images import FurtherImages
from biasgraph.audits.pipeline_options import RobustnessOptions
from biasgraph.audits.plan.mitigation import ORIGIN
from biasgraph.audits.reuse import write_finding
from biasgraph.audits.robustness.robustness_summary import section
from biasgraph.causal.judge_errors import WorseJudge
from biasgraph.causal.robustness import Auditor, Claims, FewerImages, verdict_stability
from biasgraph.causal.tables import ALL, CodedImages, Counts, Variable
from biasgraph.data.result import Result, load
from biasgraph.errors import InputError, show_path
from biasgraph.io.json_files import to_json
from biasgraph.io.writing import write_files
from biasgraph.report.robustness_figure import robustness_figure
from biasgraph.runs.progress import showing
from biasgraph.runs.record import installed_versions

if TYPE_CHECKING:
    from biasgraph.runs.progress import Progress

SCHEMA = "biasgraph-robustness/1"
ROBUSTNESS = "robustness.json"
NAME_OF_FINDING = "robustness"

Document = dict[str, Any]


def try_robustness(
    options: RobustnessOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> Document:
    """Draw audits, write robustness.json and its figure; returns its document.

    Without another place for them, they go into RUN, and the report there gets a section.

    Raises:
        InputError: There is no finished run with interventions, an option is wrong, or fresh
            images are asked for and cannot be made.
        ModelError: A model failed, or the directory cannot be written.
        Interrupted: The user stopped it; images that were made are kept, nothing else is written.
    """
    result = load(options.run)
    study = _Study.of(result, options)
    document = study.with_fresh_images(command, progress).document(progress)
    files = {ROBUSTNESS: to_json(document)}
    for kind in ("svg", "png"):
        files[f"{NAME_OF_FINDING}.{kind}"] = robustness_figure(document, kind)
    write_files(options.output or options.run, files)
    if options.output is None:
        finding = section(document)
        write_finding(result.with_finding(NAME_OF_FINDING, finding), options.run)
    return document


@dataclass(frozen=True)
class _Study:
    """A finished run, what it says, and how it is tried."""

    result: Result
    options: RobustnessOptions
    prompts: Sequence[CodedImages]
    auditor: Auditor
    whole: Claims
    fresh: Sequence[CodedImages] = ()

    @classmethod
    def of(cls, result: Result, options: RobustnessOptions) -> _Study:
        """Raises InputError for a run without interventions."""
        graph, evidence = result.document["graph"], evidence_of(result)
        if not any(images.arms for images in evidence.images):
            raise InputError(
                f"{show_path(options.run)} has no interventions, so there is no pair of axes to "
                "test for robustness"
            )
        auditor = _auditor(graph, evidence)
        prompts = sorted(evidence.images, key=lambda images: images.prompt)
        return cls(result, options, prompts, auditor, auditor.claims(prompts))

    def with_fresh_images(self, command: Sequence[str], progress: Progress | None) -> _Study:
        """The same with new images of every prompt, where they are asked for."""
        images = self.options.fresh_images
        if images is None:
            return self
        further = FurtherImages.of_run(
            self.result, images, self.options.axes, command, progress, controls=True
        )
        if progress is not None:
            progress.note(further.cost("Fresh images"))
        found = {one.prompt: one for one in further.carry_out()}
        return replace(self, fresh=[found[images.prompt] for images in self.prompts])

    def document(self, progress: Progress | None) -> Document:
        """What robustness.json holds."""
        options, graph = self.options, self.result.document["graph"]
        drawn = (self.auditor, self.prompts, self.whole, options.draws, options.seed)
        fewer = FewerImages(*drawn, self.fresh)
        labelled = _confusion(graph, self.prompts[0].variables)
        worse = WorseJudge(*drawn, labelled)
        sizes = options.images(fewer.most)
        rows: list[Document] = []
        apart: dict[int, list[Claims]] = {}
        total = fewer.audits(sizes) + worse.audits
        with showing(progress, "Audits", total=total, done=0) as work:
            for size in sizes:
                measured, found = fewer.measure(size, lambda: work.advance(1))
                rows += measured
                if found:
                    apart[size] = found
            errors = worse.rows(lambda: work.advance(1))
        return {
            "schema": SCHEMA,
            "graph": {name: graph.get(name) for name in ORIGIN},
            "versions": installed_versions(),
            "draws": options.draws,
            "seed": options.seed,
            "images_of_each": fewer.most,
            "fresh_images": options.fresh_images,
            "pairs": int(self.whole.defined.sum()),
            "edges": int(self.whole.edge.sum()),
            "images": rows,
            "errors": errors,
            "confusion_of": sorted(labelled),
            "verdicts": verdict_stability(self.whole, apart),
        }


def _auditor(graph: Document, evidence: Evidence) -> Auditor:
    """How the graph was made: of one prompt, or of several."""
    settings, several = evidence.settings, graph["kind"] == "global"
    rule = settings.global_rule if several else settings.prompt_rule
    return Auditor(graph["prompt"] or ALL, evidence.ideals, settings, rule)


def _confusion(graph: Document, variables: Sequence[Variable]) -> dict[str, Counts]:
    """counts[truth, answer] of the judge by axis, where an agreement that is kept has some."""
    with_unknown = graph["settings"]["unknown"] == "class"
    checked = {one["axis"]: one for one in (graph.get("agreement") or {}).get("axes", ())}
    labelled = {}
    for variable in variables:
        attributes = variable.attributes[:-1] if with_unknown else variable.attributes
        record = checked.get(variable.name)
        if record is not None and tuple(record["attributes"]) == attributes:
            counts = np.array(record["table"], dtype=np.int64)[:-2, :-2]
            if (counts.sum(axis=1) > counts.diagonal()).any():
                labelled[variable.name] = counts
    return labelled
