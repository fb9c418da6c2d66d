# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Indices that count: `x[arange(n), i]` and `x[arange(n)[:, None], arange(m)]`.

An index tensor whose elements are an arithmetic progression along one dim is a slice. If all index
tensors are, the result is a view; if one is not, and has one element for each position of the
others, it is a gather along its dim. Both keep the rows of a batch apart, where an index of all
dims together has positions that depend on the number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch

from convoy.frontend._emitter import Emitter

__all__ = ["Progression", "simplify_indices"]

aten = torch.ops.aten
_INDEX = (aten.index.Tensor, aten._unsafe_index.Tensor)


@dataclass(frozen=True)
class Progression:
    """An index tensor that is `start + step * position` along one axis.

    Attributes:
        axis: The axis, counted from the last one (-1); None for a single element.
        start: The first element; not negative.
        step: The distance of elements; positive.
        count: The number of elements.
    """

    axis: int | None
    start: int
    step: int
    count: int

    @classmethod
    def of(cls, value: torch.Tensor, size: int) -> Progression | None:
        """The progression that an index of a dim of `size` is, or None."""
        if value.numel() == 0:
            return None
        axes = [axis for axis in range(-value.ndim, 0) if value.shape[axis] > 1]
        if len(axes) > 1:
            return None
        flat = value.reshape(-1).to(torch.int64)
        first, count = int(flat[0]), flat.numel()
        step = int(flat[1]) - first if count > 1 else 1
        start = first + size if first < 0 else first
        last = start + step * (count - 1)
        if step < 1 or start < 0 or last >= size or (first < 0 <= int(flat[-1])):
            return None
        if not torch.equal(flat, first + step * torch.arange(count)):
            return None
        return cls(axes[0] if axes else None, start, step, count)

    def covers(self, size: int) -> bool:
        """Whether it is all of a dim of `size`, in order."""
        return (self.start, self.step, self.count) == (0, 1, size)


def simplify_indices(graph: torch.fx.Graph, known: Mapping[torch.fx.Node, Any]) -> None:
    """Replaces reads at progressions by views and gathers.

    Args:
        graph: A graph. It is modified.
        known: The values of nodes that depend only on constants.
    """
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target not in _INDEX or node in known:
            continue
        with graph.inserting_before(node):
            if (new := _simplified(Emitter(graph, node), node, known)) is not None:
                node.replace_all_uses_with(new)
                graph.erase_node(node)


def _simplified(
    emit: Emitter, node: torch.fx.Node, known: Mapping[torch.fx.Node, Any]
) -> torch.fx.Node | None:
    """The nodes that compute the same, or None."""
    x, indices = cast("tuple[torch.fx.Node, Sequence[torch.fx.Node | None]]", node.args)
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    # The number of elements that a mask selects is not known.
    if not all(_integers(index) for index in indices if index is not None):
        return None
    shape, result = _shape(x), _shape(node)
    if not all(isinstance(size, int) for size in (*shape, *result)):
        return None
    # Indexed dims that are not adjacent come first in the result.
    if not dims or dims != list(range(dims[0], dims[-1] + 1)) or 0 in shape or 0 in result:
        return None
    found: dict[int, Progression] = {}
    other: int | None = None
    for dim in dims:
        index = cast("torch.fx.Node", indices[dim])
        value = Progression.of(known[index], shape[dim]) if index in known else None
        if value is not None:
            found[dim] = value
        elif other is None:
            other = dim
        else:
            return None
    # A single element is a dim of size 1, which may be anywhere.
    order = sorted(found, key=lambda dim: found[dim].axis or -len(result) - 1)
    axes = [axis for dim in order if (axis := found[dim].axis) is not None]
    rank = len(result) - len(shape) + len(dims)
    sizes = [found[dim].count for dim in order]
    positions = result[dims[0] : dims[0] + rank]
    if len(set(axes)) != len(axes):
        return None
    # One element at each position. Without positions it is a select, which copies whole rows.
    if other is not None and (not axes or math.prod(sizes) < math.prod(positions)):
        return None
    for dim, each in found.items():
        if not each.covers(shape[dim]):
            stop = each.start + each.step * (each.count - 1) + 1
            x = emit(aten.slice.Tensor, x, dim, each.start, stop, each.step)
    if other is not None:
        x = _permuted(emit, x, dims[0], [*order, other])
        index = _from_end(emit, cast("torch.fx.Node", indices[other]), shape[other])
        along = dims[0] + len(order)
        lead, rest = _shape(x)[: dims[0]], _shape(x)[along + 1 :]
        ones = [1] * len(lead), [1] * len(rest)
        index = emit(aten.expand.default, index, list(positions))
        index = emit(aten.reshape.default, index, [*ones[0], *sizes, 1, *ones[1]])
        index = emit(aten.expand.default, index, [*lead, *sizes, 1, *rest])
        x = emit(aten.gather.default, x, along, index)
    else:
        x = _permuted(emit, x, dims[0], order)
    return emit(aten.reshape.default, x, list(result))


def _from_end(emit: Emitter, index: torch.fx.Node, size: int) -> torch.fx.Node:
    """Adds `size` to negative indices, as int64."""
    if index.meta["val"].dtype != torch.int64:
        index = emit(aten.to.dtype, index, torch.int64)
    negative = emit(aten.lt.Scalar, index, 0)
    return emit(aten.where.self, negative, emit(aten.add.Scalar, index, size), index)


def _permuted(emit: Emitter, x: torch.fx.Node, first: int, order: Sequence[int]) -> torch.fx.Node:
    """`x` with the dims from `first` on in this order."""
    dims = [*range(first), *order, *range(first + len(order), len(_shape(x)))]
    return x if dims == sorted(dims) else emit(aten.permute.default, x, dims)


def _shape(node: torch.fx.Node) -> tuple[int, ...]:
    return tuple(node.meta["val"].shape)


def _integers(node: torch.fx.Node) -> bool:
    return node.meta["val"].dtype in (torch.int32, torch.int64)
