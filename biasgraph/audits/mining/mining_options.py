"""The options of `biasgraph mine`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from biasgraph.audits.axis_options import AxisOptions
from biasgraph.audits.build_options import AxesOptions, BuildOptions, RunOptions
from biasgraph.audits.mining.genetic_search import SearchSettings
from biasgraph.audits.panels import ANALYSIS, AUDIT
from biasgraph.audits.pipeline_options import ScoreOptions
from biasgraph.data.options import option, optional, options_of, reuse, settings
from biasgraph.errors import InputError
from biasgraph.models.inference_options import ENGINE_OPTIONS, MODEL_OPTIONS

SEARCH = "Search"
"""A panel of ``--help``."""
EVALUATED = ("evaluate", "model", "axes", "seed", "output", "fresh")
"""The options beside those of models that --evaluate reads."""
OF_BIAS = ("vary", "variations", "alpha", "embedder")
UNREAD = {"bias": ("ideal",), "axis": OF_BIAS, "edge": OF_BIAS}
"""The options that an objective does not read, by what its name begins with."""


@settings(panel=SEARCH)
class MineOptions(RunOptions):
    """What to mine for in which model; None means "not given".

    Raises:
        InputError: Options contradict each other, or a value is invalid.
    """

    objective: str = option(
        "What to mine for: bias, MineTheGap's score; axis:NAME, an axis far from its ideal; or "
        "edge:X,Y, axes where diversifying X moves Y away from its ideal.",
        default="bias",
        metavar="OBJECTIVE",
        panel=AUDIT,
    )
    target: str = option(
        "What the prompts are about: open, sociodemographic, objects, style, or your own YAML "
        "file with instructions for the language model.",
        default="open",
        metavar="NAME|FILE",
        panel=AUDIT,
    )
    vqa: str | None = reuse(BuildOptions, "vqa", default=None)
    embedder: str | None = reuse(BuildOptions, "embedder", default=None, panel=AUDIT)
    axes: str | None = reuse(
        AxisOptions,
        "axes",
        default=None,
        panel=AUDIT,
        help="The axis set of --objective and --vary, shipped or your own YAML file.",
    )
    ideal: Path | None = reuse(AxesOptions, "ideal", default=None, panel=AUDIT, kind=Path)
    images: int = reuse(
        RunOptions,
        "images",
        default=15,
        help="Images of each prompt. Only scores from the same number of images can be compared.",
    )
    seed: int = reuse(
        RunOptions, "seed", default=0, help="Seed of the images and of the requests for prompts."
    )
    iterations: int = option("Populations, the initial one among them.", default=25, low=1)
    population: int = option("Prompts of a population.", default=15, low=1, high=1000)
    selected: int = option("How many of a population's best prompts are mutated.", default=5, low=0)
    mutations: int = option("Mutations of each selected prompt.", default=2, low=0)
    max_words: int = option("The most words of a prompt.", default=8, low=1, high=60)
    variations: int = reuse(ScoreOptions, "variations", default=15, panel=SEARCH)
    vary: str | Sequence[str] | None = reuse(
        ScoreOptions,
        "vary",
        default=None,
        panel=SEARCH,
        help="Compare the images with combinations of these axes, instead of variations that the "
        "language model proposes.",
        usual="none",
    )
    alpha: float = option(
        "The fraction of variations and of images that counts as the worst in the bias score.",
        default=0.25,
        low=0.01,
        high=1,
        panel=ANALYSIS,
    )
    best: int = option("Prompts that are scored again and reported.", default=10, low=1, high=100)
    fresh_batches: int = option(
        "How often these prompts are scored again, each time on as many fresh images.",
        default=4,
        low=2,
        high=100,
    )
    max_images: int | None = optional(
        "Stop the search before it makes more images than this, including those that score the "
        "best prompts again.",
        low=1,
        usual="no limit",
    )
    evaluate: Sequence[str | Path] = option(
        "Do not search: score the prompts that this run of `mine` found, in the models of all "
        "runs given and in --model, as a matrix of models and prompts. Repeatable. All other "
        "settings of the scores are those of the runs.",
        default=(),
        kind=Path,
        metavar="RUN",
        repeat=True,
        panel=AUDIT,
    )
    output: Path | None = reuse(
        RunOptions,
        "output",
        default=None,
        usual="outputs/MODEL/mined-OBJECTIVE[-TARGET], or outputs/MODEL/evaluated-MODEL-RUN",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.search()
        if self.evaluate:
            self._refuse_unread()
        kind = self.objective.partition(":")[0]
        for name in self._list_given(UNREAD.get(kind, ())):
            flag = options_of(MineOptions)[name].flag(name)
            raise InputError(f"{flag} has no effect on --objective {kind}; remove it")

    def _list_given(self, names: Iterable[str]) -> Iterator[str]:
        """Those of the options that are not as they usually are."""
        for name in names:
            if getattr(self, name) != self.__dataclass_fields__[name].default:
                yield name

    def _refuse_unread(self) -> None:
        """Raise InputError for an option that --evaluate does not read."""
        if isinstance(self.evaluate, str | Path):
            object.__setattr__(self, "evaluate", (self.evaluate,))
        models = () if self.model is None else MODEL_OPTIONS
        read = (*EVALUATED, *ENGINE_OPTIONS, *models)
        options = options_of(MineOptions)
        for name in self._list_given(name for name in options if name not in read):
            flag = options[name].flag(name)
            raise InputError(
                f"{flag} has no effect with --evaluate without --model: name a model, or remove "
                f"{flag}"
                if name in MODEL_OPTIONS
                else f"{flag} has no effect with --evaluate: it is as in the runs; remove it"
            )

    def search(self) -> SearchSettings:
        """How the population lives; raises InputError."""
        return SearchSettings(self.iterations, self.population, self.selected, self.mutations)
