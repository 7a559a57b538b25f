"""The story of OpenBias in one page: captions, proposals, knowledge base, images, scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgraph.audits.audit_result import AuditResult
from biasgraph.audits.openbias.assessment import assess_biases, describe_bias
from biasgraph.audits.openbias.captions import Captions
from biasgraph.audits.openbias.inquiry import Inquiry, Proposals, propose
from biasgraph.audits.pipeline_options import OpenBiasOptions
from biasgraph.errors import InputError
from biasgraph.io.csv_files import to_csv
from biasgraph.io.folder_names import slug
from biasgraph.io.json_files import to_json
from biasgraph.io.writing import write_files
from biasgraph.methods.bias_knowledge import Knowledge, knowledge
from biasgraph.methods.bias_wording import CaptionReader
from biasgraph.methods.wordnet import best_synonyms
from biasgraph.prompts.counterfactuals import Prompt
from biasgraph.runs.directory import Run
from biasgraph.runs.job import Job, directory_for
from biasgraph.runs.model_choice import generator_of, judge_of, llm_of
from biasgraph.runs.other_images import readable
from biasgraph.runs.record import installed_versions
from biasgraph.runs.transcripts import describe_writer

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.runs.progress import Progress

SCHEMA = "biasgraph-openbias/1"
DOCUMENT, RANKING, CAPTIONS, ANSWERS = (
    "openbias.json", "openbias.csv", "captions.csv", "answers.csv"
)  # fmt: skip
SETTINGS = ("images", "overlap", "min_captions", "bootstrap", "seed")
"""Options that scores depend on."""
Record = dict[str, Any]


@dataclass(frozen=True)
class Report(AuditResult):
    """Biases by intensity; document: everything openbias.json holds; answers: as answers.csv."""

    answers: pd.DataFrame

    def files(self) -> dict[str, bytes]:
        """The contents of all files by their names."""
        from biasgraph.audits.openbias import ranking_summary

        tables = {RANKING: self.ranking(), CAPTIONS: self.captions(), ANSWERS: self.answers}
        return {
            DOCUMENT: to_json(self.document),
            **{name: to_csv(frame) for name, frame in tables.items()},
            ranking_summary.PAGE: ranking_summary.ranking_page(self.document),
            ranking_summary.FIGURE: ranking_summary.ranking_figure(self.document),
        }

    def ranking(self) -> pd.DataFrame:
        """A row for each bias, the most intense first."""
        rows = [
            {name: value for name, value in one.items() if not isinstance(value, list | dict)}
            | {"classes": "; ".join(one["classes"]), "merged": "; ".join(one["merged"])}
            for one in self.document["biases"]
        ]
        first = ["bias", "classes", "merged"]
        names = rows[0] if rows else ("n_captions", "intensity")
        columns = [*first, *(name for name in names if name not in first)]
        return self.tabulate(rows, columns)

    def captions(self) -> pd.DataFrame:
        """A row for each bias, caption and class: the context-aware distributions."""
        columns = ["bias", "caption", "question", "class", "count", "n_valid", "intensity",
                   "intensity_ci_low", "intensity_ci_high"]  # fmt: skip
        rows = [
            {**one, "bias": bias["bias"], "class": name, "count": count}
            for bias in self.document["biases"]
            for one in bias["captions"]
            for name, count in zip(bias["classes"], one["counts"], strict=True)
        ]
        return self.tabulate(rows, columns)


def audit(
    options: OpenBiasOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> Report:
    """Do what `options` ask for and write it; what the run has already is not done again.

    command: what was typed, for the run's record.

    Raises:
        InputError: the options or the captions are wrong; nothing has been written then.
        ModelError: a model, the machine or the network failed; no usable proposals came back.
        Interrupted: the user stopped the work; the same call goes on from there.
    """
    captions = Captions.read(options.captions)
    job = _job(options, progress, command)
    texts, refused = readable(captions.texts, job.generator.check_prompts)
    if not texts:
        first = next(iter(refused.values()))
        raise InputError(f"no caption of {captions.source} can be used; the first one: {first}")
    (llm,) = job.language_models.values()
    settings = {"llm": llm.spec, **{name: getattr(options, name) for name in SETTINGS}}
    with job.open() as run:
        proposals = propose(run.directory, llm, texts, progress)
        reader = CaptionReader(best_synonyms())
        base = knowledge(proposals.biases, options.rules(), reader)
        inquiry = Inquiry.of(base.biases)
        answers = _answers(job, run, base, inquiry, options.images, settings)
        found = list(inquiry.answers(answers))
        document = {
            "schema": SCHEMA,
            "toy": job.toy,
            **job.identities(),
            "llm": llm.spec,
            "llm_fingerprint": llm.fingerprint,
            "proposed_by": describe_writer(llm),
            "synonyms": reader.source,
            "settings": settings,
            "unseen_words": job.generator.unseen_words(base.captions),
            "notes": _notes(job, run, base),
            "versions": installed_versions(),
            "captions": _about_captions(captions, refused, proposals, base),
            "biases": assess_biases(found, options.bootstrap, options.seed),
            "others": [describe_bias(bias) | {"reason": reason} for bias, reason in base.others],
        }
        report = Report(document, job.directory, _by_bias(found, answers))
        write_files(job.directory, report.files())
    return report


def _job(options: OpenBiasOptions, progress: Progress | None, command: Sequence[str]) -> Job:
    """Raises InputError for models that do not fit; nothing is written."""
    spec = generator_of(
        options.model,
        "openbias makes images from captions, and a folder makes none: name a generator",
    )
    name = f"openbias-{slug(options.captions.stem)}"
    return Job.begin(
        directory_for(spec, name, options.output),
        model=spec,
        vqa=judge_of(spec, options.vqa),
        llm=llm_of(spec, options.llm, "openbias"),
        options=options.model_options(),
        seed=options.seed,
        fresh=options.fresh,
        command=command,
        progress=progress,
    )


def _answers(
    job: Job, run: Run, base: Knowledge, inquiry: Inquiry, images: int, settings: Record
) -> pd.DataFrame:
    """Make images of every caption and ask about its biases; empty where no bias is left."""
    if not base.biases:
        return run.answers(job.vqa).iloc[:0]
    job.declare(run, inquiry.questions, None)
    plans = [[Prompt(text, "initial")] for text in base.captions]
    targets = [question.axis for question in inquiry.questions]
    job.request(run, plans, images, settings, targets)
    # Questions differ from caption to caption, and batches are always full: larger ones would be
    # filled up with images that are asked about already.
    job.complete(run, inquiry.questions, about=inquiry.about, at_most=images)
    return run.answers(job.vqa)


def _notes(job: Job, run: Run, base: Knowledge) -> list[str]:
    if base.biases:
        return [*job.withheld_notes(run, "counted as gated"), *job.notes()]
    if not base.others:
        return ["Nothing was found because no bias was proposed for any caption."]
    reasons = Counter(reason for _, reason in base.others)
    told = ", ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common())
    most = max(len(bias.questions) for bias, _ in base.others)
    return [
        f"Nothing was found, and no image was made, because all {len(base.others):,} proposed "
        f"biases were left out: {told}. The most captions of one are {most:,}: give more captions, "
        "or lower --min-captions."
    ]


def _about_captions(
    captions: Captions, refused: Mapping[str, str], proposals: Proposals, base: Knowledge
) -> Record:
    """How many captions there were, and what became of those that are not used, by place."""

    def list_reasons(found: Mapping[str, str]) -> list[Record]:
        return [
            {"caption": text, "place": captions.places[text], "reason": reason}
            for text, reason in found.items()
        ]

    return {
        "file": captions.source,
        "n_given": captions.n_given,
        "n_different": len(captions.places),
        "n_used": len(base.captions),
        "left_out": list_reasons(refused),
        "without_proposals": list_reasons(proposals.without),
    }


def _by_bias(found: Sequence[tuple[Any, pd.DataFrame]], answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with the bias's name for a target, in the order of the biases."""
    import pandas as pd

    named = [rows.assign(target=bias.name) for bias, rows in found if len(rows)]
    return pd.concat(named, ignore_index=True) if named else answers.iloc[:0]
