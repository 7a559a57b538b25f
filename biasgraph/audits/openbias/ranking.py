"""The story of OpenBias in one page: captions, proposals, knowledge base, images, scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.build import TOY
from biasgraph.audits.openbias.assessment import assessed, described
from biasgraph.audits.openbias.captions import Captions
from biasgraph.audits.openbias.inquiry import Inquiry, Proposals, answer, propose, readable
from biasgraph.audits.pipeline_options import OpenBiasOptions
from biasgraph.data.file_names import GRAPH
from biasgraph.data.graph_document import to_json
from biasgraph.errors import InputError, shown
from biasgraph.io.csv_files import to_csv
from biasgraph.io.folder_names import OUTPUTS, slug
from biasgraph.io.writing import write_files
from biasgraph.methods.bias_knowledge import Knowledge, knowledge
from biasgraph.methods.bias_wording import CaptionReader
from biasgraph.methods.wordnet import best_synonyms
from biasgraph.models.folder import BACKEND as FOLDER
from biasgraph.models.registry import (
    GENERATOR,
    JUDGE,
    LANGUAGE_MODEL,
    backend_of,
    load_generator,
    load_judge,
    refuse_unread,
)
from biasgraph.runs.directory import Run, open_run
from biasgraph.runs.job import (
    JOURNAL,
    MODEL,
    TOY_JUDGE,
    notes_of,
    usual_judge,
    withheld_notes,
)
from biasgraph.runs.record import installed_versions
from biasgraph.runs.transcripts import language_model, written_by

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.models.base import ImageGenerator, LanguageModel, VisualQA
    from biasgraph.runs.progress import Progress

SCHEMA = "biasgraph-openbias/1"
DOCUMENT, RANKING, CAPTIONS, ANSWERS = (
    "openbias.json", "openbias.csv", "captions.csv", "answers.csv"
)  # fmt: skip
Record = dict[str, Any]


@dataclass(frozen=True)
class Report:
    """What was found; document: everything openbias.json holds; answers: as answers.csv."""

    document: Record
    answers: pd.DataFrame
    directory: Path

    def files(self) -> dict[str, bytes]:
        """The contents of all files by their names."""
        from biasgraph.audits.openbias.ranking_summary import (
            FIGURE,
            PAGE,
            ranking_figure,
            ranking_page,
        )

        tables = {RANKING: self.ranking(), CAPTIONS: self.captions(), ANSWERS: self.answers}
        return {
            DOCUMENT: to_json(self.document),
            **{name: to_csv(frame) for name, frame in tables.items()},
            PAGE: ranking_page(self.document),
            FIGURE: ranking_figure(self.document),
        }

    def ranking(self) -> pd.DataFrame:
        """A row for each bias, the most intense first."""
        import pandas as pd

        rows = [
            {name: value for name, value in one.items() if not isinstance(value, list | dict)}
            | {"classes": "; ".join(one["classes"]), "merged": "; ".join(one["merged"])}
            for one in self.document["biases"]
        ]
        first = ["bias", "classes", "merged"]
        names = list(rows[0]) if rows else [*first, "n_captions", "intensity"]
        columns = [*first, *(name for name in names if name not in first)]
        return self._labelled(pd.DataFrame(rows, columns=columns, dtype=object))

    def captions(self) -> pd.DataFrame:
        """A row for each bias, caption and class: the context-aware distributions."""
        import pandas as pd

        columns = ("bias", "caption", "question", "class", "count", "n_valid", "intensity",
                   "intensity_ci_low", "intensity_ci_high")  # fmt: skip
        rows = [
            {**one, "bias": bias["bias"], "class": name, "count": count}
            for bias in self.document["biases"]
            for one in bias["captions"]
            for name, count in zip(bias["classes"], one["counts"], strict=True)
        ]
        return self._labelled(pd.DataFrame(rows, columns=list(columns), dtype=object))

    def _labelled(self, frame: pd.DataFrame) -> pd.DataFrame:
        from biasgraph.data.frames import with_label

        return with_label(frame, self.document["toy"])

    def write(self) -> list[Path]:
        """Write all files into the run's directory, or none. Raises ModelError as the disk does."""
        return write_files(self.directory, self.files())


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
    work = _Work.of(options)
    texts, refused = readable(captions.texts, work.generator.check_prompts)
    if not texts:
        first = next(iter(refused.values()))
        raise InputError(f"no caption of {captions.source} can be used; the first one: {first}")
    with open_run(
        work.directory,
        generator=work.generator,
        judges=[work.judge],
        seed=options.seed,
        fresh=options.fresh,
    ) as run:
        proposals = propose(run.directory, work.llm, texts, progress)
        reader = CaptionReader(best_synonyms())
        base = knowledge(proposals.biases, options.rules(), reader)
        inquiry = Inquiry.of(base.biases)
        answers = work.answers(run, base, inquiry, command, progress)
        found = list(inquiry.answers(answers))
        document = {
            **work.origin(run, base, reader),
            "captions": _about_captions(captions, refused, proposals, base),
            "biases": assessed(found, options.bootstrap, options.seed),
            "others": [described(bias) | {"reason": reason} for bias, reason in base.others],
        }
        report = Report(document, _by_bias(found, answers), work.directory)
        report.write()
    return report


