# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Arithmetic on numbers that are the values of tensors, as `2 * n + 1` with `n = scale.item()`, as
ops on tensors without dims.

Python's int is int64 and its float is float64. A result that Python does not define, such as the
quotient of zeros, is that of the op on tensors.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch.fx import Graph, Node

__all__ = ["Numbers", "call", "kind_of"]

aten = torch.ops.aten
Number: TypeAlias = "Node | float | int | bool"

#: Op on two numbers of one type to the op on tensors.
_BINARY: dict[Any, tuple[Any, ...]] = {
    operator.add: (aten.add.Tensor,),
    operator.sub: (aten.sub.Tensor,),
    operator.mul: (aten.mul.Tensor,),
    operator.floordiv: (aten.div.Tensor_mode, "floor"),
    operator.mod: (aten.remainder.Tensor,),
    operator.pow: (aten.pow.Tensor_Tensor,),
    operator.and_: (aten.bitwise_and.Tensor,),
    operator.or_: (aten.bitwise_or.Tensor,),
    operator.xor: (aten.bitwise_xor.Tensor,),
    operator.lshift: (aten.__lshift__.Tensor,),
    operator.rshift: (aten.__rshift__.Tensor,),
    torch.sym_max: (aten.maximum.default,),
    torch.sym_min: (aten.minimum.default,),
    **{
        getattr(operator, name): (getattr(aten, name).Tensor,)
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
    },
}
_COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
#: The same with a float as its only operand.
_ROUNDED = {
    math.floor: aten.floor.default,
    math.ceil: aten.ceil.default,
    math.trunc: aten.trunc.default,
    torch.sym_int: aten.trunc.default,
    round: aten.round.default,
}
_SQRT = getattr(torch, "_sym_sqrt")  # noqa: B009 (torch's types lack it)
_DTYPES: dict[Any, torch.dtype] = {
    torch.SymBool: torch.bool,
    torch.SymInt: torch.int64,
    torch.SymFloat: torch.float64,
    bool: torch.bool,
    int: torch.int64,
    float: torch.float64,
}


def kind_of(number: Number) -> float | int | bool:
    """A number of the type of `number`, for torch.result_type."""
    value = number.meta["val"] if isinstance(number, Node) else number
    zero: float | int | bool = torch.zeros((), dtype=_DTYPES[type(value)]).item()
    return zero


class Numbers:
    """The tensors of a graph's numbers. A tensor is made where the number is, and once.

    Args:
        graph: The graph.
        mode: The fake mode of its values.
    """

    def __init__(self, graph: Graph, mode: Any) -> None:
        self._graph, self._mode = graph, mode
        self._tensors: dict[Node, Node | None] = {}

    def tensor(self, number: Any) -> Node | None:
        """The tensor whose value a number is.

        Args:
            number: An argument of an op.

        Returns:
            A tensor of one element; None for other arguments, for numbers that no tensor has, and
            for those that are computed in another way than above.
        """
        if not isinstance(number, Node) or type(number.meta.get("val")) not in _DTYPES:
            return None
        if number not in self._tensors:
            with self._graph.inserting_before(number):
                self._tensors[number] = self._made(number)
        return self._tensors[number]

    def _made(self, number: Node) -> Node | None:
        if number.target is aten._local_scalar_dense.default:
            source: Any = number.args[0]
            return source if isinstance(source, Node) else None
        function, operands = number.target, _operands(number)
        if not any(self.tensor(each) is not None for each in operands):
            return None
        if any(isinstance(each, Node) and self.tensor(each) is None for each in operands):
            return None
        at = _At(self._graph, number, self._mode, self.tensor)
        if len(operands) == 1:
            return _unary(at, function, operands[0])
        if function is torch.sym_ite:
            condition, *values = operands
            dtype = _DTYPES[type(number.meta["val"])]
            return at(aten.where.self, at.cast(condition, torch.bool), *at.same(values, dtype))
        if function is operator.truediv:
            return at(aten.div.Tensor, *at.same(operands, torch.float64))
        if function not in _BINARY or len(operands) != 2:
            return None
        op, *mode = _BINARY[function]
        options = {"rounding_mode": mode[0]} if mode else {}
        dtype = _DTYPES[type(number.meta["val"])]
        if function in _COMPARISONS:
            dtype = at.common(operands)
        return at(op, *at.same(operands, dtype), **options)


def _operands(number: Node) -> list[Any]:
    """The operands of arithmetic; `round` has None for the number of digits."""
    return [each for each in number.args if each is not None]


def _unary(at: _At, function: Any, operand: Number) -> Node | None:
    dtype = at.common([operand])
    if function is operator.pos:
        return at.cast(operand, dtype)
    if function in (operator.neg, operator.abs):
        op = aten.neg.default if function is operator.neg else aten.abs.default
        return at(op, at.cast(operand, dtype))
    if function is torch.sym_not:
        return at(aten.logical_not.default, at.cast(operand, torch.bool))
    if function is torch.sym_float:
        return at.cast(operand, torch.float64)
    if function in _ROUNDED:
        if dtype != torch.float64:
            return at.cast(operand, dtype)
        return at.cast(at(_ROUNDED[function], at.cast(operand, dtype)), torch.int64)
    if function is _SQRT:
        return at(aten.sqrt.default, at.cast(operand, torch.float64))
    return None


class _At:
    """Makes the ops of one number."""

    def __init__(
        self, graph: Graph, place: Node, mode: Any, tensor: Callable[[Any], Node | None]
    ) -> None:
        self._graph, self._place, self._mode, self._tensor = graph, place, mode, tensor

    def __call__(self, op: Any, *operands: Any, **options: Any) -> Node:
        values = [each.meta["val"] if isinstance(each, Node) else each for each in operands]
        with self._mode, torch.no_grad():
            value = op(*values, **options)
        return call(self._graph, self._place, value, op, *operands, **options)

    def common(self, operands: list[Any]) -> torch.dtype:
        """The type of arithmetic: float64 if an operand is a float, else int64."""
        kinds = [_DTYPES[type(each.meta["val"])] for each in operands if isinstance(each, Node)]
        kinds += [_DTYPES[type(each)] for each in operands if not isinstance(each, Node)]
        return torch.float64 if torch.float64 in kinds else torch.int64

    def same(self, operands: list[Any], dtype: torch.dtype) -> list[Node]:
        return [self.cast(each, dtype) for each in operands]

    def cast(self, operand: Number, dtype: torch.dtype) -> Node:
        """A number or its tensor as a tensor without dims."""
        tensor: Any = operand
        if not isinstance(operand, Node):
            return self(aten.full.default, [], operand, dtype=dtype, device=torch.device("cpu"))
        if not isinstance(operand.meta["val"], torch.Tensor):
            tensor = self._tensor(operand)
        if tensor.meta["val"].dtype != dtype:
            tensor = self(aten._to_copy.default, tensor, dtype=dtype)
        if tensor.meta["val"].ndim:
            tensor = self(aten.reshape.default, tensor, [])
        result: Node = tensor
        return result


def call(
    graph: Graph, place: Node, value: torch.Tensor, op: Any, *arguments: Any, **options: Any
) -> Node:
    """Creates an op at the source line of a node.

    Args:
        graph: The graph, whose insertion point is used.
        place: The node.
        value: A tensor like the result.
        op: The op.
        *arguments: Its arguments.
        **options: Its keyword arguments.

    Returns:
        The node of the op.
    """
    node = graph.call_function(op, arguments, options)
    node.meta = {**place.meta, "val": value}
    node.meta.pop("tensor_meta", None)
    return node
