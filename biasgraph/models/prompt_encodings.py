"""Encodes each prompt once: text encoders are often larger than what draws the image."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ROOM = 4 * 2**30
"""Bytes of main memory for encodings; what does not fit is encoded whenever it is needed."""

Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Part:
    """One text's part of one element of a result.

    Attributes:
        kind: "row" of a tensor; "item" of a list, of the text's own length (Z-Image); "same" for
            all texts: None, an empty list, zeros without a row for each (FLUX's ``text_ids``).
        value: The part itself.
        home: The device that it was made on, where it is kept in main memory.
    """

    kind: str
    value: Any
    home: Any = None

    @property
    def bytes(self) -> int:
        """Of main memory."""
        return int(self.value.numel() * self.value.element_size()) if _is_tensor(self.value) else 0

    def move_to_memory(self) -> Part:
        """Itself in main memory."""
        if not _is_tensor(self.value):
            return self
        return Part(self.kind, self.value.to("cpu"), self.value.device)

    def value_at_home(self) -> Any:
        """Its value on the device where it was made."""
        return self.value if self.home is None else self.value.to(self.home)


Row = tuple[Part, ...]


@dataclass
class EncodingCache:
    """A pipeline's ``encode_prompt`` that encodes no text twice.

    A call with a list of n texts becomes n calls with one, whose results are kept and put together;
    each text is encoded alone, so that nothing depends on what it travelled with. The first result
    that is put together is held against the pipeline's own. Where the two are not of one form, or
    where results do not fit together (texts padded to different lengths), the pipeline's own is
    what counts.
    """

    encode: Callable[..., Any]
    room: int = ROOM
    _rows: dict[Key, Row] = field(default_factory=dict)
    _trusted: bool | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the pipeline would have encoded; the same parameters."""
        call = inspect.signature(self.encode).bind(*args, **kwargs)
        call.apply_defaults()
        keys = None if self._trusted is False else _keys(call.arguments)
        if keys is None:
            return self.encode(*args, **kwargs)
        rows: dict[Key, Row] = {}
        for key in dict.fromkeys(keys):
            row = self._rows.get(key) or self._learn(key, call.arguments, keys.index(key))
            if row is None:
                return self.encode(*args, **kwargs)
            rows[key] = row
        together = _put_together([rows[key] for key in keys])
        if together is None:
            return self.encode(*args, **kwargs)
        if self._trusted is None and len(rows) > 1:
            own = self.encode(*args, **kwargs)
            self._trusted = _form(together) == _form(own)
            return own
        return together

    def forget(self) -> None:
        """Free the memory."""
        self.room += sum(part.bytes for row in self._rows.values() for part in row)
        self._rows.clear()

    def _learn(self, key: Key, arguments: Mapping[str, Any], place: int) -> Row | None:
        """The row of one text; None where there is none."""
        row = _row(self.encode(**_select(arguments, place)))
        size = sum(part.bytes for part in row or ())
        if row is not None and size <= self.room:
            self.room -= size
            self._rows[key] = tuple(part.move_to_memory() for part in row)
        return row


def _keys(arguments: Mapping[str, Any]) -> list[Key] | None:
    """What tells the texts of a call apart; None where it is not about texts alone."""
    texts: Any = arguments.get("prompt")
    if not _are_texts(texts) or arguments.get("num_images_per_prompt", 1) != 1:
        return None
    columns = []
    for name, value in arguments.items():
        if _are_texts(value, len(texts)):
            columns.append([(name, repr(text)) for text in value])
        elif (isinstance(value, (list, dict)) and value) or _is_tensor(value):
            return None
        else:
            columns.append([(name, repr(value))] * len(texts))
    return list(zip(*columns, strict=True))


def _are_texts(value: Any, count: int | None = None) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 0
        and (count is None or len(value) == count)
        and all(isinstance(text, str) for text in value)
    )


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _select(arguments: Mapping[str, Any], place: int) -> dict[str, Any]:
    """The arguments of a call about the text at one place only."""
    count = len(arguments["prompt"])
    return {
        name: [value[place]] if _are_texts(value, count) else value
        for name, value in arguments.items()
    }


def _row(made: Any) -> Row | None:
    """The result for one text, in parts; None where it has other parts than these."""
    parts = []
    for element in made if isinstance(made, tuple) else (made,):
        if _is_tensor(element) and element.ndim > 1 and len(element) == 1:
            parts.append(Part("row", element))
        elif element is None or element == [] or (_is_tensor(element) and not element.any()):
            parts.append(Part("same", element))
        elif isinstance(element, list) and len(element) == 1 and _is_tensor(element[0]):
            parts.append(Part("item", element[0]))
        else:
            return None
    if not isinstance(made, tuple):
        parts.append(BARE)
    return tuple(parts)


BARE = Part("bare", None)
"""Stands behind the only part of a result that is no tuple."""


def _put_together(rows: Sequence[Row]) -> Any:
    """The result for several texts; None where their parts do not fit together."""
    import torch

    made: list[Any] = []
    for parts in zip(*rows, strict=True):
        kinds = {part.kind for part in parts}
        values = [part.value_at_home() for part in parts]
        shapes = {value.shape for value in values if _is_tensor(value)}
        if len(kinds) > 1 or (len(shapes) > 1 and kinds != {"item"}):
            return None
        if kinds == {"row"}:
            made.append(torch.cat(values))
        elif kinds == {"item"}:
            made.append(values)
        elif kinds == {"same"}:
            made.append(list(values[0]) if isinstance(values[0], list) else values[0])
        else:
            return made[0]
    return tuple(made)


def _form(made: Any) -> Any:
    """What a result is made of: types, shapes and number formats."""
    if _is_tensor(made):
        return (tuple(made.shape), made.dtype)
    if isinstance(made, (list, tuple)):
        return [type(made).__name__, *(_form(element) for element in made)]
    return made
