# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The memory of results of candidates."""

from __future__ import annotations

import numpy as np
import pytest

from convoy_runtime.cuda.tuning import result_memory
from convoy_runtime.cuda.tuning.result_memory import ResultMemory


def test_arrays_do_not_overlap() -> None:
    memory = ResultMemory()
    one, other = memory.empty(5, np.float32), memory.empty(3, np.uint8)
    one[:], other[:] = 1, 2
    assert one.tolist() == [1.0] * 5
    assert other.tolist() == [2] * 3
    assert (one.dtype, other.dtype) == (np.float32, np.uint8)
    assert one.ctypes.data % 64 == other.ctypes.data % 64


def test_released_memory_is_used_again() -> None:
    memory = ResultMemory()
    kept = memory.empty(4, np.float32)
    with memory.released():
        first = memory.empty(4, np.float32)
        with memory.released():
            inner = memory.empty(4, np.float32)
        again = memory.empty(4, np.float32)
    last = memory.empty(4, np.float32)
    assert inner.ctypes.data == again.ctypes.data
    assert first.ctypes.data == last.ctypes.data
    assert len({kept.ctypes.data, first.ctypes.data, inner.ctypes.data}) == 3


def test_arrays_beyond_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_memory, "_BYTES", 128)
    memory = ResultMemory()
    arrays = [memory.empty(16, np.float32) for _ in range(3)]
    for index, each in enumerate(arrays):
        each[:] = index
    assert [set(each.tolist()) for each in arrays] == [{0.0}, {1.0}, {2.0}]
