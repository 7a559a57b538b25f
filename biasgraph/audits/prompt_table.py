"""Orders for pictures that are made elsewhere: the manifest of what has to be generated."""

from __future__ import annotations

from pathlib import Path

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError, printable
from biasgraph.io.writing import write_files, writing_to
from biasgraph.prompts.counterfactuals import plan_prompts
from biasgraph.prompts.prompt_lists import PromptList
from biasgraph.runs.pictures.layouts import MANIFEST
from biasgraph.runs.pictures.picture_paths import manifest_of


def write_orders(
    target: Path,
    prompt: str | None,
    prompts: str | None,
    axes: str,
    only: str | None,
    images: int,
    seed: int,
) -> tuple[Path, int]:
    """Write the manifest for a prompt, or for a list of them; where it is, and how many prompts
    it names, counterfactuals among them.

    A folder as `target` gets a manifest.csv. Raises InputError: what was given is wrong, or
    another file is there already; ModelError: it cannot be written.
    """
    if (prompt is None) == (prompts is None):
        raise InputError("give either --prompt 'a librarian' or --prompts occupations")
    chosen = load_axis_set(axes)
    if only is not None:
        chosen = chosen.only([name.strip() for name in only.split(",") if name.strip()])
    if prompts is not None:
        plans = PromptList.of(prompts).plans(chosen)
    else:
        plans = [plan_prompts(str(prompt), chosen)]
    path = target / MANIFEST if target.is_dir() else target
    if path.suffix.lower() != ".csv":
        raise InputError(f"--to {printable(str(target))}: give a name that ends in .csv")
    content = manifest_of(plans, images, seed)
    with writing_to(path.parent, "--to"):
        if path.exists() and (not path.is_file() or path.read_bytes() != content):
            raise InputError(
                f"{printable(str(path))} is there already and holds something else; nothing was "
                "written: give another --to"
            )
    write_files(path.parent, {path.name: content}, option="--to")
    return path, sum(len(plan.prompts) for plan in plans)
