"""How prompts as people write them are read, against what a careful reader expects.

    python -m tests.prompts.corpus [FILE ...] [--all]

prints a table by kind, and every prompt that is not read as expected (--all: what was said of the
refused ones too). A file has the columns kind, prompt, expect (read, refuse or either), subject,
head, about and note; "|" stands between several right subjects, or kinds of them. Determiners do
not count.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from biasgraph.errors import InputError
from biasgraph.prompts.counterfactuals import plan_prompts
from biasgraph.prompts.kinds import determiner_number
from biasgraph.prompts.suited_axes import kind_of_subject, suited_axes

FILES = sorted((Path(__file__).parents[1] / "data").glob("prompts_*.tsv"))
"""The first shaped the rules; when they met the second to the sixth, 4.6, 6.5, 2.0, 3.3 and 3.0 %
were wrong and silent, 3.5, 8.1, .5, 4.8 and 3.3 % needlessly refused (the sixth by its corrected
labels; 6.3 % by its author's, who took buildings for objects). These shaped the rules then."""
RIGHT, WRONG, NEEDLESS = "right", "wrong and silent", "needlessly refused"


@dataclass(frozen=True)
class Verdict:
    """What became of one prompt; `said` is the subject and its kind, or the refusal."""

    row: dict[str, str]
    outcome: str
    said: str


def rows(path: Path) -> list[dict[str, str]]:
    """The prompts of a file with what is expected of them."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def bare(phrase: str) -> str:
    """A noun phrase without its determiners, which some authors leave away."""
    spoken = phrase.replace("(", "").split()
    while len(spoken) > 1 and determiner_number(spoken[0].lower()):
        del spoken[0]
    return " ".join(spoken)


def judged(row: dict[str, str]) -> Verdict:
    """Read a prompt all the way to its counterfactuals and compare with what is expected."""
    prompt, expect = row["prompt"], row["expect"]
    try:
        plan = plan_prompts(prompt, suited_axes(prompt))
    except InputError as error:
        return Verdict(row, NEEDLESS if expect == "read" else RIGHT, str(error))
    kind = kind_of_subject(prompt)
    same = bare(plan.subject.text) in map(bare, row["subject"].split("|"))
    fits = expect == "either" or kind in ("unknown", *row["about"].split("|"))
    outcome = RIGHT if expect != "refuse" and same and fits else WRONG
    return Verdict(row, outcome, f"{plan.subject.text} ({kind})")


def table(verdicts: list[Verdict]) -> list[str]:
    """The table by kind of prompt."""
    lines = [f"{'kind':12} {'prompts':>7} {'right':>6} {'wrong, silent':>14} {'needless':>9}"]
    kinds = list(dict.fromkeys(verdict.row["kind"] for verdict in verdicts))
    for kind in [*kinds, "all"]:
        own = [verdict for verdict in verdicts if kind in (verdict.row["kind"], "all")]
        counts = Counter(verdict.outcome for verdict in own)
        lines.append(
            f"{kind:12} {len(own):7} {counts[RIGHT]:6} {counts[WRONG]:14} {counts[NEEDLESS]:9}"
        )
    return lines


def main(arguments: list[str]) -> None:
    """Print the table and what went wrong."""
    paths = [Path(argument) for argument in arguments if not argument.startswith("--")]
    verdicts = [judged(row) for path in paths or FILES for row in rows(path)]
    for verdict in verdicts:
        if verdict.outcome != RIGHT or "--all" in arguments:
            row = verdict.row
            print(f"{verdict.outcome}: {row['prompt']}")
            print(f"    {row['expect']} {row['subject']} ({row['about']}) <> {verdict.said}")
    print("\n".join(table(verdicts)))


if __name__ == "__main__":
    main(sys.argv[1:])
