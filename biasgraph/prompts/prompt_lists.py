"""Many prompts at once: a shipped list by its name, a user's file, or what a search found."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from biasgraph.data.axes import AxisSet
from biasgraph.data.file_names import FOUND, MINED
from biasgraph.data.found_file import FoundFile
from biasgraph.data.mined_file import MinedFile
from biasgraph.errors import InputError, did_you_mean, printable, show_path
from biasgraph.io import resources
from biasgraph.io.text_files import at_place, lines_of, read_bytes
from biasgraph.prompts.counterfactuals import PromptPlan, plan_prompts
from biasgraph.prompts.grammar import indefinite_article
from biasgraph.prompts.tokens import excerpt


@dataclass(frozen=True)
class PromptList:
    """Prompts, each with the place where it stands, for messages."""

    name: str
    prompts: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, given: str | Path | Sequence[str]) -> PromptList:
        """A shipped list, a search's run, a file (what has a suffix or separator), or the texts.

        The shipped lists hold nouns, as BiasConnect supp. A.1 does: "librarian" becomes the prompt
        "a librarian". The directory of a mine run gives its mined prompts, the worst first, that
        of a search run what it found for any lambda, without the baselines. Lines of a file are
        prompts as they stand; those that are blank or begin with # are left out.

        Raises:
            InputError: an unknown name, an unreadable file, not UTF-8, no prompts, or a directory
                without a readable mined.json or found.json with a prompt.
        """
        if not isinstance(given, str | Path):
            if not given:
                raise InputError("the list of prompts is empty")
            return cls(
                "prompts", tuple((text, f"prompt {i}") for i, text in enumerate(given, start=1))
            )
        path, shipped = Path(given), resources.names("prompts", ".txt")
        if given not in ("", *shipped) and os.path.isdir(path):
            return cls(f"{path.resolve().name}-prompts", _read_searched(path))
        if isinstance(given, Path) or path.suffix or path.name != given:
            return cls(path.stem, _lines(path))
        if given not in shipped:
            raise InputError(
                f"unknown prompt list '{printable(given[:100])}'."
                f"{did_you_mean(given[:100], shipped)} Shipped: {', '.join(shipped)}; for your "
                "own list, give its path ending in .txt, or the directory of a `biasgraph mine` or "
                "`biasgraph search` run"
            )
        nouns = resources.lines("prompts", f"{given}.txt")
        prompts = (f"{indefinite_article(noun)} {noun}" for noun in nouns)
        return cls(given, tuple((text, given) for text in prompts))

    def plans(
        self,
        axes: AxisSet,
        check: Callable[[Sequence[str]], object] = lambda texts: None,
        controls: int = 0,
    ) -> list[PromptPlan]:
        """Every prompt with its counterfactuals, in the order of the list.

        Args:
            axes: along which to intervene.
            check: raises InputError for texts that the generator cannot take.
            controls: neutral rewordings of each prompt.

        Raises:
            InputError: as `plan_prompts` and `check`, with the place; a repeated prompt.
        """
        plans: list[PromptPlan] = []
        places: dict[str, str] = {}
        for text, place in self.prompts:
            with at_place(place):
                plan = plan_prompts(text, axes, controls)
                initial = plan.initial.text
                if initial in places:
                    raise InputError(
                        f"the prompt '{excerpt(initial)}' is already in {places[initial]}"
                    )
                check([prompt.text for prompt in plan.prompts])
            plans.append(plan)
            places[initial] = place
        return plans


def _read_searched(run: Path) -> tuple[tuple[str, str], ...]:
    """The prompts that a run of `mine` or `search` found, each with its place in the file."""
    if os.path.exists(run / FOUND):
        name, prompts = FOUND, FoundFile.of(run).found
    elif os.path.exists(run / MINED):
        name, prompts = MINED, [row.prompt for row in MinedFile.of(run).mined]
    else:  # of a folder that nobody may look into, too
        raise InputError(
            f"{show_path(run)} is not a run of `biasgraph mine` or `biasgraph search`: it contains "
            f"neither {MINED} nor {FOUND}"
        )
    source = show_path(run / name)
    if not prompts:
        raise InputError(f"{source} has no prompt that a search found")
    return tuple((text, f"{source}, prompt {place}") for place, text in enumerate(prompts, start=1))


def _lines(path: Path) -> tuple[tuple[str, str], ...]:
    source = printable(str(path))
    lines = tuple(lines_of(read_bytes(path, "the prompts in"), source))
    if not lines:
        raise InputError(f"{source} contains no prompts: write one per line")
    return lines
