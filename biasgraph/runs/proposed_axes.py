"""Axes that are proposed for a prompt: by a language model (TIBET supp. 8.1), or by rules.

A language model is asked three times in one conversation: for axes, for counterfactuals of each,
and for both as JSON. What it says is kept in the run, and so are the axes made of it, as a file
that may be edited; neither is asked for again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import model_validator

from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.errors import InputError, ModelError, printable, show_path
from biasgraph.io.writing import refuse_foreign, write_atomically
from biasgraph.models.base import LanguageModel, Message
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.json_chat import BrokenOff, Exchange, ReplyError, chat
from biasgraph.models.registry import LANGUAGE_MODEL, load_language_model, refuse_unread
from biasgraph.prompts.derived_axes import derived_axes
from biasgraph.prompts.instructions import Counterfactuals, instruction
from biasgraph.prompts.subject import strip_brackets
from biasgraph.prompts.suited_axes import note_guesses, suit_all
from biasgraph.runs.directory import refuse_what_is_no_run
from biasgraph.runs.job import JOURNAL
from biasgraph.runs.model_choice import llm_of
from biasgraph.runs.pictures.picture_sets import AXES_FILE as FILE
from biasgraph.runs.progress import Quiet, hear
from biasgraph.runs.storage import storing
from biasgraph.runs.transcripts import (
    converse,
    describe_writer,
    find_reply,
    key_of,
    transcript_path,
)

if TYPE_CHECKING:
    from biasgraph.runs.directory import Run
    from biasgraph.runs.progress import Progress

LLM, AUTO = "llm", "auto"
WAYS = (LLM, AUTO)
"""What ``--axes`` takes besides the name of a set."""
NAME = "proposed"
"""The name of an axis set that a language model proposed."""
TASK = "axes"
LONGEST_REPLY = 20_000
"""Characters of a reply that are shown to the model again."""


@dataclass(frozen=True)
class Proposal:
    """Axes that nobody wrote for this prompt, and what to know of them.

    transcript: of the conversation that they come from; None where rules chose a shipped set.
    """

    axes: AxisSet
    notes: tuple[str, ...]
    transcript: Path | None = None

    def keep(self, run: Run) -> None:
        """Write the axes into the run, unless they are what its file holds.

        A file with other axes keeps its content under another name. Raises ModelError as the disk
        does.
        """
        if self.transcript is None:
            return
        with storing(run.directory):
            own = run.directory / self.transcript.parent.name / self.transcript.name
            if run.moved_to is not None and not own.exists():
                own.parent.mkdir(exist_ok=True)
                moved = run.moved_to / own.relative_to(run.directory)
                shutil.copyfile(moved if moved.exists() else self.transcript, own)
            path = run.directory / FILE
            if path.exists():
                if _holds(path, self.axes):
                    return
                path.rename(_find_unused(path))
            write_atomically(path, as_yaml(self.axes, self.notes).encode())


def proposed_axes(
    way: str,
    prompts: Sequence[str],
    *,
    directory: Path,
    llm: str | None = None,
    generator: str | None = None,
    options: ModelOptions | None = None,
    journal: Path | None = None,
    fresh: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Proposal:
    """The axes for some prompts, proposed in one of the `WAYS`.

    directory: of the run, where conversations are kept and `FILE` may hold axes that were edited;
    fresh: leave these alone. llm, generator: as in `biasgraph.runs.job.llm_of`; options, journal:
    how that model runs. dry_run: ask nobody but the sandbox, and write
    nothing.

    Raises:
        InputError: a prompt, or options that do not go together; a directory that is no run.
        ReplyError: the language model proposed nothing of use; the line names the transcript.
        BiasgraphError: as the model or the disk does.
    """
    if way == AUTO:
        axes = suit_all(prompts)
        note = f"The axes are those of the shipped set '{axes.name}', chosen by rules over word "
        note += "lists; no language model was asked"
        return Proposal(axes, (note, *note_guesses(prompts)))
    if len(prompts) > 1:
        raise InputError(
            "--axes llm proposes axes for one prompt, and prompts of a list share theirs: let it "
            f"propose for one of them, and give that run's {FILE} with --axes"
        )
    model = load_language_model(llm_of(generator, llm, "--axes llm"), options, journal)
    refuse_what_is_no_run(directory)
    edited = None if fresh else directory / FILE
    return _by_language_model(
        model, prompts[0], directory, edited=edited, progress=progress, dry_run=dry_run
    )


def _by_language_model(
    model: LanguageModel,
    prompt: str,
    directory: Path,
    *,
    edited: Path | None = None,
    progress: Progress | None = None,
    dry_run: bool = False,
) -> Proposal:
    """What the model proposes, or proposed before; then a file, `edited`, goes before it."""
    schema = _usable(prompt)
    clean, _ = strip_brackets(prompt)
    try:
        key = key_of(model, _list_asked(clean), schema.model_json_schema())
    except ModelError:  # the hub cannot say which model this is
        if dry_run:
            raise _plan_asks_nobody(model) from None
        raise
    path = transcript_path(directory, TASK, key)
    said = find_reply(directory, TASK, key, schema)
    is_edited = said is not None and edited is not None and edited.is_file()
    if said is None:
        said = _ask(model, clean, schema, directory, key, progress, dry_run=dry_run)
    axes, remarks = derived_axes(prompt, said.root, NAME)
    if axes is None:
        raise AssertionError("a reply without axes passed its check")
    if "written_by" in model.settings:  # rules, which guess where a model would know
        remarks = (*remarks, *note_guesses([prompt]))
    axes = load_axis_set(str(edited)) if is_edited else axes
    where = f"{path.parent.name}/{path.name}"
    notes = (f"{describe_writer(model)} proposed the axes ({where})", *remarks)
    return Proposal(axes, notes, path)


def propose(
    prompt: str,
    file: Path,
    llm: str | None,
    options: ModelOptions,
    progress: Progress | None = None,
) -> Proposal:
    """Write the axes that a language model proposes for a prompt to a new file.

    The conversation goes to `transcripts`, and what a server said to `responses`, beside the file.
    Raises as `proposed_axes` does; InputError where the file already exists.
    """
    if file.suffix.lower() not in (".yaml", ".yml"):
        raise InputError(f"{show_path(file)}: an axis set's file ends in .yaml")
    refuse_foreign(file)
    spec = llm_of(None, llm, "axes propose")
    model = load_language_model(spec, options, file.parent / JOURNAL)
    refuse_unread(options, {LANGUAGE_MODEL: model.spec})
    proposal = _by_language_model(model, prompt, file.parent, progress=progress)
    with storing(file.parent):
        write_atomically(file, as_yaml(proposal.axes, proposal.notes).encode())
    return proposal


def as_yaml(axes: AxisSet, notes: Sequence[str] = ()) -> str:
    """An axis set as a file that `load_axis_set` reads, with notes at its head."""
    record = axes.model_dump(mode="json", exclude_defaults=True)
    text = yaml.safe_dump(record, sort_keys=False, allow_unicode=True, width=100)
    head = "".join(f"# {printable(note)}\n" for note in notes)
    return f"{head}# Edit it as you like; `biasgraph axes check FILE` shows what it does.\n{text}"


def _ask(
    model: LanguageModel,
    prompt: str,
    schema: type[Counterfactuals],
    directory: Path,
    key: str,
    progress: Progress | None,
    *,
    dry_run: bool,
) -> Counterfactuals:
    if dry_run:
        if "written_by" not in model.settings:
            raise _plan_asks_nobody(model)
        return conversation(model, prompt, schema).value
    progress = progress or Quiet()
    progress.start("Axes", total=3, done=0)
    hear(model, progress)
    talk = partial(conversation, model, prompt, schema, partial(progress.advance, 1))
    try:
        return converse(directory, TASK, key, model, talk)
    except ReplyError as error:
        error.forget()
        raise
    finally:
        progress.finish()


def _plan_asks_nobody(model: LanguageModel) -> InputError:
    return InputError(
        f"--axes llm would ask {printable(model.spec)} first, and --dry-run asks no model: build "
        "without it, or propose the axes with `biasgraph axes propose`"
    )


def conversation(
    model: LanguageModel,
    prompt: str,
    schema: type[Counterfactuals] = Counterfactuals,
    advance: Callable[[], object] | None = None,
) -> Exchange[Counterfactuals]:
    """The three turns of TIBET, supp. 8.1; advance: called after each.

    Raises BrokenOff, with what was said so far, where the model fails, ReplyError where it says
    nothing of use.
    """
    first, second, third = _list_asked(prompt)
    turns = [Message("user", first)]
    try:
        for following in (second, third):
            reply = model.reply(turns)[:LONGEST_REPLY].strip()
            turns += [Message("assistant", reply or "(nothing)"), Message("user", following)]
            if advance:
                advance()
        exchange = chat(model, turns, schema)
    except BrokenOff:
        raise
    except ModelError as error:
        if len(turns) == 1:  # nothing was said: there is nothing to keep
            raise
        said = tuple({"role": turn.role, "text": turn.text} for turn in turns)
        raise BrokenOff(str(error), said) from error
    if advance:
        advance()
    return exchange


def _list_asked(prompt: str) -> list[str]:
    tasks = ("axes", "counterfactuals", "json")
    return [instruction("tibet", task, prompt=prompt) for task in tasks]


def _usable(prompt: str) -> type[Counterfactuals]:
    """The form of a reply that makes at least one axis for this prompt."""
    if printable(prompt) != prompt:  # no counterfactual may hold what every one would repeat
        raise InputError(
            f"the prompt '{printable(prompt)}' contains control characters or invisible marks"
        )
    derived_axes(prompt, {}, NAME)  # a prompt that cannot be read is no fault of the model's

    class Usable(Counterfactuals):
        @model_validator(mode="after")
        def _makes_axes(self) -> Usable:
            if derived_axes(prompt, self.root, NAME)[0] is None:
                raise ValueError("no axis has two counterfactuals that differ from the prompt")
            return self

    Usable.__name__ = Counterfactuals.__name__
    return Usable


def _holds(path: Path, axes: AxisSet) -> bool:
    """Whether a file holds these axes, or what a user made of them."""
    try:
        return load_axis_set(str(path)).digest() == axes.digest()
    except InputError:
        return False


def _find_unused(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.stem}-{number}{path.suffix}")).exists():
        number += 1
    return aside


def record(proposal: Proposal) -> dict[str, Any]:
    """A proposal in JSON types."""
    return {
        "axes": proposal.axes.model_dump(mode="json", exclude_defaults=True),
        "notes": list(proposal.notes),
        "transcript": None if proposal.transcript is None else show_path(proposal.transcript),
    }
