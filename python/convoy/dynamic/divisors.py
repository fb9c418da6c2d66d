# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The numbers that divide symbols: torch.export guards a program with conditions such as
`L['x'].size()[1] % 8 == 0` where a `Dim.AUTO` has no other values."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import gcd
from typing import Any

import torch

from convoy.dynamic.shapes import DynamicInterface
from convoy_runtime.dynamic.manifest import Symbol
from convoy_runtime.dynamic.sizes import Size, parse_size

__all__ = ["with_divisors"]

#: How far from the example's values others are tried. A larger divisor is not found.
_DISTANCE = 512
#: The size of an input, or of a part of it: `L['x'].size()[1]`, `L['pair'][0].size()[1]`.
_SIZE = re.compile(r"L((?:\[(?:\d+|'\w+')\])+)\.size\(\)\[(\d+)\]")
_KEY = re.compile(r"\w+")
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_CALLS: dict[str, Callable[..., int]] = {"max": max, "min": min}
_Values = Mapping[str, int]


class _Unknown(Exception):
    """A guard has something else than arithmetic on sizes of inputs."""


def with_divisors(interface: DynamicInterface) -> DynamicInterface:
    """Finds the divisors of symbols.

    Args:
        interface: The interface of an exported program.

    Returns:
        The interface with divisors. A guard about something else than sizes of inputs is ignored.
    """
    sizes = {
        (tensor.name, dim): size
        for tensor in interface.inputs
        for dim, text in enumerate(tensor.sizes)
        if (size := parse_size(text)) is not None
    }
    example = _example(interface, sizes)
    guards = []
    # PyTorch has no public name for them.
    for text in getattr(interface.program, "_guards_code", None) or ():
        if "%" in text or "//" in text:
            try:
                guards.append(_parsed(text, sizes))
            except _Unknown:
                continue
    if not guards or example.keys() != {symbol.name for symbol in interface.symbols}:
        return interface
    symbols = tuple(
        replace(symbol, multiple_of=_divisor(symbol, guards, example))
        for symbol in interface.symbols
    )
    return replace(interface, symbols=symbols)


def _example(interface: DynamicInterface, sizes: Mapping[tuple[str, int], Size]) -> dict[str, int]:
    """The values of the symbols that the program was exported with, if they are known."""
    found: dict[str, int] = {}
    for node in interface.program.graph.nodes:
        value = node.meta.get("val")
        if node.op != "placeholder" or not isinstance(value, torch.Tensor):
            continue
        for dim, extent in enumerate(value.shape):
            size = sizes.get((node.name, dim))
            if not isinstance(extent, torch.SymInt) or size is None or not size.symbol:
                continue  # a SymInt may be a number
            if extent.node.has_hint():
                found[size.symbol] = (int(extent.node.hint) - size.offset) // size.factor
    return found


def _divisor(symbol: Symbol, guards: Sequence[Callable[[_Values], Any]], example: _Values) -> int:
    center = example[symbol.name]
    low, high = max(symbol.minimum, center - _DISTANCE), min(symbol.maximum, center + _DISTANCE)
    valid = [
        value
        for value in range(low, high + 1)
        if all(_holds(guard, {**example, symbol.name: value}) for guard in guards)
    ]
    return gcd(*valid) if len(valid) > 1 and center in valid else 1


def _holds(guard: Callable[[_Values], Any], values: _Values) -> bool:
    try:
        return bool(guard(values))
    except ZeroDivisionError:
        return False


def _parsed(text: str, sizes: Mapping[tuple[str, int], Size]) -> Callable[[_Values], Any]:
    """The function of a guard. Raises _Unknown."""
    found: dict[str, Size] = {}

    def name(match: re.Match[str]) -> str:
        size = sizes.get(("_".join(_KEY.findall(match[1])), int(match[2])))
        if size is None:
            raise _Unknown
        found[f"size_{len(found)}"] = size
        return f"size_{len(found) - 1}"

    return _function(ast.parse(_SIZE.sub(name, text), mode="eval").body, found)


def _function(node: ast.expr, sizes: Mapping[str, Size]) -> Callable[[_Values], Any]:
    """The function of an expression. Raises _Unknown."""
    match node:
        case ast.Constant(value=int(number)):
            return lambda _: number
        case ast.Name(id=name) if name in sizes:
            return sizes[name].at
        case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]) if (
            type(op) in _OPERATORS
        ):
            apply = _OPERATORS[type(op)]
            a, b = _function(left, sizes), _function(right, sizes)
            return lambda values: apply(a(values), b(values))
        case ast.UnaryOp(ast.USub(), operand):
            inner = _function(operand, sizes)
            return lambda values: -inner(values)
        case ast.BoolOp(op, operands):
            each = [_function(operand, sizes) for operand in operands]
            combine = all if isinstance(op, ast.And) else any
            return lambda values: combine(inner(values) for inner in each)
        case ast.Call(ast.Name(id=name), arguments, []) if name in _CALLS:
            call, given = _CALLS[name], [_function(argument, sizes) for argument in arguments]
            return lambda values: call(inner(values) for inner in given)
    raise _Unknown
