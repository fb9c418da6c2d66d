# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Engines of cuDNN with wrong results. They are never chosen. Each rule has the way it was
found."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from convoy_runtime.manifest import Graph, GraphTensor
from convoy_runtime.value_types import value_type

__all__ = ["ERRATA", "Erratum", "erratum_of"]


@value_type(frozen=True, slots=True)
class Erratum:
    """A known error of an engine.

    Attributes:
        ops: The rule applies to graphs with one of these ops.
        dtype: The rule applies to graphs with a tensor of this dtype.
        engine: The index of the engine, which must not run such graphs.
        first: The first version with the error, e.g. 91900.
        last: The last version with the error.
        what: The error, and how it was found.
        beside: The rule applies to graphs that have all of these ops, too.
        wider_than: The rule applies to graphs with a result whose last dim is larger.
        taps_above: The rule applies to graphs with a filter whose window has more elements.
    """

    ops: frozenset[str]
    dtype: str
    engine: int
    first: int
    last: int
    what: str
    beside: frozenset[str] = frozenset()
    wider_than: int = 0
    taps_above: int = 0


#: `last` is 99999 until a later version is known to be correct.
ERRATA = (
    Erratum(
        ops=frozenset({"maxpool", "avgpool_include_padding", "avgpool_exclude_padding"}),
        dtype="bfloat16",
        engine=3,
        first=90000,
        last=99999,
        what=(
            "reads beyond its input in bfloat16 (9.19.0 on an H200: compute-sanitizer "
            "reports invalid reads, results are NaN)"
        ),
    ),
    Erratum(
        ops=frozenset({"matmul"}),
        beside=frozenset({"exp", "reduce_max"}),
        dtype="float32",
        wider_than=128,
        engine=1,
        first=90000,
        last=99999,
        what=(
            "computes wrong attention in float32 if the last dim of the value is above 128 "
            "(9.19.0 on an H100: results of 136 to 256 columns differ from PyTorch's by their "
            "own size, and are NaN if memory is poisoned)"
        ),
    ),
    *(
        Erratum(
            ops=frozenset({"convolution"}),
            dtype=dtype,
            taps_above=121,
            engine=4,
            first=90000,
            last=99999,
            what=(
                "computes wrong convolutions with large windows (9.19.0 on an H100: results of "
                "16x16 windows over 4 channels in float32, and over 8 in float16 and float32, "
                "differ from PyTorch's by their own size; those of 8x8 and 11x11 are right)"
            ),
        )
        for dtype in ("float16", "bfloat16", "float32")
    ),
)


def _filters(graph: Graph) -> Iterator[GraphTensor]:
    """The operands with a window for each channel of a result. An image is one of them if its batch
    is as large, which may only refuse a correct engine."""
    channels = {t.shape[1] for t in graph.tensors if t.role == "output" and len(t.shape) > 2}
    return (t for t in graph.tensors if t.role == "input" and t.shape and t.shape[0] in channels)


def erratum_of(graph: Graph, engine: int, version: int) -> str | None:
    """Returns the known error of `engine` on `graph` in this version of cuDNN; None if there is
    none."""
    dtypes = {tensor.dtype for tensor in graph.tensors}
    ops = set(graph.ops)
    outputs = [tensor for tensor in graph.tensors if tensor.role == "output" and tensor.shape]
    width = max((tensor.shape[-1] for tensor in outputs), default=0)
    taps = max((prod(tensor.shape[2:]) for tensor in _filters(graph)), default=0)
    for rule in ERRATA:
        if (
            rule.engine == engine
            and rule.first <= version <= rule.last
            and rule.dtype in dtypes
            and rule.ops & ops
            and rule.beside <= ops
            and width > rule.wider_than
            and (not rule.taps_above or taps > rule.taps_above)
        ):
            return rule.what
    return None
