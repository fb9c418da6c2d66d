# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops that find elements, e.g. `nonzero` and `x[mask]`: replaces each by an op whose result has the
largest possible number of rows."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import torch
from torch.fx import Graph, Node

from convoy.errors import UnsupportedOp, UnsupportedOpsError
from convoy.frontend._bounded_graph import BoundedSize
from convoy.frontend._bounded_indices import is_mask
from convoy.frontend._bounded_order import BoundedOrder, is_unique
from convoy.frontend._bounded_slices import WRITTEN_AS
from convoy.frontend._export import decompositions
from convoy.frontend._inline import splice, trace
from convoy.frontend._positions import nonzero_static
from convoy.frontend._refused import reason_of
from convoy.frontend._source_lines import line_of

__all__ = ["BoundedSources", "is_source"]

aten = torch.ops.aten
_INDEX = (aten.index.Tensor, aten._unsafe_index.Tensor)
_USE = (
    "a size of its operands is the number of elements that {op} finds, and it does more than to "
    "compute each of them by itself; expected an op along other dims, a sum, a mean or a maximum, "
    "or torch.where in place of {op}"
)


def is_source(node: Node) -> bool:
    if node.target in (aten.nonzero.default, aten.masked_select.default) or is_unique(node):
        return True
    return node.target in _INDEX and any(map(is_mask, node.args[1]))  # type: ignore[arg-type]


class BoundedSources(BoundedOrder):
    """Replaces the ops that find elements."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        #: By mask: the name of the number of its elements, and their positions.
        self._places: dict[Node, tuple[str, Node]] = {}
        #: The graphs that find elements, by the types of masks.
        self._traced: dict[Any, torch.fx.GraphModule] = {}

    def _source(self, node: Node) -> None:
        """Replaces an op whose result size depends on values by one whose result has the largest
        size."""
        if is_unique(node):
            self._unique(node)
            return
        names = [each for each in self._symbols[node] if each is not None]
        if node.target is aten.nonzero.default:
            (mask,) = node.all_input_nodes
            made = self._positions(mask, mask, names[0])
            node.replace_all_uses_with(made)
            self._graph.erase_node(node)
            return
        arguments: Any = node.args
        x, indices = arguments
        if node.target is aten.masked_select.default:
            found = mask = indices
            shapes = [each.meta["val"].shape for each in (x, mask)]
            shape = list(torch.broadcast_shapes(*shapes)) or [1]  # type: ignore[no-untyped-call]
            if [shape, shape] != [[*each] for each in shapes]:
                if self._names([x, mask]):
                    self._refuse(node, self._names([x, mask]))
                x, mask = (self._emit(aten.expand.default, each, shape) for each in (x, mask))
                found = mask
            indices = [mask]
        else:
            found = next(filter(is_mask, indices))
        # The size is a new one, also if another op has used the mask.
        known = self._places[found][0] if found in self._places else None
        new = next((each for each in names if each not in self._sizes), None)
        name = known or new
        if name is None and names and self._sizes[names[0]].bound == found.meta["val"].numel():
            name = names[0]  # Torch knows that the masks have equally many elements.
        if known is not None and new is not None:
            self._sizes[new] = self._sizes[known]
        others = [each for each in indices if each is not None and not is_mask(each)]
        if name is None or (others and self._names(x)):
            self._refuse(node, [])
        replaced: list[Any] = []
        for index in indices:
            if is_mask(index):
                key = found if len(indices) == 1 else index
                places = self._positions(key, index, str(name))
                for dim in range(index.meta["val"].ndim):
                    replaced.append(self._emit(aten.select.int, places, 1, dim))
                    self._symbols[replaced[-1]] = (name,)
            else:
                replaced.append(index)
        node.target, node.args = aten.index.Tensor, (x, replaced)
        self._describe(node)

    def _positions(self, key: Node, mask: Node, name: str) -> Node:
        """The positions of elements, and zeros after them. Equal masks have one key."""
        if key in self._places and self._places[key][0] == name:
            return self._places[key][1]
        if self._names(mask):
            mask = self._masked(mask, False)
        bound = math.prod(mask.meta["val"].shape)

        def function(value: torch.Tensor) -> list[torch.Tensor]:
            count = torch.sum(value != 0)
            places = nonzero_static(value, size=bound, fill_value=0)
            return [places, count, torch.arange(bound) < count]

        value = mask.meta["val"]
        kind = (value.dtype, *value.shape)
        if kind not in self._traced:
            self._traced[kind] = trace(function, [value], self._mode, decompositions())
        places, count, valid = splice(
            self._graph, self._node, self._traced[kind], [mask], self._mode
        )
        source = self._node.meta.get(WRITTEN_AS, str(self._node.target).removesuffix(".default"))
        self._sizes.setdefault(name, BoundedSize(bound, count, valid, source))
        made: Node = places
        self._symbols[made] = (name, None)
        self._places[key] = name, made
        return made

    def _refuse(self, node: Node, names: Any) -> NoReturn:
        known = sorted(name for name in names if name in self._sizes)
        op = str(node.target).removesuffix(".default")
        if not known:
            raise UnsupportedOpsError(
                [UnsupportedOp(op, reason_of("aten.nonzero"), (line_of(node),))]
            )
        source = self._sizes[known[0]].source
        raise UnsupportedOpsError([UnsupportedOp(op, _USE.format(op=source), (line_of(node),))])
