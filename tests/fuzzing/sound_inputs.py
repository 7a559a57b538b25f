"""A folder with a sound input of every kind, and the commands that read each."""

# ruff: noqa: E501  (tables)

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.fuzzing.mutations import (
    Random,
    break_bytes,
    break_csv,
    break_json,
    break_parquet,
    break_yaml,
    nasty_text,
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
SETS = ("initial", "gender/male", "gender/female", "age/young", "age/old")
EACH = 4
QUICK = ("--bootstrap", "100", "--min-valid", "2", "--annotate", "openbias")
FOLDER = ("--model", "folder:pics", "--vqa", "human:labels.csv", "--prompt", "a librarian")
BUILD = ("build", *FOLDER, "--axes", "axes.yaml", *QUICK)
TABLE = ("build", "--answers", "answers.csv", *QUICK, "-o", "out")
PROMPT = "a photo of a librarian"


@dataclass(frozen=True)
class Kind:
    """Inputs of one kind.

    Attributes:
        name: What they are called in the counts.
        files: Which are broken, as a pattern below the folder; none where the text {} of a command
            is.
        commands: What reads them.
        breaks: Breaks their bytes; None for a ledger.
        writes: What these commands may write besides.
        weight: How often it is tried.
        replaced: Whether a directory, a FIFO or a link may stand in a file's place.
    """

    name: str
    files: str
    commands: tuple[tuple[str, ...], ...]
    breaks: Callable[[bytes, Random], bytes] | None = break_bytes
    writes: tuple[str, ...] = ()
    weight: int = 2
    replaced: bool = False


SHOW = ("show", "run")
SHOW_JSON = ("show", "run", "--json")
REPORT = ("report", "run", "-o", "out/report.html")
LABEL = ("label", "run", "-o", "out/label.html", "--sample", "4")
EXPORT = (
    "export",
    "run",
    "--to",
    "json,graphml,gexf,csv,parquet,dot,mermaid,cyclonedx,everyevalever",
    "-o",
    "out",
)
FIGURES = ("export", "run", "--to", "svg,card", "-o", "out")
PICTURES = ("export", "run", "--to", "folder", "-o", "out")
COMPARE = ("compare", "other", "run", "-o", "out", "--fail-if", "amplification>9")
BASELINE = ("compare", "run", "other", "-o", "out", "--json")
PLAN = ("plan", "run", "-o", "out")
ROBUSTNESS = ("robustness", "run", "--draws", "2", "-o", "out")
CHECK = (
    "agreement",
    "run",
    "--with",
    "second.csv",
    "-o",
    "out/agreement.json",
    "--bootstrap",
    "100",
)
LABELS = (
    "agreement",
    "run",
    "--with",
    "labels.csv",
    "-o",
    "out/agreement.json",
    "--bootstrap",
    "100",
)
ANNOTATE = ("annotate", "run", "openbias", "--axes", "axes.yaml")
AGAIN = (*BUILD, "-o", "run")
DRY = (*BUILD, "-o", "run", "--dry-run")
CORRECT = (*TABLE, "--correct")
OPENBIAS = ("openbias", "--images", "1", "-o", "out")
SCORE = ("minethegap", "score", "--images", "2", "--vary", "gender", "-o", "out")
PROPOSE = ("axes", "propose", PROMPT, "--llm", "sandbox", "-o")
READ = (SHOW, SHOW_JSON, REPORT, EXPORT, COMPARE, BASELINE, PLAN, ROBUSTNESS)

KINDS = (
    Kind("run.json", "run/run.json", (SHOW, REPORT, LABEL, PICTURES, FIGURES, PLAN, LABELS, ANNOTATE, AGAIN, DRY), break_json, ("run",), 6, True),
    Kind("graph.json", "run/graph.json", (*READ, FIGURES, ANNOTATE, CHECK), break_json, ("run",), 12, True),
    Kind("inputs.json", "run/inputs.json", (AGAIN,), break_json, ("run",), 2, True),
    Kind("pictures.json", "run/pictures.json", (AGAIN, REPORT), break_json, ("run",), 2, True),
    Kind("answers of a run", "run/answers.csv", (*READ, CHECK, LABEL), break_csv, (), 4, True),
    Kind("pairs.csv", "run/pairs.csv", READ, break_csv, (), 4, True),
    Kind("tables.csv", "run/tables.csv", READ, break_csv, (), 4, True),
    Kind("ledger.sqlite", "run/ledger.sqlite", (SHOW, REPORT, LABEL, PICTURES, EXPORT, LABELS, AGAIN, ANNOTATE), None, ("run",), 8, True),
    Kind("pictures of a run", "run/images/*", (REPORT, LABEL, PICTURES, LABELS, AGAIN), break_bytes, ("run",), 4, True),
    Kind("agreement of a run", "run/agreement.json", (REPORT, SHOW, TABLE, AGAIN), break_json, ("run",), 3, True),
    Kind("answers table", "answers.csv", (TABLE,), break_csv, (), 4),
    Kind("Parquet", "answers.parquet", (("build", "--answers", "answers.parquet", *QUICK, "-o", "out"), ("agreement", "run", "--with", "answers.parquet", "-o", "out/a.json", "--bootstrap", "100")), break_parquet, (), 4),
    Kind("axis set", "axes.yaml", (("axes", "check", "axes.yaml"), ("axes", "show", "axes.yaml"), ("axes", "check", "axes.yaml", "--prompt", PROMPT, "--json"), DRY, (*TABLE, "--axes", "axes.yaml")), break_yaml, (), 6),
    Kind("ideals", "ideal.yaml", ((*TABLE, "--ideal", "ideal.yaml"),), break_yaml, (), 3),
    Kind("targets", "targets.yaml", ((*PLAN, "--targets", "targets.yaml"),), break_yaml, (), 2),
    Kind("reference CSV", "reference.csv", ((*TABLE, "--reference", "reference.csv"),), break_csv, (), 2),
    Kind("reference YAML", "reference.yaml", ((*TABLE, "--reference", "reference.yaml"),), break_yaml, (), 2),
    Kind("labels", "labels.csv", (LABELS, (*BUILD, "-o", "out", "--dry-run"), (*AGAIN, "--correct", "labels.csv")), break_csv, ("run",), 3),
    Kind("prompt list", "prompts.txt", (("prompts", "--prompts", "prompts.txt", "--only", "gender", "--images", "1", "--to", "out/orders.csv"), ("build", "--prompts", "prompts.txt", "--only", "gender", "--dry-run"), ("words", "--prompts", "prompts.txt", "--dry-run", "-o", "out")), break_bytes, (), 3),
    Kind("manifest", "pics/manifest.csv", ((*BUILD, "-o", "out", "--dry-run"), (*BUILD, "-o", "out")), break_csv, (), 4),
    Kind("pictures", "pics/**/*.png", ((*BUILD, "-o", "out"), (*BUILD, "-o", "out", "--dry-run")), break_bytes, (), 4, True),
    Kind("TIBET folder", "P_1/P_1.json", (("build", "--model", "folder:P_1", "--vqa", "human:labels.csv", "--dry-run", "-o", "out"),), break_json, (), 3),
    Kind("agreement.json", "agreement.json", ((*CORRECT, "agreement.json"),), break_json, (), 3),
    Kind("captions JSON", "captions.json", ((*OPENBIAS, "--captions", "captions.json"),), break_json, (), 2),
    Kind("captions CSV", "captions.csv", ((*OPENBIAS, "--captions", "captions.csv"),), break_csv, (), 2),
    Kind("captions", "captions.txt", ((*OPENBIAS, "--captions", "captions.txt"),), break_bytes, (), 1),
    Kind("MineTheGap table", "truth.csv", ((*SCORE, "--prompts", "prompts.txt", "--truth", "truth.csv"),), break_csv, (), 2),
    Kind("transcripts", "proposed/transcripts/*", ((*PROPOSE, "proposed/again.yaml"),), break_json, ("proposed",), 2, True),
    Kind("model configurations", "weights/*.json", ((*BUILD, "--vqa", "clip:weights", "-o", "out", "--dry-run"), (*BUILD, "--vqa", "clip:weights", "--images", "1", "-o", "out")), break_json, (), 2),
    Kind("pipeline configurations", "pipeline/**/*.json", (("build", "--prompt", PROMPT, "--model", "diffusers:pipeline", "--vqa", "human:labels.csv", "--only", "gender", "--images", "1", "-o", "out", "--dry-run"),), break_json, (), 2),
    Kind("weights", "weights/*.safetensors", ((*BUILD, "--vqa", "clip:weights", "--images", "1", "-o", "out"),), break_bytes, (), 1),
    Kind("gates", "", (("compare", "other", "run", "-o", "out", "--fail-if", "{}"), ("compare", "other", "run", "-o", "out", "--fail-if", "worse:{}>0.1"), ("compare", "other", "run", "-o", "out", "--fail-if", "amplification>{}")), None, (), 2),
    Kind("specs", "", tuple(("build", "--prompt", PROMPT, "--dry-run", "-o", "out", option, spec) for option in ("--model", "--vqa", "--llm", "--embedder") for spec in ("{}", "{}:x", "folder:{}", "clip:{}", "openai:{}@{}")), None, (), 3),
    Kind("words", "", (
        *(("words", "--prompt", PROMPT, "--dry-run", "-o", "out", option, "{}") for option in ("--axis", "--axes", "--by", "--images", "--seed", "--vqa", "{}")),
        ("words", "--prompt", "{}", "--dry-run", "-o", "out"), ("words", "--prompt", "an old {} in a kitchen", "--dry-run", "-o", "out"),
        ("words", "--prompts", "{}", "--dry-run"), ("words", "{}"),
    ), None, (), 2),
    Kind("options", "", (
        *(("build", "--prompt", PROMPT, "--dry-run", "-o", "out", option, "{}") for option in ("--axes", "--only", "--ideal", "--reference", "--correct", "--alpha", "--min-is", "--annotate", "--vary", "--images", "--seed", "--bootstrap", "--metric", "--size", "--budget", "--base-url", "--scheduler", "--device", "--lora", "--preset", "{}")),
        ("build", "--prompt", "{}", "--dry-run", "-o", "out"), ("build", "--prompt", "a {} librarian", "--dry-run", "-o", "out"),
        ("build", "--prompt", PROMPT, "--dry-run", "-o", "out/{}"), ("build", "--prompts", "{}", "--dry-run", "-o", "out"),
        ("sandbox", "truth", "--prompt", "{}"), ("axes", "propose", "{}", "-o", "out/a.yaml"), ("axes", "check", "{}"), ("axes", "show", "{}"),
        ("show", "{}"), ("report", "{}"), ("report", "run", "-o", "out/{}"), ("label", "run", "--only", "{}", "-o", "out/l.html"), ("export", "run", "--to", "{}", "-o", "out"),
        ("plan", "{}"), ("robustness", "{}"), ("robustness", "run", "--sizes", "{}", "-o", "out"), ("compare", "{}", "run", "-o", "out"), ("agreement", "run", "--with", "{}", "-o", "out/a.json"), ("annotate", "run", "{}"), ("annotate", "{}", "openbias"),
        ("minethegap", "score", "--prompts", "{}"), ("openbias", "--captions", "{}"), ("prompts", "--prompt", "{}", "--to", "out/p.csv"), ("prompts", "--prompt", PROMPT, "--to", "out/{}"), ("{}",), ("models", "{}"),
    ), None, ("run",), 8),
)  # fmt: skip


def fill(command: tuple[str, ...], rng: Random) -> tuple[str, ...]:
    """A command with broken texts where it has {}; what no argument can hold is left out."""
    text = nasty_text(rng).replace("\0", "")
    text = "".join(c for c in text if not "\ud800" <= c <= "\udfff") or "\udc80"
    if "out/{}" in command:
        text = text.replace("..", "")
    return tuple(part.replace("{}", text) for part in command)


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
