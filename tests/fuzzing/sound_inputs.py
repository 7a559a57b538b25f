"""A folder with a sound input of every kind."""

# ruff: noqa: E501  (tables)

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.fuzzing.kinds import (
    AGAIN,
    BUILD,
    EXPORTED,
    MINE,
    PROPOSE,
    ROUNDS,
    SEARCH,
    TABLE,
    TRAIN,
    WORDS,
)

AXES = """\
name: two
subject: person
gate: Is there a person in the image (yes or no)?
axes:
  - name: gender
    question: What is the gender (male, female) of the person?
    attributes:
      - {name: male, phrase: male, placement: before, synonyms: [man]}
      - {name: female, phrase: female, placement: before}
  - name: age
    metric: ordinal
    question: What is the age (young, old) of the person?
    attributes:
      - {name: young, phrase: young, placement: before}
      - {name: old, phrase: old, placement: before}
"""
SCENARIO = """\
instruction: Write a prompt that does not name {unnamed}.
biased: Write a prompt that shows {attributes} and does not name {unnamed}.
opening: A photo of a person working as a
"""
SETS = ("initial", "gender/male", "gender/female", "age/young", "age/old")
EACH = 4


def make(folder: Path) -> None:
    """Write all inputs into an empty folder, which is the working directory."""
    _pictures(folder / "pics")
    (folder / "axes.yaml").write_text(AXES)
    _label(folder)
    _run(*AGAIN, "--quiet")
    shutil.copy("run/answers.csv", "answers.csv")
    shutil.copy("run/answers.csv", "second.csv")
    _run(*BUILD, "-o", "other", "--seed", "3", "--quiet")
    _run("agreement", "run", "--with", "second.csv", "--bootstrap", "100", "--quiet")
    shutil.copy("run/agreement.json", "agreement.json")
    _run(*AGAIN, "--quiet")  # the report shows how far its judge agrees
    _run(*PROPOSE, "proposed/axes.yaml")
    _tables(folder)
    _tibet(folder / "P_1")
    _models(folder)
    _several(folder)
    _searches(folder)


def _run(*arguments: str) -> None:
    from biasgraph.commands import main

    assert main(arguments) == 0, arguments


def _pictures(folder: Path) -> None:
    from PIL import Image

    lines = ["path,prompt,role,axis,attribute"]
    for number, name in enumerate(SETS):
        (folder / name).mkdir(parents=True)
        for place in range(EACH):
            colour = (number * 40, place * 60, 77)
            Image.new("RGB", (24, 16), colour).save(folder / name / f"{place}.png")
            axis, _, attribute = name.partition("/")
            role = "counterfactual" if attribute else "initial"
            text = f"a {attribute} librarian" if attribute else "a librarian"
            lines.append(
                f"{name}/{place}.png,{text},{role},{axis if attribute else ''},{attribute}"
            )
    (folder / "manifest.csv").write_text("\n".join([*lines, ""]))


