"""Inputs and results whose dims are permuted in memory, on the fake driver of libcuda.c."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu.fixtures import X, peek, reference, stream, upload, wait

import convoy_runtime
from convoy_runtime import ArgumentError
from convoy_runtime.arrays import view
from convoy_runtime.cuda.driver.memory import DeviceArray
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.manifest import TensorSpec

#: In memory the packed array X, of which it is the transposition.
SPEC = TensorSpec("x", (3, 2), "float32", (1, 3))


@pytest.fixture
def program(artifact: Callable[..., Path]) -> Iterator[CudaProgram]:
    with convoy_runtime.load(artifact(spec=SPEC), poison=True) as loaded:
        assert isinstance(loaded, CudaProgram)
        yield loaded


def transposed(program: CudaProgram, array: np.ndarray = X, spec: TensorSpec = SPEC) -> DeviceArray:
    """An array on the device with the memory of `array` and the shape and strides of `spec`."""
    made = upload(program, array)
    return DeviceArray(spec, made.pointer, 0, made, lambda _: None)


def test_arrays_in_place(program: CudaProgram) -> None:
    x = transposed(program)
    y = program(x)
    assert (y.shape, y.strides) == ((3, 2), (1, 3))
    assert view(y, "y", stream=stream(program)).strides == (1, 3)
    program.synchronize()
    np.testing.assert_array_equal(peek(y), reference(X))
    program.run_into([x], [x])
    program.synchronize()
    np.testing.assert_array_equal(peek(x), reference(X))
    for static in (*program.static_inputs, *program.static_outputs):
        assert (static.shape, static.strides) == ((3, 2), (1, 3))


def test_host_arrays(program: CudaProgram) -> None:
    for x in (X.T, np.ascontiguousarray(X.T), X[:, ::-1].copy()[:, ::-1].T):
        [y] = program.run_numpy(x)
        np.testing.assert_array_equal(y, reference(X).T)
        assert y.strides == (4, 12)


def test_other_strides_of_an_unknown_library_are_refused(program: CudaProgram) -> None:
    packed = transposed(program, X, TensorSpec("x", (3, 2), "float32"))
    message = (
        r"input 'x': wrong strides, and its library is unknown: expected \[1, 3\], got \[2, 1\]"
    )
    with pytest.raises(ArgumentError, match=message):
        program(packed)
    message = r"output 'y': wrong strides: expected \[1, 3\], got \[2, 1\]"
    with pytest.raises(ArgumentError, match=message):
        program.run_into([packed], [transposed(program)])


class Array:
    """An array of a fake library, on the memory of a DeviceArray."""

    def __init__(self, array: DeviceArray, program: CudaProgram) -> None:
        self.array, self.program = array, program

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **_: Any) -> object:
        return self.array.__dlpack__()

    def transpose(self, order: tuple[int, ...]) -> Array:
        """A packed copy, as in jax."""
        shape, strides = self.array.shape, self.array.strides
        flat = peek(self.array).reshape(-1)
        values = np.lib.stride_tricks.as_strided(flat, shape, [4 * each for each in strides])
        return Array(
            upload(self.program, np.ascontiguousarray(values.transpose(order))), self.program
        )


def test_jax_transposes_its_arrays(program: CudaProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    jax = types.ModuleType("jax.numpy")
    taken: list[DeviceArray] = []

    def from_dlpack(array: DeviceArray) -> Array:
        program.synchronize()
        taken.append(array)
        return Array(array, program)

    jax.from_dlpack = from_dlpack  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jax.numpy", jax)
    monkeypatch.setattr(Array, "__module__", "jax")
    y = program(Array(upload(program, np.ascontiguousarray(X.T)), program))
    assert (taken[0].shape, taken[0].strides) == ((2, 3), (3, 1))
    assert y.array.shape == (3, 2)
    np.testing.assert_array_equal(peek(y.array).reshape(3, 2), reference(X).T)


def test_torch_tensors(program: CudaProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = types.ModuleType("torch")
    current = stream(program)
    made: list[object] = []

    class Tensor(Array):
        layout, dtype, device, requires_grad = "strided", "torch.float32", "cuda:0", False
        shape = (3, 2)

        def stride(self) -> tuple[int, ...]:
            return self.array.strides

        def is_neg(self) -> bool:
            return False

        def data_ptr(self) -> int:
            return self.array.pointer

        def permute(self, order: tuple[int, ...]) -> Array:
            made.append(order)
            return self.transpose(order)

        def __dlpack__(self, **_: Any) -> object:
            made.append("dlpack")
            return self.array.__dlpack__()

    def empty_strided(shape: object, strides: object, **_: object) -> Tensor:
        made.append((shape, strides))
        return Tensor(transposed(program, np.zeros_like(X)), program)

    Tensor.__module__ = "torch"
    monkeypatch.setattr(Array, "contiguous", lambda self: self, raising=False)
    torch.Tensor, torch.strided, torch.float32 = Tensor, "strided", "torch.float32"  # type: ignore[attr-defined]
    torch.device = lambda kind, index: f"{kind}:{index}"  # type: ignore[attr-defined]
    torch.empty_strided = empty_strided  # type: ignore[attr-defined]
    torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda index: current)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    y = program(Tensor(transposed(program), program))
    assert made == [((3, 2), (1, 3))]
    wait(program, current)
    np.testing.assert_array_equal(peek(y.array), reference(X))
    made.clear()
    packed = transposed(program, np.ascontiguousarray(X.T), TensorSpec("x", (3, 2), "float32"))
    y = program(Tensor(packed, program))
    assert made == ["dlpack", (1, 0), ((3, 2), (1, 3))]
    wait(program, current)
    np.testing.assert_array_equal(peek(y.array), reference(X))
