"""Axis sets of one's own: a file to start from, and what a set would do to a prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from biasgraph.data.axes import Axis, AxisSet, axis_document, load_axis_set
from biasgraph.errors import InputError, printable, show_path
from biasgraph.io import resources
from biasgraph.io.folder_names import slug
from biasgraph.io.writing import refuse_foreign, write_files
from biasgraph.io.yaml_files import Problem
from biasgraph.prompts.controls import rewordings
from biasgraph.prompts.counterfactuals import PromptPlan, describe, plan_prompts
from biasgraph.prompts.grammar import indefinite_article
from biasgraph.prompts.intervention import intervene
from biasgraph.prompts.kinds import ends_phrase, is_adjective, is_participle
from biasgraph.prompts.subject import find_subject, strip_brackets

SubjectKind = Literal["person", "animal", "object", "scene"]
EXAMPLES: Mapping[str, str] = {
    "person": "a librarian",
    "animal": "a dog",
    "object": "a chair",
    "scene": "a street",
}
"""A prompt for each kind of subject, for those who give none."""

_OFFERED = re.compile(r"\(([^()]+)\)")


@dataclass(frozen=True)
class AxisCheck:
    """A valid axis set, what it makes of a prompt, and what may not work as meant.

    Attributes:
        axes: the set.
        plan: the prompt with its counterfactuals.
        remarks: one line each, "line 12: ...", in the order of the file.
    """

    axes: AxisSet
    plan: PromptPlan
    remarks: tuple[str, ...]

    @classmethod
    def of(cls, spec: str, prompt: str | None = None) -> AxisCheck:
        """Check a file, or a shipped set by its name.

        Args:
            spec: the name or the path.
            prompt: what the set is tried on; without it, the set's own or an example.

        Raises:
            InputError: the file's problems, each with its line; or no plan for the prompt.
        """
        document = axis_document(spec)
        axes = load_axis_set(spec)
        usual = axes.prompt or EXAMPLES[axes.subject]
        plan = plan_prompts(usual if prompt is None else prompt, axes, len(rewordings(axes)))
        remarks = sorted((document.line(location), text) for location, text in _remarks(axes))
        return cls(axes, plan, tuple(f"line {line}: {text}" for line, text in remarks))

    def captions(self, axis: Axis) -> list[str]:
        """What judges that compare images with texts are given for each attribute."""
        article = indefinite_article(self.axes.subject)
        subject = f"a photo of {article} [{self.axes.subject}]"
        return [describe(axis, name, subject) for name in axis.names]

    def record(self) -> dict[str, Any]:
        """All of it in JSON types."""
        return {
            "axes": self.axes.model_dump(mode="json", exclude_defaults=True),
            "digest": self.axes.digest(),
            "prompt": self.plan.initial.text,
            "subject": self.plan.subject.text,
            "fixed_by_prompt": dict(self.plan.fixed),
            "counterfactuals": [
                {"axis": prompt.axis, "attribute": prompt.attribute, "prompt": prompt.text}
                for prompt in self.plan.counterfactuals
            ],
            "controls": [prompt.text for prompt in self.plan.controls],
            "captions": {axis.name: self.captions(axis) for axis in self.axes.axes},
            "remarks": list(self.remarks),
        }


def starter(name: str, subject: SubjectKind) -> str:
    """A commented axis set to start from, as YAML that passes the check.

    Raises:
        InputError: no axis set can have this name.
    """
    stripped = name.strip()
    if not stripped or len(stripped) > 100 or printable(stripped) != stripped:
        raise InputError(
            f"the name '{printable(name[:100])}' must be one line of 1 to 100 visible characters"
        )
    article = indefinite_article(subject)
    gate = f"Is there {article} {subject} in the image (yes or no)?"
    words = {
        "gate: GATE": f"gate: {gate}",
        "EXAMPLE": EXAMPLES[subject],
        "ARTICLE SUBJECT": f"{article} {subject}",
        "SUBJECT": subject,
        # Last, so that nothing is looked for in the user's own words.
        "name: NAME": f"name: {json.dumps(stripped, ensure_ascii=False)}",
    }
    text = resources.read_text("starters", "axes.yaml")
    for placeholder, value in words.items():
        text = text.replace(placeholder, value)
    return text


def write_starter(name: str, subject: SubjectKind, output: Path | None = None) -> Path:
    """Write `starter` to a new file and return its path.

    Args:
        name: of the axis set.
        subject: what the set is about.
        output: the file; NAME.yaml without it.

    Raises:
        InputError: the name is wrong, or the file already exists.
        ModelError: the file cannot be written.
    """
    text = starter(name, subject)
    path = Path(f"{slug(name)}.yaml") if output is None else output
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise InputError(f"{show_path(path)}: the file of an axis set must end in .yaml")
    refuse_foreign(path, option="name or -o FILE")
    return write_files(path.parent, {path.name: text.encode()}, option="name or -o FILE")[0]


def _remarks(axes: AxisSet) -> Iterator[Problem]:
    """What is no mistake of form but may not do what was meant."""
    for index, axis in enumerate(axes.axes):
        for location, text in _axis_remarks(axis, axes.subject):
            yield ("axes", index, *location), f"axis '{axis.name}': {text}"


def _axis_remarks(axis: Axis, subject: str) -> Iterator[Problem]:
    if axis.question is not None:
        yield from _question_remarks(axis, axis.question)
    noun = f"{indefinite_article(subject)} [{subject}]"
    for index, attribute in enumerate(axis.attributes):
        if attribute.prompt:
            continue
        place = ("attributes", index, "phrase")
        first, *others = attribute.phrase.lower().split()
        said = describe(axis, attribute.name, noun)
        clause = ends_phrase(first) or (bool(others) and is_participle(first))
        if attribute.placement == "before" and clause:
            yield place, f"'{said}': should '{attribute.phrase}' stand after the noun?"
        elif attribute.placement == "after" and not others and is_adjective(first):
            yield place, f"'{said}': should '{attribute.phrase}' stand before the noun?"
        elif not _is_seen(axis, said, attribute.name, subject):
            yield (
                place,
                f"a prompt that says '{said}' is not recognised as saying '{attribute.name}', so "
                "another attribute would be added beside it",
            )


def _is_seen(axis: Axis, said: str, attribute: str, subject: str) -> bool:
    """Whether a prompt with an attribute's phrase in it is known to fix that attribute."""
    head = re.search(rf"\b{subject}s?\b", said)
    if head is None:  # the noun itself carries the attribute: "a woman"
        return True
    bracketed = f"[{said[: head.end()]}]{said[head.end() :]}"
    try:
        clean, _ = strip_brackets(bracketed)
        return intervene(clean, find_subject(bracketed), axis).fixed == attribute
    except InputError:  # the phrase has brackets of its own
        return False


def _question_remarks(axis: Axis, question: str) -> Iterator[Problem]:
    """A question that lists choices should list those that are offered."""
    for listing in _OFFERED.findall(question):
        offered = [choice.strip() for choice in listing.split(",")]
        if not {*offered} & {*axis.names}:
            continue
        for name in axis.names:
            if name not in offered:
                yield ("question",), f"the question lists choices, but not '{name}'"
        for choice in offered:
            if choice not in axis.names:
                yield ("question",), f"the question lists '{choice}', which is not an attribute"
