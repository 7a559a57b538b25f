"""The result of an audit in memory and on the disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, cast

from biasgraph.data import graph_document as graphs
from biasgraph.data.answers import Answers
from biasgraph.data.file_names import (
    ANSWERS,
    BY_PROMPT,
    DOCUMENTS,
    GRAPH,
    PAIRS,
    PROMPTS,
    RECORD,
    TABLES,
)
from biasgraph.data.pair_cells import PAIR_COLUMNS
from biasgraph.data.result_tables import (
    IntactTables,
    KnownTables,
    PairRecords,
    PromptTables,
    ResultTables,
    RowsByPrompt,
)
from biasgraph.errors import InputError, describe_missing, did_you_mean, printable, show_path
from biasgraph.io.csv_files import CsvFile, to_csv
from biasgraph.io.json_files import check, parse_json, to_json
from biasgraph.io.text_files import read_bytes, refuse_pipe

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    from matplotlib.figure import Figure
    from PIL.Image import Image

    from biasgraph.data.findings import Finding

NOTEBOOK = "biasgraph.report.notebook"
"""Where the words and the figure for notebooks are made; named, because it stands above."""
SCHEMA_NAME = "biasgraph"
SCHEMA_VERSION = "1"


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The causal graph of a prompt's biases, or of several, and what it was computed from.

    Attributes:
        document: Everything graph.json holds, in plain JSON types; what is undefined is None.
        frames: Where `pairs`, `tables` and `answers` come from.
        directory: Where it was saved last, if it was.
        prompts: With several prompts, the result of each; this one is then their sum's.
    """

    document: graphs.Document
    frames: ResultTables
    directory: Path | None = None
    prompts: tuple[Result, ...] = ()

    def __repr__(self) -> str:
        axes, edges = len(self.document["nodes"]), len(self.document["links"])
        where = "" if self.directory is None else f" in {str(self.directory)!r}"
        prompt = self.document["graph"]["prompt"]
        what = f"{len(self.prompts)} prompts" if prompt is None else repr(prompt)
        size = f"{axes} {'axis' if axes == 1 else 'axes'}, {edges} edge{'' if edges == 1 else 's'}"
        return f"<Result of {what}{where}: {size}>"

    def _repr_html_(self) -> str:
        """What notebooks show: the figure of the graph, and the overview that a build ends with."""
        return str(import_module(NOTEBOOK).result_html(self))

    def plot(self) -> Figure:
        """The graph as a matplotlib figure, which notebooks show; `savefig` writes it."""
        return cast("Figure", import_module(NOTEBOOK).graph_plot(self))

    @property
    def pairs(self) -> pd.DataFrame:
        """Every ordered pair of axes, edge or not, the diagonal included (pairs.csv)."""
        return self.frames.pairs

    @property
    def tables(self) -> pd.DataFrame:
        """The counts behind it (tables.csv)."""
        return self.frames.counts

    @property
    def answers(self) -> pd.DataFrame:
        """The answers table it was made from (answers.csv)."""
        return self.frames.answers

    @cached_property
    def graph(self) -> nx.DiGraph[str]:
        """The graph: axes with their fields as nodes, the edges that survived with theirs."""
        return graphs.graph_of(self.document)

    @cached_property
    def nodes(self) -> pd.DataFrame:
        """One row for each axis; nested numbers have dotted names ("w1_null.q95").

        What other methods found has `findings.METHOD.NAME`; how it is shown is in `document`.
        """
        from biasgraph.data import frames as tables

        return tables.nodes_frame(self.document["nodes"])

    @property
    def edges(self) -> pd.DataFrame:
        """The rows of `pairs` that are edges, the strongest first.

        `sensitivity` is the column `is` under a name that is not a keyword of Python.
        """
        edges = self.pairs[self.pairs["edge"].astype(bool)]
        edges = edges.sort_values("is", key=abs, ascending=False).reset_index(drop=True)
        edges.insert(list(edges.columns).index("is"), "sensitivity", edges["is"])
        return edges

    @cached_property
    def findings(self) -> pd.DataFrame:
        """The edges and common shifts in words, in the order in which reports tell them.

        Columns: `finding` (a sentence), `source`, `target`, `verdict`; the `category` of the target
        whose share moves most where the source's attributes are mixed, that share in percent
        `before` and `after`, and `sensitivity`, each with the ends of its 95 % interval (`_low`,
        `_high`); `evidence` (numbers of images, p, the ideal). What is undefined is missing.
        """
        return cast("pd.DataFrame", import_module(NOTEBOOK).findings_frame(self))

    def image(self, image: str) -> Image:
        """A picture by its id in the column `image` of `answers`; its `filename` is its file.

        Raises:
            InputError: There is no such image, it was withheld, its file is missing or damaged, or
                the result came from a table and has no pictures.
        """
        return cast("Image", import_module(NOTEBOOK).picture(self, image))

    @cached_property
    def by_prompt(self) -> pd.DataFrame:
        """One row for each of several prompts and axis: counts, shares, `w1` (prompts.csv)."""
        from biasgraph.data import frames as tables

        documents = [part.document for part in self.prompts]
        return tables.by_prompt_frame({d["graph"]["prompt"]: d["nodes"] for d in documents})

    def pair_records(self) -> PairRecords:
        """The rows of `pairs` as plain dicts; what is undefined is None."""
        return self.frames.pair_records()

    def files(self) -> dict[str, bytes]:
        """The contents of the files that `save` writes, by name; each prompt's in its folder."""
        return dict(self.each_file())

    def each_file(self) -> Iterator[tuple[str, bytes]]:
        """The same, one after the other: those of many prompts take much memory together."""
        from biasgraph.data import frames as tables

        for folder, part in zip(prompt_folders(self.document), self.prompts, strict=True):
            for name, content in part._graph_files().items():
                yield f"{folder}/{name}", content
        toy = self.document["graph"]["toy"]
        yield ANSWERS, to_csv(self.answers)
        yield TABLES, to_csv(tables.with_label(self.tables, toy))
        yield "graph.graphml", graphs.to_graphml(self.document)
        yield from self._graph_files().items()
        if self.prompts:
            by_prompt = tables.by_prompt_for_csv(self.by_prompt)
            yield BY_PROMPT, to_csv(tables.with_label(by_prompt, toy))

    def _graph_files(self) -> dict[str, bytes]:
        """Those that one of several prompts has: its rows of the others are in the run's."""
        from biasgraph.data import frames as tables

        toy = self.document["graph"]["toy"]
        nodes = tables.nodes_for_csv(self.document["nodes"])
        return {
            PAIRS: to_csv(tables.with_label(self.pairs, toy)),
            "nodes.csv": to_csv(tables.with_label(nodes, toy)),
            GRAPH: to_json(self.document),
        }

    def with_finding(self, name: str, finding: Finding) -> Result:
        """The same result with what was found about its graph, in the place of any before."""
        graph = self.document["graph"]
        findings = {**graph["findings"], name: finding.to_json()}
        graph = {**graph, "findings": findings}
        return replace(self, document={**self.document, "graph": graph})

    def place(self, directory: Path) -> Result:
        """The same result, saved in `directory`."""
        parts = zip(prompt_folders(self.document), self.prompts, strict=True)
        prompts = tuple(part.place(directory / folder) for folder, part in parts)
        return replace(self, directory=directory, prompts=prompts)


