"""What a program on a GPU computes once for the calls of an interface."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from convoy_runtime.cuda.program.cuda_interface import cuda_interface
from convoy_runtime.interface import Window, whole_interface
from convoy_runtime.manifest import TensorSpec


def buffers(inputs: list[int], outputs: list[int]) -> Any:
    return SimpleNamespace(arguments=SimpleNamespace(inputs=inputs, outputs=outputs))


def runs() -> Any:
    """Native runs whose `arrays` are the arguments."""
    return SimpleNamespace(arrays=lambda *windows: windows)


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 1, 4), (0, 3), (2, 0), (2, 0, 3)])
def test_results_have_the_strides_of_torch(shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    interface = whole_interface((), (TensorSpec("y", shape, "float32"),))
    ((found, strides, dtype),) = cuda_interface(runs(), buffers([], [0]), interface).results
    made = torch.empty_strided(found, strides, dtype=getattr(torch, dtype))
    expected = torch.empty(shape, dtype=torch.float32)
    assert (made.shape, made.stride(), made.dtype) == (
        expected.shape,
        expected.stride(),
        expected.dtype,
    )


def test_windows_of_whole_arrays() -> None:
    x, empty = TensorSpec("x", (2, 3), "float32"), TensorSpec("empty", (0, 3), "float32")
    made = cuda_interface(
        runs(),
        buffers([1000, 2000], [3000, 4000]),
        whole_interface((x, empty), (empty, x)),
    )
    whole, nothing = Window(1, 24, 24), Window(1, 0, 0)
    assert made.arrays == (
        [(1000, whole), (2000, nothing)],
        [(3000, nothing), (4000, whole)],
    )
