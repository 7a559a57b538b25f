"""A mitigation plan for a finished run (BiasConnect sec. 6.3), and what it came to.

Which single intervention brings each axis closest to its ideal; in which order several should be
added to reach some targets; and, where asked, images of the joint prompts as the check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgraph.audits.compare.evidence import Evidence, evidence_of
from biasgraph.audits.pipeline_options import PlanOptions
from biasgraph.audits.plan.targets import every_axis, read_targets
from biasgraph.audits.plan.verification import JointPlan, run_of
from biasgraph.causal.greedy import Target, greedy_plan
from biasgraph.causal.outcome import compare_outcome
from biasgraph.causal.planning import rank_strategies
from biasgraph.causal.tables import ALL, Pool
from biasgraph.data.result import Result, load
from biasgraph.io.json_files import to_json
from biasgraph.io.writing import write_files
from biasgraph.runs.progress import duration
from biasgraph.runs.record import installed_versions

if TYPE_CHECKING:
    from biasgraph.runs.progress import Progress

SCHEMA = "biasgraph-plan/1"
PLAN = "plan.json"

Document = dict[str, Any]

ORIGIN = (
    "kind", "prompt", "prompts", "subject", "model", "vqa", "vqa_fingerprint", "people",
    "annotators", "toy", "images", "ideal", "settings",
)  # fmt: skip
"""What a plan says of the graph that it is for."""
NO_PLAN: Document = {
    "assumption": None, "before": None, "steps": [], "stopped": "insufficient", "next": None,
    "left_out": [],
}  # fmt: skip


def plan(
    options: PlanOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> Document:
    """Plan, verify if asked to, and write plan.json; returns its document.

    Raises:
        InputError: there is no finished run, or the options or the targets are wrong; nothing has
            been made or written by then.
        Interrupted: the user stopped the verification; the same call goes on from there.
        ModelError: a model or the disk failed.
    """
    result = load(options.run)
    if options.verify:
        run_of(result)
    work = _Planning.of(result, options)
    document = work.document()
    if options.verify:
        document["verification"] = work.verify(document["plan"], progress, command)
    write_files(options.output or options.run, {PLAN: to_json(document)})
    return document


@dataclass(frozen=True)
class _Planning:
    """What a plan is made of: the finished run, its images, and what is to be reached."""

    result: Result
    options: PlanOptions
    evidence: Evidence
    pool: Pool
    targets: Sequence[Target]

    @classmethod
    def of(cls, result: Result, options: PlanOptions) -> _Planning:
        """Raises InputError for targets that the run does not admit."""
        evidence = evidence_of(result)
        name = result.document["graph"]["prompt"] or ALL
        pool = Pool.of(name, sorted(evidence.images, key=lambda images: images.prompt))
        targets = every_axis(evidence.ideals)
        if options.targets is not None:
            metric = evidence.settings.metric
            targets = read_targets(options.targets, pool.variables, evidence.ideals, metric)
        return cls(result, options, evidence, pool, targets)

    @property
    def answered(self) -> list[Target]:
        """The targets with enough valid answers."""
        initial, least = self.pool.total.initial, self.evidence.settings.min_valid
        return [target for target in self.targets if initial[target.variable].n_valid >= least]

    @property
    def edges(self) -> set[tuple[int, int]]:
        """The edges of the graph, by the numbers of their axes."""
        place = {name: y for y, name in enumerate(self.evidence.axes)}
        links = self.result.document["links"]
        return {(place[link["source"]], place[link["target"]]) for link in links}

    def document(self) -> Document:
        """What plan.json holds, without a verification."""
        evidence, graph, targets = self.evidence, self.result.document["graph"], self.answered
        settings, nodes = evidence.settings, self.result.document["nodes"]
        planned = NO_PLAN
        if targets:
            planned = greedy_plan(self.pool, targets, self.edges, settings, self.options.steps)
        return {
            "schema": SCHEMA,
            "graph": {name: graph.get(name) for name in ORIGIN},
            "versions": installed_versions(),
            "strategies": rank_strategies(
                self.pool, evidence.ideals, nodes, self.result.pair_records(), settings
            ),
            "plan": {
                "source": None if self.options.targets is None else self.options.targets.name,
                "goals": [self._goal(target, target in targets) for target in self.targets],
                **planned,
            },
            "verification": None,
        }

    def _goal(self, target: Target, enough: bool) -> Document:
        variable = self.pool.variables[target.variable]
        return {
            "axis": variable.name,
            "attributes": list(variable.attributes),
            "weight": target.weight,
            "ideal": target.ideal.shares.tolist(),
            "metric": target.ideal.metric,
            "n_valid": self.pool.total.initial[target.variable].n_valid,
            "status": "ok" if enough else "insufficient",
        }

    def verify(
        self, planned: Document, progress: Progress | None, command: Sequence[str]
    ) -> Document:
        """The joint images of the planned interventions, set against what was predicted."""
        options, names = self.options, [variable.name for variable in self.pool.variables]
        indices = sorted({names.index(step["axis"]) for step in planned["steps"]})
        chosen = [names[index] for index in indices]
        document: Document = {"axes": chosen, "status": "ok"}
        if len(chosen) < 2:  # what a single intervention does is what the run has measured
            return {**document, "status": "nothing_joint" if chosen else "nothing_planned"}
        work = JointPlan.of(
            self.result, chosen, options.verify_images, options.axes, command, progress
        )
        size = work.size()
        if progress is not None:
            progress.note(cost(size))
        joint = work.carry_out(self.pool.variables)
        return {
            **document,
            **size,
            "prompts": [prompt.text for prompt in work.prompts],
            "targets": compare_outcome(
                joint, self.pool, indices, self.answered, self.edges, self.evidence.settings
            ),
        }


def cost(size: Document) -> str:
    """What a verification takes, in a line."""
    seconds = size["seconds"]
    pace = "time not known" if seconds is None else f"about {duration(seconds)} on two CPU cores"
    return (
        f"Verification: {size['combinations']:,} combinations x {size['images_per_combination']:,} "
        f"images = {size['images']:,} images, {size['questions']:,} questions; {pace}; what the "
        "run has already is not made again"
    )