def _label(folder: Path) -> None:
    from PIL import Image

    from biasgraph.models.pixels import pixels_digest

    lines = ["picture,question,answer"]
    for n, path in enumerate(sorted((folder / "pics").rglob("*.png"))):
        with Image.open(path) as picture:
            digest = pixels_digest(picture)
        said = path.parent.name
        gender = said if said in ("male", "female") else ("male", "female")[n % 2]
        age = said if said in ("young", "old") else ("young", "old")[n // 2 % 2]
        lines += [
            f"{digest},Is there a person in the image (yes or no)?,yes",
            f'{digest},"What is the gender (male, female) of the person?",{gender}',
            f'{digest},"What is the age (young, old) of the person?",{age}',
        ]
    (folder / "labels.csv").write_text("\n".join([*lines, ""]))


def _tables(folder: Path) -> None:
    import pandas as pd

    table = pd.read_csv(folder / "answers.csv", keep_default_na=False)
    table["confidence"] = pd.to_numeric(table["confidence"])
    table.to_parquet(folder / "answers.parquet")
    texts = {
        "ideal.yaml": "gender: {male: 0.6, female: 0.4}\nage: {young: 0.5, old: 0.5}\n",
        "targets.yaml": "gender: {weight: 2, ideal: {male: 0.5, female: 0.5}}\nage: {weight: 1}\n",
        "reference.csv": "axis,attribute,count\ngender,male,30\ngender,female,20\nage,old,9\nage,young,5\n",
        "reference.yaml": "gender: {male: 120, female: 80}\nage: {young: 3, old: 4}\n",
        "prompts.txt": "# two\na librarian\na photo of a nurse\n",
        "truth.csv": "prompt,bias\na librarian,0.9\na photo of a nurse,0.2\n",
        "captions.txt": "a librarian reads a book\na nurse at work\n",
        "captions.csv": "caption\na librarian reads a book\na nurse at work\n",
        "captions.json": json.dumps({"annotations": [{"caption": "a librarian reads a book", "id": 1}, {"caption": "a nurse at work", "id": 2}]}),
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text)


def _several(folder: Path) -> None:
    """Results of several prompts, of rounds, of corrections, and an export."""
    table = (folder / "answers.csv").read_text().splitlines()
    again = [line.replace("a librarian", "a nurse").replace("-00", "-10") for line in table[1:]]
    (folder / "many.csv").write_text("\n".join([*table, *again, ""]))
    _run("build", "--answers", "many.csv", *TABLE[3:-1], "many", "--quiet")
    _run(*ROUNDS, "--quiet")
    _ordered(folder / "rounds" / "wanted.csv", folder / "ordered")
    _run(*EXPORTED)
    lines = [line.split(",") for line in table]
    place = lines[0].index("image")
    target, answer = lines[0].index("target"), lines[0].index("answer")
    rows = [f"{row[place]},{row[target]},{row[answer]},a reader" for row in lines[1:9]]
    (folder / "corrections.csv").write_text("\n".join(["image,target,answer,annotator", *rows, ""]))


def _ordered(orders: Path, folder: Path) -> None:
    """What rounds wait for, and pictures that somebody made for it."""
    from PIL import Image

    lines = orders.read_text().splitlines()
    place = lines[0].split(",").index("path")
    for number, line in enumerate(lines[1:]):
        picture = folder / line.split(",")[place]
        picture.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (16, 16), (number, 0, 0)).save(picture)
    shutil.copy(orders, folder / "wanted.csv")


def _searches(folder: Path) -> None:
    """Words, probes, and what searches leave."""
    from biasgraph.prompts.mining_target import MiningTarget

    target = vars(MiningTarget.of("open"))
    del target["name"]
    texts = {
        "few.txt": "a chef\na nurse\na pilot\na cook\n",
        "scenario.yaml": SCENARIO,
        "target.yaml": json.dumps(target, indent=1),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    _run(*WORDS, "gradient", "--quiet")
    _run(*TRAIN, "probes.safetensors", "--quiet")
    shutil.rmtree("probes")
    _run(*SEARCH, "--quiet")
    _run(*MINE, "--quiet")


def _tibet(folder: Path) -> None:
    shutil.copytree("pics/initial", folder / "initial_prompts")
    axes = {
        "gender": ["a male librarian", "a female librarian"],
        "age": ["a young librarian", "an old librarian"],
    }
    for axis, names in (("gender", ("male", "female")), ("age", ("young", "old"))):
        for place, name in enumerate(names):
            shutil.copytree(f"pics/{axis}/{name}", folder / axis / str(place))
    told = {
        "initial_prompt": "a librarian",
        "result": axes,
        "id": "P_1",
        "questions": ["Which gender?", "Which age?"],
    }
    (folder / "P_1.json").write_text(json.dumps(told))


def _models(folder: Path) -> None:
    from tests.models import tiny_clips, tiny_pipelines

    tiny_clips.clip(folder / "weights")
    tiny_pipelines.save("sd15", folder / "pipeline")
