"""Devices, number formats, and portions that shrink when memory runs out."""

from __future__ import annotations

from collections.abc import Sequence
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgraph.errors import InputError, ModelError
from biasgraph.models import devices
from biasgraph.models.devices import Portions, device_of, dtype_of, is_out_of_memory
from biasgraph.models.inference_options import ModelOptions


class Memory:
    """Work that fails above a number of items, as a GPU does."""

    def __init__(self, room: int, error: Exception) -> None:
        self.room, self.error = room, error
        self.sizes: list[int] = []

    def __call__(self, items: Sequence[int]) -> list[int]:
        self.sizes.append(len(items))
        if len(items) > self.room:
            raise self.error
        return [item * 10 for item in items]


@settings(max_examples=30, deadline=None)
@given(
    items=st.integers(0, 70),
    start=st.integers(1, 20),
    limit=st.none() | st.integers(1, 40),
    room=st.integers(1, 40),
)
def test_every_item_is_worked_on_once_and_in_order(
    items: int, start: int, limit: int | None, room: int
) -> None:
    memory = Memory(room, MemoryError())
    portions = Portions("an item", start, limit)
    with mock.patch("gc.collect"):  # takes longer than all the rest
        assert portions.run(range(items), memory) == [item * 10 for item in range(items)]
    assert sum(size for size in memory.sizes if size <= room) == items
    assert max(memory.sizes, default=1) <= max(start, limit or items, 1)


def test_portions_grow_until_memory_says_no_and_then_stay_below() -> None:
    memory = Memory(5, RuntimeError("CUDA error: out of memory"))
    portions = Portions("an item")
    portions.run(range(40), memory)
    assert memory.sizes[:5] == [1, 2, 4, 8, 4]
    assert memory.sizes.count(8) == 1
    before = len(memory.sizes)
    portions.run(range(8), memory)
    assert memory.sizes[before:] == [4, 4]


def test_one_item_that_does_not_fit_is_an_error_that_says_what_to_try() -> None:
    with pytest.raises(ModelError, match="not enough memory for an image, one at a time: try"):
        Portions("an image", 4).run(range(4), Memory(0, MemoryError()))


def test_other_errors_are_passed_on() -> None:
    with pytest.raises(RuntimeError, match="shapes"):
        Portions("an item").run([1], Memory(0, RuntimeError("shapes do not match")))


def test_errors_about_memory_are_told_from_others() -> None:
    torch = pytest.importorskip("torch")
    said = [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("MPS backend out of memory (MPS allocated: 5 GB)"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"),
        MemoryError(),
    ]
    assert all(map(is_out_of_memory, said))
    assert not any(map(is_out_of_memory, (RuntimeError("no kernel"), OSError("out of memory"))))


@pytest.mark.parametrize("wanted", ["gpu", "cuda:x", "cpu:1", "mps:0", ""])
def test_a_device_that_is_none_is_refused(wanted: str) -> None:
    with pytest.raises(InputError, match="--device"):
        device_of(ModelOptions(device=wanted))


def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_count", {"cuda": 1, "mps": 0, "cpu": 1}.__getitem__)
    assert device_of(ModelOptions()) == "cuda"
    assert device_of(ModelOptions(device="cuda:0")) == "cuda:0"
    for missing in ("cuda:1", "mps"):
        with pytest.raises(InputError, match="not available on this machine"):
            device_of(ModelOptions(device=missing))
    monkeypatch.setattr(devices, "_count", {"cuda": 0, "mps": 0, "cpu": 1}.__getitem__)
    assert device_of(ModelOptions()) == "cpu"


def test_number_formats() -> None:
    assert dtype_of(ModelOptions(), "cpu") == "float32"
    assert dtype_of(ModelOptions(), "mps") == "float16"
    assert dtype_of(ModelOptions(dtype="bfloat16"), "cpu") == "bfloat16"
    with pytest.raises(InputError, match=r"--dtype 'bf16'.*bfloat16"):
        dtype_of(ModelOptions(dtype="bf16"), "cpu")
