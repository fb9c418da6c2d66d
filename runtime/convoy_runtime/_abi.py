# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The ctypes mirror of runtime/abi/convoy_abi.h. A test compiles the header and compares every
size, offset and the version."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p

from .manifest import ABI_VERSION

__all__ = [
    "ABI_VERSION",
    "BUILD_GRAPH",
    "CAPTURING",
    "COPY_THREADS",
    "ENTRIES",
    "RUN_ENTRIES",
    "SHARE_THREADS",
    "ConvoyCopies",
    "ConvoyCopy",
    "ConvoyCudnn",
    "ConvoyDriver",
    "ConvoyGraph",
    "ConvoyRun",
    "ConvoyRuntime",
    "ConvoyWindow",
    "pointer_array",
]


class ConvoyCudnn(ctypes.Structure):
    """A table of the cudnnBackend entry points."""

    CREATE = ctypes.CFUNCTYPE(c_int32, c_int32, ctypes.POINTER(c_void_p))
    SET = ctypes.CFUNCTYPE(c_int32, c_void_p, c_int32, c_int32, c_int64, c_void_p)
    FINALIZE = ctypes.CFUNCTYPE(c_int32, c_void_p)
    DESTROY = ctypes.CFUNCTYPE(c_int32, c_void_p)
    REPORT = ctypes.CFUNCTYPE(None, c_int32, c_char_p, c_char_p)
    GET = ctypes.CFUNCTYPE(
        c_int32, c_void_p, c_int32, c_int32, c_int64, ctypes.POINTER(c_int64), c_void_p
    )
    EXECUTE = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)

    _fields_ = (
        ("abi_version", c_uint32),
        ("reserved", c_uint32),
        ("create_descriptor", CREATE),
        ("set_attribute", SET),
        ("finalize", FINALIZE),
        ("destroy_descriptor", DESTROY),
        ("report", REPORT),
        ("get_attribute", GET),
        ("execute", EXECUTE),
    )


class ConvoyRuntime(ctypes.Structure):
    """The callbacks of `convoy_main` on the `cuda` target."""

    EXECUTE = ctypes.CFUNCTYPE(c_int32, c_void_p, c_int32, ctypes.POINTER(c_void_p), c_int32)
    LAUNCH = ctypes.CFUNCTYPE(
        c_int32,
        c_void_p,
        c_int32,
        ctypes.POINTER(c_int32),
        ctypes.POINTER(c_int32),
        c_int32,
        ctypes.POINTER(c_void_p),
        c_int32,
    )
    COPY = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p, c_int64)

    _fields_ = (
        ("abi_version", c_uint32),
        ("reserved", c_uint32),
        ("context", c_void_p),
        ("execute_graph", EXECUTE),
        ("launch_kernel", LAUNCH),
        ("copy", COPY),
    )


class ConvoyDriver(ctypes.Structure):
    """A table of functions of the CUDA driver, by address: only native code calls them."""

    _fields_ = (
        ("abi_version", c_uint32),
        ("reserved", c_uint32),
        ("stream_is_capturing", c_void_p),
        ("memset_d8", c_void_p),
        ("memset_d2d8", c_void_p),
        ("memcpy_async", c_void_p),
        ("memcpy_2d", c_void_p),
        ("graph_launch", c_void_p),
        ("event_record", c_void_p),
        ("set_kernel_parameters", c_void_p),
        ("set_node_enabled", c_void_p),
        ("launch_kernel", c_void_p),
    )


class ConvoyWindow(ctypes.Structure):
    """The part of a static buffer that the array of a call fills."""

    _fields_ = (
        ("buffer", c_uint64),
        ("rows", c_int64),
        ("width", c_int64),
        ("pitch", c_int64),
    )


class ConvoyRun(ctypes.Structure):
    """What runs with arrays of the same shapes have in common."""

    _fields_ = (
        ("driver", ctypes.POINTER(ConvoyDriver)),
        ("inputs", ctypes.POINTER(ConvoyWindow)),
        ("outputs", ctypes.POINTER(ConvoyWindow)),
        ("input_count", c_int32),
        ("output_count", c_int32),
        ("failed", c_int32),
        ("reserved", c_int32),
    )


class ConvoyCopy(ctypes.Structure):
    """The copy of an array on the device into its window, or the reverse."""

    _fields_ = (
        ("to", c_uint64),
        ("from", c_uint64),
        ("rows", c_int64),
        ("width", c_int64),
        ("to_pitch", c_int64),
        ("from_pitch", c_int64),
    )


class ConvoyCopies(ctypes.Structure):
    """A kernel that copies the inputs of a run, or its outputs."""

    _fields_ = (
        ("function", c_void_p),
        ("copies", ctypes.POINTER(ConvoyCopy)),
        ("blocks", c_uint32),
        ("reserved", c_uint32),
    )


class ConvoyGraph(ctypes.Structure):
    """A CUgraphExec that may begin with the kernel of the inputs."""

    _fields_ = (
        ("executable", c_void_p),
        ("node", c_void_p),
        ("inputs", ConvoyCopies),
        ("outputs", ConvoyCopies),
        ("enabled", c_uint32),
        ("reserved", c_uint32),
    )


_POINTERS = ctypes.POINTER(c_void_p)
_ADDRESSES = ctypes.POINTER(c_uint64)

#: `<graph>_build`.
BUILD_GRAPH = ctypes.CFUNCTYPE(
    c_int32, ctypes.POINTER(ConvoyCudnn), c_void_p, ctypes.POINTER(c_void_p)
)

#: `convoy_share_threads`, which takes and returns a function address. Libraries without parallel
#: loops may lack it.
SHARE_THREADS = ctypes.CFUNCTYPE(c_void_p, c_void_p)

#: The functions that every native library exports: name to (result, arguments).
ENTRIES: dict[str, tuple[type, tuple[type, ...]]] = {
    "convoy_abi_version": (c_uint32, ()),
    "convoy_main": (
        c_int32,
        (ctypes.POINTER(ConvoyRuntime), _POINTERS, _POINTERS, _POINTERS, c_void_p),
    ),
    "convoy_prepare_weights": (c_int32, (_POINTERS, _POINTERS, c_void_p)),
    "convoy_sizes": (ctypes.POINTER(c_int64), ()),
}

#: CONVOY_CAPTURING.
CAPTURING = -1
#: CONVOY_COPY_THREADS.
COPY_THREADS = 256

#: The functions that native libraries of the `cuda` target also export.
RUN_ENTRIES: dict[str, tuple[type, tuple[type, ...]]] = {
    "convoy_begin_run": (
        c_int32,
        (ctypes.POINTER(ConvoyRun), ctypes.POINTER(ConvoyGraph), _ADDRESSES, c_int32, c_void_p),
    ),
    "convoy_end_run": (
        c_int32,
        (
            ctypes.POINTER(ConvoyRun),
            ctypes.POINTER(ConvoyGraph),
            _ADDRESSES,
            c_int32,
            c_void_p,
            c_void_p,
        ),
    ),
    "convoy_copy_kernels": (c_char_p, ()),
}


def pointer_array(pointers: list[int]) -> ctypes.Array[c_void_p]:
    """A `void *[]`; with one null element when empty, so that it has an address."""
    return (c_void_p * max(1, len(pointers)))(*pointers)
