"""How long concept matching takes: against Algorithm 1 of TIBET, transcribed line by line.

Run `python benchmarks/bench_concepts.py`. One initial prompt and 26 counterfactuals with 48 images
each and 9 texts an image: 8 answers and a caption, made up from a fixed list of words. Both sides
split texts into words by the same rule and ask the same source of synonyms, whose lookups are
done before: WordNet where it is installed, or else the built-in table. The transcription merges
one set of words at a time and compares all pairs of words, in the order that biasgraph defines (the
paper leaves it open), so that both must find the same CAS. The target holds for the vocabulary that
biasgraph uses, that of all sets; the paper's, that of the two sets compared, is shown beside it.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from biasgraph.methods.association import cas
from biasgraph.methods.concepts import Mentions, Synonyms, among, homes_of, words_of
from biasgraph.methods.wordnet import best_synonyms

PROMPTS, IMAGES, TEXTS = 27, 48, 9
REPEATS = 2, 10
"""Of the transcription, and of biasgraph's functions; the best counts."""
TARGET = 50

PEOPLE = """
man woman person guy lady gentleman boy girl adult elder teenager nurse doctor physician
librarian teacher instructor chef cook lawyer attorney engineer scientist painter artist musician
farmer soldier policeman firefighter pilot driver carpenter builder scholar student professor
writer author singer dancer athlete runner clerk cashier waiter barber tailor baker"""
LOOKS = """
young old elderly aged middle-aged tall short slim slender thin fat heavy muscular strong
happy cheerful glad smiling sad unhappy serious solemn tired weary calm quiet angry furious proud
confident shy friendly kind elegant stylish formal informal casual neat tidy messy wealthy rich poor
modern traditional vintage antique bright dark pale tan beautiful pretty handsome plain wrinkled
bearded bald blonde curly straight short-haired long-haired professional"""
THINGS = """
glasses eyeglasses spectacles hat cap scarf tie bow suit jacket coat shirt blouse dress
gown skirt trousers pants jeans shoes boots gloves apron uniform helmet badge necklace ring watch
book books novel notebook newspaper magazine paper document laptop computer phone telephone camera
desk table chair bench sofa couch lamp light shelf shelves bookcase cabinet drawer door window
curtain wall floor ceiling picture painting photograph plant flower flowers tree trees grass leaf
cup mug glass bottle plate bowl knife fork spoon bread fruit apple banana vegetable soup wheelchair
cane bag backpack suitcase box basket bicycle bike car automobile bus truck train airplane boat ship
hammer saw drill brush bucket ladder rope wheel engine machine screen keyboard pen pencil"""
PLACES = """
library office room kitchen hospital clinic school classroom laboratory shop store market
street road park garden forest wood beach mountain field farm village town city house home building
church temple museum theater stage studio station airport restaurant bar hotel bank court prison
factory workshop garage barn bridge river lake sea ocean desert island sky background"""
DOING = """
standing sitting walking running reading writing working cooking holding wearing carrying
looking smiling laughing talking speaking listening teaching studying painting drawing playing
singing dancing cutting cleaning washing driving riding fixing repairing building pointing waiting
resting sleeping eating drinking thinking posing leaning kneeling lifting pushing pulling"""
DETAILS = """
wooden metal metallic steel iron leather cotton woolen silk plastic paper ceramic marble concrete
brick stone golden silvery shiny glossy matte smooth rough soft hard clean dirty dusty worn torn new
ancient contemporary classic ornate simple minimal busy crowded empty spacious narrow wide broad
large big huge small little tiny tall round square rectangular circular striped checked floral
patterned embroidered knitted transparent opaque colorful vivid faded sunny cloudy rainy snowy foggy
misty warm cold cool hot natural artificial indoor outdoor urban rural domestic industrial medical
scientific religious military royal festive ceremonial everyday relaxed tense attentive focused
distracted curious amused surprised worried anxious pensive thoughtful dignified graceful sturdy
delicate blurred sharp detailed realistic cinematic dramatic moody soft-focus close-up wide-angle
backlit candid posed staged symmetrical centered cropped framed"""
COLOURS = """
black white red blue green yellow brown gray grey orange purple pink gold silver"""


def texts_of(prompts: int, images: int, seed: int = 0) -> list[list[list[str]]]:
    """texts[prompt][image]: eight answers and a caption; every prompt leans to words of its own."""
    rng = random.Random(seed)
    colours = COLOURS.split()
    everything = []
    for _ in range(prompts):
        lists = [
            rng.sample(words.split(), len(words.split()))
            for words in (PEOPLE, LOOKS, THINGS, PLACES, DOING, DETAILS)
        ]

        def word(kind: int, lists: Sequence[list[str]] = lists) -> str:
            place = int(rng.expovariate(1 / 12))
            return lists[kind][place % len(lists[kind])]

        of_prompt = []
        for _ in range(images):
            answers = [
                word(0),
                f"{word(1)}.",
                f"The person is {word(1)}",
                f"A {word(1)} {word(0)} in a {word(3)}.",
                f"{rng.choice(colours)} {word(2)} and {rng.choice(colours)} {word(2)}",
                f"It is a {word(3)}",
                f"{word(1)}, {word(1)}",
                f"They are {word(4)}",
            ]
            caption = (
                f"A {word(1)}, {word(1)} {word(0)} is {word(4)} in front of a "
                f"{word(5)} {rng.choice(colours)} {word(2)} in the {word(5)} {word(3)}, {word(4)} "
                f"with a {word(5)} {word(2)} and a {word(0)}'s {word(2)}; there's a {word(2)} "
                "in the background."
            )
            of_prompt.append([*answers, caption])
        everything.append(of_prompt)
    return everything


