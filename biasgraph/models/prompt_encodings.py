"""Encodes each prompt once: text encoders are often larger than what draws the image."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

ROOM = 4 * 2**30
"""Bytes of main memory for encodings; what does not fit is encoded whenever it is needed."""

Key = tuple[tuple[str, str], ...]


class Part(NamedTuple):
    """One text's part of one element of a result.

    Attributes:
        kind: "row" of a tensor; "item" of a list, of the text's own length (Z-Image); "same" for
            all texts: None, an empty list, zeros without a row for each (FLUX's ``text_ids``).
        value: The part itself; a tensor that is kept is kept in main memory.
        home: The device that a tensor was made on.
    """

    kind: str
    value: Any
    home: Any = None


class _Whole(Exception):
    """A call that cannot be taken apart into texts."""


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
    _rows: dict[Key, list[Part]] = field(default_factory=dict)
    _bare: bool = False  # whether results are no tuples
    _trusted: bool | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the pipeline would have encoded; the same parameters."""
        call = inspect.signature(self.encode).bind(*args, **kwargs)
        call.apply_defaults()
        try:
            if self._trusted is False:
                raise _Whole
            keys = _keys(call.arguments)
            rows = {
                key: self._row(key, call.arguments, keys.index(key)) for key in dict.fromkeys(keys)
            }
            joined = tuple(_join(parts) for parts in zip(*(rows[key] for key in keys), strict=True))
        except _Whole:
            return self.encode(*args, **kwargs)
        together = joined[0] if self._bare else joined
        if self._trusted is None and len(rows) > 1:
            own = self.encode(*args, **kwargs)
            self._trusted = _form(together) == _form(own)
            return own
        return together

    def forget(self) -> None:
        """Free the memory."""
        self.room += sum(_bytes(row) for row in self._rows.values())
        self._rows.clear()

    def _row(self, key: Key, arguments: Mapping[str, Any], place: int) -> list[Part]:
        """The parts of one text. Raises _Whole."""
        if key in self._rows:
            return self._rows[key]
        made = self.encode(**_select(arguments, place))
        self._bare = not isinstance(made, tuple)
        row = [_part(element) for element in ((made,) if self._bare else made)]
        if _bytes(row) <= self.room:
            self.room -= _bytes(row)
            self._rows[key] = [
                Part(part.kind, part.value.to("cpu"), part.value.device)
                if _is_tensor(part.value)
                else part
                for part in row
            ]
        return row


def _keys(arguments: Mapping[str, Any]) -> list[Key]:
    """What tells the texts of a call apart. Raises _Whole where it is not about texts alone."""
    texts: Any = arguments.get("prompt")
    if not _are_texts(texts) or arguments.get("num_images_per_prompt", 1) != 1:
        raise _Whole
    columns = []
    for name, value in arguments.items():
        if _are_texts(value, len(texts)):
            columns.append([(name, repr(text)) for text in value])
        elif (isinstance(value, (list, dict)) and value) or _is_tensor(value):
            raise _Whole
        else:
            columns.append([(name, repr(value))] * len(texts))
    return list(zip(*columns, strict=True))


def _are_texts(value: Any, count: int | None = None) -> bool:
    texts = isinstance(value, list) and bool(value) and all(isinstance(x, str) for x in value)
    return texts and count in (None, len(value))


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _bytes(row: Sequence[Part]) -> int:
    """Of main memory."""
    return sum(part.value.nbytes for part in row if _is_tensor(part.value))


def _select(arguments: Mapping[str, Any], place: int) -> dict[str, Any]:
    """The arguments of a call about the text at one place only."""
    count = len(arguments["prompt"])
    return {
        name: [value[place]] if _are_texts(value, count) else value
        for name, value in arguments.items()
    }


def _part(element: Any) -> Part:
    """An element of the result for one text. Raises _Whole for another than these."""
    if _is_tensor(element) and element.ndim > 1 and len(element) == 1:
        return Part("row", element)
    if not element.any() if _is_tensor(element) else element in (None, []):
        return Part("same", element)
    if isinstance(element, list) and len(element) == 1 and _is_tensor(element[0]):
        return Part("item", element[0])
    raise _Whole


def _join(parts: Sequence[Part]) -> Any:
    """An element of the result for several texts. Raises _Whole where parts do not fit together."""
    import torch

    values = [part.value if part.home is None else part.value.to(part.home) for part in parts]
    shapes = {value.shape for value in values if _is_tensor(value)}
    kind = parts[0].kind
    if any(part.kind != kind for part in parts) or (len(shapes) > 1 and kind != "item"):
        raise _Whole
    if kind == "row":
        return torch.cat(values)
    if kind == "item":
        return values
    return list(values[0]) if isinstance(values[0], list) else values[0]


def _form(made: Any) -> Any:
    """What a result is made of: types, shapes and number formats."""
    if _is_tensor(made):
        return (tuple(made.shape), made.dtype)
    if isinstance(made, (list, tuple)):
        return [type(made).__name__, *(_form(element) for element in made)]
    return made
