# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Engines of cuDNN with wrong results. They are never chosen. Each rule has the way it was
found."""

from __future__ import annotations

from convoy_runtime.manifest import Graph
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
    """

    ops: frozenset[str]
    dtype: str
    engine: int
    first: int
    last: int
    what: str
    beside: frozenset[str] = frozenset()
    wider_than: int = 0


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
)


def erratum_of(graph: Graph, engine: int, version: int) -> str | None:
    """Returns the known error of `engine` on `graph` in this version of cuDNN; None if there is
    none."""
    dtypes = {tensor.dtype for tensor in graph.tensors}
    ops = set(graph.ops)
    outputs = [tensor for tensor in graph.tensors if tensor.role == "output" and tensor.shape]
    width = max((tensor.shape[-1] for tensor in outputs), default=0)
    for rule in ERRATA:
        if (
            rule.engine == engine
            and rule.first <= version <= rule.last
            and rule.dtype in dtypes
            and rule.ops & ops
            and rule.beside <= ops
            and width > rule.wider_than
        ):
            return rule.what
    return None
