"""Hangs the findings of other methods on the nodes of a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from biasgraph.audits.agreement.trusted_answers import reopened
from biasgraph.audits.plan.verification import axis_set_of
from biasgraph.data.file_names import GRAPH, RECORD
from biasgraph.data.result import load, read_document
from biasgraph.errors import InputError, did_you_mean, printable, shown
from biasgraph.methods import minethegap
from biasgraph.methods.base import Annotation, Media, MethodInput
from biasgraph.models.backend import WANTED_EMBEDDER
from biasgraph.models.folder import BACKEND as FOLDER
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.json_chat import ReplyError
from biasgraph.models.registry import (
    backend_of,
    load_embedder,
    load_generator,
    load_judge,
    load_language_model,
)
from biasgraph.report.saving import write
from biasgraph.report.thumbnails import run_directory
from biasgraph.runs.job import JOURNAL
from biasgraph.runs.media import RunMedia
from biasgraph.runs.record import read_record
from biasgraph.runs.transcripts import USUAL

if TYPE_CHECKING:
    from pathlib import Path

    from biasgraph.audits.options import BuildOptions
    from biasgraph.data.axes import AxisSet
    from biasgraph.data.findings import Finding
    from biasgraph.data.result import Result
    from biasgraph.models.base import Embedder, LanguageModel
    from biasgraph.runs.progress import Progress

METHODS = {
    "tibet": "biasgraph.methods.tibet",
    "openbias": "biasgraph.methods.openbias",
    "minethegap": "biasgraph.methods.minethegap",
}
"""A method's name and its module, whose ``annotate`` takes a `MethodInput`."""

NEEDS_IMAGES = "minethegap"
PROPOSES = "openbias"
"""Has further axes proposed, where a language model is named."""
NONE = "none"

Chosen = Mapping[str, Mapping[str, Any]]
"""Method -> what a user chose for it, in JSON types."""


def methods_in(text: str | Sequence[str]) -> tuple[str, ...]:
    """The methods that a list names, "tibet,openbias", once each; () for "none".

    Raises InputError, with a hint, for a name that is none.
    """
    parts = text.split(",") if isinstance(text, str) else list(text)
    names = [part.strip() for part in parts if part.strip()]
    if names == [NONE]:
        return ()
    for name in names:
        if name == NONE:
            raise InputError(f"'{NONE}' stands alone: leave it out, or the methods beside it")
        if name not in METHODS:
            raise InputError(
                f"there is no method '{printable(name)}' (there are {', '.join(METHODS)}, and "
                f"none).{did_you_mean(name, [*METHODS, NONE])}"
            )
    if not names:
        raise InputError(f"no method is named: give {', '.join(METHODS)}, or none")
    return tuple(dict.fromkeys(names))


def recorded(directory: Path | None) -> Chosen:
    """The methods whose findings the result in `directory` has; none where there is no result."""
    if directory is None or not (directory / GRAPH).is_file():
        return {}
    methods: Chosen = read_document(directory)["graph"].get("methods", {})
    return {name: options for name, options in methods.items() if name in METHODS}


def chosen(options: BuildOptions, before: Chosen, *, toy: bool = False) -> Chosen:
    """The methods that a build uses, each with its options.

    Those that are named; without names those that the result had `before`, and all on the sandbox
    (`toy`). Raises InputError for names that are none, and where an embedder is needed and not
    named.
    """
    if options.annotate is None:
        names: Sequence[str] = tuple(METHODS) if toy else tuple(before)
    else:
        names = methods_in(options.annotate)
    if NEEDS_IMAGES in names and options.answers is not None:
        raise InputError(f"{NEEDS_IMAGES} looks at images, and an answers table has none")
    given = {
        "embedder": options.embedder,
        "vary": options.vary and list(options.vary),
        "llm": options.llm,
        "null": options.null,
    }
    return _with_options(names, before, given, toy=toy)


