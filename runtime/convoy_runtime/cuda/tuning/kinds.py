# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kinds of graphs: keys of those for which tuning expects the same engines to be fast, or to
support them."""

from __future__ import annotations

from math import gcd, prod
from typing import Final

from convoy_runtime.manifest import Graph, GraphTensor

from .levels import is_narrow

__all__ = [
    "aligned_kind",
    "kind_of",
    "narrow_kind",
    "operation_kind",
    "sibling_kind",
    "split_kind",
    "types_of",
]

#: Doublings of the number of a result's elements in one kind of graph.
_ENGINE_SIZES: Final = 4
#: The same for each tensor in graphs for which alternatives are compared.
_ALTERNATIVE_SIZES: Final = 1
#: Engines require at most this alignment of channels, in elements.
_ALIGNMENT: Final = 16
#: Tensors of a higher rank are images or volumes.
_MATRIX_RANK: Final = 3


def kind_of(graph: Graph) -> object:
    """Returns a key for graphs on which engines perform alike: operations, types, filters, strides,
    order of magnitude of the result. Spatial dims smaller than those of the result, e.g. of
    filters, are part of the key; others as multiples of the result's."""
    result = graph.tensors[-1].shape[2:]

    def form(tensor: GraphTensor) -> object:
        dims = zip(tensor.shape[2:], result, strict=False)
        return (
            tensor.dtype,
            len(tensor.shape),
            tuple(
                (size, 0) if size < other else (0, -(-size // max(1, other)))
                for size, other in dims
            ),
        )

    return graph.ops, tuple(map(form, graph.tensors)), _size_class(graph.tensors[-1], _ENGINE_SIZES)


def operation_kind(graph: Graph) -> object:
    """Returns a key for graphs with the same main operation: its types, its window, and whether it
    is grouped. Engines have the same numbers for all of them."""
    operand, other = graph.tensors[0], graph.tensors[min(1, len(graph.tensors) - 1)]
    is_image = len(other.shape) > _MATRIX_RANK
    window = (operand.shape[1] == other.shape[1], other.shape[2:]) if is_image else None
    return graph.ops[0], operand.dtype, other.dtype, window


def sibling_kind(graph: Graph) -> object:
    """Returns a key for graphs with the same result, e.g. the first convolutions in a block of a
    DenseNet, in which only the number of input channels differs."""
    return kind_of(graph), graph.tensors[-1].shape


def _size_class(tensor: GraphTensor, doublings: int) -> int:
    """Returns a class of sizes. The sizes of a class differ by less than a factor of
    2**doublings."""
    return prod(tensor.shape).bit_length() // doublings


def aligned_kind(graph: Graph) -> object:
    """Returns a key for graphs that the same engines support."""
    return kind_of(graph), tuple(
        tuple(gcd(size, _ALIGNMENT) for size in _unaligned(tensor)) for tensor in graph.tensors
    )


def _unaligned(tensor: GraphTensor) -> tuple[int, ...]:
    """Returns the dims whose alignment matters to engines: not the spatial ones of images."""
    return tensor.shape[:2] if len(tensor.shape) > _MATRIX_RANK else tensor.shape


def types_of(graph: Graph) -> object:
    """Returns a key for graphs with the same operations and types."""
    return graph.ops, tuple(tensor.dtype for tensor in graph.tensors)


def narrow_kind(graph: Graph, alternative: str) -> str | None:
    """Returns a key for alternatives with the same first step, e.g. conv2d; None for a graph that
    is not narrow."""
    return alternative.partition(" | ")[0] if is_narrow(graph) else None


def split_kind(graph: Graph, alternative: str) -> object:
    """Returns a key for graphs for which an alternative is similarly fast. The gain by better
    kernels of its steps grows with the products, and the loss between them with the tensors; e.g.
    in the blocks of a DenseNet only the number of input channels differs."""
    sizes = tuple(_size_class(tensor, _ALTERNATIVE_SIZES) for tensor in graph.tensors)
    return kind_of(graph), sizes, alternative
