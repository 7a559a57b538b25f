"""Pictures that are there already as the work of a build: its prompts, and the images of each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import yaml

from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.errors import InputError, list_words, printable, show_path
from biasgraph.models.folder import FolderGenerator, generator, withheld_seed
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.prompts.controls import rewordings
from biasgraph.prompts.counterfactuals import Prompt, PromptPlan, plan_prompts
from biasgraph.prompts.subject import Subject
from biasgraph.runs.ledger_rows import GivenPicture
from biasgraph.runs.pictures.inspection import (
    NAMED,
    PICTURES,
    Inspection,
    describe_left_out,
    inspect_files,
    read_inspection,
)
from biasgraph.runs.pictures.layouts import (
    CONTROL,
    MANIFEST,
    OWN,
    TIBET_INITIAL,
    Layout,
    PictureSet,
    key_of,
    read_folders,
)
from biasgraph.runs.pictures.listing import Listing
from biasgraph.runs.pictures.manifest import read_manifest
from biasgraph.runs.wanted_images import prompt_rows

if TYPE_CHECKING:
    from biasgraph.runs.progress import Progress

AXES = "occupation"
TWICE = "with the same bytes as another picture of their set"
AXES_FILE = "axes.yaml"
"""The file of a run that holds such a set, for commands that ask for it with --axes."""


@dataclass(frozen=True)
class PictureSets:
    """What a folder's pictures make of a build.

    Attributes:
        axes: what is asked about them.
        plans: the prompts.
        given: prompt id -> the pictures of it, in their order.
        generator: hands them out.
        inspection: what the files hold.
        notes: what was left out or changed.
    """

    axes: AxisSet
    plans: tuple[PromptPlan, ...]
    given: Mapping[str, Sequence[GivenPicture]]
    generator: FolderGenerator
    inspection: Inspection
    notes: tuple[str, ...]

    def files(self, images: Mapping[str, str]) -> dict[str, bytes]:
        """What a run keeps of it, by name: what was seen, and axes that no file has yet.

        Args:
            images: image id -> the path of its picture.
        """
        kept = {PICTURES: self.inspection.to_bytes(images)}
        if self.axes.name == OWN:
            record = self.axes.model_dump(mode="json", exclude_defaults=True)
            text = yaml.safe_dump(record, sort_keys=False, allow_unicode=True, width=100)
            kept[AXES_FILE] = text.encode()
        return kept

    def find_shared(self, plans: Sequence[PromptPlan], images: int) -> list[str]:
        """The pictures that several of the prompts' sets have among their first `images`.

        Each with its paths: "initial/0.png = gender/male/3.png".
        """
        places: dict[int, list[str]] = {}
        for row in (row for plan in plans for row in prompt_rows(plan.prompts)):
            for picture in self.given.get(row.id, ())[:images]:
                if picture.seed not in self.generator.withheld:
                    places.setdefault(picture.seed, []).append(picture.source)
        return [" = ".join(paths) for paths in places.values() if len(paths) > 1]

    @property
    def largest(self) -> int:
        """The number of pictures in the largest set."""
        return max(map(len, self.given.values()))


def name_of(spec: str) -> str:
    """What a folder is called: the last part of its path."""
    path = Path(Spec(spec).rest).expanduser()
    folder = path.parent if path.suffix.lower() == ".csv" else path
    return printable(folder.resolve().name) or "pictures"


def manifest_in(spec: str) -> Path | None:
    """The table that says which picture is what, where the folder that `spec` names has one."""
    path = Path(Spec(spec).rest).expanduser()
    if path.suffix.lower() == ".csv" and not path.is_dir():
        return path
    return path / MANIFEST if os.path.isfile(path / MANIFEST) else None  # also of a name too long


def read_layout(spec: str, axes: AxisSet | None, prompt: str | None) -> Layout:
    """What lies in the folder that `spec` names.

    Raises:
        InputError: as `read_manifest`, `read_tibet` and `read_folders`.
    """
    if (manifest := manifest_in(spec)) is not None:
        listing = Listing.of(manifest.parent)
        return read_manifest(manifest, listing, axes or load_axis_set(AXES), prompt)
    listing = Listing.of(Path(Spec(spec).rest).expanduser())
    if any(key_of(name) == key_of(TIBET_INITIAL) for name in listing.folders()):
        from biasgraph.runs.pictures.tibet_folder import read_tibet

        return read_tibet(listing, axes, prompt)
    return read_folders(listing, axes or load_axis_set(AXES), prompt)


def read_picture_sets(
    spec: str,
    *,
    axes: AxisSet | None,
    only: Sequence[str] | None,
    prompt: str | None,
    controls: int | None,
    options: ModelOptions,
    run: Path,
    progress: Progress | None = None,
    plans_only: bool = False,
) -> PictureSets:
    """Read a folder for the build whose run is in `run`.

    prompt: what the pictures were made from, or, of several prompts, which one to look at.
    controls: how many sets of neutral rewordings to look at; all that are there unless given.
    plans_only: nobody is going to be shown the pictures.
    Raises InputError for what is no folder of pictures or lies in it wrongly; Interrupted.
    """
    made_by = generator(Spec(spec), options)
    layout = read_layout(spec, axes, prompt)
    chosen = layout.axes.only(only) if only else layout.axes
    _refuse_missing_controls(layout, controls)
    prompts = {text: _in_order(own, chosen, controls) for text, own in layout.prompts.items()}
    root, sets = layout.root, [pictures for own in prompts.values() for pictures in own]
    files = [path for pictures in sets for path in pictures.files]
    known = read_inspection(run, root, made_by.max_pixels)
    kept = None if plans_only else made_by.kept
    inspection = inspect_files(root, files, made_by.max_pixels, known, progress, kept)
    plans, given, again = [], dict[str, list[GivenPicture]](), list[str]()
    for text, own in prompts.items():
        once = [_once(pictures, inspection, again) for pictures in own]
        plan, pictures_of = _plan(text or name_of(spec), once, chosen, inspection)
        plans.append(plan)
        given |= pictures_of
    if not any(given.values()):
        raise InputError(
            f"{show_path(root)} contains no readable picture: "
            + ("; ".join(inspection.notes()) or "its folders are empty")
        )
    made_by.files = {
        seen.look.seed: root / path
        for path, seen in inspection.seen.items()
        if inspection.is_picture(path)
    }
    made_by.withheld = {withheld_seed(why): why for pictures in sets for why in pictures.withheld}
    notes = [
        *_describe_left_out(layout),
        *inspection.notes(),
        *([describe_left_out(TWICE, again)] if again else []),
    ]
    return PictureSets(chosen, tuple(plans), given, made_by, inspection, tuple(notes))


def _refuse_missing_controls(layout: Layout, controls: int | None) -> None:
    there = max(sum(one.control is not None for one in own) for own in layout.prompts.values())
    if controls is not None and controls > there:
        raise InputError(
            f"--controls {controls}: {show_path(layout.root)} has {there} sets of neutral "
            f"rewordings; put them into folders of {CONTROL}/, or name them in a {MANIFEST}"
        )


def _in_order(sets: Sequence[PictureSet], axes: AxisSet, controls: int | None) -> list[PictureSet]:
    """The sets of these axes only, in their order, the initial one first and controls last."""
    arms = [("", ""), *((axis.name, name) for axis in axes.axes for name in axis.names)]
    by_arm = {(own.axis, own.attribute): own for own in sets if own.control is None}
    neutral = [own for own in sets if own.control is not None]
    return [*(by_arm[arm] for arm in arms if arm in by_arm), *neutral[:controls]]


def _once(pictures: PictureSet, inspection: Inspection, again: list[str]) -> PictureSet:
    """The set with the first picture of equal bytes only; the paths of others go to `again`."""
    first: dict[str | None, str] = {}
    files = []
    for path in pictures.files:
        sha256 = inspection.seen[path].look.sha256
        if inspection.is_picture(path) and first.setdefault(sha256, path) != path:
            again.append(path)
        else:
            files.append(path)
    return replace(pictures, files=tuple(files))


def _plan(
    text: str, sets: Sequence[PictureSet], axes: AxisSet, inspection: Inspection
) -> tuple[PromptPlan, dict[str, list[GivenPicture]]]:
    """The plan of one initial prompt, and its pictures by prompt id."""
    planned = _plan_prompt(text, axes)
    texts = {(made.axis, made.attribute): made.text for made in planned.counterfactuals}
    initial = planned.initial
    counterfactuals = tuple(
        Prompt(
            pictures.text
            or texts.get((pictures.axis, pictures.attribute))
            or f"{initial.text} ({pictures.axis}: {pictures.attribute})",
            "counterfactual",
            pictures.axis,
            pictures.attribute,
        )
        for pictures in sets
        if pictures.axis
    )
    neutral = {key_of(made.text): made.text for made in planned.controls}
    controls = tuple(
        Prompt(
            pictures.text
            or neutral.get(key_of(pictures.control))
            or f"{initial.text} (control{pictures.control and f': {pictures.control}'})",
            "control",
        )
        for pictures in sets
        if pictures.control is not None
    )
    plan = replace(planned, counterfactuals=counterfactuals, controls=controls)
    given = {
        row.id: [
            GivenPicture(inspection.seen[path].look.seed, printable(path))
            for path in pictures.files
            if inspection.is_picture(path)
        ]
        + [
            GivenPicture(withheld_seed(why), f"withheld: {printable(why)}")
            for why in pictures.withheld
        ]
        for row, pictures in zip(prompt_rows(plan.prompts), sets, strict=True)
    }
    return plan, given


def _plan_prompt(text: str, axes: AxisSet) -> PromptPlan:
    """The plan of a prompt; one without counterfactuals where its subject cannot be told."""
    try:
        return plan_prompts(text, axes, len(rewordings(axes)))
    except InputError:  # a name, or a prompt of another kind: it only labels what is there
        whole = Subject(text, text, 0, len(text), False, 0, 0, "unknown")
        return PromptPlan(Prompt(text, "initial"), (), whole, MappingProxyType({}))


def _describe_left_out(layout: Layout) -> list[str]:
    notes = []
    if layout.missing:
        some = len(layout.missing)
        pictures = "1 picture" if some == 1 else f"{some:,} pictures"
        names = list_words(layout.missing, NAMED)
        notes.append(f"{pictures} listed in the manifest not found ({names})")
    return notes + [describe_left_out(reason, paths) for reason, paths in layout.left_out.items()]
