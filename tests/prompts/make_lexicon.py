"""Makes templates/words/wordnet.tsv from a WordNet 3.0 database.

    python -m tests.prompts.make_lexicon > templates/words/wordnet.tsv

What the codes mean stands in biasgraph/prompts/lexicon.py.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path("/usr/share/wordnet")
OPEN = re.compile(r"[a-z][a-z'-]*[a-z]")
# What a sense must be under to have a letter, by the first word of a synset and its file; the
# first that fits counts, and a sense under none of them is abstract (x).
ROOTS = {
    "a": ["animal 03", "mythical_monster 09", "mythical_monster 18"],
    "p": ["person 03", "spiritual_being 18", "spiritual_being 09", "imaginary_being 09"],
    "c": ["clothing 06", "attire 06", "garment 06", "headdress 06", "footwear 06"],
    "s": [
        *("location 03", "location 15", "building 06", "area 06", "establishment 06", "housing 06"),
        *("way 06", "geological_formation 17", "body_of_water 17", "land 17", "facility 06"),
        *("weather 19", "building_complex 06", "room 06", "landscape 15", "vegetation 14"),
        *("tract 15",),
    ],
    "x": ["process 03"],
    "o": ["physical_entity 03"],
    "g": ["social_group 14", "people 14", "gathering 14", "ethnic_group 14"],
}
TAXA = "taxonomic_group 14"  # Latin names of genera and families: left out
NAMED = {"p": "n", "s": "l"}  # one person, one place; any other single thing is "m"
POS = {"noun": "", "verb": "v", "adj": "j", "adv": "r"}


@dataclass(frozen=True)
class Synset:
    """A line of data.noun."""

    words: tuple[str, ...]
    file: str
    parents: tuple[str, ...]
    named: bool


def read_synsets(folder: Path) -> dict[str, Synset]:
    """The nouns' synsets by their offset."""
    synsets = {}
    for line in _data(folder / "data.noun"):
        offset, file, _, count, *rest = line.partition(" | ")[0].split()
        size = int(count, 16)
        pointers = rest[2 * size + 1 :]
        kinds = list(zip(pointers[::4], pointers[1::4], strict=False))
        parents = tuple(to for kind, to in kinds if kind in ("@", "@i"))
        named = any(kind == "@i" for kind, _ in kinds)
        synsets[offset] = Synset(tuple(rest[: 2 * size : 2]), file, parents, named)
    return synsets


def letters_of(synsets: Mapping[str, Synset]) -> dict[str, str]:
    """The letter of each synset's category."""
    roots = {root: letter for letter, names in ROOTS.items() for root in names} | {TAXA: ""}
    ancestors: dict[str, frozenset[str]] = {}

    def above(offset: str) -> frozenset[str]:
        if offset not in ancestors:
            synset = synsets[offset]
            own = {f"{word} {synset.file}" for word in synset.words[:2]} & roots.keys()
            found = {roots[root] for root in own}
            ancestors[offset] = frozenset(found.union(*map(above, synset.parents)))
        return ancestors[offset]

    letters = {}
    for offset, synset in synsets.items():
        letter = next((letter for letter in ROOTS if letter in above(offset)), "x")
        letter = "p" if letter in "ox" and synset.file == "18" else letter  # a driver
        letters[offset] = NAMED.get(letter, "m") if synset.named else letter
        if "" in above(offset) and synset.words[0][0].isupper():
            letters[offset] = ""
    return letters


def read_counts(folder: Path) -> dict[tuple[str, str], Counter[int]]:
    """How often each sense of a word was met in tagged texts."""
    counts: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    parts = {"1": "noun", "2": "verb", "3": "adj", "5": "adj", "4": "adv"}
    for line in (folder / "cntlist.rev").read_text().splitlines():
        key, sense, count = line.split()
        lemma, _, rest = key.partition("%")
        counts[lemma, parts[rest[0]]][int(sense)] += int(count)
    return counts


def lexicon(folder: Path = FOLDER) -> dict[str, str]:
    """The code of each word: its parts of speech, the most frequent first."""
    letters = letters_of(read_synsets(folder))
    counts = read_counts(folder)
    parts: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for part, letter in POS.items():
        for line in _data(folder / f"index.{part}"):
            lemma, _, size, *rest = line.split()
            met = counts.get((lemma, part), Counter())
            senses = [letters[offset] for offset in rest[-int(size) :]] if part == "noun" else []
            code = _main(senses, met) if part == "noun" else letter
            parts[lemma].append((met.total(), code))
    words = {
        lemma: "".join(code for _, code in sorted(found, key=lambda pair: -pair[0]))
        for lemma, found in parts.items()
        if OPEN.fullmatch(lemma) and any(code for _, code in found)
    }
    singles = dict(words)
    for lemma, found in parts.items():  # "hot dog" is no dog
        last = lemma.rpartition("_")[2]
        pair = lemma.count("_") == 1 and OPEN.fullmatch(lemma.replace("_", "-"))
        (code,) = [code for _, code in found][:1]
        if pair and code[:1] in [*"paosc"]:
            alone = re.findall("[paoscgx]", singles.get(last, ""))
            words |= {lemma: code[0]} if alone and alone[0] not in code else {}
    return words


def irregular_forms(folder: Path, words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Inflected forms that no rule finds, with their lemma."""
    known = set(words)
    for part in ("noun", "verb"):
        for line in (folder / f"{part}.exc").read_text().splitlines():
            form, lemma = line.split()[:2]
            if OPEN.fullmatch(form) and lemma in known and not form.endswith(("ing", "ed", "s")):
                yield form, lemma


def lines(folder: Path = FOLDER) -> Iterator[str]:
    """The lines of the file: WordNet's licence, the words of each code, the irregular forms."""
    yield "# The words of WordNet 3.0, their parts of speech and what nouns are names of;"
    yield "# made by tests/prompts/make_lexicon.py, read by biasgraph/prompts/lexicon.py."
    yield "#"
    for line in (folder / "data.noun").read_text().splitlines()[:29]:
        yield f"# {line[4:].strip()}".rstrip()
    words = lexicon(folder)
    by_code: dict[str, list[str]] = defaultdict(list)
    for word, code in words.items():
        by_code[code].append(word)
    for code, lemmas in sorted(by_code.items()):
        yield f"{code}\t{' '.join(sorted(lemmas))}"
    forms = sorted(set(irregular_forms(folder, words)))
    yield "=\t" + " ".join(f"{form}={lemma}" for form, lemma in forms)


def _main(senses: list[str], met: Counter[int]) -> str:
    """The categories of the first sense and of others that are met often, each once."""
    total = met.total()
    kept = [
        letter
        for number, letter in enumerate(senses, start=1)
        if number == 1 or (met[number] >= 3 and met[number] * 7 >= total) or not total
    ]
    return "".join(dict.fromkeys(kept))[:3]


def _data(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        yield from (line for line in file if not line.startswith("  "))


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()) + "\n")
