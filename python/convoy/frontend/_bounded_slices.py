# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Slices whose sizes depend on the values of tensors, as `x[:n]` with a number `n` of a tensor, or
the pieces of `x.split(counts.tolist())`, are the elements that a mask of the positions selects."""

from __future__ import annotations

import operator
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
    """Replaces the slices and pieces of dims with known sizes, and writes to slices.

    Args:
        graph: A decomposed graph.
    """
    read = read_numbers(graph)
    if not read:
        return
    masks = _Masks(graph)
    masks.replace([node for node in graph.nodes if _has_own_size(node, read)])
    for node in list(graph.nodes):
        # A concat of all pieces, of which the size is known then, may be split again.
        if _has_own_sizes(node, read):
            masks.replace_split(node)


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


def _has_own_sizes(node: Node, read: set[Node]) -> bool:
    """Whether a node splits a dim with a known size at numbers that are read from tensors."""
    if node.target is not aten.split_with_sizes.default:
        return False
    arguments = arguments_by_name(node, node.target)
    sizes = [each for each in arguments["split_sizes"] if isinstance(each, Node)]
    is_known = isinstance(arguments["self"].meta["val"].shape[arguments["dim"]], int)
    return bool(sizes) and is_known and read.issuperset(sizes)


def _value(size: Any) -> Any:
    return size.meta["val"] if isinstance(size, Node) else size


def _is_size(size: Any, expression: Any) -> bool:
    return isinstance(size, torch.SymInt) and bool(size.node.expr == expression)


class _Masks:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._mode: Any = detect_fake_mode([node.meta.get("val") for node in graph.nodes])
        #: By size, start and end. Equal masks select equally many elements.
        self._known: dict[tuple[Any, ...], Node] = {}
        #: By size and the sizes of pieces.
        self._pieces: dict[tuple[Any, ...], list[Node]] = {}
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

    def replace_split(self, node: Node) -> None:
        self._node = node
        assert isinstance(node.target, OpOverload)
        arguments = arguments_by_name(node, node.target)
        x, dim, sizes = (arguments[name] for name in ("self", "dim", "split_sizes"))
        key = (x.meta["val"].shape[dim], *sizes)
        with self._graph.inserting_before(node), self._mode:
            if key not in self._pieces:
                self._pieces[key] = self._masks_of_pieces(key[0], sizes)
        nones = [None] * (dim % x.meta["val"].ndim)
        for item in list(node.users):
            assert item.target is operator.getitem
            item.target = aten.index.Tensor
            item.args = (x, [*nones, self._pieces[key][item.args[1]]])  # type: ignore[index]
            item.meta[WRITTEN_AS] = "aten.split_with_sizes"
        self._graph.erase_node(node)
        if isinstance(total := sum(map(_value, sizes)), torch.SymInt):
            self._use_whole(total.node.expr, key[0])

    def _use_whole(self, total: Any, size: int) -> None:
        """Describes the tensors that have as many elements as all pieces together, such as a concat
        of what is computed of the pieces, by the size of what is split."""
        for node in self._graph.nodes:
            value = node.meta.get("val")
            shape: list[Any] = list(value.shape) if isinstance(value, torch.Tensor) else []
            known = [size if _is_size(each, total) else each for each in shape]
            if any(each is not own for each, own in zip(known, shape, strict=True)):
                with self._mode:
                    made = torch.empty(known, dtype=value.dtype, device=value.device)
                node.meta["val"] = made
                node.meta.pop("tensor_meta", None)

    def _masks_of_pieces(self, size: int, sizes: list[Any]) -> list[Node]:
        """The masks of neighbours; each begins where the one before ends."""
        at = self._emit(aten.arange.default, size)
        start, masks = self._emit(aten.full.default, [], 0, dtype=torch.int64), []
        for each in sizes:
            count = self._emit(aten.full.default, [], each, dtype=torch.int64)
            end = self._emit(aten.add.Tensor, start, count)
            after = self._emit(aten.ge.Tensor, at, start)
            before = self._emit(aten.lt.Tensor, at, end)
            masks.append(self._emit(aten.logical_and.default, after, before))
            start = end
        return masks

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
