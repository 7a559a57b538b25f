"""`biasgraph sandbox`: the built-in models' planted truth, and their training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from biasgraph.commands.click_options import FilePath, output_option
from biasgraph.commands.output import Output, json_option
from biasgraph.errors import InputError
from biasgraph.sandbox import PARTS

if TYPE_CHECKING:
    from biasgraph.data.findings import ScreenPart


@click.group()
def sandbox() -> None:
    """The built-in models: toys whose biases are known because they were planted."""


@sandbox.command("truth")
@click.argument("run", required=False, type=FilePath(file_okay=False))
@click.option("--prompt", metavar="TEXT", help="A prompt in the sandbox's words: 'a librarian'.")
@click.option(
    "--world",
    type=click.Choice(["stereotyped", "debiased"]),
    help="The planted world to enumerate. Default: stereotyped.",
)
@json_option
def truth_command(run: Path | None, prompt: str | None, world: str | None, output: Output) -> None:
    """Print a prompt's exact distributions and true graph in a planted world.

    Every number is enumerated from the world's structural causal model: what an audit of
    infinitely many images would find if the generator had learnt its world exactly. With RUN, an
    audit of the sandbox, the same beside what that audit found and, for the occupations where this
    was measured, beside what the generator draws (2,000 images a prompt).
    """
    if (run is None) == (prompt is None) or (run is not None and world is not None):
        raise InputError("name a run, or a prompt with --prompt and its world with --world")
    if run is not None:
        from biasgraph.data.result import load
        from biasgraph.sandbox.run_truth import compare_with_truth

        output.present(compare_with_truth(load(run)), _summarize_run)
    else:
        output.present(_document(str(prompt), world or "stereotyped"), _summarize)


def _document(prompt: str, world: str) -> dict[str, Any]:
    from biasgraph.data.axes import load_axis_set
    from biasgraph.sandbox.planted_truth import metrics_of, truth
    from biasgraph.sandbox.run_truth import TOY
    from biasgraph.sandbox.scene_captions import read_scene
    from biasgraph.sandbox.world import AXES
    from biasgraph.sandbox.world import world as planted

    scene = read_scene(prompt)
    exact = truth(planted(world), scene, metrics_of(load_axis_set("occupation")))

    def shares(distribution: Any) -> dict[str, dict[str, float]]:
        return {
            axis: dict(zip(AXES[axis], distribution[axis].tolist(), strict=True)) for axis in AXES
        }

    return {
        "toy": TOY,
        "prompt": prompt,
        "world": world,
        "occupation": scene.occupation,
        "interventions": dict(scene.do),
        "contexts": list(scene.contexts),
        "initial": shares(exact.initial),
        "counterfactuals": [
            {"axis": axis, "attribute": attribute, "distribution": shares(distribution)}
            for (axis, attribute), distribution in exact.arms.items()
        ],
        "pairs": [asdict(pair) | {"is": pair.sensitivity} for pair in exact.pairs],
    }


def _summarize(document: dict[str, Any]) -> Iterator[ScreenPart]:
    """The truth in parts: shares, pairs with a true Cramér's V of 0.1 or more, and how many."""
    from biasgraph.data.findings import Heading, Table, Text

    yield Heading(f"'{document['prompt']}' in the {document['world']} world of the sandbox, a toy")
    rows = [
        (axis, ", ".join(f"{name} {share:.3f}" for name, share in shares.items()))
        for axis, shares in document["initial"].items()
    ]
    yield Table(("Axis", "Exact shares of the initial prompt"), rows)
    strengths = [pair["cramers_v"] or 0 for pair in document["pairs"]]
    columns = ("cramers_v", "w1_before", "w1_after")
    moved = [pair for pair in document["pairs"] if (pair["cramers_v"] or 0) >= 0.1]
    edges = [
        (f"{pair['source']} -> {pair['target']}", *map(pair.get, columns), f"{pair['is']:+.3f}")
        for pair in sorted(moved, key=lambda pair: -pair["cramers_v"])
    ]
    yield Table(("Edge", "Cramér's V", "W1 before", "W1 after", "IS"), edges, numeric=(1, 2, 3, 4))
    yield Text(
        f"{len(moved)} of {len(strengths)} pairs have a true Cramér's V of 0.1 or more; "
        f"{sum(strength < 1e-9 for strength in strengths)} are independent. Ideal: uniform. IS "
        "above 0 moves the target towards it."
    )


