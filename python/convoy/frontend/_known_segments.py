# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Sums over segments whose bounds are known: `EmbeddingBag` of ids of two dims or with constant
offsets, and `index_add` or `scatter_add` with a constant index.

In general an element of the result is compared with the index of each update. If the index is
known, so are the updates of each element. They are read side by side and reduced along a dim, or
are only a view of the updates if each element has as many as the others, in order.
"""

from __future__ import annotations

import math
import operator
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

import torch

from convoy.frontend._emitter import Emitter

__all__ = ["Segments", "simplify_segments"]

aten = torch.ops.aten
_BAGS = (
    aten.embedding_bag.default,
    aten.embedding_bag.padding_idx,
    aten._embedding_bag.default,
    aten._embedding_bag_forward_only.default,
)
_ADDS = (aten.index_add.default, aten.scatter_add.default, aten.index_put.default)
#: Segments of different lengths are filled up to the longest one. Each update may have at most
#: this many reads then, because the CPU reads each update once otherwise.
_MOST_READS = 4

Known = MutableMapping[torch.fx.Node, Any]


@dataclass(frozen=True)
class Segments:
    """The positions of the updates of each segment.

    Attributes:
        table: int64 [segments, longest]; -1 after the last update of a segment.
        count: The number of updates.
    """

    table: torch.Tensor
    count: int

    @classmethod
    def of(cls, owners: torch.Tensor, segments: int) -> Segments | None:
        """Finds the updates of each segment.

        Args:
            owners: The segment of each update, [count]; the update has none if it is out of range.
            segments: The number of segments.

        Returns:
            The updates of each segment in order; None if reading them side by side is no gain.
        """
        owners = owners.to(torch.int64)
        order = torch.argsort(owners, stable=True)
        bounds = torch.searchsorted(owners[order], torch.arange(segments + 1))
        lengths = bounds.diff()
        longest = int(lengths.max()) if segments else 0
        if longest == 0 or segments * longest > _MOST_READS * owners.numel():
            return None
        place = torch.arange(longest)
        at = (bounds[:-1, None] + place).clamp(max=owners.numel() - 1)
        table = torch.where(place < lengths[:, None], order[at], -1)
        return cls(table, owners.numel())

    @property
    def are_full(self) -> bool:
        """Whether all segments have the same number of updates."""
        return bool((self.table >= 0).all())

    @property
    def start(self) -> int | None:
        """The first update if those of all segments follow one another; None otherwise."""
        flat = self.table.reshape(-1)
        first = int(flat[0])
        return first if torch.equal(flat, first + torch.arange(flat.numel())) else None


def simplify_segments(graph: torch.fx.Graph, known: Known) -> None:
    """Replaces reductions over known segments by reads and reductions along a dim.

    Args:
        graph: A graph. It is modified.
        known: The values of nodes that depend only on constants. The tables of updates are added.
    """
    for node in list(graph.nodes):
        if node.op != "call_function" or node in known:
            continue
        if node.target in _BAGS:
            _replace(graph, node, known, _bags)
        elif node.target in _ADDS:
            _replace(graph, node, known, _sums)


def _replace(graph: torch.fx.Graph, node: torch.fx.Node, known: Known, rule: Any) -> None:
    """Replaces a node, or the first result of a node, by the nodes that a rule creates."""
    used = [user for user in node.users if user.users]
    firsts = [user for user in used if user.target is operator.getitem and user.args[1] == 0]
    has_several = node.target in _BAGS
    if has_several and (len(firsts) != 1 or firsts != used):
        return
    old = firsts[0] if has_several else node
    with graph.inserting_before(node):
        new = rule(Emitter(graph, old), node, known)
    if new is None:
        return
    old.replace_all_uses_with(new)
    for user in [*node.users, node]:
        if has_several or user is node:
            graph.erase_node(user)


def _arguments(node: torch.fx.Node) -> dict[str, Any]:
    """The arguments of an op by name, with defaults."""
    given = node.target._schema.arguments  # type: ignore[union-attr]
    return {
        each.name: node.args[at]
        if at < len(node.args)
        else node.kwargs.get(each.name, each.default_value)
        for at, each in enumerate(given)
    }


def _is_static(*nodes: torch.fx.Node) -> bool:
    """Whether all sizes are numbers, and there are elements."""
    sizes = [size for node in nodes for size in node.meta["val"].shape]
    return all(isinstance(size, int) and size > 0 for size in sizes)


def _literal(emit: Emitter, value: torch.Tensor, known: Known) -> torch.fx.Node:
    """A node with a known value: `fold_constants` makes it a constant."""
    node = emit(aten.empty.memory_format, list(value.shape), dtype=value.dtype)
    known[node] = value
    return node


def _read(
    emit: Emitter, x: torch.fx.Node, dim: int, segments: Segments, known: Known
) -> torch.fx.Node:
    """`x` with a dim of segments and one of their updates in place of `dim`."""
    count, longest = segments.table.shape
    shape = list(x.meta["val"].shape)
    start = segments.start
    if start is None:
        flat = segments.table.clamp(min=0).reshape(-1)
        x = emit(aten.index_select.default, x, dim, _literal(emit, flat, known))
    elif count * longest != shape[dim]:
        x = emit(aten.slice.Tensor, x, dim, start, start + count * longest)
    return emit(aten.reshape.default, x, [*shape[:dim], count, longest, *shape[dim + 1 :]])


def _wide(emit: Emitter, x: torch.fx.Node) -> torch.fx.Node:
    """PyTorch reduces float16 and bfloat16 in float32."""
    narrow = x.meta["val"].dtype in (torch.float16, torch.bfloat16)
    return emit(aten.to.dtype, x, torch.float32) if narrow else x


def _cast(emit: Emitter, x: torch.fx.Node, dtype: torch.dtype) -> torch.fx.Node:
    return x if x.meta["val"].dtype == dtype else emit(aten.to.dtype, x, dtype)


def _filled(
    emit: Emitter, x: torch.fx.Node, where: torch.fx.Node, dim: int, number: float
) -> torch.fx.Node:
    """`x` with a number in place of what `where`, whose dims start at `dim`, is false for."""
    kind = x.meta["val"]
    after = [1] * (kind.ndim - dim - where.meta["val"].ndim)
    where = emit(aten.reshape.default, where, [*where.meta["val"].shape, *after])
    other = emit(aten.full.default, [1] * kind.ndim, number, dtype=kind.dtype)
    return emit(aten.where.self, where, x, other)


def _bags(emit: Emitter, node: torch.fx.Node, known: Known) -> torch.fx.Node | None:
    """Bags of an `embedding_bag` with known offsets."""
    call = _arguments(node)
    table, ids, offsets, mode = (call[name] for name in ("weight", "indices", "offsets", "mode"))
    if offsets not in known or not _is_static(table, ids, emit.node):
        return None
    bags = emit.node.meta["val"].shape[0]
    count = ids.meta["val"].shape[0]
    begun = known[offsets].to(torch.int64).reshape(-1)
    # Positions before the first offset have no bag, and those from the last one on with
    # `include_last_offset`.
    owners = torch.searchsorted(begun, torch.arange(count), right=True) - 1
    if bool((begun.diff() < 0).any()) or (segments := Segments.of(owners, bags)) is None:
        return None
    ids = _read(emit, ids, 0, segments, known)
    rows = _wide(emit, emit(aten.embedding.default, table, ids))
    if (factors := call["per_sample_weights"]) is not None:
        factors = _cast(emit, _read(emit, factors, 0, segments, known), rows.meta["val"].dtype)
        rows = emit(aten.mul.Tensor, rows, emit(aten.unsqueeze.default, factors, 2))
    valid = None
    if not segments.are_full:
        valid = _literal(emit, segments.table >= 0, known)
    if (padding := _padding(node, call)) is not None:
        is_used = emit(aten.ne.Scalar, ids, padding)
        valid = is_used if valid is None else emit(aten.logical_and.default, valid, is_used)
    total = _reduced(emit, rows, valid, mode)
    return _cast(emit, total, emit.node.meta["val"].dtype)


def _padding(node: torch.fx.Node, call: dict[str, Any]) -> int | None:
    """The id of rows that are left out. Ops pass no padding as None, or as a negative number."""
    padding = call.get("padding_idx")
    if padding is None or padding >= 0:
        return padding
    if node.target is aten.embedding_bag.padding_idx:
        return int(padding + call["weight"].meta["val"].shape[0])
    return None


def _reduced(
    emit: Emitter, rows: torch.fx.Node, valid: torch.fx.Node | None, mode: int
) -> torch.fx.Node:
    """The sum (mode 0), mean (1) or maximum (2) over dim 1; 0 for a bag without rows."""
    is_maximum, is_mean = mode == 2, mode == 1
    length = rows.meta["val"].shape[1]
    if valid is not None:
        rows = _filled(emit, rows, valid, 0, -math.inf if is_maximum else 0.0)
    if length == 1:
        total = emit(aten.squeeze.dim, rows, 1)
    elif is_maximum:
        total = emit(aten.amax.default, rows, [1])
    else:
        whole_mean = is_mean and valid is None
        total = emit((aten.mean.dim if whole_mean else aten.sum.dim_IntList), rows, [1])
    if valid is None or not (is_maximum or is_mean):
        return total
    used = emit(aten.sum.dim_IntList, emit(aten.to.dtype, valid, torch.int64), [1], True)
    if is_mean:
        used = emit(aten.clamp.default, used, 1)
        return emit(aten.div.Tensor, total, emit(aten.to.dtype, used, total.meta["val"].dtype))
    return _filled(emit, total, emit(aten.gt.Scalar, used, 0), 0, 0.0)


def _sums(emit: Emitter, node: torch.fx.Node, known: Known) -> torch.fx.Node | None:
    """Updates that are added at known indices."""
    found = _added(node, known)
    if found is None:
        return None
    x, dim, index, source, alpha = found
    if not _is_static(x, source):
        return None
    shape = x.meta["val"].shape
    segments = Segments.of(index, shape[dim])
    if segments is None or node.meta["val"].dtype == torch.bool:
        return None
    parts = _wide(emit, _read(emit, source, dim, segments, known))
    if not segments.are_full:
        parts = _filled(emit, parts, _literal(emit, segments.table >= 0, known), dim, 0)
    dtype = parts.meta["val"].dtype
    total = emit(aten.sum.dim_IntList, parts, [dim + 1], dtype=dtype)
    return _cast(
        emit, emit(aten.add.Tensor, _wide(emit, x), total, alpha=alpha), node.meta["val"].dtype
    )


def _added(
    node: torch.fx.Node, known: Known
) -> tuple[torch.fx.Node, int, torch.Tensor, torch.fx.Node, Any] | None:
    """The tensor, dim, index of slices, slices and factor of an op that adds slices at a known
    index; None if it does not."""
    call = _arguments(node)
    x = call["self"]
    rank = x.meta["val"].ndim
    source: Any = call.get("source", call.get("src", call.get("values")))
    index: Any = call.get("index")
    dim = call.get("dim", 0) % max(rank, 1)
    if node.target is aten.index_put.default:
        index, *others = call["indices"]
        if any(others) or not call["accumulate"]:
            return None
    if index not in known or rank == 0:
        return None
    value = known[index]
    if node.target is aten.scatter_add.default:
        # The index of each element is that of its slice.
        if value.shape != source.meta["val"].shape or value.numel() == 0:
            return None
        first = value.movedim(dim, -1).reshape(-1, value.shape[dim])[0]
        around = [-1 if each == dim else 1 for each in range(rank)]
        if not torch.equal(value, first.reshape(around).expand_as(value)):
            return None
        value = first
    expected = list(x.meta["val"].shape)
    expected[dim] = value.numel()
    if value.ndim != 1 or value.dtype == torch.bool or list(source.meta["val"].shape) != expected:
        return None
    if node.target is aten.index_put.default:
        value = torch.where(value < 0, value + x.meta["val"].shape[0], value)
    return x, dim, value, source, call.get("alpha", 1)
