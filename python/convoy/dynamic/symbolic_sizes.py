# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which sizes of a `.mlir` module are no multiples of a symbol."""

from __future__ import annotations

from torch_mlir import ir

from convoy.dialects import tcp
from convoy.dynamic.ops import described

__all__ = ["reason_of_symbolic_sizes"]

#: The text of an expression of two others.
_INFIX = {
    ir.AffineAddExpr: "+",
    ir.AffineMulExpr: "*",
    ir.AffineModExpr: "mod",
    ir.AffineFloorDivExpr: "floordiv",
    ir.AffineCeilDivExpr: "ceildiv",
}


def reason_of_symbolic_sizes(function: ir.Operation, name: str) -> str:
    """Why the sizes of values prevent padding: none may depend on the symbol by other functions
    than sums and products, which few values do not tell from multiples.

    Args:
        function: A function after `tcp-infer-symbolic-shapes`.
        name: The name of the symbol.

    Returns:
        The reason, with the op and its line; empty if there is none.
    """
    block = function.regions[0].blocks[0]
    names = {
        op.result: op.symbol_name.value
        for op in block.operations
        if isinstance(op, tcp.SymbolicIntOp)
    }
    bound: dict[ir.Value, str] = {}
    for op in block.operations:
        if isinstance(op, tcp.BindSymbolicShapeOp):
            own = [names[symbol] for symbol in op.shape_symbols]
            sizes = ir.AffineMapAttr(op.shape_expressions).value.results
            bound[op.operand] = next(
                (_text(size, own) for size in sizes if not _is_linear(size, own, name)), ""
            )
    for index, argument in enumerate(block.arguments):
        if bound.get(argument):
            return f"argument {index}: the size {bound[argument]} is no multiple of {name}"
    for view in block.operations:
        for result in view.operation.results:
            if not _is_dynamic(result):
                continue
            if result not in bound:
                return f"{described(view.operation)}: has a size that does not follow from symbols"
            if bound[result]:
                size = bound[result]
                return f"{described(view.operation)}: the size {size} is no multiple of {name}"
    return ""


def _is_dynamic(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType) and not value.type.has_static_shape


def _is_linear(expression: ir.AffineExpr, names: list[str], name: str) -> bool:
    """Whether an expression is a sum of products with at most one factor that has the symbol."""
    if not _has(expression, names, name) or isinstance(expression, ir.AffineSymbolExpr):
        return True
    if not isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)):
        return False
    both = (expression.lhs, expression.rhs)
    if isinstance(expression, ir.AffineMulExpr) and all(_has(each, names, name) for each in both):
        return False
    return all(_is_linear(each, names, name) for each in both)


def _has(expression: ir.AffineExpr, names: list[str], name: str) -> bool:
    """Whether an expression has the symbol `name`. `names` are those of its symbols."""
    if isinstance(expression, ir.AffineSymbolExpr):
        return bool(names[expression.position] == name)
    if isinstance(expression, ir.AffineConstantExpr):
        return False
    return _has(expression.lhs, names, name) or _has(expression.rhs, names, name)


def _is_negative(expression: ir.AffineExpr) -> bool:
    return isinstance(expression, ir.AffineConstantExpr) and bool(expression.value < 0)


def _text(expression: ir.AffineExpr, names: list[str]) -> str:
    """The text of an expression with the names of the symbols."""
    if isinstance(expression, ir.AffineSymbolExpr):
        return str(names[expression.position])
    if isinstance(expression, ir.AffineConstantExpr):
        return str(expression.value)
    if isinstance(expression, ir.AffineAddExpr) and _is_negative(expression.rhs):
        return f"{_text(expression.lhs, names)} - {-expression.rhs.value}"
    both = [
        f"({_text(each, names)})" if isinstance(each, tuple(_INFIX)) else _text(each, names)
        for each in (expression.lhs, expression.rhs)
    ]
    return f" {_INFIX[type(expression)]} ".join(both)
