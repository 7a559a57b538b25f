"""Every lead, finding and headline, counted again from the tables: none says more than they do."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest

import biasgraph
from biasgraph.causal.rows import Verdict
from biasgraph.report import verdict_words, words
from biasgraph.report.graph_summary import ReportInput
from biasgraph.report.lead import lead
from biasgraph.report.overview import overviews
from biasgraph.report.prompt_grid import edges_words
from biasgraph.report.terminal import plain
from tests.shared_runs import copy_run

Json = dict[str, Any]
SHARE = r"(\d+) % \[(\d+), (\d+)\]"
NUMBER = r"([+-]?\d\.\d{3})"
INTERVAL = rf"{NUMBER} \[{NUMBER}, {NUMBER}\]"
MIXED = re.compile(rf"Asking for (.+) takes images called (.+) \((.+)\) from {SHARE} to {SHARE}\.")
ARMS = re.compile(
    rf"Of the images that ask for (.+) \((.+)\), {SHARE} are called (.+) \((.+)\); of those that "
    rf"ask for (.+), {SHARE}\."
)
SEEN = re.compile(
    r"Of ([\d,]+) images? of .+?, the judge's answers say (.+?)"
    r"(?: \(of those with a valid answer: ([\d,]+)(?: to ([\d,]+))?\))?\."
)
EVIDENCE = re.compile(
    rf"(IS|IS at equal sample sizes) {INTERVAL}(?: \(mean of (\d+) prompts' own: {NUMBER}\))?"
    rf"(?: \({INTERVAL} from neutral rewordings\))?, p = (\S+?)(?:, of the shift (\S+))?, distance "
    rf"to the ideal {NUMBER} before and {NUMBER} after; (?:([\d,]+) counterfactual and )?([\d,]+) "
    r"initial images with a valid answer; ideal: uniform\."
)
LINKED = re.compile(
    r"In (\d+) of (\d+) pairs?, what is asked of one axis decides another(.+?) "
    r"whether diversifying moves it towards its ideal or away\."
)
SHIFTED = re.compile(
    r"In (\d+) (?:more|of (\d+)) pairs?, whatever is asked of one axis shifts another\."
)
CUT = re.compile(
    r"In (\d+) (?:more|of (\d+)) pairs?, the answers differ with what is asked, but the measured "
    r"\|IS\| is below ([\d.]+), so they are no edges\."
)
NONE = re.compile(
    r"(?:No link was found in any of (?:(\d+) pairs|the others)|"
    r"No link was found in the one pair that was tested)\."
    r"(?: That is no proof of independence: .+"
    r"| Each of \d+ pairs had a chance of at least 80 % to show a link of V = 0\.3\.)?"
)


OPPOSITE = re.compile(
    r" The mean IS of (\d+) prompts? measured one by one points the other way \(([+-][\d.]+)\)\."
)


def answers_of(
    before: Sequence[int], arms: Sequence[Sequence[int]], prompt: str = "a thing"
) -> pd.DataFrame:
    """An answers table with these counts of b, where a is asked for; each arm shows its own a."""
    sets = [("initial", "", "", "a0", before)]
    sets += [("counterfactual", "a", f"a{i}", f"a{i}", row) for i, row in enumerate(arms)]
    rows = []
    for role, axis, attribute, own, counts in sets:
        shown = [f"b{place}" for place, count in enumerate(counts) for _ in range(count)]
        for number, other in enumerate(shown):
            image = f"{prompt}/{attribute or role}-{number}"
            for target, answer in (("a", own), ("b", other)):
                rows.append(("shop", prompt, role, axis, attribute, image, target, answer))
    columns = ["model", "prompt", "role", "axis", "attribute", "image", "target", "answer"]
    return pd.DataFrame(rows, columns=columns)


VERDICTS: dict[str, tuple[Sequence[int], Sequence[Sequence[int]]]] = {
    "towards": ([46, 2], [[40, 8], [12, 36]]),
    "away": ([26, 22], [[48, 0], [32, 16]]),
    "below_delta": ([400, 100], [[450, 50], [350, 150]]),
    "edge_undetermined": ([24, 24], [[44, 4], [4, 44]]),
    "common_shift": ([30, 18], [[44, 4], [43, 5], [45, 3]]),
    "below_min_v": ([24, 24], [[24, 24], [25, 23]]),
    "undecided": ([24, 24], [[30, 18], [20, 28]]),
}


@dataclass(frozen=True)
class Recount:
    """A result whose sentences are held against its tables alone."""

    result: biasgraph.Result

    @property
    def document(self) -> Mapping[str, Any]:
        return self.result.document

    @cached_property
    def pairs(self) -> list[Json]:
        """With the tables of the edges, as the page has them."""
        links = {(one["source"], one["target"]): one for one in self.document["links"]}
        return [
            {**pair, **links.get((pair["source"], pair["target"]), {})}
            for pair in self.result.pair_records()
        ]

    @cached_property
    def between(self) -> list[Json]:
        return [pair for pair in self.pairs if pair["source"] != pair["target"]]

    @cached_property
    def nodes(self) -> dict[str, Json]:
        return {node["id"]: node for node in self.document["nodes"]}

    @cached_property
    def _sums(self) -> dict[tuple[str, str, str, str], int]:
        frame = self.result.tables
        frame = frame[frame["role"] != "control"].fillna("")
        keys = ["axis", "attribute", "target", "answer"]
        found: dict[Any, int] = frame.groupby(keys)["count"].sum().to_dict()
        return found

    def counts(self, axis: str, attribute: str, target: str) -> np.ndarray:
        """Valid answers about a target in one set of images, summed over prompts."""
        names = self.nodes[target]["attributes"]
        return np.array([self._sums.get((axis, attribute, target, one), 0) for one in names])

    def initial(self, target: str) -> np.ndarray:
        return self.counts("", "", target)

    def arms(self, pair: Json) -> np.ndarray:
        names = self.nodes[pair["source"]]["attributes"]
        rows = [self.counts(pair["source"], one, pair["target"]) for one in names]
        return np.array([row for row in rows if row.sum()])

    def distance(self, target: str, shares: np.ndarray) -> float:
        node = self.nodes[target]
        gap = shares - np.array(node["ideal"])
        if node["metric"] == "ordinal":
            return float(np.abs(np.cumsum(gap)).sum() / (len(gap) - 1))
        return float(np.abs(gap).sum() / 2)

    # Sentences

    def hold_lead(self) -> None:
        for sentence in lead(self.document, self.pairs):
            self.hold(words.plain(sentence))

    def hold(self, text: str) -> None:
        """A sentence of the lead, in one of the forms that there are."""
        text = text.replace("\u00a0", " ")
        if text.startswith("One by one, the "):
            self._hold_hidden(text)
        elif found := SEEN.fullmatch(text):
            self._hold_seen(*found.groups())
        elif "cannot be distinguished" in text:
            assert all(node["near_ideal"] is not False for node in self.nodes.values())
        elif MIXED.fullmatch(text) or ARMS.fullmatch(text):
            told = self.told_first()
            assert any(self._holds_pictures(text, pair) for pair in told[:1]), text
        else:
            self._hold_linked(text)

    def told_first(self) -> list[Json]:
        """The edges with a direction by |IS|, the others, the common shifts by p."""
        edges = [pair for pair in self.between if pair["edge"]]
        edges.sort(key=lambda pair: (pair["verdict"] not in ("towards", "away"), -abs(pair["is"])))
        shifts = [pair for pair in self.between if pair["verdict"] == "common_shift"]
        shifts.sort(key=lambda pair: pair["shift_p"])
        return [*edges[:3], *shifts[:3]]

    def _hold_seen(self, images: str, shown: str, low: str | None, high: str | None) -> None:
        assert int(images.replace(",", "")) == self.document["graph"]["images"]["initial"]
        valid = []
        for one in shown.split("; "):
            found = re.fullmatch(r"(.+): (\d+) % (.+)", one)
            assert found, one
            axis, percent, attribute = found.groups()
            counts = self.initial(axis)
            assert self.nodes[axis]["attributes"][int(counts.argmax())] == attribute
            assert percent == f"{100 * counts.max() / counts.sum():.0f}"
            assert not self.nodes[axis]["near_ideal"]
            valid.append(int(counts.sum()))
        if low is None:
            assert {*valid} == {int(images.replace(",", ""))}
        else:
            ends = [int(end.replace(",", "")) for end in (low, high or low)]
            assert ends == [min(valid), max(valid)]

    def _hold_hidden(self, text: str) -> None:
        form = rf"ways: ([^,:]+), on average {INTERVAL} \(their sum: {NUMBER}\)(?:; also (.+))?\.$"
        found = re.search(form, text)
        assert found and self.result.prompts
        first, mean, low, high, whole, others = found.groups()
        assert float(mean) == pytest.approx(self._mean_distance(first), abs=6e-4)
        assert float(low) <= float(mean) <= float(high)
        assert float(whole) == pytest.approx(self._distance(first), abs=6e-4)
        told = re.sub(r" and \d+ more axes$", "", others).split(", ") if others else []
        means = [self._mean_distance(axis) for axis in (first, *told)]
        assert means == sorted(means, reverse=True)
        assert all(self._mean_distance(axis) > self._distance(axis) for axis in told)

    def _mean_distance(self, axis: str) -> float:
        """Of the prompts' own initial images to the ideal."""
        own = map(Recount, self.result.prompts)
        return float(np.mean([p._distance(axis) for p in own if p.nodes[axis]["w1"] is not None]))

    def _distance(self, axis: str) -> float:
        counts = self.initial(axis)
        return self.distance(axis, counts / counts.sum())

    @staticmethod
    def _say_clear(clear: int, edges: int) -> str:
        if edges == 1:
            return ", and it is clear" if clear else ", but it is not clear"
        many = "all" if clear == edges else str(clear)
        return f"; for {many} of them it is clear" if clear else "; it is not clear for any of them"

    def _hold_linked(self, text: str) -> None:
        tested = sum(pair["status"] != "insufficient" for pair in self.between)
        edges = [pair for pair in self.between if pair["edge"]]
        shifts = [pair for pair in self.between if pair["verdict"] == "common_shift"]
        cut = [pair for pair in self.between if "below_min_is" in pair["flags"]]
        left = text
        if found := LINKED.search(left):
            assert (int(found[1]), int(found[2])) == (len(edges), tested)
            clear = sum(pair["verdict"] in ("towards", "away") for pair in edges)
            assert found[3] == self._say_clear(clear, len(edges))
            left = left.replace(found[0], "")
        else:
            assert not edges
        for pattern, some in ((SHIFTED, shifts), (CUT, cut)):
            found = pattern.search(left)
            assert (found is not None) == bool(some)
            if found:
                assert int(found[1]) == len(some) and found[2] in (None, str(tested))
                left = left.replace(found[0], "")
        if found := NONE.search(left):  # "no link" is said only of pairs of which nothing was found
            assert not edges and not shifts and len(cut) < tested
            assert found[1] == (None if cut or tested == 1 else str(tested))
            assert ("the one pair" in found[0]) == (tested == 1)
            left = left.replace(found[0], "")
        if not tested:
            left = left.replace("No pair of axes could be tested.", "")
        assert not left.strip(), left

    def _holds_pictures(self, text: str, pair: Json) -> bool:
        """Whether a sentence about pictures is of this pair; its numbers are counted again."""
        initial, arms = self.initial(pair["target"]), self.arms(pair)
        shares = arms / arms.sum(axis=1, keepdims=True)
        names = self.nodes[pair["target"]]["attributes"]
        if found := MIXED.fullmatch(text):
            asked, called, axis, *numbers = found.groups()
            sources = self.nodes[pair["source"]]["attributes"]
            listed = {
                f"{words.join_words(sources)} equally",
                f"all {len(sources)} of {pair['source']} equally",
            }
            if axis != pair["target"] or asked not in listed:
                return False
            place = names.index(called)
            before, after = initial / initial.sum(), shares.mean(axis=0)
            assert np.abs(after - before)[place] == pytest.approx(np.abs(after - before).max())
            told = before[place], after[place]
            assert pair["verdict"] in ("towards", "away", "common_shift")
        else:
            found = ARMS.fullmatch(text)
            assert found, text
            high, source, most, *ends, called, axis, low, least, low_end, high_end = found.groups()
            if (source, axis) != (pair["source"], pair["target"]):
                return False
            numbers = [most, *ends, least, low_end, high_end]
            column = shares[:, names.index(called)]
            assert np.ptp(column) == pytest.approx(np.ptp(shares, axis=0).max())
            arms_of = self.nodes[source]["attributes"]
            told = column[arms_of.index(high)], column[arms_of.index(low)]
            assert told == (column.max(), column.min())
            assert pair["verdict"] in ("below_delta", "edge_undetermined")
        for share, (value, start, end) in zip(told, (numbers[:3], numbers[3:]), strict=True):
            assert value == f"{share * 100:.0f}"
            assert int(start) <= int(value) <= int(end)
        return True

    def hold_pair(self, pair: Json) -> None:
        """What is said of a pair is what its verdict allows, with its numbers."""
        text = words.plain(verdict_words.about_pair(pair, self.document)).replace("\u00a0", " ")
        if found := OPPOSITE.search(text):
            mean = pair["is_mean_prompt"]
            assert pair["is"] * mean < 0 and found.groups() == (
                str(pair["n_mean_prompts"]),
                f"{mean:+.3f}",
            )
        directed = verdict_words.is_found(pair) and pair["sign"] in ("towards", "away")
        assert bool(found) == (directed and "opposite_mean" in pair["flags"])
        text = OPPOSITE.sub("", text)
        source, target, verdict = pair["source"], pair["target"], pair["verdict"]
        settings = self.document["graph"]["settings"]
        if not verdict_words.is_found(pair):
            assert "moves" not in text and "shifts" not in text and "decides" not in text
        if pair["status"] != "ok" and not verdict_words.is_found(pair):
            assert (
                text == f"{source} → {target} could not be decided: {verdict_words.reason(pair)}."
            )
            return
        pictures, claim = "", text
        if verdict_words.is_found(pair) and text.startswith(("Asking", "Of the")):
            ends = next(found.end() for found in (MIXED.match(text), ARMS.match(text)) if found)
            pictures, claim = text[:ends], text[ends + 1 :]
            assert self._holds_pictures(pictures, pair)
        where = {"towards": "towards its ideal", "away": "away from its ideal"}
        if verdict in where:
            assert claim == f"Diversifying {source} moves {target} {where[verdict]}."
            assert (pair["is"] > 0) == (verdict == "towards")
        elif verdict == "below_delta" and pair["edge"]:
            assert claim == (
                f"What is asked of {source} decides {target}, but diversifying changes the "
                f"distance to the ideal by less than {settings['delta']:g}."
            )
            assert max(-pair["is_ci_low"], pair["is_ci_high"]) < settings["delta"]
        elif verdict == "edge_undetermined":
            start = f"What is asked of {source} decides {target}; the direction in which "
            assert claim.startswith(f"{start}diversifying moves it lies within chance")
        elif verdict == "common_shift":
            direction = f", {where[pair['sign']]}" if pair["sign"] in where else ""
            start = f"Whatever is asked of {source} shifts {target}{direction}; no difference "
            assert claim.startswith(f"{start}between the requests is shown")
            assert pair["shift_p_adjusted"] <= 0.05 and not pair["edge"]
        elif "below_min_is" in pair["flags"]:
            cut = self.document["graph"]["edge_rule"]["min_is"]
            assert f"(p = {words.p_value(pair['p'])}), but |IS| is below {cut:g}" in text
            assert abs(pair["is"]) < cut
        elif verdict == "below_min_v":
            assert f"below V = {settings['min_v']:g}: at most {pair['v_high']:.2f}" in text
            assert pair["v_high"] < settings["min_v"]
        else:
            assert "That does not prove them independent" in text
            assert "is no link" not in text and "no effect" not in text
        if verdict_words.is_found(pair):
            self._hold_evidence(pair)

    def _hold_evidence(self, pair: Json) -> None:
        text = words.plain(verdict_words.evidence(pair, self.document))
        found = EVIDENCE.fullmatch(text)
        assert found, text
        what, value, low, high, prompts, mean, *controlled = found.groups()[:9]
        p, shift, before, after, asked, initial = found.groups()[9:]
        start, arms = self.initial(pair["target"]), self.arms(pair)
        distances = (
            self.distance(pair["target"], start / start.sum()),
            self.distance(pair["target"], (arms / arms.sum(axis=1, keepdims=True)).mean(axis=0)),
        )
        assert float(before) == pytest.approx(distances[0], abs=6e-4)
        assert float(after) == pytest.approx(distances[1], abs=6e-4)
        if what == "IS":
            assert float(value) == pytest.approx(distances[0] - distances[1], abs=1.1e-3)
        field = "is" if what == "IS" else "is_matched"
        ends = [float(end) for end in (low, high)]
        assert ends == pytest.approx([pair[f"{field}_ci_low"], pair[f"{field}_ci_high"]], abs=6e-4)
        assert p == words.p_value(pair["p"]) and shift == words.p_value(pair["shift_p"])
        assert int(initial.replace(",", "")) == start.sum()
        if asked is not None:
            assert int(asked.replace(",", "")) == arms.sum()
        if prompts is not None:
            own = [
                link["is"]
                for part in self.result.prompts
                for link in part.pair_records()
                if (link["source"], link["target"]) == (pair["source"], pair["target"])
                and link["is"] is not None
            ]
            assert int(prompts) == len(own)
            assert float(mean) == pytest.approx(np.mean(own), abs=6e-4)
        assert len(controlled) == 3

    def hold_all(self) -> None:
        self.hold_lead()
        for pair in self.between:
            self.hold_pair(pair)
        self._hold_overview()

    def _hold_overview(self) -> None:
        """The end of a build tells the same sentences, and no direction that is not claimed."""
        told = self.told_first()
        longest = next(overviews(ReportInput(self.document, self.pairs), "run"))
        rows = [
            str(plain(row))
            for part in longest
            for row in getattr(part, "rows", ())
            if isinstance(row, str)
        ]
        findings = [
            row.replace("\u00a0", " ")
            for row in rows
            if row.startswith(("Asking", "Of the images"))
        ]
        for row, pair in zip(findings, told, strict=False):
            sentence = re.sub(r": (towards its|away from its) ideal\.$", ".", row)
            assert self._holds_pictures(sentence, pair)
            assert (sentence != row) == (pair["sign"] in ("towards", "away"))