def _summarize_run(document: dict[str, Any]) -> Iterator[ScreenPart]:
    """Planted, realised and found, side by side: shares, and the pairs that are edges."""
    from biasgraph.data.findings import Heading, Table, Text
    from biasgraph.report.words import with_ci

    yield Heading(f"'{document['prompt']}' in the {document['world']} world of the sandbox, a toy")
    kinds = ("planted", "realised", "found")
    rows = [
        (
            axis["axis"] if not place else "",
            attribute,
            *(_at(axis[kind], place) for kind in kinds[:2]),
            with_ci(_at(axis["found"], place), _at(axis["found_ci"], place)),
        )
        for axis in document["axes"]
        for place, attribute in enumerate(axis["attributes"])
    ]
    yield Table(("Axis", "Attribute", "Planted", "Realised", "Found"), rows, numeric=(2, 3, 4))
    strong = [pair for pair in document["pairs"] if (pair["cramers_v_planted"] or 0) >= 0.1]
    pairs = strong + [pair for pair in document["pairs"] if pair["edge"] and pair not in strong]
    for title, number in (("Cramér's V", "cramers_v"), ("IS", "is")):
        told = [
            (
                f"{pair['source']} -> {pair['target']}",
                "yes" if pair["edge"] else "no",
                *(pair[f"{number}_{kind}"] for kind in kinds[:2]),
                with_ci(pair[f"{number}_found"], pair.get(f"{number}_found_ci")),
            )
            for pair in sorted(pairs, key=lambda pair: -(pair["cramers_v_planted"] or 0))
        ]
        columns = ("Pair", "Edge found", f"{title}: planted", "realised", "found")
        yield Table(columns, told, numeric=(2, 3, 4))
    yield Text(
        "Pairs that are edges, or have a planted Cramér's V of 0.1 or more. Realised: counted over "
        "2,000 images a prompt, with the answers of the same judge; - where that was not measured."
    )
    if not document["comparable"]:
        yield Text("The run has another ideal or metric, so only its own IS is shown.")


def _at(values: list[Any] | None, place: int) -> Any:
    return None if values is None else values[place]


@sandbox.command("train")
@click.option(
    "--work",
    type=FilePath(file_okay=False),
    required=True,
    metavar="DIR",
    help="Checkpoints and finished parts; rerun the same command to resume.",
)
@click.option(
    "--part",
    type=click.Choice(PARTS),
    multiple=True,
    help="Train this part only; repeatable. Default: all, in order.",
)
@output_option("Where the fp16 weights go when all parts are done. Default: WORK/weights.")
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads. Default: torch's own.")
def train_command(
    work: Path, part: tuple[str, ...], target: Path | None, threads: int | None
) -> None:
    """Train the sandbox's models from scratch, reproducibly from seeds.

    Needs a checkout of biasgraph. On two CPU cores it takes about two hours; docs/sandbox.md has
    the times and what was measured.
    """
    try:
        from biasgraph.sandbox.training import parts
    except ModuleNotFoundError as error:
        if error.name != "biasgraph.sandbox.training":
            raise
        raise InputError(
            "training the sandbox needs a checkout of biasgraph: an installed package has only "
            "the trained weights"
        ) from None
    import torch

    if threads is not None:
        torch.set_num_threads(threads)
    for name in part or PARTS:
        parts.train(name, work)
        click.echo(f"{name}: done", err=True)
    if all((work / name).is_dir() for name in PARTS):
        out = target or work / "weights"
        parts.export(work, out)
        click.echo(f"Weights: {out}")
