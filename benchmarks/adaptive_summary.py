"""The tables of `adaptive`: wrong claims, images by strength, whole audits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.shares import clustered, mean, number, shown, table, wilson

Record = dict[str, Any]
FIXED = {0.2: (329, 480), 0.3: (142, 214), 0.4: (80, 112), 0.5: (51, 72)}
"""V -> images an arm with which a fixed test of a 2 x 2 table has a power of .9 and of .99."""
SERVING = 329
"""Those that serve V = .2, for somebody who does not know V."""
MIN_V, DELTA = 0.3, 0.05
NOTHING = ("below_min_v", "common_shift")
CLAIMS = ("towards", "away")


def markdown(records: Sequence[Record]) -> str:
    """All tables."""
    kinds: dict[str, list[Record]] = {"claims": [], "strength": [], "occupation": []}
    for record in records:
        kinds[record["audit"][0]].append(record)
    parts = [claims(kinds["claims"]), strengths(kinds["strength"])]
    return "\n".join([*parts, occupations(kinds["occupation"])])


def claims(records: Sequence[Record]) -> str:
    """Wrong claims over all looks, by world; alpha is .01, the others' nominal rate .05."""
    rows = []
    for world in dict.fromkeys(record["audit"][1] for record in records):
        own = [record for record in records if record["audit"][1] == world]
        audits = [audit for record in own for audit in record["audits"]]
        pairs = [audit["pairs"] for audit in audits]
        v, is_ = own[0]["v"], own[0]["is"]
        wrong: list[tuple[bool, Callable[[list[Any]], bool]]] = [
            (v == 0, lambda pair: pair[1]),
            (is_ == 0, lambda pair: pair[0] in CLAIMS),
            (v >= MIN_V, lambda pair: not pair[1] and pair[2] and pair[0] in NOTHING),
            (is_ >= DELTA, lambda pair: pair[0] == "below_delta"),
        ]
        cells = [_rate(pairs, false) if asked else "-" for asked, false in wrong]
        reached = [sum(audit["e_reached"]) for audit in audits]
        sizes = [len(audit["e_reached"]) for audit in audits]
        e_cells = ["-", "-"]
        if v == 0:
            ever = sum(audit["e_bh_most"] > 0 for audit in audits)
            e_cells = [shown(clustered(reached, sizes), 4), shown(wilson(ever, len(audits)), 4)]
        every = [pair for one in pairs for pair in one]
        spent = shown(mean([pair[3] for pair in every]), 0)
        open_ = number(sum(not pair[2] for pair in every) / len(every), 2)
        rows.append([world, str(len(audits)), *cells, *e_cells, spent, open_])
    header = ["world", "audits", "false edge", "false direction", 'false "nothing here"',
              'false "below delta"', "E ever at 1 / alpha", "e-BH ever", "images a pair",
              "open at the end"]  # fmt: skip
    return table(header, rows)


def _rate(audits: Sequence[Sequence[list[Any]]], false: Callable[[list[Any]], bool]) -> str:
    hits = [sum(map(bool, map(false, pairs))) for pairs in audits]
    return shown(clustered(hits, [len(pairs) for pairs in audits]), 4)


def strengths(records: Sequence[Record]) -> str:
    """Images an arm of one 2 x 2 pair at alpha 1e-4, beside fixed numbers of them."""
    rows = []
    for v in sorted({record["audit"][1] for record in records}):
        own = [record for record in records if record["audit"][1] == v]
        pairs = [pair for record in own for pair in record["pairs"]]
        stops = [stop for record in own for stop in record["e_stops"]]
        images = mean([pair[3] for pair in pairs])
        fixed = FIXED.get(v, ("-", "-"))
        rows.append(
            [
                number(v, 1),
                shown(wilson(sum(pair[1] for pair in pairs), len(pairs))),
                shown(images, 0),
                f"{fixed[0]} / {fixed[1]}",
                number(images["value"] / SERVING, 2),
                shown(wilson(sum(stop is not None for stop in stops), len(stops))),
                shown(mean([stop or 384 for stop in stops]), 0),
            ]
        )
    header = ["V", "called an edge", "images an arm", "fixed, power .9 / .99",
              f"of the {SERVING} that serve V .2", "E: called an edge",
              "E: images an arm"]  # fmt: skip
    return table(header, rows)


def occupations(records: Sequence[Record]) -> str:
    """Whole audits of the sandbox's occupations against 384 images of every prompt."""
    rows = []
    kinds = dict.fromkeys((record["audit"][1], record["audit"][3]) for record in records)
    both = dict.fromkeys(("both", decide) for _, decide in kinds)
    for world, decide in [*kinds, *both]:
        own = [r for r in records if r["audit"][3] == decide and world in (r["audit"][1], "both")]
        pairs = [pair for record in own for pair in record["pairs"]]
        clear = [pair for pair in pairs if (pair[4] or 0) >= MIN_V]
        none = [pair for pair in pairs if not pair[4]]
        told = [pair for pair in pairs if pair[0] in CLAIMS]
        wrong = sum((pair[0] == "towards") != (pair[5] > 0) for pair in told)
        below = sum(not pair[1] and pair[2] for pair in clear)
        spent, fixed = (sum(record[name] for record in own) for name in ("images", "fixed"))
        rows.append(
            [
                world,
                decide,
                str(len(own)),
                f"{spent:,}",
                number(spent / fixed, 2),
                shown(wilson(sum(pair[1] for pair in clear), len(clear))),
                f"{sum(pair[1] for pair in none)} of {len(none):,}",
                f"{below} of {len(clear):,}",
                f"{wrong} of {len(told):,}",
                number(sum(not pair[2] for pair in pairs) / len(pairs), 2),
            ]
        )
    header = ["world", "decided", "audits", "images", "of fixed 384", f"edges at V >= {MIN_V:g}",
              "false edges", 'false "nothing here"', "wrong directions", "open"]  # fmt: skip
    return table(header, rows)
