"""The story of `mine --evaluate`: prompts mined in one model, scored in others (fig. 9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.audit_result import AuditResult
from biasgraph.audits.mining.mining_options import MineOptions
from biasgraph.audits.mining.origins import (
    Origin,
    axes_of,
    read_origins,
    recorded_options,
    refuse_changed,
    refuse_changed_settings,
)
from biasgraph.audits.mining.population import Budget, ScoredPrompts
from biasgraph.audits.mining.transfer_summary import PAGE, transfer_page
from biasgraph.causal.best_of import mean_interval
from biasgraph.data.file_names import GRAPH, RECORD
from biasgraph.errors import InputError, printable, show_path
from biasgraph.io.csv_files import to_csv
from biasgraph.io.folder_names import OUTPUTS, folder_name, slug
from biasgraph.io.json_files import to_json
from biasgraph.io.text_files import at_place
from biasgraph.io.writing import write_files
from biasgraph.methods.minethegap import Varying
from biasgraph.methods.mining_objectives import Objective, describe_objective, objective_of
from biasgraph.models.inference_options import ModelOptions
from biasgraph.prompts.counterfactuals import Prompt
from biasgraph.runs.job import Job
from biasgraph.runs.media import RunMedia
from biasgraph.runs.record import installed_versions

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.data.axes import AxisSet
    from biasgraph.runs.progress import Progress

SCHEMA = "biasgraph-transfer/1"
DOCUMENT, TABLE = "transfer.json", "transfer.csv"
READ = ("rank", "prompt", "score", "low", "high", "fresh_scores", "n_images", "n_batches", "reason")
"""What a cell holds of each prompt."""
Record = dict[str, Any]


@dataclass(frozen=True)
class Transfer(AuditResult):
    """Models and prompts as a matrix; document: everything transfer.json holds."""

    def frame(self) -> pd.DataFrame:
        """A row for each prompt of each cell, beside what the cell says of all its prompts."""
        of_cell = ("model", "origin", "mean_score", "low", "high", "difference", "difference_low",
                   "difference_high", "n_prompts", "n_images")  # fmt: skip
        rows = [
            {name: cell[name] for name in of_cell}
            | {"mean_reason": cell["reason"]}
            | {name: row[name] for name in ("rank", "prompt", "score", "reason")}
            for cell in self.document["cells"]
            for row in cell["prompts"]
        ]
        return self.tabulate(rows)

    def files(self) -> dict[str, bytes]:
        """The contents of all files by their names."""
        return {
            DOCUMENT: to_json(self.document),
            TABLE: to_csv(self.frame()),
            PAGE: transfer_page(self.document),
        }


def evaluate(
    options: MineOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> Transfer:
    """Score the prompts that runs mined in every model; what is there is not made again.

    Args:
        options: What a user chose: the runs, and a model beside theirs.
        progress: What shows where the work stands.
        command: What was typed, for the records of the runs.

    Raises:
        InputError: The options are wrong, or the runs do not fit each other; nothing has been
            written then.
        ModelError: A model, the machine or the network failed.
        Interrupted: The user stopped the work; the same call goes on from there.
    """
    work = Evaluation.of(options, progress, command)
    found = Transfer(work.document(), work.directory)
    write_files(work.directory, found.files())
    return found


@dataclass(frozen=True)
class Evaluation:
    """Who scores whose prompts, and where.

    Attributes:
        options: What a user chose.
        directory: Of the result; each model works in one below it.
        origins: The runs.
        objective: What they were mined for.
        axes: The axis set of the objective.
        jobs: Model -> its work; of those alone that have images to make, until it is done.
    """

    options: MineOptions
    directory: Path
    origins: Sequence[Origin]
    objective: Objective
    axes: AxisSet
    jobs: dict[str, Job]

    @classmethod
    def of(
        cls, options: MineOptions, progress: Progress | None, command: Sequence[str]
    ) -> Evaluation:
        """Raises InputError for what does not fit; nothing is written."""
        origins = read_origins(options.evaluate)
        settings = origins[0].mined.settings
        axes = axes_of(origins[0], options.axes)
        objective = objective_of(settings.objective, axes, settings.ideal, settings.alpha)
        directory = _directory(options, origins)
        work = cls(options, directory, origins, objective, axes, {})
        for spec in work.models:
            others = work.find_origins(spec)
            if others:
                work.jobs[spec] = work.job(spec, progress, command)
                work.check(work.jobs[spec], others)
        if not work.jobs:
            raise InputError(
                f"{origins[0].name} has been scored in its own model: name another one with "
                "--model, or another run with --evaluate"
            )
        return work

    @property
    def models(self) -> list[str]:
        """The specs of the models: those of the runs, and the user's."""
        specs = [origin.mined.model for origin in self.origins]
        return list(dict.fromkeys([*specs, *filter(None, [self.options.model])]))

    def find_origins(self, spec: str) -> list[Origin]:
        """The runs whose prompts a model has to make images of: those of other models."""
        return [origin for origin in self.origins if origin.mined.model != spec]

    def job(self, spec: str, progress: Progress | None, command: Sequence[str]) -> Job:
        """The work of a model, with the options of its own run, or with the user's."""
        own = [origin for origin in self.origins if origin.mined.model == spec]
        mined, how = self.origins[0].mined, self.options.model_options()
        job = Job.begin(
            self.directory / folder_name(spec),
            model=spec,
            vqa=mined.vqa,
            embedder=mined.embedder,
            options=recorded_options(own[0].directory, how) if own else how,
            checked=ModelOptions() if own else None,
            seed=self.options.seed,
            fresh=self.options.fresh,
            command=command,
            progress=progress,
        )
        for origin in own:
            refuse_changed(job.generator, origin.mined.model_fingerprint, origin)
        for model, before in (
            (job.judge, mined.vqa_fingerprint),
            (job.embedder, mined.embedder_fingerprint),
        ):
            refuse_changed(model, before, self.origins[0])
        refuse_changed_settings(job.judge, self.origins[0])
        return job

    def check(self, job: Job, origins: Sequence[Origin]) -> None:
        """Raises InputError, with the place, for a prompt that cannot be made or scored."""
        for origin in origins:
            for place, row in enumerate(origin.mined.mined, start=1):
                with at_place(f"{origin.name}, prompt {place}"):
                    needs = self.objective.needs(row.prompt)
                    if needs.variations and not row.variations:
                        raise InputError("its variations are not in mined.json")
                    job.generator.check_prompts([row.prompt, *(one.text for one in needs.prompts)])

    def document(self) -> Record:
        """Everything transfer.json holds; makes and judges what is not there."""
        first = self.origins[0].mined
        toys = [job.toy for job in self.jobs.values()] + [one.mined.toy for one in self.origins]
        prints = {one.mined.model: one.mined.model_fingerprint for one in self.origins}
        prints |= {spec: job.generator.fingerprint for spec, job in self.jobs.items()}
        notes: list[str] = []
        cells = [cell for spec in self.models for cell in self.cells(spec, notes)]
        helpers = {
            name: value
            for name in ("vqa", "vqa_fingerprint", "embedder", "embedder_fingerprint")
            if (value := getattr(first, name)) is not None
        }
        return {
            "schema": SCHEMA,
            "toy": next(filter(None, toys), None),
            "models": [{"model": spec, "fingerprint": prints[spec]} for spec in self.models],
            **helpers,
            "origins": [_about(origin) for origin in self.origins],
            "settings": self.settings(),
            "objective": describe_objective(self.objective),
            "cells": cells,
            "notes": list(dict.fromkeys(notes)),
            "versions": installed_versions(),
        }

    def settings(self) -> Record:
        """What the scores depend on beside the models and the prompts, in JSON types."""
        read = ("images", "variations", "vary", "axes", "axes_digest", "ideal", "alpha")
        settings = self.origins[0].mined.settings
        return {name: getattr(settings, name) for name in read} | {"seed": self.options.seed}

    def cells(self, spec: str, notes: list[str]) -> Iterator[Record]:
        """The row of a model: its scores of the prompts of every run."""
        others = self.find_origins(spec)
        made = self._make_images(spec, others, notes) if others else {}
        for origin in self.origins:
            own = [row.model_dump(include={*READ}) for row in origin.mined.mined]
            rows = made.get(origin.name, own)
            differences = [
                row["score"] - its["score"]
                for row, its in zip(rows, own, strict=True)
                if row["score"] is not None and its["score"] is not None
            ]
            is_own = origin.name not in made
            change = None, None, None
            yield {
                "model": spec,
                "origin": origin.name,
                "own": is_own,
                **_mean([row["score"] for row in rows]),
                **_name_interval("difference", change if is_own else mean_interval(differences)),
                "n_images": sum(row["n_images"] for row in rows),
                "prompts": rows,
            }

    def _make_images(
        self, spec: str, origins: Sequence[Origin], notes: list[str]
    ) -> dict[str, list[Record]]:
        """What a model makes of the prompts of runs: their name -> a record for each prompt."""
        job = self.jobs.pop(spec)  # so that its weights go when it is done
        with job.open() as run:
            job.request(run, [], self.origins[0].mined.settings.images, self.settings())
            media = RunMedia(run, job, job.embedder)
            found = {}
            for origin in origins:
                if job.progress is not None:
                    job.progress.note(f"{printable(spec)}: prompts of {printable(origin.name)}")
                found[origin.name] = self._score(origin, media)
            notes += [*job.withheld_notes(run, "left out"), *job.notes()]
        texts = [row["prompt"] for rows in found.values() for row in rows]
        if unseen := job.generator.unseen_words(texts):
            notes.append(f"{printable(spec)} never saw these words: {', '.join(unseen)}.")
        return found

    def _score(self, origin: Origin, media: RunMedia) -> list[Record]:
        """A run's prompts on as many images as their second score has there, in its batches."""
        rows, settings = origin.mined.mined, origin.mined.settings
        variations = {
            row.prompt: tuple(Prompt(text, "other") for text in row.variations) for row in rows
        }
        scoring = ScoredPrompts(
            self.objective, Varying(self.axes), media, settings.images, Budget(None, 0), variations
        )
        again = scoring.score_again([row.prompt for row in rows], settings.fresh_batches)
        return [
            {"rank": row.rank, "prompt": row.prompt, **one.record()}
            for row, one in zip(rows, again, strict=True)
        ]


