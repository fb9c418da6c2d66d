"""Tensors of Triton's Python backend. Here arrays of numpy stand for them: both support DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from convoy_runtime.arrays import View, view
from convoy_runtime.dtypes import DTYPES
from convoy_runtime.integrations.triton.served import ServedTensor
from convoy_runtime.integrations.triton.tensors import borrowed, tensor_of


def exported(array: np.ndarray, spec: ServedTensor) -> tuple[str, View, Any]:
    """What the backend gets: the name, the tensor, and the exporting object."""
    made: list[tuple[str, Any]] = []
    tensor_of(lambda name, array: made.append((name, array)), array, spec)
    ((name, exporter),) = made
    assert exporter.__dlpack_device__() == (1, 0)
    return name, view(exporter, "y"), exporter


@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(DTYPES[dtype].storage)
    spec = ServedTensor("y", dtype, (3,), False)
    name, tensor, exporter = exported(array, spec)
    assert (name, tensor.dtype, tensor.shape, tensor.strides) == ("y", dtype, (2, 3), (3, 1))
    assert tensor.pointer == array.ctypes.data
    back = borrowed(exporter, spec)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    assert back.ctypes.data == array.ctypes.data


def test_results_in_another_order_are_packed() -> None:
    array = np.arange(6, dtype=np.float32).reshape(3, 2).T
    _, tensor, _ = exported(array, ServedTensor("y", "float32", (3,), False))
    assert (tensor.shape, tensor.strides) == ((2, 3), (3, 1))


@pytest.mark.parametrize("shape", [(), (4,)])
def test_scalars_have_a_dim_in_triton(shape: tuple[int, ...]) -> None:
    spec = ServedTensor("y", "float32", (1,), True)
    array = np.ones(shape, np.float32)
    _, tensor, exporter = exported(array, spec)
    assert tensor.shape == (*shape, 1)
    assert borrowed(exporter, spec).shape == shape


def test_a_wrong_shape_of_a_scalar_is_kept() -> None:
    spec = ServedTensor("y", "float32", (1,), True)
    assert borrowed(np.ones((4, 2), np.float32), spec).shape == (4, 2)
