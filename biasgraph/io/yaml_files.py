"""YAML from users: size-limited, without aliases or tags, and knowing the line of every entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from biasgraph.errors import InputError, printable

MAX_BYTES = 100_000
MAX_DEPTH = 100  # of brackets; PyYAML's time grows with the square of it and more
MAX_KEY = 200  # characters; names have at most 100

# libyaml's parser where PyYAML was built with it: many times faster, and linear in nesting.
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Location = tuple[str | int, ...]
Problem = tuple[Location, str]


@dataclass(frozen=True)
class YamlDocument:
    """Plain Python data and the node tree it came from."""

    data: Any
    source: str
    root: yaml.Node | None

    def line(self, location: Location) -> int:
        """Return the line (from 1) of the entry at `location`, or of what it is missing from."""
        node = self.root
        line = 0 if node is None else node.start_mark.line
        for step in location:
            entry = _entry(node, step)
            if entry is None:
                break
            line, node = entry
        return line + 1

    def refuse(self, problems: Sequence[Problem], what: str) -> None:
        """Raise one InputError that lists all `problems` by line; do nothing if there are none."""
        if not problems:
            return
        by_line = sorted({(self.line(location), text) for location, text in problems})
        lines = [f"line {line}: {text}" for line, text in by_line]
        if len(lines) == 1:
            raise InputError(f"{what} '{self.source}', {lines[0]}")
        title = f"{what} '{self.source}' has {len(lines)} problems:"
        raise InputError("\n  ".join([title, *lines]))


def read_yaml(path: Path, what: str) -> YamlDocument:
    """Read a user's YAML file.

    Args:
        path: of the file.
        what: its kind, for errors: "axis set", "ideal".

    Raises:
        InputError: unreadable, larger than `MAX_BYTES`, not UTF-8, not YAML.
    """
    name = printable(str(path)[:200])
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read {what} '{name}': {reason}") from None
    if len(raw) > MAX_BYTES:
        raise InputError(f"{what} '{name}' is larger than {MAX_BYTES:,} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{what} '{name}' is not UTF-8 text") from None
    return parse_yaml(text, name, what)


def parse_yaml(text: str, source: str, what: str) -> YamlDocument:
    """Parse YAML text; InputError names `what`, `source` and the line."""
    if _bracket_depth(text) > MAX_DEPTH:
        raise InputError(f"{what} '{source}' is nested too deeply")
    try:
        # Aliases are refused before anything is built: nested ones grow without bound.
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.AliasEvent):
                where = f", line {event.start_mark.line + 1}" if event.start_mark else ""
                raise InputError(f"{what} '{source}'{where}: YAML aliases are not supported")
        loader = _Loader(text)
        root = loader.get_single_node()
        document = YamlDocument(None, source, root)
        document.refuse(list(_bad_keys(root, ())), what)
        data = None if root is None else loader.construct_document(root)
    except (LookupError, AttributeError, TypeError):  # PyYAML's, of "!!bool x", "!!timestamp x"
        raise InputError(
            f"{what} '{source}' is not readable YAML: a value is not what its tag says"
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{what} '{source}' is not readable YAML{_reason(error)}") from None
    return YamlDocument(data, source, root)


def _bracket_depth(text: str) -> int:
    depth = deepest = 0
    for bracket in re.findall(r"[][{}]", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _entry(node: yaml.Node | None, step: str | int) -> tuple[int, yaml.Node] | None:
    """The line (from 0) and the value of one key or index, or None where there is none."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return key.start_mark.line, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        item = node.value[step]
        return item.start_mark.line, item
    return None


def _bad_keys(node: yaml.Node | None, location: Location) -> Iterator[Problem]:
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _bad_keys(item, (*location, index))
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if isinstance(key.value, str) and key.value in seen:
                yield location, f"key '{printable(key.value[:MAX_KEY])}' is repeated"
            if isinstance(key.value, str) and len(key.value) > MAX_KEY:
                yield location, f"a key is longer than {MAX_KEY} characters"
            seen.add(str(key.value))
            yield from _bad_keys(value, (*location, str(key.value)))


def _reason(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None)
    where = f", line {mark.line + 1}" if mark is not None else ""
    if isinstance(error, RecursionError):
        problem = "nested too deeply"
    elif problem is None:
        problem = str(error).partition("\n")[0]
    return printable(f"{where}: {problem}")