def _directory(options: MineOptions, origins: Sequence[Origin]) -> Path:
    spec = options.model or origins[0].mined.model
    names = "-".join(f"{one.mined.model}-{one.directory.resolve().name}" for one in origins)
    names = slug(names) if len(names) <= 60 else folder_name(names)  # a cut would make them alike
    directory = Path(options.output or OUTPUTS / slug(spec) / f"evaluated-{names}")
    if any((directory / name).exists() for name in (RECORD, GRAPH)):
        raise InputError(
            f"{show_path(directory)} contains the result of another command; choose another -o"
        )
    return directory


def _name_interval(name: str, interval: Sequence[float | None]) -> Record:
    return dict(zip((name, f"{name}_low", f"{name}_high"), interval, strict=True))


def _mean(scores: Sequence[float | None]) -> Record:
    """The mean over prompts, its interval, and what is to be said of either."""
    known = [score for score in scores if score is not None]
    mean, low, high = mean_interval(known)
    reasons = []
    if len(known) < len(scores):
        reasons.append(f"{len(scores) - len(known)} of {len(scores)} prompts have no score")
    if known and low is None:
        alike = "one prompt" if len(known) == 1 else "all prompts have the same score"
        reasons.append(f"no interval: {alike}")
    return {
        "mean_score": mean,
        "low": low,
        "high": high,
        "n_prompts": len(known),
        "reason": "; ".join(reasons),
    }


def _about(origin: Origin) -> Mapping[str, Any]:
    mined = origin.mined
    return {
        "origin": origin.name,
        "model": mined.model,
        "proposed_by": mined.proposed_by,
        "n_prompts": len(mined.mined),
        "fresh_batches": mined.settings.fresh_batches,
    }
