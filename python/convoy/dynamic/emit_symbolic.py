# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Creates ops of `tcp` whose sizes are expressions of symbols."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from convoy.dynamic.size_expressions import SizeExpressions
from convoy.errors import SymbolicSizesError
from convoy_runtime.dynamic.manifest import Symbol

__all__ = ["Shapes", "SymbolicEmitter", "dynamic_type", "shape_of"]

#: The shape of a value in each sample.
Shapes = list[tuple[int, ...]]
_SYMBOL = re.compile(r"\bs(\d+)\b")


def shape_of(value: ir.Value) -> tuple[int, ...]:
    """The shape of a tensor whose dims are numbers."""
    return tuple(ir.RankedTensorType(value.type).shape)


def dynamic_type(shapes: Shapes, element: ir.Type) -> ir.RankedTensorType:
    """The type of a tensor, with `?` for a dim whose size differs between samples."""
    unknown = ir.ShapedType.get_dynamic_size()
    return ir.RankedTensorType.get(
        [sizes[0] if len(set(sizes)) == 1 else unknown for sizes in zip(*shapes, strict=True)],
        element,
    )


class SymbolicEmitter:
    """Declares the symbols at the start of a function.

    Args:
        block: The body of the function.
        symbols: The symbols.
        sizes: The expressions of sizes.

    Attributes:
        location: The location of new ops.
        point: Where new ops are inserted.
    """

    def __init__(self, block: ir.Block, symbols: Sequence[Symbol], sizes: SizeExpressions) -> None:
        self._sizes = sizes
        self.location = ir.Location.unknown()
        self.point = ir.InsertionPoint(block.operations[0])
        number = ir.IntegerType.get_signless(64)
        self._symbols = [
            self.op(
                "tcp.symbolic_int",
                [],
                number,
                symbol_name=ir.StringAttr.get(symbol.name),
                min_val=ir.IntegerAttr.get(number, symbol.minimum),
                max_val=ir.IntegerAttr.get(number, symbol.maximum),
                divisor=ir.IntegerAttr.get(number, symbol.multiple_of),
            )
            for symbol in symbols
        ]

    def op(
        self, name: str, operands: Sequence[ir.Value], result: ir.Type | None, **attributes: Any
    ) -> ir.Value | None:
        """Creates an op. Returns its result; None without one."""
        made = ir.Operation.create(
            name,
            results=[] if result is None else [result],
            operands=list(operands),
            attributes=attributes,
            loc=self.location,
            ip=self.point,
        )
        return None if result is None else made.results[0]

    def bind(self, value: ir.Value, expressions: Sequence[str]) -> None:
        """Creates a `tcp.bind_symbolic_shape`.

        Args:
            value: The tensor.
            expressions: One size per dim, whose symbols are numbered as the function's are.
        """
        used = sorted({int(found) for text in expressions for found in _SYMBOL.findall(text)})
        texts = [
            _SYMBOL.sub(lambda found: f"s{used.index(int(found[1]))}", text) for text in expressions
        ]
        symbols = ", ".join(f"s{index}" for index in range(len(used)))
        self.op(
            "tcp.bind_symbolic_shape",
            [value, *(self._symbols[index] for index in used)],
            None,
            shape_expressions=ir.Attribute.parse(
                f"affine_map<()[{symbols}] -> ({', '.join(texts)})>"
            ),
        )

    def bind_shapes(self, value: ir.Value, shapes: Shapes) -> None:
        """Binds a tensor to the expressions of its sizes. Raises SymbolicSizesError if a size has
        none."""
        self.bind(value, [self._sizes.find(sizes) for sizes in zip(*shapes, strict=True)])

    def iota(self, shapes: Shapes, dim: int, start: int, step: int) -> ir.Value:
        """Creates int64 indices `start + step * i` along a dim."""
        number = ir.IntegerType.get_signless(64)
        kind = dynamic_type(shapes, number)
        index = ir.IntegerAttr.get(ir.IndexType.get(), dim)
        value = self.op("tcp.iota", [], kind, dim=index)
        if not kind.has_static_shape:
            self.bind_shapes(value, shapes)
        for name, operand, unit in (("tcp.mul", step, 1), ("tcp.add", start, 0)):
            if operand != unit:
                other = self.splat(ir.IntegerAttr.get(number, operand), len(shapes[0]))
                value = self.op(name, [value, other], kind)
        return value

    def size(self, sizes: Sequence[int], offset: int) -> ir.Value:
        """Creates an int64 tensor of one element, a size and an offset: the largest index and 1.

        Args:
            sizes: The size in each sample.
            offset: The offset.

        Returns:
            The value.

        Raises:
            SymbolicSizesError: The size is no expression of torch.export's sizes.
        """
        self._sizes.find(sizes)
        number = ir.IntegerType.get_signless(64)
        return self.op(
            "tcp.reduce_max",
            [self.iota([(size,) for size in sizes], 0, offset + 1, 1)],
            ir.RankedTensorType.get([1], number),
            dims=ir.DenseI64ArrayAttr.get([0]),
        )

    def size_or_last(self, numbers: Sequence[int]) -> ir.Value | None:
        """Creates an int64 tensor of one element that is a size, or 1 less, the last index.

        Args:
            numbers: The number in each sample.

        Returns:
            The value; None if the numbers are neither.
        """
        for offset in (0, -1):
            try:
                return self.size([number - offset for number in numbers], offset)
            except SymbolicSizesError:
                continue
        return None

    def splat(self, element: ir.Attribute, rank: int) -> ir.Value:
        """Creates a constant of one element, which broadcasts."""
        kind = ir.RankedTensorType.get([1] * rank, element.type)
        value = ir.DenseElementsAttr.get_splat(kind, element)
        return self.op("arith.constant", [], kind, value=value)
