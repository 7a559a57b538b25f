"""Predicted Intersectional Sensitivity against real mitigations (BiasConnect sec. 5.3, A.5, A.7).

Each mitigation is tried on every axis of every prompt; the result is kept as validation.json and
as a section of the report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from biasgraph.audits.compare.evidence import Evidence, evidence_of
from biasgraph.audits.further_images import FurtherImages, why_no_images, why_no_judge
from biasgraph.audits.pipeline_options import ValidateOptions
from biasgraph.audits.plan.mitigation import ORIGIN
from biasgraph.audits.reuse import write_finding
from biasgraph.audits.validate.validation_summary import KINDS, section
from biasgraph.causal.mitigation_trials import (
    SPLITS,
    Claims,
    Kind,
    Mitigation,
    Trial,
    try_mitigation,
)
from biasgraph.causal.tables import CodedImages, Codes
from biasgraph.causal.validation import correlations, summarize_trials
from biasgraph.data.result import Result, load
from biasgraph.errors import InputError, describe_missing, show_path
from biasgraph.io.json_files import to_json
from biasgraph.io.writing import write_files
from biasgraph.report.words import is_without_interventions
from biasgraph.runs.progress import showing
from biasgraph.runs.record import installed_versions

if TYPE_CHECKING:
    from biasgraph.runs.progress import Progress

SCHEMA = "biasgraph-validation/1"
VALIDATION = "validation.json"
FINDING = "validation"
"""Under which name the graph has it among its findings."""

Document = dict[str, Any]


def validate(
    options: ValidateOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> Document:
    """Try the mitigations, and keep with the result what came of them; returns validation.json.

    Raises:
        InputError: There is no finished run with interventions; nothing has been written by then.
        Interrupted: The user stopped it; the same call goes on from there.
        ModelError: A model or the disk failed.
    """
    result = load(options.run)
    if is_without_interventions(result.document["graph"]):
        raise InputError(
            f"{show_path(options.run)} has no counterfactual images, so there is no prediction to "
            "validate"
        )
    audits: Sequence[_Audit] = [_Audit.of(part) for part in result.prompts or (result,)]
    named = _name_axes(audits[0].evidence.axes, options.mitigated_axes)
    further = _Further.of(result, options, named, command, progress)
    audits, tried = further.mitigations(audits, progress)
    trials = _try_all(audits, tried, progress)
    document = {**_document(result, audits, trials), **further.record()}
    write_files(options.run, {VALIDATION: to_json(document)})
    write_finding(result.with_finding(FINDING, section(document)), options.run)
    return document


def _name_axes(axes: Sequence[str], named: Sequence[str]) -> list[str]:
    """The axes that were named, each once; InputError for one that the run does not have."""
    for one in named:
        if one not in axes:
            raise InputError(describe_missing("--mitigated-axes: the run has no axis", one, axes))
    return list(dict.fromkeys(named))


@dataclass(frozen=True)
class _Audit:
    """One prompt's result, and what it was computed from."""

    result: Result
    evidence: Evidence
    images: CodedImages

    @classmethod
    def of(cls, result: Result) -> _Audit:
        evidence = evidence_of(result)
        return cls(result, evidence, evidence.images[0])

    def with_initial(self, codes: Codes) -> _Audit:
        """The same with further initial images."""
        initial = np.concatenate([self.images.initial, codes])
        return replace(self, images=replace(self.images, initial=initial))

    @property
    def edges(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """(axes, axes) whether a source and a target are an edge of the graph."""
        axes = self.evidence.axes
        edges = np.zeros((len(axes), len(axes)), dtype=bool)
        for link in self.result.document["links"]:
            edges[axes.index(link["source"]), axes.index(link["target"])] = True
        return edges


@dataclass(frozen=True)
class _Further:
    """The images that mitigations need beside the run's own, by kind, or why there are none."""

    work: Mapping[Kind, FurtherImages]
    left_out: Mapping[Kind, str]
    named: Sequence[str]

    @classmethod
    def of(
        cls,
        result: Result,
        options: ValidateOptions,
        named: Sequence[str],
        command: Sequence[str],
        progress: Progress | None,
    ) -> _Further:
        """Raises InputError for images that are asked for and cannot be made."""
        work: dict[Kind, FurtherImages] = {}
        left_out: dict[Kind, str] = {}
        how = (options.axes, command, progress)
        if options.images is None:
            left_out["fresh"] = why_no_images(result) or "--images N makes what it needs"
        else:
            work["fresh"] = FurtherImages.of_run(result, options.images, *how)
        if options.mitigated_model is None:
            why = why_no_judge(result)
            left_out["other_model"] = why or "--mitigated-model SPEC names one"
        else:
            initial = result.document["graph"]["images"]["initial"]
            images = options.images or max(1, initial // len(result.prompts or (result,)))
            work["other_model"] = FurtherImages.of_other_model(
                result, options.mitigated_model, images, *how
            )
        return cls(work, left_out, named)

    def mitigations(
        self, audits: Sequence[_Audit], progress: Progress | None
    ) -> tuple[Sequence[_Audit], dict[Kind, Sequence[Mitigation]]]:
        """Make and judge what is missing; raises as `FurtherImages.carry_out`.

        Returns:
            The audits, with initial images that were made besides, and for each what was done.
        """
        tried: dict[Kind, Sequence[Mitigation]] = {}
        for kind, further in self.work.items():
            if progress is not None:
                progress.note(further.cost(KINDS[kind]))
            found = {images.prompt: images for images in further.carry_out()}
            made = [found[audit.images.prompt] for audit in audits]
            if kind == "fresh":
                tried[kind] = [Mitigation("fresh", arms=images.arms) for images in made]
                audits = [
                    audit.with_initial(images.initial)
                    for audit, images in zip(audits, made, strict=True)
                ]
            else:
                names = audits[0].evidence.axes
                known = frozenset(map(names.index, self.named)) or None
                tried[kind] = [
                    Mitigation("other_model", plain=images.initial, axes=known) for images in made
                ]
        tried["reweighted"] = [Mitigation("reweighted") for _ in audits]
        return audits, {kind: tried[kind] for kind in get_args(Kind) if kind in tried}

    def record(self) -> Document:
        """What a document says of it."""
        return {
            "further": {
                kind: {"model": one.job.generator.spec, "images": one.images}
                for kind, one in self.work.items()
            },
            "mitigated_axes": list(self.named),
            "left_out": dict(self.left_out),
        }


def _try_all(
    audits: Sequence[_Audit],
    tried: Mapping[Kind, Sequence[Mitigation]],
    progress: Progress | None,
) -> dict[Kind, list[Trial]]:
    """Every mitigation on every prompt."""
    trials: dict[Kind, list[Trial]] = {kind: [] for kind in tried}
    with showing(progress, "Predictions", total=len(audits), done=0) as shown_progress:
        for number, audit in enumerate(audits):
            evidence, images = audit.evidence, audit.images
            claims = Claims.of(images, evidence.ideals, evidence.settings)
            for kind, mitigations in tried.items():
                trial = try_mitigation(
                    images,
                    mitigations[number],
                    evidence.ideals,
                    audit.edges,
                    claims,
                    evidence.settings,
                )
                trials[kind].append(trial)
            shown_progress.advance(1)
    return trials


def _document(
    result: Result, audits: Sequence[_Audit], trials: Mapping[Kind, Sequence[Trial]]
) -> Document:
    graph = result.document["graph"]
    seed = audits[0].evidence.settings.seed
    return {
        "schema": SCHEMA,
        "graph": {name: graph.get(name) for name in ORIGIN},
        "max_influenced": _axis(graph, "max_influenced"),
        "max_impact": _axis(graph, "max_impact"),
        "versions": installed_versions(),
        "splits": SPLITS,
        "mitigations": [
            {"kind": kind, **asdict(summarize_trials(of_kind, seed))}
            for kind, of_kind in trials.items()
        ],
        "prompts": [
            {
                "prompt": audit.result.document["graph"]["prompt"],
                "edges": len(audit.result.document["links"]),
                "max_influenced": _axis(audit.result.document["graph"], "max_influenced"),
                "max_impact": _axis(audit.result.document["graph"], "max_impact"),
                "mitigations": {
                    kind: {**asdict(of_kind[number]), **_own(of_kind[number])}
                    for kind, of_kind in trials.items()
                },
            }
            for number, audit in enumerate(audits)
        ],
    }


def _own(trial: Trial) -> Document:
    """What a prompt says by itself along its edges."""
    return {name: asdict(found) for name, found in correlations(trial.along_edges).items()}


def _axis(graph: Mapping[str, Any], which: str) -> str | None:
    found = graph[which]
    return None if found is None else str(found["axis"])
