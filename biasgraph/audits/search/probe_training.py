"""The story of `biasgraph probe train`: prompts, images, answers, activations, probes, accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.axis_options import choose_axes
from biasgraph.audits.search.probe_options import PROMPTS, ProbeOptions
from biasgraph.data.axes import Axis, AxisSet
from biasgraph.errors import InputError, printable
from biasgraph.io.folder_names import slug
from biasgraph.io.writing import refuse_foreign, write_files
from biasgraph.models.probe import SCHEMA, SUFFIX, Probe, is_probe_file, probe_file
from biasgraph.prompts.counterfactuals import Prompt, PromptPlan
from biasgraph.prompts.prompt_lists import PromptList
from biasgraph.runs.job import Job, directory_for
from biasgraph.runs.model_choice import generator_of, model_judge_of
from biasgraph.runs.observed_images import observe, refuse_unobservable
from biasgraph.runs.progress import showing
from biasgraph.runs.questions import questions_about
from biasgraph.runs.record import installed_versions
from biasgraph.runs.wanted_images import digest, prompt_rows

if TYPE_CHECKING:
    from biasgraph.methods.linear_probes import LabelledImages
    from biasgraph.models.middle_activations import MiddleActivations
    from biasgraph.runs.directory import Run
    from biasgraph.runs.ledger_rows import ImageRow
    from biasgraph.runs.progress import Progress

HELD_OUT = 0.3
"""The part of the prompts that is held out."""
FEWEST = 3
"""Prompts: one to hold out, two to choose the penalty by."""
NOBODY = -1
Record = dict[str, Any]


@dataclass(frozen=True)
class ProbeTraining:
    """What came of it; document: what the file says of itself."""

    document: Record
    probes: Mapping[str, Probe]
    path: Path


def train(
    options: ProbeOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> ProbeTraining:
    """Train probes and write their file; what the run has already is not done again.

    command: what was typed, for the run's record.

    Raises:
        InputError: the options or a prompt are wrong, or no image shows an attribute; no file of
            probes is written then.
        ModelError: a model, the machine or the network failed.
        Interrupted: the user stopped the work; the same call goes on from there.
    """
    work = _Training.of(options, progress, command)
    job = work.job
    with job.open() as run:
        gate, questions = questions_about(work.axes)
        job.declare(run, questions, gate)
        plans = [plan.prompts for plan in work.plans]
        targets = [axis.name for axis in work.axes.axes]
        job.request(run, plans, options.images, work.settings(), targets)
        job.complete(run, questions, gate)
        images = _Images.of(work, run)
        labelled = {axis.name: images.label(work, axis) for axis in work.axes.axes}
        for axis in work.axes.axes:
            _refuse_unseen(axis, labelled[axis.name])
        probes, records = _train(work, labelled)
        document = work.document(run, images, records)
        path = work.path
        write_files(path.parent, {path.name: probe_file(document, list(probes.values()))})
    return ProbeTraining(document, probes, path)


@dataclass(frozen=True)
class _Training:
    """Who does what, and where. held_out: the initial texts of prompts that are."""

    options: ProbeOptions
    job: Job
    axes: AxisSet
    plans: Sequence[PromptPlan]
    name: str
    held_out: frozenset[str]

    @classmethod
    def of(
        cls, options: ProbeOptions, progress: Progress | None, command: Sequence[str]
    ) -> _Training:
        """Raises InputError for what does not fit; nothing is written."""
        spec = generator_of(
            options.model,
            "probes are trained on a model at work, and a folder makes no images: name a "
            "generator with --model",
        )
        vqa = model_judge_of(spec, options.vqa, "probe train")
        axes = choose_axes(options.axes, options.axis)
        listed = PromptList.of(options.prompts or PROMPTS)
        if len(listed.prompts) < FEWEST:
            raise InputError(
                f"--prompts has {len(listed.prompts)}, and probes need {FEWEST} or more: accuracy "
                "is measured on held-out prompts"
            )
        folder = directory_for(spec, f"probes-{slug(listed.name)}", options.folder)
        refuse_foreign(_path(folder), is_probe_file, "a file of probes")
        job = Job.begin(
            folder,
            model=spec,
            vqa=vqa,
            options=options.model_options(),
            seed=options.seed,
            fresh=options.fresh,
            command=command,
            progress=progress,
        )
        refuse_unobservable(job.generator)
        plans = listed.plans(axes, job.generator.check_prompts)
        texts = [plan.initial.text for plan in plans]
        texts.sort(key=lambda text: digest(["held out", options.seed, text]))
        held_out = frozenset(texts[: max(1, round(HELD_OUT * len(texts)))])
        return cls(options, job, axes, plans, listed.name, held_out)

    @property
    def path(self) -> Path:
        """Of the file of probes."""
        return _path(self.job.directory)

    def settings(self) -> Record:
        """What the probes depend on beside the models, in JSON types."""
        return {
            "axes": self.axes.name,
            "axis": [axis.name for axis in self.axes.axes],
            "prompts": self.name,
            "images": self.options.images,
            "labels": self.options.labels,
            "every": self.options.every,
            "held_out": HELD_OUT,
            "seed": self.options.seed,
        }

    def document(self, run: Run, images: _Images, records: Sequence[Record]) -> Record:
        """What the file says of itself."""
        job = self.job
        texts = [plan.initial.text for plan in self.plans]
        return {
            "schema": SCHEMA,
            "toy": job.toy,
            **job.identities(),
            "generator": dict(job.generator.settings),
            "axes": {"name": self.axes.name, "digest": self.axes.digest()},
            "settings": self.settings(),
            "prompts": {
                "training": [text for text in texts if text not in self.held_out],
                "held_out": [text for text in texts if text in self.held_out],
            },
            "steps": list(images.seen.steps),
            "of": images.seen.of,
            "n_images": len(images.rows),
            "probes": list(records),
            "notes": [*job.withheld_notes(run, "left out"), *job.notes()],
            "seed": self.options.seed,
            "versions": installed_versions(),
        }


def _path(folder: Path) -> Path:
    return folder.with_name(folder.name + SUFFIX)


@dataclass(frozen=True)
class _Images:
    """The images that were not withheld, with what is known of each.

    Attributes:
        rows: As the run has them.
        plans: The plan of each.
        prompts: The prompt of each.
        answers: What the judge says of each, by axis.
        seen: Their activations.
    """

    rows: Sequence[ImageRow]
    plans: Sequence[PromptPlan]
    prompts: Sequence[Prompt]
    answers: Sequence[Mapping[str, str]]
    seen: MiddleActivations

    @classmethod
    def of(cls, work: _Training, run: Run) -> _Images:
        """Those of the request; raises as `observe` does."""
        made_of = {
            row.id: (plan, prompt)
            for plan in work.plans
            for row, prompt in zip(prompt_rows(plan.prompts), plan.prompts, strict=True)
        }
        rows = [row for row in run.ledger.images() if row.withheld is None]
        if not rows:
            raise InputError("all images were withheld: there is nothing to train on")
        plans, prompts = zip(*(made_of[row.id.rpartition("-")[0]] for row in rows), strict=True)
        said = run.ledger.read_answered(work.job.vqa)
        answers = [{axis: one.answer for axis, one in said[row.key].items()} for row in rows]
        seen = observe(run, work.job.generator, rows, work.options.every, work.job.progress)
        return cls(rows, plans, prompts, answers, seen)

    def label(self, work: _Training, axis: Axis) -> LabelledImages:
        """The images with what each is to be taken for along an axis."""
        import numpy as np

        from biasgraph.methods.linear_probes import LabelledImages

        places = {name: place for place, name in enumerate(axis.names)}
        judged = np.array([places.get(answer[axis.name], NOBODY) for answer in self.answers])
        named = np.array([
            axis.name in (prompt.axis, *plan.fixed)
            for plan, prompt in zip(self.plans, self.prompts, strict=True)
        ])  # fmt: skip
        told = np.array([
            places[prompt.attribute] if prompt.axis == axis.name else NOBODY
            for prompt in self.prompts
        ])  # fmt: skip
        by_prompt = work.options.labels == "prompt"
        numbers = {plan.initial.text: number for number, plan in enumerate(work.plans)}
        return LabelledImages(
            axis.names,
            self.seen,
            labels=told if by_prompt else judged,
            truth=np.where(named, told, judged) if by_prompt else judged,
            named=named,
            prompts=np.array([numbers[plan.initial.text] for plan in self.plans]),
            held_out=np.array([plan.initial.text in work.held_out for plan in self.plans]),
        )


def _refuse_unseen(axis: Axis, images: LabelledImages) -> None:
    """Raise InputError for an attribute that no training image shows."""
    shown = images.labels[images.training]
    lacking = [name for place, name in enumerate(axis.names) if not (shown == place).any()]
    if lacking:
        raise InputError(
            f"no image to train on shows '{printable(lacking[0])}' of axis "
            f"'{printable(axis.name)}' ({len(shown):,} show another attribute): give more "
            "--images or --prompts, or leave the axis out of --axis"
        )


def _train(
    work: _Training, labelled: Mapping[str, LabelledImages]
) -> tuple[dict[str, Probe], list[Record]]:
    """The probes by axis, and what is told of each."""
    import numpy as np

    from biasgraph.methods.linear_probes import accuracy_by_step, probe_of, train_heads

    probes: dict[str, Probe] = {}
    records: list[Record] = []
    total = sum(len(images.seen.steps) for images in labelled.values())
    with showing(work.job.progress, "Probes", total=total, done=0) as shown:
        for axis, images in labelled.items():
            heads = []
            for head in train_heads(images):
                heads.append(head)
                shown.advance(1)
            probes[axis] = probe_of(axis, images, heads)
            rng = np.random.default_rng(work.options.seed)
            counts = np.bincount(images.labels[images.training], minlength=len(images.attributes))
            records.append(
                {
                    "axis": axis,
                    "digest": work.axes.only([axis]).digest(),
                    "attributes": list(images.attributes),
                    "n_training": counts.tolist(),
                    "n_unknown": int((images.labels < 0).sum()),
                    "steps": accuracy_by_step(images, probes[axis], heads, rng),
                }
            )
    return probes, records
