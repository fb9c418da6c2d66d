# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The sizes of an exported program as expressions of symbols, found by their values in samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any

import sympy
import torch
from torch.utils._sympy.functions import CleanDiv, FloorDiv, Mod, PythonMod

from convoy.dynamic.shapes import DynamicInterface, symbol_names
from convoy.errors import SymbolicSizesError

__all__ = ["SizeExpressions"]

#: Functions of torch and the text of an affine expression.
_FUNCTIONS = {FloorDiv: "floordiv", CleanDiv: "floordiv", Mod: "mod", PythonMod: "mod"}


class SizeExpressions:
    """The expressions of a program's sizes.

    Args:
        interface: The exported program with symbolic sizes.
        samples: The value of each symbol in each sample.
    """

    def __init__(self, interface: DynamicInterface, samples: Sequence[Mapping[str, int]]) -> None:
        #: The names of the symbols; expressions in texts number them in this order.
        self.names = [symbol.name for symbol in interface.symbols]
        self._samples = samples
        of_torch = symbol_names(interface)
        self._positions = {each: self.names.index(name) for each, name in of_torch.items()}
        self._multiples = {
            each: interface.symbols[position].multiple_of * each
            for each, position in self._positions.items()
        }
        found = {*of_torch, *_sizes(interface.program.graph)}
        known = [
            each
            for each in sorted(found, key=str)
            if each.free_symbols
            and each.free_symbols <= of_torch.keys()
            and self._text(each) is not None
        ]
        self._known = [(each, self._values(each)) for each in known]

    def find(self, sizes: Sequence[int]) -> str:
        """The expression of a size: one of torch.export's, or a multiple of a product of two.

        Args:
            sizes: The size in each sample.

        Returns:
            Its text in an affine map, with `s0` for the first of `names`.

        Raises:
            SymbolicSizesError: There is no such expression, or there are several.
        """
        if len(set(sizes)) == 1:
            return str(sizes[0])
        # torch.export's own sizes come first; a product may have the same values by accident.
        for candidates in (self._known, list(self._products())):
            matching = [
                sympy.expand(factor * each)
                for each, values in candidates
                if (factor := _factor(sizes, values))
            ]
            # s and 2*(s//2) are equal for multiples of 2.
            if len({sympy.expand(each.subs(self._multiples)) for each in matching}) > 1:
                several = " and ".join(sorted({str(each) for each in matching}))
                message = f"the sizes {several} are equal in all samples"
                raise SymbolicSizesError(message)
            texts = [text for each in matching if (text := self._text(each)) is not None]
            if texts:
                return min(texts, key=len)
        at = "; ".join(
            f"{size} for " + " ".join(f"{name}={value}" for name, value in sample.items())
            for size, sample in zip(sizes, self._samples, strict=True)
        )
        message = f"a size is no expression of torch.export's sizes: {at}"
        raise SymbolicSizesError(message)

    def _products(self) -> Iterator[tuple[Any, list[int]]]:
        for (a, left), (b, right) in combinations_with_replacement(self._known, 2):
            yield a * b, [x * y for x, y in zip(left, right, strict=True)]

    def _values(self, expression: Any) -> list[int]:
        return [
            int(
                expression.subs(
                    {each: sample[self.names[i]] for each, i in self._positions.items()}
                )
            )
            for sample in self._samples
        ]

    def _text(self, expression: Any) -> str | None:
        """The text of an expression, or None if it has another function."""
        if expression.is_Integer:
            return str(expression)
        if expression.is_Symbol:
            return f"s{self._positions[expression]}" if expression in self._positions else None
        operator = _FUNCTIONS.get(type(expression))
        if expression.is_Add or expression.is_Mul:
            operator = "+" if expression.is_Add else "*"
        arguments = list(expression.args)
        if expression.is_Pow and expression.exp.is_Integer and expression.exp > 0:
            operator, arguments = "*", [expression.base] * int(expression.exp)
        texts = [self._text(each) for each in arguments]
        if operator is None or None in texts:
            return None
        return "(" + f" {operator} ".join(text for text in texts if text is not None) + ")"


def _factor(sizes: Sequence[int], values: Sequence[int]) -> int:
    """The factor by which all sizes are multiples of the values; 0 if they have no such factor."""
    factor = sizes[0] // values[0] if values[0] else 0
    return factor if list(sizes) == [factor * value for value in values] else 0


def _sizes(graph: torch.fx.Graph) -> set[Any]:
    """The symbolic sizes of a graph's tensors."""
    values = [node.meta.get("val") for node in graph.nodes]
    tensors = [
        each
        for value in values
        for each in (value if isinstance(value, (list, tuple)) else [value])
        if isinstance(each, torch.Tensor)
    ]
    return {
        size.node.expr  # type: ignore[attr-defined]
        for tensor in tensors
        for size in tensor.shape
        if isinstance(size, torch.SymInt)
    }
