# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Algorithms of cuBLASLt with wrong results."""

from __future__ import annotations

from typing import Final

from convoy_runtime.manifest import Graph

from .matmul import Algorithm

__all__ = ["erratum"]

#: The numbers of algorithms whose kernels compute relu as the maximum of 0 and a number, which is 0
#: for NaN; PyTorch has NaN. Seen in cuBLASLt 13 on an H100, for float32 with TF32
#: (`test/gpu/test_cublaslt.py`, case "infinite"). If blocks share a sum, another kernel computes
#: relu, with NaN.
_LOSES_NAN: Final = frozenset({21, 23})


def erratum(graph: Graph, algorithm: Algorithm) -> str | None:
    """Returns why an algorithm must not run a graph; None if it may."""
    is_relu = graph.matmul is not None and graph.matmul.activation == "relu"
    if is_relu and algorithm.number in _LOSES_NAN and algorithm.parameters["SPLITK_NUM"] <= 1:
        return "its relu of NaN is 0"
    return None
