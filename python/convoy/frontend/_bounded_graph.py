# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A graph with sizes that depend on values, which have bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch._ops import OpOverload
from torch.fx import Graph, Node
from torch.fx.node import map_arg

__all__ = ["BoundedGraph", "BoundedSize"]

aten = torch.ops.aten
#: The symbols in the shape of a tensor; None for numbers. A list for several tensors.
_Symbols = Sequence[Any]


@dataclass(frozen=True)
class BoundedSize:
    """A size that depends on values: the number of rows, of which the first ones are valid, how
    many they are, and the op that finds them."""

    bound: int
    count: Node
    valid: Node
    source: str


def _symbols_of(value: Any) -> _Symbols:
    """The names of the sizes of tensors that depend on values; None for numbers."""
    if isinstance(value, (list, tuple)):
        return [_symbols_of(each) for each in value]
    shape = value.shape if isinstance(value, torch.Tensor) else ()
    return tuple(None if isinstance(size, int) else str(size.node.expr) for size in shape)


class BoundedGraph:
    """Creates and describes nodes, and knows their bounded sizes."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._mode: Any = detect_fake_mode([node.meta.get("val") for node in graph.nodes])
        self._symbols = {node: _symbols_of(node.meta.get("val")) for node in graph.nodes}
        self._sizes: dict[str, BoundedSize] = {}
        #: The values of tensors before their sizes are bounds.
        self._values = {node: node.meta.get("val") for node in graph.nodes}
        #: Numbers that are such sizes, or are computed from them.
        self._numbers: dict[Node, str | None] = {}
        self._node = next(iter(graph.nodes))

    def _derive(self, value: Any) -> None:
        """Finds the sizes of a value that are sums of bounded ones."""
        if isinstance(value, (list, tuple)):
            for each in value:
                self._derive(each)
        for size in value.shape if isinstance(value, torch.Tensor) else ():
            self._derived(size)

    def _derived(self, size: Any) -> str | None:
        """The name of a size that is a bounded one, or a sum of multiples of such sizes and a
        number; None for others."""
        if not isinstance(size, torch.SymInt):
            return None
        expression = size.node.expr
        name = str(expression)
        if name in self._sizes:
            return name
        terms = expression.as_coefficients_dict()
        sizes = {each: self._sizes.get(str(each)) for each in terms if not each.is_number}
        if not sizes or not all(sizes.values()) or not all(f.is_integer for f in terms.values()):
            return None
        offset = sum(int(factor) for each, factor in terms.items() if each not in sizes)
        bound, total = offset, None
        for each, size in sizes.items():
            assert size is not None
            factor = int(terms[each])
            bound += max(0, factor) * size.bound
            part = self._emit(aten.mul.Scalar, size.count, factor)
            total = part if total is None else self._emit(aten.add.Tensor, total, part)
            source = size.source
        self._add_size(name, bound, self._emit(aten.add.Scalar, total, offset), source)
        return name

    def _add_size(self, name: str, bound: int, count: Node, source: str) -> None:
        places = self._emit(aten.arange.default, bound)
        valid = self._emit(aten.lt.Tensor, places, count)
        self._sizes[name] = BoundedSize(bound, count, valid, source)

    def _names(self, value: Any) -> set[str]:
        """The bounded sizes in the shapes of nodes."""
        found: set[str] = set()

        def collect(symbols: Any) -> None:
            for each in symbols:
                if isinstance(each, (list, tuple)):
                    collect(each)
                elif each in self._sizes:
                    found.add(each)

        map_arg(value, lambda each: collect(self._symbols.get(each, ())))
        return found

    def _dims(self, value: Any) -> frozenset[int]:
        """The dims of a tensor, or of any in a list, with bounded sizes."""
        nodes = value if isinstance(value, (list, tuple)) else [value]
        return frozenset(
            dim
            for each in nodes
            if isinstance(each, Node)
            for dim, name in enumerate(self._symbols.get(each, ()))
            if isinstance(name, str) and name in self._sizes
        )

    def _masked(self, x: Node, fill: float | bool) -> Node:
        """`x` with another value in the rows that are not valid."""
        value = x.meta["val"]
        for dim in sorted(self._dims(x)):
            valid = self._valid(self._symbols[x][dim], value.ndim - dim - 1)
            dtype = {"dtype": value.dtype}
            other = self._emit(aten.full.default, [], fill, **dtype)
            symbols = self._symbols[x]
            x = self._emit(aten.where.self, valid, x, other)
            self._symbols[x] = symbols
        return x

    def _valid(self, name: str, dims_after: int) -> Node:
        size = self._sizes[name]
        if not dims_after:
            return size.valid
        return self._emit(aten.reshape.default, size.valid, [-1, *[1] * dims_after])

    def _emit(self, op: OpOverload, *args: Any, **kwargs: Any) -> Node:
        made = self._graph.call_function(op, args, kwargs)
        made.meta = dict(self._node.meta)
        self._describe(made)
        return made

    def _describe(self, node: Node) -> None:
        """Computes the value of a node for metadata."""
        args, kwargs = map_arg((node.args, node.kwargs), lambda each: each.meta["val"])
        with self._mode, torch.no_grad():
            node.meta["val"] = node.target(*args, **kwargs)  # type: ignore[operator]
        node.meta.pop("tensor_meta", None)