def _with_options(
    names: Sequence[str], before: Chosen, given: Mapping[str, Any], *, toy: bool
) -> Chosen:
    if NEEDS_IMAGES not in names:
        for name in ("embedder", "vary", "null"):
            if given.get(name):
                raise InputError(
                    f"--{name} is about {NEEDS_IMAGES}: name it among the methods, or leave "
                    f"--{name} out"
                )
    found = {name: dict(before.get(name, {})) for name in METHODS if name in names}
    if PROPOSES in found:
        if given.get("llm"):
            found[PROPOSES]["llm"] = given["llm"]
        elif toy:
            found[PROPOSES].setdefault("llm", USUAL)
    if NEEDS_IMAGES in found:
        own = found[NEEDS_IMAGES]
        if given.get("vary") or given.get("llm"):  # another source of variations
            own = {name: value for name, value in own.items() if name not in ("vary", "llm")}
        own |= {name: value for name, value in given.items() if value is not None and value != []}
        if own.get("vary"):
            own.pop("llm", None)
        if not own.get("null"):
            own.pop("null", None)
        found[NEEDS_IMAGES] = own
        if toy:
            own.setdefault("embedder", "sandbox")
        if "embedder" not in own:
            raise InputError(f"{NEEDS_IMAGES} needs {WANTED_EMBEDDER}")
    return found


def check(methods: Chosen, axes: AxisSet, prompts: Sequence[str], model: str) -> None:
    """Raise InputError, before any image is made, for what the methods will not take.

    model: the spec of the generator.
    """
    if NEEDS_IMAGES in methods:
        options = methods[NEEDS_IMAGES]
        varying = minethegap.Varying.of(axes, options)
        for prompt in prompts:
            varying.texts(prompt)
        if options.get("null") and backend_of(model) == FOLDER:
            raise InputError(
                "--null makes images of variations, and pictures of a folder are made elsewhere: "
                "leave it out"
            )


def images_beside(methods: Chosen, initial: int) -> list[str]:
    """What is made beside a build's own images, in a sentence; none where nothing is.

    initial: how many images the initial prompts have.
    """
    if not methods.get(NEEDS_IMAGES, {}).get("null"):
        return []
    return [f"--null makes {initial:,} more images, of the variations"]


class Helpers(NamedTuple):
    """The models that methods need beside the judge."""

    embedder: Embedder | None
    language_models: Mapping[str, LanguageModel]

    @classmethod
    def of(cls, methods: Chosen, how: ModelOptions, journal: Path) -> Helpers:
        """Those that the chosen methods name. Raises as the registry's `load_*` do."""

        def named(name: str) -> list[str]:
            return [str(options[name]) for options in methods.values() if options.get(name)]

        embedders = named("embedder")
        return cls(
            load_embedder(embedders[0], how) if embedders else None,
            {spec: load_language_model(spec, how, journal) for spec in named("llm")},
        )


def add(
    directory: Path,
    names: Sequence[str],
    given: Mapping[str, Any],
    *,
    axes: str | None = None,
    how: ModelOptions | None = None,
    progress: Progress | None = None,
) -> Result:
    """Add methods' findings to the result in a directory, and write it there; see `added`."""
    with _adding(directory, names, given, axes, how, progress) as whole:
        write(whole, directory)
    return whole.placed(directory)


def added(
    directory: Path,
    names: Sequence[str],
    given: Mapping[str, Any],
    *,
    axes: str | None = None,
    how: ModelOptions | None = None,
    progress: Progress | None = None,
) -> Result:
    """The result in a directory with methods' findings; its files stay as they are.

    given: embedder, vary, llm and null, where the user named them; axes: the axis set of a run that
    was built with one that does not ship; how: options of models that take the place of those that
    the run was built with. Models are asked only for what the run does not hold, and images are
    made for `null` alone.

    Raises:
        InputError: no such result or method, or it needs what the result does not have.
        ModelError: a model failed. Interrupted: the user stopped it.
    """
    with _adding(directory, names, given, axes, how, progress) as whole:
        return whole