def test_the_verdicts_here_are_all_there_are() -> None:
    assert {*VERDICTS} == {*get_args(Verdict)}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_each_verdict_is_told_with_its_numbers(verdict: str) -> None:
    recount = Recount(biasgraph.analyze(answers_of(*VERDICTS[verdict]), bootstrap=400))
    [pair] = [pair for pair in recount.between if pair["source"] == "a"]
    assert pair["verdict"] == verdict
    recount.hold_all()
    said = words.plain(" ".join(lead(recount.document, recount.pairs)))
    found = verdict in ("towards", "away", "below_delta", "edge_undetermined")
    assert ("decides another" in said) == found
    assert ("shifts another" in said) == (verdict == "common_shift")
    assert ("No link was found" in said) == (verdict in ("below_min_v", "undecided"))
    edges, why = edges_words(recount.document, recount.pairs)
    wanted = {
        "undecided": "undecidable: too few images",
        "below_min_v": "no edge",
        "common_shift": "1 common shift",
    }
    assert edges == ("1 edge" if found else wanted[verdict]) and words.plain(why) in said


def test_a_finding_says_that_the_average_prompt_moves_the_other_way() -> None:
    arms = [[40, 8], [20, 28]]
    tables = [answers_of([40, 8], arms, "a nurse"), answers_of([8, 40], arms, "a cook")]
    found = Recount(biasgraph.analyze(pd.concat(tables), bootstrap=200))
    [pair] = [one for one in found.between if "opposite_mean" in one["flags"]]
    assert OPPOSITE.search(words.plain(verdict_words.about_pair(pair, found.document)))
    found.hold_pair(pair)


