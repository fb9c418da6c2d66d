# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Different elements of a tensor, whose number depends on values, and medians of elements whose
number does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import Node

from convoy.frontend._bounded_graph import BoundedSize
from convoy.frontend._bounded_uses import BoundedUses
from convoy.frontend._export import decompositions
from convoy.frontend._inline import arguments_by_name, inline

__all__ = ["BoundedOrder", "is_unique"]

aten = torch.ops.aten
_UNIQUES = (aten._unique2.default, aten.unique_consecutive.default)
_MEDIANS = ("median", "nanmedian")


def is_unique(node: Node) -> bool:
    """Whether a node finds the different elements of a whole tensor."""
    if node.target not in _UNIQUES or not isinstance(node.target, OpOverload):
        return False
    dim = arguments_by_name(node, node.target).get("dim")
    value = node.all_input_nodes[0].meta["val"]
    is_whole = dim is None or value.ndim == 1
    return is_whole and all(isinstance(size, int) for size in value.shape)


class BoundedOrder(BoundedUses):
    """Replaces ops that order elements."""

    def _unique(self, node: Node) -> None:
        """Sorts; an element that differs from the one before begins a group. The first places have
        the groups, and the others zeros."""
        x, value = node.all_input_nodes[0], node.all_input_nodes[0].meta["val"]
        bound, is_sorted = value.numel(), node.target is aten._unique2.default

        def function(given: torch.Tensor) -> list[torch.Tensor]:
            flat, order = given.reshape(-1), torch.arange(bound)
            if is_sorted:
                flat, order = torch.sort(flat, stable=True)
            first = torch.ones(min(bound, 1), dtype=torch.bool)
            begins = torch.cat([first, flat[1:] != flat[:-1]])
            group = torch.cumsum(begins.to(torch.int64), 0) - 1
            zeros = torch.zeros(bound, dtype=torch.int64)
            count = torch.sum(begins)
            return [
                torch.scatter(torch.zeros_like(flat), 0, group, flat),
                torch.scatter(zeros, 0, order, group).reshape(value.shape),
                torch.scatter_add(zeros, 0, group, torch.ones_like(zeros)),
                count,
                torch.arange(bound) < count,
            ]

        *made, count, valid = inline(self._graph, node, function, [x], self._mode, decompositions())
        name = next(iter(self._symbols[node][0]))
        if name is not None:  # known for a tensor of at most one element
            source = str(node.target).removesuffix(".default")
            self._sizes[name] = BoundedSize(bound, count, valid, source)
        for user in list(node.users):
            at: Any = user.args[1]
            user.target, user.args = aten.alias.default, (made[at],)
            self._symbols[made[at]] = self._symbols[user]
            self._describe(user)
        self._graph.erase_node(node)

    def _replaces(self, node: Node, op: OpOverload, arguments: Mapping[str, Any]) -> bool:
        name = op.overloadpacket.__name__
        if name in _MEDIANS and "dim" not in arguments:
            return self._median(node, name, arguments["self"])
        return super()._replaces(node, op, arguments)

    def _median(self, node: Node, name: str, x: Node) -> bool:
        """The lower one of two elements in the middle, and NaN if there is one or there are no
        elements. torch.nanmedian leaves NaN out, which comes last."""
        value = x.meta["val"]
        if value.ndim != 1 or not value.is_floating_point():
            return False
        size = self._sizes[self._symbols[x][0]]
        counted = self._masked(x, 0.0)
        last = self._masked(x, float("nan"))

        def function(
            given: torch.Tensor, rest: torch.Tensor, count: torch.Tensor
        ) -> list[torch.Tensor]:
            missing = torch.sum(torch.isnan(given))
            number = count - missing if name == "nanmedian" else count
            ordered, _ = torch.sort(rest)
            place = ((number - 1) // 2).clamp(min=0).reshape(1)
            found = ordered.index_select(0, place).reshape(())
            is_known = number > 0 if name == "nanmedian" else (missing == 0) & (count > 0)
            return [torch.where(is_known, found, float("nan"))]

        return self._put(node, function, [counted, last, size.count])
