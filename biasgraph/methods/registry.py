"""The methods whose findings hang on a graph, declared as backends are.

Another package adds a method through the entry-point group ``biasgraph.methods``: the entry's name
is the method's, and its object is a `Method`. Its code is imported when it is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from typing import Any

from biasgraph.data.options import Option
from biasgraph.errors import InputError, ModelError, did_you_mean, printable
from biasgraph.models.backend import EMBEDDER, LANGUAGE_MODEL, WANTED_EMBEDDER, import_function
from biasgraph.models.plug_ins import blame, find_declared, load_declared, names_function, plug_ins

GROUP = "biasgraph.methods"
IMAGES, DESCRIBER, GRADIENTS = "images", "describer", "gradients"
NEEDS = (IMAGES, EMBEDDER, DESCRIBER, LANGUAGE_MODEL, GRADIENTS)
"""Images of a run; a model that embeds; a judge that answers in words of its own; a language model;
a generator that gives gradients to the prompt's embedding."""

MODELS = {EMBEDDER: "embedder", LANGUAGE_MODEL: "llm"}
"""The models that a method has beside generator and judge, and the options that name them."""

HINTS = {
    EMBEDDER: WANTED_EMBEDDER,
    LANGUAGE_MODEL: "--llm: a language model, for example lm:Qwen/Qwen3-4B",
}
NONE = "none"
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Method:
    """What one paper finds about images.

    Attributes:
        about: One line for lists and ``--help``.
        function: ``module:function``, called with a `methods.base.MethodInput`; returns an
            `Annotation`.
        needs: What it cannot do without, of `NEEDS`.
        uses: What it takes where it is there, of `NEEDS`.
        options: Its own options by name; the command line has ``--name`` for each. Those of a
            plug-in begin with its name: ``colours_bins``.
        instead: Options of which only one counts: what is given takes the place of the others, and
            the first of them that is given that of the rest. ``llm`` may be among them.
        check: ``module:function`` that is called with a `methods.base.MethodPlan` before any image
            is made; raises InputError for what the method will not take.
        images_beside: ``module:function`` that is called with a `methods.base.MethodPlan`; returns
            how many images the method makes beside those of the build.
        on_request: Whether it is used only where it is named, on toys, too: it is dear.
    """

    about: str
    function: str
    needs: Sequence[str] = ()
    uses: Sequence[str] = ()
    options: Mapping[str, Option] = field(default_factory=dict)
    instead: Sequence[str] = ()
    check: str | None = None
    images_beside: str | None = None
    on_request: bool = False

    @property
    def models(self) -> dict[str, str]:
        """The models that it needs or uses -> the options that name them."""
        return {role: MODELS[role] for role in (*self.needs, *self.uses) if role in MODELS}

    @property
    def choices(self) -> tuple[str, ...]:
        """The names of all options that have an effect on it."""
        return (*self.models.values(), *self.options)


METHODS: dict[str, Method] = {
    "tibet": Method(
        about="which counterfactual the images resemble, and how unevenly (TIBET)",
        function="biasgraph.methods.tibet:annotate",
        uses=(DESCRIBER,),
    ),
    "openbias": Method(
        about="how far each axis lies from uniform (OpenBias)",
        function="biasgraph.methods.openbias:annotate",
        uses=(LANGUAGE_MODEL,),
    ),
    "minethegap": Method(
        about="how well the images span the variations of their prompt (MineTheGap)",
        function="biasgraph.methods.minethegap:annotate",
        needs=(IMAGES, EMBEDDER),
        uses=(LANGUAGE_MODEL,),
        options={
            "vary": Option(
                "The axes whose attributes minethegap combines into variations of the prompt.",
                usual="gender and ethnicity, if the axis set has them",
                kind=list,
                metavar="AXIS,...",
            ),
            "null": Option(
                "For minethegap: also make and score as many images of the variations as there "
                "are of the prompt: the best this model can do.",
                kind=bool,
                flags=("--null/--no-null",),
            ),
        },
        instead=("vary", "llm"),
        check="biasgraph.methods.minethegap:check_variations",
        images_beside="biasgraph.methods.minethegap:count_null_images",
    ),
    "gradbias": Method(
        about="which words of the prompt carry each axis's bias (GradBias)",
        function="biasgraph.methods.gradbias:annotate",
        needs=(IMAGES,),
        uses=(GRADIENTS,),
        options={
            "word_by": Option(
                "How gradbias measures influence: by gradient, on ten of the run's images; by "
                "removal, on images of the prompt without each of its words; or both.",
                usual="gradient",
                choices=("gradient", "removal", "both"),
            ),
        },
        check="biasgraph.methods.gradbias:check_words",
        images_beside="biasgraph.methods.gradbias:count_images",
        on_request=True,
    ),
}


