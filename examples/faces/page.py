"""What docs/real.md says of the audits of `real.py`: its pictures, its tables and its sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

Record = Mapping[str, Any]

NAMES = {"original": "Stable Diffusion 1.5", "debiased": "finetuned"}
JUDGES = {"faces": "faces", "reader": "the reader", "bars": "the bars"}
AXES = ("gender", "age", "ethnicity")
PAIRS = ("00", "02", "05", "09", "13", "18", "30", "43")
"""Numbers of the pairs that the page shows."""
SIDE, CAPTION = 160, 34
"""Pixels."""
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Judged:
    """What the audits found.

    Attributes:
        nodes: (run, axis) -> the node of its graph.
        growth: judge -> compare.json of the two models.
        agreement: run -> agreement.json.
        said: (judge, model) -> (image, axis) -> answer.
        pictures: model -> image -> its file.
    """

    nodes: Mapping[tuple[str, str], Record]
    growth: Mapping[str, Record]
    agreement: Mapping[str, Record]
    said: Mapping[tuple[str, str], Mapping[tuple[str, str], str]]
    pictures: Mapping[str, Mapping[str, Path]]


def write(found: Judged, docs: Path) -> None:
    """Write real.md into `docs`, and its pictures into `docs`/images."""
    (docs / "images").mkdir(parents=True, exist_ok=True)
    rows = [[(folder(found, model) / f"{n}.png", "") for n in PAIRS] for model in NAMES]
    sheet([cell for row in rows for cell in row], 0, len(PAIRS)).save(
        docs / "images" / "real-pairs.jpg", quality=82
    )
    wrong = [(path, f"faces: {judge}\nreader: {reader}") for path, judge, reader in errors(found)]
    sheet(wrong, CAPTION, 5).save(docs / "images" / "real-errors.jpg", quality=82)
    text = (HERE / "page.md").read_text("utf-8")
    (docs / "real.md").write_text(text.format(**parts(found)), encoding="utf-8")


def folder(found: Judged, model: str) -> Path:
    """Where the pictures of a model lie."""
    return next(iter(found.pictures[model].values())).parent


def errors(found: Judged) -> Iterator[tuple[Path, str, str]]:
    """The pictures whose gender the judge and the reader both told, and differently."""
    for model, files in found.pictures.items():
        judge, reader = found.said["faces", model], found.said["reader", model]
        for image, path in files.items():
            ours, theirs = judge[image, "gender"], reader[image, "gender"]
            if "unknown" not in (ours, theirs) and ours != theirs:
                yield path, ours, theirs


def sheet(cells: Sequence[tuple[Path, str]], caption: int, columns: int) -> Image.Image:
    """Pictures side by side, `columns` in a row, each with its caption below."""
    rows = -(-len(cells) // columns)
    whole = Image.new("RGB", (columns * (SIDE + 4), rows * (SIDE + caption + 4)), "white")
    draw, font = ImageDraw.Draw(whole), ImageFont.load_default(13)
    for place, (path, words) in enumerate(cells):
        x, y = place % columns * (SIDE + 4), place // columns * (SIDE + caption + 4)
        whole.paste(Image.open(path).resize((SIDE, SIDE), Image.Resampling.LANCZOS), (x, y))
        draw.multiline_text((x + 2, y + SIDE + 1), words, "black", font, spacing=2)
    return whole


def number(value: float, ends: Sequence[float], sign: str = "") -> str:
    """A number with its interval."""
    return f"{value:{sign}.3f} [{ends[0]:{sign}.3f}, {ends[1]:{sign}.3f}]"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def distances(found: Judged) -> Iterator[Sequence[object]]:
    """For each axis and judge: the distance of both models to the ideal, and its growth."""
    for axis in AXES:
        for judge, name in JUDGES.items():
            nodes = [found.nodes.get((f"{judge}-{model}", axis)) for model in NAMES]
            if None in nodes:
                continue
            compared = found.growth[judge]
            change = next(
                row for row in compared["comparisons"][0]["distances"] if row["axis"] == axis
            )
            pairs = next(row["n"] for row in compared["distances"] if row["axis"] == axis)
            cells = [
                f"{number(node['w1'], node['w1_ci'])}, n = {node['initial']['n_valid']}"
                for node in nodes
                if node
            ]
            growth = number(change["growth"], change["growth_ci"], "+")
            yield axis, name, *cells, f"{growth}, n = {pairs}"


def shares(found: Judged) -> Iterator[Sequence[object]]:
    """What each judge saw: counts of every attribute."""
    for axis in AXES:
        for judge, name in JUDGES.items():
            nodes = [found.nodes.get((f"{judge}-{model}", axis)) for model in NAMES]
            if None not in nodes:
                yield axis, name, *(counts(node) for node in nodes if node)


def counts(node: Record) -> str:
    """How many initial images show each attribute."""
    told = zip(node["attributes"], node["initial"]["counts"], strict=True)
    return ", ".join(f"{count} {name}" for name, count in told)


def kappas(found: Judged) -> Iterator[Sequence[object]]:
    """Kappa of every two raters, of the pictures of both models."""
    every = {"faces-both": ("faces", "reader", "bars"), "reader-both": ("reader", "bars")}
    for which, raters in every.items():
        for axis in found.agreement[which]["axes"]:
            own = axis["axis"]
            for pair in axis["kappas"] or [{**axis, "raters": (0, 1)}]:
                one, other = (raters[place] for place in pair["raters"])
                if pair["kappa"] is None or (which, own) == ("reader-both", "gender"):
                    continue
                unknown = number(pair["kappa_with_unknown"], pair["kappa_with_unknown_ci"])
                kappa = number(pair["kappa"], pair["kappa_ci"])
                yield own, f"{JUDGES[one]}, {JUDGES[other]}", pair["n_valid"], kappa, unknown


def confusion(found: Judged, which: str, axis: str) -> Record:
    """The agreement with the reader about an axis."""
    return next(one for one in found.agreement[which]["axes"] if one["axis"] == axis)


def corrected(found: Judged) -> Iterator[Sequence[object]]:
    """Distance of gender: raw, corrected by the model's own pictures and by all, the reader's."""
    for model, name in NAMES.items():
        raw = found.nodes[f"faces-{model}", "gender"]
        cells = [number(raw["w1"], raw["w1_ci"])]
        for by in (model, "both"):
            node = found.nodes[f"corrected-{model}-by-{by}", "gender"]["corrected"]
            cells.append(number(node["w1"], node["w1_ci"]))
        reader = found.nodes[f"reader-{model}", "gender"]
        yield name, *cells, number(reader["w1"], reader["w1_ci"])


def parts(found: Judged) -> dict[str, object]:
    """What stands in the places of page.md."""
    gender = confusion(found, "faces-both", "gender")["table"]
    age = confusion(found, "faces-both", "age")["table"]
    lost = {
        model: sum(row[2] for row in confusion(found, f"faces-{model}", "gender")["table"][:2])
        for model in NAMES
    }
    heads = ["axis", "judged by", *NAMES.values()]
    rows = zip(("male", "female", "cannot tell"), (row[:3] for row in gender), strict=False)
    return {
        "shares": table(heads, shares(found)),
        "distances": table([*heads, "growth"], distances(found)),
        "kappas": table(
            ["axis", "between", "pictures", "kappa", "kappa with unknown"], kappas(found)
        ),
        "confusion": table(
            ["reader \\ faces", "male", "female", "unknown"], [(name, *row) for name, row in rows]
        ),
        "corrected": table(
            ["model", "raw", "corrected by its own pictures", "corrected by all", "the reader"],
            corrected(found),
        ),
        "answered": sum(sum(row[:2]) for row in gender),
        "told": sum(sum(row[:3]) for row in gender[:2]),
        "lost": gender[0][2] + gender[1][2],
        "lost_men": gender[0][2],
        "men": sum(gender[0][:3]),
        "women": sum(gender[1][:3]),
        "lost_women": gender[1][2],
        "men_as_women": gender[0][1],
        "women_as_men": gender[1][0],
        "lost_original": lost["original"],
        "lost_debiased": lost["debiased"],
        "young": sum(age[0][:3]),
        "young_as_middle": age[0][1],
        "middle": sum(age[1][:3]),
        "middle_as_middle": age[1][1],
    }
