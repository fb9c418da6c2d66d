# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reshapes of a dim whose size depends on values, and whose first elements are valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import Node

from convoy.frontend._bounded_graph import BoundedGraph
from convoy.frontend._export import decompositions
from convoy.frontend._inline import inline

__all__ = ["BoundedReshapes"]

aten = torch.ops.aten


class BoundedReshapes(BoundedGraph):
    """Replaces reshapes. Its methods return whether they did."""

    def _put(
        self, node: Node, function: Callable[..., list[torch.Tensor]], inputs: Sequence[Node]
    ) -> bool:
        """Replaces an op by the ops of a function."""
        made: Any = inline(self._graph, node, function, inputs, self._mode, decompositions())
        symbols = self._symbols[node]
        several = bool(symbols) and isinstance(symbols[0], (list, tuple))
        for each, own in zip(made, symbols if several else [symbols], strict=True):
            self._symbols[each] = own
        if several:
            for user in list(node.users):
                user.replace_all_uses_with(made[user.args[1]])
                self._graph.erase_node(user)
        else:
            node.replace_all_uses_with(made[0])
        self._graph.erase_node(node)
        return True

    def _split(self, node: Node, arguments: Mapping[str, Any]) -> bool:
        """Rows as a known number of groups of equal sizes, as in `x[mask].view(2, -1, 8)`. The
        valid rows of all groups follow each other."""
        x, dims = arguments["self"], self._dims(arguments["self"])
        symbols, shape = self._symbols[node], self._values[node].shape
        bounded = [dim for dim, name in enumerate(symbols) if name is not None]
        if len(dims) != 1 or len(bounded) != 1 or not bounded[0]:
            return False
        (dim,), (at,) = dims, bounded
        value, name = x.meta["val"], symbols[at]
        size, groups = self._sizes[self._symbols[x][dim]], shape[at - 1]
        bound = size.bound // groups
        is_split = (*shape[: at - 1], *shape[at + 1 :]) == (
            *value.shape[:dim],
            *value.shape[dim + 1 :],
        )
        if dim != at - 1 or not is_split or not bound:
            return False
        if name not in self._sizes:
            count = self._emit(aten.div.Tensor_mode, size.count, groups, rounding_mode="floor")
            self._add_size(name, bound, count, size.source)
        made = (*shape[:at], bound, *shape[at + 1 :])

        def function(rows: torch.Tensor, count: torch.Tensor) -> list[torch.Tensor]:
            place = torch.arange(groups)[:, None] * count + torch.arange(bound)
            place = place.clamp(max=size.bound - 1).reshape(-1)
            return [rows.index_select(dim, place).reshape(made)]

        return self._put(node, function, [x, self._sizes[name].count])
