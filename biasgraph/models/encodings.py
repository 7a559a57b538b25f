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

    kind: "row" of a tensor; "item" of a list, of the text's own length (Z-Image); "same" for all
    texts: None, an empty list, zeros (FLUX's ``text_ids``).
    """

    kind: str
    value: Any

    @property
    def bytes(self) -> int:
        return int(self.value.numel() * self.value.element_size()) if _is_tensor(self.value) else 0

    def on(self, device: Any) -> Part:
        return Part(self.kind, self.value.to(device)) if _is_tensor(self.value) else self


Row = tuple[Part, ...]


@dataclass
class Remembered:
    """A pipeline's ``encode_prompt`` that encodes no text twice.

    A call with a list of n texts is taken apart into n, and results are put together from their
    parts. Where a result cannot be taken apart, or its parts do not fit together (texts padded to
    different lengths), the call is passed on as it came: it is the pipeline's own result always.
    """

    encode: Callable[..., Any]
    room: int = ROOM
    _rows: dict[Key, Row] = field(default_factory=dict)
    _single: bool = False
    _device: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = inspect.signature(self.encode).bind(*args, **kwargs)
        call.apply_defaults()
        keys = _keys(call.arguments)
        if keys is None:
            return self.encode(*args, **kwargs)
        new = list(dict.fromkeys(key for key in keys if key not in self._rows))
        fresh: dict[Key, Row] = {}
        if new:
            made = self.encode(**_some(call.arguments, [keys.index(key) for key in new]))
            rows = _apart(made, len(new))
            if rows is None:
                return made if len(new) == len(keys) else self.encode(*args, **kwargs)
            fresh = dict(zip(new, rows, strict=True))
            self._learn(fresh, made)
        known = [self._rows[key] if key in self._rows else fresh[key] for key in keys]
        together = [_joined(parts, self._device) for parts in zip(*known, strict=True)]
        if any(part is _UNFIT for part in together):
            return self.encode(*args, **kwargs)
        return together[0] if self._single else tuple(together)

    def forget(self) -> None:
        """Free the memory."""
        self.room += sum(part.bytes for row in self._rows.values() for part in row)
        self._rows.clear()

    def _learn(self, fresh: Mapping[Key, Row], made: Any) -> None:
        self._single = not isinstance(made, tuple)
        parts = [part for row in fresh.values() for part in row]
        self._device = next(part.value.device for part in parts if _is_tensor(part.value))
        for key, row in fresh.items():
            size = sum(part.bytes for part in row)
            if size <= self.room:
                self.room -= size
                self._rows[key] = tuple(part.on("cpu") for part in row)


def _keys(arguments: Mapping[str, Any]) -> list[Key] | None:
    """What tells the texts of a call apart; None where it is not about texts alone."""
    texts = arguments.get("prompt")
    if not _are_texts(texts, None) or arguments.get("num_images_per_prompt", 1) != 1:
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


def _are_texts(value: Any, count: int | None) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 0
        and (count is None or len(value) == count)
        and all(isinstance(text, str) for text in value)
    )


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _some(arguments: Mapping[str, Any], places: Sequence[int]) -> dict[str, Any]:
    """The arguments of a call about the texts at some places only."""
    count = len(arguments["prompt"])
    return {
        name: [value[place] for place in places] if _are_texts(value, count) else value
        for name, value in arguments.items()
    }


def _apart(made: Any, count: int) -> list[Row] | None:
    """A result as one row a text; None where it is not made of such rows."""
    columns: list[list[Part]] = []
    for element in made if isinstance(made, tuple) else (made,):
        if _is_tensor(element) and element.ndim > 1 and len(element) == count:
            columns.append([Part("row", element[place : place + 1]) for place in range(count)])
        elif element is None or element == [] or (_is_tensor(element) and not element.any()):
            columns.append([Part("same", element)] * count)
        elif (
            isinstance(element, list)
            and len(element) == count
            and all(_is_tensor(matrix) and matrix.ndim == 2 for matrix in element)
        ):
            columns.append([Part("item", matrix) for matrix in element])
        else:
            return None
    if not any(_is_tensor(part.value) for column in columns for part in column):
        return None
    return list(zip(*columns, strict=True))


_UNFIT = object()


def _joined(parts: Sequence[Part], device: Any) -> Any:
    """One element of the result for several texts; `_UNFIT` where their parts do not fit."""
    import torch

    first = parts[0]
    if any(part.kind != first.kind for part in parts):
        return _UNFIT
    if first.kind == "item":
        return [part.on(device).value for part in parts]
    if not _is_tensor(first.value):
        return list(first.value) if isinstance(first.value, list) else first.value
    if any(part.value.shape != first.value.shape for part in parts):
        return _UNFIT
    if first.kind == "same":
        return first.on(device).value
    return torch.cat([part.on(device).value for part in parts])
