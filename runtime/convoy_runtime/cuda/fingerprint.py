"""What a graph is, as a hash: the key under which its plans are kept."""

from __future__ import annotations

import ctypes
import hashlib
import struct
from typing import Any

from convoy_runtime._abi import ABI_VERSION, ConvoyCudnn

from ._enums import Type

__all__ = ["fingerprint"]

#: Bytes of an element by cudnnBackendAttributeType_t; all other types up to LAST_TYPE are enums of 4 bytes.
_BYTES = {Type.HANDLE: 8, 2: 1, Type.INT64: 8, 5: 8, Type.VOID_PTR: 8, Type.BACKEND_DESCRIPTOR: 8, Type.CHAR: 1, 26: 16}
_LAST_TYPE = 30


def fingerprint(build: Any) -> str | None:
    """A hash of everything that a graph's build function says to cuDNN, with descriptors by their order; None when it says something
    whose size is not known here, or fails."""
    digest = hashlib.sha256()
    count = 0
    known = True

    def create(kind: int, result: Any) -> int:
        nonlocal count
        count += 1
        result[0] = count
        digest.update(struct.pack("<cqq", b"c", kind, count))
        return 0

    def set_attribute(descriptor: int, attribute: int, kind: int, elements: int, data: int | None) -> int:
        nonlocal known
        known = known and 0 <= kind <= _LAST_TYPE
        # A handle is of this process; everything else is part of the graph.
        size = 0 if kind == Type.HANDLE or not data else elements * _BYTES.get(kind, 4)
        digest.update(struct.pack("<cqqqq", b"s", descriptor or 0, attribute, kind, elements))
        digest.update(ctypes.string_at(data or 0, size) if size else b"")
        return 0

    def finalize(descriptor: int) -> int:
        digest.update(struct.pack("<cq", b"f", descriptor or 0))
        return 0

    table = ConvoyCudnn(
        ABI_VERSION,
        0,
        ConvoyCudnn.CREATE(create),
        ConvoyCudnn.SET(set_attribute),
        ConvoyCudnn.FINALIZE(finalize),
        ConvoyCudnn.DESTROY(lambda _: 0),
        ConvoyCudnn.REPORT(lambda *_: None),
    )
    result = ctypes.c_void_p()
    status = build(ctypes.byref(table), None, ctypes.byref(result))
    return digest.hexdigest() if known and status == 0 else None