def test_a_sentence_that_says_more_is_found() -> None:
    recount = Recount(biasgraph.analyze(answers_of(*VERDICTS["towards"]), bootstrap=400))
    [pair] = [pair for pair in recount.between if pair["source"] == "a"]
    with pytest.raises(AssertionError):
        recount.hold_pair({**pair, "verdict": "edge_undetermined"})
    with pytest.raises(AssertionError):
        recount.hold_pair({**pair, "share_after": 0.9})
    with pytest.raises(AssertionError):
        recount.hold("No link was found in any of 2 pairs.")
    with pytest.raises(AssertionError):
        recount.hold("Of 49 images of “a thing”, the judge's answers say b: 96 % b0.")


@pytest.fixture(scope="module")
def several() -> biasgraph.Result:
    """Three prompts that lean different ways, so that their sum hides some of it."""
    frames = []
    for number, verdict in enumerate(("towards", "away", "edge_undetermined", "common_shift")):
        before, arms = VERDICTS[verdict]
        turned = before[::-1] if number % 2 else before
        frames.append(answers_of(turned, arms[:2], f"prompt {number}"))
    return biasgraph.analyze(pd.concat(frames, ignore_index=True), bootstrap=400)


def test_several_prompts_and_their_sum(several: biasgraph.Result) -> None:
    for result in (several, *several.prompts):
        Recount(result).hold_all()


def told_of(results: Sequence[biasgraph.Result]) -> Iterator[str]:
    return itertools.chain.from_iterable(
        (pair["verdict"] for pair in Recount(one).between if pair["verdict"]) for one in results
    )


@pytest.mark.slow(reason="a build of the sandbox's 26 occupations")
def test_every_sentence_of_26_occupations_follows_from_their_tables(tmp_path: Path) -> None:
    copy_run(
        tmp_path / "run", "build", "--prompts", "occupations", "--images", "6", "--only",
        "gender,age,clothing,environment", "--controls", "0", "--min-valid", "3", "--bootstrap",
        "200", "--alpha", "0.01",
    )  # fmt: skip
    result = biasgraph.load(tmp_path / "run")
    assert len(result.prompts) == 26
    for one in (result, *result.prompts):
        Recount(one).hold_all()
    assert len({*told_of((result, *result.prompts))}) > 2