def load(directory: str | Path) -> Result:
    """Read a result back from its directory.

    Raises:
        InputError: there is none, it is damaged, or it was made by another version of biasgraph.
    """
    folder = Path(directory)
    document = read_document(folder)
    folders = _prompt_folders_of(folder, document)
    answers, counts = read_answers(folder, document), _counts(folder, document)
    pairs = _read_all_pairs(folder, document)
    result = Result(document, KnownTables(pairs, counts, answers.frame), folder)
    if not folders:
        return result
    rows = RowsByPrompt(counts), RowsByPrompt(answers.frame)

    def part(name: str) -> Result:
        own = read_document(folder / name)
        tables = PromptTables(own["graph"]["prompt"], _read_all_pairs(folder / name, own), *rows)
        if not all(one.has(tables.prompt) for one in rows):
            raise InputError(
                f"{show_path(folder)} is damaged: {ANSWERS} or {TABLES} has no rows about the "
                f"prompt of {printable(name)}"
            )
        return Result(own, tables, folder / name)

    return replace(result, prompts=tuple(part(name) for name in folders))


def load_intact(directory: Path) -> Result:
    """The same of files that are known to be as biasgraph wrote them: none is checked.

    Raises:
        InputError: one cannot be read.
    """
    document = read_document(directory, intact=True)
    tables = IntactTables.of_run(directory)

    def part(folder: Path) -> Result:
        own = read_document(folder, intact=True)
        return Result(own, tables.of_prompt(folder, own["graph"]["prompt"]), folder)

    folders = _prompt_folders_of(directory, document)
    parts = tuple(part(directory / name) for name in folders)
    return Result(document, tables, directory, parts)


def _prompt_folders_of(folder: Path, document: graphs.Document) -> list[str]:
    """The folders of the prompts of a result; InputError where its document is damaged."""
    try:
        return prompt_folders(document)
    except (LookupError, TypeError, ValueError):
        raise InputError(
            f"{show_path(folder / GRAPH)} is damaged: its prompt folders are invalid"
        ) from None


def _read_all_pairs(folder: Path, document: graphs.Document) -> pd.DataFrame:
    pairs = read_pairs(folder)
    due = {*product([node["id"] for node in document["nodes"]], repeat=2)}
    if len(pairs) != len(due) or {*zip(pairs["source"], pairs["target"], strict=True)} != due:
        raise InputError(
            f"{show_path(folder / PAIRS)} is damaged: it does not have one row for each pair of "
            f"the axes of {GRAPH}"
        )
    return pairs


