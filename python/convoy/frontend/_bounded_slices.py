# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Slices whose sizes depend on the values of tensors, as `x[:n]` with a number `n` of a tensor, are
the elements that a mask of the positions selects."""

from __future__ import annotations

from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch._ops import OpOverload
from torch.fx import Graph, Node
from torch.fx.node import map_arg

from convoy.frontend._inline import arguments_by_name
from convoy.frontend._tensor_numbers import read_numbers

__all__ = ["WRITTEN_AS", "use_masks_for_slices"]

aten = torch.ops.aten
#: In the metadata of a node that takes the place of a slice: the op for messages.
WRITTEN_AS = "convoy_written_as"


def use_masks_for_slices(graph: Graph) -> None:
    """Replaces the slices of dims with known sizes, and writes to them.

    Args:
        graph: A decomposed graph.
    """
    read = read_numbers(graph)
    slices = [node for node in graph.nodes if _has_own_size(node, read)] if read else []
    if slices:
        _Masks(graph).replace(slices)


def _has_own_size(node: Node, read: set[Node]) -> bool:
    """Whether a node reads or writes a slice between numbers that are read from tensors, of a dim
    with a known size."""
    if node.target is aten.slice.Tensor:
        part = node.meta["val"]
    elif node.target is aten.slice_scatter.default:
        part = node.args[1].meta["val"]  # type: ignore[union-attr]
    else:
        return False
    arguments = arguments_by_name(node, node.target)
    dim, x = arguments["dim"], arguments["self"].meta["val"]
    numbers = [each for each in (arguments["start"], arguments["end"]) if isinstance(each, Node)]
    return (
        isinstance(x.shape[dim], int)
        and not isinstance(part.shape[dim], int)
        and arguments["step"] == 1
        and read.issuperset(numbers)
    )


class _Masks:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._mode: Any = detect_fake_mode([node.meta.get("val") for node in graph.nodes])
        #: By size, start and end. Equal masks select equally many elements.
        self._known: dict[tuple[Any, ...], Node] = {}
        self._node = next(iter(graph.nodes))

    def replace(self, slices: list[Node]) -> None:
        for node in slices:
            self._node = node
            assert isinstance(node.target, OpOverload)
            arguments = arguments_by_name(node, node.target)
            x, dim = arguments["self"], arguments["dim"]
            value = x.meta["val"]
            key = (value.shape[dim], arguments["start"] or 0, arguments["end"])
            if key not in self._known:
                with self._graph.inserting_before(node), self._mode:
                    self._known[key] = self._mask(*key)
            indices = [*[None] * (dim % value.ndim), self._known[key]]
            if node.target is aten.slice.Tensor:
                node.target, node.args = aten.index.Tensor, (x, indices)
            else:
                node.target, node.args = aten.index_put.default, (x, indices, arguments["src"])
            node.kwargs = {}
            node.meta[WRITTEN_AS] = "aten.slice.Tensor"

    def _mask(self, size: int, start: Any, end: Any) -> Node:
        at = self._emit(aten.arange.default, size)
        mask = self._emit(aten.ge.Tensor, at, self._place(start, size))
        if end is None:
            return mask
        before = self._emit(aten.lt.Tensor, at, self._place(end, size))
        return self._emit(aten.logical_and.default, mask, before)

    def _place(self, bound: Any, size: int) -> Node:
        """Where a slice starts or ends. Negative numbers count from the end."""
        number = self._emit(aten.full.default, [], bound, dtype=torch.int64)
        from_end = self._emit(aten.add.Scalar, number, size)
        is_negative = self._emit(aten.lt.Scalar, number, 0)
        return self._emit(aten.where.self, is_negative, from_end, number)

    def _emit(self, op: Any, *args: Any, **kwargs: Any) -> Node:
        made = self._graph.call_function(op, args, kwargs)
        made.meta = dict(self._node.meta)
        values, named = map_arg((args, kwargs), lambda each: each.meta["val"])
        made.meta["val"] = op(*values, **named)
        made.meta.pop("tensor_meta", None)
        return made
