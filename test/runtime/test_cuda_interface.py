"""What a program on a GPU computes once for the calls of an interface."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from convoy_runtime.cuda.program.cuda_interface import cuda_interface
from convoy_runtime.interface import whole_interface
from convoy_runtime.manifest import TensorSpec


def recording_driver(log: list[tuple[Any, ...]]) -> Any:
    """A driver whose functions append their names and arguments to `log`."""

    class Module:
        CUdeviceptr = int

        def __getattr__(self, name: str) -> Any:
            return lambda *arguments: (log.append((name, *arguments)), (0,))[1]

    return SimpleNamespace(module=Module())


def buffers(inputs: list[int], outputs: list[int]) -> Any:
    return SimpleNamespace(arguments=SimpleNamespace(inputs=inputs, outputs=outputs))


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 1, 4), (0, 3), (2, 0), (2, 0, 3)])
def test_results_have_the_strides_of_torch(shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    interface = whole_interface((), (TensorSpec("y", shape, "float32"),))
    ((found, strides, dtype),) = cuda_interface(
        recording_driver([]), buffers([], [0]), interface
    ).results
    made = torch.empty_strided(found, strides, dtype=getattr(torch, dtype))
    expected = torch.empty(shape, dtype=torch.float32)
    assert (made.shape, made.stride(), made.dtype) == (
        expected.shape,
        expected.stride(),
        expected.dtype,
    )


def test_copies_of_whole_arrays() -> None:
    """One call of the driver for each array, and none for an array of no bytes."""
    log: list[tuple[Any, ...]] = []
    x, empty = TensorSpec("x", (2, 3), "float32"), TensorSpec("empty", (0, 3), "float32")
    made = cuda_interface(
        recording_driver(log),
        buffers([1000, 2000], [3000, 4000]),
        whole_interface((x, empty), (empty, x)),
    )
    for copies, to, back in (
        (made.copies, "cuMemcpyDtoDAsync", "cuMemcpyDtoDAsync"),
        (made.host_copies, "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync"),
    ):
        log.clear()
        for place, copy in enumerate((*copies[0], *copies[1])):
            copy(place, 7)
        assert log == [(to, 1000, 0, 24, 7), (back, 3, 4000, 24, 7)]
