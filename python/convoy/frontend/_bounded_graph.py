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
        #: Numbers that are such sizes, or are computed from them.
        self._numbers: dict[Node, str | None] = {}
        self._node = next(iter(graph.nodes))

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
