"""Arrays between inaccessible pages, so that an access outside of them is a signal."""

from __future__ import annotations

import ctypes
import mmap
import os
from math import prod

import numpy as np

from convoy_runtime.dtypes import DTYPES
from convoy_runtime.errors import ConvoyRuntimeError

__all__ = ["CANARY", "aligned_empty", "check_canaries"]

_PAGE = mmap.PAGESIZE
_ALIGNMENT = 64
_LARGEST = 1 << 30
CANARY = 0xA5
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
#: The bytes between the end of each array and the page after it: at most 63, because arrays start
#: at a multiple of 64.
_slack: list[np.ndarray] = []


def aligned_empty(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Like `convoy_runtime.host_arrays.aligned_empty`, with an inaccessible page before and after the
    array."""
    storage = DTYPES[dtype].storage
    size = prod(shape) * storage.itemsize
    if size > _LARGEST:
        problem = f"no memory of {size} bytes"
        raise ConvoyRuntimeError(problem)
    whole = -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
    pages = -(-whole // _PAGE) * _PAGE
    raw = np.frombuffer(mmap.mmap(-1, pages + 2 * _PAGE), np.uint8)
    for guard in (raw.ctypes.data, raw.ctypes.data + _PAGE + pages):
        if _libc.mprotect(guard, _PAGE, 0):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    begin = _PAGE + pages - whole
    raw[_PAGE:begin] = CANARY
    raw[begin + size : begin + whole] = CANARY
    _slack.extend((raw[_PAGE:begin], raw[begin + size : begin + whole]))
    return raw[begin : begin + size].view(storage).reshape(shape)


def check_canaries() -> bool:
    """Whether nothing was written between the arrays and the pages around them since the last call.
    Forgets these arrays."""
    intact = all(bool((part == CANARY).all()) for part in _slack)
    _slack.clear()
    return intact
