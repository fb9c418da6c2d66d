# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The symbols of a `.mlir` module of phase `tcp`, and the sizes of its inputs and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from convoy.dialects import compiler_errors, tcp
from convoy.dynamic.ops import main_function
from convoy.dynamic.symbolic_sizes import reason_of_symbolic_sizes
from convoy.errors import InputError
from convoy_runtime.dynamic.manifest import Symbol
from convoy_runtime.dynamic.sizes import Size

__all__ = ["Sizes", "SymbolicInterface", "symbolic_interface"]

#: The roles of arguments that are no inputs.
_WEIGHTS = ("tcp.weight", "tcp.prepared")
#: The sizes of a tensor. None is a size that does not have the form `factor * symbol + offset`.
Sizes = list[Size | None]


@dataclass(frozen=True)
class SymbolicInterface:
    """The interface of a module.

    Attributes:
        symbols: The sizes that each call chooses.
        inputs: The sizes of each input.
        outputs: The sizes of each result.
        unpadded: Name of a symbol to why the sizes of the module prevent padding; empty if each of
            them is a multiple of the symbol, or does not depend on it.
    """

    symbols: tuple[Symbol, ...]
    inputs: tuple[Sizes, ...]
    outputs: tuple[Sizes, ...]
    unpadded: Mapping[str, str]


def symbolic_interface(text: str, name: str) -> SymbolicInterface:
    """Infers the shapes of a module.

    Args:
        text: The module at the end of phase `tcp`.
        name: The name of the module, for messages.

    Returns:
        The interface of its function.

    Raises:
        CompileError: The module is invalid, or its shapes contradict each other.
        InputError: The module has several functions, or the sizes of its inputs do not determine
            the symbols.
    """
    from convoy import _convoy

    with compiler_errors():
        inferred = _convoy.run_pipeline(text, name, "builtin.module(tcp-infer-symbolic-shapes)")
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(inferred)
        return _interface_of(main_function(module, name))


def _interface_of(function: ir.Operation) -> SymbolicInterface:
    block = function.regions[0].blocks[0]
    symbols: dict[ir.Value, Symbol] = {}
    shapes: dict[ir.Value, Sizes] = {}
    for op in block.operations:
        if isinstance(op, tcp.SymbolicIntOp):
            symbols[op.result] = Symbol(
                op.symbol_name.value,
                max(1, op.min_val.value),
                op.max_val.value,
                op.divisor.value,
            )
        elif isinstance(op, tcp.BindSymbolicShapeOp):
            names = [symbols[symbol].name for symbol in op.shape_symbols]
            results = ir.AffineMapAttr(op.shape_expressions).value.results
            shapes[op.operand] = [_size(each, names) for each in results]
    arguments = _inputs(function, block)
    inputs = [shapes.get(value) or _static(value) for value in arguments]
    outputs = [
        shapes.get(value) or _static(value)
        for value in list(block.operations)[-1].operation.operands
    ]
    for index, each in enumerate(inputs):
        if None in each:
            message = (
                f"input {index}: expected sizes such as 2*name+1 of one symbol, got another "
                f"expression for dim {each.index(None)}"
            )
            raise InputError(message)
    seen = {size.symbol for each in inputs for size in each if size is not None}
    for symbol in symbols.values():
        if symbol.name not in seen:
            message = (
                f"expected an input with a size such as 2*{symbol.name}+1, from which each call "
                f"reads the symbol '{symbol.name}', got none"
            )
            raise InputError(message)
    reason = _reason_of_weights(block, arguments)
    unpadded = {
        symbol.name: reason or reason_of_symbolic_sizes(function, symbol.name)
        for symbol in symbols.values()
    }
    return SymbolicInterface(tuple(symbols.values()), tuple(inputs), tuple(outputs), unpadded)


def _inputs(function: ir.Operation, block: ir.Block) -> list[ir.Value]:
    """The arguments that are no weights."""
    if "arg_attrs" not in function.attributes:
        return list(block.arguments)
    return [
        argument
        for argument, attributes in zip(
            block.arguments, function.attributes["arg_attrs"], strict=True
        )
        if not any(role in attributes for role in _WEIGHTS)
    ]


def _reason_of_weights(block: ir.Block, inputs: Sequence[ir.Value]) -> str:
    """Why weights prevent padding: those of a point are not the rows of another point's."""
    for index, argument in enumerate(block.arguments):
        if argument not in inputs and None in _static(argument):
            return f"argument {index}: a weight has a size that depends on symbols"
    return ""


def _static(value: ir.Value) -> Sizes:
    """The sizes of a tensor; None for each `?`."""
    kind = ir.RankedTensorType(value.type)
    return [
        None if kind.is_dynamic_dim(dim) else Size("", 0, kind.get_dim_size(dim))
        for dim in range(kind.rank)
    ]


def _size(expression: ir.AffineExpr, names: Sequence[str]) -> Size | None:
    """An expression as a factor of one symbol and an offset, or None."""
    if isinstance(expression, ir.AffineConstantExpr):
        return Size("", 0, expression.value)
    if isinstance(expression, ir.AffineSymbolExpr):
        return Size(names[expression.position], 1, 0)
    if not isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)):
        return None
    symbol, number = _size(expression.lhs, names), _size(expression.rhs, names)
    if symbol is None or number is None or not symbol.symbol or number.symbol:
        return None
    if isinstance(expression, ir.AffineAddExpr):
        return Size(symbol.symbol, symbol.factor, symbol.offset + number.offset)
    if number.offset < 1:
        return None
    return Size(symbol.symbol, symbol.factor * number.offset, symbol.offset * number.offset)