@dataclass(frozen=True)
class _Work:
    """Who does what, and where."""

    options: OpenBiasOptions
    generator: ImageGenerator
    judge: VisualQA
    llm: LanguageModel
    directory: Path

    @classmethod
    def of(cls, options: OpenBiasOptions) -> _Work:
        """Raises InputError for models that do not fit; nothing is written."""
        spec = options.model or MODEL
        if backend_of(spec) == FOLDER:
            raise InputError(
                "openbias has images made from captions, and a folder makes none: name a generator"
            )
        judge, how = options.vqa or usual_judge(spec), options.model_options()
        name = f"openbias-{slug(options.captions.stem)}"
        directory = Path(options.output or OUTPUTS / slug(spec) / name)
        if (directory / GRAPH).exists():
            raise InputError(f"{shown(directory)} holds the result of a build: give another -o")
        journal = directory / JOURNAL
        llm = language_model(options.llm, "openbias", generator=spec, options=how, journal=journal)
        refuse_unread(how, {GENERATOR: spec, JUDGE: judge, LANGUAGE_MODEL: llm.spec})
        generator = load_generator(spec, how, journal)
        return cls(options, generator, load_judge(judge, how, journal), llm, directory)

    def answers(
        self,
        run: Run,
        base: Knowledge,
        inquiry: Inquiry,
        command: Sequence[str],
        progress: Progress | None,
    ) -> pd.DataFrame:
        """The answers table; empty where no bias is left to ask about."""
        if not base.biases:
            return run.answers(self.judge.spec).iloc[:0]
        settings = {"models": self.options.model_options().record(), **self._settings()}
        return answer(
            run, inquiry, base.captions, self.generator, self.judge, self.options.images, settings,
            command, progress,
        )  # fmt: skip

    def _settings(self) -> Record:
        names = ("images", "overlap", "min_captions", "bootstrap", "seed")
        return {"llm": self.llm.spec, **{name: getattr(self.options, name) for name in names}}

    def origin(self, run: Run, base: Knowledge, reader: CaptionReader) -> Record:
        """What a report says of where it comes from."""
        toys = {"sandbox"} & {backend_of(self.generator.spec), backend_of(self.judge.spec)}
        toy = TOY if backend_of(self.generator.spec) == "sandbox" else TOY_JUDGE
        made = bool(base.biases)
        if made:
            notes = withheld_notes(run.withheld(), "counted as gated")
            notes += notes_of(self.generator, self.judge)
        else:
            notes = [
                "No bias is left to look at, and no image was made: see what was proposed, or "
                "lower --min-captions."
            ]
        return {
            "schema": SCHEMA,
            "toy": toy if toys else None,
            "model": self.generator.spec,
            "model_fingerprint": self.generator.fingerprint,
            "vqa": self.judge.spec,
            "vqa_fingerprint": self.judge.fingerprint,
            "llm": self.llm.spec,
            "llm_fingerprint": self.llm.fingerprint,
            "proposed_by": written_by(self.llm),
            "synonyms": reader.source,
            "settings": self._settings(),
            "unseen_words": self.generator.unseen_words(base.captions),
            "notes": notes,
            "versions": installed_versions(),
        }


def _about_captions(
    captions: Captions, refused: Mapping[str, str], proposals: Proposals, base: Knowledge
) -> Record:
    """How many captions there were, and what became of those that are not used, by place."""

    def listed(found: Mapping[str, str]) -> list[Record]:
        return [
            {"caption": text, "place": captions.places[text], "reason": reason}
            for text, reason in found.items()
        ]

    return {
        "file": captions.source,
        "n_given": captions.n_given,
        "n_different": len(captions.places),
        "n_used": len(base.captions),
        "left_out": listed(refused),
        "without_proposals": listed(proposals.without),
    }


def _by_bias(found: Sequence[tuple[Any, pd.DataFrame]], answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with the bias's name for a target, in the order of the biases."""
    import pandas as pd

    named = [rows.assign(target=bias.name) for bias, rows in found if len(rows)]
    return pd.concat(named, ignore_index=True) if named else answers.iloc[:0]
