"""Adds the findings of other methods to the nodes of a result, as the methods are declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.plan.verification import axis_set_of
from biasgraph.audits.reuse import read_inputs
from biasgraph.data.file_names import GRAPH, RECORD
from biasgraph.data.result import load, read_document, run_directory
from biasgraph.errors import InputError, ModelError, printable, show_path
from biasgraph.methods import registry
from biasgraph.methods.base import Annotation, Media, MethodInput, MethodPlan, initial_rows
from biasgraph.models.backend import EMBEDDER, LANGUAGE_MODEL
from biasgraph.models.base import Describer
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.json_chat import ReplyError
from biasgraph.models.registry import traits_of
from biasgraph.runs.directory import Run
from biasgraph.runs.job import Job
from biasgraph.runs.media import RunMedia
from biasgraph.runs.progress import PartOfWork, showing
from biasgraph.runs.traced_images import why_no_gradients

if TYPE_CHECKING:
    from biasgraph.audits.build_options import BuildOptions
    from biasgraph.data.axes import AxisSet
    from biasgraph.data.findings import Finding
    from biasgraph.data.result import Result
    from biasgraph.runs.progress import Progress

Chosen = Mapping[str, Mapping[str, Any]]
"""Method -> what a user chose for it, in JSON types."""
EMBED, LLM = registry.MODELS[EMBEDDER], registry.MODELS[LANGUAGE_MODEL]


def read_methods(directory: Path | None) -> Chosen:
    """The methods whose findings the result in a directory has; {} where there is no result.

    Raises:
        ModelError: One of them is a plug-in that is broken.
    """
    if directory is None or not (directory / GRAPH).is_file():
        return {}
    document = read_document(directory, intact=read_inputs(directory) is not None)
    methods: Chosen = document["graph"].get("methods", {})
    return {name: options for name, options in methods.items() if registry.find_method(name)}


def choose_methods(options: BuildOptions, before: Chosen, *, toy: bool = False) -> Chosen:
    """The methods that a build uses, each with its options.

    Args:
        options: Those of the build.
        before: The methods of an earlier result, which count where `options` name none.
        toy: Whether all models are toys; methods that ship count then, too, unless they are dear.

    Raises:
        InputError: A method is unknown, or lacks what it needs.
    """
    if options.annotate is None:
        names: Sequence[str] = (*(registry.usual_methods() if toy else ()), *before)
    else:
        names = registry.parse_methods(options.annotate)
    given = {"embedder": options.embedder, "llm": options.llm, **options.method_options}
    return _with_options(names, before, given, toy=toy, run=options.answers is None)


def _with_options(
    names: Sequence[str], before: Chosen, given: Mapping[str, Any], *, toy: bool, run: bool
) -> Chosen:
    methods = {name: registry.get_method(name) for name in registry.in_order(names)}
    declared = registry.find_methods().items()
    for option in [option for option, value in given.items() if value and option != LLM]:
        users = [name for name, method in declared if option in method.choices]
        if methods.keys().isdisjoint(users):
            flag = "--" + option.replace("_", "-")
            raise InputError(
                f"{flag} has no effect without {' or '.join(users)}: name it among the methods, or "
                f"remove {flag}"
            )
    for name, method in methods.items():
        if method.needs and not run:
            raise InputError(f"{name} needs images, and an answers table has none")
    chosen = {}
    for name, method in methods.items():
        chosen[name] = _options_of(method, before.get(name, {}), given, toy=toy)
        for role, option in method.models.items():
            if role in method.needs and option not in chosen[name]:
                raise InputError(f"{name} needs {registry.HINTS[role]}")
    return chosen


def _options_of(
    method: registry.Method, before: Mapping[str, Any], given: Mapping[str, Any], *, toy: bool
) -> Mapping[str, Any]:
    """One method's options: what is given, what it had before, and the toy models' names."""
    new = {
        option: _in_json_types(value)
        for option in method.choices
        if (value := given.get(option)) is not None and value not in ((), [])
    }
    replaced = method.instead if any(map(new.get, method.instead)) else ()
    own = {option: value for option, value in before.items() if option not in replaced} | new
    for rival in [option for option in method.instead if own.get(option)][1:]:
        del own[rival]
    for option in method.models.values() if toy else ():
        if option not in method.instead:
            own.setdefault(option, "sandbox")
    return {option: value for option, value in own.items() if value is not False}


def _in_json_types(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def explain_idle_llm(names: Iterable[str], given: Mapping[str, Any]) -> str:
    """What to do where ``--llm`` has nothing to propose for the methods that are named."""
    methods = registry.find_methods()
    rivals = {option for name in names for option in methods[name].instead if given.get(option)}
    idle = [name for name in methods if name not in names and LLM in methods[name].choices]
    hints = [f"remove --{option}" for option in sorted(rivals - {LLM})]
    return ", or ".join([*hints, *([f"annotate with {' or '.join(idle)}"] if idle else [])])


def check_methods(methods: Chosen, plan: MethodPlan, job: Job) -> None:
    """Refuse, before any image is made, what the methods will not take.

    Raises:
        InputError: A method cannot work on this axis set, generator or judge.
    """
    for name, options in methods.items():
        method = registry.get_method(name)
        if method.check:
            why = why_no_gradients(job.generator, job.judge)
            known = replace(plan, options=options, why_no_gradients=why)
            registry.call(name, method.check, known)
        if registry.DESCRIBER in method.needs and not isinstance(job.judge, Describer):
            raise InputError(
                f"{name} needs a judge that answers in its own words; {printable(job.vqa)} only "
                "chooses between answers"
            )
        if registry.GRADIENTS in method.needs and (
            why := why_no_gradients(job.generator, job.judge)
        ):
            raise InputError(f"{name} needs gradients, and {why}")


def count_images_beside(methods: Chosen, plan: MethodPlan) -> dict[str, int]:
    """How many images each method makes beside those of a build; only those that make any."""
    counts = {
        name: int(registry.call(name, hook, replace(plan, options=options)))
        for name, options in methods.items()
        if (hook := registry.get_method(name).images_beside)
    }
    return {name: count for name, count in counts.items() if count}


def helpers_of(methods: Chosen) -> tuple[list[str], list[str]]:
    """The specs of the embedders and of the language models that the methods name."""

    def list_specs(option: str) -> list[str]:
        return list(dict.fromkeys(str(own[option]) for own in methods.values() if own.get(option)))

    return list_specs(EMBED), list_specs(LLM)


@contextmanager
def equip_methods(
    run: Run, job: Job, methods: Chosen, graphs: int
) -> Iterator[tuple[dict[str, Media], Callable[[int], object]]]:
    """For each method the images of a run, with the models of the job that it names.

    What is done for several graphs is shown as one piece of work: what is yielded beside the
    images is to be called with 1 behind each.
    """

    def equip(job: Job) -> dict[str, Media]:
        return {
            name: RunMedia(
                run,
                job,
                job.embedders.get(options.get(EMBED, "")),
                job.language_models.get(options.get(LLM, "")),
            )
            for name, options in methods.items()
        }

    if graphs == 1 or not methods:
        yield equip(job), lambda _: None
        return
    with showing(job.progress, "Findings", total=graphs, done=0) as whole:
        yield equip(replace(job, progress=PartOfWork(whole))), whole.advance


def annotate_run(
    directory: Path,
    names: Sequence[str],
    given: Mapping[str, Any],
    *,
    axes: str | None = None,
    how: ModelOptions | None = None,
    progress: Progress | None = None,
    save: bool = False,
) -> Result:
    """The result in a directory with methods' findings added.

    Models are asked only for what the run does not hold, and images are made only for methods that
    make some beside a build's.

    Args:
        directory: Of the result.
        names: The methods.
        given: ``embedder``, ``llm`` and the methods' own options, where the user named them.
        axes: The axis set of a run that was built with one that does not ship.
        how: Options of models that take the place of those that the run was built with.
        progress: Shows what is done.
        save: Whether to write the result to the directory, while the run is locked.

    Raises:
        InputError: No such result or method, or it needs what the result does not have.
        ModelError: A model failed.
        Interrupted: The user stopped it.
    """
    if not names:
        raise InputError(f"nothing to add: name {', '.join(registry.find_methods())}")
    result = load(directory)
    graph = result.document["graph"]
    run = (directory / RECORD).is_file()
    if not run and run_directory(directory) is not None:
        raise InputError(
            f"{show_path(directory)} is one prompt of a run: give the run's own directory"
        )
    toy = is_toy(graph["model"], graph["vqa"] or "")
    methods = _with_options(names, read_methods(directory), given, toy=toy, run=run)
    if given.get("llm") and not any(options.get("llm") for options in methods.values()):
        raise InputError(f"--llm has no effect: {explain_idle_llm(names, given)}")
    with _media_of(result, directory, methods, axes, how, progress) as (declared, media, advance):
        annotated = add_findings(result, methods, declared, media, advance)
        if save:
            from biasgraph.report.saving import write

            write(annotated, directory)
    return annotated.place(directory) if save else annotated


@contextmanager
def _media_of(
    result: Result,
    directory: Path,
    methods: Chosen,
    axes: str | None,
    given: ModelOptions | None,
    progress: Progress | None,
) -> Iterator[tuple[AxisSet | None, Mapping[str, Media], Callable[[int], object]]]:
    """A run's axes and images, with the models and options that it was built with; else nothing."""
    if not (directory / RECORD).is_file():
        yield None, {}, lambda _: None
        return
    graph = result.document["graph"]
    declared = axis_set_of(directory, result, axes)
    parts = [part.document["graph"] for part in result.prompts or (result,)]
    prompts = [str(part.get("typed") or part["prompt"]) for part in parts]
    initial = initial_rows(result.answers)["image"].nunique()
    plan = MethodPlan(declared, prompts, graph["model"], initial)
    declarations = map(registry.get_method, methods)
    follows = any(registry.GRADIENTS in (*one.needs, *one.uses) for one in declarations)
    makes_images = follows or bool(count_images_beside(methods, plan))
    job = Job.reopen(
        directory, vqa=graph["vqa"], options=given, makes_images=makes_images, progress=progress
    ).with_helpers(*helpers_of(methods))
    check_methods(methods, plan, job)
    graphs = 1 + len(result.prompts)
    with job.open() as run, equip_methods(run, job, methods, graphs) as (media, advance):
        yield declared, media, advance


