"""Builds the reports of the gallery: python docs/build_gallery.py FOLDER.

The pictures of Stable Diffusion are cut from the sheets in examples/faces; everything else is the
sandbox's, a toy's. Runs are kept beside FOLDER, and what they have is not made again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import numpy as np
import pandas as pd

from biasgraph.commands import main
from biasgraph.prompts.grammar import indefinite_article
from biasgraph.sandbox.world import AXES, OCCUPATIONS, Scene, sample, world

FACES = Path(__file__).resolve().parents[1] / "examples" / "faces"
FACE = "A photo of the face of a electrical and electronics repairer, a person"
NAMES = ("librarian", "occupations", "faces", "debiased", "compared")
SHOWN = ("gender", "age", "clothing")
"""The axes of the page about many prompts."""
PEOPLE = 48
"""That are drawn for each of its prompts."""


def build() -> None:
    """Build the results in this folder, each under the name that the gallery gives it."""
    toy = ["--only", "gender,bodytype,environment,clothing", "-o", "librarian"]
    _run("build", "--prompt", "a librarian", *toy)
    people_table().to_csv("occupations.csv", index=False)
    fast = ["--axes", "occupation", "--only", ",".join(SHOWN), "--bootstrap", "500"]
    _run("build", "--answers", "occupations.csv", *fast, "-o", "occupations")
    subprocess.run([sys.executable, FACES / "pictures.py", "pictures"], check=True)  # noqa: S603
    shutil.copyfile(FACES / "axes.yaml", "axes.yaml")
    shutil.copyfile(FACES / "labels.csv", "labels-by-a-model.csv")  # reports name the file
    judge = ["--axes", "axes.yaml", "--vqa", "human:labels-by-a-model.csv"]
    for model, name in {"original": "faces", "debiased": "debiased"}.items():
        _run("build", "--model", f"folder:pictures/{model}", "--prompt", FACE, *judge, "-o", name)
    _run("compare", "--paired", "faces", "debiased", "-o", "compared")


def people_table() -> pd.DataFrame:
    """Answers about people drawn from the sandbox's planted world: no picture is made of them."""
    rng, model = np.random.default_rng(0), world("stereotyped")
    places = {axis: place for place, axis in enumerate(AXES)}
    rows = []
    for occupation in OCCUPATIONS:
        prompt = f"{indefinite_article(occupation)} {occupation}"
        arms = [("", ""), *((axis, name) for axis in SHOWN for name in AXES[axis])]
        for axis, attribute in arms:
            people = sample(
                model, Scene(occupation, {axis: attribute} if axis else {}), PEOPLE, rng
            )
            role = "counterfactual" if axis else "initial"
            for number, person in enumerate(people):
                image = f"{prompt}/{axis or 'initial'}-{attribute}-{number}"
                told = [(target, AXES[target][person[places[target]]]) for target in SHOWN]
                start = ("sandbox:stereotyped", prompt, role, axis, attribute, image)
                rows += [(*start, *answer) for answer in told]
    columns = ["model", "prompt", "role", "axis", "attribute", "image", "target", "answer"]
    return pd.DataFrame(rows, columns=columns)


def _run(*arguments: str) -> None:
    if (code := main([*arguments, "-q"])) != 0:
        raise SystemExit(code)


def copy_pages(runs: Path, reports: Path) -> None:
    """Put the pages, and nothing else of the results, into the gallery."""
    for name in NAMES:
        for page in (runs / name).rglob("*.html"):
            target = reports / page.relative_to(runs)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, target)


if __name__ == "__main__":
    gallery = Path(sys.argv[1]).absolute()
    runs = gallery.with_name(f"{gallery.name}-runs")
    runs.mkdir(parents=True, exist_ok=True)
    with chdir(runs):  # pages say where pictures lie: nothing about this machine
        build()
    copy_pages(runs, gallery / "reports")
