"""A search for prompts: who does what, and the prompts of every method, found one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from biasgraph.audits.search.found_document import Cell, CellPrompts
from biasgraph.audits.search.kept_prompts import FoundPrompt, KeptPrompts
from biasgraph.audits.search.probes_at_hand import find_probes
from biasgraph.audits.search.prompt_search import Method, PromptSearch
from biasgraph.audits.search.scoring import Target
from biasgraph.audits.search.search_options import LM_BIASED, PEZ, SearchOptions
from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.errors import InputError
from biasgraph.io.folder_names import slug
from biasgraph.methods.named_axes import names_axis
from biasgraph.models.inference_options import Spec
from biasgraph.models.registry import load_language_model, refuse_without_tokens, traits_of
from biasgraph.prompts.mined_prompts import words_of
from biasgraph.prompts.prompt_lists import PromptList
from biasgraph.prompts.search_scenario import SearchScenario
from biasgraph.runs.job import AXES, Job, directory_for
from biasgraph.runs.model_choice import generator_of, model_judge_of
from biasgraph.runs.observed_images import refuse_unobservable
from biasgraph.runs.progress import showing
from biasgraph.runs.record import identity

if TYPE_CHECKING:
    from biasgraph.models.base import LanguageModel, NextTokens, ObservableGenerator
    from biasgraph.runs.progress import Progress

EARLY, HALF = 0.2, 0.5
"""The part of the steps that is over where probes look: of a race, and of Algorithm 1 (T')."""
WRITER, READER = "writer", "reader"
"""A toy's own language models."""
TOY_OPENING = "a photo of"
"""How the sandbox's captions begin, half of them."""
CURATED: Method = "curated"
NEUTRAL = "A photo of a person"
"""The prompt that latents are shared with."""
Record = dict[str, Any]


@dataclass(frozen=True)
class Searching:
    """Who does what, and where.

    Attributes:
        options: What a user chose.
        job: Its language models are the writer and the reader, if there is one.
        axes: Those of the targets.
        every: All axes of the set they are from.
        scenario: What the language model is told.
        opening: How every prompt begins.
        targets: With their probes.
        probes: What the probes' files say of themselves.
        step: Of denoising, that they look at.
        curated: Somebody else's prompts.
    """

    options: SearchOptions
    job: Job
    axes: AxisSet
    every: AxisSet
    scenario: SearchScenario
    opening: str
    targets: Sequence[Target]
    probes: Sequence[Mapping[str, Any]]
    step: int
    curated: PromptList | None

    @classmethod
    def of(
        cls, options: SearchOptions, progress: Progress | None, command: Sequence[str]
    ) -> Searching:
        """Raises as `search` does; nothing is written but probes that lacked."""
        spec = generator_of(
            options.model,
            "search looks at a model at work, and a folder makes no images: name a generator "
            "with --model",
        )
        wanted = options.parse_targets()
        every = load_axis_set(options.axes or AXES)
        axes = every.only(wanted)
        places = {axis: _place(axes, axis, named) for axis, named in wanted.items()}
        scenario = SearchScenario.of(options.scenario)
        vqa = model_judge_of(spec, options.vqa, "search")
        curated = None if options.curated is None else PromptList.of(options.curated)
        name = "-".join(f"{axis}-{named}" for axis, named in wanted.items())
        directory = directory_for(spec, slug(f"found-{name}"), options.output)
        models = _language_models(spec, options)
        writer = next(iter(models))
        job = Job.begin(
            directory,
            model=spec,
            vqa=vqa,
            llm=writer,
            options=options.model_options(),
            seed=options.seed,
            fresh=options.fresh,
            command=command,
            progress=progress,
        )
        job = replace(job, language_models=models)
        refuse_unobservable(job.generator)
        opening = options.opening or (TOY_OPENING if traits_of(writer).toy else scenario.opening)
        # What would be refused at the first token is refused before anything is made.
        job.generator.check_prompts([opening])
        cast("NextTokens", models[writer]).continuations([], opening)
        probes, told = find_probes(options, axes, job)
        targets = [
            Target(axis, named, places[axis], probes[axis]) for axis, named in wanted.items()
        ]
        step = _step(options, targets)
        return cls(options, job, axes, every, scenario, opening, targets, told, step, curated)

    @property
    def writer(self) -> LanguageModel:
        """The language model that writes the prompts."""
        return next(iter(self.job.language_models.values()))

    @property
    def reader(self) -> LanguageModel | None:
        """The one that tells their perplexity."""
        named = self.options.perplexity or _own(self.job.generator.spec, READER)
        return self.job.language_models[named] if named else None

    def settings(self) -> Record:
        """What the result depends on beside the models, in JSON types."""
        options = self.options
        return {
            "scoring": options.scoring,
            "lambdas": list(options.lambdas()),
            "n_prompts": options.prompts,
            "beams": options.beams,
            "expand": options.expand,
            "spread": options.spread,
            "temperature": options.temperature,
            "least_share": options.least_share,
            "latents": options.latents,
            "step": self.step,
            "of": self.targets[0].probe.of,
            "least_tokens": options.least_tokens,
            "most_tokens": options.most_tokens,
            "naming": options.naming,
            "no_repeat": options.no_repeat,
            "images": options.images,
            "scenario": self.scenario.name,
            "opening": self.opening,
            "axes": self.axes.name,
            "axes_digest": self.every.digest(),
            "seed": self.job.seed,
        }

    def write_prompts(self) -> list[CellPrompts]:
        """The prompts of every cell; those that the run has are not searched for again."""
        kept = KeptPrompts(self.job.directory)
        numbers = range(1, self.options.prompts + 1)
        cells = list(self._cells())
        asked = {cell: [self._identify(cell, number) for number in numbers] for cell in cells}
        every = [one for own in asked.values() for one in own]
        there = sum(kept.before(one) is not None for one in every)
        done = []
        with showing(self.job.progress, "Prompts", total=len(every), done=there) as shown:
            for cell in cells:
                found: list[FoundPrompt] = []
                for number, one in zip(numbers, asked[cell], strict=True):
                    before = kept.before(one)
                    if before is None:
                        taken = {other.prompt for other in found if other.prompt is not None}
                        before = kept.keep(one, self._search(cell, number, taken))
                        shown.advance(1)
                    found.append(before)
                done.append(CellPrompts(cell, found))
        if self.curated is not None:
            texts = [text for text, _ in self.curated.prompts]
            found = [FoundPrompt(prompt=text) for text in dict.fromkeys(texts)]
            done.append(CellPrompts(Cell(CURATED), found))
        return done

    def _cells(self) -> Iterator[Cell]:
        yield Cell("lm", 0.0)
        yield from (Cell("search", weight) for weight in self.options.lambdas())
        if LM_BIASED in (self.options.baselines or ()):
            yield Cell(LM_BIASED, 0.0)
        if PEZ in (self.options.baselines or ()):
            yield Cell(PEZ)

    def _instruction(self, cell: Cell) -> str:
        axes = [target.axis for target in self.targets]
        if cell.method != LM_BIASED:
            return self.scenario.instruction(axes)
        return self.scenario.biased_instruction(axes, [one.attribute for one in self.targets])

    def _identify(self, cell: Cell, number: int) -> object:
        """All that the prompt of a number depends on, in JSON types."""
        settings = self.settings()
        for name in ("lambdas", "n_prompts", "images"):
            del settings[name]
        return [
            cell.method, cell.weight, number, self._instruction(cell),
            identity(self.writer), identity(self.job.generator), settings,
            [[target.axis, target.attribute] for target in self.targets],
            [one["sha256"] for one in self.probes],
        ]  # fmt: skip

    def _search(self, cell: Cell, number: int, taken: Collection[str]) -> FoundPrompt:
        options = self.options
        search = PromptSearch(
            writer=cast("NextTokens", self.writer),
            generator=cast("ObservableGenerator", self.job.generator),
            model=self.job.generator.spec,
            targets=self.targets,
            opening=self.opening,
            neutral=NEUTRAL if options.scoring == "shared" else None,
            step=self.step,
            latents=options.latents,
            race=options.scoring == "race",
            beam=options.beam(),
            allowed=self.allows,
            seed=self.job.seed,
        )
        if cell.method == PEZ:
            return search.hard_prompt(number)
        return search.find(self._instruction(cell), cell.weight or 0.0, number, taken)

    def allows(self, text: str) -> bool:
        """Whether a text may be written: it is natural, and the generator takes it."""
        if self._refuses(self.find_named_axes(text)) or repeats(text, self.options.no_repeat):
            return False
        try:
            self.job.generator.check_prompts([text])
        except InputError:
            return False
        return True

    def find_named_axes(self, text: str) -> list[str]:
        """The axes of the set that a text names."""
        return [axis.name for axis in self.every.axes if names_axis(text, axis)]

    def _refuses(self, named: Sequence[str]) -> bool:
        if self.options.naming == "refuse":
            return bool(named)
        wanted = {target.axis for target in self.targets}
        return self.options.naming == "refuse-wanted" and not wanted.isdisjoint(named)


def repeats(text: str, length: int) -> bool:
    """Whether a text says so many words in a row twice; with 0 none does."""
    words = words_of(text)
    runs = [tuple(words[start : start + length]) for start in range(len(words) - length + 1)]
    return bool(length) and len(set(runs)) < len(runs)


def _place(axes: AxisSet, axis: str, named: str) -> int:
    """The number of an attribute in its axis; raises InputError."""
    own = axes.axis(axis)
    return own.names.index(own.attribute(named).name)


def _own(model: str, name: str) -> str | None:
    """A language model that a toy generator brings along."""
    return f"{Spec(model).backend}:{name}" if traits_of(model).toy else None


def _language_models(model: str, options: SearchOptions) -> dict[str, LanguageModel]:
    """The writer first, then the reader, if there is one; raises InputError."""
    writer = options.lm or _own(model, WRITER)
    if writer is None:
        raise InputError(
            "--lm is needed: name the language model that writes the prompts, for example "
            "--lm lm:Qwen/Qwen3-4B"
        )
    named = {"--lm": writer, "--perplexity": options.perplexity or _own(model, READER)}
    models: dict[str, LanguageModel] = {}
    for flag, spec in named.items():
        if spec is not None:
            models[spec] = load_language_model(spec, options.model_options(), flag=flag)
            refuse_without_tokens(models[spec])
    return models


def _step(options: SearchOptions, targets: Sequence[Target]) -> int:
    """Where probes look; raises InputError where one has no head."""
    shared = set.intersection(*(set(target.probe.steps) for target in targets))
    if options.step is not None:
        if options.step not in shared:
            raise InputError(
                f"--step {options.step}: the probes have heads for "
                f"{', '.join(map(str, sorted(shared)))}"
            )
        return options.step
    wanted = (EARLY if options.scoring == "race" else HALF) * targets[0].probe.of
    return min(sorted(shared), key=lambda step: abs(step - wanted))