def is_toy(*models: str) -> bool:
    """Whether all models are toys: any other may have to be paid for what it is asked."""
    return all(traits_of(model).toy for model in models)


def add_findings(
    result: Result,
    methods: Chosen,
    axes: AxisSet | None = None,
    media: Mapping[str, Media] | None = None,
    advance: Callable[[int], object] = lambda _: None,
) -> Result:
    """The result with the findings of methods, its prompts' results included.

    Findings of other methods stay.

    Args:
        result: The result.
        methods: The methods with their options.
        axes: The axis set, where one is declared.
        media: The images as each method sees them; None where there is no run.
        advance: Called behind every graph, with 1.

    Raises:
        InputError: A method needs what the result does not have.
        ModelError: A model or a plug-in failed (`biasgraph.runs.media`).
    """
    parts = result.prompts or (result,)
    graphs = [part.document["graph"] for part in parts]
    typed = {graph["prompt"]: graph["typed"] for graph in graphs if graph.get("typed")}

    def annotate(part: Result) -> Result:
        document = part.document
        for name, options in methods.items():
            own = (media or {}).get(name)
            given = MethodInput(document, part.tables, part.answers, axes, own, options, typed)
            try:
                annotation = registry.call(name, registry.get_method(name).function, given)
            except ReplyError as error:
                error.forget()
                raise
            if not isinstance(annotation, Annotation):
                raise ModelError(f"the plug-in {name} did not return an Annotation")
            if unknown := annotation.nodes.keys() - {node["id"] for node in document["nodes"]}:
                axis = printable(str(min(unknown, key=str)))
                raise ModelError(f"the plug-in {name} has a finding about an unknown axis '{axis}'")
            document = _add_annotation(document, name, options, annotation)
        return replace(part, document=document)

    annotated = []
    for part in (result, *result.prompts):
        annotated.append(annotate(part))
        advance(1)
    return replace(annotated[0], prompts=tuple(annotated[1:]))


def _add_annotation(
    document: Mapping[str, Any], name: str, options: Mapping[str, Any], annotation: Annotation
) -> dict[str, Any]:
    """The document with one method's findings in the place of any that it had."""
    graph = document["graph"]
    nodes = [
        {**node, "findings": _put(node["findings"], name, annotation.nodes.get(node["id"]))}
        for node in document["nodes"]
    ]
    methods = _sort({**graph.get("methods", {}), name: dict(options)})
    findings = _put(graph["findings"], name, annotation.graph)
    graph = {**graph, "findings": findings, "methods": methods}
    return {**document, "graph": graph, "nodes": nodes}


def _put(findings: Mapping[str, Any], name: str, finding: Finding | None) -> dict[str, Any]:
    """Findings with one method's in the place of any that it had; none where it found none."""
    others = {key: value for key, value in findings.items() if key != name}
    return _sort(others if finding is None else {**others, name: finding.to_json()})


def _sort(by_method: Mapping[str, Any]) -> dict[str, Any]:
    return {name: by_method[name] for name in registry.in_order(by_method)}
