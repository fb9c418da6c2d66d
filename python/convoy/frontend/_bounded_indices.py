# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Indices whose number depends on values, and indices and slices of a dim whose size does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.fx import Node

from convoy.frontend._bounded_reshapes import BoundedReshapes
from convoy.frontend._export import decompositions
from convoy.frontend._inline import inline

__all__ = ["BoundedIndices", "is_mask"]

aten = torch.ops.aten


def is_mask(index: Any) -> bool:
    return index is not None and index.meta["val"].dtype in (torch.bool, torch.uint8)


class BoundedIndices(BoundedReshapes):
    """Replaces the indices of ops."""

    def _is_along(self, x: Any, dim: int) -> bool:
        return isinstance(x, Node) and dim % max(x.meta["val"].ndim, 1) in self._dims(x)

    def _same_size(self, node: Node) -> bool:
        """Describes an op whose result has the sizes of a call without bounds."""
        symbols = self._symbols[node]
        self._describe(node)
        self._symbols[node] = symbols
        return True

    def _mask_index(self, node: Node, arguments: Mapping[str, Any], name: str) -> None:
        """Gives the rows that are not valid an index out of range, at which nothing is written, or
        leaves them out of a mask."""
        x, given = arguments["self"], arguments[name]
        many = isinstance(given, (list, tuple))
        for at, index in enumerate(given if many else [given]):
            if index is None or not self._dims(index):
                continue
            if is_mask(index):
                node.replace_input_with(index, self._masked(index, False))
                break
            dim = at if many else arguments["dim"]
            out = self._emit(
                aten.full.default, [], x.meta["val"].shape[dim], dtype=index.meta["val"].dtype
            )
            new = index
            for each in sorted(self._dims(index)):
                after = index.meta["val"].ndim - each - 1
                new = self._emit(
                    aten.where.self, self._valid(self._symbols[index][each], after), new, out
                )
                self._symbols[new] = self._symbols[index]
            node.replace_input_with(index, new)
            break

    def _count_from_end(self, node: Node, arguments: Mapping[str, Any]) -> None:
        """Makes negative indices of a bounded dim count from the last valid element."""
        x, indices = arguments["self"], list(arguments["indices"])
        for dim in sorted(self._dims(x)):
            index = indices[dim] if dim < len(indices) else None
            if index is None or is_mask(index):
                continue
            symbols = self._symbols[index]
            zero = self._emit(aten.lt.Scalar, index, 0)
            moved = self._emit(aten.add.Tensor, index, self._sizes[self._symbols[x][dim]].count)
            indices[dim] = self._emit(aten.where.self, zero, moved, index)
            self._symbols[indices[dim]] = symbols
        node.args = (x, indices, *node.args[2:])

    def _slice(self, node: Node, arguments: Mapping[str, Any]) -> bool:
        """The existing elements between two positions, or as many first elements of a tensor as
        another tensor has rows."""
        x, dim, start, end = (arguments[each] for each in ("self", "dim", "start", "end"))
        dim %= x.meta["val"].ndim
        name, start = self._symbols[node][dim], start or 0
        if name is None or not isinstance(start, int):
            return False
        if self._is_along(x, dim) and not isinstance(end, Node):
            last = 0 if end is None else end
            if min(start, last) < 0 or arguments["step"] != 1:
                return self._slice_from_end(node, x, dim, slice(start, end, arguments["step"]))
        if arguments["step"] != 1:
            return False
        if not self._is_along(x, dim):
            size = self._sizes.get(self._numbers.get(end) or "") if isinstance(end, Node) else None
            if size is None or start or size.bound > x.meta["val"].shape[dim]:
                return False
            node.args, node.kwargs = (x, dim, 0, size.bound), {}
        elif not isinstance(end, int) or not 0 <= start <= end:
            return False
        elif name not in self._sizes:
            size = self._sizes[self._symbols[x][dim]]
            end = min(end, size.bound)
            last = self._emit(aten.clamp.default, size.count, start, max(start, end))
            count = self._emit(aten.sub.Scalar, last, start)
            self._add_size(name, max(0, end - start), count, size.source)
        self._same_size(node)
        return name in self._sizes and bool(node.meta["val"].shape[dim] == self._sizes[name].bound)

    def _slice_from_end(self, node: Node, x: Node, dim: int, part: slice) -> bool:
        """Elements at a distance, or between positions that may count from the last valid one."""
        size = self._sizes[self._symbols[x][dim]]
        start, end, step = part.start, part.stop, part.step
        most = max(len(range(count)[part]) for count in range(size.bound + 1))
        symbols = self._symbols[node]
        name = symbols[dim]
        if not most or (name in self._sizes and self._sizes[name].bound != most):
            return False

        def function(value: torch.Tensor, count: torch.Tensor) -> list[torch.Tensor]:
            first = (count + start).clamp(min=0) if start < 0 else torch.full([], start)
            last = count if end is None else count + end if end < 0 else count.clamp(max=end)
            number = ((last - first + step - 1) // step).clamp(min=0)
            place = (first + step * torch.arange(most)).clamp(max=size.bound - 1)
            return [value.index_select(dim, place), number]

        made, number = inline(
            self._graph, node, function, [x, size.count], self._mode, decompositions()
        )
        self._symbols[made] = symbols
        if name not in self._sizes:
            self._add_size(name, most, number, size.source)
        node.replace_all_uses_with(made)
        self._graph.erase_node(node)
        return True

    def _write_slice(self, node: Node, name: str, arguments: Mapping[str, Any]) -> bool:
        """Writes to the elements between two positions, which may count from the last valid one."""
        x, source, dim = (arguments[each] for each in ("self", "src", "dim"))
        dim %= x.meta["val"].ndim
        if dim not in self._dims(x):
            return False
        size = self._sizes[self._symbols[x][dim]]
        is_row = name == "select_scatter"
        start, end = (arguments["index"],) * 2 if is_row else (arguments["start"], arguments["end"])
        start, end = start or 0, size.bound if end is None else end
        known = isinstance(start, int) and isinstance(end, int)
        if not known or arguments.get("step", 1) != 1 or 0 in source.meta["val"].shape:
            return False

        def function(
            value: torch.Tensor, written: torch.Tensor, count: torch.Tensor
        ) -> list[torch.Tensor]:
            first = (count + start).clamp(min=0) if start < 0 else start
            last = first + 1 if is_row else count + end if end < 0 else end
            written = written.unsqueeze(dim) if is_row else written
            position = torch.arange(size.bound)
            inside = (position >= first) & (position < last)
            place = (position - first).clamp(min=0, max=written.shape[dim] - 1)
            inside = inside.reshape([-1, *[1] * (value.ndim - dim - 1)])
            return [torch.where(inside, written.index_select(dim, place), value)]

        return self._put(node, function, [x, source, size.count])
