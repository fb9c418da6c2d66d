# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Checked calls of cuBLASLt."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_float, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, Final

from convoy_runtime.errors import CublasError, DeviceError

__all__ = ["ALGORITHM_BYTES", "CublasLt", "HeuristicResult", "version_text"]

#: The size of a cublasLtMatmulAlgo_t, which holds no pointers and may be copied.
ALGORITHM_BYTES: Final = 64


class HeuristicResult(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algorithm", ctypes.c_ubyte * ALGORITHM_BYTES),
        ("workspace", c_size_t),
        ("state", c_int32),
        ("waves", c_float),
        ("reserved", c_int32 * 4),
    )


_SET = (c_int32, (c_void_p, c_int32, c_void_p, c_size_t))
_DESTROY = (c_int32, (c_void_p,))
#: The types of a product: the handle, the descriptor and the layouts of A, B, C and D.
_PRODUCT = (c_void_p,) * 6
_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "cublasLtGetVersion": (c_size_t, ()),
    "cublasLtGetStatusName": (c_char_p, (c_int32,)),
    "cublasLtGetStatusString": (c_char_p, (c_int32,)),
    "cublasLtCreate": (c_int32, (POINTER(c_void_p),)),
    "cublasLtDestroy": _DESTROY,
    "cublasLtMatmulDescCreate": (c_int32, (POINTER(c_void_p), c_int32, c_int32)),
    "cublasLtMatmulDescSetAttribute": _SET,
    "cublasLtMatmulDescDestroy": _DESTROY,
    "cublasLtMatrixLayoutCreate": (
        c_int32,
        (POINTER(c_void_p), c_int32, c_uint64, c_uint64, c_int64),
    ),
    "cublasLtMatrixLayoutSetAttribute": _SET,
    "cublasLtMatrixLayoutDestroy": _DESTROY,
    "cublasLtMatmulPreferenceCreate": (c_int32, (POINTER(c_void_p),)),
    "cublasLtMatmulPreferenceSetAttribute": _SET,
    "cublasLtMatmulPreferenceDestroy": _DESTROY,
    "cublasLtMatmulAlgoGetHeuristic": (
        c_int32,
        (*_PRODUCT, c_void_p, c_int32, POINTER(HeuristicResult), POINTER(c_int32)),
    ),
    "cublasLtMatmulAlgoCheck": (c_int32, (*_PRODUCT, c_void_p, POINTER(HeuristicResult))),
    "cublasLtMatmulAlgoConfigGetAttribute": (
        c_int32,
        (c_void_p, c_int32, c_void_p, c_size_t, POINTER(c_size_t)),
    ),
    # The handle, the descriptor, alpha, A, B, beta, C and D, each matrix with its layout; the
    # algorithm, the workspace and its size, and the stream.
    "cublasLtMatmul": (c_int32, (*(c_void_p,) * 14, c_size_t, c_void_p)),
}


def version_text(version: int) -> str:
    """Returns the text of a version, e.g. 13.1.0 for 130100, and 12.9.1 for 120901."""
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"


class CublasLt:
    """A loaded libcublasLt.

    Args:
        library: The library.

    Attributes:
        library: The argument of this name.
        version: Its version, e.g. 130100.

    Raises:
        DeviceError: The library lacks a function.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        try:
            for name, (result, arguments) in _SIGNATURES.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
        except AttributeError as error:
            raise DeviceError(problem=f"cuBLASLt lacks a function: {error}") from error
        self.library: Final = library
        self.version: Final[int] = library.cublasLtGetVersion()

    def call(self, name: str, *arguments: Any, what: str = "", location: str | None = None) -> None:
        """Calls an entry point.

        Args:
            name: The entry point.
            arguments: Its arguments.
            what: The object of the call, for messages.
            location: The source location, for messages.

        Raises:
            CublasError: The call fails.
        """
        status = getattr(self.library, name)(*arguments)
        if status:
            raise self.error(status, f"{name} ({what})" if what else name, location)

    def error(self, status: int, call: str, location: str | None = None) -> CublasError:
        """Returns the error for the status of a call."""

        def text(function: str) -> str:
            return (getattr(self.library, function)(status) or b"").decode(errors="replace")

        return CublasError(
            call=call,
            status=status,
            name=text("cublasLtGetStatusName"),
            detail=text("cublasLtGetStatusString"),
            location=location,
        )

    def create(self, name: str, *arguments: Any) -> int:
        """Returns the pointer of a new object, which `name` creates. Raises CublasError."""
        pointer = c_void_p()
        self.call(name, ctypes.byref(pointer), *arguments)
        return pointer.value or 0

    def set(self, name: str, target: int, attribute: int, value: Any) -> None:
        """Sets an attribute of an object.

        Args:
            name: The entry point.
            target: The pointer of the object.
            attribute: The attribute.
            value: The value as a number of ctypes.

        Raises:
            CublasError: The call fails.
        """
        self.call(
            name, target, attribute, ctypes.addressof(value), ctypes.sizeof(value),
            what=f"attribute {int(attribute)}",
        )  # fmt: skip
