"""One job on a run: the models that work, their options, the directory, and where it all came from.

Everything that works on a run is written on `Job`: it resolves specs to models and checks their
options, opens and locks the directory, makes and asks only what the ledger lacks, and says what a
document tells of its origin. No weights load before a model is first used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.data.file_names import GRAPH
from biasgraph.data.result import why_no_run
from biasgraph.errors import InputError, printable, show_path
from biasgraph.io.folder_names import OUTPUTS, slug
from biasgraph.models.base import Noting
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import (
    EMBEDDER,
    GENERATOR,
    JUDGE,
    LANGUAGE_MODEL,
    load_embedder,
    load_generator,
    load_judge,
    load_language_model,
    refuse_unread,
    traits_of,
)
from biasgraph.runs.directory import Run, open_run
from biasgraph.runs.engines import IN_PROCESS, Engine, engine_of
from biasgraph.runs.local_engine import complete, declare
from biasgraph.runs.progress import hear
from biasgraph.runs.record import read_record, refuse_unreadable
from biasgraph.runs.recorded_generator import RecordedGenerator
from biasgraph.runs.unloaded import load_or_name

if TYPE_CHECKING:
    from biasgraph.models.base import Embedder, ImageGenerator, LanguageModel, Question, VisualQA
    from biasgraph.prompts.counterfactuals import Prompt
    from biasgraph.runs.progress import Progress
    from biasgraph.runs.questions import AxisQuestion

AXES = "occupation"
SEED = 0
JOURNAL = "responses"
"""The folder of a run where paid backends keep what they were sent."""
TOY = (
    "These results describe a toy: the sandbox draws icons of a small world whose biases were "
    "planted. They say nothing about any real model."
)
TOY_JUDGE = (
    "These results describe a toy: the sandbox's judge knows nothing but the sandbox's own icons. "
    "About other pictures its answers mean nothing."
)


def directory_for(spec: str, name: str, output: str | Path | None) -> Path:
    """Where the run of a stand-alone method goes: `output`, or outputs/MODEL/NAME.

    Raises:
        InputError: The directory contains the result of a build.
    """
    directory = Path(output or OUTPUTS / slug(spec) / name)
    if (directory / GRAPH).exists():
        raise InputError(
            f"{show_path(directory)} contains the result of a build; choose another -o"
        )
    return directory


@dataclass(frozen=True, kw_only=True)
class Job:
    """Who works on a run, with which options, and where.

    Attributes:
        directory: Of the run.
        generator: Makes the images; a `RecordedGenerator` where none may be made.
        judge: Answers questions about them.
        embedders: Put images and texts into one space; by their specs.
        language_models: By their specs.
        options: How the models run.
        seed: Of the run's images.
        fresh: Move a run that is there aside first.
        command: What was typed, for the run's record.
        progress: What shows where the work stands.
        engine: Where images are made and judged.
    """

    directory: Path
    generator: ImageGenerator
    judge: VisualQA | None = None
    embedders: Mapping[str, Embedder] = field(default_factory=dict)
    language_models: Mapping[str, LanguageModel] = field(default_factory=dict)
    options: ModelOptions = field(default_factory=ModelOptions)
    seed: int = SEED
    fresh: bool = False
    command: Sequence[str] = ()
    progress: Progress | None = None
    engine: Engine = IN_PROCESS

    @classmethod
    def begin(
        cls,
        directory: Path,
        *,
        model: str,
        vqa: str | None = None,
        embedder: str | None = None,
        llm: str | None = None,
        options: ModelOptions,
        checked: ModelOptions | None = None,
        seed: int | None = None,
        fresh: bool = False,
        plans_only: bool = False,
        command: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> Job:
        """A job that may begin a run; nothing is written.

        Args:
            directory: Of the run.
            model: The generator's spec.
            vqa: The judge's spec.
            embedder: The embedder's spec.
            llm: The language model's spec.
            options: How the models run.
            checked: Those of `options` that one of these models has to read, where not all.
            seed: Of the run's images; None for `SEED`.
            fresh: Move a run that is there aside first.
            plans_only: Nothing is to be made or asked: models that cannot be loaded are named.
            command: What was typed.
            progress: What shows where the work stands.

        Raises:
            InputError: A spec or an option is wrong, or no model reads an option.
            ModelError: What a backend needs is missing.
        """
        specs = {GENERATOR: model, JUDGE: vqa, EMBEDDER: embedder, LANGUAGE_MODEL: llm}
        refuse_unread(checked or options, {role: spec for role, spec in specs.items() if spec})
        load = partial(load_or_name, plans_only)
        return cls(
            directory=directory,
            generator=load(load_generator, model, options, directory / JOURNAL),
            judge=load(load_judge, vqa, options, directory / JOURNAL) if vqa else None,
            **_load_helpers(directory, options, filter(None, [embedder]), filter(None, [llm])),
            options=options,
            seed=SEED if seed is None else seed,
            fresh=fresh,
            command=command,
            progress=progress,
            engine=engine_of(options),
        )

    @classmethod
    def reopen(
        cls,
        directory: Path,
        *,
        vqa: str | None = None,
        embedders: Iterable[str] = (),
        llms: Iterable[str] = (),
        options: ModelOptions | None = None,
        inherit: bool = True,
        makes_images: bool = False,
        command: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> Job:
        """A job on a run that is there, with the options that it was built with.

        Args:
            directory: Of the run.
            vqa: A judge's spec: the run's own, or a second one.
            embedders: Embedders' specs.
            llms: Language models' specs.
            options: How the models run.
            inherit: Whether options that are not among these are those of the latest build.
            makes_images: Whether the run's generator is to make further images.
            command: What was typed.
            progress: What shows where the work stands.

        Raises:
            InputError: There is no run, or a spec or an option is wrong.
            ModelError: What a backend needs is missing.
        """
        record = read_record(directory)
        if record is None:
            raise InputError(
                f"{show_path(directory)} has no images to work on: {why_no_run(directory)}"
            )
        refuse_unreadable(directory, record)
        settings = record["builds"][-1]["settings"] if record["builds"] else {}
        recorded = settings.get("models", {}) if inherit else {}
        options = (options or ModelOptions()).over(recorded)
        generator: ImageGenerator = RecordedGenerator(directory=directory, **record["generator"])
        if makes_images:
            generator = load_generator(generator.spec, options, directory / JOURNAL)
        return cls(
            directory=directory,
            generator=generator,
            judge=load_judge(vqa, options, directory / JOURNAL) if vqa else None,
            **_load_helpers(directory, options, embedders, llms),
            options=options,
            seed=int(record["seed"]),
            command=command,
            progress=progress,
            engine=engine_of(options),
        )

    def with_helpers(self, embedders: Iterable[str], llms: Iterable[str]) -> Job:
        """The same job with embedders and language models; raises as `begin` does."""
        return replace(self, **_load_helpers(self.directory, self.options, embedders, llms))

    @property
    def journal(self) -> Path:
        """Where paid backends keep what they were sent."""
        return self.directory / JOURNAL

    @property
    def models(self) -> list[Any]:
        """All that work, but language models."""
        models = (self.generator, self.judge, self.embedder)
        return [model for model in models if model is not None]

    @property
    def helpers(self) -> list[Embedder | LanguageModel]:
        """The models beside generator and judge."""
        return [*self.embedders.values(), *self.language_models.values()]

    @property
    def embedder(self) -> Embedder | None:
        """The first embedder, where there is one."""
        return next(iter(self.embedders.values()), None)

    @contextmanager
    def open(self) -> Iterator[Run]:
        """The run, locked for as long as the block runs; see `open_run`.

        Raises:
            ModelError: Images are missing that nobody here can make again.
        """
        judges = [self.judge] if self.judge else []
        with (
            closing(self.engine),
            open_run(
                self.directory, self.generator, judges, seed=self.seed, fresh=self.fresh
            ) as run,
        ):
            if isinstance(self.generator, RecordedGenerator) and (lost := run.damaged_images()):
                raise self.generator.missing(len(lost))
            for model in self.language_models.values():
                hear(model, self.progress)
            yield run

    def request(
        self,
        run: Run,
        plans: Sequence[Sequence[Prompt]],
        images: int,
        settings: Mapping[str, Any],
        targets: Sequence[str] = (),
    ) -> None:
        """Say what is wanted of a run that is no build's; see `Run.request`.

        Args:
            run: The open run.
            plans: Initial prompts, each with those that belong to it.
            images: Of each prompt.
            settings: What the result depends on beside the models, in JSON types.
            targets: The axes that the judge is asked about.
        """
        run.request(
            plans,
            images=images,
            targets=targets,
            settings={"models": self.options.record(), **settings},
            command=self.command,
        )

    def declare(self, run: Run, questions: Sequence[AxisQuestion], gate: Question | None) -> None:
        """Record what the judge will be asked; raises as `local_engine.declare`."""
        declare(run, self.asked, questions, gate)

    def complete(
        self,
        run: Run,
        questions: Sequence[AxisQuestion] = (),
        gate: Question | None = None,
        *,
        about: Mapping[str, Sequence[str]] | None = None,
        at_most: int | None = None,
    ) -> None:
        """Make every requested image that the run lacks, and ask what is not answered.

        Raises as `local_engine.generate` and `local_engine.ask`, which describe the arguments.
        """
        complete(
            run, self.generator, self.judge, questions, gate, engine=self.engine,
            progress=self.progress, about=about, at_most=at_most,
        )  # fmt: skip

    @property
    def asked(self) -> VisualQA:
        """The judge of a job that has one."""
        if self.judge is None:
            raise AssertionError("a job without a judge asks nothing")
        return self.judge

    @property
    def vqa(self) -> str:
        """The judge's spec."""
        return self.asked.spec

    @property
    def judge_fingerprint(self) -> str:
        """The judge's fingerprint."""
        return self.asked.fingerprint

    def seconds(self, images: int) -> float | None:
        """How long it takes to make and judge so many images; None where no pace is known."""
        paces = [model.seconds_per_image for model in (self.generator, self.asked)]
        return None if None in paces else images * sum(pace for pace in paces if pace)

    # What a document says of its origin

    @property
    def toy(self) -> str | None:
        """What makes the results those of a toy; None where none works."""
        if traits_of(self.generator.spec).toy:
            return TOY
        if self.judge is not None and traits_of(self.judge.spec).toy:
            return TOY_JUDGE
        return TOY if self.embedder is not None and traits_of(self.embedder.spec).toy else None

    def identities(self, *, embedder: bool = True) -> dict[str, str]:
        """Specs and fingerprints of the models as documents have them.

        Args:
            embedder: Whether the embedder is among them; graphs name it with each method.
        """
        helper = self.embedder if embedder else None
        record: dict[str, str] = {}
        for name, model in (("model", self.generator), ("vqa", self.judge), ("embedder", helper)):
            if model is not None:
                record |= {name: model.spec, f"{name}_fingerprint": model.fingerprint}
        return record

    def withheld_notes(self, run: Run, fate: str) -> list[str]:
        """What became of images that a service withheld; fate: "counted as gated"."""
        return [
            f"{count:,} {'image was' if count == 1 else 'images were'} withheld "
            f"({printable(reason)}) and {fate}"
            for reason, count in run.ledger.withheld().items()
        ]

    def notes(self) -> list[str]:
        """What the models noticed at work."""
        return [
            note for model in self.models if isinstance(model, Noting) for note in model.notes()
        ]


def _load_helpers(
    directory: Path, options: ModelOptions, embedders: Iterable[str], llms: Iterable[str]
) -> dict[str, Any]:
    journal = directory / JOURNAL
    return {
        "embedders": {spec: load_embedder(spec, options) for spec in embedders},
        "language_models": {spec: load_language_model(spec, options, journal) for spec in llms},
    }
