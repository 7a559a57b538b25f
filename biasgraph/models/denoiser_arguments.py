"""A denoiser's arguments, taken apart into images and put together again, of any pipeline."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from biasgraph.errors import InputError, printable

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""What a function was given by place and by name."""
Path = tuple[str | int, ...]
"""The way to an argument in a call: places, and keys."""

ROUNDING = 0.1
"""Of a tensor's norm; encodings in bfloat16 differ by less with the batch that they came in, and
two noises differ by more than their own."""


class Unlike(InputError):
    """Arguments of another form than those that are known."""

    def __init__(self, spec: str) -> None:
        super().__init__(
            f"{printable(spec)} shares no latents: what its denoiser is given cannot be taken "
            "apart into images, or differs in form between prompts, steps or images"
        )


@dataclass(frozen=True)
class Form:
    """The form of a denoiser's arguments.

    Attributes:
        spec: What the user typed.
        half: Which half of the rows has the prompt, where guidance makes several.
        kinds: Of each argument "row", a tensor with a row for each image; "item", a list with an
            item for each; or "same", for all images.
        types: Of the values.
        homes: The devices of tensors.
    """

    spec: str
    half: int
    kinds: Mapping[Path, str]
    types: Mapping[Path, type] = field(repr=False)
    homes: Mapping[Path, Any] = field(repr=False)

    @classmethod
    def of(cls, spec: str, half: int, one: Call, two: Call) -> Form:
        """From calls about one image and about two: what doubles is that of images.

        Raises:
            Unlike: Nothing does, or all images are in one row.
        """
        kinds = dict(_kinds(one, two))
        values = dict(_leaves(one, [path for path, kind in kinds.items() if kind == "item"]))
        if len({len(values[path]) for path, kind in kinds.items() if kind != "same"}) != 1:
            raise Unlike(spec)
        types = {path: type(value) for path, value in values.items()}
        homes = {
            path: getattr(value[0] if kinds[path] == "item" else value, "device", None)
            for path, value in values.items()
        }
        return cls(spec, half, kinds, types, homes)

    def rows(self, call: Call, images: int) -> list[dict[Path, Any]]:
        """Each image's arguments with the prompt, tensors of rows as (1, ...).

        Raises:
            Unlike: The call is not of this form.
        """
        values = dict(_leaves(call, [path for path, kind in self.kinds.items() if kind == "item"]))
        if {path: type(value) for path, value in values.items()} != self.types:
            raise Unlike(self.spec)
        every: list[dict[Path, Any]] = [{} for _ in range(images)]
        for path, value in values.items():
            kind = self.kinds[path]
            halves, more = (1, 0) if kind == "same" else divmod(len(value), images)
            if more or not halves:
                raise Unlike(self.spec)
            start = min(self.half, halves - 1) * images
            for place, row in enumerate(every, start):
                if kind == "row":
                    row[path] = value[place : place + 1].clone()
                else:
                    row[path] = value[place] if kind == "item" else value
        return every

    def offload(self, path: Path, value: Any) -> Any:
        """An image's argument as it may be kept for long: its own part in main memory."""
        return value.cpu() if self.kinds[path] != "same" and _is_tensor(value) else value

    def together(self, call: Call, rows: Sequence[Mapping[Path, Any]]) -> Call:
        """A call about several images, each with its arguments.

        Args:
            call: One of this form, for all that is no argument of an image.
            rows: Of each image all arguments, their keys being equal.
        """
        joined = {path: self._join(path, [row[path] for row in rows]) for path in self.kinds}
        args, kwargs = _exchange(call, joined)
        return args, kwargs

    def _join(self, path: Path, values: Sequence[Any]) -> Any:
        import torch

        if self.kinds[path] == "same":
            return values[0]
        home = self.homes[path]
        own = [value.to(home) if _is_tensor(value) else value for value in values]
        return torch.cat(own) if self.kinds[path] == "row" else own

    def key(self, row: Mapping[Path, Any]) -> Hashable:
        """Arguments with the same key fit into one call: shapes, and what is "same"."""
        return tuple(
            (path, _content(value) if self.kinds[path] == "same" else _shape(value))
            for path, value in row.items()
        )


def is_same(one: Any, two: Any) -> bool:
    """Whether two arguments are equal; matrices, up to the rounding of what computed them."""
    import torch

    if not _is_tensor(one):
        return bool(one == two)
    if one.shape != two.shape or one.ndim < 2 or not one.is_floating_point():
        return torch.equal(one, two)
    return bool((one - two).float().norm() <= ROUNDING * one.float().norm())


def _kinds(one: Any, two: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Of each argument what `Form.kinds` says, from two calls."""
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        for key in one:
            yield from _kinds(one[key], two.get(key), (*path, key))
    elif _doubles(one, two):
        yield path, "row" if _is_tensor(one) else "item"
    elif isinstance(one, list | tuple) and isinstance(two, list | tuple):
        for place, pair in enumerate(zip(one, two, strict=False)):
            yield from _kinds(*pair, (*path, place))
    else:
        yield path, "same"


def _doubles(one: Any, two: Any) -> bool:
    if _is_tensor(one) and _is_tensor(two):
        return bool(one.ndim and len(one) and two.shape == (2 * len(one), *one.shape[1:]))
    listed = isinstance(one, list | tuple) and isinstance(two, list | tuple)
    return listed and len(one) > 0 and len(two) == 2 * len(one)


def _leaves(value: Any, whole: Collection[Path], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """All arguments with their paths; lists are gone into, but those at the paths `whole`."""
    parts: Any = ()
    if isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, list | tuple) and path not in whole:
        parts = enumerate(value)
    else:
        yield path, value
    for key, part in parts:
        yield from _leaves(part, whole, (*path, key))


def _exchange(value: Any, leaves: Mapping[Path, Any], path: Path = ()) -> Any:
    """A copy with other leaves."""
    if path in leaves:
        return leaves[path]
    if isinstance(value, Mapping):
        return {key: _exchange(part, leaves, (*path, key)) for key, part in value.items()}
    parts = [_exchange(part, leaves, (*path, place)) for place, part in enumerate(value)]
    return tuple(parts) if isinstance(value, tuple) else parts


def _is_tensor(value: Any) -> bool:
    import torch

    return torch.is_tensor(value)


def _shape(value: Any) -> Hashable:
    return tuple(value.shape) if _is_tensor(value) else None


def _content(value: Any) -> Hashable:
    """What tells arguments that are no image's own apart."""
    if not _is_tensor(value):
        return repr(value)
    import torch

    raw = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return (*value.shape, hashlib.sha256(raw.numpy().tobytes()).hexdigest())
