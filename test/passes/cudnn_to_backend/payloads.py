"""The payload that a builder passes to cudnnBackendSetAttribute: (type, count, raw bytes), and for
descriptors (type, count, their numbers).

Numbers are copied by hand from cudnn_graph.h, so that an error in the compiler's list of
descriptors is detected.
"""

from __future__ import annotations

import struct

POINTWISE, CONVOLUTION, OP_CONVOLUTION, OP_POINTWISE, GRAPH, TENSOR = 0, 1, 10, 13, 15, 17
MATMUL, OP_MATMUL, REDUCTION, OP_REDUCTION, RESAMPLE, OP_RESAMPLE, OP_RESAMPLE_BACKWARD = (
    18,
    19,
    21,
    22,
    24,
    25,
    26,
)
DATA_TYPE, BOOLEAN, INT64, FLOAT, DOUBLE, CONVOLUTION_MODE, NAN, POINTWISE_MODE, DESCRIPTOR = (
    1,
    2,
    3,
    4,
    5,
    7,
    10,
    14,
    15,
)
REDUCTION_OPERATOR, REORDERING, RESAMPLE_MODE, PADDING_MODE, FRACTION = 18, 20, 21, 22, 26
#: The passes that generate builders.
FLAGS = (
    "--add-runtime-argument",
    "--convert-cudnn-execute-to-backend",
    "--convert-cudnn-graphs-to-backend",
)


def i64(*numbers: int) -> tuple[int, int, bytes]:
    return INT64, len(numbers), struct.pack(f"<{len(numbers)}q", *numbers)


def enum(kind: int, number: int) -> tuple[int, int, bytes]:
    return kind, 1, struct.pack("<i", number)


def boolean(value: bool) -> tuple[int, int, bytes]:
    return BOOLEAN, 1, struct.pack("<?", value)


def f32(value: float) -> tuple[int, int, bytes]:
    return FLOAT, 1, struct.pack("<f", value)


def f64(value: float) -> tuple[int, int, bytes]:
    return DOUBLE, 1, struct.pack("<d", value)


def refs(*descriptors: int) -> tuple[int, int, tuple[int, ...]]:
    return DESCRIPTOR, len(descriptors), descriptors


def fractions(*pairs: tuple[int, int]) -> tuple[int, int, bytes]:
    numbers = [number for pair in pairs for number in pair]
    return FRACTION, len(pairs), struct.pack(f"<{len(numbers)}q", *numbers)


def tensor(
    uid: int,
    dims: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: int,
    virtual: bool,
    alignment: int = 16,
) -> dict:
    return {
        901: enum(DATA_TYPE, dtype),
        902: i64(*dims),
        903: i64(*strides),
        906: i64(uid),
        900: i64(alignment),
        907: boolean(virtual),
    }