def usual_methods() -> list[str]:
    """The methods that toys get where none is named."""
    return [name for name, method in METHODS.items() if not method.on_request]


def find_method(name: str) -> Method | None:
    """The method of a name, biasgraph's own or a plug-in's; None where there is none.

    Raises:
        ModelError: The plug-in is broken, or two packages have one of this name.
    """
    return METHODS.get(name) or find_declared(GROUP, name, load_plug_in)


def get_method(name: str) -> Method:
    """As `find_method`, but raises InputError, with a hint, for a name that is unknown."""
    method = find_method(name)
    if method is None:
        known = [*find_methods(), NONE]
        raise InputError(
            f"unknown method '{printable(name)}' (choose from {', '.join(known)})."
            f"{did_you_mean(name, known)}"
        )
    return method


def find_methods() -> Mapping[str, Method]:
    """All methods by name: biasgraph's own, then those of plug-ins that load."""
    methods = dict(METHODS)
    for name in sorted({entry.name for entry in plug_ins(GROUP)} - methods.keys()):
        with suppress(ModelError):  # whoever asks for it by name is told
            methods[name] = get_method(name)
    return methods


def method_options() -> Mapping[str, Option]:
    """The options of all methods by name."""
    return {
        name: option
        for method in find_methods().values()
        for name, option in method.options.items()
    }


def parse_methods(text: str | Sequence[str]) -> tuple[str, ...]:
    """The methods that a list names, "tibet,openbias", once each; () for "none".

    Raises:
        InputError: A name is unknown, or none is given.
        ModelError: A plug-in is broken.
    """
    parts = text.split(",") if isinstance(text, str) else list(text)
    names = [part.strip() for part in parts if part.strip()]
    if names == [NONE]:
        return ()
    if not names:
        raise InputError(f"name a method: {', '.join(find_methods())}, or {NONE}")
    if NONE in names:
        raise InputError(f"'{NONE}' cannot be combined with methods: remove it, or them")
    for name in names:
        get_method(name)
    return tuple(dict.fromkeys(names))


def in_order(names: Sequence[str] | Mapping[str, Any]) -> list[str]:
    """Names in the order of `METHODS`, then those of plug-ins as they come."""
    return list(dict.fromkeys([*(name for name in METHODS if name in names), *names]))


def call(name: str, function: str, *arguments: Any) -> Any:
    """Call a function that a method names.

    Raises:
        ModelError: The function is a plug-in's and fails.
    """
    guard = nullcontext() if name in METHODS else blame(f"the plug-in {printable(name)} failed")
    with guard:
        answer = import_function(function)(*arguments)
    return answer


def load_plug_in(entry: EntryPoint) -> Method:
    """The method that an entry names. Raises ModelError where it is broken."""
    return load_declared(entry, Method, _problem_of)


def _problem_of(name: str, method: Method) -> str:
    """What is wrong with the declaration of a plug-in; "" where nothing is."""
    if not _NAME.fullmatch(name) or name == NONE:
        return f"invalid name '{printable(name)}': use lower-case letters, digits and _"
    for hook in ("function", "check", "images_beside"):
        text = getattr(method, hook)
        if not names_function(text) and (text is not None or hook == "function"):
            return f"its {hook} is not 'module:function'"
    for need in (*method.needs, *method.uses):
        if need not in NEEDS:
            return f"unknown need '{printable(str(need))}' (there are {', '.join(NEEDS)})"
    for choice, option in method.options.items():
        if not _NAME.fullmatch(str(choice)) or not choice.startswith(f"{name}_"):
            return f"its option '{printable(str(choice))}' must be called '{name}_...'"
        if not isinstance(option, Option):
            return f"its option {choice} is not a {Option.__module__}.Option"
    for choice in method.instead:
        if choice not in method.choices:
            return f"'{printable(str(choice))}' in `instead` is not an option of it"
    return ""
