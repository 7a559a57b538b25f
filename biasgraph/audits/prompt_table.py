"""Orders for pictures that are made elsewhere: the manifest of what has to be generated."""

from __future__ import annotations

from pathlib import Path

from biasgraph.audits.pipeline_options import PromptTableOptions
from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError, show_path
from biasgraph.io.writing import refuse_foreign, write_files
from biasgraph.prompts.controls import usual_number
from biasgraph.prompts.counterfactuals import plan_prompts
from biasgraph.prompts.prompt_lists import PromptList
from biasgraph.runs.pictures.layouts import MANIFEST
from biasgraph.runs.pictures.picture_paths import manifest_of


def write_orders(options: PromptTableOptions) -> tuple[Path, int]:
    """Write the manifest for a prompt or a list of them; a folder as target gets a manifest.csv.

    Returns:
        Where it is, and how many prompts it names, counterfactuals among them.

    Raises:
        InputError: an option is wrong, or the file exists with other contents.
        ModelError: the manifest cannot be written.
    """
    prompt, prompts, target = options.prompt, options.prompts, options.target
    if (prompt is None) == (prompts is None):
        raise InputError("give either --prompt 'a librarian' or --prompts occupations")
    axes = load_axis_set(options.axes)
    axes = axes.only(options.only) if options.only else axes
    controls = usual_number(axes) if options.controls is None else options.controls
    if prompts is not None:
        plans = PromptList.of(prompts).plans(axes, controls=controls)
    else:
        plans = [plan_prompts(str(prompt), axes, controls)]
    path = target / MANIFEST if target.is_dir() else target
    if path.suffix.lower() != ".csv":
        raise InputError(f"--to {show_path(target)}: give a name that ends in .csv")
    content = manifest_of(plans, options.images, options.seed)
    refuse_foreign(
        path, lambda path: path.is_file() and path.read_bytes() == content, "this manifest",
        option="--to",
    )  # fmt: skip
    write_files(path.parent, {path.name: content}, option="--to")
    return path, sum(len(plan.prompts) for plan in plans)