def read_answers(folder: Path, document: graphs.Document) -> Answers:
    """The answers table that the graph in a folder was computed from.

    Raises:
        InputError: it cannot be read, or is damaged.
    """
    above = _holder_of_tables(folder)
    path = (above or folder) / ANSWERS
    refuse_pipe(path)
    answers = Answers.read(path)
    if above is not None:
        answers = answers.about(str(document["graph"]["prompt"]))
    known = [str(node["id"]) for node in document["nodes"]]
    for axis in answers.axes:
        if axis not in known:
            lacks = f"{show_path(path)} is damaged: {GRAPH} has no axis"
            raise InputError(describe_missing(lacks, axis, known))
    return answers


def _counts(folder: Path, document: graphs.Document) -> pd.DataFrame:
    from biasgraph.data.frames import OLD_TABLE_COLUMNS, counts_from_cells

    above = _holder_of_tables(folder)
    path = (above or folder) / TABLES
    counts = _read_typed(counts_from_cells, path, OLD_TABLE_COLUMNS)
    if above is None:
        return counts
    about = (counts["prompt"] == str(document["graph"]["prompt"])).to_numpy()
    return counts[about].reset_index(drop=True)


def _holder_of_tables(folder: Path) -> Path | None:
    """The run above whose tables have the rows of the prompt in `folder`; None if it has its own.

    Runs of older versions wrote the tables of every prompt into its folder.
    """
    return None if (folder / ANSWERS).exists() else run_above(folder)


def run_above(folder: Path) -> Path | None:
    """The result of several prompts in which `folder` holds one; None for any other folder."""
    above = folder.resolve().parent
    is_prompt = above.name == PROMPTS and (above.parent / GRAPH).is_file()
    return above.parent if is_prompt else None


def run_directory(directory: Path | None) -> Path | None:
    """The run that has a result's pictures: its directory, or the run above; None if none has."""
    if directory is None:
        return None
    places = (directory, run_above(directory))
    return next((path for path in places if path and (path / RECORD).is_file()), None)


def prompt_folders(document: graphs.Document) -> list[str]:
    """The folders of a document's prompts, as "prompts/NAME"; ValueError for any others."""
    folders = [str(part["directory"]) for part in document["graph"].get("prompts", ())]
    for folder in folders:
        if not re.fullmatch(rf"{PROMPTS}/[\w-]+", folder):
            raise ValueError(folder)
    return folders


def why_no_run(folder: Path) -> str:
    """Why a result has no pictures of its own, to end an error line with."""
    above = run_above(folder)
    if above is not None and (above / RECORD).is_file():
        return f"it is one prompt of the run in {show_path(above)}, which has them"
    return "it came from a table"


def _why_no_graph(folder: Path) -> str:
    if not folder.is_dir():
        return _missing(folder)
    commands = (command for name, command in DOCUMENTS.items() if (folder / name).exists())
    if command := next(commands, None):
        return f"{show_path(folder)} has no graph: it holds what `biasgraph {command}` wrote"
    if (folder / RECORD).exists():
        return f"the run in {show_path(folder)} is unfinished: rerun its build command to resume"
    return f"{show_path(folder)} holds no result: {GRAPH} is missing"


def _missing(folder: Path) -> str:
    near: list[str] = []
    with suppress(OSError, ValueError):
        near = [entry.name for entry in folder.absolute().parent.iterdir() if entry.is_dir()]
    return f"{show_path(folder)} does not exist.{did_you_mean(folder.name, near)}"


def read_document(folder: Path, intact: bool = False) -> graphs.Document:
    """The document of graph.json in `folder`, unchecked if intact; InputError as for `load`."""
    path = folder / GRAPH
    refuse_pipe(path)
    try:
        document = parse_json(path.read_bytes(), show_path(path))
    except NotADirectoryError:
        raise InputError(f"{show_path(folder)} is a file, not the directory of a result") from None
    except FileNotFoundError:
        raise InputError(_why_no_graph(folder)) from None
    except OSError as error:
        raise InputError(f"cannot read {show_path(path)}: {error.strerror}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    name, _, version = str(schema).partition("/")
    if name != SCHEMA_NAME:
        raise InputError(f"{show_path(path)} is not a biasgraph graph")
    if version != SCHEMA_VERSION:
        raise InputError(
            f"{show_path(path)} has schema version {printable(version)}; this biasgraph reads "
            f"version {SCHEMA_VERSION}: install a newer one"
        )
    if not intact:
        from biasgraph.data.graph_model import GraphDocument  # tens of milliseconds to import

        check(GraphDocument, document, show_path(path))
    return dict(document)


def read_pairs(folder: Path) -> pd.DataFrame:
    """The frame of pairs.csv in `folder`; InputError as for `load`."""
    from biasgraph.data.frames import pairs_from_cells

    return _read_typed(pairs_from_cells, folder / PAIRS, PAIR_COLUMNS)


def _read_typed(
    reader: Callable[[pd.DataFrame], pd.DataFrame], path: Path, columns: Sequence[str]
) -> pd.DataFrame:
    refuse_pipe(path)
    cells = CsvFile(read_bytes(path), show_path(path), columns).frame()
    if not {*columns} <= {*cells.columns}:
        raise InputError(f"{show_path(path)} is damaged: columns are missing")
    try:
        return reader(cells)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{show_path(path)} is damaged: {printable(str(error))}") from None