@contextmanager
def _adding(
    directory: Path,
    names: Sequence[str],
    given: Mapping[str, Any],
    axes: str | None,
    how: ModelOptions | None,
    progress: Progress | None,
) -> Iterator[Result]:
    """The result with the findings, while its run is locked."""
    if not names:
        raise InputError(f"there is nothing to add: name {', '.join(METHODS)}")
    result = load(directory)
    graph = result.document["graph"]
    toy = is_toy(graph["model"], graph["vqa"] or "")
    methods = _with_options(names, recorded(directory), given, toy=toy)
    if given.get("llm") and not any(one.get("llm") for one in methods.values()):
        other = "leave --vary out" if NEEDS_IMAGES in names else f"name {NEEDS_IMAGES}"
        raise InputError(f"--llm has nothing to propose: name {PROPOSES}, or {other}")
    if (directory / RECORD).is_file():
        declared = axis_set_of(directory, result, axes)
        parts = [part.document["graph"] for part in result.prompts or (result,)]
        prompts = [str(part.get("typed") or part["prompt"]) for part in parts]
        check(methods, declared, prompts, graph["model"])
        with _opened(directory, result, methods, how, progress) as media:
            yield annotated(result, methods, declared, media)
    elif run_directory(directory) is not None:
        raise InputError(f"{shown(directory)} is one prompt of a run: give the run's own directory")
    else:
        yield annotated(result, methods)


@contextmanager
def _opened(
    directory: Path,
    result: Result,
    methods: Chosen,
    given: ModelOptions | None,
    progress: Progress | None,
) -> Iterator[RunMedia]:
    """The pictures of a finished run, with the models and the options that it was built with."""
    record = read_record(directory) or {"builds": []}
    settings = record["builds"][-1]["settings"] if record["builds"] else {}
    own = given.record() if given else {}
    how = ModelOptions.recorded({**settings.get("models", {}), **own})
    graph, journal = result.document["graph"], directory / JOURNAL
    judge = load_judge(graph["vqa"], how, journal)
    helpers = Helpers.of(methods, how, journal)
    null = methods.get(NEEDS_IMAGES, {}).get("null")
    generator = load_generator(graph["model"], how, journal) if null else None
    with reopened(directory, judge, generator) as (run, _):
        yield RunMedia(run, judge, helpers.embedder, progress, generator, helpers.language_models)


def is_toy(*models: str) -> bool:
    """Whether all models are the sandbox's: any other may have to be paid for what it is asked."""
    return all(backend_of(model) == "sandbox" for model in models)


def annotated(
    result: Result, chosen: Chosen, axes: AxisSet | None = None, media: Media | None = None
) -> Result:
    """The result with the findings of the chosen methods, its prompts' results included.

    Findings of methods that are not chosen stay. Raises InputError where a method needs what the
    result does not have, and as models do (`biasgraph.runs.media`).
    """
    parts = result.prompts or (result,)
    graphs = [part.document["graph"] for part in parts]
    typed = {graph["prompt"]: graph["typed"] for graph in graphs if graph.get("typed")}
    seen = {name: media and media.proposing(own.get("llm")) for name, own in chosen.items()}

    def of(part: Result) -> Result:
        document = part.document
        for name, options in chosen.items():
            found_in = part.tables, part.answers
            given = MethodInput(document, *found_in, axes, seen[name], options, typed)
            try:
                found: Annotation = import_module(METHODS[name]).annotate(given)
            except ReplyError as error:
                error.forget()
                raise
            document = _with(document, name, options, found)
        return replace(part, document=document)

    return replace(of(result), prompts=tuple(of(part) for part in result.prompts))


def _with(
    document: Mapping[str, Any], name: str, options: Mapping[str, Any], found: Annotation
) -> dict[str, Any]:
    """The document with one method's findings in the place of any that it had."""
    graph = document["graph"]
    nodes = [
        {**node, "findings": _put(node["findings"], name, found.nodes.get(node["id"]))}
        for node in document["nodes"]
    ]
    methods = _ordered({**graph.get("methods", {}), name: dict(options)})
    findings = _put(graph["findings"], name, found.graph)
    graph = {**graph, "findings": findings, "methods": methods}
    return {**document, "graph": graph, "nodes": nodes}


def _put(findings: Mapping[str, Any], name: str, found: Finding | None) -> dict[str, Any]:
    """Findings with one method's in the place of any that it had; none where it found none."""
    others = {key: value for key, value in findings.items() if key != name}
    return _ordered(others if found is None else {**others, name: found.to_json()})


def _ordered(by_method: Mapping[str, Any]) -> dict[str, Any]:
    """In the order of `METHODS`, whichever came first."""
    known = [name for name in METHODS if name in by_method]
    return {name: by_method[name] for name in dict.fromkeys([*known, *by_method])}
