"""The kinds of input, what reads each, and how it is broken."""

# ruff: noqa: E501  (tables)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.fuzzing.api_calls import API
from tests.fuzzing.mutations import (
    Random,
    break_bytes,
    break_csv,
    break_json,
    break_json_or_bytes,
    break_parquet,
    break_probes,
    break_yaml,
    nasty_text,
)

QUICK = ("--bootstrap", "100", "--min-valid", "2", "--annotate", "openbias")
FOLDER = ("--model", "folder:pics", "--vqa", "human:labels.csv", "--prompt", "a librarian")
BUILD = ("build", *FOLDER, "--axes", "axes.yaml", *QUICK)
TABLE = ("build", "--answers", "answers.csv", *QUICK, "-o", "out")
PROMPT = "a photo of a librarian"


OFTEN = 0.05


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
        replaced: How often a directory, a FIFO, a link or nothing stands in a file's place.
    """

    name: str
    files: str
    commands: tuple[tuple[str, ...], ...]
    breaks: Callable[[bytes, Random], bytes] | None = break_bytes
    writes: tuple[str, ...] = ()
    weight: int = 2
    replaced: float = 0.0


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
AGREEMENT = ("agreement", "run", "-o", "out/agreement.json", "--bootstrap", "100", "--with")
CHECK = (*AGREEMENT, "second.csv")
LABELS = (*AGREEMENT, "labels.csv")
ANNOTATE = ("annotate", "run", "openbias", "--axes", "axes.yaml")
AGAIN = (*BUILD, "-o", "run")
DRY = (*BUILD, "-o", "run", "--dry-run")
CORRECT = (*TABLE, "--correct")
OPENBIAS = ("openbias", "--images", "1", "-o", "out")
SCORE = ("minethegap", "score", "--images", "2", "--vary", "gender", "-o", "out")
PROPOSE = ("axes", "propose", PROMPT, "--llm", "sandbox", "-o")
SHOWN = (API, "show", "run")
SAVED = (API, "save", "run", "out/saved")
COMPARED = (API, "compare", "other", "run")
ANALYZED = (API, "analyze", "answers.csv")
PAIRED = ("compare", "other", "run", "--paired", "-o", "out")
REFERRED = (*TABLE, "--reference", "run")
LIST = (("list", "."), ("list", ".", "--json"), ("view", ".", "--static", "out/runs.html"))
WORDS = ("words", "--prompt", "a chef", "--axis", "gender", "--images", "1", "-o", "told", "--by")
TRAIN = ("probe", "train", "--axis", "gender", "--images", "2", "--prompts", "few.txt", "-o")
SEARCH = (
    "search",
    "--towards",
    "gender=male",
    "--probes",
    "probes.safetensors",
    "--scenario",
    "scenario.yaml",
    "--lambda",
    "10",
    "--prompts",
    "1",
    "--images",
    "1",
    "--beams",
    "1",
    "--expand",
    "2",
    "--latents",
    "2",
    "--most-tokens",
    "2",
    "-o",
    "searched",
)
MINE = (
    "mine",
    "--target",
    "target.yaml",
    "--images",
    "1",
    "--iterations",
    "1",
    "--population",
    "2",
    "--selected",
    "1",
    "--mutations",
    "1",
    "--best",
    "1",
    "--fresh-batches",
    "2",
    "--vary",
    "gender",
    "-o",
    "mined",
)
EVALUATE = (
    "mine",
    "--evaluate",
    "mined",
    "--model",
    "sandbox:debiased",
    "-o",
    "out/e",
)
AUDIT = ("build", "--only", "gender", "--images", "1", "--dry-run", "--prompts")
ORDER = ("prompts", "--only", "gender", "--images", "1", "--to", "out/orders.csv", "--prompts")
ROUNDS = (*BUILD, "--until", "decided", "-o", "rounds")
EXPORTED = (*EXPORT[:-1], "exported")
MANY = (
    ("show", "many"),
    ("show", "many", "--json"),
    ("report", "many", "-o", "out/report.html"),
    ("export", "many", *EXPORT[2:]),
    ("plan", "many", "-o", "out"),
    ("compare", "many", "many", "-o", "out"),
    (API, "show", "many"),
    (API, "save", "many", "out/saved"),
)
READ = (
    SHOW,
    SHOW_JSON,
    REPORT,
    EXPORT,
    COMPARE,
    BASELINE,
    PLAN,
    ROBUSTNESS,
    SHOWN,
    SAVED,
    COMPARED,
    REFERRED,
)

KINDS = (
    Kind("run.json", "run/run.json", (SHOW, REPORT, LABEL, PICTURES, FIGURES, PLAN, LABELS, ANNOTATE, AGAIN, DRY), break_json, ("run",), 6, OFTEN),
    Kind("graph.json", "run/graph.json", (*READ, FIGURES, ANNOTATE, CHECK, *LIST), break_json, ("run",), 12, OFTEN),
    Kind("inputs.json", "run/inputs.json", (AGAIN,), break_json, ("run",), 2, OFTEN),
    Kind("pictures.json", "run/pictures.json", (AGAIN, REPORT, PAIRED), break_json, ("run",), 2, OFTEN),
    Kind("answers of a run", "run/answers.csv", (*READ, CHECK, LABEL), break_csv, (), 4, OFTEN),
    Kind("pairs.csv", "run/pairs.csv", READ, break_csv, (), 4, OFTEN),
    Kind("tables.csv", "run/tables.csv", READ, break_csv, (), 4, OFTEN),
    Kind("ledger.sqlite", "run/ledger.sqlite", (SHOWN, SHOW, REPORT, LABEL, PICTURES, EXPORT, LABELS, AGAIN, ANNOTATE), None, ("run",), 8, OFTEN),
    Kind("pictures of a run", "run/images/*", (SHOWN, REPORT, LABEL, PICTURES, LABELS, AGAIN), break_bytes, ("run",), 4, OFTEN),
    Kind("agreement of a run", "run/agreement.json", (REPORT, SHOW, TABLE, AGAIN), break_json, ("run",), 3, OFTEN),
    Kind("answers table", "answers.csv", (TABLE, ANALYZED), break_csv, (), 4),
    Kind("Parquet", "answers.parquet", (("build", "--answers", "answers.parquet", *QUICK, "-o", "out"), ("agreement", "run", "--with", "answers.parquet", "-o", "out/a.json", "--bootstrap", "100")), break_parquet, (), 4),
    Kind("axis set", "axes.yaml", (("axes", "check", "axes.yaml"), ("axes", "show", "axes.yaml"), ("axes", "check", "axes.yaml", "--prompt", PROMPT, "--json"), DRY, (*TABLE, "--axes", "axes.yaml")), break_yaml, (), 6),
    Kind("ideals", "ideal.yaml", ((*TABLE, "--ideal", "ideal.yaml"),), break_yaml, (), 3),
    Kind("targets", "targets.yaml", ((*PLAN, "--targets", "targets.yaml"),), break_yaml, (), 2),
    Kind("reference CSV", "reference.csv", ((*TABLE, "--reference", "reference.csv"),), break_csv, (), 2),
    Kind("reference YAML", "reference.yaml", ((*TABLE, "--reference", "reference.yaml"),), break_yaml, (), 2),
    Kind("labels", "labels.csv", (LABELS, (*BUILD, "-o", "out", "--dry-run"), (*AGAIN, "--correct", "labels.csv")), break_csv, ("run",), 3),
    Kind("prompt list", "prompts.txt", (("prompts", "--prompts", "prompts.txt", "--only", "gender", "--images", "1", "--to", "out/orders.csv"), ("build", "--prompts", "prompts.txt", "--only", "gender", "--dry-run"), ("words", "--prompts", "prompts.txt", "--dry-run", "-o", "out")), break_bytes, (), 3),
    Kind("manifest", "pics/manifest.csv", ((*BUILD, "-o", "out", "--dry-run"), (*BUILD, "-o", "out")), break_csv, (), 4),
    Kind("pictures", "pics/**/*.png", ((*BUILD, "-o", "out"), (*BUILD, "-o", "out", "--dry-run")), break_bytes, (), 4, OFTEN),
    Kind("TIBET folder", "P_1/P_1.json", (("build", "--model", "folder:P_1", "--vqa", "human:labels.csv", "--dry-run", "-o", "out"),), break_json, (), 3),
    Kind("agreement.json", "agreement.json", ((*CORRECT, "agreement.json"),), break_json, (), 3),
    Kind("captions JSON", "captions.json", ((*OPENBIAS, "--captions", "captions.json"),), break_json, (), 2),
    Kind("captions CSV", "captions.csv", ((*OPENBIAS, "--captions", "captions.csv"),), break_csv, (), 2),
    Kind("captions", "captions.txt", ((*OPENBIAS, "--captions", "captions.txt"),), break_bytes, (), 1),
    Kind("MineTheGap table", "truth.csv", ((*SCORE, "--prompts", "prompts.txt", "--truth", "truth.csv"),), break_csv, (), 2),
    Kind("transcripts", "proposed/transcripts/*", ((*PROPOSE, "proposed/again.yaml"),), break_json, ("proposed",), 2, OFTEN),
    Kind("model configurations", "weights/*.json", ((*BUILD, "--vqa", "clip:weights", "-o", "out", "--dry-run"), (*BUILD, "--vqa", "clip:weights", "--images", "1", "-o", "out")), break_json, (), 2, OFTEN),
    Kind("pipeline configurations", "pipeline/**/*.json", (("build", "--prompt", PROMPT, "--model", "diffusers:pipeline", "--vqa", "human:labels.csv", "--only", "gender", "--images", "1", "-o", "out", "--dry-run"),), break_json, (), 2, OFTEN),
    Kind("weights", "weights/*.safetensors", ((*BUILD, "--vqa", "clip:weights", "--images", "1", "-o", "out"),), break_bytes, (), 1, OFTEN),
    Kind("listed graphs", "*/graph.json", LIST, break_json, (), 3, OFTEN),
    Kind("listed records", "*/run.json", LIST, break_json, (), 2, OFTEN),
    Kind("graphs of prompts", "many/**/graph.json", MANY, break_json, (), 4, OFTEN),
    Kind("tables of prompts", "many/**/*.csv", MANY, break_csv, (), 3, OFTEN),
    Kind("adaptive graphs", "rounds/graph.json", (("show", "rounds"), ("report", "rounds", "-o", "out/r.html"), ("export", "rounds", *EXPORT[2:]), ROUNDS), break_json, ("rounds",), 3, OFTEN),
    Kind("adaptive ledgers", "rounds/ledger.sqlite", (ROUNDS,), None, ("rounds",), 1),
    Kind("wanted.csv", "ordered/wanted.csv", (("build", "--model", "folder:ordered/wanted.csv", *FOLDER[2:], "--axes", "axes.yaml", "--dry-run", "-o", "out"),), break_csv, (), 2, OFTEN),
    Kind("corrections", "corrections.csv", (("agreement", "run", "--with", "corrections.csv", "-o", "out/a.json", "--bootstrap", "100"), ("agreement", "run", "--with", "corrections.csv", "--with", "second.csv", "-o", "out/a.json", "--bootstrap", "100")), break_csv, (), 3),
    Kind("export.json", "exported/*", (EXPORTED,), break_json_or_bytes, ("exported",), 2, OFTEN),
    Kind("pages", "run/*.html", (("report", "run"), AGAIN), break_bytes, ("run",), 1, OFTEN),
    Kind("places", "run/*", (*READ, AGAIN, DRY, LABEL, LABELS, ANNOTATE, PICTURES, *LIST), break_bytes, ("run",), 5, 1.0),
    Kind("found.json", "searched/found.json", ((*AUDIT, "searched"), (*ORDER, "searched"), *LIST), break_json, (), 2, OFTEN),
    Kind("mined.json", "mined/mined.json", ((*AUDIT, "mined"), (*ORDER, "mined"), EVALUATE), break_json, (), 2, OFTEN),
    Kind("found prompts", "searched/searches/*", (SEARCH,), break_json, ("searched",), 1, OFTEN),
    Kind("probes", "probes.safetensors", (SEARCH,), break_probes, ("searched",), 1),
    Kind("search scenario", "scenario.yaml", (SEARCH,), break_yaml, ("searched",), 1),
    Kind("mining target", "target.yaml", (MINE,), break_yaml, ("mined",), 1),
    Kind("mining transcripts", "mined/transcripts/*", (MINE,), break_json, ("mined",), 1, OFTEN),
    Kind("ledgers of others", "*ed/ledger.sqlite", (SEARCH, MINE), None, ("searched", "mined"), 1),
    Kind("ledger of words", "told/ledger.sqlite", ((*WORDS, "gradient"),), None, ("told",), 2),
    Kind("gates", "", (("compare", "other", "run", "-o", "out", "--fail-if", "{}"), ("compare", "other", "run", "-o", "out", "--fail-if", "worse:{}>0.1"), ("compare", "other", "run", "-o", "out", "--fail-if", "amplification>{}")), None, (), 2),
    Kind("specs", "", tuple(("build", "--prompt", PROMPT, "--dry-run", "-o", "out", option, spec) for option in ("--model", "--vqa", "--llm", "--embedder") for spec in ("{}", "{}:x", "folder:{}", "clip:{}", "openai:{}@{}")), None, (), 5),
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
    ), None, ("run",), 12),
)  # fmt: skip


def fill(command: tuple[str, ...], rng: Random) -> tuple[str, ...]:
    """A command with broken texts where it has {}; what no argument can hold is left out."""
    text = nasty_text(rng).replace("\0", "")
    text = "".join(c for c in text if not "\ud800" <= c <= "\udfff") or "\udc80"
    if "out/{}" in command:
        text = text.replace("..", "")
    return tuple(part.replace("{}", text) for part in command)