def frequencies_of(texts: list[list[list[str]]]) -> list[dict[str, int]]:
    """How often every word is said in each set: one long string, split and counted."""
    return [
        Counter(words_of(" ".join(text for image in of_prompt for text in image)))
        for of_prompt in texts
    ]


def algorithm_1(
    texts: list[list[list[str]]], senses: dict[str, frozenset[str]], *, at_once: bool
) -> list[float]:
    """CAS of every counterfactual with dictionaries and loops (supp. 8.3).

    at_once: the vocabulary is that of all sets, not of the two that are compared.
    """
    initial, *others = sets = frequencies_of(texts)
    scores = []
    for counterfactual in others:
        vocabulary = vocabulary_of(sets if at_once else [initial, counterfactual])
        first = merged(initial, vocabulary, senses)
        second = merged(counterfactual, vocabulary, senses)
        shared = sum(min(first[word], second[word]) for word in first)
        scores.append(shared / sum(max(first[word], second[word]) for word in first))
    return scores


def vocabulary_of(sets: Sequence[dict[str, int]]) -> list[str]:
    """The words of sets, the most frequent first, then by alphabet."""
    total: Counter[str] = Counter()
    for words in sets:
        total.update(words)
    return sorted(total, key=lambda word: (-total[word], word))


def merged(
    counts: dict[str, int], vocabulary: list[str], senses: dict[str, frozenset[str]]
) -> dict[str, float]:
    """Steps 1 and 2 for one set: every word takes the later ones that are left and mean it."""
    concepts = {word: counts.get(word, 0) / IMAGES for word in vocabulary}
    for concept in vocabulary:
        if concept not in concepts:
            continue
        for other in vocabulary:
            if other == concept or other not in concepts:
                continue
            if senses[concept] & senses[other]:
                concepts[concept] += concepts.pop(other)
    return concepts


def in_pairs(texts: list[list[list[str]]], synonyms: Synonyms) -> list[float]:
    """CAS by biasgraph's functions, with a vocabulary for every pair of sets."""
    flat, sets = flattened(texts)
    said = Mentions.of(flat)
    counts, shared = said.counted(sets, len(texts)), among(said.concepts, synonyms)
    scores = []
    for other in counts[1:]:
        pair = np.stack([counts[0], other])
        homes = homes_of(said.concepts, pair.sum(axis=0), shared)
        first, second = (np.bincount(homes, of_set / IMAGES, len(homes)) for of_set in pair)
        scores.append(float(cas(first, second)))
    return scores


def at_once(texts: list[list[list[str]]], synonyms: Synonyms) -> list[float]:
    """The same with one vocabulary for all sets, as biasgraph.methods.tibet has it."""
    flat, sets = flattened(texts)
    frequencies = Mentions.of(flat).merge(synonyms).counted(sets, len(texts)) / IMAGES
    return [float(score) for score in cas(frequencies[0], frequencies[1:])]


def flattened(texts: list[list[list[str]]]) -> tuple[list[str], np.ndarray]:
    """All texts, and the number of the set that each belongs to."""
    flat = [text for of_prompt in texts for image in of_prompt for text in image]
    return flat, np.repeat(np.arange(len(texts)), len(flat) // len(texts))


def timed(work: Callable[[], list[float]], repeats: int) -> tuple[float, list[float]]:
    """The best of several times, in seconds of the processor, and what came out."""
    best, found = float("inf"), []
    for _ in range(repeats):
        start = time.process_time()
        found = work()
        best = min(best, time.process_time() - start)
    return best, found


def main() -> int:
    texts = texts_of(PROMPTS, IMAGES)
    synonyms = best_synonyms()
    flat, _ = flattened(texts)
    words = Mentions.of(flat).concepts
    senses = {word: frozenset(synonyms.senses(word)) for word in words}
    print(
        f"{PROMPTS} prompts x {IMAGES} images x {TEXTS} texts: {len(words)} different words; "
        f"synonyms: {synonyms.source}; target: {TARGET} times faster for all sets"
    )
    failed = 0
    for label, ours in (("each pair of sets", in_pairs), ("all sets", at_once)):
        slow, expected = timed(
            partial(algorithm_1, texts, senses, at_once=ours is at_once), REPEATS[0]
        )
        fast, found = timed(partial(ours, texts, synonyms), REPEATS[1])
        difference = float(np.abs(np.array(expected) - np.array(found)).max())
        ratio = slow / fast
        good = difference < 1e-12 and (ours is in_pairs or ratio >= TARGET)
        failed += not good
        print(
            f"a vocabulary for {label:18} Algorithm 1 {slow:5.2f} s, biasgraph "
            f"{1000 * fast:5.1f} ms: {ratio:4.0f} times faster; "
            f"largest difference of CAS {difference:.0e}"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
